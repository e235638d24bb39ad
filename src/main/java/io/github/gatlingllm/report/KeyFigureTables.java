package io.github.gatlingllm.report;

import static java.util.stream.Collectors.joining;

import io.github.gatlingllm.figures.level.Grouping;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.Curve;
import io.github.gatlingllm.figures.level.Summary.RequestAtPoint;
import io.github.gatlingllm.figures.level.Summary.Target;
import io.github.gatlingllm.figures.metric.Backlog.Queue;
import io.github.gatlingllm.figures.metric.Distribution.Spread;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.Trial;
import io.github.gatlingllm.figures.metric.Figures.Trials;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.LevelFigures.ObjectiveRow;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.LevelInfo.HookCall;
import io.github.gatlingllm.report.ShownLevels.Level;
import io.github.gatlingllm.report.Table.Cell;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.report.Table.Columns;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Tables of key figures by load level, operating point, target, request and trial. Pages, {@code
 * summary.md} and the console choose from one catalogue of columns.
 */
final class KeyFigureTables {

  /** All columns but those of times; runs in which one has no value leave it out. */
  private static final List<Column<Figures>> COLUMNS =
      List.of(
          Column.count("count", f -> f.counts().started()),
          Column.count("failed", f -> f.counts().failed()),
          metric("completed/s", Metric.REQUESTS_PER_S),
          metric("output tok/s", Metric.OUTPUT_TOKENS_PER_S),
          metric("inputs/s", Metric.INPUTS_PER_S),
          metric("batch gain", Metric.BATCHING_GAIN),
          Column.number("prompt tokens", f -> f.metric(Metric.PROMPT_TOKENS).mean()),
          metric("cached %", Metric.CACHED_PERCENT),
          metric("goodput/s", Metric.GOODPUT_REQUESTS_PER_S),
          Column.<Figures>percent("in SLO", f -> f.goodput() == null ? null : f.goodput().share())
              .explained(Metric.GOODPUT_PERCENT.formula())
              .ifKnown(),
          metric("jitter", Metric.JITTER),
          metric("cost/1M tokens", Metric.COST_PER_MILLION_OUTPUT_TOKENS),
          metric("cost/1M in SLO", Metric.COST_PER_MILLION_SLO_TOKENS),
          metric("tok/J", Metric.OUTPUT_TOKENS_PER_JOULE));

  private static final List<Column<LevelFigures>> RATES =
      List.of(
          Column.figure(
              "offered/s",
              stage ->
                  stage.queue() == null || stage.offered() == null
                      ? NumberText.ABSENT
                      : NumberText.plain(stage.offered())),
          Column.number("arrived/s", LevelFigures::arrivedPerS),
          Column.number("completed/s", LevelFigures::completedPerS),
          Column.figure("queue", KeyFigureTables::queue));

  private static final Map<String, Metric> TIMES =
      Map.of(
          "TTFT", Metric.TTFT_MS,
          "TTFO", Metric.TTFO_MS,
          "ITL", Metric.ITL_MS,
          "TPOT", Metric.TPOT_MS,
          "E2E", Metric.E2E_MS,
          "STALL", Metric.STALL_MS);

  /** The shares of an SLO whose percentile is shown; for others, such as 97 %, it is p99. */
  private static final Set<String> JUDGED = Set.of("p50", "p75", "p90", "p95", "p99");

  /** The columns of text files that have room for the interval between repeats. */
  private static final Set<String> SPREAD_IN_TEXT =
      Set.of("output tok/s", "inputs/s", "TTFT p50", "TTFT p99");

  private static final String KEY_FIGURES =
      "output tok/s, inputs/s, batch gain, in SLO, TTFT p50, TTFT p95, TTFT p99, ITL p50,"
          + " ITL p99, E2E p50, E2E p95, E2E p99, cost/1M tokens, cost/1M in SLO, tok/J";

  private KeyFigureTables() {}

  private static Column<Figures> metric(String heading, Metric metric) {
    return Column.<Figures>number(heading, metric::number)
        .then((figures, cell) -> spread(cell, figures, metric::number))
        .explained(metric.formula())
        .ifKnown();
  }

  /** With half the interval between repeats as a remark, where there are some. */
  private static Cell spread(
      Cell cell, Figures figures, Function<Figures, @Nullable Double> value) {
    Spread spread = figures.spread(value);
    if (spread == null || spread.value() == 0) {
      return cell;
    }
    double percent = 100 * spread.half() / spread.value();
    String form = percent < 10 ? "±%.1f %%" : "±%.0f %%";
    return cell.remarked(String.format(Locale.ROOT, form, percent));
  }

  /**
   * The columns with these headings that apply to the run. Times count from the planned arrival
   * where headlines and the SLO use that: text files say so in each heading, pages in the heading
   * of the first column. What the SLO limits is added beside the same time, else after the last.
   */
  private static List<Column<Figures>> columns(Summary summary, boolean isText, String headings) {
    List<String> all = new ArrayList<>(List.of(headings.split(", ")));
    Set<String> limited = limited(summary);
    all.forEach(limited::remove);
    for (String each : limited) {
      String own = each.substring(0, each.indexOf(' ') + 1);
      boolean isThere = all.stream().anyMatch(heading -> heading.startsWith(own));
      String before = isThere ? own : "(" + String.join("|", TIMES.keySet()) + ") ";
      int at = all.size();
      while (!all.get(at - 1).matches(before + ".*")) {
        at--;
      }
      all.add(at, each);
    }
    return all.stream().map(each -> column(summary, isText, each)).toList();
  }

  /** The times that objectives limit, at the percentile of the SLO. */
  private static Set<String> limited(Summary summary) {
    Set<String> limited = new LinkedHashSet<>();
    for (LevelFigures level : summary.stages()) {
      for (ObjectiveRow row : level.objectives()) {
        String measure = row.measure().toUpperCase(Locale.ROOT);
        String percentile = "p" + NumberText.plain(row.percentile());
        String shown = JUDGED.contains(percentile) ? percentile : "p99";
        TIMES.keySet().stream()
            .filter(measure::endsWith)
            .forEach(time -> limited.add(time + " " + shown));
      }
    }
    return limited;
  }

  private static Column<Figures> column(Summary summary, boolean isText, String heading) {
    String[] words = heading.split(" ", -1);
    Metric time = TIMES.get(words[0]);
    Column<Figures> column =
        time == null
            ? COLUMNS.stream().filter(c -> c.heading().equals(heading)).findFirst().orElseThrow()
            : percentile(isText, summary.headlineMetric(time), time, words[1]);
    return isText && SPREAD_IN_TEXT.contains(heading)
        ? column.then((figures, cell) -> cell.inText())
        : column;
  }

  private static Column<Figures> percentile(
      boolean isText, Metric shown, Metric time, String name) {
    return Column.<Figures>percentile(
            (isText ? shown : time).title() + " " + name, name, f -> f.metric(shown))
        .then((figures, cell) -> spread(cell, figures, f -> f.metric(shown).percentile(name)))
        .explained(shown.formula())
        .ifKnown();
  }

  private static List<Column<Figures>> keyFigures(Summary summary, boolean isOpen) {
    String first = "count, failed, " + (isOpen ? "" : "completed/s, ");
    return columns(summary, false, first + KEY_FIGURES);
  }

  private static String heading(Summary summary, String what) {
    return what
        + ", times in ms"
        + (summary.isClockNamed() ? " from schedule" : "")
        + spread(summary);
  }

  /** What {@code ±} stands for; empty for a run that repeats no level. */
  private static String spread(Summary summary) {
    int most =
        summary.stages().stream().mapToInt(s -> s.figures().repeats().size()).max().orElse(0);
    return most == 0 ? "" : ", ±: 95 % by " + most + " repeats";
  }

  /** Load levels grouped by target and scenario, with links to {@code page}. */
  static Table byLevel(Summary summary, String page) {
    return Columns.<Level>of(
            Column.of(
                heading(summary, "Load level"),
                level ->
                    Cell.words(level.stage().label())
                        .remarked(marks(level.curve(), level.stage()))
                        .linked(page + "#level-" + level.position())))
        .of(Level::stage, rates(summary))
        .of(level -> level.stage().figures(), keyFigures(summary, isOpen(summary)))
        .of(Level::stage, hooks(summary))
        .table(
            "Key figures by load level, times in ms",
            new ShownLevels(summary).all(),
            level -> summary.curves().size() > 1 ? summary.name(level.curve()) : "")
        .styled("notes");
  }

  /** Marks of a load level on its curve, e.g. {@code knee, max goodput}; may be empty. */
  static String marks(Curve curve, LevelFigures stage) {
    List<String> marks = new ArrayList<>();
    Summary.Knee knee = curve.knee();
    if (knee != null && knee.reached() && knee.stage().equals(stage.label())) {
      marks.add("knee");
    }
    Figures.MaxGoodput max = curve.maxGoodput();
    if (max != null && max.stage().equals(stage.label())) {
      marks.add("max goodput");
    }
    Queue queue = stage.queue();
    if (queue != null && queue.grows()) {
      marks.add(queue.held() ? "held back before sending" : "not kept up with");
    }
    return String.join(", ", marks);
  }

  private static List<Column<Curve>> models(Summary summary) {
    Map<String, String> models = new HashMap<>();
    summary.targets().forEach(t -> models.put(t.label(), String.join(", ", t.models())));
    return Set.copyOf(models.values()).size() < 2
        ? List.of()
        : List.of(Column.words("model", curve -> models.getOrDefault(curve.target(), "")));
  }

  static Table byTarget(Summary summary, List<Target> targets) {
    return Columns.<Target>of(Column.name(heading(summary, "Target"), Target::label))
        .of(Target::figures, keyFigures(summary, false))
        .table("Key figures by target, times in ms", targets);
  }

  static Table byName(Summary summary, String page, List<RequestAtPoint> requests) {
    return atPoints(summary, "request", requests, request -> page + "#" + anchor(summary, request));
  }

  static Table by(Summary summary, Grouping dimension) {
    List<RequestAtPoint> parts = summary.byAtPoints().getOrDefault(dimension, List.of());
    return atPoints(summary, dimension.key(), parts, part -> "");
  }

  private static Table atPoints(
      Summary summary,
      String noun,
      List<RequestAtPoint> requests,
      Function<RequestAtPoint, String> link) {
    return Columns.<RequestAtPoint>of(
            Column.of(
                heading(summary, NumberText.capital(noun)),
                request ->
                    Cell.words(request.name())
                        .remarked(at(summary, request))
                        .linked(link.apply(request))))
        .of(
            RequestAtPoint::figures,
            columns(
                summary,
                false,
                "count, failed, output tok/s, inputs/s, goodput/s, in SLO, TTFT p50, TTFT p95,"
                    + " TTFT p99, ITL p50, ITL p99, jitter, E2E p50, E2E p99"))
        .table("Key figures by " + noun, requests)
        .styled("notes");
  }

  /** Request names, the parts of a mix, for text files; empty if there is only one. */
  static Table requests(Summary summary) {
    List<RequestAtPoint> all = summary.requestsAtPoints();
    long names = all.stream().map(RequestAtPoint::name).distinct().count();
    return parts(summary, "request", "Requests", names > 1 ? all : List.of());
  }

  /** The models of each operating point and the like, for text files; empty without several. */
  static List<Table> dimensions(Summary summary) {
    return summary.byAtPoints().entrySet().stream()
        .map(
            by ->
                parts(
                    summary,
                    by.getKey().key(),
                    NumberText.capital(by.getKey().key()) + "s",
                    by.getValue()))
        .toList();
  }

  private static Table parts(
      Summary summary, String noun, String title, List<RequestAtPoint> parts) {
    return Columns.<RequestAtPoint>of(Column.name(noun, RequestAtPoint::name))
        .when(
            summary.hasSeveralLevels(),
            Column.words("at", r -> summary.place(summary.operatingLevel(r.curve()).info())))
        .of(
            RequestAtPoint::figures,
            columns(
                summary,
                true,
                "count, failed, completed/s, output tok/s, inputs/s, in SLO, TTFT p50, TTFT p99,"
                    + " ITL p99, E2E p50"))
        .table(title, parts);
  }

  /** The operating point of a request's figures, e.g. {@code vLLM: c=16, the knee}. */
  static String at(Summary summary, RequestAtPoint request) {
    return summary.hasSeveralLevels() ? operatingPoint(summary, request.curve()) : "";
  }

  /** The anchor of a request's metrics in {@code llm.html}; Gatling's pages link to it. */
  static String anchor(Summary summary, RequestAtPoint request) {
    int curve = summary.curves().indexOf(request.curve());
    return anchor(request.name()) + (curve == 0 ? "" : "-" + curve);
  }

  static String anchor(String requestName) {
    return "request-" + String.format(Locale.ROOT, "%08x", requestName.hashCode());
  }

  /** The three rates of open load and the queue at the end; empty without open load. */
  private static List<Column<LevelFigures>> rates(Summary summary) {
    return isOpen(summary) ? RATES : List.of();
  }

  private static boolean isOpen(Summary summary) {
    return summary.stages().stream().anyMatch(stage -> stage.queue() != null);
  }

  private static String queue(LevelFigures stage) {
    Queue queue = stage.queue();
    return queue == null
        ? NumberText.ABSENT
        : NumberText.count(queue.end()) + (queue.grows() ? " ↑" : "");
  }

  private static List<Column<LevelFigures>> hooks(Summary summary) {
    return summary.stages().stream().allMatch(stage -> stage.info().hooks().isEmpty())
        ? List.of()
        : List.of(
            Column.words(
                "before it",
                stage ->
                    stage.info().hooks().stream()
                        .map(HookCall::toString)
                        .distinct()
                        .collect(joining(", "))));
  }

  static Table levels(Summary summary) {
    boolean isOpen = isOpen(summary);
    String figures =
        (isOpen
                ? "output tok/s, inputs/s, batch gain, TTFT p50, TTFT p99, ITL p99"
                : "completed/s, output tok/s, inputs/s, batch gain, TTFT p50, TTFT p99, ITL p50,"
                    + " ITL p99, E2E p50")
            + (summary.figures().embeds() ? ", E2E p99" : "")
            + ", in SLO, failed, cost/1M tokens, cost/1M in SLO, tok/J";
    return Columns.<LevelFigures>of(Column.name("level", stage -> summary.place(stage.info())))
        .and(rates(summary))
        .when(!isOpen, Column.number("in flight", LevelFigures::meanInFlight))
        .of(LevelFigures::figures, columns(summary, true, figures))
        .and(hooks(summary))
        .table(
            "Load levels" + spread(summary),
            summary.stages().size() > 1 || !spread(summary).isEmpty()
                ? summary.byLoad()
                : List.of());
  }

  /** The operating point of each target, scenario and pair of lengths; empty if only one. */
  static Table curves(Summary summary) {
    boolean isGrid = !summary.grid().isEmpty();
    String noun =
        isGrid ? "prompt/output tokens" : summary.hasSeveralTargets() ? "target" : "scenario";
    return Columns.<Curve>of(
            Column.name(
                noun + (summary.isClockNamed() ? ", ms from schedule" : ", ms"), summary::name),
            Column.words("at", curve -> curve.operatingPoint().stage()))
        .when(isGrid, Column.words("knee", KeyFigureTables::knee))
        .and(models(summary))
        .of(
            curve -> summary.operatingLevel(curve).figures(),
            columns(
                summary,
                false,
                isGrid
                    ? "failed, output tok/s, goodput/s, in SLO, TTFT p50, TTFT p99, ITL p99, E2E"
                        + " p50"
                    : "count, failed, completed/s, output tok/s, inputs/s, batch gain, in SLO,"
                        + " TTFT p50, TTFT p99, ITL p99, E2E p50, E2E p95, E2E p99, prompt"
                        + " tokens"))
        .table("Operating points", summary.curves().size() > 1 ? summary.curves() : List.of());
  }

  private static String knee(Curve curve) {
    Summary.Knee knee = curve.knee();
    return knee == null || !(knee.reached() || knee.saturatedFromFirst())
        ? "not reached"
        : (knee.saturatedFromFirst() ? "≤ " : "") + knee.stage();
  }

  /** The operating point of a curve, e.g. {@code At c=16, the knee}. */
  static String operatingPoint(Summary summary, Curve curve) {
    String text = curve.quoted();
    return summary.curves().size() == 1 ? "At " + text : summary.name(curve) + ": " + text;
  }

  /** Batch trials of all load levels, the first of each; empty outside batch mode. */
  static Table trials(Summary summary, int most) {
    List<TrialRow> rows = new ArrayList<>();
    for (LevelFigures stage : summary.stages()) {
      Trials trials = stage.figures().trials();
      if (trials != null) {
        List<Trial> shown = trials.rows().stream().limit(most).toList();
        shown.forEach(trial -> rows.add(new TrialRow(stage, trial, 0)));
        long hidden = trials.rowsLeftOut() + trials.rows().size() - shown.size();
        if (hidden > 0) {
          rows.add(new TrialRow(stage, null, hidden));
        }
      }
    }
    return Table.of(
        "Trials",
        rows,
        Column.name("level", row -> summary.place(row.stage.info())),
        trial("trial", t -> Cell.count(t.trial())),
        trial("requests", t -> Cell.count(t.requests())),
        trial("ok", t -> Cell.count(t.ok())),
        trial("output tokens", t -> Cell.count(t.outputTokens())),
        trial("wall, s", t -> Cell.number(t.wallS())),
        trial("output tok/s", t -> Cell.number(t.outputTokensPerS())));
  }

  private record TrialRow(LevelFigures stage, @Nullable Trial trial, long hidden) {}

  private static Column<TrialRow> trial(String heading, Function<Trial, Cell> cell) {
    return Column.of(
        heading,
        row ->
            row.trial != null
                ? cell.apply(row.trial)
                : Cell.words(
                    heading.equals("trial") ? NumberText.count(row.hidden) + " more" : ""));
  }
}
