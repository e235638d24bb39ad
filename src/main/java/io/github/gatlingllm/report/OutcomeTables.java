package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.Figures.ErrorCount;
import io.github.gatlingllm.metric.Figures.Pacing;
import io.github.gatlingllm.metric.Figures.RateLimits;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.report.Table.Cell;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.stats.Summary;
import io.github.gatlingllm.stats.Summary.AssertionResult;
import io.github.gatlingllm.stats.Summary.Curve;
import io.github.gatlingllm.stats.Summary.InjectorFigures;
import io.github.gatlingllm.stats.Summary.ObjectiveRow;
import io.github.gatlingllm.stats.Summary.SloTable;
import io.github.gatlingllm.stats.Summary.Stage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Tables of what came out: objectives and assertions that were met or missed, errors, shares. */
final class OutcomeTables {

  private OutcomeTables() {}

  /**
   * How each objective of the SLO was met at the operating points; pooled where there is none.
   *
   * @param isText whether reasons stand in the cell, not below it
   */
  static Table objectives(Summary summary, SloTable slo, boolean isText) {
    List<Entry<String, ObjectiveRow>> rows = new ArrayList<>();
    for (Curve curve : summary.curves()) {
      rows.addAll(objectives(summary, summary.operatingLevel(curve)));
    }
    if (rows.isEmpty()) {
      slo.objectives().forEach(row -> rows.add(Map.entry(NumberText.ABSENT, row)));
    }
    return objectives(summary, slo, rows, isText);
  }

  /** The same at one load level, on pages. */
  static Table objectives(Summary summary, SloTable slo, Stage level) {
    return objectives(summary, slo, objectives(summary, level), false);
  }

  private static List<Entry<String, ObjectiveRow>> objectives(Summary summary, Stage level) {
    String place = KeyFigureTables.place(summary, level);
    return level.objectives().stream().map(row -> Map.entry(place, row)).toList();
  }

  private static Table objectives(
      Summary summary, SloTable slo, List<Entry<String, ObjectiveRow>> rows, boolean isText) {
    boolean hasOne = slo.hasOnePercentile();
    List<Column<Entry<String, ObjectiveRow>>> columns =
        new ArrayList<>(
            List.of(
                Column.of(
                    "Objective",
                    row -> Cell.words(row.getValue().measure()).remarked("lower is better"))));
    if (summary.hasSeveralLevels()) {
      columns.add(Column.words("at", Entry::getKey));
    }
    Stream.<Column<ObjectiveRow>>of(
            Column.figure("limit", row -> "< " + NumberText.plainMs(row.limitMs())),
            Column.of(
                "actual" + (hasOne ? " p" + NumberText.plain(slo.percentile()) : ""),
                row -> actual(row, isText, hasOne)),
            Column.figure("margin", row -> NumberText.with(row.marginMs(), "ms")),
            Column.percent("requests within", ObjectiveRow::metShare),
            Column.of("outcome", row -> Cell.passed(row.ok())))
        .forEach(column -> columns.add(column.in(Entry::getValue)));
    return Table.of("Service level objectives", rows, columns);
  }

  private static Cell actual(ObjectiveRow row, boolean isText, boolean hasOne) {
    String reason = row.noValue();
    return reason == null
        ? Cell.figure(
            (hasOne ? "" : "p" + NumberText.plain(row.percentile()) + " ")
                + NumberText.with(row.actualMs(), "ms"))
        : isText ? Cell.words("none: " + reason) : Cell.figure("none").remarked(reason);
  }

  /** What the build demands on pages, a note below each name. */
  static Table assertions(List<AssertionResult> results) {
    return assertions(results, false);
  }

  /**
   * What the build demands.
   *
   * @param isText whether the note has a column of its own
   */
  static Table assertions(List<AssertionResult> results, boolean isText) {
    List<Column<AssertionResult>> columns =
        new ArrayList<>(
            List.of(
                Column.of(
                    isText ? "assertion" : "Assertion",
                    result -> Cell.words(result.subject()).remarked(note(result))),
                Column.figure("expected", AssertionResult::expected),
                Column.figure("actual", result -> NumberText.orAbsent(result.actual())),
                Column.of("outcome", result -> Cell.passed(result.ok()))));
    if (isText) {
      columns.add(Column.words("note", OutcomeTables::note));
    }
    return Table.of("Assertions", results, columns).styled("notes");
  }

  private static String note(AssertionResult result) {
    return result.note() == null ? "" : result.note();
  }

  /** Why requests failed, at most so many rows; rate-limited ones have not. */
  static Table errors(Figures figures, int most) {
    String limited = RequestStatus.RATE_LIMITED.key();
    List<ErrorCount> errors =
        figures.errors().stream().filter(error -> !error.verdict().equals(limited)).toList();
    long started = figures.counts().started();
    return Table.of(
        "Errors",
        errors.subList(0, Math.min(most, errors.size())),
        Column.name("Status", ErrorCount::verdict),
        Column.words("message", ErrorCount::message),
        Column.count("count", ErrorCount::count),
        Column.percent("share of requests", error -> share(error.count(), started)));
  }

  /** What limited the rate of requests, by load level; empty where nothing did. */
  static Table rateLimits(Summary summary) {
    record Row(Stage level, RateLimits limits) {}
    List<Row> rows = new ArrayList<>();
    for (Stage level : summary.stages()) {
      RateLimits limits = level.figures().rateLimits();
      if (limits != null) {
        rows.add(new Row(level, limits));
      }
    }
    List<Column<Row>> columns =
        new ArrayList<>(
            List.of(
                Column.name("Rate limits", row -> KeyFigureTables.place(summary, row.level)),
                Column.count("status 429", row -> row.limits.requests()),
                Column.percent("of ended requests", row -> row.limits.share()),
                Column.number("retry after p50, s", row -> row.limits.retryAfterS().p50()),
                Column.number("retry after max, s", row -> row.limits.retryAfterS().max())));
    if (rows.stream().anyMatch(row -> row.limits.pacing() != null)) {
      columns.add(Column.figure("held back", row -> held(row.limits.pacing(), Pacing::heldBack)));
      columns.add(Column.figure("never sent", row -> held(row.limits.pacing(), Pacing::neverSent)));
      columns.add(
          Column.number(
              "mean wait, s",
              row -> row.limits.pacing() == null ? null : row.limits.pacing().meanWaitS()));
    }
    columns.add(Column.words("lowest left", row -> row.limits.left()));
    return Table.of("Rate limits", rows, columns);
  }

  private static String held(@Nullable Pacing pacing, ToLongFunction<Pacing> requests) {
    return pacing == null ? NumberText.ABSENT : NumberText.count(requests.applyAsLong(pacing));
  }

  /** An injector at a load level. */
  private record InjectorRow(String place, InjectorFigures figures) {}

  private static final Column<InjectorRow> INJECTOR =
      Column.name("injector", row -> row.figures.name());

  /** What each injector of a joined run measured at the operating points; empty in other runs. */
  static Table injectors(Summary summary) {
    List<InjectorRow> rows = injectorRows(summary);
    return Table.of("Injectors", rows, placed(summary, measured(rows)));
  }

  /** How the generator of each injector fared there; empty where that is not known. */
  static Table generators(Summary summary) {
    List<InjectorRow> rows =
        injectorRows(summary).stream().filter(row -> row.figures.generator() != null).toList();
    return Table.of("Generators", rows, placed(summary, health()));
  }

  /** Both at one load level. */
  static Table injectors(Summary summary, Stage level) {
    List<InjectorRow> rows = injectorRows(summary, level);
    List<Column<InjectorRow>> columns = new ArrayList<>(List.of(INJECTOR));
    measured(rows).forEach(column -> columns.add(column.in(InjectorRow::figures)));
    if (rows.stream().anyMatch(row -> row.figures.generator() != null)) {
      health().forEach(column -> columns.add(column.in(InjectorRow::figures)));
    }
    return Table.of("Injectors", rows, columns);
  }

  private static List<Column<InjectorRow>> placed(
      Summary summary, List<Column<InjectorFigures>> figures) {
    List<Column<InjectorRow>> columns = new ArrayList<>(List.of(INJECTOR));
    if (summary.hasSeveralLevels()) {
      columns.add(Column.words("at", InjectorRow::place));
    }
    figures.forEach(column -> columns.add(column.in(InjectorRow::figures)));
    return columns;
  }

  private static List<InjectorRow> injectorRows(Summary summary) {
    return summary.curves().stream()
        .flatMap(curve -> injectorRows(summary, summary.operatingLevel(curve)).stream())
        .toList();
  }

  private static List<InjectorRow> injectorRows(Summary summary, Stage level) {
    String place = KeyFigureTables.place(summary, level);
    return level.injectors().stream().map(of -> new InjectorRow(place, of)).toList();
  }

  private static List<Column<InjectorFigures>> measured(List<InjectorRow> rows) {
    List<Column<InjectorFigures>> figures = new ArrayList<>();
    if (rows.stream().anyMatch(row -> row.figures.planned() != null)) {
      figures.add(Column.figure("planned", of -> count(of.planned())));
    }
    figures.add(Column.count("started", InjectorFigures::started));
    figures.add(Column.count("ended", InjectorFigures::ended));
    figures.add(Column.count("ok", InjectorFigures::ok));
    figures.add(Column.count("failed", InjectorFigures::failed));
    figures.add(Column.number("req/s", InjectorFigures::requestsPerS));
    figures.add(Column.number("output tok/s", InjectorFigures::outputTokensPerS));
    figures.add(Column.percentile("TTFT p50", "p50", InjectorFigures::ttftMs));
    figures.add(Column.percentile("TTFT p99", "p99", InjectorFigures::ttftMs));
    if (rows.stream().anyMatch(row -> !row.figures.startLagMs().isEmpty())) {
      figures.add(Column.percentile("start lag p99", "p99", InjectorFigures::startLagMs));
    }
    return figures;
  }

  private static List<Column<InjectorFigures>> health() {
    return List.of(
        Column.figure("event loops late, max", of -> NumberText.ms(of.loopLagMaxMs())),
        Column.percent("own CPU", InjectorFigures::ownCpu),
        Column.percent("CPU idle", InjectorFigures::idleCpu),
        Column.figure(
            "generator", of -> of.generator() == null ? NumberText.ABSENT : of.generator().key()));
  }

  /** How far each injector of a joined run came; empty in other runs. */
  static Table injectorRuns(Summary summary) {
    return Table.of(
        "Injectors of the whole run",
        summary.injectors(),
        Column.name("injector", of -> of.figures().name()),
        Column.words("share", of -> of.share() == null ? NumberText.ABSENT : of.share().toString()),
        Column.words("run", Summary.Injector::run),
        Column.words("state", of -> of.isDead() ? "died" : of.state().key()),
        Column.figure("planned", of -> count(of.figures().planned())),
        Column.figure("missing", of -> count(of.missing())),
        Column.count("records", Summary.Injector::records),
        Column.count("dropped", Summary.Injector::dropped));
  }

  private static String count(@Nullable Long requests) {
    return requests == null ? NumberText.ABSENT : NumberText.count(requests);
  }

  /** Counts by name, and what share of all they are. */
  static Table shares(String what, Map<String, Long> counts, long all, String base) {
    return Table.of(
        what,
        counts.entrySet(),
        Column.name(what, Entry::getKey),
        Column.count("count", Entry::getValue),
        Column.percent(base, entry -> share(entry.getValue(), all)));
  }

  private static double share(long part, long all) {
    return all == 0 ? 0 : (double) part / all;
  }
}
