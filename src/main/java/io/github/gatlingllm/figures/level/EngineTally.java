package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.EngineFigures.EnginePage;
import io.github.gatlingllm.figures.metric.EngineFigures.EnginePoint;
import io.github.gatlingllm.figures.metric.EngineFigures.EngineRun;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.record.ServerSample.SampleKind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.ObjDoubleConsumer;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Computes figures by load level and over time from the readings of {@code llm/server.jsonl}, in
 * the order of the file. Bounded memory: sums per load level and time bucket, and the latest
 * reading of each page.
 */
final class EngineTally {

  /** Older readings of a page are not combined with current ones of other pages. */
  private static final long STALE_NANOS = 10_000_000_000L;

  private static final String PREFILL = "prefill";
  private static final String DECODE = "decode";

  private final long origin;
  final List<LevelWindow> levels;
  private final List<String> targets;
  private final Map<PageKey, PageState> pages = new LinkedHashMap<>();
  private final Map<String, Sent> sent = new LinkedHashMap<>();
  private final Map<String, TimeBuckets<WindowSums>> overTime = new LinkedHashMap<>();

  private record PageKey(@Nullable String target, String url) {}

  /** What was read so far from one metrics page. */
  private static final class PageState {

    /** Two counters are one if they differ by at most this share of their growth. */
    private static final double SAME = 0.01;

    private final PageKey key;
    private @Nullable String role;
    private @Nullable ServerSample first;
    private @Nullable ServerSample latest;
    private String source = "";
    private long readings;
    private long failed;
    private long resets;
    private @Nullable String lastError;
    private final Map<EngineMetric, Double> counted = new EnumMap<>(EngineMetric.class);
    private final Set<EngineMetric> read = EnumSet.noneOf(EngineMetric.class);
    private final Map<EngineMetric, String> names = new EnumMap<>(EngineMetric.class);

    private PageState(PageKey key) {
      this.key = key;
    }

    private boolean describes(String target) {
      return key.target == null || key.target.equals(target);
    }

    private boolean hasRole(@Nullable String other) {
      return other == null || other.equals(role);
    }

    /** Adds a reading; whether it has values that are later than those before. */
    private boolean add(ServerSample sample) {
      readings++;
      source = sample.source().isEmpty() ? source : sample.source();
      if (sample.error() != null) {
        failed++;
        lastError = sample.error();
        return false;
      }
      if (latest != null && sample.unixNanos() < latest.unixNanos()) {
        return false;
      }
      resets += sample.reset() ? 1 : 0;
      names.putAll(sample.names());
      read.addAll(sample.values().keySet());
      first = first == null ? sample : first;
      latest = sample;
      return true;
    }

    private EnginePage page() {
      return new EnginePage(
          key.target, role, key.url, source, readings, failed, resets, lastError, names);
    }

    /** Whether it was read before and after some requests, and its server was not restarted. */
    private boolean covers(Sent requests) {
      return resets == 0
          && first != null
          && latest != null
          && requests.from >= first.unixNanos()
          && requests.to <= latest.unixNanos()
          && requests.requests > 0;
    }

    /** Whether each counter had the same value on both pages, before the load and after it. */
    private boolean countsAs(PageState other) {
      return !counted.isEmpty()
          && resets + other.resets == 0
          && source.equals(other.source)
          && counted.keySet().equals(other.counted.keySet())
          && counted.keySet().stream()
              .allMatch(
                  of ->
                      isSame(of, first, other.first, other)
                          && isSame(of, latest, other.latest, other));
    }

    private boolean isSame(
        EngineMetric counter,
        @Nullable ServerSample own,
        @Nullable ServerSample theirs,
        PageState other) {
      Double one = own == null ? null : own.value(counter);
      Double two = theirs == null ? null : theirs.value(counter);
      double grown = Math.max(counted.get(counter), other.counted.get(counter));
      return one != null && two != null && Math.abs(one - two) <= SAME * grown;
    }
  }

  /** What was sent to a target over the entire run, to be compared with what its engine counted. */
  private static final class Sent {
    private long from = Long.MAX_VALUE;
    private long to = Long.MIN_VALUE;

    /** An engine counts each text to embed as a request. */
    private long requests;

    private long ok;
    private long abandoned;
    private long tokens;
    private double onlyOurs;
    private double bothByServer;
    private double bothByUs;

    void add(RequestRecord record, long admitted) {
      Long closed = record.timing().closedUnixNanos();
      from = Math.min(from, admitted);
      to = Math.max(to, closed == null ? admitted : closed);
      RequestRecord.Tokens of = record.tokens();
      requests += of.inputs() == null ? 1 : of.inputs();
      ok += record.outcome().ok() ? 1 : 0;
      abandoned += record.outcome().status() == RequestStatus.ABANDONED ? 1 : 0;
      int all = of.outputTokens() == null ? 0 : of.outputTokens();
      tokens += all;
      Integer ours = of.outputTokensLocal();
      if (of.source() == RequestRecord.TokenSource.TOKENIZER) {
        onlyOurs += all;
      } else if (ours != null && of.streamedTokens() != null) {
        bothByServer += of.streamedTokens();
        bothByUs += ours;
      }
    }

    /** See {@link EngineRun}. */
    double tokensByServer() {
      double perOurs = bothByUs > 0 && bothByServer > 0 ? bothByServer / bothByUs : 1;
      return tokens + onlyOurs * (perOurs - 1);
    }

    void add(Sent other) {
      from = Math.min(from, other.from);
      to = Math.max(to, other.to);
      requests += other.requests;
      ok += other.ok;
      abandoned += other.abandoned;
      tokens += other.tokens;
      onlyOurs += other.onlyOurs;
      bothByServer += other.bothByServer;
      bothByUs += other.bothByUs;
    }
  }

  /** Of the planned levels: those that follow have no window. */
  EngineTally(long origin, List<LevelWindow> planned) {
    this.origin = origin;
    levels = List.copyOf(planned);
    targets = levels.stream().map(LevelWindow::target).distinct().toList();
  }

  void add(RequestRecord record) {
    Sent of = sent.computeIfAbsent(record.identity().target(), t -> new Sent());
    Long admitted = record.timing().admittedUnixNanos();
    if (admitted != null) {
      of.add(record, admitted);
    }
  }

  void add(ServerSample sample) {
    PageKey key = new PageKey(sample.target(), sample.url());
    PageState page = pages.computeIfAbsent(key, PageState::new);
    page.role = sample.role();
    ServerSample before = page.latest;
    List<String> described = sample.target() == null ? targets : List.of(sample.target());
    for (String target : described) {
      for (LevelWindow level : at(target, sample.unixNanos())) {
        roles(sample)
            .forEach(
                role -> level.engine.role(role).reading(sample.error() != null, sample.reset()));
      }
    }
    if (page.add(sample)) {
      described.forEach(target -> gauges(target, sample));
      if (before != null) {
        growth(page, described, before, sample);
      }
    }
  }

  private List<LevelWindow> at(String target, long unixNanos) {
    return levels.stream()
        .filter(level -> level.target().equals(target) && level.contains(unixNanos))
        .toList();
  }

  private WindowSums bucket(String target, long at) {
    if (at < origin) {
      return new WindowSums();
    }
    return overTime
        .computeIfAbsent(
            target,
            t ->
                new TimeBuckets<>(
                    origin, 1_000_000_000L, Series.MAX_BUCKETS, WindowSums::new, WindowSums::add))
        .at(at);
  }

  private void gauges(String target, ServerSample sample) {
    long at = sample.unixNanos();
    List<WindowSums> sums = new ArrayList<>(List.of(bucket(target, at)));
    at(target, at).forEach(level -> sums.add(level.engine));
    for (WindowSums of : sums) {
      sample.gpus().forEach((name, values) -> of.gpu(name, values, (at - origin) / 1e9));
    }
    for (EngineMetric metric : sample.values().keySet()) {
      if (metric.kind() == SampleKind.GAUGE) {
        for (String role : roles(sample)) {
          double all = ofAllPages(target, role, metric, at);
          sums.forEach(of -> of.role(role).gauge(metric, all, sample.target() == null));
        }
      }
    }
  }

  private double ofAllPages(String target, @Nullable String role, EngineMetric metric, long now) {
    return metric.ofAll(
        pages.values().stream()
            .filter(page -> page.describes(target) && page.hasRole(role))
            .flatMap(page -> Stream.ofNullable(page.latest))
            .filter(latest -> now - latest.unixNanos() <= STALE_NANOS)
            .flatMap(latest -> Stream.ofNullable(latest.value(metric))));
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
              if (metric.kind() == SampleKind.COUNTER && old != null) {
                counters.put(metric, sample.reset() || value < old ? value : value - old);
              }
            });
    counters.forEach((metric, grown) -> page.counted.merge(metric, grown, Double::sum));
    for (String target : described) {
      divide(
          target,
          before,
          sample,
          (of, part) -> {
            for (String role : roles(sample)) {
              WindowSums sums = of.role(role);
              counters.forEach(
                  (metric, grown) -> {
                    double own = seconds / pagesWith(target, role, metric);
                    sums.counter(metric, grown * part, own * part, isShared);
                  });
              sums.histograms(before, sample, part);
            }
          });
    }
  }

  /**
   * Number of pages with a counter, by which the seconds of each page's growth are divided: those
   * that were read once too, whose growth in the same time is in their next reading.
   */
  private long pagesWith(String target, @Nullable String role, EngineMetric counter) {
    return pages.values().stream()
        .filter(page -> page.describes(target) && page.hasRole(role))
        .filter(page -> page.read.contains(counter))
        .count();
  }

  /**
   * Passes on each window of a target that overlaps the time between two readings, with the share
   * of the time in it, and the bucket of its middle.
   */
  private void divide(
      String target, ServerSample before, ServerSample sample, ObjDoubleConsumer<WindowSums> sink) {
    long from = before.unixNanos();
    long nanos = sample.unixNanos() - from;
    for (LevelWindow level : levels) {
      long overlap = level.overlapNanos(from, from + nanos);
      if (overlap > 0 && level.target().equals(target)) {
        sink.accept(level.engine, (double) overlap / nanos);
      }
    }
    sink.accept(bucket(target, from + nanos / 2), 1);
  }

  /** The figures of some load levels pooled; null without readings in their windows. */
  @Nullable EngineFigures of(Predicate<LevelWindow> some) {
    WindowSums all = new WindowSums();
    double seconds = 0;
    for (LevelWindow level : levels.stream().filter(some).toList()) {
      all.add(level.engine);
      seconds += level.nanos() / 1e9;
    }
    return all.figures(seconds);
  }

  /** GPU energy in the windows of some levels, in joules; null if unknown, or if they overlap. */
  @Nullable Double joules(List<LevelWindow> some) {
    double sum = 0;
    for (LevelWindow level : some) {
      EngineFigures of = of(level::equals);
      Double joules = of == null ? null : of.joules();
      if (of == null || joules == null || overlapsOthers(level, of.isPowerShared())) {
        return null;
      }
      sum += joules;
    }
    return sum;
  }

  private boolean overlapsOthers(LevelWindow own, boolean isPowerShared) {
    return levels.stream()
        .filter(other -> other != own)
        .filter(other -> isPowerShared || other.target().equals(own.target()))
        .anyMatch(other -> own.overlapNanos(other.from, other.to) > 0);
  }

  List<EnginePage> pages() {
    return pages.values().stream().map(PageState::page).toList();
  }

  /** By target. */
  Map<String, List<EnginePoint>> overTime() {
    Map<String, List<EnginePoint>> all = new LinkedHashMap<>();
    overTime.forEach((target, buckets) -> all.put(target, points(buckets)));
    return all;
  }

  private static List<EnginePoint> points(TimeBuckets<WindowSums> buckets) {
    double width = buckets.width() / 1e9;
    List<WindowSums> each = buckets.all();
    return IntStream.range(0, each.size())
        .mapToObj(i -> new EnginePoint(i * width, each.get(i).values(), each.get(i).gpus()))
        .filter(point -> !point.values().isEmpty())
        .toList();
  }

  /**
   * Counters of the entire run by engine; of all engines in one if no page describes a single
   * target.
   */
  List<EngineRun> entireRun() {
    List<List<String>> engines = new ArrayList<>();
    for (String target : sent.keySet()) {
      engines.stream()
          .filter(others -> isOneEngine(others.get(0), target))
          .findFirst()
          .ifPresentOrElse(
              others -> others.add(target), () -> engines.add(new ArrayList<>(List.of(target))));
    }
    for (String target : sent.keySet()) {
      List<String> same =
          engines.stream()
              .filter(engine -> pagesOf(target).findAny().isEmpty() && countsAlso(engine, target))
              .findFirst()
              .orElse(null);
      if (same != null) {
        engines.remove(List.of(target));
        same.add(target);
      }
    }
    List<EngineRun> all = new ArrayList<>();
    engines.forEach(of -> add(of, of.get(0), sent(of), all));
    if (all.isEmpty()) {
      add(List.of(), null, sent(sent.keySet()), all);
    }
    return all;
  }

  private Sent sent(Collection<String> to) {
    Sent all = new Sent();
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
    double its = isByRequest ? sent.get(one).requests : sent.get(one).tokens;
    double others = isByRequest ? sent.get(two).requests : sent.get(two).tokens;
    return pagesOf(one)
        .filter(
            page ->
                page.counted.getOrDefault(counter, 0.0)
                    > Math.max(its, others) + Math.min(its, others) / 2)
        .anyMatch(page -> pagesOf(two).anyMatch(page::countsAs));
  }

  /** Whether an engine finished what a target without metrics was sent, too, and no more. */
  private boolean countsAlso(List<String> engine, String target) {
    Double finished = counted(engine.get(0), EngineMetric.REQUESTS_FINISHED, sent(engine));
    long all = sent(engine).requests + sent.get(target).requests;
    return !engine.contains(target)
        && finished != null
        && Math.abs(finished - all) <= Math.max(1, PageState.SAME * all);
  }

  /** Without those of prefill, which counts each request and its first token too. */
  private Stream<PageState> pagesOf(@Nullable String target) {
    List<PageState> all =
        pages.values().stream().filter(page -> Objects.equals(target, page.key.target)).toList();
    boolean hasDecode = all.stream().anyMatch(page -> DECODE.equals(page.role));
    return all.stream().filter(page -> !hasDecode || !PREFILL.equals(page.role));
  }

  /** All pages, for which null stands, and those of the role of this one. */
  private static List<@Nullable String> roles(ServerSample sample) {
    return sample.role() == null
        ? Arrays.asList((String) null)
        : Arrays.asList(null, sample.role());
  }

  private void add(List<String> targets, @Nullable String target, Sent of, List<EngineRun> to) {
    Double tokens = counted(target, EngineMetric.GENERATION_TOKENS, of);
    Double finished = counted(target, EngineMetric.REQUESTS_FINISHED, of);
    if (tokens != null || finished != null) {
      to.add(
          new EngineRun(
              targets,
              of.requests,
              of.ok,
              of.abandoned,
              of.tokens,
              of.tokensByServer(),
              tokens,
              finished));
    }
  }

  /** Null if a page was not read before and after the requests, or if its server was restarted. */
  private @Nullable Double counted(@Nullable String target, EngineMetric metric, Sent requests) {
    List<PageState> own = pagesOf(target).filter(page -> page.counted.containsKey(metric)).toList();
    return own.isEmpty() || !own.stream().allMatch(page -> page.covers(requests))
        ? null
        : (Double) own.stream().mapToDouble(page -> page.counted.get(metric)).sum();
  }
}
