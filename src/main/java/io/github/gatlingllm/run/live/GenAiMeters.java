package io.github.gatlingllm.run.live;

import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.TokenGaps;
import io.github.gatlingllm.run.Run;
import io.github.gatlingllm.run.RunObserver;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Micrometer meters of requests, named by OpenTelemetry's semantic conventions for generative AI
 * clients (status "development", 2026). Other names start with {@code gatling_llm}. A request is
 * recorded when it ends; warm-up requests are not.
 *
 * <table>
 * <caption>Meters</caption>
 * <tr><td>{@code gen_ai.client.operation.duration}</td><td>s</td><td>sending to the end of the
 *     request, {@code error.type} where it failed</td></tr>
 * <tr><td>{@code gen_ai.client.operation.time_to_first_chunk}</td><td>s</td><td>to the first data
 *     event, which may hold no token</td></tr>
 * <tr><td>{@code gen_ai.client.operation.time_per_output_chunk}</td><td>s</td><td>each gap between
 *     token-bearing events</td></tr>
 * <tr><td>{@code gen_ai.client.token.usage}</td><td>{token}</td><td>of each request, {@code
 *     gen_ai.token.type} input or output</td></tr>
 * <tr><td>{@code gatling_llm.time_to_first_token}</td><td>s</td><td>TTFT from schedule</td></tr>
 * <tr><td>{@code gatling_llm.queue_wait}</td><td>s</td><td>planned arrival to sending</td></tr>
 * </table>
 */
public final class GenAiMeters implements RunObserver, AutoCloseable {

  private static final String NEEDED = "io.micrometer:micrometer-registry-";

  /** Histogram bounds of the conventions for seconds and tokens. */
  private static final Duration[] SECONDS = millis(doubling(10, 14, 2));

  private static final Duration[] FIRST_TOKEN =
      millis(1, 5, 10, 20, 40, 60, 80, 100, 250, 500, 750, 1_000, 2_500, 5_000, 7_500, 10_000);

  private static final double[] TOKENS = doubling(1, 14, 4);

  private final CompositeMeterRegistry registry = new CompositeMeterRegistry();
  private final @Nullable Supplier<String> prometheus;
  private final Map<Tags, Operation> operations = new HashMap<>();

  private GenAiMeters(
      @Nullable MeterRegistry scraped, @Nullable MeterRegistry sent, Supplier<String> text) {
    if (scraped != null) {
      registry.add(scraped);
    }
    if (sent != null) {
      registry.add(sent);
    }
    prometheus = scraped == null ? null : text;
  }

  private static double[] doubling(double first, int count, int factor) {
    double[] bounds = new double[count];
    double next = first;
    for (int i = 0; i < count; i++) {
      bounds[i] = next;
      next *= factor;
    }
    return bounds;
  }

  private static Duration[] millis(double... millis) {
    return Arrays.stream(millis)
        .mapToObj(each -> Duration.ofMillis((long) each))
        .toArray(Duration[]::new);
  }

  /** The enabled meters of a run whose registry is on the class path; null if there are none. */
  public static @Nullable GenAiMeters open(Run run, LiveView.Options options) {
    return open(run.id(), options, System.out::println);
  }

  static @Nullable GenAiMeters open(String run, LiveView.Options options, Consumer<String> say) {
    MeterRegistry sent = options.otlp() == null ? null : otlp(options.otlp(), run, say);
    PrometheusMeters scraped = options.page() == null ? null : prometheus();
    return sent == null && scraped == null
        ? null
        : new GenAiMeters(
            scraped == null ? null : scraped.registry(),
            sent,
            () -> scraped == null ? "" : scraped.text());
  }

  private static @Nullable PrometheusMeters prometheus() {
    try {
      return PrometheusMeters.create();
    } catch (NoClassDefFoundError notOnTheClassPath) {
      return null;
    }
  }

  private static @Nullable MeterRegistry otlp(String url, String run, Consumer<String> say) {
    try {
      return OtlpMeters.create(url, run, say);
    } catch (NoClassDefFoundError notOnTheClassPath) {
      say.accept("LLM otlp: no meters are sent; add " + NEEDED + "otlp to the class path");
    } catch (IllegalArgumentException e) {
      say.accept("LLM otlp: no meters are sent: " + e.getMessage());
    }
    return null;
  }

  /** The text for Prometheus; null if its registry is not on the class path. */
  @Nullable Supplier<String> scraped() {
    return prometheus;
  }

  /** The meters of one target, load level, API, model and outcome. */
  private record Operation(
      Timer duration,
      Timer firstChunk,
      Timer outputChunk,
      DistributionSummary inputTokens,
      DistributionSummary outputTokens,
      Timer firstToken,
      Timer queueWait) {}

  @Override
  public String name() {
    return "meters";
  }

  @Override
  public void requestEnded(RequestRecord record) {
    Operation operation = operations.computeIfAbsent(tags(record), this::operation);
    RequestRecord.Timing timing = record.timing();
    seconds(operation.queueWait, timing.queueWaitNanos());
    seconds(operation.duration, timing.closedNanos());
    seconds(operation.firstChunk, timing.firstEventNanos());
    seconds(operation.firstToken, timing.ttftFromScheduleNanos());
    TokenGaps.visit(
        record.events(),
        record.tokens(),
        (event, chunkMicros, tokenMicros, count) ->
            operation.outputChunk.record(chunkMicros, TimeUnit.MICROSECONDS));
    tokens(operation.inputTokens, record.tokens().prompt());
    tokens(operation.outputTokens, record.tokens().outputTokens());
  }

  private static void seconds(Timer meter, @Nullable Long nanos) {
    if (nanos != null) {
      meter.record(nanos, TimeUnit.NANOSECONDS);
    }
  }

  private static void tokens(DistributionSummary meter, @Nullable Integer count) {
    if (count != null) {
      meter.record(count);
    }
  }

  private static Tags tags(RequestRecord record) {
    RequestRecord.Identity id = record.identity();
    URI endpoint = URI.create(id.endpoint());
    Tags tags =
        Tags.of(
            "gen_ai.operation.name", operation(id.api()),
            "gen_ai.provider.name", provider(id.api()),
            "gen_ai.request.model", id.model() == null ? "" : id.model(),
            "server.address", endpoint.getHost() == null ? "" : endpoint.getHost(),
            "server.port", Integer.toString(port(endpoint)),
            "gatling_llm.target", id.target(),
            "gatling_llm.stage", id.stage());
    String failure = record.outcome().ok() ? "" : record.outcome().status().key();
    return tags.and("error.type", failure);
  }

  private static int port(URI endpoint) {
    int port = endpoint.getPort();
    return port >= 0 ? port : "https".equals(endpoint.getScheme()) ? 443 : 80;
  }

  /** The provider whose API format is used, as the conventions define it for compatible servers. */
  private static String provider(String api) {
    return api.equals("messages") ? "anthropic" : "openai";
  }

  /** The operation name of an API by the conventions. */
  private static String operation(String api) {
    return switch (api) {
      case "completions" -> "text_completion";
      case "embeddings" -> "embeddings";
      default -> "chat";
    };
  }

  private Operation operation(Tags tags) {
    return new Operation(
        seconds("gen_ai.client.operation.duration", tags, SECONDS),
        seconds("gen_ai.client.operation.time_to_first_chunk", tags, SECONDS),
        seconds("gen_ai.client.operation.time_per_output_chunk", tags, SECONDS),
        tokens("input", tags),
        tokens("output", tags),
        seconds("gatling_llm.time_to_first_token", tags, FIRST_TOKEN),
        seconds("gatling_llm.queue_wait", tags, FIRST_TOKEN));
  }

  private Timer seconds(String name, Tags tags, Duration[] bounds) {
    return Timer.builder(name).tags(tags).serviceLevelObjectives(bounds).register(registry);
  }

  private DistributionSummary tokens(String type, Tags tags) {
    return DistributionSummary.builder("gen_ai.client.token.usage")
        .baseUnit("{token}")
        .tags(tags.and("gen_ai.token.type", type))
        .serviceLevelObjectives(TOKENS)
        .register(registry);
  }

  /** Sends the final values, if sending is enabled. */
  @Override
  public @Nullable UnaryOperator<RunInfo> runEnded(RunInfo info) {
    close();
    return null;
  }

  @Override
  public void close() {
    registry.close();
    registry.getRegistries().forEach(MeterRegistry::close);
  }
}
