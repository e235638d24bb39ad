package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.compare.Comparison;
import io.github.gatlingllm.figures.compare.Comparison.Change;
import io.github.gatlingllm.figures.compare.Comparison.ComparedPlace;
import io.github.gatlingllm.figures.compare.Comparison.Judged;
import io.github.gatlingllm.figures.compare.Comparison.Outcome;
import io.github.gatlingllm.figures.compare.Comparison.Step;
import io.github.gatlingllm.figures.compare.Comparison.TrendSeries;
import io.github.gatlingllm.figures.level.RunStatistics.OtherTool;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Figure;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.StartCommand;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.RunText.NamedText;
import io.github.gatlingllm.report.Table.CellKind;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.report.Table.TableCell;
import java.util.ArrayList;
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
 * Runs side by side: the first and what differs from it in the others, and figures run by run.
 *
 * @param runs a base and the runs that are compared with it
 */
record ComparePage(List<Compared> runs) {

  /** What was measured; a condition may have no change. */
  private static final List<Column<@Nullable Change>> MEASURED =
      List.of(
          measured("Base", change -> ChangeText.value(change, change.base())),
          measured("This run", change -> ChangeText.value(change, change.run())),
          measured("Change", ChangeText::by),
          measured("Interval", ChangeText::interval));

  /** A run and its differences from the base, which has none. */
  record Compared(
      String name,
      RunFigures figures,
      @Nullable Comparison comparison,
      List<Judged> judged,
      @Nullable OtherTool tool) {

    Summary summary() {
      return figures.summary();
    }

    Comparison changes() {
      return Objects.requireNonNull(comparison);
    }

    public String verdict() {
      return Sentence.text(ChangeText.verdict(changes(), judged));
    }

    public List<String> gates() {
      return judged.stream().map(ChangeText::judged).map(Sentence::text).toList();
    }

    public List<String> notes() {
      return changes().notes();
    }

    /** What its tool counts otherwise, by metric. */
    Map<Metric, String> definitions() {
      return tool == null ? Map.of() : tool.definitions();
    }

    List<String> unmatched() {
      return changes().unmatched().stream().map(at -> name + ": load level " + at).toList();
    }
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

  /** The comparison as Markdown, short enough for a pull request. */
  String text() {
    return Templates.fill("compare-md", values());
  }

  Page page() {
    String name = "LLM comparison";
    List<NamedText> facts = runs.stream().map(ComparePage::fact).toList();
    Map<String, Object> own = Map.of("heading", "Comparison with " + base().name, "facts", facts);
    return new Page("compare", name, name + ": " + base().name, own, sections());
  }

  private static NamedText fact(Compared run) {
    Summary summary = run.summary();
    String requests = NumberText.count(summary.figures().counts().started());
    return new NamedText(
        run.comparison == null ? "Base" : "Run",
        run.name + ", " + requests + " requests, " + summary.run().state());
  }

  private List<Section> sections() {
    Map<String, Object> values = values();
    List<Section> sections = new ArrayList<>();
    for (String key : List.of("differences", "verdict", "figures")) {
      sections.add(Section.of(key).body("compare-" + key, values));
    }
    if (hasSeveral()) {
      sections.add(steps().section());
    }
    sections.add(LoadSection.compared(runs));
    return sections;
  }

  List<String> lines() {
    return Stream.concat(others().stream().flatMap(ComparePage::lines), definitions().stream())
        .toList();
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
        "unmatched",
            Stream.concat(
                    others().stream().flatMap(run -> run.unmatched().stream()),
                    definitions().stream())
                .toList(),
        "verdicts", others(),
        "conditions", conditions(),
        "places", places().stream().map(this::changes).toList());
  }

  private record RunCondition(String run, Judged judged) {}

  private Table conditions() {
    List<RunCondition> conditions =
        runs.stream()
            .flatMap(run -> run.judged.stream().map(j -> new RunCondition(run.name, j)))
            .toList();
    List<Column<RunCondition>> columns = new ArrayList<>();
    columns.add(Column.name("Condition", c -> c.judged.condition().text()));
    columns.add(Column.words("Run", RunCondition::run));
    columns.add(Column.words("At", c -> NumberText.orAbsent(c.judged.place())));
    MEASURED.forEach(column -> columns.add(column.in(c -> c.judged.change())));
    columns.add(Column.of("Outcome", c -> outcome(c.judged)));
    return Table.of("Conditions", conditions, columns);
  }

  private static TableCell outcome(Judged judged) {
    String thin = judged.hasTooFewValues() ? Outcome.TOO_FEW_VALUES.words() : "";
    return TableCell.passed(!judged.hasFailed())
        .remarked(Objects.requireNonNullElse(judged.missing(), thin));
  }

  private static Column<@Nullable Change> measured(String heading, Function<Change, String> of) {
    return Column.figure(heading, change -> change == null ? NumberText.ABSENT : of.apply(change));
  }

  /** The changes at one load level, or of all pooled. */
  private record Changes(String title, String counted, Table table, Table rest, String unchanged) {}

  /** A place of the comparisons, in the base and in the other runs that have it. */
  private record SamePlace(ComparedPlace first, List<Step> steps) {

    /** Other levels of the base may be pooled with another run, under the same name. */
    private boolean isSame(ComparedPlace other) {
      return first.name().equals(other.name())
          && (first.level() != null || first.base().equals(other.base()));
    }

    private Stream<Change> changes(List<Figure> figures) {
      return figures.stream().flatMap(figure -> changes(figure));
    }

    private Stream<Change> changes(Figure figure) {
      return steps.stream().map(step -> step.change(figure)).filter(Objects::nonNull);
    }

    /** What is worse in a run comes first, what is better next. */
    private int rank(Figure figure) {
      Set<Outcome> all = changes(figure).map(Change::outcome).collect(Collectors.toSet());
      return all.contains(Outcome.WORSE) ? 0 : all.contains(Outcome.BETTER) ? 1 : 2;
    }
  }

  private List<SamePlace> places() {
    List<SamePlace> all = new ArrayList<>();
    for (int i = 1; i < runs.size(); i++) {
      for (ComparedPlace place : runs.get(i).changes().places()) {
        SamePlace same = all.stream().filter(known -> known.isSame(place)).findFirst().orElse(null);
        if (same == null) {
          same = new SamePlace(place, new ArrayList<>());
          same.steps.add(step(0, place.name(), place.base(), List.of()));
          all.add(same);
        }
        same.steps.add(step(i, place.name(), place.run(), place.changes()));
      }
    }
    return all;
  }

  private Step step(int i, String level, Figures figures, List<Change> changes) {
    Compared run = runs.get(i);
    String base = i == 0 ? null : base().name;
    return new Step(i, run.name, run.summary(), level, figures, base, changes);
  }

  private boolean isHeadline(SamePlace place) {
    return others().stream().flatMap(this::headlines).anyMatch(place::isSame);
  }

  /** The operating points of the base; where the run has none of them, the first place. */
  private Stream<ComparedPlace> headlines(Compared run) {
    List<ComparedPlace> all = run.changes().places();
    List<ComparedPlace> some =
        all.stream().filter(place -> isOperatingPoint(place.level())).toList();
    return some.isEmpty() ? Stream.of(all.get(0)) : some.stream();
  }

  private boolean isOperatingPoint(@Nullable LevelInfo level) {
    return level != null
        && base().summary().curves().stream().anyMatch(c -> c.operatingPoint().isAt(level));
  }

  private TrendSection steps() {
    Map<TrendSeries, List<Step>> series = new LinkedHashMap<>();
    for (SamePlace place : places()) {
      if (isHeadline(place)) {
        series.put(new TrendSeries("", place.first.name(), "", Map.of()), place.steps);
      }
    }
    return new TrendSection(series, false);
  }

  private Changes changes(SamePlace place) {
    boolean isHeadline = isHeadline(place);
    List<Figure> all =
        Figure.compared().stream().filter(f -> place.changes(f).findAny().isPresent()).toList();
    List<Figure> shown =
        all.stream()
            .filter(f -> place.rank(f) < 2 || (isHeadline && TrendSection.isKey(f)))
            .sorted(Comparator.comparingInt(place::rank))
            .toList();
    List<Figure> rest = all.stream().filter(figure -> !shown.contains(figure)).toList();
    String title = place.first.name();
    boolean isPooled = place.first.level() == null;
    boolean isOpen = isHeadline || (isPooled && base().summary().curves().size() < 2);
    return new Changes(
        title,
        isOpen ? "" : clear(place.changes(all).toList()),
        figures(title, place, shown),
        figures("", place, rest),
        unclear(place.changes(rest).toList()));
  }

  private String clear(List<Change> changes) {
    long worse = changes.stream().filter(c -> c.outcome() == Outcome.WORSE).count();
    long better = changes.stream().filter(c -> c.outcome() == Outcome.BETTER).count();
    return worse + better == 0 ? unclear(changes) : worse + " worse, " + better + " better";
  }

  /** E.g. {@code no clear change: 12 figures, too few values: 1 figure}. */
  private String unclear(List<Change> changes) {
    String what = hasSeveral() ? "comparison" : "figure";
    return changes.stream()
        .collect(Collectors.groupingBy(Change::outcome, TreeMap::new, Collectors.counting()))
        .entrySet()
        .stream()
        .map(e -> e.getKey().words() + ": " + NumberText.counted(e.getValue(), what))
        .collect(Collectors.joining(", "));
  }

  private Table figures(String title, SamePlace place, List<Figure> figures) {
    List<Column<Figure>> columns = new ArrayList<>();
    columns.add(Column.of("Figure", this::figure));
    if (!hasSeveral()) {
      MEASURED.forEach(column -> columns.add(column.in(place.steps.get(1)::change)));
      columns.add(
          Column.of(
              "Verdict", of -> ChangeText.verdict(place.changes(of).findFirst().orElseThrow())));
      return Table.of(title, figures, columns);
    }
    for (int i = 0; i < runs.size(); i++) {
      int run = i;
      Step step =
          place.steps.stream().filter(each -> each.position() == run).findFirst().orElse(null);
      columns.add(Column.of(runs.get(i).name, figure -> cell(figure, step)));
    }
    return Table.of(title, figures, columns);
  }

  private static TableCell cell(Figure figure, @Nullable Step step) {
    Change change = step == null ? null : step.change(figure);
    TableCell value =
        step == null ? TableCell.figure(NumberText.ABSENT) : ChangeText.cell(figure, step);
    return change == null
        ? value
        : value.remarked(
            ChangeText.words(change)
                + (change.interval() == null ? "" : " (" + ChangeText.interval(change) + ")"));
  }

  private TableCell figure(Figure figure) {
    boolean isLowerBetter = figure.metric().better() == Metric.Better.LOWER;
    String differs =
        runs.stream()
            .filter(run -> run.definitions().containsKey(figure.metric()))
            .map(run -> "; " + run.name + ": " + run.definitions().get(figure.metric()))
            .collect(Collectors.joining());
    return new TableCell(figure.name(), CellKind.CODE)
        .remarked(
            figure.words() + (isLowerBetter ? ", lower" : ", higher") + " is better" + differs);
  }

  /** What other tools count otherwise, a line for each run and difference. */
  private List<String> definitions() {
    List<String> lines = new ArrayList<>();
    for (Compared run : runs) {
      Map<String, String> metrics = new LinkedHashMap<>();
      run.definitions()
          .forEach((metric, how) -> metrics.merge(how, metric.title(), (a, b) -> a + ", " + b));
      metrics.forEach((how, names) -> lines.add(run.name + ": " + names + ": " + how));
    }
    return lines;
  }

  /** What is not the same in all runs and may explain why figures differ. */
  private Table settings() {
    Map<String, List<String>> rows = rows(summary -> facts("setting", summary));
    Map<String, List<String>> config = new TreeMap<>(rows(Summary::config));
    config.remove(StartCommand.CONFIG_NAME); // repeats other rows
    config.forEach(rows::putIfAbsent);
    new TreeMap<>(rows(summary -> summary.run().versions()))
        .forEach((name, versions) -> rows.put("version of " + name, versions));
    rows.putAll(rows(summary -> facts("validity", summary)));
    rows.values().removeIf(values -> known(values).distinct().count() < 2);
    return table("Configuration", "Setting", rows);
  }

  /** Without the absent values of other tools, which do not have our settings. */
  private Stream<String> known(List<String> values) {
    return IntStream.range(0, runs.size())
        .filter(i -> runs.get(i).tool == null || !values.get(i).equals(NumberText.ABSENT))
        .mapToObj(values::get);
  }

  /** A column per run. */
  private Table table(String title, String heading, Map<String, List<String>> rows) {
    List<Column<Map.Entry<String, List<String>>>> columns = new ArrayList<>();
    columns.add(Column.name(heading, Map.Entry::getKey));
    for (int i = 0; i < runs.size(); i++) {
      int run = i;
      columns.add(Column.words(runs.get(i).name, row -> row.getValue().get(run)));
    }
    return Table.of(title, rows.entrySet(), columns).styled("compact");
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
    for (List<String> row : Templates.rows("compare-run", 3, Map.of("summary", summary))) {
      if (row.get(0).equals(table)) {
        facts.put(row.get(1), row.get(2));
      }
    }
    return facts;
  }
}
