package io.github.gatlingllm.run;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RequestStatus.GeneratorLimit;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.run.Run.RunClock;
import io.github.gatlingllm.simulations.CheckedSettings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AfterRunTest {

  @TempDir private Path folder;
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
  private @Nullable Run run;

  private Run open() throws IOException {
    Run begun = LevelLogTest.open(folder, RunClock.system());
    run = begun;
    return begun;
  }

  @AfterEach
  void close() {
    if (run != null) {
      run.ending().complete(() -> {});
    }
  }

  private boolean failsBuild(Run ended) {
    return exitCode(ended) == 2;
  }

  private int exitCode(Run ended) {
    return ended.ending().exitCode(new PrintStream(printed, true, UTF_8));
  }

  private String printed() {
    return printed.toString(UTF_8);
  }

  private static void send(Run to, Recorded request) {
    var unused = to.nextRequest();
    to.record(
        request.unixNanos(TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis())).record());
  }

  private static void demand(Run of, String assertion) {
    of.describe(info -> info.assertions(CheckedSettings.assertions(assertion)));
  }

  @Test
  void withoutRequestsThereIsNoReport() throws IOException {
    Run opened = open();
    assertThat(failsBuild(opened)).isFalse();
    assertThat(printed())
        .isEqualToIgnoringNewLines("LLM report: none, because no llm request was sent");
    assertThat(opened.files().page()).doesNotExist();
  }

  @Test
  void assertionsWithoutRequestsAreMissed() throws IOException {
    Run opened = open();
    demand(opened, "ttft.p99<1s");
    opened.ending().complete(() -> {});
    assertThat(failsBuild(opened)).isTrue();
  }

  @Test
  void aRunThatDidNotCompleteIsReportedAsInterrupted() throws IOException {
    Run opened = open();
    send(opened, LevelRecord.ok("c=1"));
    assertThat(failsBuild(opened)).isFalse();
    assertThat(RunInfo.read(opened.files().info()).orElseThrow().state())
        .isEqualTo(RunInfo.State.INTERRUPTED);
    assertThat(opened.files().page()).exists();
  }

  /** A failed request misses the assertion, and makes the run invalid. */
  @ParameterizedTest
  @CsvSource({
    "false, errors<1%, true, true, false",
    "true, errors<1%, true, false, true",
    "true, errors<1%, false, true, false",
    "true, , true, true, true",
    "true, , true, false, false"
  })
  void missedAssertionsAndInvalidRunsFailTheBuildUnlessToldOtherwise(
      boolean isFailed,
      @Nullable String assertion,
      boolean failBuild,
      boolean failOnInvalid,
      boolean fails)
      throws IOException {
    Run opened = open();
    if (assertion != null) {
      demand(opened, assertion);
    }
    opened.describe(
        info -> info.report(new RunInfo.ReportOptions(false, failBuild, failOnInvalid)));
    send(opened, isFailed ? LevelRecord.failed("c=1") : LevelRecord.ok("c=1"));
    opened.ending().complete(() -> {});
    assertThat(exitCode(opened)).isEqualTo(fails ? 2 : 0);
    assertThat(printed()).contains(isFailed ? "errors" : "LLM report generated");
    assertThat(printed().contains("LLM: the run is invalid, so the build fails"))
        .isEqualTo(fails && assertion == null);
  }

  /** Of two requests one failed as no port was left; no other check calls the run invalid. */
  @ParameterizedTest
  @CsvSource({
    ", , false",
    ", true, true",
    ", false, false",
    "errors<60%, , true",
    "errors<60%, false, false"
  })
  void aGeneratorThatDidNotKeepUpFailsTheBuildWhereSomethingIsAsserted(
      @Nullable String assertion, @Nullable Boolean failOnInvalid, boolean fails)
      throws IOException {
    Run opened = open();
    if (assertion != null) {
      demand(opened, assertion);
    }
    opened.describe(info -> info.report(new RunInfo.ReportOptions(false, true, failOnInvalid)));
    send(opened, LevelRecord.ok("c=1"));
    String error = GeneratorLimit.PORTS.error();
    send(opened, LevelRecord.ok("c=1").failed(RequestStatus.CONNECTION_ERROR, error));
    opened.ending().complete(() -> {});
    assertThat(failsBuild(opened)).isEqualTo(fails);
    assertThat(printed().contains("LLM: the run is invalid, "))
        .isEqualTo(!Boolean.FALSE.equals(failOnInvalid));
  }

  @Test
  void aRefusedRunPrintsNothingMore() throws IOException {
    Run opened = open();
    demand(opened, "errors<1%");
    opened.ending().refuse();
    assertThat(failsBuild(opened)).isFalse();
    assertThat(printed()).isEmpty();
    assertThat(opened.files().page()).doesNotExist();
  }

  @Test
  void aFailedReportIsPrintedAndIsExitCode1BecauseNoAssertionIsJudged() throws IOException {
    Run opened = open();
    send(opened, LevelRecord.ok("c=1"));
    opened.ending().complete(() -> {});
    Files.delete(opened.files().requests());
    assertThat(exitCode(opened)).isEqualTo(1);
    assertThat(printed())
        .startsWith("LLM report could not be made: ")
        .contains("requests.jsonl: not there")
        .doesNotContain("Exception", "records are kept");
  }

  @Test
  void aFailedReportNamesTheCommandThatMakesItFromTheRecords() throws IOException {
    Run opened = open();
    send(opened, LevelRecord.ok("c=1"));
    opened.ending().complete(() -> {});
    Files.createDirectories(opened.files().page());
    Files.createFile(opened.files().page().resolve("a"));
    assertThat(exitCode(opened)).isEqualTo(1);
    assertThat(printed()).contains("the records are kept", "render " + opened.files().run());
  }
}
