package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.ofMillis;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.gatling.javaapi.core.*;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.testing.GatlingRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class GroundTruthIT {
  private static final int REQUESTS = 2 * GroundTruthSimulation.ITERATIONS;

  private static final String OUTPUT = "/throughput/output_tokens_per_s";
  private static final String JITTER = "/jitter/itl_p99_over_p50";

  @AutoClose private static EmbeddedEngine engine;
  private static GatlingRun run;

  @BeforeAll
  static void runOnce() throws Exception {
    engine = EmbeddedEngine.builder().fixed(ofMillis(40), ofMillis(6)).recordGroundTruth().start();
    run =
        GatlingRun.of(GroundTruthSimulation.class, engine.baseUrl())
            .set("ttftMillis", 60_000)
            .reports()
            .succeed();
  }

  @Test
  void gatlingAssertionsFail() throws Exception {
    try (EmbeddedEngine slow = EmbeddedEngine.builder().fixed(ofMillis(40), ofMillis(2)).start()) {
      GatlingRun missed =
          GatlingRun.of(GroundTruthSimulation.class, slow.baseUrl()).set("ttftMillis", 20).run();

      assertThat(missed.exitCode()).as(missed.output()).isEqualTo(GatlingRun.ASSERTIONS_FAILED);
      assertThat(missed.lines().stream().filter(line -> line.contains(" : false (actual")))
          .as("on both groups of both requests, and nothing else")
          .hasSize(4)
          .allMatch(line -> line.contains(" TTFT") || line.contains(" SLO"));
    }
  }

  @Test
  void summaryMatchesTheRecords() throws Exception {
    JsonNode summary = run.summary();

    assertThat(summary.at("/run/state").asText()).isEqualTo("complete");
    assertThat(Files.readString(run.directory().resolve("index.html"))).contains("llm.html");
    assertThat(summary.at("/counts/ok").asInt()).isEqualTo(REQUESTS);
    assertThat(summary.at("/metrics/ttft_ms/count").asInt()).isEqualTo(REQUESTS);
    double[] ttft =
        run.requests().stream().mapToDouble(r -> r.timing().ttftNanos() / 1e6).sorted().toArray();
    assertThat(ttft[0]).as("the engine takes 40 ms").isGreaterThanOrEqualTo(40);
    assertThat(summary.at("/metrics/ttft_ms/min").asDouble()).isCloseTo(ttft[0], within(0.001));
    assertThat(summary.at("/metrics/ttft_ms/max").asDouble())
        .isCloseTo(ttft[ttft.length - 1], within(0.001));
    assertThat(summary.at("/metrics/ttft_ms/mean").asDouble())
        .isCloseTo(Arrays.stream(ttft).average().orElseThrow(), within(0.001));
    assertThat(summary.at("/metrics/output_tokens/mean").asDouble()).isEqualTo(16);
    assertThat(summary.at("/stages/0/label").asText()).isEqualTo("c=4");
  }

  /** TTFT, tok/s and jitter of the level on the index, of each request on its page. */
  @Test
  void gatlingsPagesHaveTheNumbersOfTheSummary() throws Exception {
    String index = Files.readString(run.directory().resolve("index.html"));
    boolean isWaitNamed = index.contains("TTFT from schedule p90");
    String values = isWaitNamed ? "/metrics/ttft_from_schedule_ms/" : "/metrics/ttft_ms/";
    String ttft = values + "p50";
    JsonNode level = run.summary().at("/stages/0");
    assertThat(level.at(ttft).asDouble()).as("the engine takes 40 ms").isGreaterThanOrEqualTo(40);
    assertThat(level.at(JITTER).asDouble()).isGreaterThanOrEqualTo(1);
    assertThat(index)
        .contains(">" + NumberText.ms(level.at(values + "p90").asDouble()) + "</strong>")
        .contains(">" + shown(level, OUTPUT) + " tok/s</strong>")
        .contains(">" + shown(level, JITTER) + "</strong>");
    for (JsonNode request : run.summary().path("requests")) {
      String name = request.path("name").asText();
      assertThat(pagesOfRequests())
          .filteredOn(page -> page.contains(name + "</title>"))
          .singleElement()
          .asString()
          .contains(
              ">" + shown(request, ttft) + "</td>",
              ">" + shown(request, OUTPUT) + "</td>",
              ">" + shown(request, JITTER) + "</td>");
    }
  }

  private static String shown(JsonNode figures, String path) {
    return NumberText.number(figures.at(path).asDouble());
  }

  private static List<String> pagesOfRequests() throws IOException {
    List<String> pages = new ArrayList<>();
    try (Stream<Path> files = Files.list(run.directory())) {
      for (Path file : files.filter(f -> f.toFile().getName().startsWith("req_")).toList()) {
        pages.add(Files.readString(file));
      }
    }
    return pages;
  }

  /** Half of the answers have 24 tokens, half have 8. */
  @Test
  void lengthsAreInEveryOutput() throws Exception {
    JsonNode output = run.summary().at("/workload/output_tokens");
    assertThat(List.of("p50", "mean", "min", "max"))
        .extracting(each -> output.path(each).asInt())
        .containsExactly(8, 16, 8, 24);
    long longest =
        run.requests().stream().mapToLong(r -> r.tokens().promptTokens()).max().orElseThrow();
    assertThat(run.summary().at("/workload/prompt_tokens/max").asLong()).isEqualTo(longest);
    for (String text :
        List.of(
            run.output(),
            Files.readString(run.files().summaryMarkdown()),
            Files.readString(run.directory().resolve("index.html")))) {
      assertThat(text.replaceAll("\\s+", " "))
          .containsPattern("[Ww]orkload.{1,3}prompt tokens median .* to " + longest + "\\);")
          .contains("output tokens median 8, mean 16 (8 to 24)");
    }
    assertThat(Files.readString(run.files().page()))
        .contains("to " + longest + ")")
        .contains("median 8, mean 16 (8 to 24)");
  }

  static Map<String, GroundTruth> byRequest(EmbeddedEngine engine) {
    return engine.groundTruth().stream().collect(toMap(GroundTruth::requestId, truth -> truth));
  }

  @Test
  void recordsMatchTheEngine() throws Exception {
    Map<String, GroundTruth> truths = byRequest(engine);

    assertThat(engine.requestsReceived()).as("posts").isEqualTo(REQUESTS);
    assertThat(run.requests()).hasSize(REQUESTS);
    for (RequestRecord record : run.requests()) {
      GroundTruth truth = truths.remove(record.identity().requestId());
      assertThat(truth).as(record.identity().requestId()).isNotNull();
      assertThat(record.outcome().status()).isEqualTo(RequestStatus.COMPLETE);
      assertThat(record.tokens().outputTokens()).isEqualTo(truth.outputTokens());
      assertThat(record.tokens().promptTokens()).isEqualTo(truth.promptTokens());
      assertThat(record.events().offsetsMicros()).hasSameSizeAs(truth.tokenNanos());
      assertThat(record.timing().ttftNanos())
          .as("never earlier than it was sent")
          .isGreaterThanOrEqualTo(truth.firstTokenNanos() - truth.receivedNanos());
      for (int i = 0; i < truth.tokenNanos().length; i++) {
        assertThat(record.events().offsetsMicros()[i] * 1_000L)
            .as("never earlier than it was sent; offsets are integer microseconds")
            .isGreaterThan(truth.tokenNanos()[i] - truth.receivedNanos() - 1_000);
      }
    }

    assertThat(truths).as("requests without a record").isEmpty();
  }

  @Test
  void recordsIdentifyUserScenarioAndTarget() throws Exception {
    List<RequestRecord> grouped = run.requests("grouped");

    assertThat(grouped).hasSize(REQUESTS / 2);
    for (RequestRecord record : grouped) {
      RequestRecord.Identity identity = record.identity();
      assertThat(identity.groups()).containsExactly("answer");
      assertThat(identity.api()).isEqualTo("completions");
      assertThat(identity.endpoint()).isEqualTo(engine.baseUrl() + "/completions");
      assertThat(identity.scenario()).isEqualTo("Chat");
      assertThat(identity.stage()).isEqualTo("c=4");
      assertThat(identity.runId()).isEqualTo(run.directory().getFileName().toString());
      assertThat(identity.requestId()).isEqualTo(identity.runId() + "-" + identity.requestIndex());
      assertThat(identity.turn()).isNull();
      assertThat(record.outcome().sloOk()).isNotNull();
    }
    assertThat(run.requests("ask")).allMatch(record -> record.identity().groups().isEmpty());
  }

  public static final class GroundTruthSimulation extends Simulation {

    static final int ITERATIONS = 40;

    public GroundTruthSimulation() {
      LlmProtocolBuilder engine =
          llm.baseUrl(System.getProperty("baseUrl"))
              .model("embedded")
              .apiKey("sk-never-to-be-seen")
              .slo(slo().ttft(ofMillis(Integer.getInteger("ttftMillis"))).percentile(90));
      setUp(
              closedLoop(4)
                  .requests(ITERATIONS)
                  .inject(
                      scenario("Chat")
                          .exec(
                              exec(llm("ask").chat().user("Why is the sky blue?").maxTokens(24)),
                              group("answer")
                                  .on(llm("grouped").completion().prompt("Once").maxTokens(8)))))
          .protocols(engine)
          .assertions(assertions());
    }

    private static List<Assertion> assertions() {
      double limit = Integer.getInteger("ttftMillis");
      return List.of(
          details("ask TTFT").responseTime().percentile(90).lt((int) limit),
          details("answer", "grouped TTFT").responseTime().percentile(90).lt((int) limit),
          details("ask SLO").failedRequests().percent().lt(10.0),
          details("answer", "grouped SLO").failedRequests().percent().lt(10.0),
          global().failedRequests().count().is(0L),
          global().allRequests().count().is(2L * ITERATIONS));
    }
  }
}
