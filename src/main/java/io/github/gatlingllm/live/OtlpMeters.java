package io.github.gatlingllm.live;

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
 * Meters sent to a collector by OTLP over HTTP, every 10 s and at the end of the run, by the
 * optional {@code micrometer-registry-otlp}. Headers come from {@code OTEL_EXPORTER_OTLP_HEADERS}
 * as everywhere. What a collector does not take is said once, and never hurts the run.
 */
final class OtlpMeters {

  private static final String STEP = "10s";
  private static final Duration LONGEST = Duration.ofSeconds(2);

  /** Prometheus wants the same labels everywhere; here one that says nothing is left out. */
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
   * Starts to send.
   *
   * @param url such as {@code http://localhost:4318/v1/metrics}
   * @throws IllegalArgumentException where that is no such URL, in words
   * @throws NoClassDefFoundError where the registry is not on the class path
   */
  static MeterRegistry create(String url, String run, Consumer<String> say) {
    if (!url.matches("https?://[^/]+/.*")) {
      throw new IllegalArgumentException(
          url + " is no URL such as http://localhost:4318/v1/metrics");
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
    AtomicBoolean isSaid = new AtomicBoolean();
    return request -> {
      String why = send(client, request);
      if (why != null && isSaid.compareAndSet(false, true)) {
        say.accept("LLM otlp: " + request.getAddress() + " does not take meters: " + why);
      }
    };
  }

  /** Why it was not taken; null where it was. */
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
