package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Figure.AssertionResult;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.Check;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.LevelFigures.ObjectiveRow;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.record.StartCommand;
import io.github.gatlingllm.report.Page.PagePart;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.RunText.NamedText;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The sections of words and tables: verdict, objectives, validity, outcomes, glossary, files. */
record VerdictSections(Summary summary, ShownLevels levels) {

  /** With more curves a table replaces the tiles. */
  private static final int MAX_CURVES = 3;

  Section verdict() {
    List<PagePart<List<NamedText>>> groups =
        levels.all().isEmpty()
            ? tiles(summary)
            : levels.parts(
                summary.curves().size() <= MAX_CURVES, level -> tiles(summary, level.stage()));
    return Section.of("verdict")
        .body(
            "verdict",
            Map.of(
                "summary",
                summary,
                "groups",
                groups,
                "tables",
                Tables.of(summary).at("verdict"),
                "slo",
                StartCommand.of(summary.config()).with("slo", "ttft<200ms,tpot<50ms")));
  }

  @Nullable Section objectives() {
    Summary.SloTable slo = summary.slo();
    List<AssertionResult> assertions = summary.assertions();
    if (slo == null && assertions.isEmpty()) {
      return null;
    }
    List<PagePart<Table>> groups = new ArrayList<>();
    if (slo != null) {
      Tables tables = Tables.of(summary);
      if (levels.all().isEmpty()) {
        groups.add(PagePart.always("", tables.about(null, "Objectives")));
      } else if (levels.hasSeveralCurves()) {
        groups.add(ShownLevels.ofOperatingPoints("", tables.about(null, "Objectives")));
      }
      groups.addAll(levels.parts(false, level -> tables.about(level.stage(), "Objectives")));
    }
    Map<String, Object> values = new HashMap<>();
    values.put("objectives", groups);
    values.put("slo", slo);
    values.put("assertions", Tables.of(summary).at("objectives"));
    values.put("demands", assertions.size());
    values.put("missed", assertions.stream().filter(result -> !result.ok()).count());
    String form = slo == null ? " but assertions" : assertions.isEmpty() ? "" : " and assertions";
    return Section.of("objectives" + form).body("objectives", values);
  }

  Section checks() {
    List<Check> fine =
        summary.checks().stream().filter(check -> check.level() == Figures.CheckLevel.OK).toList();
    Map<String, Object> values = new HashMap<>();
    values.put("raised", raised(summary));
    values.put("fine", fine);
    values.put("passed", passed(fine.size()));
    values.put("quote", RunText.fact(summary, RunText.MEASUREMENT_ERROR));
    values.put("tables", Tables.of(summary).at("validity"));
    values.put("ceiling", RunText.ceiling(summary));
    return Section.of("validity " + summary.level().key()).body("validity", values);
  }

  /** The checks that found a problem or add a note, the worst first. */
  static List<Check> raised(Summary summary) {
    return summary.checks().stream()
        .filter(check -> check.level() != Figures.CheckLevel.OK)
        .sorted(Comparator.comparing(Check::level).reversed())
        .toList();
  }

  /** The number of passed checks as text; empty for none. */
  static String passed(long checks) {
    return checks == 0 ? "" : Sentence.text("checks.passed", checks);
  }

  @Nullable Section injectors() {
    if (summary.injectors().isEmpty()) {
      return null;
    }
    return Section.of("injectors")
        .body(
            "injectors",
            Map.of(
                "groups",
                levels.parts(
                    true, level -> Tables.of(summary).about(level.stage(), "Injectors of a level")),
                "tables",
                Tables.of(summary).at("injectors")));
  }

  Section outcomes() {
    Figures.Counts counts = summary.figures().counts();
    List<Table> tables = Tables.of(summary).at("outcomes");
    String note = counts.failed() == 0 ? "No request failed." : "";
    String pooled = RunText.pooledOver(summary);
    return Section.of("outcomes")
        .body(
            "outcomes", Map.of("counts", counts, "pooled", pooled, "note", note, "tables", tables));
  }

  static Section glossary() {
    return Section.of("glossary").body("glossary", Map.of("metrics", Metric.distributions()));
  }

  static Section files(Path runDirectory) {
    List<List<String>> there =
        Templates.rows("run-files", 3, Map.of()).stream()
            .filter(file -> Files.exists(runDirectory.resolve(file.get(0))))
            .toList();
    return Section.of("files").body("files", Map.of("files", there));
  }

  /**
   * The figures that sum up a run, the same on Gatling's index page and in {@code llm.html}: each
   * objective at its percentile, and the latencies without an objective at the highest that is
   * certain. They belong to one load level of each curve, since percentiles pooled over different
   * loads describe none of them. Empty if there are more than {@value #MAX_CURVES} curves.
   */
  static List<PagePart<List<NamedText>>> tiles(Summary summary) {
    if (summary.curves().isEmpty()) {
      return List.of(PagePart.always("", tiles(summary, summary.figures(), List.of(), "")));
    }
    return summary.curves().stream()
        .filter(curve -> summary.curves().size() <= MAX_CURVES)
        .map(
            curve ->
                PagePart.always(
                    summary.hasSeveralLevels() ? Row.operatingPoint(summary, curve) : "",
                    tiles(summary, curve.operatingLevel())))
        .toList();
  }

  private static List<NamedText> tiles(Summary summary, LevelFigures level) {
    return tiles(summary, level.figures(), level.objectives(), level.target());
  }

  private static List<NamedText> tiles(
      Summary summary, Figures figures, List<ObjectiveRow> objectives, String target) {
    boolean isStreamed = !figures.metric(Metric.TTFT_MS).isEmpty();
    List<Metric> times =
        isStreamed ? List.of(Metric.TTFT_MS, Metric.ITL_MS) : List.of(Metric.E2E_MS);
    List<Objective> judged =
        objectives.stream().map(row -> Objective.of(summary, row, target)).toList();
    return RunText.rows(
        "tiles",
        Map.of(
            "summary", summary,
            "figures", figures,
            "times",
                times.stream()
                    .filter(time -> judged.stream().noneMatch(of -> of.isOf(time.title())))
                    .toList(),
            "objectives", judged));
  }

  /** An objective with its name, e.g. {@code TTFT from schedule}, {@code ask: E2E}. */
  private record Objective(String name, ObjectiveRow row) {

    private static final String FROM_SCHEDULE = " from schedule";

    static Objective of(Summary summary, ObjectiveRow row, String target) {
      String own =
          row.measure().startsWith(target + ": ")
              ? row.measure().substring(target.length() + 2)
              : row.measure();
      int key = own.lastIndexOf(' ') + 1;
      Slo.Measure measure = Slo.Measure.valueOf(own.substring(key).toUpperCase(Locale.ROOT));
      boolean isNamed = measure.isFromSchedule() && summary.isClockNamed();
      return new Objective(
          own.substring(0, key) + measure.name() + (isNamed ? FROM_SCHEDULE : ""), row);
    }

    boolean isOf(String metric) {
      return name.equals(metric) || name.equals(metric + FROM_SCHEDULE);
    }
  }
}
