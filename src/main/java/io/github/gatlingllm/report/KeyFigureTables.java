package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.Curve;
import io.github.gatlingllm.figures.level.Summary.RequestAtPoint;
import io.github.gatlingllm.figures.level.Summary.Target;
import io.github.gatlingllm.figures.metric.Backlog.Queue;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.Trial;
import io.github.gatlingllm.figures.metric.Figures.Trials;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.report.ShownLevels.Level;
import io.github.gatlingllm.report.Table.Cell;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.report.Table.Columns;
import io.github.gatlingllm.report.Table.Group;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Tables of key figures: by load level, operating point, target, request and trial. The page,
 * Gatling's pages, {@code summary.md} and the console share the columns that are defined here.
 */
final class KeyFigureTables {

  /** Title of the table with the operating point of each target and scenario. */
  static final String CURVES = "Operating points";

  private static final Column<Figures> COUNT = Column.count("count", f -> f.counts().started());
  private static final Column<Figures> FAILED = Column.count("failed", f -> f.counts().failed());
  private static final Column<Figures> RATE_LIMITED =
      Column.count("rate limited", f -> f.counts().rateLimited());
  private static final Column<Figures> REQUESTS =
      Column.number("completed/s", f -> f.number(Metric.REQUESTS_PER_S));
  private static final Column<Figures> OUTPUT =
      Column.number("output tok/s", f -> f.number(Metric.OUTPUT_TOKENS_PER_S));
  private static final Column<Figures> INPUTS =
      Column.number("inputs/s", f -> f.number(Metric.INPUTS_PER_S));
  private static final Column<Figures> PROMPT =
      Column.number("prompt tokens", f -> f.metric(Metric.PROMPT_TOKENS).mean());
  private static final Column<Figures> GOODPUT =
      Column.number("goodput/s", f -> f.goodput() == null ? null : f.goodput().requestsPerS());
  private static final Column<Figures> IN_SLO =
      Column.percent("in SLO", f -> f.goodput() == null ? null : f.goodput().share());
  private static final Column<Figures> JITTER =
      Column.number("jitter", f -> f.number(Metric.JITTER));

  /** Columns that need an SLO. */
  private static final List<Column<Figures>> OF_SLO = List.of(GOODPUT, IN_SLO);

  /** Columns of cost and energy. */
  private static final List<Column<Figures>> EFFICIENCY =
      List.of(
          Column.number("cost/1M tokens", f -> f.number(Metric.COST_PER_MILLION_OUTPUT_TOKENS)),
          Column.number("cost/1M in SLO", f -> f.number(Metric.COST_PER_MILLION_SLO_TOKENS)),
          Column.number("tok/J", f -> f.number(Metric.OUTPUT_TOKENS_PER_JOULE)));

  private static final List<Column<Trial>> TRIAL =
      List.of(
          Column.count("Trial", Trial::trial),
          Column.count("requests", Trial::requests),
          Column.count("ok", Trial::ok),
          Column.count("output tokens", Trial::outputTokens),
          Column.number("wall, s", Trial::wallS),
          Column.number("output tok/s", Trial::outputTokensPerS));

  private KeyFigureTables() {}

  /**
   * The columns that apply to this run: of the SLO if there is one, of rate limits if requests were
   * rate limited, of cost and energy if known, of streams unless the run embeds texts.
   */
  @SafeVarargs
  @SuppressWarnings("varargs")
  private static List<Column<Figures>> figures(Summary summary, List<Column<Figures>>... columns) {
    boolean embeds = summary.figures().embeds();
    return Arrays.stream(columns)
        .flatMap(List::stream)
        .filter(column -> summary.slo() != null || !OF_SLO.contains(column))
        .filter(
            column -> !column.equals(RATE_LIMITED) || summary.figures().counts().rateLimited() > 0)
        .filter(column -> !EFFICIENCY.contains(column) || isKnown(summary, column))
        .filter(column -> !embeds || !column.heading().matches("(TTFT|ITL|jitter).*"))
        .toList();
  }

  private static boolean isKnown(Summary summary, Column<Figures> column) {
    return summary.stages().stream()
        .map(stage -> column.cell().apply(stage.figures()).text())
        .anyMatch(text -> !text.equals(NumberText.ABSENT));
  }

  private static Column<Figures> delivered(Summary summary) {
    return summary.figures().embeds() ? INPUTS : OUTPUT;
  }

  private static List<Column<Figures>> itl(String... percentiles) {
    return percentiles(Metric.ITL_MS.title(), Metric.ITL_MS, percentiles);
  }

  /** A time from the planned arrival where headlines and the SLO use that, named so. */
  private static List<Column<Figures>> headline(
      Summary summary, Metric metric, String... percentiles) {
    Metric shown = summary.headlineMetric(metric);
    return percentiles(shown.title(), shown, percentiles);
  }

  /** The same for tables whose first heading names the clock. */
  private static List<Column<Figures>> onPage(
      Summary summary, Metric metric, String... percentiles) {
    return percentiles(metric.title(), summary.headlineMetric(metric), percentiles);
  }

  private static List<Column<Figures>> percentiles(
      String title, Metric metric, String... percentiles) {
    return Arrays.stream(percentiles)
        .map(p -> Column.<Figures>percentile(title + " " + p, p, f -> f.metric(metric)))
        .toList();
  }

  /** The key figures on the page. */
  private static List<Column<Figures>> keyFigures(Summary summary, boolean isOpen) {
    return figures(
        summary,
        List.of(COUNT, FAILED, RATE_LIMITED),
        isOpen ? List.of() : List.of(REQUESTS),
        List.of(delivered(summary), IN_SLO),
        onPage(summary, Metric.TTFT_MS, "p50", "p95", "p99"),
        itl("p50", "p99"),
        onPage(summary, Metric.E2E_MS, "p50", "p95", "p99"),
        EFFICIENCY);
  }

  /** The heading of the first column of a table on the page. */
  private static String heading(Summary summary, String what) {
    return what + ", times in ms" + (summary.isClockNamed() ? " from schedule" : "");
  }

  /** Load levels for the page, grouped by target and scenario. */
  static Table byLevel(Summary summary) {
    return byLevel(summary, "");
  }

  /** The same with links to {@code page}. */
  static Table byLevel(Summary summary, String page) {
    Columns<Level> columns =
        Columns.<Level>of(
                Column.of(
                    heading(summary, "Load level"),
                    level ->
                        Cell.words(level.stage().label())
                            .remarked(marks(level.curve(), level.stage()))
                            .linked(page + "#level-" + level.position())))
            .of(Level::stage, rates(summary))
            .of(level -> level.stage().figures(), keyFigures(summary, isOpen(summary)));
    List<Level> levels = new ShownLevels(summary).all();
    List<Group> groups = new ArrayList<>();
    for (Curve curve : summary.curves()) {
      List<Level> own = levels.stream().filter(level -> level.curve().equals(curve)).toList();
      String name = summary.curves().size() > 1 ? summary.name(curve) : "";
      columns
          .table("", own)
          .groups()
          .forEach(group -> groups.add(new Group(name, "", group.rows())));
    }
    String title = "Key figures by load level, times in ms";
    return new Table(title, "notes", columns.table("", levels).headings(), groups);
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

  /** Each target and scenario at its operating point, for the page. */
  static Table byCurve(Summary summary) {
    return Columns.<Curve>of(
            Column.of(
                heading(summary, "Operating point"),
                curve -> Cell.words(summary.name(curve)).remarked(curve.quoted())))
        .and(models(summary))
        .of(c -> summary.operatingLevel(c).figures(), keyFigures(summary, false))
        .of(c -> summary.operatingLevel(c).figures(), List.of(PROMPT))
        .table("Key figures by target and scenario, times in ms", summary.curves())
        .styled("notes");
  }

  /** The model of each target, if these differ. */
  private static List<Column<Curve>> models(Summary summary) {
    Map<String, String> models = new HashMap<>();
    summary.targets().forEach(t -> models.put(t.label(), String.join(", ", t.models())));
    return Set.copyOf(models.values()).size() < 2
        ? List.of()
        : List.of(Column.words("model", curve -> models.getOrDefault(curve.target(), "")));
  }

  /** Targets, for the page. */
  static Table byTarget(Summary summary) {
    return Columns.<Target>of(Column.name(heading(summary, "Target"), Target::label))
        .of(Target::figures, keyFigures(summary, false))
        .table("Key figures by target, times in ms", summary.targets());
  }

  /** Request names at the operating points, with links to {@code page}. */
  static Table byName(Summary summary, String page, List<RequestAtPoint> requests) {
    return Columns.<RequestAtPoint>of(
            Column.of(
                heading(summary, "Request"),
                request ->
                    Cell.words(request.name())
                        .remarked(summary.hasSeveralLevels() ? at(summary, request) : "")
                        .linked(page + "#" + anchor(summary, request))))
        .of(
            RequestAtPoint::figures,
            figures(
                summary,
                List.of(COUNT, FAILED, delivered(summary), GOODPUT, IN_SLO),
                onPage(summary, Metric.TTFT_MS, "p50", "p95", "p99"),
                itl("p50", "p99"),
                List.of(JITTER),
                onPage(summary, Metric.E2E_MS, "p50", "p99")))
        .table("Key figures by request", requests)
        .styled("notes");
  }

  /** Request names, the parts of a mix, for text files; empty if there is only one. */
  static Table requests(Summary summary) {
    List<RequestAtPoint> all = summary.requestsAtPoints();
    long names = all.stream().map(RequestAtPoint::name).distinct().count();
    return Columns.<RequestAtPoint>of(Column.name("request", RequestAtPoint::name))
        .when(
            summary.hasSeveralLevels(),
            Column.words("at", r -> place(summary, summary.operatingLevel(r.curve()))))
        .of(
            RequestAtPoint::figures,
            figures(
                summary,
                List.of(COUNT, FAILED, REQUESTS, delivered(summary), IN_SLO),
                headline(summary, Metric.TTFT_MS, "p50", "p99"),
                itl("p99"),
                headline(summary, Metric.E2E_MS, "p50")))
        .table("Requests", names > 1 ? all : List.of());
  }

  /** The operating point of a request's figures, e.g. {@code vLLM: c=16, the knee}. */
  static String at(Summary summary, RequestAtPoint request) {
    return operatingPoint(summary, request.curve());
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
    return isOpen(summary)
        ? List.of(
            Column.figure("offered/s", KeyFigureTables::offeredRate),
            Column.number("arrived/s", LevelFigures::arrivedPerS),
            REQUESTS.in(LevelFigures::figures),
            Column.figure("queue", KeyFigureTables::queue))
        : List.of();
  }

  private static boolean isOpen(Summary summary) {
    return summary.stages().stream().anyMatch(stage -> stage.queue() != null);
  }

  private static String offeredRate(LevelFigures stage) {
    Double offered = stage.queue() == null ? null : stage.offered();
    return offered == null ? NumberText.ABSENT : NumberText.plain(offered);
  }

  /** The length of the queue at the end of the measure window, and whether it grew. */
  private static String queue(LevelFigures stage) {
    Queue queue = stage.queue();
    return queue == null
        ? NumberText.ABSENT
        : NumberText.count(queue.end()) + (queue.grows() ? " ↑" : "");
  }

  /** Load levels, for text files. */
  static Table levels(Summary summary) {
    boolean isOpen = isOpen(summary);
    boolean embeds = summary.figures().embeds();
    return Columns.<LevelFigures>of(Column.name("level", stage -> place(summary, stage)))
        .and(rates(summary))
        .when(!isOpen, Column.number("in flight", LevelFigures::meanInFlight))
        .of(
            LevelFigures::figures,
            figures(
                summary,
                isOpen ? List.of() : List.of(REQUESTS),
                List.of(delivered(summary)),
                headline(summary, Metric.TTFT_MS, "p50", "p99"),
                isOpen ? itl("p99") : itl("p50", "p99"),
                isOpen ? List.of() : headline(summary, Metric.E2E_MS, "p50"),
                embeds ? headline(summary, Metric.E2E_MS, "p99") : List.of(),
                List.of(IN_SLO, FAILED),
                EFFICIENCY))
        .table("Load levels", summary.stages());
  }

  /**
   * The operating point of each target and scenario, for text files; empty if there is only one.
   */
  static Table curves(Summary summary) {
    return Columns.<Curve>of(
            Column.name(
                (summary.hasSeveralTargets() ? "target" : "scenario")
                    + (summary.isClockNamed() ? ", ms from schedule" : ", ms"),
                summary::name),
            Column.words("at", curve -> curve.operatingPoint().stage()))
        .and(models(summary))
        .of(
            curve -> summary.operatingLevel(curve).figures(),
            figures(
                summary,
                List.of(COUNT, FAILED, REQUESTS, delivered(summary), IN_SLO),
                onPage(summary, Metric.TTFT_MS, "p50", "p99"),
                itl("p99"),
                onPage(summary, Metric.E2E_MS, "p50", "p95", "p99"),
                List.of(PROMPT)))
        .table(CURVES, summary.curves().size() > 1 ? summary.curves() : List.of());
  }

  /** The operating point of a curve, e.g. {@code At c=16, the knee}. */
  static String operatingPoint(Summary summary, Curve curve) {
    String text = curve.quoted();
    return summary.curves().size() == 1 ? "At " + text : summary.name(curve) + ": " + text;
  }

  /** Batch trials of one load level, for the page. */
  static Table trials(String place, Trials trials) {
    return Columns.<Trial>of().and(TRIAL).table("Trials of " + place, trials.rows());
  }

  /** Batch trials of all load levels, for text files; empty outside batch mode. */
  static Table trials(Summary summary, int most) {
    List<List<Cell>> rows = new ArrayList<>();
    for (LevelFigures stage : summary.stages()) {
      Trials trials = stage.figures().trials();
      if (trials == null) {
        continue;
      }
      Cell place = Cell.words(place(summary, stage));
      for (Trial trial : trials.rows().subList(0, Math.min(most, trials.rows().size()))) {
        List<Cell> row = new ArrayList<>(List.of(place));
        TRIAL.forEach(column -> row.add(column.cell().apply(trial)));
        rows.add(row);
      }
      long left = trials.rowsLeftOut() + Math.max(0, trials.rows().size() - most);
      if (left > 0) {
        Cell none = Cell.figure("");
        Cell more = Cell.figure(NumberText.count(left) + " more");
        rows.add(List.of(place, more, none, none, none, none, none));
      }
    }
    return Table.of(
        List.of("level", "trial", "requests", "ok", "output tokens", "wall, s", "output tok/s"),
        rows);
  }

  /** The name of a load level. */
  static String place(Summary summary, LevelFigures stage) {
    return summary.place(stage.label(), stage.target(), stage.scenario());
  }
}
