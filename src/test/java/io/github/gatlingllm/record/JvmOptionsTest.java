package io.github.gatlingllm.record;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.record.SelfTest.JvmOptions;
import io.github.gatlingllm.testing.JavaCommand;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a run's JVM should have, and what it has. */
class JvmOptionsTest {
  @Test
  void optionsOfThisJvmAreReported() {
    List<String> options = JvmOptions.inEffect();

    assertThat(options).anyMatch(option -> option.matches("-XX:TieredStopAtLevel=[0-4]"));
    assertThat(options).filteredOn(option -> option.matches("-XX:\\+Use\\w+GC")).hasSize(1);
    for (String size : List.of("-Xms", "-Xmx", "-Xmn")) {
      assertThat(options).filteredOn(option -> option.matches(size + "\\d+m")).hasSize(1);
    }
  }

  /** In a JVM of its own, as a directive stays. */
  @Test
  void onOneProcessorOnlyC1Compiles() throws Exception {
    Process small =
        new ProcessBuilder(
                JavaCommand.of(List.of("-XX:ActiveProcessorCount=1"), SmallMachine.class))
            .redirectErrorStream(true)
            .start();
    assertThat(new String(small.getInputStream().readAllBytes(), UTF_8))
        .contains(JvmOptions.NO_OPTIMISING_COMPILER)
        .contains("-Dio.netty.eventLoopThreads=1, " + JvmOptions.NO_OPTIMISING_COMPILER);
  }

  /** Prints the options after processors were spared. */
  static final class SmallMachine {
    public static void main(String[] args) {
      JvmOptions.spareProcessors();
      System.out.println(JvmOptions.inEffect());
      System.out.println(JvmOptions.ofRunsHere());
    }
  }

  @Test
  void pomHasTheOptionsOfOurRuns() throws Exception {
    assertThat(Files.readString(Path.of("pom.xml")))
        .contains(
            "<gatling.jvmArgs>" + String.join(",", JvmOptions.OF_RUNS) + "</gatling.jvmArgs>");
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
