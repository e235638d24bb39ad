package io.github.gatlingllm.engine;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.Runs;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.SelfTest;
import io.github.gatlingllm.record.SelfTest.Errors;
import io.github.gatlingllm.record.SelfTest.Machine;
import io.github.gatlingllm.record.SelfTest.TestedLoad;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SelfTestResultsTest {
  private static final Map<String, String> VERSIONS = Map.of("gatling-llm", "1.0");
  private static final Machine HERE = new Machine("A CPU", 2, 1_000, "A VM", List.of(), null);

  @TempDir private Path folder;
  private Path file;
  private final List<String> console = new ArrayList<>();
  private final RunInfo run = RunInfo.started("run", "sim", "here", 0).versions(VERSIONS);

  @BeforeEach
  void keepOne() throws IOException {
    file = folder.resolve("self-test.json");
    SelfTest.of(7, HERE, VERSIONS, 10, List.of()).write(file);
  }

  private @Nullable SelfTest atEnd(Machine machine) {
    return new SelfTestResults(file, machine)
        .atEndOf(run, new RunFiles(folder), nanos -> nanos, console::add);
  }

  @Test
  void aRunOnTheSameMachineQuotesIt() {
    assertThat(atEnd(HERE)).isNotNull().matches(SelfTest::applies);
  }

  @Test
  void aRunWhereNothingWasMeasuredKnowsNothing() throws IOException {
    Files.delete(file);
    assertThat(atEnd(HERE)).isNull();
    assertThat(console).isEmpty();
  }

  @Test
  void aDamagedFileIsReportedInALine() throws IOException {
    Files.writeString(file, "{");
    assertThat(atEnd(HERE)).isNull();
    assertThat(console)
        .singleElement()
        .matches(line -> line.startsWith("LLM self-test: " + file + " is not understood"));
  }

  @Test
  void anEngineThatHasEndedIsReportedInALine() {
    assertThat(
            new SelfTestResults(file, HERE)
                .atEndOf(
                    run.config(SelfTest.ENGINE, "1"), new RunFiles(folder), n -> n, console::add))
        .isNull();
    assertThat(console).singleElement().matches(line -> line.startsWith("LLM self-test: "));
  }

  @Test
  void theFileIsTheUsersUnlessAnotherIsNamed() {
    assertThat(SelfTestResults.file(null, "/home/me"))
        .isEqualTo(Path.of("/home/me/.gatling-llm/self-test.json"));
    assertThat(SelfTestResults.file("a.json", "/home/me")).isEqualTo(Path.of("a.json"));
  }

  @Test
  void theProcessorIsNamedAsTheSystemNamesIt() throws IOException {
    Path cpuinfo = folder.resolve("cpuinfo");
    Files.writeString(cpuinfo, "processor\t: 0\nmodel name\t: A CPU @ 2 GHz\nmodel name\t: B\n");
    assertThat(SelfTestResults.processor(cpuinfo, null)).isEqualTo("A CPU @ 2 GHz");
    Path none = folder.resolve("none");
    assertThat(SelfTestResults.processor(none, "Intel64 Family 6")).isEqualTo("Intel64 Family 6");
    assertThat(SelfTestResults.processor(none, null)).isEqualTo(System.getProperty("os.arch"));
    Files.writeString(cpuinfo, "processor\t: 0\n");
    assertThat(SelfTestResults.processor(cpuinfo, null)).isEqualTo(System.getProperty("os.arch"));
  }

  @Test
  void thisJvmIsDescribed() {
    Machine machine = SelfTestResults.ofUser().machine();
    assertThat(machine.processor()).isNotBlank();
    assertThat(machine.processors()).isPositive();
    assertThat(machine.memoryMib()).isGreaterThan(100);
    assertThat(machine.jvmOptions()).noneMatch(option -> option.startsWith("-D"));
  }

  private final List<GroundTruth> answers = new ArrayList<>();
  private final List<RequestRecord> records = new ArrayList<>();

  private void written(String id, double receivedMs, double... tokenMs) {
    long received = epoch(receivedMs);
    long[] tokens = Arrays.stream(tokenMs).mapToLong(this::epoch).toArray();
    long first = tokens[0];
    long last = tokens[tokens.length - 1];
    answers.add(
        new GroundTruth(id, received, first, first, tokens, 1, 0, tokens.length, last, false));
  }

  private long epoch(double ms) {
    return Recorded.ORIGIN + Math.round(ms * 1e6);
  }

  /** Recorded at these milliseconds since its start. */
  private Recorded recorded(String id, double startMs, double... tokenMs) {
    return Recorded.at(startMs).id(id).stage("c=2").tokens(tokenMs);
  }

  private TestedLoad level() {
    DeliveryErrors errors =
        new DeliveryErrors(answers, MILLISECONDS.toNanos(100), MILLISECONDS.toNanos(20));
    records.forEach(errors::add);
    return errors.levels(List.of(Runs.stage(2, 0, 1_000), Runs.stage(4, 0, 1_000))).get(0);
  }

  @Test
  void errorsAreRelativeToTheWriteTimeNotThePlan() {
    // 145 was due at 140: the engine was 5 ms late, and the record 0.9 ms.
    written("a", 0, 100, 120, 145);
    records.add(recorded("a", -1, 101.3, 121.1, 146.9).record());
    TestedLoad level = level();
    assertThat(level.ttftErrorMs()).isEqualTo(new Errors(0.3, 0.3, 0.3));
    assertThat(level.itlErrorMs()).isEqualTo(new Errors(0.2, 0.8, 0.8));
    assertThat(level.engineLateP99Ms()).isEqualTo(5);
    assertThat(level.requests()).isOne();
    assertThat(level.streams()).isEqualTo(2);
  }

  @Test
  void percentilesAreNearestRanks() {
    for (int i = 1; i <= 200; i++) {
      written("r" + i, 0, 100);
      records.add(recorded("r" + i, 0, 100 + i / 10.0).record());
    }
    assertThat(level().ttftErrorMs()).isEqualTo(new Errors(10, 19.8, 20));
    assertThat(level().itlErrorMs()).as("one token has no gap").isEqualTo(new Errors(0, 0, 0));
  }

  @Test
  void ratesAreThoseThatTheEngineWroteInTheWindow() {
    written("a", 0, 100, 120, 140);
    written("b", 880, 980, 999, 1_000);
    records.add(recorded("a", 0, 100, 120, 140).record());
    TestedLoad level = level();
    assertThat(level.eventsPerS()).isEqualTo(5);
    assertThat(level.requestsPerS()).as("b ends after the window").isEqualTo(1);
  }

  @Test
  void onlyCompleteMeasuredAnswersAreCompared() {
    for (String id : List.of("a", "warm", "failed", "cut")) {
      written(id, 0, 100, 120);
    }
    records.add(recorded("a", 0, 100, 120).record());
    records.add(recorded("unknown", 0, 500, 620).record());
    records.add(recorded("warm", 0, 500, 620).phase(Phase.STABILIZE).record());
    records.add(recorded("failed", 0, 500, 620).failed(RequestStatus.TIMEOUT, "too long").record());
    records.add(recorded("cut", 0, 500).record());
    records.add(recorded("never", 0).gate(null).record());
    assertThat(level().requests()).isOne();
    assertThat(level().ttftErrorMs().max()).isZero();
  }

  @Test
  void aLevelWithoutRequestsIsLeftOut() {
    DeliveryErrors errors = new DeliveryErrors(List.of(), 1, 1);
    assertThat(errors.levels(List.of(Runs.stage(2, 0, 1_000)))).isEmpty();
  }
}
