package io.github.gatlingllm.figures.server;

import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.EngineFigures.OverTime;
import io.github.gatlingllm.figures.metric.EngineFigures.Page;
import io.github.gatlingllm.figures.metric.EngineFigures.Point;
import io.github.gatlingllm.figures.metric.EngineFigures.WholeRun;
import io.github.gatlingllm.figures.metric.TimeBuckets;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.record.ServerSample.EngineMetric.Kind;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Computes figures by load level and over time from the readings of {@code llm/server.jsonl}, in
 * the order of the file. Bounded memory: sums per load level and time bucket, and the latest
 * reading of each of at most {@value #MAX_PAGES} pages.
 */
public final class EngineTally {

  private static final int MAX_PAGES = 200;

  /** Older readings of a page are not combined with current ones of other pages. */
  private static final long STALE_NANOS = 10_000_000_000L;

  private final long origin;
  private final int mostBuckets;
  private final List<Window> windows;
  private final List<String> targets;
  private final List<WindowSums> sums;
  private final Map<PageKey, PageState> pages = new LinkedHashMap<>();
  private final Map<String, SentRequests> sent = new LinkedHashMap<>();
  private final Map<String, TimeBuckets<WindowSums>> overTime = new LinkedHashMap<>();

  /**
   * The measure window [{@code from}, {@code to}) of a load level in epoch nanoseconds; empty if it
   * never measured.
   */
  public record Window(String target, long from, long to) {}

  private record PageKey(@Nullable String target, String url) {}

  private static final class PageState {
    private @Nullable ServerSample latest;
    private String source = "";
    private long readings;
    private long failed;
    private long resets;
    private @Nullable String lastError;
    private long firstUnixNanos;
    private final Map<EngineMetric, Double> counted = new EnumMap<>(EngineMetric.class);
    private final Map<EngineMetric, String> names = new EnumMap<>(EngineMetric.class);
  }

  private static final class SentRequests {
    private long count;
    private long ok;
    private long outputTokens;
    private long fromUnixNanos = Long.MAX_VALUE;
    private long untilUnixNanos = Long.MIN_VALUE;

    private void add(SentRequests other) {
      count += other.count;
      ok += other.ok;
      outputTokens += other.outputTokens;
      fromUnixNanos = Math.min(fromUnixNanos, other.fromUnixNanos);
      untilUnixNanos = Math.max(untilUnixNanos, other.untilUnixNanos);
    }

    private boolean isWithin(long from, long until) {
      return count > 0 && from <= fromUnixNanos && untilUnixNanos <= until;
    }
  }

  /**
   * Creates a tally without readings.
   *
   * @param origin start of the run, epoch nanoseconds
   */
  public EngineTally(long origin, List<Window> windows, int mostBuckets) {
    this.origin = origin;
    this.windows = List.copyOf(windows);
    this.mostBuckets = mostBuckets;
    targets = windows.stream().map(Window::target).distinct().toList();
    sums = windows.stream().map(window -> new WindowSums()).toList();
  }

  public void add(RequestRecord record) {
    SentRequests of = sent.computeIfAbsent(record.identity().target(), t -> new SentRequests());
    Long admitted = record.timing().admittedUnixNanos();
    if (admitted == null) {
      return;
    }
    of.count++;
    of.ok += record.outcome().ok() ? 1 : 0;
    Integer tokens = record.tokens().outputTokens();
    of.outputTokens += tokens == null ? 0 : tokens;
    Long closed = record.timing().closedUnixNanos();
    of.fromUnixNanos = Math.min(of.fromUnixNanos, admitted);
    of.untilUnixNanos = Math.max(of.untilUnixNanos, closed == null ? admitted : closed);
  }

  public void add(ServerSample sample) {
    PageKey key = new PageKey(sample.target(), sample.url());
    if (pages.size() >= MAX_PAGES && !pages.containsKey(key)) {
      return;
    }
    PageState page = pages.computeIfAbsent(key, k -> new PageState());
    ServerSample before = page.latest;
    boolean isOutOfOrder = before != null && sample.unixNanos() < before.unixNanos();
    boolean isFailed = sample.error() != null;
    page.readings++;
    page.failed += isFailed ? 1 : 0;
    page.lastError = isFailed ? sample.error() : page.lastError;
    page.source = sample.source().isEmpty() ? page.source : sample.source();
    List<String> described = sample.target() == null ? targets : List.of(sample.target());
    for (String target : described) {
      each(target, sample.unixNanos(), of -> of.reading(isFailed, sample.reset()));
    }
    if (isFailed || isOutOfOrder) {
      return;
    }
    page.resets += sample.reset() ? 1 : 0;
    page.names.putAll(sample.names());
    page.latest = sample;
    page.firstUnixNanos = before == null ? sample.unixNanos() : page.firstUnixNanos;
    described.forEach(target -> gauges(target, sample));
    if (before != null) {
      growth(page, described, before, sample);
    }
  }

  private void each(String target, long at, Consumer<WindowSums> sink) {
    for (int i = 0; i < windows.size(); i++) {
      Window window = windows.get(i);
      if (window.target().equals(target) && at >= window.from() && at < window.to()) {
        sink.accept(sums.get(i));
      }
    }
  }

  private WindowSums bucket(String target, long at) {
    return overTime
        .computeIfAbsent(
            target,
            t ->
                TimeBuckets.from(
                    origin, 1_000_000_000L, mostBuckets, WindowSums::new, WindowSums::add))
        .at(at);
  }

  private void gauges(String target, ServerSample sample) {
    sample
        .values()
        .forEach(
            (metric, value) -> {
              if (metric.kind() == Kind.GAUGE) {
                double all = ofAllPages(target, metric, sample.unixNanos());
                boolean isShared = sample.target() == null && metric == EngineMetric.GPU_POWER_W;
                each(target, sample.unixNanos(), of -> of.gauge(metric, all, isShared));
                bucket(target, sample.unixNanos()).gauge(metric, all, isShared);
              }
            });
  }

  private double ofAllPages(String target, EngineMetric metric, long now) {
    double sum = 0;
    double max = Double.NEGATIVE_INFINITY;
    int count = 0;
    for (Map.Entry<PageKey, PageState> page : pages.entrySet()) {
      ServerSample latest = page.getValue().latest;
      String about = page.getKey().target();
      Double value = latest == null ? null : latest.value(metric);
      if (latest != null
          && value != null
          && (about == null || about.equals(target))
          && now - latest.unixNanos() <= STALE_NANOS) {
        sum += value;
        max = Math.max(max, value);
        count++;
      }
    }
    return switch (metric.series()) {
      case SUM -> sum;
      case MEAN -> sum / count;
      case MAX -> max;
    };
  }

  /** Adds the growth of counters and histograms, which start at 0 after a reset. */
  private void growth(
      PageState page, List<String> described, ServerSample before, ServerSample sample) {
    long from = before.unixNanos();
    long to = sample.unixNanos();
    boolean isShared = sample.target() == null;
    boolean isReset = sample.reset();
    sample
        .values()
        .forEach(
            (metric, value) -> {
              Double old = before.value(metric);
              if (metric.kind() == Kind.COUNTER && old != null) {
                double grown = isReset || value < old ? value : value - old;
                page.counted.merge(metric, grown, Double::sum);
                boolean sharesPower = isShared && metric == EngineMetric.GPU_ENERGY_J;
                for (String target : described) {
                  double seconds = (to - from) / 1e9 / pagesWith(target, metric);
                  parts(
                      target,
                      from,
                      to,
                      (of, part) -> of.counter(metric, grown * part, seconds * part, sharesPower));
                  bucket(target, from + (to - from) / 2)
                      .counter(metric, grown, seconds, sharesPower);
                }
              }
            });
    sample
        .histograms()
        .forEach(
            (metric, values) -> {
              ServerSample.Histogram old = before.histograms().get(metric);
              if (old != null) {
                BucketCounts grown = BucketCounts.between(old, values, isReset);
                for (String target : described) {
                  parts(target, from, to, (of, part) -> of.histogram(metric, grown.times(part)));
                  bucket(target, from + (to - from) / 2).histogram(metric, grown);
                }
              }
            });
  }

  /** Number of pages with a counter, by which the seconds of each page's growth are divided. */
  private long pagesWith(String target, EngineMetric counter) {
    return pages.entrySet().stream()
        .filter(page -> page.getValue().counted.containsKey(counter))
        .map(page -> page.getKey().target())
        .filter(about -> about == null || about.equals(target))
        .count();
  }

  private interface Part {
    void to(WindowSums sums, double part);
  }

  /**
   * Passes on each window of a target that overlaps a reading interval, with the share of the
   * interval in it.
   */
  private void parts(String target, long from, long to, Part sink) {
    for (int i = 0; i < windows.size(); i++) {
      Window window = windows.get(i);
      long overlap = Math.min(to, window.to()) - Math.max(from, window.from());
      if (overlap > 0 && window.target().equals(target)) {
        sink.to(sums.get(i), (double) overlap / (to - from));
      }
    }
  }

  /** The figures of one load level; null without readings in its window. */
  public @Nullable EngineFigures of(int level) {
    if (level >= windows.size()) {
      return null; // not in a plan, so it has no window
    }
    Window window = windows.get(level);
    return sums.get(level).figures((window.to() - window.from()) / 1e9);
  }

  /** The figures of a target's load levels pooled; null without readings in their windows. */
  public @Nullable EngineFigures of(String target) {
    WindowSums all = new WindowSums();
    double seconds = 0;
    for (int i = 0; i < windows.size(); i++) {
      Window window = windows.get(i);
      if (window.target().equals(target)) {
        all.add(sums.get(i));
        seconds += (window.to() - window.from()) / 1e9;
      }
    }
    return all.figures(seconds);
  }

  /**
   * GPU energy in the windows of some load levels, in joules; null if unknown, or if windows
   * overlap so that it cannot be assigned.
   */
  public @Nullable Double joules(Iterable<Integer> levels) {
    double sum = 0;
    for (int level : levels) {
      EngineFigures of = of(level);
      Double joules = of == null ? null : of.joules();
      if (of == null || joules == null || overlapsOthers(level, of.isPowerShared())) {
        return null;
      }
      sum += joules;
    }
    return sum;
  }

  private boolean overlapsOthers(int level, boolean isPowerShared) {
    Window own = windows.get(level);
    for (int i = 0; i < windows.size(); i++) {
      Window other = windows.get(i);
      if (i != level
          && (isPowerShared || other.target().equals(own.target()))
          && Math.min(own.to(), other.to()) > Math.max(own.from(), other.from())) {
        return true;
      }
    }
    return false;
  }

  public List<Page> pages() {
    List<Page> all = new ArrayList<>();
    pages.forEach(
        (key, page) ->
            all.add(
                new Page(
                    key.target(),
                    key.url(),
                    page.source,
                    page.readings,
                    page.failed,
                    page.resets,
                    page.lastError,
                    page.names)));
    return all;
  }

  public List<OverTime> overTime() {
    List<OverTime> all = new ArrayList<>();
    overTime.forEach(
        (target, buckets) -> {
          double width = buckets.width() / 1e9;
          List<Point> points = new ArrayList<>();
          List<WindowSums> each = buckets.all();
          for (int i = 0; i < each.size(); i++) {
            Map<EngineMetric, Double> values = each.get(i).values();
            if (!values.isEmpty()) {
              points.add(new Point(i * width, values));
            }
          }
          all.add(new OverTime(target, points));
        });
    return all;
  }

  /**
   * Counters of the whole run by target; of all targets together if no page describes a single one.
   */
  public List<WholeRun> wholeRun() {
    List<WholeRun> all = new ArrayList<>();
    sent.forEach((target, requests) -> add(target, requests, all));
    if (all.isEmpty()) {
      SentRequests joined = new SentRequests();
      sent.values().forEach(joined::add);
      add(null, joined, all);
    }
    return all;
  }

  private void add(@Nullable String target, SentRequests of, List<WholeRun> to) {
    Double tokens = counted(target, EngineMetric.GENERATION_TOKENS, of);
    Double finished = counted(target, EngineMetric.REQUESTS_FINISHED, of);
    if (tokens != null || finished != null) {
      to.add(new WholeRun(target, of.count, of.ok, of.outputTokens, tokens, finished));
    }
  }

  /** Null if a page was not read before and after the requests, or if its server was restarted. */
  private @Nullable Double counted(
      @Nullable String target, EngineMetric metric, SentRequests requests) {
    double sum = 0;
    boolean isKnown = false;
    for (Map.Entry<PageKey, PageState> each : pages.entrySet()) {
      PageState page = each.getValue();
      Double counted = page.counted.get(metric);
      if (counted != null && Objects.equals(each.getKey().target(), target)) {
        ServerSample latest = page.latest;
        if (page.resets > 0
            || latest == null
            || !requests.isWithin(page.firstUnixNanos, latest.unixNanos())) {
          return null;
        }
        sum += counted;
        isKnown = true;
      }
    }
    return isKnown ? (Double) sum : null;
  }
}
