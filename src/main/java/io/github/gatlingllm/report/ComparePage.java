package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.compare.Comparison;
import io.github.gatlingllm.figures.compare.Comparison.Change;
import io.github.gatlingllm.figures.compare.Comparison.FailCondition.Judged;
import io.github.gatlingllm.figures.compare.Comparison.Outcome;
import io.github.gatlingllm.figures.compare.Comparison.Place;
import io.github.gatlingllm.figures.compare.Comparison.Trend;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.StartCommand;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.RunText.Fact;
import io.github.gatlingllm.report.Table.Cell;
import io.github.gatlingllm.report.Table.CellKind;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.report.Table.Columns;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Runs side by side: the first and what differs from it in the others, and figures run by run; of a
 * trend these alone.
 *
 * @param runs a base and the runs that are compared with it; of a trend none
 */
record ComparePage(List<Compared> runs, TrendSection trend, String text) {

  /** What was measured; a condition may have no change. */
  private static final List<Column<@Nullable Change>> MEASURED =
      List.of(
          measured("Base", change -> ChangeText.value(change, change.base())),
          measured("This run", change -> ChangeText.value(change, change.run())),
          measured("Change", ChangeText::by),
          measured("Interval", ChangeText::interval));

  /** A run and its differences from the base, which has none. */
  record Compared(
      String name, RunFigures figures, @Nullable Comparison comparison, List<Judged> judged) {

    Summary summary() {
      return figures.summary();
    }

    Comparison changes() {
      return Objects.requireNonNull(comparison);
    }

    public String verdict() {
      return ChangeText.verdict(changes(), judged);
    }

    public List<String> gates() {
      return judged.stream().map(ChangeText::judged).toList();
    }

    public List<String> notes() {
      return changes().notes();
    }

    List<String> unmatched() {
      return changes().unmatched().stream().map(at -> name + ": load level " + at).toList();
    }
  }

  static ComparePage of(List<Compared> runs) {
    TrendSection all =
        new TrendSection(runs.size() > 2 ? new CompareCurves(runs).steps() : Map.of(), false);
    ComparePage page = new ComparePage(runs, all, "");
    return new ComparePage(runs, all, Templates.fill("compare-md", page.values()));
  }

  static ComparePage of(Trend trend) {
    return new ComparePage(
        List.of(), new TrendSection(trend.named(), true), TrendSection.json(trend));
  }

  boolean isTrend() {
    return runs.isEmpty();
  }

  private Compared base() {
    return runs.get(0);
  }

  private List<Compared> others() {
    return runs.subList(1, runs.size());
  }

  private boolean hasSeveral() {
    return runs.size() > 2;
  }

  boolean hasFailed() {
    return runs.stream().flatMap(run -> run.judged.stream()).anyMatch(Judged::hasFailed);
  }

  // ---- page and console

  String title() {
    return isTrend() ? "LLM trend" : "LLM comparison";
  }

  Page page() {
    return isTrend()
        ? page(title(), "Trend over runs", trend.facts(), List.of(trend.section()))
        : page(
            title() + ": " + base().name,
            "Comparison with " + base().name,
            runs.stream().map(this::fact).toList(),
            sections());
  }

  private Page page(String title, String heading, List<Fact> facts, List<Section> sections) {
    return new Page(
        "compare", title(), title, Map.of("heading", heading, "facts", facts), sections);
  }

  private Fact fact(Compared run) {
    Summary summary = run.summary();
    String requests = NumberText.count(summary.figures().counts().started());
    return new Fact(
        run.comparison == null ? "Base" : "Run",
        run.name + ", " + requests + " requests, " + summary.run().state());
  }

  private List<Section> sections() {
    Map<String, Object> values = values();
    Stream<Section> texts =
        Stream.of("differences", "verdict", "figures")
            .map(key -> Section.of(key).body("compare-" + key, values));
    Stream<Section> all = hasSeveral() ? Stream.concat(texts, Stream.of(trend.section())) : texts;
    return Stream.concat(all, Stream.of(new CompareCurves(runs).section())).toList();
  }

  List<String> lines() {
    return isTrend() ? trend.marks() : others().stream().flatMap(ComparePage::lines).toList();
  }

  private static Stream<String> lines(Compared run) {
    return Stream.of(
            List.of(run.name + ": " + run.verdict()), run.notes(), run.unmatched(), run.gates())
        .flatMap(List::stream);
  }

  private Map<String, Object> values() {
    return Map.of(
        "base", base().name,
        "several", hasSeveral(),
        "workload", table("Workload", "Workload", rows(summary -> facts("workload", summary))),
        "settings", settings(),
        "unmatched", others().stream().flatMap(run -> run.unmatched().stream()).toList(),
        "verdicts", others(),
        "conditions", conditions(),
        "places", places());
  }

  // ---- gates

  private record RunCondition(String run, Judged judged) {}

  private Table conditions() {
    List<RunCondition> conditions =
        runs.stream()
            .flatMap(run -> run.judged.stream().map(j -> new RunCondition(run.name, j)))
            .toList();
    return Columns.<RunCondition>of(
            Column.name("Condition", c -> c.judged.condition().text()),
            Column.words("Run", RunCondition::run),
            Column.words("At", c -> NumberText.orAbsent(c.judged.place())))
        .of(c -> c.judged.change(), MEASURED)
        .and(Column.of("Outcome", c -> outcome(c.judged)))
        .table("Conditions", conditions);
  }

  private static Cell outcome(Judged judged) {
    String thin = judged.isThin() ? Outcome.TOO_FEW_VALUES.words() : "";
    return Cell.passed(!judged.hasFailed())
        .remarked(Objects.requireNonNullElse(judged.missing(), thin));
  }

  private static Column<@Nullable Change> measured(String heading, Function<Change, String> of) {
    return Column.figure(heading, change -> change == null ? NumberText.ABSENT : of.apply(change));
  }

  // ---- figures

  /** The changes at one load level, or of all pooled. */
  record Changes(
      String heading, String title, String counted, Table table, Table rest, String unchanged) {}

  /** A figure, and its change in each of the other runs; null in a run that lacks the place. */
  private record Row(Figure figure, List<@Nullable Change> changes) {

    List<Change> known() {
      return changes.stream().filter(Objects::nonNull).toList();
    }

    /** What is worse in a run comes first, what is better next. */
    int rank() {
      Set<Outcome> all = known().stream().map(Change::outcome).collect(Collectors.toSet());
      return all.contains(Outcome.WORSE) ? 0 : all.contains(Outcome.BETTER) ? 1 : 2;
    }
  }

  private List<Changes> places() {
    Map<List<Object>, List<@Nullable Place>> places = new LinkedHashMap<>();
    for (int run = 0; run < others().size(); run++) {
      for (Place place : others().get(run).changes().places()) {
        places
            .computeIfAbsent(
                List.of(place.name(), place.base()),
                same -> new ArrayList<>(Collections.nCopies(others().size(), null)))
            .set(run, place);
      }
    }
    return places.values().stream().map(this::changes).toList();
  }

  /** The same place in each of the other runs. */
  private Changes changes(List<@Nullable Place> places) {
    Place first = places.stream().filter(Objects::nonNull).findFirst().orElseThrow();
    boolean isHeadline =
        IntStream.range(0, places.size())
            .anyMatch(run -> isHeadline(others().get(run).changes().places(), places.get(run)));
    List<Row> rows =
        Figure.compared().stream()
            .map(figure -> row(figure, places))
            .filter(row -> !row.known().isEmpty())
            .toList();
    List<Row> shown =
        rows.stream()
            .filter(row -> row.rank() < 2 || (isHeadline && TrendSection.isKey(row.figure)))
            .sorted(Comparator.comparingInt(Row::rank))
            .toList();
    List<Row> rest = rows.stream().filter(row -> !shown.contains(row)).toList();
    boolean isOpen = isHeadline || (first.level() == null && base().summary().curves().size() < 2);
    return new Changes(
        hasSeveral() ? first.name() : others().get(0).name + ", " + first.name(),
        first.name(),
        isOpen ? "" : clear(rows),
        figures(first.name(), shown),
        figures("", rest),
        unclear(rest));
  }

  private static Row row(Figure figure, List<@Nullable Place> places) {
    List<@Nullable Change> changes = new ArrayList<>();
    places.forEach(
        place -> changes.add(place == null ? null : place.change(figure.name()).orElse(null)));
    return new Row(figure, changes);
  }

  /** Whether this is an operating point of the base; without any, whether it is the pooled one. */
  private boolean isHeadline(List<Place> all, @Nullable Place place) {
    return place != null
        && (all.stream().anyMatch(this::isOperatingPoint)
            ? isOperatingPoint(place)
            : place.equals(all.get(0)));
  }

  private boolean isOperatingPoint(Place place) {
    LevelInfo level = place.level();
    return level != null
        && base().summary().curves().stream().anyMatch(c -> c.operatingPoint().isAt(level));
  }

  private Map<Outcome, Long> counts(List<Row> rows) {
    return rows.stream()
        .flatMap(row -> row.known().stream())
        .collect(Collectors.groupingBy(Change::outcome, TreeMap::new, Collectors.counting()));
  }

  private String clear(List<Row> rows) {
    Map<Outcome, Long> counts = counts(rows);
    long worse = counts.getOrDefault(Outcome.WORSE, 0L);
    long better = counts.getOrDefault(Outcome.BETTER, 0L);
    return worse + better == 0 ? unclear(rows) : worse + " worse, " + better + " better";
  }

  /** E.g. {@code no clear change: 12 figures, too few values: 1 figure}. */
  private String unclear(List<Row> rows) {
    String what = hasSeveral() ? "comparison" : "figure";
    return counts(rows).entrySet().stream()
        .map(e -> e.getKey().words() + ": " + NumberText.counted(e.getValue(), what))
        .collect(Collectors.joining(", "));
  }

  private Table figures(String title, List<Row> rows) {
    Columns<Row> columns = Columns.of(Column.of("Figure", row -> figure(row.figure)));
    if (!hasSeveral()) {
      columns
          .of(row -> row.changes.get(0), MEASURED)
          .and(Column.of("Verdict", row -> ChangeText.verdict(row.known().get(0))));
      return columns.table(title, rows);
    }
    columns.and(
        Column.figure(
            base().name, row -> ChangeText.value(row.known().get(0), row.known().get(0).base())));
    for (int i = 0; i < others().size(); i++) {
      int run = i;
      columns.and(Column.of(others().get(i).name, row -> cell(row.changes.get(run))));
    }
    return columns.table(title, rows);
  }

  private static Cell cell(@Nullable Change change) {
    if (change == null) {
      return Cell.figure(NumberText.ABSENT);
    }
    String interval = change.interval() == null ? "" : " (" + ChangeText.interval(change) + ")";
    return ChangeText.cell(ChangeText.value(change, change.run()), change)
        .remarked(ChangeText.words(change) + interval);
  }

  private static Cell figure(Figure figure) {
    boolean isLowerBetter = figure.metric().better() == Metric.Better.LOWER;
    return new Cell(figure.name(), CellKind.CODE)
        .remarked(figure.words() + (isLowerBetter ? ", lower" : ", higher") + " is better");
  }

  // ---- configuration differences

  /** What is not the same in all runs and may explain why figures differ. */
  private Table settings() {
    Map<String, List<String>> rows = rows(summary -> facts("setting", summary));
    Map<String, List<String>> config = new TreeMap<>(rows(Summary::config));
    config.remove(StartCommand.CONFIG_NAME); // says the same as other rows
    config.forEach(rows::putIfAbsent);
    new TreeMap<>(rows(summary -> summary.run().versions()))
        .forEach((name, versions) -> rows.put("version of " + name, versions));
    rows.putAll(rows(summary -> facts("validity", summary)));
    rows.values().removeIf(values -> values.stream().distinct().count() < 2);
    return table("Configuration", "Setting", rows);
  }

  /** A column per run. */
  private Table table(String title, String heading, Map<String, List<String>> rows) {
    Columns<Map.Entry<String, List<String>>> columns =
        Columns.of(Column.name(heading, Map.Entry::getKey));
    for (int i = 0; i < runs.size(); i++) {
      int run = i;
      columns.and(Column.words(runs.get(i).name, row -> row.getValue().get(run)));
    }
    return columns.table(title, rows.entrySet()).styled("compact");
  }

  /** The names that any run has, with the value in each. */
  private Map<String, List<String>> rows(Function<Summary, Map<String, String>> of) {
    List<Map<String, String>> all = runs.stream().map(run -> of.apply(run.summary())).toList();
    Map<String, List<String>> rows = new LinkedHashMap<>();
    for (Map<String, String> run : all) {
      for (String name : run.keySet()) {
        rows.put(name, all.stream().map(each -> value(each.get(name))).toList());
      }
    }
    return rows;
  }

  private static String value(@Nullable String value) {
    return value == null || value.isEmpty() ? NumberText.ABSENT : value;
  }

  private static Map<String, String> facts(String table, Summary summary) {
    Map<String, String> facts = new LinkedHashMap<>();
    Templates.rows("compare-run", 3, Map.of("summary", summary, "levels", levels(summary)))
        .forEach(
            row -> {
              if (row.get(0).equals(table)) {
                facts.put(row.get(1), row.get(2));
              }
            });
    return facts;
  }

  private static String levels(Summary summary) {
    Map<String, String> byTarget = new LinkedHashMap<>();
    summary.stages().forEach(s -> byTarget.merge(s.target(), s.label(), (a, b) -> a + " " + b));
    return byTarget.size() == 1
        ? byTarget.values().iterator().next()
        : byTarget.entrySet().stream()
            .map(e -> e.getKey() + ": " + e.getValue())
            .collect(Collectors.joining("; "));
  }
}
