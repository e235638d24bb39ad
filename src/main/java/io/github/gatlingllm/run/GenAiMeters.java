package io.github.gatlingllm.run;

import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.Timing;
import io.github.gatlingllm.record.TokenGaps;
import io.github.gatlingllm.run.Observers.TraceContext;
import io.github.gatlingllm.run.RunView.LevelView;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.ipc.http.HttpUrlConnectionSender;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusNamingConvention;
import io.micrometer.registry.otlp.OtlpConfig;
import io.micrometer.registry.otlp.OtlpHttpMetricsSender;
import io.micrometer.registry.otlp.OtlpMeterRegistry;
import io.micrometer.registry.otlp.OtlpMetricsSender;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;

/**
 * Micrometer meters of requests, named by OpenTelemetry's semantic conventions for generative AI
 * clients (status "development", 2026). Other names start with {@code gatling_llm}. A request is
 * recorded when it ends; warm-up requests are not. A level is shown while it runs.
 */
final class GenAiMeters implements RunObserver {

  private static final String NEEDED = "io.micrometer:micrometer-registry-";

  private static final List<Duration> SECONDS = millis(powers(10, 14, 2));

  private static final List<Duration> FIRST_TOKEN =
      millis(1, 5, 10, 20, 40, 60, 80, 100, 250, 500, 750, 1_000, 2_500, 5_000, 7_500, 10_000);

  private static final double[] TOKENS = powers(1, 14, 4);

  private record TimeMeter(
      String name, List<Duration> bounds, BiConsumer<RequestRecord, Timer> recorder) {}

  private static final List<TimeMeter> TIMES =
      List.of(
          // from sending to the end of the request
          new TimeMeter("gen_ai.client.operation.duration", SECONDS, one(Timing::closedNanos)),
          // to the first data event, which may have no token
          new TimeMeter(
              "gen_ai.client.operation.time_to_first_chunk", SECONDS, one(Timing::firstEventNanos)),
          // each gap between token-bearing events
          new TimeMeter(
              "gen_ai.client.operation.time_per_output_chunk",
              SECONDS,
              (record, timer) ->
                  TokenGaps.visit(
                      record.events(),
                      record.tokens(),
                      (event, chunkMicros, tokenMicros, count) ->
                          timer.record(chunkMicros, TimeUnit.MICROSECONDS))),
          // TTFT from schedule
          new TimeMeter(
              "gatling_llm.time_to_first_token", FIRST_TOKEN, one(Timing::ttftFromScheduleNanos)),
          // planned arrival to sending
          new TimeMeter("gatling_llm.queue_wait", FIRST_TOKEN, one(Timing::queueWaitNanos)));

  /** Of each request; {@code gen_ai.token.type} is input or output. */
  private static final String TOKEN_USAGE = "gen_ai.client.token.usage";

  /** Requests that were judged by an SLO; {@code gatling_llm.slo} is met or missed. */
  private static final String JUDGED = "gatling_llm.judged_requests";

  /** Requests admitted and not ended. */
  private static final String IN_FLIGHT = "gatling_llm.requests_in_flight";

  /** Of each running level: its users or requests/s, in {@code gatling_llm.unit}. */
  private static final String OFFERED = "gatling_llm.offered_load";

  private final CompositeMeterRegistry registry = new CompositeMeterRegistry();
  private @Nullable Supplier<String> prometheus;
  private final Map<Tags, Operation> operations = new HashMap<>();
  private final Map<Tags, Judged> judged = new HashMap<>();
  private final List<Gauge> offered = new ArrayList<>();
  private List<LevelView> levels = List.of();

  private GenAiMeters(LongSupplier inFlight) {
    Gauge.builder(IN_FLIGHT, inFlight::getAsLong).register(registry);
  }

  private static double[] powers(double first, int count, int factor) {
    return DoubleStream.iterate(first, each -> each * factor).limit(count).toArray();
  }

  private static BiConsumer<RequestRecord, Timer> one(Function<Timing, @Nullable Long> nanos) {
    return (record, timer) -> {
      Long time = nanos.apply(record.timing());
      if (time != null) {
        timer.record(time, TimeUnit.NANOSECONDS);
      }
    };
  }

  private static List<Duration> millis(double... millis) {
    return Arrays.stream(millis).mapToObj(each -> Duration.ofMillis((long) each)).toList();
  }

  /** The enabled meters of a run whose registry is on the class path; null if there are none. */
  static @Nullable GenAiMeters open(
      String run, LongSupplier inFlight, Observers options, Consumer<String> print) {
    GenAiMeters meters = new GenAiMeters(inFlight);
    if (options.page() != null) {
      meters.addPrometheus();
    }
    if (options.otlp() != null) {
      meters.addOtlp(options.otlp(), run, print);
    }
    return meters.registry.getRegistries().isEmpty() ? null : meters;
  }

  private void addPrometheus() {
    try {
      prometheus = PrometheusMeters.addTo(registry);
    } catch (NoClassDefFoundError notOnTheClassPath) {
      // The page has no /metrics.
    }
  }

  private void addOtlp(String url, String run, Consumer<String> print) {
    try {
      registry.add(OtlpMeters.create(url, run, print));
    } catch (NoClassDefFoundError notOnTheClassPath) {
      print.accept("LLM otlp: no meters are sent; add " + NEEDED + "otlp to the class path");
    } catch (IllegalArgumentException e) {
      print.accept("LLM otlp: no meters are sent: " + e.getMessage());
    }
  }

  /** The text for Prometheus; null if its registry is not on the class path. */
  @Nullable Supplier<String> scraped() {
    return prometheus;
  }

  private record Operation(
      List<Timer> times, DistributionSummary inputTokens, DistributionSummary outputTokens) {}

  /** Both from the first request on, as a rate needs a counter that began with 0. */
  private record Judged(Counter met, Counter missed) {}

  @Override
  public String name() {
    return "meters";
  }

  @Override
  public void tick(RunView view) {
    if (view.levels != levels) {
      levels = view.levels;
      offered.forEach(registry::remove);
      offered.clear();
      levels.stream().filter(level -> !level.isOver()).map(this::offered).forEach(offered::add);
    }
  }

  private Gauge offered(LevelView level) {
    LevelInfo info = level.info();
    Phase phase = info.phases().get(info.phases().size() - 1).phase();
    Tags tags =
        Tags.of(
            "gatling_llm.target", info.target(),
            "gatling_llm.scenario", Objects.requireNonNullElse(info.scenario(), ""),
            "gatling_llm.stage", info.label(),
            "gatling_llm.phase", phase.key(),
            "gatling_llm.unit", info.unit());
    return Gauge.builder(OFFERED, info::offered).tags(tags).register(registry);
  }

  @Override
  public void records(List<RequestRecord> batch) {
    for (RequestRecord record : batch) {
      Tags tags = tags(record);
      Operation operation = operations.computeIfAbsent(tags, this::operation);
      for (int i = 0; i < TIMES.size(); i++) {
        TIMES.get(i).recorder().accept(record, operation.times.get(i));
      }
      tokens(operation.inputTokens, record.tokens().prompt());
      tokens(operation.outputTokens, record.tokens().outputTokens());
      Boolean isMet = record.outcome().sloOk();
      if (isMet != null) {
        Judged counters = judged.computeIfAbsent(tags, this::judged);
        (isMet ? counters.met : counters.missed).increment();
      }
    }
  }

  private static void tokens(DistributionSummary meter, @Nullable Integer count) {
    if (count != null) {
      meter.record(count);
    }
  }

  private static Tags tags(RequestRecord record) {
    List<Tag> tags = new ArrayList<>();
    TraceSpans.attributes(record).forEach((name, value) -> tags.add(Tag.of(name, value)));
    return Tags.of(tags);
  }

  private Operation operation(Tags tags) {
    return new Operation(
        TIMES.stream().map(time -> seconds(time, tags)).toList(),
        tokens("input", tags),
        tokens("output", tags));
  }

  private Judged judged(Tags tags) {
    return new Judged(judged(tags, "met"), judged(tags, "missed"));
  }

  private Counter judged(Tags tags, String slo) {
    return Counter.builder(JUDGED).tags(tags.and("gatling_llm.slo", slo)).register(registry);
  }

  private Timer seconds(TimeMeter meter, Tags tags) {
    return Timer.builder(meter.name())
        .tags(tags)
        .serviceLevelObjectives(meter.bounds().toArray(Duration[]::new))
        .register(registry);
  }

  private DistributionSummary tokens(String type, Tags tags) {
    return DistributionSummary.builder(TOKEN_USAGE)
        .baseUnit("{token}")
        .tags(tags.and("gen_ai.token.type", type))
        .serviceLevelObjectives(TOKENS)
        .register(registry);
  }

  /** Sends the final values, if sending is enabled. */
  @Override
  public void stop(RunView view) {
    registry.close();
    registry.getRegistries().forEach(MeterRegistry::close);
  }

  /**
   * Meters in Prometheus text format. Needs the optional {@code micrometer-registry-prometheus}.
   * Names follow OpenTelemetry's translation.
   */
  private static final class PrometheusMeters {

    /** Throws NoClassDefFoundError if the registry is not on the class path. */
    static Supplier<String> addTo(CompositeMeterRegistry all) {
      PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
      registry
          .config()
          .namingConvention(
              new PrometheusNamingConvention() {
                @Override
                public String name(String name, Meter.Type type, @Nullable String unit) {
                  return super.name(name, type, null);
                }
              });
      all.add(registry);
      return registry::scrape;
    }
  }

  /**
   * Sends meters by OTLP over HTTP, every 10 s and at the end of the run. Needs the optional {@code
   * micrometer-registry-otlp}. Headers come from {@code OTEL_EXPORTER_OTLP_HEADERS}.
   */
  private static final class OtlpMeters {

    private static final Duration LONGEST = Duration.ofSeconds(2);

    /** Drops empty tags: only Prometheus requires the same labels on all series. */
    private static final MeterFilter WITHOUT_EMPTY =
        new MeterFilter() {
          @Override
          public Meter.Id map(Meter.Id id) {
            return id.replaceTags(
                id.getTags().stream().filter(tag -> !tag.getValue().isEmpty()).toList());
          }
        };

    /** Throws NoClassDefFoundError if the registry is not on the class path. */
    static MeterRegistry create(String url, String run, Consumer<String> print) {
      if (!TraceContext.isCollector(url)) {
        throw new IllegalArgumentException(
            url + " is not a URL such as http://localhost:4318/v1/metrics");
      }
      String resource = "service.name=gatling-llm,service.instance.id=" + run;
      OtlpConfig config =
          Map.ofEntries(
                  Map.entry("otlp.url", url),
                  Map.entry("otlp.baseTimeUnit", "seconds"),
                  Map.entry("otlp.step", "10s"),
                  Map.entry("otlp.resourceAttributes", resource))
              ::get;
      MeterRegistry registry =
          OtlpMeterRegistry.builder(config).metricsSender(sender(print)).build();
      registry.config().meterFilter(WITHOUT_EMPTY);
      return registry;
    }

    private static OtlpMetricsSender sender(Consumer<String> print) {
      OtlpMetricsSender sender =
          new OtlpHttpMetricsSender(new HttpUrlConnectionSender(LONGEST, LONGEST));
      AtomicBoolean isPrinted = new AtomicBoolean();
      return request -> {
        try {
          sender.send(request);
        } catch (Exception e) {
          if (isPrinted.compareAndSet(false, true)) {
            String why = String.valueOf(e.getCause() == null ? e.getMessage() : e.getCause());
            print.accept("LLM otlp: " + request.getAddress() + " does not accept meters: " + why);
          }
        }
      };
    }
  }
}
