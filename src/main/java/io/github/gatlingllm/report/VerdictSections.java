package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.AssertionResult;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Check;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.ShownLevels.Level;
import io.github.gatlingllm.report.ShownLevels.Part;
import io.github.gatlingllm.report.ShownLevels.When;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The sections of words and tables: verdict, objectives, validity, outcomes, glossary, files. */
final class VerdictSections {

  private final Summary summary;
  private final ShownLevels levels;

  VerdictSections(Summary summary, ShownLevels levels) {
    this.summary = summary;
    this.levels = levels;
  }

  /** The verdict in words, and six figures of the chosen load level. */
  Section verdict() {
    List<Part> groups = new ArrayList<>();
    boolean isTable = Tiles.of(summary).isEmpty();
    for (Level level : levels.all()) {
      When when = isTable ? levels.whenChosen(level) : levels.when(level);
      groups.add(new Part(level.title(), when, Tiles.of(summary, level.stage())));
    }
    if (groups.isEmpty()) {
      Tiles.of(summary).forEach(g -> groups.add(new Part("", When.ALWAYS, g.tiles())));
    }
    Map<String, Object> values = new HashMap<>();
    values.put("verdict", summary.verdict());
    values.put("groups", groups);
    values.put("several", summary.hasSeveralLevels());
    values.put("each", levels.hasSeveralCurves());
    values.put("curves", levels.hasSeveralCurves() ? KeyFigureTables.byCurve(summary) : null);
    values.put("judged", summary.slo() != null);
    return Section.of("verdict").body("verdict", values);
  }

  /** Objectives and assertions with their results; null without any. */
  @Nullable Section objectives() {
    Summary.SloTable slo = summary.slo();
    List<AssertionResult> assertions = summary.assertions();
    if (slo == null && assertions.isEmpty()) {
      return null;
    }
    List<Part> groups = new ArrayList<>();
    if (slo != null) {
      Table all = OutcomeTables.objectives(summary, slo, false);
      if (levels.hasSeveralCurves() || levels.all().isEmpty()) {
        groups.add(
            new Part("", levels.all().isEmpty() ? When.ALWAYS : levels.whenOperatingPoints(), all));
      }
      for (Level level : levels.all()) {
        Table own = OutcomeTables.objectives(summary, slo, level.stage());
        groups.add(new Part("", levels.whenChosen(level), own));
      }
    }
    Map<String, Object> values = new HashMap<>();
    values.put("objectives", groups);
    values.put(
        "share",
        slo == null || !slo.hasOnePercentile()
            ? "the percentage of attempted requests that its percentile names"
            : NumberText.plain(slo.percentile()) + " % of attempted requests");
    values.put("rule", slo == null ? "" : slo.rule().toString());
    values.put("assertions", OutcomeTables.assertions(assertions, false));
    values.put("demands", assertions.size());
    values.put("missed", assertions.stream().filter(result -> !result.ok()).count());
    String form = slo == null ? " but assertions" : assertions.isEmpty() ? "" : " and assertions";
    return Section.of("objectives" + form).body("objectives", values);
  }

  /** The results of the checks, and the measurement error of the tool. */
  Section checks() {
    List<Check> raised = raised(summary);
    List<Check> fine =
        summary.checks().stream().filter(check -> check.level() == Check.Level.OK).toList();
    SelfTestText selfTest = new SelfTestText(summary);
    return Section.of("validity " + summary.level().key())
        .body(
            "validity",
            Map.of(
                "raised",
                raised,
                "fine",
                fine,
                "passed",
                passed(fine.size()),
                "error",
                SelfTestText.NAME,
                "quote",
                selfTest.quote(),
                "levels",
                selfTest.table(),
                "ceiling",
                selfTest.ceiling()));
  }

  /** The checks that found a problem or add a note, the worst first. */
  static List<Check> raised(Summary summary) {
    return summary.checks().stream()
        .filter(check -> check.level() != Check.Level.OK)
        .sorted(Comparator.comparing(Check::level).reversed())
        .toList();
  }

  /** The number of passed checks as text; empty for none. */
  static String passed(long checks) {
    return checks == 0 ? "" : checks + (checks == 1 ? " check passed" : " checks passed");
  }

  /** The figures of each injector of a merged run; null for other runs. */
  @Nullable Section injectors() {
    if (summary.injectors().isEmpty()) {
      return null;
    }
    List<Part> groups = new ArrayList<>();
    for (Level level : levels.all()) {
      Table own = OutcomeTables.injectors(level.stage());
      groups.add(new Part(level.title(), levels.when(level), own));
    }
    Table apart = OutcomeTables.injectorRuns(summary);
    return Section.of("injectors").body("injectors", Map.of("groups", groups, "apart", apart));
  }

  /** How requests ended: errors by status and message, finish reasons, missed objectives. */
  Section outcomes() {
    Figures figures = summary.figures();
    Figures.Counts counts = figures.counts();
    List<Table> tables = new ArrayList<>();
    if (!figures.errors().isEmpty()) {
      tables.add(OutcomeTables.errors(figures, Integer.MAX_VALUE));
    }
    if (!figures.finishReasons().isEmpty()) {
      tables.add(
          OutcomeTables.shares(
              "Finish reason", figures.finishReasons(), counts.ok(), "of ok requests"));
    }
    Figures.Goodput goodput = figures.goodput();
    if (goodput != null && goodput.missed().values().stream().anyMatch(count -> count > 0)) {
      tables.add(
          OutcomeTables.shares(
              "Objective missed", goodput.missed(), goodput.attempted(), "of attempted requests"));
    }
    tables.add(OutcomeTables.rateLimits(summary));
    tables.removeIf(Table::isEmpty);
    String pooled = new RunText(summary).pooledOver();
    String lead =
        "%s requests measured%s: %s ok, %s cancelled by the client at the end."
            .formatted(
                NumberText.count(counts.started()),
                pooled.isEmpty() ? "" : " (" + pooled + ")",
                NumberText.count(counts.ok()),
                RunText.failedAndCancelled(counts));
    return Section.of("outcomes", lead)
        .body(counts.failed() == 0 ? "No request failed." : "", tables);
  }

  /** The timings in the server's answers; null without any. */
  @Nullable Section server() {
    return summary.figures().server().isEmpty()
        ? null
        : Section.of("server").body("", List.of(MetricsSection.server(summary)));
  }

  static Section glossary() {
    return Section.of("glossary").body("glossary", Map.of("metrics", Metric.distributions()));
  }

  /** A file in the folder of the page. */
  private record File(String path, String name, String what) {

    File(String path, String what) {
      this(path, path, what);
    }
  }

  private static final List<File> FILES =
      List.of(
          new File("llm/summary.json", "all figures, for scripts"),
          new File("llm/summary.md", "the key figures, for a merge request"),
          new File("llm/junit.xml", "one test case per assertion"),
          new File("llm/run.json", "settings, plan, load levels and versions"),
          new File("llm/requests.jsonl", "one record per request"),
          new File("llm/requests.csv", "the records as a table"),
          new File("llm/arrivals.jsonl", "planned and real arrivals"),
          new File("llm/generator.jsonl", "health of the load generator, second by second"),
          new File("llm/server.jsonl", "metrics of the server, second by second"),
          new File("index.html", "Gatling's report", "users, requests and response times"));

  /** Links to the files that exist in the folder of the page. */
  static Section files(Path runDirectory) {
    List<File> there =
        FILES.stream().filter(file -> Files.exists(runDirectory.resolve(file.path))).toList();
    return Section.of("files").body("files", Map.of("files", there));
  }
}
