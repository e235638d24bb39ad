package io.github.gatlingllm.report;

import io.github.gatlingllm.check.Check;
import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.ShownLevels.Level;
import io.github.gatlingllm.report.ShownLevels.When;
import io.github.gatlingllm.report.Tiles.Tile;
import io.github.gatlingllm.stats.Summary;
import io.github.gatlingllm.stats.Summary.AssertionResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The sections in words and tables: what came out, how far it can be trusted, what it means. */
final class VerdictSections {

  private final Summary summary;
  private final ShownLevels levels;

  VerdictSections(Summary summary, ShownLevels levels) {
    this.summary = summary;
    this.levels = levels;
  }

  /** Six figures of one load level, and when they are shown. */
  private record LevelTiles(String title, When when, List<Tile> tiles) {}

  /** The outcome in words, and six figures of the load level that the reader chose. */
  Section verdict() {
    List<LevelTiles> groups = new ArrayList<>();
    boolean isTable = Tiles.of(summary).isEmpty();
    for (Level level : levels.all()) {
      groups.add(
          new LevelTiles(
              level.title(),
              isTable ? levels.alone(level) : levels.when(level),
              Tiles.of(summary, level.stage())));
    }
    if (groups.isEmpty()) {
      Tiles.of(summary).forEach(g -> groups.add(new LevelTiles("", When.ALWAYS, g.tiles())));
    }
    Map<String, Object> values = new HashMap<>();
    values.put("verdict", summary.verdict());
    values.put("groups", groups);
    values.put("several", summary.hasSeveralLevels());
    values.put("each", levels.hasSeveralCurves());
    values.put("curves", levels.hasSeveralCurves() ? KeyFigureTables.byCurve(summary) : null);
    values.put("judged", summary.slo() != null);
    return Section.of("verdict", "Verdict", "Verdict", "").body("verdict", values);
  }

  /** The objectives of one load level, and when they are shown. */
  private record LevelObjectives(When when, Table table) {}

  /** What was demanded, and whether it came out; empty where nothing was demanded. */
  Optional<Section> objectives() {
    Summary.SloTable slo = summary.slo();
    List<AssertionResult> assertions = summary.assertions();
    if (slo == null && assertions.isEmpty()) {
      return Optional.empty();
    }
    List<LevelObjectives> groups = new ArrayList<>();
    if (slo != null) {
      if (levels.hasSeveralCurves()) {
        Table all = OutcomeTables.objectives(summary, slo, false);
        groups.add(new LevelObjectives(levels.together(), all));
      }
      for (Level level : levels.all()) {
        groups.add(
            new LevelObjectives(
                levels.alone(level), OutcomeTables.objectives(summary, slo, level.stage())));
      }
      if (groups.isEmpty()) {
        Table pooled = OutcomeTables.objectives(summary, slo, false);
        groups.add(new LevelObjectives(When.ALWAYS, pooled));
      }
    }
    Map<String, Object> values = new HashMap<>();
    values.put("objectives", groups);
    values.put(
        "share",
        slo == null || !slo.hasOnePercentile()
            ? "the share of attempted requests that its percentile says"
            : NumberText.plain(slo.percentile()) + " % of attempted requests");
    values.put("rule", slo == null ? "" : slo.rule().toString());
    values.put("assertions", OutcomeTables.assertions(assertions));
    values.put("demands", assertions.size());
    values.put("missed", assertions.stream().filter(result -> !result.ok()).count());
    return Optional.of(
        Section.of(
                "objectives",
                slo == null
                    ? "Assertions"
                    : assertions.isEmpty() ? "Objectives" : "Objectives and assertions",
                "Objectives",
                "")
            .body("objectives", values));
  }

  /** How far the figures can be trusted: what to look at first. */
  Section checks() {
    List<Check> raised = raised(summary);
    List<Check> fine =
        summary.checks().stream().filter(check -> check.level() == Check.Level.OK).toList();
    SelfTestText selfTest = new SelfTestText(summary);
    String lead =
        switch (summary.level()) {
          case OK, NOTE -> "Nothing speaks against these figures.";
          case WARNING -> "Read the figures with the warnings below in mind.";
          case INVALID -> "Some figures do not mean what they say; see what to do below.";
        };
    return Section.of("validity", "Can these figures be trusted?", "Validity", lead)
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

  /** The checks that found something, the worst first. */
  static List<Check> raised(Summary summary) {
    return summary.checks().stream()
        .filter(check -> check.level() != Check.Level.OK)
        .sorted(Comparator.comparing(Check::level).reversed())
        .toList();
  }

  /** How many checks found nothing; empty for none. */
  static String passed(long checks) {
    return checks == 0 ? "" : checks + (checks == 1 ? " check passed" : " checks passed");
  }

  /** Each injector of a joined run by itself; empty in other runs. */
  Optional<Section> injectors() {
    if (summary.injectors().isEmpty()) {
      return Optional.empty();
    }
    List<LevelInjectors> groups = new ArrayList<>();
    for (Level level : levels.all()) {
      groups.add(
          new LevelInjectors(
              level.title(), levels.when(level), OutcomeTables.injectors(summary, level.stage())));
    }
    return Optional.of(
        Section.of(
                "injectors",
                "The injectors, each by itself",
                "Injectors",
                "All met the same server at the same time: where one differs, its machine or its"
                    + " way to the server does. TTFT and lags in ms.")
            .body(
                "injectors",
                Map.of("groups", groups, "apart", OutcomeTables.injectorRuns(summary))));
  }

  /** The injectors at one load level, and when they are shown. */
  private record LevelInjectors(String title, When when, Table table) {}

  /** How requests ended: errors by verdict and message, finish reasons, objectives missed. */
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
    String together = new RunText(summary).together();
    String lead =
        NumberText.count(counts.started())
            + " requests measured"
            + (together.isEmpty() ? ": " : " (" + together + "): ")
            + NumberText.count(counts.ok())
            + " ok, "
            + RunText.ended(counts)
            + " cancelled by us at the end.";
    return Section.of("outcomes", "How requests ended", "Outcomes", lead)
        .body(counts.failed() == 0 ? "No request failed." : "", tables);
  }

  /** The timings that the server put into its answers; empty where it said nothing. */
  Optional<Section> server() {
    return summary.figures().server().isEmpty()
        ? Optional.empty()
        : Optional.of(
            Section.of(
                    "server",
                    "What the server said of itself",
                    "Server",
                    "Timings in its answers: a slow client looks like a slow server, and these"
                        + " figures tell them apart. Below each is what the server calls it.")
                .body("", List.of(DistributionTables.server(summary))));
  }

  static Section glossary() {
    return Section.of(
            "glossary",
            "Glossary",
            "Glossary",
            "scheduled: planned arrival. admitted: left the client's own queue. first and last"
                + " token: the events that carried them arrived.")
        .body("glossary", Map.of("metrics", Metric.distributions()));
  }

  /** A file beside the page. */
  private record File(String path, String name, String what) {

    File(String path, String what) {
      this(path, path, what);
    }
  }

  private static final List<File> FILES =
      List.of(
          new File("llm/summary.json", "every figure, for scripts"),
          new File("llm/summary.md", "the key figures, for a merge request"),
          new File("llm/junit.xml", "one test case per assertion"),
          new File("llm/requests.jsonl", "one line per request"),
          new File("llm/requests.csv", "the same as a table"),
          new File("llm/arrivals.jsonl", "planned and real arrivals"),
          new File("index.html", "Gatling's report", "users, requests and response times"));

  /** Links to the files that lie beside the page, and only to those. */
  static Section files(Path runDirectory) {
    List<File> there =
        FILES.stream().filter(file -> Files.exists(runDirectory.resolve(file.path))).toList();
    return Section.of("files", "Files", "Files", "They lie beside this page.")
        .body("files", Map.of("files", there));
  }
}
