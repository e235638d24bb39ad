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
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Tables of key figures by load level, operating point, target, request and trial. Pages, {@code
 * summary.md} and the console choose from one catalogue of columns.
 */
final class KeyFigureTables {

  private record KeyColumn(Column<Figures> column, Predicate<Summary> applies) {

    KeyColumn(Column<Figures> column) {
      this(column, summary -> true);
    }
  }

  private static final Column<Figures> COMPLETED = metric("completed/s", Metric.REQUESTS_PER_S);

  /** The columns, found by their headings. */
  private static final List<KeyColumn> COLUMNS =
      List.of(
          new KeyColumn(Column.count("count", f -> f.counts().started())),
          new KeyColumn(Column.count("failed", f -> f.counts().failed())),
          new KeyColumn(
              Column.count("rate limited", f -> f.counts().rateLimited()),
              summary -> summary.figures().counts().rateLimited() > 0),
          new KeyColumn(COMPLETED),
          new KeyColumn(
              metric("output tok/s", Metric.OUTPUT_TOKENS_PER_S), summary -> !embeds(summary)),
          new KeyColumn(metric("inputs/s", Metric.INPUTS_PER_S), KeyFigureTables::embeds),
          new KeyColumn(Column.number("prompt tokens", f -> f.metric(Metric.PROMPT_TOKENS).mean())),
          new KeyColumn(
              metric("goodput/s", Metric.GOODPUT_REQUESTS_PER_S), summary -> summary.slo() != null),
          new KeyColumn(
              Column.percent("in SLO", f -> f.goodput() == null ? null : f.goodput().share()),
              summary -> summary.slo() != null),
          new KeyColumn(metric("jitter", Metric.JITTER), summary -> !embeds(summary)),
          new KeyColumn(metric("cost/1M tokens", Metric.COST_PER_MILLION_OUTPUT_TOKENS).ifKnown()),
          new KeyColumn(metric("cost/1M in SLO", Metric.COST_PER_MILLION_SLO_TOKENS).ifKnown()),
          new KeyColumn(metric("tok/J", Metric.OUTPUT_TOKENS_PER_JOULE).ifKnown()));

  private static final List<String> DELIVERED = List.of("output tok/s", "inputs/s");
  private static final List<String> EFFICIENCY =
      List.of("cost/1M tokens", "cost/1M in SLO", "tok/J");

  private static final List<Column<Trial>> TRIAL =
      List.of(
          Column.count("requests", Trial::requests),
          Column.count("ok", Trial::ok),
          Column.count("output tokens", Trial::outputTokens),
          Column.number("wall, s", Trial::wallS),
          Column.number("output tok/s", Trial::outputTokensPerS));

  private KeyFigureTables() {}

  private static boolean embeds(Summary summary) {
    return summary.figures().embeds();
  }

  private static Column<Figures> metric(String heading, Metric metric) {
    return Column.number(heading, metric::number);
  }

  /** The columns with these headings that apply to the run. */
  private static List<Column<Figures>> columns(Summary summary, List<String> headings) {
    return headings.stream()
        .flatMap(heading -> COLUMNS.stream().filter(c -> c.column.heading().equals(heading)))
        .filter(column -> column.applies.test(summary))
        .map(KeyColumn::column)
        .toList();
  }

  private static List<Column<Figures>> columns(Summary summary, String... headings) {
    return columns(summary, List.of(headings));
  }

  /**
   * Percentiles of a time, from the planned arrival where headlines and the SLO use that. Text
   * files say so in each heading, pages in the heading of the first column.
   */
  private static List<Column<Figures>> times(
      Summary summary, boolean isText, Metric metric, String... percentiles) {
    Metric shown = summary.headlineMetric(metric);
    String title = (isText ? shown : metric).title();
    return metric != Metric.E2E_MS && embeds(summary)
        ? List.of()
        : Stream.of(percentiles)
            .map(p -> Column.<Figures>percentile(title + " " + p, p, f -> f.metric(shown)))
            .toList();
  }

  @SafeVarargs
  @SuppressWarnings("varargs")
  private static List<Column<Figures>> all(List<Column<Figures>>... parts) {
    return Stream.of(parts).flatMap(List::stream).toList();
  }

  private static List<Column<Figures>> keyFigures(Summary summary, boolean isOpen) {
    return all(
        columns(summary, "count", "failed", "rate limited", isOpen ? "" : "completed/s"),
        columns(summary, DELIVERED),
        columns(summary, "in SLO"),
        times(summary, false, Metric.TTFT_MS, "p50", "p95", "p99"),
        times(summary, false, Metric.ITL_MS, "p50", "p99"),
        times(summary, false, Metric.E2E_MS, "p50", "p95", "p99"),
        columns(summary, EFFICIENCY));
  }

  private static String heading(Summary summary, String what) {
    return what + ", times in ms" + (summary.isClockNamed() ? " from schedule" : "");
  }

  /** Load levels grouped by target and scenario, with links to {@code page}. */
  static Table byLevel(Summary summary, String page) {
    List<Level> levels = new ShownLevels(summary).all();
    Table table =
        Columns.<Level>of(
                Column.of(
                    heading(summary, "Load level"),
                    level ->
                        Cell.words(level.stage().label())
                            .remarked(marks(level.curve(), level.stage()))
                            .linked(page + "#level-" + level.position())))
            .of(Level::stage, rates(summary))
            .of(level -> level.stage().figures(), keyFigures(summary, isOpen(summary)))
            .table("Key figures by load level, times in ms", levels)
            .styled("notes");
    List<List<Cell>> rows = table.rows().toList();
    List<Group> groups = new ArrayList<>();
    for (Curve curve : summary.curves()) {
      List<List<Cell>> own = new ArrayList<>();
      for (int i = 0; i < levels.size(); i++) {
        if (levels.get(i).curve().equals(curve)) {
          own.add(rows.get(i));
        }
      }
      groups.add(new Group(summary.curves().size() > 1 ? summary.name(curve) : "", "", own));
    }
    return table.grouped(groups);
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

  static Table byCurve(Summary summary) {
    return Columns.<Curve>of(
            Column.of(
                heading(summary, "Operating point"),
                curve -> Cell.words(summary.name(curve)).remarked(curve.quoted())))
        .and(models(summary))
        .of(c -> summary.operatingLevel(c).figures(), keyFigures(summary, false))
        .of(c -> summary.operatingLevel(c).figures(), columns(summary, "prompt tokens"))
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
            all(
                columns(summary, "count", "failed"),
                columns(summary, DELIVERED),
                columns(summary, "goodput/s", "in SLO"),
                times(summary, false, Metric.TTFT_MS, "p50", "p95", "p99"),
                times(summary, false, Metric.ITL_MS, "p50", "p99"),
                columns(summary, "jitter"),
                times(summary, false, Metric.E2E_MS, "p50", "p99")))
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
            all(
                columns(summary, "count", "failed", "completed/s"),
                columns(summary, DELIVERED),
                columns(summary, "in SLO"),
                times(summary, true, Metric.TTFT_MS, "p50", "p99"),
                times(summary, true, Metric.ITL_MS, "p99"),
                times(summary, true, Metric.E2E_MS, "p50")))
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
            COMPLETED.in(LevelFigures::figures),
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

  private static String queue(LevelFigures stage) {
    Queue queue = stage.queue();
    return queue == null
        ? NumberText.ABSENT
        : NumberText.count(queue.end()) + (queue.grows() ? " ↑" : "");
  }

  static Table levels(Summary summary) {
    boolean isOpen = isOpen(summary);
    return Columns.<LevelFigures>of(Column.name("level", stage -> place(summary, stage)))
        .and(rates(summary))
        .when(!isOpen, Column.number("in flight", LevelFigures::meanInFlight))
        .of(
            LevelFigures::figures,
            all(
                columns(summary, isOpen ? "" : "completed/s"),
                columns(summary, DELIVERED),
                times(summary, true, Metric.TTFT_MS, "p50", "p99"),
                isOpen ? List.of() : times(summary, true, Metric.ITL_MS, "p50"),
                times(summary, true, Metric.ITL_MS, "p99"),
                isOpen ? List.of() : times(summary, true, Metric.E2E_MS, "p50"),
                embeds(summary) ? times(summary, true, Metric.E2E_MS, "p99") : List.of(),
                columns(summary, "in SLO", "failed"),
                columns(summary, EFFICIENCY)))
        .table("Load levels", summary.stages().size() > 1 ? summary.stages() : List.of());
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
            all(
                columns(summary, "count", "failed", "completed/s"),
                columns(summary, DELIVERED),
                columns(summary, "in SLO"),
                times(summary, false, Metric.TTFT_MS, "p50", "p99"),
                times(summary, false, Metric.ITL_MS, "p99"),
                times(summary, false, Metric.E2E_MS, "p50", "p95", "p99"),
                columns(summary, "prompt tokens")))
        .table("Operating points", summary.curves().size() > 1 ? summary.curves() : List.of());
  }

  /** The operating point of a curve, e.g. {@code At c=16, the knee}. */
  static String operatingPoint(Summary summary, Curve curve) {
    String text = curve.quoted();
    return summary.curves().size() == 1 ? "At " + text : summary.name(curve) + ": " + text;
  }

  static Table trials(String place, Trials trials) {
    return Columns.<Trial>of(Column.count("Trial", Trial::trial))
        .and(TRIAL)
        .table("Trials of " + place, trials.rows());
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
        List<Cell> row = new ArrayList<>(List.of(place, Cell.count(trial.trial())));
        TRIAL.forEach(column -> row.add(column.cell().apply(trial)));
        rows.add(row);
      }
      long remaining = trials.rowsLeftOut() + Math.max(0, trials.rows().size() - most);
      if (remaining > 0) {
        Cell none = Cell.figure("");
        Cell more = Cell.figure(NumberText.count(remaining) + " more");
        rows.add(List.of(place, more, none, none, none, none, none));
      }
    }
    List<String> headings = new ArrayList<>(List.of("level", "trial"));
    TRIAL.forEach(column -> headings.add(column.heading()));
    return Table.of("Trials", headings, rows);
  }

  static String place(Summary summary, LevelFigures stage) {
    return summary.place(stage.info());
  }
}
