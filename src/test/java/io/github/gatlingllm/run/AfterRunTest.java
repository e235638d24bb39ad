package io.github.gatlingllm.run;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.run.AfterRun.GatlingExit;
import io.github.gatlingllm.run.Run.RunClock;
import io.github.gatlingllm.simulations.AssertionTexts;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AfterRunTest {

  @TempDir private Path folder;
  private final ByteArrayOutputStream said = new ByteArrayOutputStream();
  private @Nullable Run run;

  private Run open() throws IOException {
    Run begun =
        new Run(
            new RunDirectory("Sim", "sim-1", folder.resolve("sim-1")),
            "here",
            RunClock.system(),
            System.out::println,
            opened -> List.of());
    run = begun;
    return begun;
  }

  @AfterEach
  void close() {
    if (run != null) {
      run.ending().complete();
    }
  }

  private boolean failsBuild(Run ended) {
    return exitCode(ended) == GatlingExit.ASSERTIONS_MISSED;
  }

  private int exitCode(Run ended) {
    return ended.ending().exitCode(new PrintStream(said, true, UTF_8));
  }

  private String said() {
    return said.toString(UTF_8);
  }

  private static void send(Run to, LevelRecord record) {
    var unused = to.nextRequest();
    long now = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis());
    to.record(record.at(now, now + 1).record());
  }

  private static void demand(Run of, String assertion) {
    of.describe(info -> info.assertions(AssertionTexts.parse(assertion)));
  }

  /** As where the results lie on a disk that is read-only: nothing is sent that is not recorded. */
  @Test
  void folderThatCannotBeWrittenEndsTheRunBeforeItBegins() throws IOException {
    Files.createFile(folder.resolve("sim-1"));

    assertThatThrownBy(this::open)
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("Cannot record to ")
        .hasMessageEndingWith("; make its directory writable")
        .hasMessageNotContaining("\n");
  }

  @Test
  void withoutRequestsThereIsNoReport() throws IOException {
    Run opened = open();
    assertThat(failsBuild(opened)).isFalse();
    assertThat(said())
        .isEqualToIgnoringNewLines("LLM report: none, because no llm request was sent");
    assertThat(opened.files().page()).doesNotExist();
  }

  @Test
  void aRunThatDidNotCompleteIsReportedAsInterrupted() throws IOException {
    Run opened = open();
    send(opened, LevelRecord.ok("c=1"));
    assertThat(failsBuild(opened)).isFalse();
    assertThat(RunInfo.read(opened.files().info()).orElseThrow().state())
        .isEqualTo(RunInfo.State.INTERRUPTED);
    assertThat(opened.files().page()).exists();
    assertThat(opened.ending().exit()).as("no way to change the exit code").isNull();
  }

  @Test
  void aMissedAssertionFailsTheBuild() throws IOException {
    Run opened = open();
    demand(opened, "errors<1%");
    send(opened, LevelRecord.failed("c=1"));
    opened.ending().complete();
    assertThat(failsBuild(opened)).isTrue();
    assertThat(opened.ending().exit()).isNotNull();
  }

  @Test
  void anAssertionThatHoldsDoesNotFailTheBuild() throws IOException {
    Run opened = open();
    demand(opened, "errors<1%");
    send(opened, LevelRecord.ok("c=1"));
    opened.ending().complete();
    assertThat(exitCode(opened)).isZero();
  }

  @Test
  void failBuildFalseOnlyReportsTheMiss() throws IOException {
    Run opened = open();
    demand(opened, "errors<1%");
    opened.describe(info -> info.report(new RunInfo.ReportOptions(false, true, false, true)));
    send(opened, LevelRecord.failed("c=1"));
    opened.ending().complete();
    assertThat(failsBuild(opened)).isFalse();
    assertThat(said()).contains("errors");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anInvalidRunFailsTheBuildUnlessToldOtherwise(boolean fails) throws IOException {
    Run opened = open();
    opened.describe(info -> info.report(new RunInfo.ReportOptions(false, true, true, fails)));
    send(opened, LevelRecord.failed("c=1"));
    opened.ending().complete();
    assertThat(failsBuild(opened)).isEqualTo(fails);
    assertThat(said().contains("LLM: the run is invalid, so the build fails")).isEqualTo(fails);
  }

  @Test
  void aRefusedRunPrintsNothingMore() throws IOException {
    Run opened = open();
    demand(opened, "errors<1%");
    opened.ending().refuse();
    assertThat(failsBuild(opened)).isFalse();
    assertThat(said()).isEmpty();
    assertThat(opened.files().page()).doesNotExist();
  }

  @Test
  void aFailedReportIsPrintedAndIsExitCode1BecauseNoAssertionIsJudged() throws IOException {
    Run opened = open();
    send(opened, LevelRecord.ok("c=1"));
    opened.ending().complete();
    Files.delete(opened.files().requests());
    assertThat(exitCode(opened)).isEqualTo(1);
    assertThat(said())
        .startsWith("LLM report could not be made: ")
        .contains("requests.jsonl is not there")
        .doesNotContain("Exception", "records are kept");
  }

  @Test
  void aFailedReportNamesTheCommandThatMakesItFromTheRecords() throws IOException {
    Run opened = open();
    send(opened, LevelRecord.ok("c=1"));
    opened.ending().complete();
    Files.createDirectories(opened.files().page());
    Files.createFile(opened.files().page().resolve("a"));
    assertThat(exitCode(opened)).isEqualTo(1);
    assertThat(said()).contains("the records are kept", "Main render " + opened.files().run());
  }
}
