package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.level.Summary.Curve;
import io.github.gatlingllm.figures.level.Summary.SloTable;
import io.github.gatlingllm.figures.metric.Figure.AssertionResult;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.ErrorCount;
import io.github.gatlingllm.figures.metric.Figures.Pacing;
import io.github.gatlingllm.figures.metric.Figures.RateLimits;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.LevelFigures.InjectorFigures;
import io.github.gatlingllm.figures.metric.LevelFigures.ObjectiveRow;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.InjectorRun;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.SelfTest;
import io.github.gatlingllm.report.Table.Cell;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.report.Table.Columns;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Tables of results: objectives, assertions, errors, rate limits, injectors, shares. */
final class OutcomeTables {

  private OutcomeTables() {}

  /** Each objective of the SLO at the operating points, or pooled if there is none. */
  static Table objectives(Summary summary, SloTable slo) {
    List<Entry<String, ObjectiveRow>> rows = new ArrayList<>();
    for (Curve curve : summary.curves()) {
      rows.addAll(objectives(summary, summary.operatingLevel(curve)));
    }
    if (rows.isEmpty()) {
      slo.objectives().forEach(row -> rows.add(Map.entry(NumberText.ABSENT, row)));
    }
    return objectives(summary, slo, rows);
  }

  static Table objectives(Summary summary, SloTable slo, LevelFigures level) {
    return objectives(summary, slo, objectives(summary, level));
  }

  private static List<Entry<String, ObjectiveRow>> objectives(Summary summary, LevelFigures level) {
    String place = summary.place(level.info());
    return level.objectives().stream().map(row -> Map.entry(place, row)).toList();
  }

  private static Table objectives(
      Summary summary, SloTable slo, List<Entry<String, ObjectiveRow>> rows) {
    boolean hasOne = slo.hasOnePercentile();
    String percentile = NumberText.plain(slo.percentile());
    String all = hasOne ? ": " + percentile + " % of the requests" : "";
    return Columns.<Entry<String, ObjectiveRow>>of(
            Column.of(
                "Objective",
                row -> Cell.words(row.getValue().measure()).remarked("lower is better")))
        .when(summary.hasSeveralLevels(), Column.words("at", Entry::getKey))
        .of(
            Entry::getValue,
            List.of(
                Column.figure("limit", row -> "< " + NumberText.plainMs(row.limitMs())),
                Column.of("actual" + (hasOne ? " p" + percentile : ""), row -> actual(row, hasOne)),
                Column.figure("margin", row -> NumberText.with(row.marginMs(), "ms")),
                Column.percent("requests within", ObjectiveRow::metShare),
                Column.of("outcome", row -> Cell.passed(row.ok()))))
        .table("SLO" + all, rows);
  }

  private static Cell actual(ObjectiveRow row, boolean hasOne) {
    String percentile = hasOne ? "" : "p" + NumberText.plain(row.percentile()) + " ";
    return row.noValue() == null
        ? Cell.figure(percentile + NumberText.with(row.actualMs(), "ms"))
        : Cell.words("none: " + row.noValue());
  }

  /** Assertions; pages have the note below the name, text files in a column. */
  static Table assertions(List<AssertionResult> results, boolean isText) {
    return Columns.<AssertionResult>of(
            Column.of(
                isText ? "assertion" : "Assertion",
                result -> Cell.words(result.subject()).remarked(note(result))),
            Column.figure("expected", AssertionResult::expected),
            Column.figure("actual", result -> NumberText.orAbsent(result.actual())),
            Column.of("outcome", result -> Cell.passed(result.ok())))
        .when(isText, Column.words("note", OutcomeTables::note))
        .table("Assertions", results)
        .styled("notes");
  }

  private static String note(AssertionResult result) {
    return result.note() == null ? "" : result.note();
  }

  /** The most frequent errors, at most {@code most}; a rate-limited request has not failed. */
  static List<ErrorCount> failures(Figures figures, int most) {
    String limited = RequestStatus.RATE_LIMITED.key();
    return figures.errors().stream()
        .filter(error -> !error.verdict().equals(limited))
        .limit(most)
        .toList();
  }

  static Table errors(Figures figures, int most) {
    long started = figures.counts().started();
    return Table.of(
        "Errors",
        failures(figures, most),
        Column.name("Status", ErrorCount::verdict),
        Column.words("message", ErrorCount::message),
        Column.count("count", ErrorCount::count),
        Column.percent("share of requests", error -> share(error.count(), started)));
  }

  /** Rate limits of the server and of the client, by load level; empty if none applied. */
  static Table rateLimits(Summary summary) {
    return Columns.<LevelFigures>of(
            Column.name("Rate limits", level -> summary.place(level.info())))
        .of(
            level -> level.figures().rateLimits(),
            List.<Column<RateLimits>>of(
                Column.count("status 429", RateLimits::requests),
                Column.percent("of ended requests", RateLimits::share),
                Column.number("retry after p50, s", limits -> limits.retryAfterS().p50()),
                Column.number("retry after max, s", limits -> limits.retryAfterS().max()),
                Column.<RateLimits>figure("held back", l -> count(l, Pacing::heldBack)).ifKnown(),
                Column.<RateLimits>figure("never sent", l -> count(l, Pacing::neverSent)).ifKnown(),
                Column.<RateLimits>number(
                        "mean wait, s", l -> l.pacing() == null ? null : l.pacing().meanWaitS())
                    .ifKnown(),
                Column.words("lowest left", RateLimits::remaining)))
        .table(
            "Rate limits",
            summary.stages().stream().filter(l -> l.figures().rateLimits() != null).toList());
  }

  private static String count(RateLimits limits, Function<Pacing, Long> requests) {
    return count(limits.pacing() == null ? null : requests.apply(limits.pacing()));
  }

  // ---- injectors of merged runs

  private record InjectorRow(String place, InjectorFigures figures) {}

  private static final List<Column<InjectorFigures>> MEASURED =
      List.of(
          Column.<InjectorFigures>figure("planned", of -> count(of.planned())).ifKnown(),
          Column.count("started", InjectorFigures::started),
          Column.count("ended", InjectorFigures::ended),
          Column.count("ok", InjectorFigures::ok),
          Column.count("failed", InjectorFigures::failed),
          Column.number("req/s", InjectorFigures::requestsPerS),
          Column.number("output tok/s", InjectorFigures::outputTokensPerS),
          Column.percentile("TTFT p50", "p50", InjectorFigures::ttftMs),
          Column.percentile("TTFT p99", "p99", InjectorFigures::ttftMs),
          Column.percentile("start lag p99", "p99", InjectorFigures::startLagMs).ifKnown());

  private static final List<Column<InjectorFigures>> HEALTH =
      List.of(
          Column.figure("event loops late, max", of -> NumberText.ms(of.loopLagMaxMs())),
          Column.percent("own CPU", InjectorFigures::ownCpu),
          Column.percent("CPU idle", InjectorFigures::idleCpu),
          Column.figure(
              "generator",
              of -> of.generator() == null ? NumberText.ABSENT : of.generator().key()));

  /** What each injector of a merged run measured at the operating points; empty for other runs. */
  static Table injectors(Summary summary) {
    return injectors(summary, "Injectors", MEASURED, injectorRows(summary));
  }

  /** CPU and delays of each injector at the operating points; empty if unknown. */
  static Table generators(Summary summary) {
    List<InjectorRow> rows =
        injectorRows(summary).stream().filter(row -> row.figures.generator() != null).toList();
    return injectors(summary, "Generators", HEALTH, rows);
  }

  private static Table injectors(
      Summary summary,
      String title,
      List<Column<InjectorFigures>> columns,
      List<InjectorRow> rows) {
    return Columns.<InjectorRow>of(Column.name("injector", row -> row.figures.name()))
        .when(summary.hasSeveralLevels(), Column.words("at", InjectorRow::place))
        .of(InjectorRow::figures, columns)
        .table(title, rows);
  }

  static Table injectors(LevelFigures level) {
    List<InjectorFigures> all = level.injectors();
    return Columns.<InjectorFigures>of(Column.name("injector", InjectorFigures::name))
        .and(MEASURED)
        .and(all.stream().anyMatch(of -> of.generator() != null) ? HEALTH : List.of())
        .table("Injectors", all);
  }

  private static List<InjectorRow> injectorRows(Summary summary) {
    List<InjectorRow> rows = new ArrayList<>();
    for (Curve curve : summary.curves()) {
      LevelFigures level = summary.operatingLevel(curve);
      String place = summary.place(level.info());
      level.injectors().forEach(of -> rows.add(new InjectorRow(place, of)));
    }
    return rows;
  }

  /** Records, state and missing requests of each injector of a merged run; empty for others. */
  static Table injectorRuns(Summary summary) {
    return Table.of(
        "Injectors of the whole run",
        summary.injectors().stream().map(Summary.Injector::run).toList(),
        Column.name("injector", InjectorRun::name),
        Column.words("share", of -> of.share() == null ? NumberText.ABSENT : of.share().toString()),
        Column.words("run", InjectorRun::run),
        Column.words("state", of -> of.isDead() ? "died" : of.state().key()),
        Column.figure("planned", of -> count(of.planned())),
        Column.figure("missing", of -> count(of.missing())),
        Column.count("records", InjectorRun::records),
        Column.count("dropped", InjectorRun::dropped));
  }

  private static String count(@Nullable Long requests) {
    return requests == null ? NumberText.ABSENT : NumberText.count(requests);
  }

  static Table selfTest(Summary summary) {
    SelfTest test = RunText.ownSelfTest(summary);
    double bound = test == null ? 0 : test.boundMs();
    return Table.of(
        "Self-test: errors in ms",
        test == null ? List.<SelfTest.Level>of() : test.levels(),
        Column.count("streams", SelfTest.Level::streams),
        Column.count("events per s", level -> Math.round(level.eventsPerS())),
        Column.number("requests per s", SelfTest.Level::requestsPerS),
        Column.number("TTFT p50", level -> level.ttftErrorMs().p50()),
        Column.number("TTFT p99", level -> level.ttftErrorMs().p99()),
        Column.number("TTFT max", level -> level.ttftErrorMs().max()),
        Column.number("ITL p50", level -> level.itlErrorMs().p50()),
        Column.number("ITL p99", level -> level.itlErrorMs().p99()),
        Column.number("ITL max", level -> level.itlErrorMs().max()),
        Column.number("engine late p99", SelfTest.Level::engineLateP99Ms),
        Column.of("within bound", level -> Cell.passed(level.isWithin(bound))));
  }

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
