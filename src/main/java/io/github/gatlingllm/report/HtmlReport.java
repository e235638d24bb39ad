package io.github.gatlingllm.report;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import io.github.gatlingllm.figures.level.Series;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.RunText.NamedText;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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
    Stream<Section> first = Stream.of(texts.verdict(), load.levels(), texts.checks());
    Stream<Section> rest =
        Stream.of(
            texts.objectives(),
            new MetricsSection(summary, levels).section(),
            load.section(),
            load.lengths(),
            load.scenarios(series.scenarios()),
            details.distributions(),
            details.jitter(),
            time.section(),
            new EngineSection(summary, series, time.bands()).section(),
            details.breakdown(),
            texts.outcomes(),
            details.slowest(),
            texts.server(),
            details.arrivals(),
            time.generator(),
            texts.injectors(),
            VerdictSections.glossary(),
            VerdictSections.files(runDirectory));
    return Stream.concat(
            first.filter(Objects::nonNull), rest.filter(Objects::nonNull).map(Section::folded))
        .toList();
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
}
