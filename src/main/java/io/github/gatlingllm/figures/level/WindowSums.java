package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.EngineFigures.AtLimit;
import io.github.gatlingllm.figures.metric.EngineFigures.EngineGrowth;
import io.github.gatlingllm.figures.metric.EngineFigures.EngineState;
import io.github.gatlingllm.figures.metric.EngineFigures.EngineTiming;
import io.github.gatlingllm.figures.metric.EngineFigures.Gpu;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.record.ServerSample.Histogram;
import java.util.Arrays;
import java.util.Comparator;
import java.util.DoubleSummaryStatistics;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Sums of the readings of metrics pages in an interval. */
final class WindowSums {

  /** Further GPUs of a target are only in the figures of all GPUs. */
  private static final int MAX_GPUS = 64;

  private long readings;
  private long failed;
  private long resets;
  private boolean isPowerShared;
  private final GaugeSums gauges = new GaugeSums();
  private final Map<EngineMetric, Counter> counters = new EnumMap<>(EngineMetric.class);
  private final Map<EngineMetric, BucketCounts> histograms = new EnumMap<>(EngineMetric.class);
  private final Map<String, GpuTally> gpus = new LinkedHashMap<>();
  private final Map<String, WindowSums> roles = new TreeMap<>(Comparator.reverseOrder());

  /** Growth, and the seconds that it was read in. */
  private record Counter(double grown, double seconds) {

    Counter and(Counter other) {
      return new Counter(grown + other.grown, seconds + other.seconds);
    }
  }

  /** Those of the servers in a role; of all for null. */
  WindowSums role(@Nullable String role) {
    return role == null ? this : roles.computeIfAbsent(role, any -> new WindowSums());
  }

  void reading(boolean isFailed, boolean isReset) {
    readings++;
    failed += isFailed ? 1 : 0;
    resets += isReset ? 1 : 0;
  }

  /** Adds a reading; {@code isShared} if its page describes all targets. */
  void gauge(EngineMetric metric, double value, boolean isShared) {
    gauges.add(metric, value);
    isPowerShared |= isShared && metric == EngineMetric.GPU_POWER_W;
  }

  void gpu(String name, Map<EngineMetric, Double> values, double atS) {
    gpu(name).add(values, atS);
  }

  /** One that is in no figures beyond the limit. */
  private GpuTally gpu(String name) {
    return gpus.size() < MAX_GPUS || gpus.containsKey(name)
        ? gpus.computeIfAbsent(name, gpu -> new GpuTally())
        : new GpuTally();
  }

  void counter(EngineMetric metric, double grown, double seconds, boolean isShared) {
    counters.merge(metric, new Counter(grown, seconds), Counter::and);
    isPowerShared |= isShared && metric == EngineMetric.GPU_ENERGY_J;
  }

  /** Adds a part of the growth of histograms between two readings of a page. */
  void histograms(ServerSample before, ServerSample after, double part) {
    after
        .histograms()
        .forEach(
            (metric, values) -> {
              Histogram old = before.histograms().get(metric);
              if (old != null) {
                histogram(metric, BucketCounts.between(old, values, after.reset()).times(part));
              }
            });
  }

  private void histogram(EngineMetric metric, BucketCounts values) {
    histograms.merge(metric, values, BucketCounts::and);
  }

  void add(WindowSums other) {
    readings += other.readings;
    failed += other.failed;
    resets += other.resets;
    isPowerShared |= other.isPowerShared;
    gauges.add(other.gauges);
    other.counters.forEach((metric, theirs) -> counters.merge(metric, theirs, Counter::and));
    other.histograms.forEach(this::histogram);
    other.gpus.forEach((name, theirs) -> gpu(name).add(theirs));
    other.roles.forEach((role, theirs) -> role(role).add(theirs));
  }

  @Nullable EngineFigures figures(double seconds) {
    if (readings == 0 && counters.isEmpty()) {
      return null;
    }
    Map<EngineMetric, EngineGrowth> growth = new EnumMap<>(EngineMetric.class);
    counters.forEach(
        (metric, of) -> growth.put(metric, EngineGrowth.of(of.grown, of.seconds, seconds)));
    Map<EngineMetric, EngineTiming> timings = new EnumMap<>(EngineMetric.class);
    histograms.forEach(
        (metric, of) -> {
          if (of.count > 0) {
            timings.put(metric, of.timing());
          }
        });
    Map<String, Gpu> each = new TreeMap<>(Gpu.BY_NUMBER);
    gpus.forEach((name, of) -> each.put(name, of.figures()));
    Map<String, EngineFigures> byRole = new LinkedHashMap<>();
    roles.forEach((role, of) -> byRole.put(role, of.figures(seconds)));
    byRole.values().removeIf(Objects::isNull);
    return new EngineFigures(
        seconds,
        readings,
        failed,
        resets,
        gauges.states(),
        growth,
        timings,
        each,
        byRole,
        isPowerShared);
  }

  /** Means of gauges, growth of counters per second, means of histograms. */
  Map<EngineMetric, Double> values() {
    Map<EngineMetric, Double> values = gauges.means();
    counters.forEach((metric, of) -> values.put(metric, of.grown / of.seconds));
    histograms.forEach((metric, of) -> values.put(metric, of.sum / of.count));
    values.values().removeIf(value -> !Double.isFinite(value));
    return values;
  }

  Map<String, Map<EngineMetric, Double>> gpus() {
    Map<String, Map<EngineMetric, Double>> means = new TreeMap<>(Gpu.BY_NUMBER);
    gpus.forEach((name, of) -> means.put(name, of.gauges.means()));
    return means;
  }

  private static final class GaugeSums {
    private final Map<EngineMetric, DoubleSummaryStatistics> all =
        new EnumMap<>(EngineMetric.class);

    void add(EngineMetric metric, double value) {
      of(metric).accept(value);
    }

    void add(GaugeSums other) {
      other.all.forEach((metric, theirs) -> of(metric).combine(theirs));
    }

    private DoubleSummaryStatistics of(EngineMetric metric) {
      return all.computeIfAbsent(metric, m -> new DoubleSummaryStatistics());
    }

    Map<EngineMetric, EngineState> states() {
      Map<EngineMetric, EngineState> states = new EnumMap<>(EngineMetric.class);
      all.forEach(
          (metric, of) ->
              states.put(metric, new EngineState(of.getSum() / of.getCount(), of.getMax())));
      return states;
    }

    Map<EngineMetric, Double> means() {
      Map<EngineMetric, Double> means = new EnumMap<>(EngineMetric.class);
      all.forEach((metric, of) -> means.put(metric, of.getAverage()));
      return means;
    }
  }

  private static final class GpuTally {

    /** Power varies a little below its limit, and is averaged. */
    private static final double OF_POWER_LIMIT = 0.98;

    /** A GPU slows down by degrees before it reaches its limit. */
    private static final double BELOW_LIMIT_C = 3;

    /** The lowest limit of GPUs of data centres, for pages without one. */
    private static final double HOT_C = 85;

    private final GaugeSums gauges = new GaugeSums();
    private @Nullable AtLimit slowest;

    void add(Map<EngineMetric, Double> values, double atS) {
      values.forEach(gauges::add);
      Double clock = values.get(EngineMetric.GPU_CLOCK_MHZ);
      String limit = clock == null ? null : limit(values);
      if (clock != null && limit != null) {
        boolean isHot = limit.equals("temperature");
        Double value =
            values.get(isHot ? EngineMetric.GPU_TEMPERATURE_C : EngineMetric.GPU_POWER_W);
        keep(new AtLimit(clock, limit, Objects.requireNonNull(value), atS));
      }
    }

    /** What is at its limit; null for nothing. */
    private static @Nullable String limit(Map<EngineMetric, Double> values) {
      Double celsius = values.get(EngineMetric.GPU_TEMPERATURE_C);
      Double hot = values.get(EngineMetric.GPU_TEMPERATURE_LIMIT_C);
      if (celsius != null && celsius >= (hot == null || hot == 0 ? HOT_C : hot - BELOW_LIMIT_C)) {
        return "temperature";
      }
      Double watts = values.get(EngineMetric.GPU_POWER_W);
      Double max = values.get(EngineMetric.GPU_POWER_LIMIT_W);
      return watts != null && max != null && max > 0 && watts >= OF_POWER_LIMIT * max
          ? "power"
          : null;
    }

    private void keep(AtLimit other) {
      slowest = slowest == null || other.clockMhz() < slowest.clockMhz() ? other : slowest;
    }

    void add(GpuTally other) {
      gauges.add(other.gauges);
      if (other.slowest != null) {
        keep(other.slowest);
      }
    }

    Gpu figures() {
      return new Gpu(gauges.states(), slowest);
    }
  }

  /** Growth of a histogram in an interval. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record BucketCounts(double count, double sum, List<Double> bounds, double[] counts) {

    /** The growth between two readings; all of the later one if the server was restarted. */
    static BucketCounts between(Histogram before, Histogram after, boolean isRestarted) {
      boolean isReset = isRestarted || after.count() < before.count() || after.sum() < before.sum();
      boolean hasSameBounds = after.bounds().equals(before.bounds());
      double[] counts = new double[isReset || hasSameBounds ? after.counts().size() : 0];
      Arrays.setAll(counts, i -> after.counts().get(i) - (isReset ? 0 : before.counts().get(i)));
      return new BucketCounts(
          after.count() - (isReset ? 0 : before.count()),
          after.sum() - (isReset ? 0 : before.sum()),
          counts.length == 0 ? List.of() : after.bounds(),
          counts);
    }

    BucketCounts times(double part) {
      return new BucketCounts(
          count * part, sum * part, bounds, Arrays.stream(counts).map(c -> c * part).toArray());
    }

    /** The sum of both; without buckets if their bounds differ. */
    private BucketCounts and(BucketCounts other) {
      if (count == 0 || other.count == 0) {
        return count == 0 ? other : this;
      }
      double[] both = new double[bounds.equals(other.bounds) ? counts.length : 0];
      Arrays.setAll(both, i -> counts[i] + other.counts[i]);
      return new BucketCounts(
          count + other.count, sum + other.sum, both.length == 0 ? List.of() : bounds, both);
    }

    private EngineTiming timing() {
      return new EngineTiming(
          count, sum / count, quantile(0.5), quantile(0.9), quantile(0.95), quantile(0.99));
    }

    /** The quantile, interpolated within its bucket; at most the last bound, null if none. */
    @Nullable Double quantile(double share) {
      if (counts.length == 0) {
        return null;
      }
      double rank = share * count;
      double below = 0;
      double from = Math.min(0, bounds.get(0));
      for (int i = 0; i < counts.length; i++) {
        double to = bounds.get(i);
        if (counts[i] >= rank) {
          double inside = counts[i] - below;
          return inside <= 0 ? to : from + (to - from) * (rank - below) / inside;
        }
        below = counts[i];
        from = to;
      }
      return from;
    }
  }
}
