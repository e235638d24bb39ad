package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.Backlog.Queue;
import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.Figures.Trial;
import io.github.gatlingllm.metric.Figures.Trials;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.report.ShownLevels.Level;
import io.github.gatlingllm.report.Table.Cell;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.report.Table.Group;
import io.github.gatlingllm.stats.Summary;
import io.github.gatlingllm.stats.Summary.Curve;
import io.github.gatlingllm.stats.Summary.RequestAtPoint;
import io.github.gatlingllm.stats.Summary.Stage;
import io.github.gatlingllm.stats.Summary.Target;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Tables of key figures: by load level, operating point, target, request and trial. What the page,
 * Gatling's pages, {@code summary.md} and the console show of one figure is one column here.
 */
final class KeyFigureTables {

  /** What the table of each target's and scenario's operating point is called. */
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
  private static final Column<Figures> IN_SLO =
      Column.percent("in SLO", f -> f.goodput() == null ? null : f.goodput().share());

  private static final List<Column<Trial>> TRIAL =
      List.of(
          Column.count("Trial", Trial::trial),
          Column.count("requests", Trial::requests),
          Column.count("ok", Trial::ok),
          Column.count("output tokens", Trial::outputTokens),
          Column.number("wall, s", Trial::wallS),
          Column.number("output tok/s", Trial::outputTokensPerS));

  private static final Column<Figures> COST =
      Column.number("cost/1M tokens", Metric.COST_PER_MILLION_OUTPUT_TOKENS::number);
  private static final Column<Figures> COST_IN_SLO =
      Column.number("cost/1M in SLO", Metric.COST_PER_MILLION_SLO_TOKENS::number);
  private static final Column<Figures> PER_JOULE =
      Column.number("tok/J", Metric.OUTPUT_TOKENS_PER_JOULE::number);

  private KeyFigureTables() {}

  /** What tokens took, where something is known of it. */
  private static List<Column<Figures>> efficiency(Summary summary) {
    return Stream.of(COST, COST_IN_SLO, PER_JOULE)
        .filter(
            column ->
                summary.stages().stream()
                    .map(stage -> column.cell().apply(stage.figures()).text())
                    .anyMatch(text -> !text.equals(NumberText.ABSENT)))
        .toList();
  }

  private static Column<Figures> delivered(Summary summary) {
    return summary.figures().embeds() ? INPUTS : OUTPUT;
  }

  /** Without columns of streams where texts are embedded: nothing streams. */
  private static List<Column<Figures>> present(Summary summary, List<Column<Figures>> columns) {
    return summary.figures().embeds()
        ? columns.stream().filter(each -> !each.heading().matches("(TTFT|ITL|jitter).*")).toList()
        : columns;
  }

  private static Column<Figures> percentile(Metric metric, String name) {
    return Column.percentile(metric.title() + " " + name, name, f -> f.metric(metric));
  }

  /** A time by the clock of headlines: the one that the SLO beside it judges. */
  private static Column<Figures> headline(Summary summary, Metric metric, String name) {
    return percentile(summary.clock().metric(metric), name);
  }

  /** The key figures on the page; a column for the SLO where there is one. */
  private static List<Column<Figures>> keyFigures(Summary summary, boolean isOpen) {
    List<Column<Figures>> columns = new ArrayList<>(List.of(COUNT, FAILED));
    if (summary.figures().counts().rateLimited() > 0) {
      columns.add(RATE_LIMITED);
    }
    if (!isOpen) {
      columns.add(REQUESTS);
    }
    columns.add(delivered(summary));
    if (summary.slo() != null) {
      columns.add(IN_SLO);
    }
    for (String name : List.of("p50", "p95", "p99")) {
      columns.add(onPage(summary, Metric.TTFT_MS, name));
    }
    for (String name : List.of("p50", "p99")) {
      columns.add(percentile(Metric.ITL_MS, name));
    }
    for (String name : List.of("p50", "p95", "p99")) {
      columns.add(onPage(summary, Metric.E2E_MS, name));
    }
    columns.addAll(efficiency(summary));
    return present(summary, columns);
  }

  /** A time by the clock of headlines, which the heading of the first column names. */
  private static Column<Figures> onPage(Summary summary, Metric metric, String name) {
    Metric shown = summary.clock().metric(metric);
    return Column.percentile(metric.title() + " " + name, name, f -> f.metric(shown));
  }

  /** What the first column of a table on the page is called. */
  private static String heading(Summary summary, String what) {
    return what + ", times in ms" + (summary.clock().isNamed() ? " from schedule" : "");
  }

  private static <T> Table keyFigures(
      String what, List<T> rows, Column<T> name, Function<T, Figures> figures, Summary summary) {
    List<Column<T>> columns = new ArrayList<>(List.of(name));
    keyFigures(summary, false).forEach(column -> columns.add(column.in(figures)));
    return Table.of("Key figures by " + what + ", times in ms", rows, columns);
  }

  /** Load levels on the page: those of one target and scenario under its name. */
  static Table byLevel(Summary summary) {
    return byLevel(summary, "");
  }

  /** The same; {@code page} is where its links lead. */
  static Table byLevel(Summary summary, String page) {
    List<Column<Level>> columns =
        new ArrayList<>(
            List.of(
                Column.of(
                    heading(summary, "Load level"),
                    level ->
                        Cell.words(level.stage().label())
                            .remarked(marks(level.curve(), level.stage()))
                            .linked(page + "#level-" + level.position()))));
    boolean isOpen = isOpen(summary);
    if (isOpen) {
      rates(summary).forEach(column -> columns.add(column.in(Level::stage)));
    }
    keyFigures(summary, isOpen)
        .forEach(column -> columns.add(column.in(level -> level.stage().figures())));
    List<Level> levels = new ShownLevels(summary).all();
    Table all = Table.of("Key figures by load level, times in ms", levels, columns);
    List<Group> groups = new ArrayList<>();
    for (Curve curve : summary.curves()) {
      List<Level> own = levels.stream().filter(level -> level.curve().equals(curve)).toList();
      Table table = Table.of("", own, columns);
      String name = summary.curves().size() > 1 ? summary.name(curve) : "";
      table.groups().forEach(group -> groups.add(new Group(name, "", group.rows())));
    }
    return new Table(all.title(), "notes", all.headings(), groups);
  }

  /** What a load level is to its curve, e.g. {@code knee, max goodput}; may be empty. */
  static String marks(Curve curve, Stage stage) {
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

  /** Each target and scenario at its operating point on the page. */
  static Table byCurve(Summary summary) {
    List<Column<Curve>> columns =
        new ArrayList<>(
            List.of(
                Column.of(
                    heading(summary, "Operating point"),
                    curve -> Cell.words(summary.name(curve)).remarked(curve.quoted()))));
    columns.addAll(models(summary));
    List<Column<Figures>> figures = new ArrayList<>(keyFigures(summary, false));
    figures.add(PROMPT);
    figures.forEach(column -> columns.add(column.in(c -> summary.operatingLevel(c).figures())));
    String title = "Key figures by target and scenario, times in ms";
    return Table.of(title, summary.curves(), columns).styled("notes");
  }

  /** What each target was asked for, where that differs. */
  private static List<Column<Curve>> models(Summary summary) {
    Map<String, String> models = new HashMap<>();
    summary.targets().forEach(t -> models.put(t.label(), String.join(", ", t.models())));
    return Set.copyOf(models.values()).size() < 2
        ? List.of()
        : List.of(Column.words("model", curve -> models.getOrDefault(curve.target(), "")));
  }

  /** Targets on the page. */
  static Table byTarget(Summary summary) {
    Column<Target> name = Column.name(heading(summary, "Target"), Target::label);
    return keyFigures("target", summary.targets(), name, Target::figures, summary);
  }

  /** Request names at the operating points; {@code page} is where their links lead. */
  static Table byName(Summary summary, String page, List<RequestAtPoint> requests) {
    List<Column<RequestAtPoint>> columns =
        new ArrayList<>(
            List.of(
                Column.of(
                    heading(summary, "Request"),
                    request ->
                        Cell.words(request.name())
                            .remarked(summary.hasSeveralLevels() ? at(summary, request) : "")
                            .linked(page + "#" + anchor(summary, request)))));
    List<Column<Figures>> figures = new ArrayList<>(List.of(COUNT, FAILED, delivered(summary)));
    if (summary.slo() != null) {
      figures.add(
          Column.number("goodput/s", f -> f.goodput() == null ? null : f.goodput().requestsPerS()));
      figures.add(IN_SLO);
    }
    for (String name : List.of("p50", "p95", "p99")) {
      figures.add(onPage(summary, Metric.TTFT_MS, name));
    }
    figures.add(percentile(Metric.ITL_MS, "p50"));
    figures.add(percentile(Metric.ITL_MS, "p99"));
    figures.add(Column.number("jitter", f -> f.number(Metric.JITTER)));
    figures.add(onPage(summary, Metric.E2E_MS, "p50"));
    figures.add(onPage(summary, Metric.E2E_MS, "p99"));
    present(summary, figures).forEach(column -> columns.add(column.in(RequestAtPoint::figures)));
    return Table.of("Key figures by request", requests, columns).styled("notes");
  }

  /** Request names, the parts of a mix, in text files; empty where there is only one. */
  static Table requests(Summary summary) {
    List<Column<RequestAtPoint>> columns =
        new ArrayList<>(List.of(Column.name("request", RequestAtPoint::name)));
    if (summary.hasSeveralLevels()) {
      columns.add(Column.words("at", r -> place(summary, summary.operatingLevel(r.curve()))));
    }
    List<Column<Figures>> figures =
        new ArrayList<>(List.of(COUNT, FAILED, REQUESTS, delivered(summary)));
    if (summary.slo() != null) {
      figures.add(IN_SLO);
    }
    figures.add(headline(summary, Metric.TTFT_MS, "p50"));
    figures.add(headline(summary, Metric.TTFT_MS, "p99"));
    figures.add(percentile(Metric.ITL_MS, "p99"));
    figures.add(headline(summary, Metric.E2E_MS, "p50"));
    present(summary, figures).forEach(column -> columns.add(column.in(RequestAtPoint::figures)));
    List<RequestAtPoint> all = summary.requestsAtPoints();
    long names = all.stream().map(RequestAtPoint::name).distinct().count();
    return Table.of("Requests", names > 1 ? all : List.<RequestAtPoint>of(), columns);
  }

  /** Where a request's figures are of, e.g. {@code vLLM: c=16, the knee}. */
  static String at(Summary summary, RequestAtPoint request) {
    return operatingPoint(summary, request.curve());
  }

  /** The anchor of a request's metrics: the same in Gatling's pages and in {@code llm.html}. */
  static String anchor(Summary summary, RequestAtPoint request) {
    int curve = summary.curves().indexOf(request.curve());
    return anchor(request.name()) + (curve == 0 ? "" : "-" + curve);
  }

  static String anchor(String requestName) {
    return "request-" + String.format(Locale.ROOT, "%08x", requestName.hashCode());
  }

  /** All three rates of open load, and how many waited at the end; none without open load. */
  private static List<Column<Stage>> rates(Summary summary) {
    return isOpen(summary)
        ? List.of(
            Column.figure("offered/s", KeyFigureTables::offeredRate),
            Column.number("arrived/s", Stage::arrivedPerS),
            REQUESTS.in(Stage::figures),
            Column.figure("queue", KeyFigureTables::queue))
        : List.of();
  }

  private static boolean isOpen(Summary summary) {
    return summary.stages().stream().anyMatch(stage -> stage.queue() != null);
  }

  private static String offeredRate(Stage stage) {
    Double offered = stage.queue() == null ? null : stage.offered();
    return offered == null ? NumberText.ABSENT : NumberText.plain(offered);
  }

  /** How long it was at the end, and whether it grew. */
  private static String queue(Stage stage) {
    Queue queue = stage.queue();
    return queue == null
        ? NumberText.ABSENT
        : NumberText.count(queue.end()) + (queue.grows() ? " ↑" : "");
  }

  /** Load levels in text files. */
  static Table levels(Summary summary) {
    List<Column<Stage>> columns =
        new ArrayList<>(List.of(Column.name("level", stage -> place(summary, stage))));
    boolean isOpen = isOpen(summary);
    columns.addAll(
        isOpen ? rates(summary) : List.of(Column.number("in flight", Stage::meanInFlight)));
    List<Column<Figures>> figures = new ArrayList<>();
    if (!isOpen) {
      figures.add(REQUESTS);
    }
    figures.add(delivered(summary));
    figures.add(headline(summary, Metric.TTFT_MS, "p50"));
    figures.add(headline(summary, Metric.TTFT_MS, "p99"));
    if (!isOpen) {
      figures.add(percentile(Metric.ITL_MS, "p50"));
    }
    figures.add(percentile(Metric.ITL_MS, "p99"));
    if (!isOpen) {
      figures.add(headline(summary, Metric.E2E_MS, "p50"));
    }
    if (summary.figures().embeds()) {
      figures.add(headline(summary, Metric.E2E_MS, "p99"));
    }
    figures.addAll(outcome(summary));
    figures.addAll(efficiency(summary));
    present(summary, figures).forEach(column -> columns.add(column.in(Stage::figures)));
    return Table.of("Load levels", summary.stages(), columns);
  }

  private static List<Column<Figures>> outcome(Summary summary) {
    return summary.slo() == null ? List.of(FAILED) : List.of(IN_SLO, FAILED);
  }

  /** Each target's and scenario's operating point in text files; empty where there is only one. */
  static Table curves(Summary summary) {
    List<Column<Curve>> columns =
        new ArrayList<>(
            List.of(
                Column.name(
                    (summary.hasSeveralTargets() ? "target" : "scenario")
                        + (summary.clock().isNamed() ? ", ms from schedule" : ", ms"),
                    summary::name),
                Column.words("at", curve -> curve.operatingPoint().stage())));
    columns.addAll(models(summary));
    List<Column<Figures>> figures =
        new ArrayList<>(List.of(COUNT, FAILED, REQUESTS, delivered(summary)));
    if (summary.slo() != null) {
      figures.add(IN_SLO);
    }
    figures.add(onPage(summary, Metric.TTFT_MS, "p50"));
    figures.add(onPage(summary, Metric.TTFT_MS, "p99"));
    figures.add(percentile(Metric.ITL_MS, "p99"));
    for (String name : List.of("p50", "p95", "p99")) {
      figures.add(onPage(summary, Metric.E2E_MS, name));
    }
    figures.add(PROMPT);
    present(summary, figures)
        .forEach(
            column -> columns.add(column.in(curve -> summary.operatingLevel(curve).figures())));
    return Table.of(
        CURVES, summary.curves().size() > 1 ? summary.curves() : List.<Curve>of(), columns);
  }

  /** The level that headlines about a curve quote, e.g. {@code At c=16, the knee}. */
  static String operatingPoint(Summary summary, Curve curve) {
    String text = curve.quoted();
    return summary.curves().size() == 1 ? "At " + text : summary.name(curve) + ": " + text;
  }

  /** Batch trials of one stage on the page. */
  static Table trials(String place, Trials trials) {
    return Table.of("Trials of " + place, trials.rows(), TRIAL);
  }

  /**
   * Batch trials of all stages in text files; empty outside batch mode.
   *
   * @param most rows of each stage at most
   */
  static Table trials(Summary summary, int most) {
    List<List<Cell>> rows = new ArrayList<>();
    for (Stage stage : summary.stages()) {
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
  static String place(Summary summary, Stage stage) {
    return summary.place(stage.label(), stage.target(), stage.scenario());
  }
}
