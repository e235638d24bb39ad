package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.gatling.javaapi.core.*;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.testing.GatlingRun;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Loads that Gatling stops: open requests are cancelled, not failed, and no record is missing. */
class StoppedRunIT {
  private static final int ASSERTIONS_MISSED = 2;

  /** All but the first streams of users take 15 s, so that the stop interrupts some of them. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void openRequestsAreCancelledAndCounted(boolean byAction) throws Exception {
    try (EmbeddedEngine engine = EmbeddedEngine.builder().fixed(ofMillis(5), ofMillis(3)).start();
        GatlingRun run =
            GatlingRun.of(StoppedSimulation.class, engine.baseUrl())
                .set("action", byAction)
                .run()) {
      List<RequestRecord> records = run.requests();
      assertThat(records)
          .as("one may be cancelled on its way to the server")
          .hasSizeGreaterThanOrEqualTo((int) engine.requestsReceived());
      for (String load : List.of("rate", "concurrent", "closed loop")) {
        assertThat(run.requests(load))
            .as(load)
            .extracting(r -> r.outcome().status())
            .contains(RequestStatus.CANCELLED)
            .isSubsetOf(RequestStatus.COMPLETE, RequestStatus.CANCELLED);
        if (byAction) { // which waits for them
          assertThat(run.requests(load)).as(load).anyMatch(r -> r.outcome().ok());
        }
      }
      assertThat(records)
          .filteredOn(r -> r.outcome().status() == RequestStatus.CANCELLED)
          .allSatisfy(r -> assertThat(r.outcome().error()).contains("maxDuration"));
      JsonNode counts = run.summary().get("counts");
      assertThat(counts.get("started").asInt())
          .isEqualTo(records.size())
          .isEqualTo(counts.get("ended").asInt() + counts.get("cancelled").asInt());
      assertThat(run.check("all_accounted").get("level").asText()).isEqualTo("ok");
      assertThat(run.info().state())
          .isEqualTo(byAction ? RunInfo.State.INTERRUPTED : RunInfo.State.COMPLETE);
      assertThat(run.info().config().get(RunInfo.MAX_DURATION))
          .isEqualTo(byAction ? null : StoppedSimulation.SECONDS + "s");
      assertThat(run.info().outcome().dropped()).isZero();
      assertThat(run.summary().get("verdict").asText().contains("Interrupted: "))
          .isEqualTo(byAction);
      List<String> findings = run.summary().get("findings").findValuesAsText("id");
      findings.remove("verdict.invalid"); // on a busy machine it comes first
      assertThat(findings.get(0).equals("verdict.interrupted")).isEqualTo(byAction);
      assertThat(run.exitCode())
          .as("assertions are judged, as Gatling's own are")
          .isEqualTo(ASSERTIONS_MISSED);
    }
  }

  public static final class StoppedSimulation extends Simulation {

    private static final int SECONDS = 3;

    private static final int ANSWERS = 3;

    private final List<AtomicInteger> left = new ArrayList<>();

    {
      List<PopulationBuilder> loads =
          new ArrayList<>(
              List.of(
                  chat("rate").injectOpen(constantUsersPerSec(5).during(60)),
                  chat("concurrent").injectClosed(constantConcurrentUsers(6).during(60)),
                  closedLoop(4, 8).fill(0).stabilize(0).measure(60).inject(chat("closed loop"))));
      LlmProtocolBuilder engine =
          llm.baseUrl(System.getProperty("baseUrl"))
              .assertions(llmGlobal().status(RequestStatus.CANCELLED).count().is(0));
      if (Boolean.getBoolean("action")) {
        ScenarioBuilder stops =
            scenario("Stops")
                .asLongAs(session -> left.stream().anyMatch(answers -> answers.get() > 0))
                .on(pause(ofMillis(100)))
                .exec(stopLoadGenerator("enough"));
        loads.add(stops.injectOpen(atOnceUsers(1)));
        setUp(loads).protocols(engine);
      } else {
        setUp(loads).protocols(engine).maxDuration(SECONDS);
      }
    }

    private ScenarioBuilder chat(String name) {
      AtomicInteger answers = new AtomicInteger(ANSWERS);
      left.add(answers);
      return scenario(name)
          .exec(llm(name).chat().user("hi").maxTokens(2))
          .exec(
              session -> {
                answers.decrementAndGet();
                return session;
              })
          .during(60)
          .on(exec(llm(name).chat().user("hi").maxTokens(5_000)));
    }
  }

  private static final int SIGTERM = 128 + 15;
  private static final int SIGKILL = 128 + 9;

  /** {@code RecorderTest} checks how many records a kill can lose: those of one second. */
  @Test
  void recordsOfAKilledRunAreReadable() throws Exception {
    try (EmbeddedEngine engine =
            EmbeddedEngine.builder().fixed(ofMillis(5), ofMillis(3)).recordGroundTruth().start();
        GatlingRun run = GatlingRun.of(LongSimulation.class, engine.baseUrl()).start()) {
      run.awaitRecords(20);
      run.kill();
      run.await();

      assertThat(run.exitCode()).isEqualTo(SIGKILL);
      List<RequestRecord> records = new ArrayList<>();
      assertThat(RecordFile.read(run.files().requests(), records::add).badLines()).isZero();
      assertThat(records)
          .hasSizeGreaterThanOrEqualTo(20)
          .extracting(r -> r.identity().requestId())
          .doesNotHaveDuplicates()
          .isSubsetOf(engine.groundTruth().stream().map(GroundTruth::requestId).toList());
      assertThat(run.info().state()).isEqualTo(RunInfo.State.RUNNING);
    }
  }

  @Test
  void interruptBeforeTheFirstRequestIsOneLine() throws Exception {
    try (GatlingRun run =
        GatlingRun.of(LongSimulation.class, "http://127.0.0.1:1/v1").set("idle", 300).start()) {
      run.awaitLine("started...");
      run.terminate();
      run.await();

      assertThat(run.exitCode()).isEqualTo(SIGTERM);
      assertThat(run.output()).doesNotContain("\tat ", "Exception");
      assertThat(run.lines().stream().filter(line -> line.contains("LLM report")))
          .containsExactly("LLM report: none, because no llm request was sent");
      assertThat(run.files().page()).doesNotExist();
      assertThat(run.info().state()).isEqualTo(RunInfo.State.INTERRUPTED);
    }
  }

  /** Load that lasts longer than a test; with {@code idle} users send no requests. */
  public static final class LongSimulation extends Simulation {

    public LongSimulation() {
      ScenarioBuilder chat =
          scenario("Chat")
              .pause(Integer.getInteger("idle", 0))
              .exec(llm("ask").chat().user("Hello").maxTokens(100));
      setUp(closedLoop(8).fill(0).stabilize(0).measure(300).inject(chat))
          .protocols(llm.baseUrl(System.getProperty("baseUrl")));
    }
  }
}
