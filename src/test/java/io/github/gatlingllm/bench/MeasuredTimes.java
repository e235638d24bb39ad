package io.github.gatlingllm.bench;

import static java.time.Duration.ofMillis;

import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.testing.GatlingRun;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

/**
 * Difference between the measured times and the server's log: 32 streams of 50 tokens per second,
 * including the first burst.
 */
final class MeasuredTimes {

  private static final int WARM_ROUNDS = 10;

  private MeasuredTimes() {}

  static void measure(BenchReport report) throws Exception {
    try (EmbeddedEngine engine =
        EmbeddedEngine.builder().fixed(ofMillis(100), ofMillis(20)).recordGroundTruth().start()) {
      warm(engine);
      GatlingRun run =
          GatlingRun.of(AccuracySimulation.class).set("baseUrl", engine.baseUrl()).run();
      Map<String, GroundTruth> truths =
          engine.groundTruth().stream()
              .collect(Collectors.toMap(GroundTruth::requestId, Function.identity()));
      List<RequestRecord> requests = run.requests();
      double[] ttft = requests.stream().mapToDouble(r -> ttftError(r, truth(truths, r))).toArray();
      double[] gaps =
          requests.stream().flatMapToDouble(r -> gapErrors(r, truth(truths, r))).toArray();
      double[] tokens =
          requests.stream().flatMapToDouble(r -> tokenErrors(r, truth(truths, r))).toArray();
      report.say("requests", ttft.length, "");
      report.atMost("TTFT error p50", BenchReport.quantile(ttft, 0.5), 3, "ms");
      report.atMost("TTFT error p90", BenchReport.quantile(ttft, 0.9), 60, "ms");
      report.atMost("TTFT error p99", BenchReport.quantile(ttft, 0.99), 300, "ms");
      report.atMost("gap error p50", BenchReport.quantile(gaps, 0.5), 0.2, "ms");
      report.atMost("gap error p99", BenchReport.quantile(gaps, 0.99), 80, "ms");
      report.atMost("token after it was sent p90", BenchReport.quantile(tokens, 0.9), 60, "ms");
      report.atMost("tokens per second of the window, error", windowError(run, engine), 0.5, "%");
    }
  }

  /** Warms up the server, which would be late in the first burst while it loads classes. */
  static void warm(EmbeddedEngine engine) {
    HttpClient client = HttpClient.newHttpClient();
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(engine.baseUrl() + "/chat/completions"))
            .POST(
                HttpRequest.BodyPublishers.ofString(
                    "{\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}],"
                        + "\"stream\":true,\"ignore_eos\":true,\"max_tokens\":20}"))
            .build();
    for (int round = 0; round < WARM_ROUNDS; round++) {
      Stream.generate(() -> client.sendAsync(request, HttpResponse.BodyHandlers.discarding()))
          .limit(2 * AccuracySimulation.STREAMS)
          .toList()
          .forEach(CompletableFuture::join);
    }
  }

  private static GroundTruth truth(Map<String, GroundTruth> truths, RequestRecord request) {
    GroundTruth truth = truths.get(request.identity().requestId());
    if (truth == null || truth.tokenNanos().length != request.events().offsetsMicros().length) {
      throw new IllegalStateException("not as the engine noted it: " + request.identity());
    }
    return truth;
  }

  private static double ttftError(RequestRecord measured, GroundTruth truth) {
    long served = truth.firstTokenNanos() - truth.receivedNanos();
    return Math.abs(measured.timing().ttftNanos() - served) / 1e6;
  }

  private static DoubleStream gapErrors(RequestRecord measured, GroundTruth truth) {
    int[] arrived = measured.events().offsetsMicros();
    long[] sent = truth.tokenNanos();
    double[] errors = new double[arrived.length - 1];
    Arrays.setAll(
        errors, i -> Math.abs((arrived[i + 1] - arrived[i]) / 1e3 - (sent[i + 1] - sent[i]) / 1e6));
    return Arrays.stream(errors);
  }

  private static DoubleStream tokenErrors(RequestRecord measured, GroundTruth truth) {
    int[] arrived = measured.events().offsetsMicros();
    double[] errors = new double[arrived.length];
    Arrays.setAll(
        errors, i -> arrived[i] / 1e3 - (truth.tokenNanos()[i] - truth.receivedNanos()) / 1e6);
    return Arrays.stream(errors);
  }

  /**
   * The summary's tokens per second, compared with the tokens that the engine sent in the measure
   * window.
   */
  private static double windowError(GatlingRun run, EmbeddedEngine engine) throws Exception {
    long epoch = System.currentTimeMillis() * 1_000_000 - System.nanoTime();
    PhaseWindow window = run.info().stages().get(0).window(Phase.MEASURE).orElseThrow();
    long sent =
        engine.groundTruth().stream()
            .flatMapToLong(truth -> Arrays.stream(truth.tokenNanos()))
            .map(nanos -> nanos + epoch)
            .filter(at -> at >= window.startUnixNanos() && at < window.endUnixNanos())
            .count();
    double perSecond = sent * 1e9 / (window.endUnixNanos() - window.startUnixNanos());
    double said = run.summary().at("/stages/0/throughput/output_tokens_per_s").asDouble();
    return 100 * Math.abs(said - perSecond) / perSecond;
  }
}
