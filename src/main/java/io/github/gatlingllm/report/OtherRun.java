package io.github.gatlingllm.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.figures.level.RunStatistics.OtherTool;
import io.github.gatlingllm.figures.level.RunStatistics.RecordSource;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.TokenGaps;
import io.github.gatlingllm.report.ExchangeFormat.ExportRow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.DoubleSummaryStatistics;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Results of another load generator as a run: the requests of its files as records, or, where they
 * have none, the figures that it computed. A folder of files is a run with a load level for each.
 */
record OtherRun(RunInfo info, OtherTool tool, List<Level> levels) implements RecordSource {

  private static final int MAX_DEPTH = 4;

  private static final Pattern STRATEGY =
      Pattern.compile("(concurrent|constant|poisson)@(\\d{1,9}(?:\\.\\d{1,9})?)");

  /** Later than this, a time in seconds counts from 1970; else from any instant. */
  private static final double EPOCH_S = 1e9;

  /** A load level of another tool is shorter than a day. */
  static final double MAX_S = 86_400;

  private static final long SECOND_NANOS = 1_000_000_000L;
  private static final long MICRO_NANOS = 1_000;

  /**
   * A load level.
   *
   * @param shiftNanos added to the times of its requests
   */
  private record Level(OtherFile file, LevelInfo info, long shiftNanos) {}

  /** Null if the place is not a file or a folder of results. Messages are one line. */
  static @Nullable OtherRun read(Path place) throws IOException {
    if (Files.isRegularFile(place)) {
      List<OtherFile> files = OtherFile.read(place);
      if (files.isEmpty()) {
        throw new IOException(
            place
                + " is not the folder of a run and not a known result of vllm bench, AIPerf,"
                + " GuideLLM, inference-perf or llm-d (Benchmark Report)");
      }
      return of(files);
    }
    List<OtherFile> files = new ArrayList<>();
    if (Files.isDirectory(place)) {
      try (Stream<Path> below = Files.walk(place, MAX_DEPTH)) {
        for (Path file : below.filter(Files::isRegularFile).sorted().toList()) {
          if (file.getFileName().toString().matches(".*\\.(json|ya?ml|csv)")) {
            files.addAll(OtherFile.read(file));
          }
        }
      }
    }
    return files.isEmpty() ? null : of(files);
  }

  private static OtherRun of(List<OtherFile> files) throws IOException {
    String tool = files.get(0).format().name().replaceFirst("-(csv|requests)$", "");
    List<Part> parts = new ArrayList<>();
    for (OtherFile file : files) {
      parts.add(Part.of(file));
    }
    parts.sort(
        Comparator.comparing(
            part -> Objects.requireNonNullElse(part.load().offered, Double.MAX_VALUE)));
    check(parts);
    List<Level> levels = new ArrayList<>();
    List<Figures> given = new ArrayList<>();
    Map<Metric, String> definitions = new EnumMap<>(Metric.class);
    double first = parts.get(0).firstS;
    long start =
        first > EPOCH_S
            ? nanos(first)
            : Files.getLastModifiedTime(files.get(0).file()).toMillis() * 1_000_000;
    long at = start;
    for (Part part : parts) {
      long shift = at - nanos(part.firstS);
      long end = nanos(part.lastS) + shift + MICRO_NANOS;
      levels.add(new Level(part.file, part.load().level(tool, at, end), shift));
      define(definitions, part.file.format().levels());
      if (part.hasRequests) {
        define(definitions, part.file.format().requests());
      } else {
        given.add(figures(part.file, part.facts));
      }
      at = end + SECOND_NANOS; // one after the other, whatever their clocks
    }
    RunInfo info =
        RunInfo.started(tool, tool, tool, start)
            .stages(levels.stream().map(Level::info).toList())
            .ended(at, RunInfo.State.COMPLETE);
    return new OtherRun(info, new OtherTool(tool, definitions, given), levels);
  }

  private static void check(List<Part> parts) throws IOException {
    Part first = parts.get(0);
    for (int i = 1; i < parts.size(); i++) {
      Part part = parts.get(i);
      if (part.load().equals(parts.get(i - 1).load())
          || !part.file.format().equals(first.file.format())
          || part.hasRequests != first.hasRequests) {
        throw new IOException(
            "%s is beside %s: expected files of one kind, one for each load level"
                .formatted(part.file.file(), parts.get(i - 1).file.file()));
      }
    }
  }

  /** A definition of its requests replaces that of its figures. */
  private static void define(Map<Metric, String> definitions, List<ExportRow> rows) {
    for (ExportRow row : rows) {
      String figure =
          row.figure()
              .replaceFirst("_s$", "")
              .replaceFirst("^latency$", "e2e")
              .replaceFirst("^gaps$", "itl")
              .replaceFirst("^times$", "ttft");
      Metric metric =
          row.isRead() && !row.differs().isEmpty() ? metric(row.figure(), figure) : null;
      if (metric != null) {
        definitions.put(metric, row.differs());
      }
    }
  }

  private static @Nullable Metric metric(String... names) {
    for (String name : names) {
      for (String figure : List.of(name, name + ".mean")) {
        if (Figure.names().contains(figure)) {
          return Figure.parse(figure).metric();
        }
      }
    }
    return null;
  }

  // ---- load levels

  private static @Nullable Double number(Map<String, JsonNode> facts, String name) {
    JsonNode value = facts.get(name);
    return value != null && value.isNumber() && Double.isFinite(value.doubleValue())
        ? (Double) value.doubleValue()
        : null;
  }

  /** The load of a level; without a number where the file does not contain it. */
  private record Load(boolean isRate, @Nullable Double offered) {

    static Load of(Map<String, JsonNode> facts) {
      Double rate = number(facts, "rate");
      JsonNode strategy = facts.get("strategy");
      Matcher named = STRATEGY.matcher(strategy == null ? "" : strategy.asText());
      if (named.matches()) {
        boolean isRate = !named.group(1).equals("concurrent");
        return new Load(isRate, Double.valueOf(named.group(2)));
      }
      return rate == null ? new Load(false, number(facts, "concurrency")) : new Load(true, rate);
    }

    LevelInfo level(String tool, long start, long end) {
      return new LevelInfo(
          offered == null
              ? LevelInfo.ENTIRE_RUN
              : (isRate ? "r=" : "c=") + NumberText.plain(offered),
          tool,
          null,
          isRate ? LevelInfo.OPEN_LOOP : LevelInfo.CLOSED_LOOP,
          offered,
          isRate ? LevelInfo.REQUESTS_PER_S : "concurrent",
          List.of(new PhaseWindow(Phase.MEASURE, start, end)));
    }
  }

  /** A level before it has its place in the run: from its first request to the last end. */
  private record Part(
      OtherFile file,
      Map<String, JsonNode> facts,
      boolean hasRequests,
      double firstS,
      double lastS) {

    static Part of(OtherFile file) throws IOException {
      Map<String, JsonNode> facts = file.facts();
      DoubleSummaryStatistics starts = new DoubleSummaryStatistics();
      DoubleSummaryStatistics ends = new DoubleSummaryStatistics();
      file.requests(
          request -> {
            Map<String, Double> values = file.numbers(request);
            Double start = values.get("admitted_s");
            if (start != null) {
              starts.accept(start);
              ends.accept(start + OtherFile.latency(values, start));
            }
          });
      long count = starts.getCount();
      double first = starts.getMin();
      double last = ends.getMax();
      long counted = count(facts, "ok", "failed");
      if (count > 0 && counted > count) {
        PrintableText.print(
            "LLM: %s has the values of %s of its %s requests; its summary is compared"
                .formatted(file.file(), count, counted));
      }
      boolean isComplete = count > 0 && counted <= count && last - first < MAX_S;
      double seconds = isComplete ? last - first : duration(file, facts);
      return new Part(file, facts, isComplete, isComplete ? first : 0, isComplete ? last : seconds);
    }

    Load load() {
      return Load.of(facts);
    }
  }

  static long nanos(double seconds) {
    return Math.round(seconds * 1e9);
  }

  private static double duration(OtherFile file, Map<String, JsonNode> facts) throws IOException {
    Double seconds = number(facts, "duration_s");
    JsonNode duration = facts.get("duration_s");
    try {
      return Math.min(
          MAX_S,
          Math.max(
              1,
              seconds != null
                  ? seconds
                  : duration == null ? 1 : Duration.parse(duration.asText()).toMillis() / 1e3));
    } catch (DateTimeParseException | ArithmeticException e) {
      throw new IOException(
          "%s has the duration %.40s; expected one such as PT60S".formatted(file.file(), duration),
          e);
    }
  }

  // ---- figures of summaries

  private static Figures figures(OtherFile file, Map<String, JsonNode> facts) throws IOException {
    Map<Metric, Distribution> metrics = new EnumMap<>(Metric.class);
    Map<Metric, @Nullable Double> numbers = new EnumMap<>(Metric.class);
    long failed = count(facts, "failed", "errors.count + rate_limited.count");
    long cut = count(facts, "cancelled.count + abandoned.count");
    long started = count(facts, "started.count");
    long ok = Math.max(0, started > 0 ? started - failed - cut : count(facts, "ok"));
    for (ExportRow row : file.format().levels()) {
      Metric metric = row.isRead() ? metric(row.figure()) : null;
      if (metric != null && metric.isDistribution()) {
        Distribution values = distribution(file, row, ok);
        if (!values.isEmpty()) {
          metrics.put(metric, values);
        }
      } else if (metric != null && !row.figure().contains(".")) {
        numbers.put(metric, file.number(file.tree(), row, file.format().mean()));
      }
    }
    Figures.Counts counts =
        new Figures.Counts(
            null,
            ok + failed + cut,
            ok + failed,
            ok,
            cut,
            Map.of(RequestStatus.COMPLETE.key(), ok));
    return new Figures(
        metrics,
        numbers,
        null,
        null,
        null,
        TokenGaps.READING_SPEED,
        List.of(),
        Map.of(),
        counts,
        Map.of(),
        null,
        List.of());
  }

  private static long count(Map<String, JsonNode> facts, String... names) {
    return Stream.of(names)
        .map(name -> number(facts, name))
        .filter(Objects::nonNull)
        .mapToLong(number -> Math.round(Math.max(0, Math.min(1e12, number))))
        .sum();
  }

  private static Distribution distribution(OtherFile file, ExportRow row, long ok)
      throws IOException {
    Map<String, Double> values = new HashMap<>();
    for (Map.Entry<String, String> each : file.format().statistics().entrySet()) {
      Double value = file.number(file.tree(), row, each.getKey());
      if (value != null) {
        values.put(each.getValue(), each.getValue().equals("count") ? value * row.factor() : value);
      }
    }
    return values.get("mean") == null
        ? Distribution.EMPTY
        : new Distribution(
            Math.round(values.getOrDefault("count", (double) Math.max(1, ok))),
            values.get("mean"),
            values.get("std"),
            values.get("min"),
            values.get("p1"),
            values.get("p5"),
            values.get("p10"),
            values.get("p50"),
            values.get("p75"),
            values.get("p90"),
            values.get("p95"),
            values.get("p99"),
            values.get("p99.9"),
            values.get("max"),
            null,
            null,
            null,
            List.of());
  }

  // ---- requests

  @Override
  public ReadReport replay(Consumer<RequestRecord> sink) throws IOException {
    AtomicLong records = new AtomicLong();
    AtomicLong refused = new AtomicLong();
    SortedMap<Long, String> bad = new TreeMap<>();
    for (Level level : tool.given().isEmpty() ? levels : List.<Level>of()) {
      AtomicLong index = new AtomicLong();
      level.file.requests(
          request -> {
            long i = index.getAndIncrement();
            try {
              ObjectNode line = level.file.line(request, i, level.info, level.shiftNanos);
              if (line != null) {
                sink.accept(RecordFile.record(ExchangeFormat.JSON.writeValueAsBytes(line)));
                records.incrementAndGet();
              }
            } catch (IOException | IllegalArgumentException e) {
              refused.incrementAndGet();
              if (bad.size() < 5) {
                bad.putIfAbsent(i + 1, OtherFile.oneLine(e.getMessage()));
              }
            }
          });
    }
    if (records.get() == 0 && refused.get() > 0) {
      throw new IOException(
          levels.get(0).file.file()
              + " has no request with possible values: "
              + bad.get(bad.firstKey()));
    }
    return new ReadReport(records.get(), 0, refused.get(), bad);
  }
}
