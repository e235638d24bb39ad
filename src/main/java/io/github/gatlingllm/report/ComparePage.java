package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.compare.Comparison;
import io.github.gatlingllm.figures.compare.Comparison.Change;
import io.github.gatlingllm.figures.compare.Comparison.FailCondition.Judged;
import io.github.gatlingllm.figures.compare.Comparison.Outcome;
import io.github.gatlingllm.figures.compare.Comparison.Place;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Figures.Check;
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
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A base and the runs that are compared with it, as {@code compare.html} and {@code compare.md}:
 * configuration differences, changes, and, on the page, the curves of all runs.
 */
record ComparePage(RunSide base, List<Compared> others) {

  /** Figures that are shown whether or not they changed. */
  static final Set<String> KEY_FIGURES =
      Set.of(
          "ttft.p50",
          "ttft.p99",
          "itl.p99",
          "tpot.p50",
          "e2e.p50",
          "output_tokens_per_s",
          "requests_per_s",
          "goodput.percent",
          "errors");

  /** What was measured; a condition may have no change. */
  private static final List<Column<@Nullable Change>> MEASURED =
      List.of(
          measured("Base", change -> ChangeText.value(change, change.base())),
          measured("This run", change -> ChangeText.value(change, change.run())),
          measured("Change", ChangeText::by),
          measured("Interval", ChangeText::interval));

  record RunSide(String name, RunFigures figures) {

    Summary summary() {
      return figures.summary();
    }
  }

  record Compared(RunSide side, Comparison comparison, List<Judged> judged) {}

  private List<RunSide> sides() {
    return Stream.concat(Stream.of(base), others.stream().map(Compared::side)).toList();
  }

  private List<Summary> summaries() {
    return sides().stream().map(RunSide::summary).toList();
  }

  boolean hasFailed() {
    return others.stream().flatMap(other -> other.judged.stream()).anyMatch(Judged::hasFailed);
  }

  void write(Path file) throws IOException {
    List<Fact> facts =
        sides().stream()
            .map(side -> new Fact(side.equals(base) ? "Base" : "Run", inWords(side)))
            .toList();
    Map<String, Object> values = values();
    new Page(
            "compare",
            "LLM comparison",
            "LLM comparison: " + base.name,
            Map.of("base", base.name, "facts", facts),
            List.of(
                Section.of("differences").body("compare-differences", values),
                Section.of("verdict").body("compare-verdict", values),
                Section.of("figures").body("compare-figures", values),
                new CompareCurves(sides()).section()))
        .write(file);
  }

  private static String inWords(RunSide side) {
    Summary summary = side.summary();
    String requests = NumberText.count(summary.figures().counts().started());
    return side.name + ", " + requests + " requests, " + summary.run().state();
  }

  /** The comparison as {@code compare.md}, short enough for a pull request. */
  String markdown() {
    return Templates.fill("compare-md", values());
  }

  private Map<String, Object> values() {
    Map<String, Object> values = new HashMap<>();
    values.put("base", base.name);
    values.put("several", others.size() > 1);
    values.put("workload", workload());
    values.put("settings", settings());
    values.put("unmatched", unmatched());
    values.put("verdicts", others.stream().map(RunVerdict::of).toList());
    values.put("conditions", conditions());
    values.put("places", changes());
    return values;
  }

  // ---- verdict

  private record RunVerdict(String run, String text, List<String> judged, List<String> notes) {

    static RunVerdict of(Compared other) {
      return new RunVerdict(
          other.side.name,
          ChangeText.verdict(other),
          other.judged.stream().map(ChangeText::judged).toList(),
          other.comparison.notes());
    }
  }

  private record RunCondition(String run, Judged judged) {}

  private Table conditions() {
    List<RunCondition> conditions =
        others.stream()
            .flatMap(run -> run.judged.stream().map(j -> new RunCondition(run.side.name, j)))
            .toList();
    return Columns.<RunCondition>of(
            Column.name("Condition", c -> c.judged.condition().text()),
            Column.words("Run", RunCondition::run),
            Column.words("At", c -> NumberText.orAbsent(c.judged.place())))
        .of(c -> c.judged.change(), MEASURED)
        .and(Column.of("Outcome", ComparePage::outcome))
        .table("Conditions", conditions);
  }

  private static Cell outcome(RunCondition of) {
    String remark =
        of.judged.missing() != null
            ? of.judged.missing()
            : of.judged.isThin() ? Outcome.TOO_FEW_VALUES.words() : "";
    return Cell.passed(!of.judged.hasFailed()).remarked(remark);
  }

  private static Column<@Nullable Change> measured(String heading, Function<Change, String> of) {
    return Column.figure(heading, change -> change == null ? NumberText.ABSENT : of.apply(change));
  }

  // ---- changes

  /** The changes at one load level, or of all pooled. */
  record Changes(
      String run, String title, String counted, Table table, Table rest, String unchanged) {}

  private List<Changes> changes() {
    List<Changes> all = new ArrayList<>();
    for (Compared other : others) {
      for (Place place : other.comparison.places()) {
        List<Change> shown = shown(other, place);
        List<Change> rest = place.changes().stream().filter(c -> !shown.contains(c)).toList();
        boolean ofOneCurve = place.level() == null && base.summary().curves().size() < 2;
        all.add(
            new Changes(
                other.side.name,
                place.name(),
                ofOneCurve || isHeadline(other, place) ? "" : clear(place),
                changes(place.name(), shown),
                changes("", rest),
                unclear(rest)));
      }
    }
    return all;
  }

  /** Whether this is an operating point of the base; without any, whether it is the pooled one. */
  private boolean isHeadline(Compared other, Place place) {
    List<Place> places = other.comparison.places();
    return places.stream().anyMatch(this::isOperatingPoint)
        ? isOperatingPoint(place)
        : place.equals(places.get(0));
  }

  private boolean isOperatingPoint(Place place) {
    LevelInfo level = place.level();
    return level != null
        && base.summary().curves().stream().anyMatch(c -> c.operatingPoint().isAt(level));
  }

  private List<Change> shown(Compared other, Place place) {
    boolean isHeadline = isHeadline(other, place);
    return place.changes().stream()
        .filter(
            c -> c.outcome().isClear() || (isHeadline && KEY_FIGURES.contains(c.figure().name())))
        .sorted(
            Comparator.comparingInt(
                c -> c.outcome() == Outcome.WORSE ? 0 : c.outcome() == Outcome.BETTER ? 1 : 2))
        .toList();
  }

  private static String clear(Place place) {
    long worse = place.count(Outcome.WORSE);
    long better = place.count(Outcome.BETTER);
    return worse + better == 0 ? unclear(place.changes()) : worse + " worse, " + better + " better";
  }

  /** E.g. {@code no clear change: 12 figures, too few values: 1 figure}. */
  private static String unclear(List<Change> changes) {
    Map<Outcome, Long> counts =
        changes.stream()
            .collect(Collectors.groupingBy(Change::outcome, TreeMap::new, Collectors.counting()));
    return counts.entrySet().stream()
        .map(e -> e.getKey().words() + ": " + NumberText.counted(e.getValue(), "figure"))
        .collect(Collectors.joining(", "));
  }

  private static Table changes(String title, List<Change> changes) {
    return Columns.of(Column.of("Figure", ComparePage::figure))
        .and(MEASURED)
        .and(Column.of("Verdict", ComparePage::outcome))
        .table(title, changes);
  }

  private static Cell figure(Change change) {
    boolean isLowerBetter = change.figure().metric().better() == Metric.Better.LOWER;
    return new Cell(change.figure().name(), CellKind.CODE)
        .remarked(
            change.figure().words() + (isLowerBetter ? ", lower" : ", higher") + " is better");
  }

  private static Cell outcome(Change change) {
    CellKind kind =
        switch (change.outcome()) {
          case BETTER -> CellKind.BETTER;
          case WORSE -> CellKind.WORSE;
          case NO_CLEAR_CHANGE, TOO_FEW_VALUES, NOT_JUDGED -> CellKind.UNCHANGED;
        };
    return new Cell(ChangeText.outcome(change.outcome()), kind);
  }

  // ---- configuration differences

  private List<String> unmatched() {
    return others.stream().flatMap(other -> unmatched(other).stream()).toList();
  }

  static List<String> unmatched(Compared other) {
    return other.comparison.unmatched().stream()
        .map(level -> other.side.name + ": load level " + level)
        .toList();
  }

  /** What is not the same in all runs and may explain why figures differ; a column per run. */
  private Table settings() {
    Map<String, List<String>> rows = new LinkedHashMap<>();
    add("simulation", s -> String.valueOf(s.run().simulation()), rows);
    add("state", s -> s.run().state(), rows);
    add("model", s -> names(s.workload().models()), rows);
    add("endpoint", s -> names(s.workload().endpoints()), rows);
    add("API", s -> names(s.workload().apis()), rows);
    add("scenario", s -> names(s.workload().scenarios()), rows);
    add("levels", ComparePage::levels, rows);
    add("SLO", ComparePage::slo, rows);
    add("injectors", s -> String.join(", ", s.run().injectors()), rows);
    maps("", Summary::config, rows);
    maps("version of ", s -> s.run().versions(), rows);
    add("validity", ComparePage::complaints, rows);
    rows.values().removeIf(values -> values.stream().distinct().count() < 2);
    return table("Configuration", "Setting", rows);
  }

  /** What was asked: quoted also where it is the same, as every figure depends on it. */
  private Table workload() {
    Map<String, List<String>> rows = new LinkedHashMap<>();
    add("prompt tokens", s -> RunText.lengths(s, "promptTokens"), rows);
    add("template tokens", ComparePage::template, rows);
    add("output tokens", s -> RunText.lengths(s, "maxTokens"), rows);
    List<String> curves =
        summaries().stream()
            .filter(summary -> summary.curves().size() > 1)
            .flatMap(summary -> summary.curves().stream().map(summary::name))
            .distinct()
            .toList();
    for (String curve : curves) {
      add(curve, summary -> lengths(summary, curve), rows);
    }
    add("from prefix cache", ComparePage::cached, rows);
    add("seed", s -> s.run().seed() == null ? "" : s.run().seed().toString(), rows);
    return table("Workload", "Workload", rows);
  }

  private static String template(Summary summary) {
    Integer tokens = summary.workload().templateTokens();
    return tokens == null ? "" : tokens.toString();
  }

  private Table table(String title, String heading, Map<String, List<String>> rows) {
    Columns<Map.Entry<String, List<String>>> columns =
        Columns.of(Column.name(heading, Map.Entry::getKey));
    for (int i = 0; i < sides().size(); i++) {
      int side = i;
      columns.and(Column.words(sides().get(i).name, row -> row.getValue().get(side)));
    }
    return columns.table(title, rows.entrySet()).styled("compact");
  }

  private static String lengths(Summary summary, String curve) {
    return summary.curves().stream()
        .filter(each -> summary.name(each).equals(curve))
        .map(each -> summary.operatingLevel(each).figures())
        .map(
            figures ->
                "prompt %s; output %s"
                    .formatted(
                        RunText.lengths(figures.metric(Metric.PROMPT_TOKENS)),
                        RunText.lengths(figures.metric(Metric.OUTPUT_TOKENS))))
        .findFirst()
        .orElse("");
  }

  private static String cached(Summary summary) {
    Double share = summary.workload().cachedShare();
    return share == null ? "not reported" : NumberText.percent(share) + " of prompt tokens";
  }

  private void add(String name, Function<Summary, String> of, Map<String, List<String>> rows) {
    List<String> values =
        summaries().stream().map(of).map(v -> v.isEmpty() ? NumberText.ABSENT : v).toList();
    rows.putIfAbsent(name, values);
  }

  private void maps(
      String prefix, Function<Summary, Map<String, String>> of, Map<String, List<String>> rows) {
    TreeSet<String> keys = new TreeSet<>();
    summaries().forEach(run -> keys.addAll(of.apply(run).keySet()));
    keys.remove(StartCommand.CONFIG_NAME); // says the same as other rows
    keys.forEach(key -> add(prefix + key, run -> of.apply(run).getOrDefault(key, ""), rows));
  }

  private static String slo(Summary summary) {
    Summary.SloTable slo = summary.slo();
    return slo == null ? "" : slo.text() + " at " + slo.percentile() + " % (" + slo.rule() + ")";
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

  private static String complaints(Summary summary) {
    return summary.checks().stream()
        .filter(check -> check.level() != Check.Level.OK)
        .map(check -> check.id() + " (" + check.level().key() + ")")
        .collect(Collectors.joining(", "));
  }

  private static String names(Map<String, Long> counts) {
    return counts.keySet().stream().sorted().collect(Collectors.joining(", "));
  }
}
