package io.github.gatlingllm.e2e;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.HookCall;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.ScriptedServer;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class LevelsIT {

  /** Highest rate, in requests per second, that the server of the search accepts. */
  private static final double CAPACITY = 32;

  /** Offsets are integer microseconds: a token at an edge of a window may be counted or not. */
  private static final double AT_THE_EDGES = 2;

  private static GatlingRun.Setup plan(String plan, String baseUrl) {
    return GatlingRun.of(LevelsSimulation.class, baseUrl).set("plan", plan);
  }

  @Test
  void requestsAreCancelledAtTheEndOfDrain() throws Exception {
    try (EmbeddedEngine engine = EmbeddedEngine.builder().fixed(ofMillis(5), ofMillis(50)).start();
        GatlingRun run = plan("drain", engine.baseUrl()).set("tokens", 400).succeed()) {
      List<RequestRecord> cancelled = run.requests("ask");
      assertThat(cancelled)
          .extracting(r -> r.identity().stage())
          .containsExactly("c=4", "c=4", "c=4", "c=4", "c=2", "c=2");
      assertThat(run.requests("again"))
          .as("nothing goes on after the cut, not even the next request of the iteration")
          .isEmpty();
      assertThat(cancelled)
          .allSatisfy(
              r -> {
                assertThat(r.outcome().status()).isEqualTo(RequestStatus.CANCELLED);
                assertThat(r.outcome().error()).contains("drain time was over");
                assertThat(r.timing().closedUnixNanos())
                    .as("not before the drain time was over")
                    .isGreaterThanOrEqualTo(measureEnd(run, r) + LevelsSimulation.DRAIN.toNanos());
              });
      assertThat(run.info().stages()).hasSize(2);
      assertThat(run.summary().at("/counts/cancelled").asInt()).isEqualTo(6);
    }
  }

  private static long measureEnd(GatlingRun run, RequestRecord record) throws IOException {
    return run.stage(record.identity().stage()).window(Phase.MEASURE).orElseThrow().endUnixNanos();
  }

  @Test
  void throughputIsOfTheMeasureWindow() throws Exception {
    try (EmbeddedEngine engine = EmbeddedEngine.builder().fixed(ofMillis(20), ofMillis(5)).start();
        GatlingRun run = plan("phases", engine.baseUrl()).set("tokens", 60).succeed()) {
      JsonNode stages = run.summary().get("stages");
      assertThat(stages).hasSize(2);
      for (int i = 0; i < 2; i++) {
        PhaseWindow window = run.info().stages().get(i).window(Phase.MEASURE).orElseThrow();
        double seconds = (window.endUnixNanos() - window.startUnixNanos()) / 1e9;
        assertThat(seconds).isEqualTo(1);
        assertThat(stages.get(i).at("/throughput/output_tokens_per_s").asDouble())
            .isCloseTo(arrivedIn(window, run.requests()), within(AT_THE_EDGES));
        assertThat(run.info().stages().get(i).phases())
            .extracting(PhaseWindow::phase)
            .containsExactly(Phase.FILL, Phase.STABILIZE, Phase.MEASURE, Phase.DRAIN);
        int users = stages.get(i).get("offered").asInt();
        LevelInfo.InFlightCount counted = run.info().stages().get(i).inFlight();
        assertThat(counted.peak()).as("counted while it ran").isEqualTo(users);
        assertThat(counted.mean()).isGreaterThan(0).isLessThanOrEqualTo(users);
      }
      assertThat(run.output().lines())
          .as("the line of a level that ends states what the report states")
          .contains(line(stages.get(0)), line(stages.get(1)));
      assertThat(run.check("littles_law").get("value").isNumber()).isTrue();
      assertThat(run.check("all_accounted").get("level").asText()).isEqualTo("ok");
    }
  }

  private static double arrivedIn(PhaseWindow window, List<RequestRecord> records) {
    return records.stream()
        .mapToLong(
            r ->
                Arrays.stream(r.events().offsetsMicros())
                    .mapToLong(micros -> r.timing().admittedUnixNanos() + 1_000L * micros)
                    .filter(at -> at >= window.startUnixNanos() && at < window.endUnixNanos())
                    .count())
        .sum();
  }

  private static String line(JsonNode stage) {
    JsonNode ttft = stage.at("/metrics/ttft_ms");
    JsonNode rates = stage.get("throughput");
    long ok = stage.at("/counts/ok").asLong();
    boolean isAnswered = ok > 0; // not every level of a busy machine
    return "LLM %s (%s, %s): %s tok/s, %s requests/s%s; %s ok, 0 failed%s"
        .formatted(
            stage.get("label").asText(),
            stage.get("target").asText(),
            stage.get("scenario").asText(),
            NumberText.number(rates.get("output_tokens_per_s").asDouble()),
            NumberText.number(rates.get("requests_per_s").asDouble()),
            isAnswered
                ? ", TTFT p50 %s, p99 %s"
                    .formatted(
                        NumberText.ms(ttft.get("p50").asDouble()),
                        NumberText.ms(ttft.get("p99").asDouble()))
                : "",
            NumberText.count(ok),
            isAnswered
                ? ", %s in SLO".formatted(NumberText.percent(stage.at("/goodput/share").asDouble()))
                : "");
  }

  /** The line about the start of measuring; a busy machine may reach the longest settling time. */
  private static String settled(String level, String filled, String answered) {
    return "LLM %s \\(.+\\): %smeasuring from .+(\\(%s, 2 × median E2E = |, the longest wait)"
        .formatted(level, filled, answered);
  }

  /** Levels that detect when to measure, and keep their load until all have ended. */
  @Test
  void loadSettlesBeforeAndStaysAfterMeasuring() throws Exception {
    try (EmbeddedEngine engine = EmbeddedEngine.builder().fixed(ofMillis(20), ofMillis(5)).start();
        GatlingRun run = plan("settled", engine.baseUrl()).set("tokens", 20).succeed()) {
      assertThat(run.output())
          .containsPattern(settled("c=4", "filled in .+, ", "each user had an answer"))
          .containsPattern(settled("r=40", "", "the first answer was there"));
      for (LevelInfo level : run.info().stages()) {
        boolean closed = level.kind().equals(LevelInfo.CLOSED_LOOP);
        assertThat(level.phases())
            .extracting(PhaseWindow::phase)
            .as("a cooldown, unless a busy machine ended all requests late")
            .filteredOn(phase -> phase != Phase.COOLDOWN)
            .containsExactlyElementsOf(
                Arrays.stream(Phase.values())
                    .filter(phase -> phase != Phase.COOLDOWN && phase != Phase.CHECK)
                    .filter(phase -> closed || phase != Phase.FILL)
                    .toList());
        PhaseWindow measure = level.window(Phase.MEASURE).orElseThrow();
        assertThat(measure.endUnixNanos() - measure.startUnixNanos()).isEqualTo(1_000_000_000);
        long drain = level.window(Phase.DRAIN).orElseThrow().startUnixNanos();
        List<RequestRecord> records =
            run.requests().stream()
                .filter(r -> r.identity().stage().equals(level.label()))
                .toList();
        assertThat(records)
            .filteredOn(r -> r.identity().phase() == Phase.MEASURE)
            .isNotEmpty()
            .allMatch(r -> r.timing().closedUnixNanos() <= drain);
        assertThat(records).allMatch(r -> r.outcome().ok());
      }
      assertThat(run.requests())
          .filteredOn(r -> r.identity().phase() == Phase.COOLDOWN)
          .as("the load stays on")
          .isNotEmpty();
      assertThat(run.check("all_accounted").get("level").asText()).isEqualTo("ok");
    }
  }

  /**
   * Two levels begin after their requests, of which one has more, and some after it; the third
   * one's fails, which ends the run.
   */
  @Test
  void requestsAreSentBetweenLevels() throws Exception {
    AtomicInteger resets = new AtomicInteger();
    try (ScriptedServer server =
        ScriptedServer.start(
            exchange -> {
              if (!exchange.request().path().equals("/reset")) {
                exchange.answer("Yes");
              } else {
                exchange.respond(resets.getAndIncrement() < 2 ? 204 : 404, "text/plain", "");
              }
            })) {
      GatlingRun run =
          GatlingRun.benchmark(server.baseUrl())
              .llm(
                  "apiKey=sk-wire-test model=llama"
                      + " beforeLevel=PUT:/reset,GET:/v1/ready?key=sk-query,POST:/start@c=2"
                      + " afterLevel=POST:/stop@c=2 concurrency=1,2,3 requests=2 warmup=0")
              .run();
      assertThat(run.exitCode()).as(run.output()).isEqualTo(1);
      String reset = "PUT /reset Bearer sk-wire-test";
      String ready = "GET /v1/ready?key=sk-query Bearer sk-wire-test";
      String start = "POST /start Bearer sk-wire-test";
      String stop = "POST /stop Bearer sk-wire-test";
      String load = "POST /v1/chat/completions Bearer sk-wire-test";
      assertThat(server.requests())
          .extracting(
              sent -> sent.method() + " " + sent.path() + " " + sent.header("Authorization"))
          .containsExactly(reset, ready, load, load, reset, ready, start, load, load, stop, reset);
      assertThat(run.info().stages())
          .extracting(level -> level.hooks().stream().map(HookCall::status).toList())
          .containsExactly(List.of(204, 200), List.of(204, 200, 200, 200));
      for (LevelInfo level : run.info().stages()) {
        assertThat(level.hooks().get(0).request()).isEqualTo("PUT " + server.baseUrl() + "/reset");
      }
      assertThat(run.info().stages().get(1).hooks())
          .extracting(HookCall::after)
          .containsExactly(false, false, false, true);
      assertThat(run.lines())
          .filteredOn(line -> line.contains("before level c=3 failed: HTTP 404"))
          .hasSize(1);
      assertThat(run.summary().path("stages")).hasSize(2);
      assertThat(run.output()).doesNotContain("sk-query");
      String page = Files.readString(run.files().page());
      assertThat(page.contains("PUT " + server.baseUrl() + "/reset: HTTP 204")).isTrue();
      assertThat(page.contains("sk-query")).isFalse();
    }
  }

  /**
   * At c=2 no more than two requests are in flight. At c=4 the server answers none before the
   * request above two has come, which comes once the third is in flight.
   */
  @Test
  void requestsAreSentAboveANumberInFlight() throws Exception {
    List<String> log = new CopyOnWriteArrayList<>();
    AtomicInteger inFlight = new AtomicInteger();
    AtomicInteger asked = new AtomicInteger();
    CountDownLatch profiled = new CountDownLatch(1);
    CountDownLatch third = new CountDownLatch(7);
    try (ScriptedServer server =
        ScriptedServer.start(
            exchange -> {
              String path = exchange.request().path();
              if (path.equals("/v1/chat/completions")) {
                inFlight.incrementAndGet();
                third.countDown();
                if (asked.incrementAndGet() > 4) {
                  exchange.await(profiled);
                }
                inFlight.decrementAndGet();
                exchange.answer("Yes");
              } else {
                if (path.equals("/start")) {
                  exchange.await(third);
                }
                log.add(path + (inFlight.get() > 2 ? " above 2" : " at " + inFlight.get()));
                exchange.respond(200, "text/plain", "");
                profiled.countDown();
              }
            })) {
      GatlingRun run =
          GatlingRun.benchmark(server.baseUrl())
              .llm(
                  "model=llama beforeLevel=POST:/start@running>2,PUT:/x@running>4"
                      + " afterLevel=POST:/stop@running>2 concurrency=2,4 requests=4 fill=0"
                      + " stabilize=0 warmup=0")
              .run();
      assertThat(run.exitCode()).as(run.output()).isEqualTo(0);
      assertThat(log).containsExactly("/start above 2", "/stop at 0");
      assertThat(run.lines())
          .anyMatch(line -> line.startsWith("LLM: PUT:/x@running>4 was not sent: at most "));
      assertThat(run.info().stages())
          .extracting(level -> level.hooks().stream().map(HookCall::toString).toList())
          .containsExactly(
              List.of(),
              List.of(
                  "above 2 running POST " + server.baseUrl() + "/start: HTTP 200",
                  "after it POST " + server.baseUrl() + "/stop: HTTP 200"));
    }
  }

  /**
   * A server that rejects all requests of levels above a rate, so that the result does not depend
   * on time: 20 holds, 40 fails, 30 holds, 35 fails, 32.5 fails and is close enough to 30. 30
   * requests are too few to decide 90 %, so levels of one second are extended.
   */
  @Test
  @Tag("nightly")
  void searchEndsBetweenTheLastGoodAndTheFirstBadRate() throws Exception {
    try (ScriptedServer server =
            ScriptedServer.start(
                exchange -> {
                  double rate =
                      Double.parseDouble(
                          exchange
                              .request()
                              .header(LevelsSimulation.LEVEL)
                              .substring("r=".length())
                              .replace(LevelInfo.AGAIN, ""));
                  if (rate > CAPACITY) {
                    exchange.respond(503, "text/plain", "too many");
                  } else {
                    exchange.answer("Hi");
                  }
                });
        GatlingRun run =
            plan("search", server.baseUrl() + "/v1").set("ttftMillis", 60_000).succeed()) {
      assertThat(run.info().stages())
          .extracting(LevelInfo::label)
          .containsExactly("r=20", "r=40", "r=30", "r=35", "r=32.5", "r=30 again", "r=32.5 again");
      assertThat(run.summary().at("/goodput/max/offered").asDouble()).isEqualTo(30);
      assertThat(run.output())
          .contains("Highest rate that holds the SLO: 30 requests/s (32.5 fails: more than 5 %");
      JsonNode search = run.check("search");
      assertThat(search.get("value").asDouble()).as("low end of the interval").isBetween(0.9, 1.0);
      assertThat(search.get("threshold").asDouble()).isEqualTo(0.9);
      assertThat(run.summary().get("verdict").asText())
          .contains("Highest rate that holds the SLO: 30 requests/s (32.5 fails: more than 5 %");
    }
  }

  /**
   * Each trial lasts as long as its slowest request, at least 20 ms and 29 gaps of 5 ms. Its
   * figures match the engine's, except for the time on the network.
   */
  @Test
  void trialsRunOneAfterTheOther() throws Exception {
    try (EmbeddedEngine engine =
            EmbeddedEngine.builder().fixed(ofMillis(20), ofMillis(5)).recordGroundTruth().start();
        GatlingRun run = plan("batch", engine.baseUrl()).set("tokens", 30).succeed()) {
      List<RequestRecord> records = run.requests();
      assertThat(records).hasSize(20);
      assertThat(records).extracting(r -> r.identity().stage()).containsOnly("b=4");
      for (int trial = 1; trial < 5; trial++) {
        int of = trial;
        long ended =
            records.stream()
                .filter(r -> Integer.valueOf(of).equals(r.identity().trial()))
                .mapToLong(r -> r.timing().closedUnixNanos())
                .max()
                .orElseThrow();
        assertThat(records)
            .filteredOn(r -> Integer.valueOf(of + 1).equals(r.identity().trial()))
            .hasSize(4)
            .allMatch(r -> r.timing().startUnixNanos() >= ended);
      }
      JsonNode trials = run.summary().at("/stages/0/throughput/trials");
      assertThat(trials.get("count").asInt()).isEqualTo(5);
      assertThat(trials.get("max_tokens_per_s").asDouble())
          .as("no faster than it is sent")
          .isBetween(0.1, 4 * 30 / 0.165);
      assertThat(trials.get("rows")).hasSize(5);
      assertThat(trials.get("rows_left_out").asInt()).isZero();
      List<GroundTruth> truths =
          engine.groundTruth().stream()
              .sorted(Comparator.comparingLong(GroundTruth::receivedNanos))
              .toList();
      for (int trial = 0; trial < 5; trial++) {
        List<GroundTruth> of = truths.subList(4 * trial, 4 * trial + 4);
        JsonNode row = trials.get("rows").get(trial);
        assertThat(row.get("trial").asInt()).isEqualTo(trial + 1);
        assertThat(row.get("requests").asInt()).isEqualTo(4);
        assertThat(row.get("ok").asInt()).isEqualTo(4);
        assertThat(row.get("output_tokens").asInt())
            .isEqualTo(of.stream().mapToInt(GroundTruth::outputTokens).sum());
        double served =
            (of.stream().mapToLong(t -> t.tokenNanos()[29]).max().orElseThrow()
                    - of.get(0).receivedNanos())
                / 1e9;
        double wall = row.get("wall_s").asDouble();
        assertThat(wall).as("never shorter than it was served").isGreaterThan(served);
        assertThat(row.get("output_tokens_per_s").asDouble()).isCloseTo(120 / wall, within(0.001));
      }
      assertThat(run.output()).contains("---- Trials ---");
    }
  }
}
