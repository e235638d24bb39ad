package io.github.gatlingllm.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.record.SelfTest.Ceiling;
import io.github.gatlingllm.record.SelfTest.Errors;
import io.github.gatlingllm.record.SelfTest.JvmOptions;
import io.github.gatlingllm.record.SelfTest.Machine;
import io.github.gatlingllm.record.SelfTest.TestedLoad;
import io.github.gatlingllm.testing.JavaCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SelfTestTest {

  private static final Machine MACHINE =
      new Machine("A CPU", 8, 16_000, "A VM 17", List.of("-XX:+UseSerialGC"), null);
  private static final Map<String, String> VERSIONS = Map.of("gatling-llm", "1.0", "java", "17");

  @TempDir private Path folder;

  /** A level whose errors are those at p99. */
  static TestedLoad level(int streams, double eventsPerS, double ttftP99, double itlP99) {
    return new TestedLoad(
        streams,
        100,
        eventsPerS,
        eventsPerS / 50,
        new Errors(0.1, ttftP99, 2 * ttftP99),
        new Errors(0.01, itlP99, 2 * itlP99),
        0.5);
  }

  private static SelfTest of(TestedLoad... levels) {
    return SelfTest.of(1_700_000_000_000_000_000L, MACHINE, VERSIONS, 10, List.of(levels));
  }

  @Test
  void ceilingIsTheHighestLevelUpToWhichAllAreWithinTheBound() {
    TestedLoad low = level(1, 46, 0.3, 0.2);
    TestedLoad high = level(64, 2_960, 10, 2);
    assertThat(of(low, high).ceiling()).isEqualTo(new Ceiling(64, 2_960, 2_960 / 50.0, false));
    assertThat(of(low, level(16, 740, 1, 10.1), high).ceiling())
        .isEqualTo(new Ceiling(1, 46, 46 / 50.0, true));
    assertThat(of(level(1, 46, 11, 0)).ceiling()).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "1, 10, 1",
    "1, 47, 1", // within 2 % of 46.5
    "1, 48, 16", // as few streams, but more events
    "2, 10, 16",
    "16, 740, 16",
    "17, 740, 64",
    "64, 3019, 64",
    "64, 3100, 0",
    "65, 1, 0"
  })
  void aLoadIsCoveredByTheLightestLevelThatIsNoLighter(int streams, double events, int covering) {
    SelfTest test =
        of(level(1, 46.5, 0.3, 0.2), level(16, 740, 0.4, 0.3), level(64, 2_960, 0.5, 0.4));
    assertThat(test.covering(streams, events).map(TestedLoad::streams).orElse(0))
        .isEqualTo(covering);
  }

  @Test
  void itAppliesToTheSameMachineAndVersions() {
    assertThat(of().quotedBy(MACHINE, VERSIONS).applies()).isTrue();
    Machine afterBoot = new Machine("A CPU", 8, 15_900, "A VM 17", MACHINE.jvmOptions(), null);
    assertThat(of().quotedBy(afterBoot, VERSIONS).applies()).isTrue();
  }

  @Test
  void differencesOfAnotherRunAreListed() {
    Machine other = new Machine("Another", 4, 8_000, "A VM 21", List.of(), null);
    SelfTest quoted =
        of(level(1, 46, 1, 1)).quotedBy(other, Map.of("gatling-llm", "1.1", "gatling", "3"));
    assertThat(quoted.applies()).isFalse();
    assertThat(quoted.differs())
        .containsExactly(
            "processor",
            "number of processors",
            "memory",
            "JVM",
            "JVM options",
            "version of gatling",
            "version of gatling-llm",
            "version of java");
  }

  @Test
  void roundTrips() throws IOException {
    SelfTest written = of(level(1, 46, 0.3, 0.2), level(16, 740, 20, 0.3));
    Path file = folder.resolve("new/self-test.json");
    written.write(file);
    assertThat(SelfTest.read(file)).contains(written);
    assertThat(Files.readString(file)).contains("\"ttft_error_ms\"", "\"engine_late_p99_ms\"");
    assertThat(SelfTest.read(folder.resolve("none.json"))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "null; has schema ''",
        "{\"schema\": \"gatling-llm/self-test/2\"}; has schema 'gatling-llm/self-test/2'",
        "{\"schema\": \"gatling-llm/self-test/1\", \"levels\": [null]}; is not understood",
        "[]; has schema ''",
        "{\"schema\"; is not understood"
      })
  void anotherFileIsRefusedInOneLine(String text, String message) throws IOException {
    Path file = Files.writeString(folder.resolve("self-test.json"), text);
    assertThatThrownBy(() -> SelfTest.read(file))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(message)
        .hasMessageNotContaining("\n");
  }

  @Test
  void fileWithoutOptionalKeysIsRead() throws IOException {
    Path file = folder.resolve("self-test.json");
    Files.writeString(
        file, "{\"schema\": \"" + SelfTest.SCHEMA + "\", \"levels\": [{\"streams\": 3}]}");
    SelfTest read = SelfTest.read(file).orElseThrow();
    assertThat(read.levels().get(0).ttftErrorMs()).isEqualTo(new Errors(0, 0, 0));
    assertThat(read.quotedBy(MACHINE, VERSIONS).applies()).isFalse();
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

  /** In a separate JVM, as a directive stays. */
  @Test
  void onOneProcessorOnlyC1Compiles() throws Exception {
    List<String> command =
        JavaCommand.of(List.of("-XX:ActiveProcessorCount=1"), SmallMachine.class);
    assertThat(JavaCommand.output(new ProcessBuilder(command)))
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
