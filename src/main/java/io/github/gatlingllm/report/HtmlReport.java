package io.github.gatlingllm.report;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import io.github.gatlingllm.figures.level.Series;
import io.github.gatlingllm.figures.level.Series.Breakdown;
import io.github.gatlingllm.figures.level.Series.Part;
import io.github.gatlingllm.figures.level.Series.Quantile;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.report.Chart.Axis;
import io.github.gatlingllm.report.Chart.Line;
import io.github.gatlingllm.report.Chart.LineForm;
import io.github.gatlingllm.report.Chart.Point;
import io.github.gatlingllm.report.Page.PagePart;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.RunText.NamedText;
import io.github.gatlingllm.report.ShownLevels.ShownLevel;
import io.github.gatlingllm.report.Table.Column;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The page {@code llm.html}: one file, without network; verdict and tables need no scripts. */
final class HtmlReport {

  private HtmlReport() {}

  static void write(Path llmHtml, Summary summary, Series series) throws IOException {
    Summary.RunSummary run = summary.run();
    String simulation = Objects.requireNonNullElse(run.simulation(), "");
    String name =
        simulation.isEmpty() ? run.id() : simulation.substring(simulation.lastIndexOf('.') + 1);
    new Page(
            "report",
            "LLM report",
            "LLM report: " + name,
            Map.of(
                "heading",
                name,
                "summary",
                summary,
                "facts",
                facts(summary),
                "choices",
                new ShownLevels(summary).choices()),
            sections(summary, series, llmHtml.toAbsolutePath().getParent()))
        .write(llmHtml);
  }

  private static List<Section> sections(Summary summary, Series series, Path runDirectory) {
    ShownLevels levels = new ShownLevels(summary);
    VerdictSections texts = new VerdictSections(summary, levels);
    TimeSection time = TimeSection.of(summary, series);
    LoadSection load = new LoadSection(summary);
    LevelSections details = new LevelSections(summary, levels, series);
    Stream<Section> first =
        Stream.of(texts.verdict(), load.levels(), texts.checks(), tables(summary, "answers"));
    Stream<Section> rest =
        Stream.of(
            texts.objectives(),
            new MetricsSection(summary, levels).section(),
            load.section(),
            load.lengths(),
            load.scenarios(series.scenarios()),
            details.distributions(),
            tables(summary, RowKind.readersHaveWaited(summary) ? "jitter for readers" : "jitter"),
            time.sessions(Tables.of(summary).at("sessions")),
            time.section(),
            time.engine(),
            details.breakdown(),
            texts.outcomes(),
            tables(summary, "slowest"),
            tables(summary, "server"),
            tables(summary, "arrivals"),
            time.generator(),
            texts.injectors(),
            VerdictSections.glossary(),
            VerdictSections.files(runDirectory));
    return Stream.concat(
            first.filter(Objects::nonNull), rest.filter(Objects::nonNull).map(Section::folded))
        .toList();
  }

  /** The section of the tables with that place; null where none has rows. */
  private static @Nullable Section tables(Summary summary, String key) {
    List<Table> tables = Tables.of(summary).at(key.replaceFirst(" .*", ""));
    return tables.isEmpty() ? null : Section.of(key).body("", tables);
  }

  private static List<NamedText> facts(Summary summary) {
    Summary.WorkloadSummary workload = summary.workload();
    Map<String, Object> values = new HashMap<>();
    values.put("summary", summary);
    values.put("hosts", joined(", ", workload.endpoints().keySet().stream().map(HtmlReport::host)));
    values.put("requests", workload.apis().values().stream().mapToLong(Long::longValue).sum());
    values.put("load", load(summary));
    values.put("tokens", RunText.fact(summary, "total tokens"));
    values.put("pooled", RunText.pooledOver(summary));
    return RunText.facts("head", values);
  }

  /** E.g. {@code closed loop: c=1 c=4} or {@code open: randomized at 4 users/s during 1 s}. */
  private static String load(Summary summary) {
    Map<String, List<LevelFigures>> byKind =
        summary.byLoad().stream()
            .filter(stage -> !stage.isInjected())
            .collect(groupingBy(LevelFigures::kind, LinkedHashMap::new, toList()));
    Stream<String> planned =
        byKind.entrySet().stream()
            .map(
                of ->
                    of.getKey()
                        + ": "
                        + joined(" ", of.getValue().stream().map(LevelFigures::label)));
    Stream<String> injected =
        summary.stages().stream()
            .filter(LevelFigures::isInjected)
            .map(
                stage -> {
                  String open = summary.config().get("arrivals " + stage.scenario());
                  return open != null
                      ? "open: " + open
                      : stage.offered() == null ? "Gatling's injection" : stage.load();
                });
    return joined("; ", Stream.concat(planned, injected));
  }

  private static String joined(String separator, Stream<String> names) {
    return names.distinct().collect(Collectors.joining(separator));
  }

  private static String host(String endpoint) {
    try {
      String host = URI.create(endpoint).getAuthority();
      return host == null ? endpoint : host.substring(host.lastIndexOf('@') + 1);
    } catch (IllegalArgumentException notAUri) {
      return endpoint;
    }
  }

  /** Load levels in detail: distributions, jitter, parts of the time, arrivals. */
  private record LevelSections(Summary summary, ShownLevels levels, Series series) {

    private static final List<Metric> DRAWN =
        List.of(Metric.TTFT_MS, Metric.ITL_MS, Metric.TPOT_MS, Metric.E2E_MS);

    private boolean isReported() {
      return series.breakdowns().stream().anyMatch(level -> level.reporting() > 0);
    }

    private boolean isDecodeReported() {
      return series.breakdowns().stream()
          .anyMatch(level -> level.meansMs().containsKey(Part.SERVER_DECODE));
    }

    /** The distributions of each level, after those of all operating points if several. */
    Section distributions() {
      List<PagePart<List<Chart>>> groups = levels.parts(false, this::percentiles);
      if (levels.hasSeveralCurves()) {
        groups.add(
            0, ShownLevels.ofOperatingPoints("Operating points", List.of(operatingPoints())));
      }
      Section section = Section.of("shapes").groups(groups);
      return section.groups().isEmpty()
          ? section.body("No request succeeded: a distribution needs at least one.")
          : section;
    }

    private List<Chart> percentiles(ShownLevel level) {
      Map<Metric, List<Quantile>> quantiles =
          series.levelQuantiles().getOrDefault(level.position(), Map.of());
      List<Line> lines = new ArrayList<>();
      for (Metric metric : DRAWN) {
        List<Quantile> curve = quantiles.get(metric);
        if (curve != null) {
          lines.add(Line.percentiles(metric.title(), lines.size(), lines.size(), curve));
        }
      }
      return List.of(
          Chart.percentiles("percentiles", lines, "latency").id("percentiles" + level.suffix()));
    }

    private Chart operatingPoints() {
      List<Line> curves = new ArrayList<>();
      List<Metric> drawn =
          summary.figures().metric(Metric.TTFT_MS).isEmpty()
              ? List.of(Metric.E2E_MS)
              : List.of(Metric.TTFT_MS, Metric.ITL_MS);
      int color = 0;
      for (ShownLevel level : levels.operating()) {
        Map<Metric, List<Quantile>> of = series.levelQuantiles().get(level.position());
        if (of == null) {
          continue;
        }
        String name = summary.place(level.stage().info());
        for (Metric metric : drawn) {
          List<Quantile> curve = of.get(metric);
          if (curve != null) {
            curves.add(
                Line.percentiles(name + " " + metric.title(), color, drawn.indexOf(metric), curve));
          }
        }
        color++;
      }
      return Chart.percentiles("percentiles", curves, "latency");
    }

    @Nullable Section breakdown() {
      List<Breakdown> all = series.breakdowns();
      if (all.isEmpty()) {
        return null;
      }
      Set<Part> parts = new TreeSet<>();
      all.forEach(level -> parts.addAll(level.meansMs().keySet()));
      List<Line> lines = new ArrayList<>();
      for (Part part : parts) {
        List<Point> points =
            Point.of(all, all::indexOf, level -> level.meansMs().getOrDefault(part, 0.0));
        int stripes = name(part).startsWith("reported") ? 1 : 0;
        lines.add(new Line(name(part), LineForm.STACK, color(part), stripes, points, List.of()));
      }
      List<Column<Breakdown>> columns = new ArrayList<>();
      columns.add(Column.name("Load level", this::name));
      columns.add(Column.count("requests", Breakdown::count));
      parts.forEach(
          part -> columns.add(Column.number(name(part) + ", ms", of -> of.meansMs().get(part))));
      columns.add(Column.number("E2E from schedule, ms", Breakdown::totalMs));
      if (isReported()) {
        columns.add(Column.count("requests that report", Breakdown::reporting));
      }
      Table table = Table.of("Mean time of a request by part", all, columns);
      Axis places = Axis.places("Load level", "", all.stream().map(this::name).toList());
      return Section.of(isReported() ? "breakdown as reported" : "breakdown")
          .charts(List.of(Chart.of("breakdown-parts", places, lines).widened().tabled(table)));
    }

    private String name(Breakdown level) {
      return summary.place(level.level());
    }

    private String name(Part part) {
      return switch (part) {
        case START_LAG -> "start lag";
        case GATE_WAIT -> "gate";
        case CONNECT -> "connect";
        case SERVER_QUEUE -> "reported queue";
        case SERVER_PREFILL -> "reported prefill";
        case FIRST_TOKEN -> isReported() ? "rest to first token" : "server queue and prefill";
        case SERVER_DECODE -> "reported decode";
        case DECODE -> isDecodeReported() ? "rest of decode" : "decode";
        case ANSWER -> "complete answer, not streamed";
      };
    }

    private static int color(Part part) {
      return switch (part) {
        case START_LAG -> 5;
        case GATE_WAIT, SERVER_QUEUE -> 4;
        case CONNECT -> 3;
        case SERVER_PREFILL, ANSWER -> 2;
        case FIRST_TOKEN -> 1;
        case SERVER_DECODE, DECODE -> 0;
      };
    }
  }
}
