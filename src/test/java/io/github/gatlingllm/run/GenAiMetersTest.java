package io.github.gatlingllm.run;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.run.RunView.LevelView;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.metrics.v1.HistogramDataPoint;
import io.opentelemetry.proto.metrics.v1.Metric;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class GenAiMetersTest {

  private static final String CHAT = "gen_ai_operation_name=\"chat\"";

  private final List<String> printed = new ArrayList<>();

  private GenAiMeters open(Observers options) {
    return Objects.requireNonNull(GenAiMeters.open("run-1", () -> 7, options, printed::add));
  }

  /**
   * Scheduled at 0, sent 20 ms later; tokens 100, 130 and 190 ms after that, closed with the last:
   * TTFT from schedule 120 ms, gaps of 30 and 60 ms.
   */
  private static void oneGoodOneBad(GenAiMeters meters) {
    meters.records(List.of(Recorded.at(20).lag(20).tokens(100, 130, 190).judged(true).record()));
    meters.records(
        List.of(Recorded.at(0).failed(RequestStatus.TIMEOUT, "too long").closed(500).record()));
  }

  @Test
  void metersAreInPrometheusText() {
    GenAiMeters meters = open(new Observers(Observers.address("0"), null, null, null));
    oneGoodOneBad(meters);

    String text = Objects.requireNonNull(meters.scraped()).get();

    assertThat(text)
        .contains(CHAT)
        .containsPattern("gen_ai_client_operation_duration_seconds_sum\\{error_type=\"\".* 0.19\n")
        .containsPattern(
            "gen_ai_client_operation_duration_seconds_count\\{error_type=\"timeout\".* 1\n")
        .containsPattern("time_per_output_chunk_seconds_bucket\\{.*le=\"0.04\"} 1\n")
        .containsPattern("time_per_output_chunk_seconds_bucket\\{.*le=\"0.08\"} 2\n")
        .containsPattern("gatling_llm_time_to_first_token_seconds_sum\\{.* 0.12\n")
        .containsPattern("gatling_llm_queue_wait_seconds_bucket\\{.*le=\"0.01\"} 0\n")
        .containsPattern("gatling_llm_queue_wait_seconds_bucket\\{.*le=\"0.02\"} 1\n")
        .containsPattern("gen_ai_client_token_usage_sum\\{.*gen_ai_token_type=\"input\".* 10.0\n")
        .containsPattern("gen_ai_client_token_usage_sum\\{.*gen_ai_token_type=\"output\".* 3.0\n")
        .containsPattern("gatling_llm_judged_requests_total\\{.*gatling_llm_slo=\"met\".* 1.0\n")
        .containsPattern("gatling_llm_judged_requests_total\\{.*gatling_llm_slo=\"missed\".* 0.0\n")
        .contains("gatling_llm_requests_in_flight 7.0\n");
    meters.stop(RunView.OPENED);
  }

  private static RunView level(boolean isOver, Phase... phases) {
    LevelInfo info =
        new LevelInfo(
            "c=4",
            LevelRecord.TARGET,
            LevelRecord.SCENARIO,
            LevelInfo.CLOSED_LOOP,
            4.0,
            "concurrent",
            Stream.of(phases).map(phase -> new PhaseWindow(phase, 0, null)).toList());
    return RunView.OPENED.with(view -> view.level(new LevelView(info, isOver, null)));
  }

  @Test
  void levelHasItsOfferedLoadWhileItRuns() {
    GenAiMeters meters = open(new Observers(Observers.address("0"), null, null, null));
    Supplier<String> scraped = Objects.requireNonNull(meters.scraped());
    assertThat(scraped.get()).doesNotContain("gatling_llm_offered_load");
    meters.tick(level(false, Phase.FILL));
    meters.tick(level(false, Phase.FILL, Phase.MEASURE));
    assertThat(scraped.get().lines().filter(line -> line.startsWith("gatling_llm_offered_load{")))
        .singleElement()
        .asString()
        .contains("gatling_llm_phase=\"measure\"", "gatling_llm_stage=\"c=4\"")
        .contains("gatling_llm_unit=\"concurrent\"")
        .endsWith(" 4.0");
    meters.tick(level(true, Phase.FILL, Phase.MEASURE));
    assertThat(scraped.get()).doesNotContain("gatling_llm_offered_load{");
    meters.stop(RunView.OPENED);
  }

  @Test
  void providerIsThatOfTheApi() {
    GenAiMeters meters = open(new Observers(Observers.address("0"), null, null, null));
    meters.records(List.of(Recorded.at(0).api("messages").tokens(10).record()));
    meters.records(List.of(Recorded.at(0).api("responses").tokens(10).record()));
    assertThat(Objects.requireNonNull(meters.scraped()).get())
        .contains("gen_ai_provider_name=\"anthropic\"")
        .contains("gen_ai_provider_name=\"openai\"");
    meters.stop(RunView.OPENED);
  }

  @Test
  void collectorReceivesTheMetersAtTheEnd() throws IOException {
    List<ExportMetricsServiceRequest> sent = new ArrayList<>();
    HttpServer collector =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    collector.createContext(
        "/v1/metrics",
        exchange -> {
          try (exchange) {
            sent.add(ExportMetricsServiceRequest.parseFrom(exchange.getRequestBody()));
            exchange.sendResponseHeaders(200, -1);
          }
        });
    collector.start();
    try {
      String url = "http://127.0.0.1:" + collector.getAddress().getPort() + "/v1/metrics";
      GenAiMeters meters = open(new Observers(null, url, null, null));
      oneGoodOneBad(meters);
      meters.stop(RunView.OPENED);
    } finally {
      collector.stop(0);
    }

    assertThat(sent).hasSize(1);
    assertThat(sent.get(0).getResourceMetrics(0).getResource().toString())
        .contains("gatling-llm", "run-1");
    Metric duration = metric(sent.get(0), "gen_ai.client.operation.duration");
    assertThat(duration.getUnit()).isEqualTo("seconds");
    assertThat(duration.getHistogram().getDataPointsList())
        .extracting(HistogramDataPoint::getCount)
        .containsExactly(1L, 1L);
    assertThat(duration.getHistogram().getDataPointsList())
        .extracting(point -> Math.round(1000 * point.getSum()))
        .containsExactlyInAnyOrder(190L, 500L);
    assertThat(duration.getHistogram().getDataPointsList())
        .filteredOn(point -> point.toString().contains("error.type"))
        .singleElement()
        .asString()
        .contains("timeout");
    assertThat(printed).isEmpty();
  }

  private static Metric metric(ExportMetricsServiceRequest sent, String name) {
    return sent.getResourceMetrics(0).getScopeMetrics(0).getMetricsList().stream()
        .filter(metric -> metric.getName().equals(name))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void unreachableCollectorIsPrintedOnce() {
    GenAiMeters meters = open(new Observers(null, "http://127.0.0.1:1/v1/metrics", null, null));
    oneGoodOneBad(meters);
    meters.stop(RunView.OPENED);

    assertThat(printed)
        .singleElement()
        .asString()
        .startsWith("LLM otlp: http://127.0.0.1:1/v1/metrics does not accept meters: ");
  }
}
