package io.github.gatlingllm.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Objectives.TargetSlo;
import io.github.gatlingllm.record.RunInfo.TargetFacts;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import io.github.gatlingllm.record.RunOutcome.Connections;
import io.github.gatlingllm.record.RunOutcome.PromptRepeats;
import io.github.gatlingllm.record.RunOutcome.SingleStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunInfoTest {

  @TempDir Path directory;

  private static final RunInfo FULL =
      RunInfo.started("chat-1", "ChatSimulation", "injector-1", 1_795_255_200_123_456_789L)
          .ended(1_795_255_260_000_000_001L, RunInfo.State.COMPLETE)
          .seed(-42L)
          .versions(Map.of("gatling", "3.15.1"))
          .config(Map.of("endpoint", "http://localhost:8000/v1"))
          .slo(
              TargetSlo.of(
                  Slo.parse("ttft<200ms,tpot<50ms", 95, Slo.Rule.PERCENTILES),
                  Map.of("ask", Slo.parse("ttft<1s", 90, Slo.Rule.REQUESTS))),
              Map.of(
                  "vLLM",
                      new TargetSlo(
                          "ttft<200ms,tpot<50ms",
                          95,
                          Slo.Rule.PERCENTILES,
                          Map.of("ask", "ttft<1s"),
                          Map.of()),
                  "TGI", new TargetSlo("e2e<2s", 90, Slo.Rule.PERCENTILES, Map.of(), Map.of())))
          .sloTiers(
              Map.of("gold", new TargetSlo("e2e<2s", 90, Slo.Rule.PERCENTILES, Map.of(), Map.of())))
          .conclusion(
              new Conclusion("search", "max goodput", true, 0.9, 0.95, 4.0, 4.2)
                  .on("vLLM", "A1")
                  .by("gold"))
          .singleStreams(Map.of("vLLM", new SingleStream(128, 2.5, 2)))
          .firstAnswers(Map.of("vLLM", 42.5))
          .targets(Map.of("vLLM", new TargetFacts(true, "chars4", 0.5, 2.5, 14)))
          .report(new RunInfo.ReportOptions(true, false, false))
          .share(new InjectorShare(2, 4))
          .machines(
              Map.of("injector-1", new SelfTest.Machine("cpu", 2, 4_096, "17", List.of(), true)))
          .selfTest(
              SelfTest.of(
                  1,
                  new SelfTest.Machine("cpu", 2, 4_096, "17", List.of(), null),
                  Map.of("java", "17"),
                  10,
                  List.of(SelfTestTest.level(1, 46, 0.3, 0.2))))
          .injectors(
              List.of(
                  new InjectorRun(
                      "injector-1",
                      "chat-1",
                      null,
                      RunInfo.State.COMPLETE,
                      1,
                      2L,
                      10L,
                      9,
                      11L,
                      10,
                      1,
                      List.of(),
                      Map.of())),
              2)
          .dropped(3)
          .planned(1_000L)
          .started(990L)
          .notSent(Map.of("ask: it could not be built", 4L))
          .prompts(new PromptRepeats(5, 1))
          .connections(Map.of("localhost:8000", new Connections(7, 2)))
          .stages(
              List.of(
                  new LevelInfo(
                      "c=8",
                      "vLLM",
                      "A1",
                      "closed loop",
                      8.0,
                      "users",
                      List.of(
                          new PhaseWindow(Phase.FILL, 1, 2L),
                          new PhaseWindow(Phase.MEASURE, 2, null))),
                  new LevelInfo("all", "vLLM", null, "injection", null, "users/s", List.of())))
          .assertions(
              List.of(
                  Assertion.VALID,
                  new Assertion(
                          "vLLM",
                          Objectives.Scope.REQUEST,
                          "ask",
                          "ttft.p99.5",
                          Objectives.AssertedCondition.BETWEEN_EXCLUSIVE,
                          List.of(0.5, 200.0))
                      .by("gold")));

  @Test
  void roundTrips() throws IOException {
    Path file = directory.resolve("llm").resolve("run.json");
    assertThat(RunInfo.read(file)).isEmpty();
    RunInfo begun = RunInfo.started("chat-1", "ChatSimulation", "injector-1", 5);
    for (RunInfo info : List.of(begun, FULL)) {
      info.write(file);
      assertThat(RunInfo.read(file)).contains(info);
    }
    assertThat(directory.resolve("llm").toFile().list()).containsExactly("run.json");
  }

  @Test
  void keysAreSnakeCaseWithUnits() throws IOException {
    Path file = directory.resolve("run.json");
    FULL.write(file);
    assertThat(Files.readString(file))
        .startsWith("{\n  \"schema\" : \"gatling-llm/run/1\",\n  \"id\" : \"chat-1\",")
        .contains(
            "\"start_unix_ns\" : 1795255200123456789",
            "\"end_unix_ns\" : 1795255260000000001",
            "\"state\" : \"complete\"",
            "\"planned\" : 1000",
            "\"started\" : 990",
            "\"counted\" : 5",
            "\"closed\" : 2",
            "\"injectors_expected\" : 2",
            "\"memory_mib\" : 4096",
            "\"slo\" : \"ttft<200ms,tpot<50ms\"",
            "\"slo_percentile\" : 95.0",
            "\"slo_by_request\"",
            "\"pinned_output\" : true",
            "\"share\" : \"2/4\"",
            "\"fail_on_invalid\" : false",
            "\"phase\" : \"measure\"",
            "\"scope\" : \"request\"",
            "\"figure\" : \"ttft.p99.5\"",
            "\"condition\" : \"between_exclusive\"",
            "\"values\" : [ 0.5, 200.0 ]");
  }

  @Test
  void unknownKeysAreSkippedAndMissingOnesAreAbsent() throws IOException {
    Path file = directory.resolve("run.json");
    Files.writeString(
        file,
        """
        {"schema":"gatling-llm/run/1","id":"x","simulation":"S","start_unix_ns":1,
         "state":"interrupted","injector":"i","slo":"","slo_percentile":99,"future":{"a":[1]},
         "stages":[{"label":"c=1","target":"t","kind":"closed loop","unit":"users","more":1}]}
        """);
    RunInfo info = RunInfo.read(file).orElseThrow();
    assertThat(info.state()).isEqualTo(RunInfo.State.INTERRUPTED);
    assertThat(info.endUnixNanos()).isNull();
    assertThat(info.report()).isEqualTo(RunInfo.ReportOptions.DEFAULT);
    assertThat(info.config()).isEmpty();
    assertThat(info.stages().get(0).window(Phase.MEASURE)).isEmpty();
  }

  @Test
  void anotherFormatIsRefusedInOneLine() throws IOException {
    Path file = directory.resolve("run.json");
    Files.writeString(file, "{\"schema\":\"gatling-llm/run/2\"}");
    assertThatIOException()
        .isThrownBy(() -> RunInfo.read(file))
        .withMessageEndingWith(
            "run.json has schema 'gatling-llm/run/2'; expected gatling-llm/run/1");
    Files.writeString(file, "{\n\"schema\":");
    assertThatIOException()
        .isThrownBy(() -> RunInfo.read(file))
        .withMessageContaining("run.json is not understood: Unexpected end-of-input")
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("\n"));
  }

  @Test
  void secretsAreNeverKept() {
    RunInfo info =
        FULL.config(Map.of("apiKey", "sk-1", "header.Authorization", "Bearer sk-1", "model", "m"));
    assertThat(info.config())
        .isEqualTo(Map.of("apiKey", "***", "header.Authorization", "***", "model", "m"));
  }

  @Test
  void objectivesOfARequestReplaceTheGlobalOnes() {
    assertThat(FULL.objectives().of("vLLM").of("ask"))
        .isEqualTo(Slo.parse("ttft<1s", 95, Slo.Rule.PERCENTILES));
    assertThat(FULL.objectives().of("vLLM").of("other"))
        .isEqualTo(Slo.parse("ttft<200ms,tpot<50ms", 95, Slo.Rule.PERCENTILES));
    assertThat(RunInfo.started("a", "b", "c", 1).objectives().of("any").global())
        .isEqualTo(Slo.NONE);
  }

  @Test
  void aTemplateIsThatOfTheRunWhereAllTargetsHaveIt() {
    TargetFacts unknown = new TargetFacts(true, "chars4", null, null, null);
    TargetFacts known = new TargetFacts(true, "chars4", null, null, 14);
    assertThat(FULL.targets(Map.of("a", known, "b", known)).commonTemplate()).isEqualTo(14);
    assertThat(FULL.targets(Map.of("a", known, "b", unknown)).commonTemplate()).isNull();
    assertThat(FULL.targets(Map.of("a", unknown)).commonTemplate()).isNull();
    assertThat(FULL.targets(Map.of()).commonTemplate()).isNull();
    assertThat(known.and(known).templateTokens()).isEqualTo(14);
    assertThat(known.and(unknown).templateTokens()).isNull();
  }
}
