package io.github.gatlingllm.run.live;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.registry.otlp.OtlpConfig;
import io.micrometer.registry.otlp.OtlpMeterRegistry;
import io.micrometer.registry.otlp.OtlpMetricsSender;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends meters to a collector by OTLP over HTTP, every 10 s and at the end of the run. Needs the
 * optional {@code micrometer-registry-otlp}. Headers come from {@code OTEL_EXPORTER_OTLP_HEADERS}.
 * The first failure is printed; the run continues.
 */
final class OtlpMeters {

  private static final String STEP = "10s";
  private static final Duration LONGEST = Duration.ofSeconds(2);

  /**
   * Drops empty tags, which only Prometheus needs, as it requires the same labels on all series.
   */
  private static final MeterFilter WITHOUT_EMPTY =
      new MeterFilter() {
        @Override
        public Meter.Id map(Meter.Id id) {
          return id.replaceTags(
              id.getTags().stream().filter(tag -> !tag.getValue().isEmpty()).toList());
        }
      };

  private OtlpMeters() {}

  /**
   * Starts to send meters.
   *
   * @param url such as {@code http://localhost:4318/v1/metrics}
   * @throws IllegalArgumentException with the reason, if the URL is invalid
   * @throws NoClassDefFoundError if the registry is not on the class path
   */
  static MeterRegistry create(String url, String run, Consumer<String> say) {
    if (!url.matches("https?://[^/]+/.*")) {
      throw new IllegalArgumentException(
          url + " is not a URL such as http://localhost:4318/v1/metrics");
    }
    OtlpConfig config =
        Map.of(
                "otlp.url",
                url,
                "otlp.baseTimeUnit",
                "seconds",
                "otlp.step",
                STEP,
                "otlp.resourceAttributes",
                "service.name=gatling-llm,service.instance.id=" + run)
            ::get;
    MeterRegistry registry = OtlpMeterRegistry.builder(config).metricsSender(sender(say)).build();
    registry.config().meterFilter(WITHOUT_EMPTY);
    return registry;
  }

  private static OtlpMetricsSender sender(Consumer<String> say) {
    HttpClient client = HttpClient.newBuilder().connectTimeout(LONGEST).build();
    AtomicBoolean isPrinted = new AtomicBoolean();
    return request -> {
      String why = send(client, request);
      if (why != null && isPrinted.compareAndSet(false, true)) {
        say.accept("LLM otlp: " + request.getAddress() + " does not accept meters: " + why);
      }
    };
  }

  /** Why the request failed; null if it succeeded. */
  private static @Nullable String send(HttpClient client, OtlpMetricsSender.Request request) {
    HttpRequest.Builder post =
        HttpRequest.newBuilder(URI.create(request.getAddress()))
            .timeout(LONGEST)
            .header("Content-Type", "application/x-protobuf")
            .POST(HttpRequest.BodyPublishers.ofByteArray(request.getMetricsData()));
    request.getHeaders().forEach(post::header);
    try {
      int status = client.send(post.build(), HttpResponse.BodyHandlers.discarding()).statusCode();
      return status / 100 == 2 ? null : "HTTP " + status;
    } catch (IOException e) {
      return e.toString();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "interrupted";
    }
  }
}
