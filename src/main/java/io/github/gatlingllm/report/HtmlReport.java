package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.RequestSamples;
import io.github.gatlingllm.figures.level.Series;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.RunText.Fact;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The page {@code llm.html}: one self-contained file that opens from disk and uses no network.
 * Verdict and tables are plain HTML; charts need scripts.
 */
final class HtmlReport {

  private HtmlReport() {}

  static void write(Path llmHtml, Summary summary, Series series) throws IOException {
    Head head = new Head(summary);
    new Page(
            "report",
            "LLM report",
            "LLM report: " + Head.name(summary),
            Map.of("run", head.heading()),
            head.facts(),
            new ShownLevels(summary).choices(),
            sections(summary, series, llmHtml.toAbsolutePath().getParent()))
        .write(llmHtml);
  }

  private static List<Section> sections(Summary summary, Series series, Path runDirectory) {
    ShownLevels levels = new ShownLevels(summary);
    VerdictSections texts = new VerdictSections(summary, levels);
    RequestSamples requests = series.requestSamples();
    TimeSection time = new TimeSection(summary, series);
    LoadSection load = new LoadSection(summary);
    LevelSections details = new LevelSections(summary, levels, requests);
    ExemplarSection exemplars = new ExemplarSection(summary, requests.exemplars());
    Stream<Section> first = Stream.of(texts.verdict(), load.levels(), texts.checks());
    Stream<Section> rest =
        Stream.of(
            texts.objectives(),
            new MetricsSection(summary, levels).section(),
            load.section(),
            load.scenarios(requests.scenarios()),
            details.distributions(),
            details.jitter(),
            time.section(),
            new EngineSection(summary, series, TimeSection.bands(summary)).section(),
            details.breakdown(),
            exemplars.section(),
            exemplars.texts(),
            texts.outcomes(),
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

  /** The head of the page: state, model, endpoint, workload, load profile, versions. */
  private static final class Head {

    /** A run with fewer ok requests is marked as smoke test. */
    private static final int SMOKE = 30;

    private static final DateTimeFormatter DATE =
        DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss 'UTC'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    private final Summary summary;
    private final List<Fact> facts = new ArrayList<>();

    Head(Summary summary) {
      this.summary = summary;
    }

    record Heading(String name, String id, String state, boolean isComplete, boolean isSmoke) {}

    Heading heading() {
      Summary.Run run = summary.run();
      return new Heading(
          name(summary),
          run.id(),
          run.state(),
          run.isComplete(),
          summary.figures().counts().ok() < SMOKE);
    }

    static String name(Summary summary) {
      String simulation = summary.run().simulation();
      return simulation == null
          ? summary.run().id()
          : simulation.substring(simulation.lastIndexOf('.') + 1);
    }

    List<Fact> facts() {
      Summary.Run run = summary.run();
      Summary.Workload workload = summary.workload();
      RunText text = new RunText(summary);
      fact("Model", names(workload.models().keySet()));
      fact("Endpoint", hosts(workload.endpoints().keySet()));
      fact("API", api(workload));
      fact("Load", load());
      fact("Prompt tokens", RunText.lengths(workload.promptTokens()));
      fact("Output tokens", RunText.lengths(workload.outputTokens()));
      fact("Total tokens", text.tokens());
      fact("From prefix cache", text.cached());
      fact("Prefixes", text.prefixes());
      fact("Scenario", names(workload.scenarios().keySet()));
      fact("Dataset", setting("dataset"));
      fact("Tokenizer", setting("tokenizer"));
      fact("Requests measured", measured(text.pooledOver()));
      fact("Started", DATE.format(Instant.ofEpochSecond(0, run.startUnixNs())));
      fact("Duration", NumberText.duration((run.endUnixNs() - run.startUnixNs()) / 1e9));
      fact("Seed", run.seed() == null ? "" : run.seed().toString());
      fact("Injectors", run.injectors().size() > 1 ? names(run.injectors()) : "");
      fact("Versions", versions(run.versions()));
      return facts;
    }

    private String measured(String pooled) {
      String count = NumberText.count(summary.figures().counts().started());
      return pooled.isEmpty() ? count : count + " (" + pooled + ")";
    }

    private void fact(String name, String value) {
      if (!value.isEmpty()) {
        facts.add(new Fact(name, value));
      }
    }

    private String setting(String name) {
      return summary.config().getOrDefault(name, "");
    }

    private static String names(Collection<String> names) {
      return String.join(", ", names);
    }

    private static String hosts(Collection<String> endpoints) {
      return endpoints.stream().map(Head::host).distinct().collect(Collectors.joining(", "));
    }

    private static String host(String endpoint) {
      try {
        String host = URI.create(endpoint).getAuthority();
        return host == null ? endpoint : host.substring(host.lastIndexOf('@') + 1);
      } catch (IllegalArgumentException notAUri) {
        return endpoint;
      }
    }

    private String api(Summary.Workload workload) {
      String apis = names(workload.apis().keySet());
      long all = workload.apis().values().stream().mapToLong(Long::longValue).sum();
      if (apis.isEmpty() || all == 0) {
        return apis;
      }
      long streamed = workload.streamed();
      return apis
          + (streamed == all
              ? ", streamed"
              : streamed == 0 ? ", not streamed" : ", " + NumberText.count(streamed) + " streamed");
    }

    private String load() {
      String kinds =
          summary.stages().stream()
              .map(LevelFigures::kind)
              .filter(kind -> !kind.equals("unknown"))
              .distinct()
              .collect(Collectors.joining(", "));
      String labels =
          summary.stages().stream()
              .map(LevelFigures::label)
              .distinct()
              .collect(Collectors.joining(" "));
      return kinds.isEmpty() ? labels : kinds + ": " + labels;
    }

    private static String versions(Map<String, String> versions) {
      return versions.entrySet().stream()
          .map(version -> version.getKey() + " " + version.getValue())
          .collect(Collectors.joining(", "));
    }
  }
}
