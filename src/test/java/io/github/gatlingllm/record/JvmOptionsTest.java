package io.github.gatlingllm.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.record.SelfTest.JvmOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a run's JVM should have, and what it has. */
class JvmOptionsTest {
  @Test
  void recommendedOptionsLackNothing() {
    assertThat(JvmOptions.missing(JvmOptions.RECOMMENDED)).isEmpty();
  }

  @Test
  void largerSizesSuffice() {
    List<String> larger =
        JvmOptions.RECOMMENDED.stream()
            .map(option -> option.replace("1g", "4096m").replace("512m", "2g"))
            .toList();

    assertThat(JvmOptions.missing(larger)).isEmpty();
  }

  @Test
  void defaultsOfGatlingsPluginLackOptions() {
    assertThat(
            JvmOptions.missing(
                List.of(
                    "-XX:TieredStopAtLevel=4",
                    "-XX:+UseG1GC",
                    "-Xms384m",
                    "-Xmx1024m",
                    "-Xmn1m",
                    "-XX:MetaspaceSize=21m")))
        .containsExactly(
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Xms1g",
            "-Xmn512m",
            "-XX:MetaspaceSize=256m");
  }

  @Test
  void optionsOfThisJvmAreReported() {
    List<String> options = JvmOptions.inEffect();

    assertThat(options).anyMatch(option -> option.matches("-XX:TieredStopAtLevel=[0-4]"));
    assertThat(options).filteredOn(option -> option.matches("-XX:\\+Use\\w+GC")).hasSize(1);
    for (String size : List.of("-Xms", "-Xmx", "-Xmn")) {
      assertThat(options).filteredOn(option -> option.matches(size + "\\d+m")).hasSize(1);
    }
  }

  /** The one place where a build of this project takes them from, and what README says. */
  @Test
  void pomAndReadmeHaveTheRecommendedOptions() throws Exception {
    String property =
        "<gatling.jvmArgs>" + String.join(",", JvmOptions.RECOMMENDED) + "</gatling.jvmArgs>";

    assertThat(Files.readString(Path.of("pom.xml"))).contains(property);
    assertThat(Files.readString(Path.of("README.md"))).contains(property);
  }

  private static final ProcessSetting FILE = new ProcessSetting("llm.selfTestFile");
  private static final Map<String, String> NONE = Map.of();

  @Test
  void propertyOverridesVariable() {
    Map<String, String> variables = Map.of("LLM_SELF_TEST_FILE", " b ");
    assertThat(FILE.text(NONE, NONE)).isNull();
    assertThat(FILE.text(NONE, variables)).isEqualTo("b");
    assertThat(FILE.text(Map.of("llm.selfTestFile", "a"), variables)).isEqualTo("a");
  }

  @Test
  void blankCountsAsNotSet() {
    assertThat(FILE.text(NONE, Map.of("LLM_SELF_TEST_FILE", " "))).isNull();
    assertThat(FILE.text(Map.of("llm.selfTestFile", ""), Map.of("LLM_SELF_TEST_FILE", "b")))
        .isNull();
  }

  @Test
  void switchIsTrueOrFalse() {
    ProcessSetting dryRun = new ProcessSetting("llm.dryRun");
    assertThat(dryRun.isTrue(Map.of("llm.dryRun", "TRUE"), NONE, false)).isTrue();
    assertThat(dryRun.isTrue(NONE, Map.of("LLM_DRY_RUN", "false"), true)).isFalse();
    assertThat(dryRun.isTrue(NONE, NONE, true)).isTrue();
    assertThatThrownBy(() -> dryRun.isTrue(Map.of("llm.dryRun", "yes"), NONE, false))
        .hasMessage("llm.dryRun=yes: expected true or false");
  }

  @Test
  void invalidValueIsReportedWithItsSetting() {
    Map<String, String> wrong = Map.of("llm.selfTestFile", "x");
    assertThat(FILE.<Integer>read(NONE, NONE, Integer::valueOf)).isNull();
    assertThatThrownBy(() -> FILE.read(wrong, NONE, Integer::valueOf))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("llm.selfTestFile=x: For input string: \"x\"");
  }
}
