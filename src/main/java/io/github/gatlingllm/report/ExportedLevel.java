package io.github.gatlingllm.report;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.DecimalNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Series.Bucket;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.record.TokenGaps;
import io.github.gatlingllm.report.ExchangeFormat.ExportRow;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What files of other formats contain of a load level: the values of its requests scheduled in
 * measure, of which distributions have those that were ok, and facts by the names in {@code
 * exchange.txt}.
 */
final class ExportedLevel {

  private static final MathContext DIGITS = new MathContext(12);

  private final RunInfo run;
  private final Summary summary;
  private final RunFigures figures;
  private final LevelFigures level;
  private final Map<String, ValueRecorder> values = new HashMap<>();
  private final Set<String> sessions = new HashSet<>();
  private final Map<String, Object> facts = new TreeMap<>();
  private long requests;
  private long ok;
  private long first = Long.MAX_VALUE;
  private long last = Long.MIN_VALUE;

  ExportedLevel(RunFigures figures, int stage) {
    run = figures.info();
    this.figures = figures;
    summary = figures.summary();
    level = summary.stages().get(stage);
    facts.put("stage", stage);
  }

  /** Its name in names of files. */
  String fileName() {
    return summary.place(level.info()).replaceAll("[^A-Za-z0-9=._#-]+", "-");
  }

  long runStartUnixNanos() {
    return run.startUnixNanos();
  }

  boolean isOf(RequestRecord.Identity id) {
    LevelInfo.Key key = LevelInfo.Key.of(id, level.scenario() == null ? null : id.scenario());
    return id.phase() == Phase.MEASURE
        && level.target().equals(key.target())
        && LevelInfo.unnumbered(key.label()).equals(LevelInfo.unnumbered(level.label()))
        && Objects.equals(level.scenario(), key.scenario());
  }

  // ---- requests

  void add(RequestRecord record) {
    if (!isOf(record.identity())) {
      return;
    }
    requests++;
    RequestRecord.Timing timing = record.timing();
    Long admitted = timing.admittedUnixNanos();
    Long closed = timing.closedUnixNanos();
    first = Math.min(first, admitted == null ? timing.startUnixNanos() : admitted);
    last = Math.max(last, closed == null ? timing.startUnixNanos() : closed);
    if (record.identity().session() != null) {
      sessions.add(record.identity().session().id());
    }
    if (record.outcome().ok()) {
      ok++;
      for (Metric metric : Metric.ofRequests()) {
        if (metric.isDistribution()) {
          add(metric, metric.of(record, run.report().readingSpeed()), 1);
        }
      }
      add("tpot_less_one", millisPerToken(record, 1));
      add("tpot_less_first", millisPerToken(record, firstTokens(record)));
      TokenGaps.visit(
          record.events(),
          record.tokens(),
          (i, chunk, perToken, count) -> {
            add(Metric.ICL_MS, chunk / 1e3, 1);
            add(Metric.ITL_MS, perToken / 1e3, count);
          });
    }
  }

  private void add(Metric metric, double value, long weight) {
    if (!Double.isNaN(value)) {
      values.computeIfAbsent(metric.figure(), name -> metric.recorder()).add(value, weight);
    }
  }

  private void add(String name, @Nullable Double millis) {
    if (millis != null) {
      values.computeIfAbsent(name, any -> new ValueRecorder(ValueRecorder.MICROS)).add(millis);
    }
  }

  static int firstTokens(RequestRecord record) {
    Integer tokens = record.events().firstEventTokens();
    return tokens == null ? 1 : tokens;
  }

  /** (E2E − TTFT) ÷ (output tokens − those of the first chunk), as other tools define it. */
  static @Nullable Double millisPerToken(RequestRecord record, int firstTokens) {
    Long ttft = record.timing().ttftNanos();
    Long latency = record.timing().latencyNanos();
    Integer tokens = record.tokens().outputTokens();
    return ttft == null || latency == null || tokens == null || tokens <= firstTokens
        ? null
        : (Double) ((latency - ttft) / 1e6 / (tokens - firstTokens));
  }

  // ---- facts

  /** After all requests: what rows name besides figures. */
  void complete() {
    LevelInfo info = level.info();
    Long start = info.measured().map(LevelInfo.PhaseWindow::startUnixNanos).orElse(null);
    Double seconds = level.durationS();
    String name = summary.place(info);
    Map<String, String> config = new TreeMap<>(run.config());
    config.values().removeIf(RunInfo.REDACTED::equals);
    String page = engineOfPage();
    String set = config.getOrDefault("engineVersion", page);
    String engine = set.contains(" ") || set.equals(page) ? set : page + " " + set;
    String model = String.join(", ", summary.workload().models().keySet());
    facts.put("uid", UUID.nameUUIDFromBytes((run.id() + name).getBytes(StandardCharsets.UTF_8)));
    facts.put("run", run.id());
    facts.put("level", name);
    facts.put("description", "gatling-llm " + run.simulation() + " " + name);
    facts.put("version", run.versions().getOrDefault("gatling-llm", ""));
    facts.put("target", level.target());
    facts.put("injectors", Math.max(1, summary.run().injectors().size()));
    facts.put("settings", config);
    facts.put("nothing", Map.of());
    facts.put(
        "source",
        config.containsKey("dataset")
            ? "sampled"
            : config.containsKey("promptTokens") ? "random" : "unknown");
    facts.put("requests", requests);
    facts.put("ok", ok);
    facts.put("failed", requests - ok);
    if (start != null && seconds != null) {
      long end = start + Math.round(seconds * 1e9);
      facts.put("start", Instant.ofEpochSecond(0, start).toString());
      facts.put("end", Instant.ofEpochSecond(0, end).toString());
      facts.put("duration", Duration.ofNanos(end - start).toString());
      facts.put(
          "date",
          DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT)
              .format(Instant.ofEpochSecond(0, start).atOffset(ZoneOffset.UTC)));
    }
    if (last > first) {
      facts.put("duration_s", (last - first) / 1e9);
    }
    if (!model.isEmpty()) {
      facts.put("model", model);
    }
    if (!engine.isEmpty()) {
      String[] words = engine.split(" ", 2);
      facts.put("engine", words[0]);
      facts.put("engine_version", words.length < 2 ? "unknown" : words[1]);
      facts.put(
          "cfg_id", UUID.nameUUIDFromBytes((engine + model).getBytes(StandardCharsets.UTF_8)));
    }
    Double gpus = run.targets().containsKey(level.target()) ? gpus() : null;
    if (gpus != null) {
      facts.put("gpus", Math.round(gpus));
    }
    if (!sessions.isEmpty() && values.containsKey(Metric.SESSION_MS.figure())) {
      facts.put("sessions", sessions.stream().filter(id -> id.split("/", -1).length < 3).count());
    }
    if (level.serverMetrics() != null) {
      facts.put("observed", level.target());
    }
    boolean isRate = info.unit().endsWith("/s");
    if (level.offered() != null) {
      facts.put(isRate ? "rate" : "concurrency", integerIfExact(level.offered()));
    }
    facts.put("rate_or_inf", isRate && level.offered() != null ? level.offered() : "inf");
    Set<String> apis = summary.workload().apis().keySet();
    if (apis.size() == 1) {
      String api = apis.iterator().next();
      facts.put("endpoint_type", api.equals("chat") ? "openai-chat" : api);
    }
    ValueRecorder prompts = values.get(Metric.PROMPT_TOKENS.figure());
    length("input_seq_len", config.getOrDefault("promptTokens", ""), prompts);
    if (run.isOutputPinned(level.target())) {
      length("output_seq_len", config.getOrDefault("maxTokens", ""), null);
    }
  }

  private String engineOfPage() {
    return summary.serverPages().stream()
        .filter(page -> level.target().equals(page.target()) && page.readings() > 0)
        .map(EngineFigures.EnginePage::source)
        .findFirst()
        .orElse("");
  }

  private @Nullable Double gpus() {
    Double set = requireNonNull(run.targets().get(level.target())).gpus();
    EngineFigures engine = level.serverMetrics();
    EngineFigures.EngineState read = engine == null ? null : engine.states().get(EngineMetric.GPUS);
    return set != null || read == null ? set : (Double) read.max();
  }

  /** A length as it was set, if that is one number; else the mean of those that were sent. */
  private void length(String fact, String set, @Nullable ValueRecorder sent) {
    boolean isFixed = set.matches("\\d{1,9}");
    if (isFixed || sent != null) {
      double value = isFixed ? Double.parseDouble(set) : requireNonNull(sent).moments().mean();
      String distribution = isFixed ? "fixed" : "other";
      Map<String, Object> length = new TreeMap<>(); // in a fixed order, unlike Map.of
      length.put("distribution", distribution);
      length.put("value", integerIfExact(value));
      facts.put(fact, length);
    }
  }

  private static Object integerIfExact(double number) {
    return number == Math.rint(number) ? (Object) (long) number : (Object) number;
  }

  // ---- values of rows

  /** The tree of the level in a format. */
  ObjectNode tree(ExchangeFormat format) {
    ObjectNode tree = ExchangeFormat.JSON.createObjectNode();
    Set<String> omitted = new HashSet<>();
    for (ExportRow row : format.levels()) {
      if (!row.isWritten() || omitted.contains(row.optional())) {
        continue;
      }
      boolean isKnown =
          row.path().contains("*")
              ? putStatistics(tree, row, format.statistics())
              : row.path().endsWith("~") ? putSeries(tree, row) : putValue(tree, row);
      if (!isKnown && row.optional() != null) {
        omitted.add(row.optional());
      }
    }
    omitted.forEach(path -> remove(tree, path));
    return tree;
  }

  private static void remove(ObjectNode tree, String path) {
    int end = path.lastIndexOf('.');
    JsonNode parent = end < 0 ? tree : ExchangeFormat.at(tree, path.substring(0, end));
    if (parent instanceof ObjectNode object) {
      object.remove(path.substring(end + 1));
    }
  }

  private boolean putValue(ObjectNode tree, ExportRow row) {
    JsonNode value = value(row);
    if (value != null) {
      ExchangeFormat.put(tree, row.plainPath(), value);
    }
    return value != null;
  }

  private @Nullable JsonNode value(ExportRow row) {
    Object fact = facts.get(row.figure());
    if (row.text() != null) {
      return row.text();
    }
    if (fact != null && !(fact instanceof Double)) {
      return ExchangeFormat.JSON.valueToTree(fact);
    }
    Double number = number(row.figure());
    return number == null ? null : decimal(number * row.factor());
  }

  /** A figure, a sum of the values of a distribution, or an expression of these. */
  private @Nullable Double number(String expression) {
    String[] parts = expression.split(" / ", -1);
    if (parts.length > 1) {
      Double part = number(parts[0]);
      Double all = number(parts[1]);
      return part == null || all == null || all == 0 ? null : (Double) (part / all);
    }
    String[] terms = expression.split(" \\+ ", -1);
    if (terms.length > 1) {
      Double one = number(terms[0]);
      Double other = number(terms[1]);
      return one == null || other == null ? null : (Double) (one + other);
    }
    if (facts.get(expression) instanceof Number fact) {
      return fact.doubleValue();
    }
    if (expression.endsWith(".sum")) {
      ValueRecorder of = values.get(expression.replace(".sum", ""));
      return of == null ? null : (Double) of.sum();
    }
    return Figure.names().contains(expression)
        ? Figure.parse(expression).of(level.figures())
        : null;
  }

  static DecimalNode decimal(double number) {
    BigDecimal rounded = BigDecimal.valueOf(number).round(DIGITS).stripTrailingZeros();
    return DecimalNode.valueOf(rounded.setScale(Math.max(0, rounded.scale())));
  }

  /** The statistics of a distribution; of a single number its mean. */
  private boolean putStatistics(ObjectNode tree, ExportRow row, Map<String, String> names) {
    ValueRecorder of = values.get(row.figure());
    EngineFigures.EngineState state = state(row.figure());
    Double single = of == null && state == null ? number(row.figure()) : null;
    if (of == null && state == null && single == null) {
      return false;
    }
    names.forEach(
        (name, statistic) -> {
          Double value =
              of != null
                  ? statistic(of, statistic)
                  : statistic.equals("mean")
                      ? single == null ? (Double) requireNonNull(state).mean() : single
                      : statistic.equals("max") && state != null ? (Double) state.max() : null;
          JsonNode node =
              statistic.equals(ExchangeFormat.UNIT)
                  ? ExchangeFormat.JSON.getNodeFactory().textNode(row.unit())
                  : value == null
                      ? null
                      : decimal(statistic.equals("count") ? value : value * row.factor());
          if (node != null) {
            ExchangeFormat.put(tree, row.plainPath().replace("*", name), node);
          }
        });
    return true;
  }

  private static @Nullable Double statistic(ValueRecorder values, String name) {
    return switch (name) {
      case ExchangeFormat.UNIT -> null;
      case "mean" -> values.moments().mean();
      case "std" -> values.moments().std();
      case "min" -> values.moments().min();
      case "max" -> values.moments().max();
      case "count" -> (double) values.count();
      case "sum" -> values.sum();
      default -> values.percentile(Double.parseDouble(name.substring(1)));
    };
  }

  private EngineFigures.@Nullable EngineState state(String figure) {
    EngineFigures engine = level.serverMetrics();
    return engine == null || !figure.startsWith("server.")
        ? null
        : engine.states().get(metric(figure));
  }

  private static EngineMetric metric(String figure) {
    return EngineMetric.valueOf(figure.substring("server.".length()).toUpperCase(Locale.ROOT));
  }

  // ---- over time

  private boolean putSeries(ObjectNode tree, ExportRow row) {
    ArrayNode points = ExchangeFormat.JSON.createArrayNode();
    if (row.figure().startsWith("server.")) {
      figures.series().engines().getOrDefault(level.target(), List.of()).stream()
          .filter(point -> isIn(point.startS()))
          .forEach(
              point -> point(points, point.startS(), row, "value", point.of(metric(row.figure()))));
    } else if (summary.stages().stream().noneMatch(s -> !s.equals(level) && s.overlaps(level))) {
      for (Bucket bucket : figures.series().overTime()) {
        if (isIn(bucket.startS()) && row.figure().equals("itl")) {
          ObjectNode point = point(points, bucket.startS(), row, "p50", bucket.itlP50Ms());
          if (point != null && bucket.itlP99Ms() != null) {
            point.set("p99", decimal(bucket.itlP99Ms() * row.factor()));
          }
        } else if (isIn(bucket.startS())) {
          point(points, bucket.startS(), row, "value", bucket.outputTokensPerS());
        }
      }
    }
    if (points.isEmpty()) {
      return false;
    }
    ObjectNode series = ExchangeFormat.JSON.createObjectNode().put("units", row.unit());
    series.set("series", points);
    ExchangeFormat.put(tree, row.plainPath().replace(".~", ""), series);
    return true;
  }

  private boolean isIn(double startS) {
    return level.startS() != null
        && level.durationS() != null
        && startS >= level.startS()
        && startS + figures.series().bucketS() <= level.startS() + level.durationS();
  }

  private @Nullable ObjectNode point(
      ArrayNode points, double startS, ExportRow row, String name, @Nullable Double value) {
    if (value == null) {
      return null;
    }
    long at = run.loadStartUnixNanos() + Math.round(startS * 1e9);
    ObjectNode point = points.addObject().put("ts", Instant.ofEpochSecond(0, at).toString());
    point.set(name, decimal(value * row.factor()));
    return point;
  }
}
