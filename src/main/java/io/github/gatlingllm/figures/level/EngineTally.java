package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Amounts.Span;
import io.github.gatlingllm.figures.level.WindowSums.BucketCounts;
import io.github.gatlingllm.figures.level.WindowSums.GpuTally;
import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.EngineFigures.Page;
import io.github.gatlingllm.figures.metric.EngineFigures.Point;
import io.github.gatlingllm.figures.metric.EngineFigures.TargetPoints;
import io.github.gatlingllm.figures.metric.EngineFigures.WholeRun;
import io.github.gatlingllm.figures.metric.Metric.Amount;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.record.ServerSample.EngineMetric.Kind;
import java.util.ArrayList;
import java.util.Collection;
import java.util.DoubleSummaryStatistics;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Computes figures by load level and over time from the readings of {@code llm/server.jsonl}, in
 * the order of the file. Bounded memory: sums per load level and time bucket, and the latest
 * reading of each of at most {@value #MAX_PAGES} pages.
 */
final class EngineTally {

  private static final int MAX_PAGES = 200;

  /** Older readings of a page are not combined with current ones of other pages. */
  private static final long STALE_NANOS = 10_000_000_000L;

  private final long origin;
  private final int mostBuckets;
  final List<LevelTally> levels;
  private final List<String> targets;
  private final Map<PageKey, PageState> pages = new LinkedHashMap<>();
  private final Map<String, Span> sent = new LinkedHashMap<>();
  private final Map<String, TimeBuckets<WindowSums>> overTime = new LinkedHashMap<>();

  private record PageKey(@Nullable String target, String url) {

    boolean describes(String other) {
      return target == null || target.equals(other);
    }
  }

  /** Of the planned levels: those that follow have no window. */
  EngineTally(long origin, List<LevelTally> planned, int mostBuckets) {
    this.origin = origin;
    levels = List.copyOf(planned);
    this.mostBuckets = mostBuckets;
    targets = levels.stream().map(LevelTally::target).distinct().toList();
  }

  void add(RequestRecord record) {
    Span of = sent.computeIfAbsent(record.identity().target(), t -> new Span());
    Long admitted = record.timing().admittedUnixNanos();
    if (admitted == null) {
      return;
    }
    of.started(record, null);
    Integer inputs = record.tokens().inputs();
    // An engine counts each text to embed as a request.
    of.add(Amount.INPUTS, inputs == null ? 0 : inputs - 1);
    of.tokens(record.tokens());
    Long closed = record.timing().closedUnixNanos();
    of.add(admitted, closed == null ? admitted : closed);
  }

  void add(ServerSample sample) {
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
    page.first = before == null ? sample : page.first;
    described.forEach(target -> gauges(target, sample));
    if (before != null) {
      growth(page, described, before, sample);
    }
  }

  private void each(String target, long at, Consumer<WindowSums> sink) {
    for (LevelTally level : levels) {
      if (level.target().equals(target) && level.contains(at)) {
        sink.accept(level.engine);
      }
    }
  }

  private WindowSums bucket(String target, long at) {
    if (at < origin) {
      return new WindowSums();
    }
    return overTime
        .computeIfAbsent(
            target,
            t ->
                TimeBuckets.from(
                    origin, 1_000_000_000L, mostBuckets, WindowSums::new, WindowSums::add))
        .at(at);
  }

  private void gauges(String target, ServerSample sample) {
    boolean isShared = sample.target() == null;
    long at = sample.unixNanos();
    sample
        .gpus()
        .forEach(
            (name, values) -> {
              Consumer<GpuTally> reading = gpu -> gpu.add(values, (at - origin) / 1e9);
              each(target, at, of -> of.gpu(name, reading));
              bucket(target, at).gpu(name, reading);
            });
    sample
        .values()
        .forEach(
            (metric, value) -> {
              if (metric.kind() == Kind.GAUGE) {
                double all = ofAllPages(target, metric, at);
                each(target, at, of -> of.gauge(metric, all, isShared));
                bucket(target, at).gauge(metric, all, isShared);
              }
            });
  }

  private double ofAllPages(String target, EngineMetric metric, long now) {
    DoubleSummaryStatistics all = new DoubleSummaryStatistics();
    pages.forEach(
        (key, page) -> {
          ServerSample latest = page.latest;
          Double value = latest == null ? null : latest.value(metric);
          if (latest != null
              && value != null
              && key.describes(target)
              && now - latest.unixNanos() <= STALE_NANOS) {
            all.accept(value);
          }
        });
    return switch (metric.series()) {
      case SUM -> all.getSum();
      case MEAN -> all.getAverage();
      case MAX -> all.getMax();
    };
  }

  /** Adds the growth of counters and histograms, which start at 0 after a reset. */
  private void growth(
      PageState page, List<String> described, ServerSample before, ServerSample sample) {
    boolean isShared = sample.target() == null;
    double seconds = (sample.unixNanos() - before.unixNanos()) / 1e9;
    Map<EngineMetric, Double> counters = new EnumMap<>(EngineMetric.class);
    sample
        .values()
        .forEach(
            (metric, value) -> {
              Double old = before.value(metric);
              if (metric.kind() == Kind.COUNTER && old != null) {
                counters.put(metric, sample.reset() || value < old ? value : value - old);
              }
            });
    Map<EngineMetric, BucketCounts> histograms = new EnumMap<>(EngineMetric.class);
    sample
        .histograms()
        .forEach(
            (metric, values) -> {
              ServerSample.Histogram old = before.histograms().get(metric);
              if (old != null) {
                histograms.put(metric, BucketCounts.between(old, values, sample.reset()));
              }
            });
    counters.forEach((metric, grown) -> page.counted.merge(metric, grown, Double::sum));
    for (String target :
        counters.isEmpty() && histograms.isEmpty() ? List.<String>of() : described) {
      divide(
          target,
          before,
          sample,
          (of, part) -> {
            counters.forEach(
                (metric, grown) -> {
                  double own = seconds / pagesWith(target, metric);
                  of.counter(metric, grown * part, own * part, isShared);
                });
            histograms.forEach((metric, grown) -> of.histogram(metric, grown.times(part)));
          });
    }
  }

  /** Number of pages with a counter, by which the seconds of each page's growth are divided. */
  private long pagesWith(String target, EngineMetric counter) {
    return pages.entrySet().stream()
        .filter(page -> page.getValue().counted.containsKey(counter))
        .filter(page -> page.getKey().describes(target))
        .count();
  }

  private interface Part {
    void to(WindowSums sums, double part);
  }

  /**
   * Passes on each window of a target that overlaps the time between two readings, with the share
   * of the time in it, and the bucket of its middle.
   */
  private void divide(String target, ServerSample before, ServerSample sample, Part sink) {
    long from = before.unixNanos();
    long nanos = sample.unixNanos() - from;
    for (LevelTally level : levels) {
      long overlap = level.overlapNanos(from, from + nanos);
      if (overlap > 0 && level.target().equals(target)) {
        sink.to(level.engine, (double) overlap / nanos);
      }
    }
    sink.to(bucket(target, from + nanos / 2), 1);
  }

  /** The figures of one load level, all repeats pooled; null without readings in its windows. */
  @Nullable EngineFigures of(int level) {
    return of(levels.stream().filter(each -> each.index == level).toList());
  }

  private static @Nullable EngineFigures of(List<LevelTally> some) {
    WindowSums all = new WindowSums();
    double seconds = 0;
    for (LevelTally level : some) {
      all.add(level.engine);
      seconds += level.nanos() / 1e9;
    }
    return all.figures(seconds);
  }

  /** The figures of a target's load levels pooled; null without readings in their windows. */
  @Nullable EngineFigures of(String target) {
    return of(levels.stream().filter(level -> level.target().equals(target)).toList());
  }

  /** GPU energy in the windows of some levels, in joules; null if unknown, or if they overlap. */
  @Nullable Double joules(List<LevelTally> some) {
    double sum = 0;
    for (LevelTally level : some) {
      EngineFigures of = of(List.of(level));
      Double joules = of == null ? null : of.joules();
      if (of == null || joules == null || overlapsOthers(level, of.isPowerShared())) {
        return null;
      }
      sum += joules;
    }
    return sum;
  }

  private boolean overlapsOthers(LevelTally own, boolean isPowerShared) {
    for (LevelTally other : levels) {
      if (other != own
          && (isPowerShared || other.target().equals(own.target()))
          && own.overlapNanos(other.from, other.to) > 0) {
        return true;
      }
    }
    return false;
  }

  List<Page> pages() {
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

  List<TargetPoints> overTime() {
    List<TargetPoints> all = new ArrayList<>();
    overTime.forEach(
        (target, buckets) -> {
          double width = buckets.width() / 1e9;
          List<Point> points = new ArrayList<>();
          List<WindowSums> each = buckets.all();
          for (int i = 0; i < each.size(); i++) {
            Map<EngineMetric, Double> values = each.get(i).values();
            if (!values.isEmpty()) {
              points.add(new Point(i * width, values, each.get(i).gpus()));
            }
          }
          all.add(new TargetPoints(target, points));
        });
    return all;
  }

  /** Counters of the whole run by engine; of all together if no page describes a single target. */
  List<WholeRun> wholeRun() {
    List<List<String>> engines = new ArrayList<>();
    for (String target : sent.keySet()) {
      engines.stream()
          .filter(others -> isOneEngine(others.get(0), target))
          .findFirst()
          .ifPresentOrElse(
              others -> others.add(target), () -> engines.add(new ArrayList<>(List.of(target))));
    }
    sent.keySet().stream()
        .filter(target -> pagesOf(target).findAny().isEmpty())
        .forEach(
            target ->
                engines.stream()
                    .filter(engine -> countsAlso(engine, target))
                    .findFirst()
                    .ifPresent(
                        engine -> {
                          engines.remove(List.of(target));
                          engine.add(target);
                        }));
    List<WholeRun> all = new ArrayList<>();
    engines.forEach(of -> add(of, of.get(0), sent(of), all));
    if (all.isEmpty()) {
      add(List.of(), null, sent(sent.keySet()), all);
    }
    return all;
  }

  private Span sent(Collection<String> to) {
    Span all = new Span();
    to.forEach(target -> all.add(sent.get(target)));
    return all;
  }

  /**
   * Whether two targets reach one engine, as a gateway and the server behind it do: their pages
   * count the same, and more than what one of the targets was sent.
   */
  private boolean isOneEngine(String one, String two) {
    EngineMetric finished = EngineMetric.REQUESTS_FINISHED;
    boolean isByRequest = pagesOf(one).anyMatch(page -> page.counted.containsKey(finished));
    EngineMetric counter = isByRequest ? finished : EngineMetric.GENERATION_TOKENS;
    double its = isByRequest ? requests(sent.get(one)) : sent.get(one).of(Amount.TOKENS);
    double others = isByRequest ? requests(sent.get(two)) : sent.get(two).of(Amount.TOKENS);
    return pagesOf(one)
        .filter(
            page ->
                page.counted.getOrDefault(counter, 0.0)
                    > Math.max(its, others) + Math.min(its, others) / 2)
        .anyMatch(page -> pagesOf(two).anyMatch(page::countsAs));
  }

  private static long requests(Span sent) {
    return sent.count(Amount.STARTED) + sent.count(Amount.INPUTS);
  }

  /** Whether an engine finished what a target without metrics was sent, too, and no more. */
  private boolean countsAlso(List<String> engine, String target) {
    Double finished = counted(engine.get(0), EngineMetric.REQUESTS_FINISHED, sent(engine));
    long all = requests(sent(engine)) + requests(sent.get(target));
    return !engine.contains(target)
        && finished != null
        && Math.abs(finished - all) <= Math.max(1, PageState.SAME * all);
  }

  private Stream<PageState> pagesOf(String target) {
    return pages.entrySet().stream()
        .filter(page -> target.equals(page.getKey().target()))
        .map(Map.Entry::getValue);
  }

  private void add(List<String> targets, @Nullable String target, Span of, List<WholeRun> to) {
    Double tokens = counted(target, EngineMetric.GENERATION_TOKENS, of);
    Double finished = counted(target, EngineMetric.REQUESTS_FINISHED, of);
    if (tokens != null || finished != null) {
      to.add(
          new WholeRun(
              targets,
              requests(of),
              of.count(Amount.OK),
              of.count(Amount.ABANDONED),
              of.count(Amount.TOKENS),
              of.tokensByServer(),
              tokens,
              finished));
    }
  }

  /** Null if a page was not read before and after the requests, or if its server was restarted. */
  private @Nullable Double counted(@Nullable String target, EngineMetric metric, Span requests) {
    double sum = 0;
    boolean isKnown = false;
    for (Map.Entry<PageKey, PageState> each : pages.entrySet()) {
      PageState page = each.getValue();
      Double counted = page.counted.get(metric);
      if (counted != null && Objects.equals(each.getKey().target(), target)) {
        ServerSample latest = page.latest;
        if (page.resets > 0
            || latest == null
            || requests.count(Amount.STARTED) == 0
            || page.first == null
            || requests.from < page.first.unixNanos()
            || requests.to > latest.unixNanos()) {
          return null;
        }
        sum += counted;
        isKnown = true;
      }
    }
    return isKnown ? (Double) sum : null;
  }
}
