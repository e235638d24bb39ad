package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.check.CheckCatalogue;
import io.github.gatlingllm.figures.compare.Comparison;
import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.figures.level.RunStatistics;
import io.github.gatlingllm.figures.level.RunStatistics.RecordSource;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Series;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RecordCsv;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.report.Chart.Band;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.Table.Column;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes all files of the report of a run from its records: {@code summary.json}, {@code
 * summary.md}, {@code junit.xml}, {@code llm.html} and the block in Gatling's pages. It runs at the
 * end of a load test, and later from the records alone, on any machine.
 */
public final class RunReport {

  private final RunFiles files;
  private final RunInfo info;
  private final UnaryOperator<RunInfo> judged;
  private final boolean hasCsv;
  private final List<String> exports;
  private final RecordSource records;
  private final List<String> messages = new ArrayList<>();

  private RunReport(
      RunFiles files,
      RunInfo info,
      UnaryOperator<RunInfo> judged,
      boolean hasCsv,
      List<String> exports,
      RecordSource records) {
    this.files = files;
    this.info = info;
    this.judged = judged;
    this.hasCsv = hasCsv || info.report().csv();
    String set = info.config().getOrDefault(RunFiles.EXPORT, "").toLowerCase(Locale.ROOT);
    this.exports =
        exports.isEmpty()
            ? RunFiles.EXPORTS.stream()
                .filter(List.of(set.split("\\s*,\\s*", -1))::contains)
                .toList()
            : exports;
    this.records = records;
  }

  public static RunReport of(RunFiles files) throws IOException {
    return of(files, UnaryOperator.identity(), false, List.of());
  }

  /** The report of a run that is judged by another SLO, perhaps with files of other formats. */
  static RunReport of(
      RunFiles files, UnaryOperator<RunInfo> judged, boolean hasCsv, List<String> exports)
      throws IOException {
    files.requireRequests();
    if (Files.isSymbolicLink(files.folder())) {
      throw new IOException(files.folder() + " is a link; expected the folder of a recorded run");
    }
    return new RunReport(
        files,
        files.requireInfo(),
        judged,
        hasCsv,
        exports,
        sink -> RecordFile.read(files.requests(), sink));
  }

  /** The report of a run whose records are copied to its folder while they are read. */
  static RunReport of(RunFiles files, RunInfo info, RecordSource records) {
    return new RunReport(files, info, UnaryOperator.identity(), false, List.of(), records);
  }

  public RunFigures write() throws IOException {
    RunFigures figures = hasCsv ? figuresAndCsv() : figures(records);
    RunFiles.write(files.summaryJson(), SummaryText.json(figures.summary()));
    String markdown = SummaryText.markdown(figures.summary());
    RunFiles.write(files.summaryMarkdown(), markdown);
    if (figures.summary().assertions().isEmpty()) {
      Files.deleteIfExists(files.junit());
    } else {
      RunFiles.write(files.junit(), SummaryText.junit(figures.summary()));
    }
    HtmlReport.write(files.page(), figures.summary(), figures.series());
    Export.write(files, figures, exports);
    messages.addAll(blockInGatlingsPages(figures.summary()));
    toJobPage(markdown, System.getenv(), messages::add);
    return figures;
  }

  public Summary write(List<String> more, Consumer<String> console) throws IOException {
    Summary summary = write().summary();
    console.accept(SummaryText.console(summary));
    summary.assertions().forEach(result -> console.accept(result.line()));
    more.forEach(console);
    messages.forEach(console);
    return summary;
  }

  /**
   * Whether the result of the run fails the build. If it fails because the run is invalid, this
   * prints why in one line; failed assertions are printed elsewhere.
   */
  public static boolean failsBuild(
      Summary summary,
      RunInfo.ReportOptions options,
      boolean isComplete,
      Consumer<String> console) {
    Boolean set = options.failOnInvalid();
    String why = isComplete && !Boolean.FALSE.equals(set) ? summary.whyInvalid() : null;
    boolean isFirstLook =
        set == null
            && summary.assertions().isEmpty()
            && CheckCatalogue.isOnlyGeneratorInvalid(summary);
    boolean isInvalid = options.failBuild() && why != null && !isFirstLook;
    if (why != null && options.failBuild()) {
      console.accept(
          "LLM: the run is invalid, "
              + (isFirstLook
                  ? "but the build passes, as nothing is asserted (failOnInvalid=true fails it): "
                  : "so the build fails (failOnInvalid=false lets it pass): ")
              + why);
    }
    return isInvalid || (options.failBuild() && !summary.assertionsHold());
  }

  /** Appends to the file that GitHub Actions shows on the page of the job, if that is possible. */
  static void toJobPage(
      String markdown, Map<String, String> environment, Consumer<String> console) {
    String file = environment.get("GITHUB_STEP_SUMMARY");
    if (file != null && !file.isBlank()) {
      try {
        Files.writeString(
            Path.of(file), markdown, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
      } catch (IOException | InvalidPathException e) {
        console.accept(
            "LLM: the summary is not on the page of the job, as GITHUB_STEP_SUMMARY names a file"
                + " that cannot be written; unset it or make its folder available: "
                + file);
      }
    }
  }

  /** Inserts into Gatling's pages; a failure there must not hide results and missed assertions. */
  private List<String> blockInGatlingsPages(Summary summary) {
    try {
      return GatlingPages.insert(files.run(), summary);
    } catch (IOException e) {
      return List.of(
          "LLM block omitted from Gatling's pages (" + e + "); llm.html has all figures");
    }
  }

  private RunFigures figures(RecordSource requests) throws IOException {
    return Comparison.interference(
        CheckCatalogue.judged(
            RunStatistics.of(info, judged, new RunRecords(files, requests, messages::add))));
  }

  private RunFigures figuresAndCsv() throws IOException {
    try (RecordCsv rows = RecordCsv.create(files.csv())) {
      AtomicBoolean isFirst = new AtomicBoolean(true);
      RunFigures figures =
          figures(sink -> records.replay(isFirst.getAndSet(false) ? rows.andThen(sink) : sink));
      rows.finish();
      return figures;
    }
  }

  /**
   * The page of a run in progress: figures of the current load level, load levels that have ended,
   * and the report's charts over time. A browser opens {@link #html}; each {@link #event} updates
   * it.
   *
   * @param page the report at the end of the run
   * @param figures of the current load level
   * @param finished load levels that have ended, by their names
   */
  public record LivePage(
      String simulation,
      String id,
      Path page,
      long startUnixNanos,
      boolean isOver,
      boolean isJudged,
      Series series,
      List<LevelInfo> levels,
      @Nullable LiveFigures figures,
      List<Map.Entry<String, LiveFigures>> finished) {

    public String html() {
      String name = simulation.substring(simulation.lastIndexOf('.') + 1);
      List<Section> sections = new ArrayList<>();
      sections.add(Section.of("now").body("live", values()));
      sections.addAll(charts());
      return new Page(
              "live-page",
              "Live",
              "Live: " + name,
              Map.of("run", Map.of("name", name, "id", id)),
              sections)
          .following("live.js")
          .html();
    }

    /**
     * An update as one line of JSON: the markup {@code now}, {@code isOver}, and {@code charts}.
     */
    public String event() {
      return Page.json(
          Map.of(
              "now",
              Templates.fill("live-now", Map.of("values", values())),
              "isOver",
              isOver,
              "charts",
              Page.charts(charts())));
    }

    private List<Section> charts() {
      long soFar = Math.round(series.overTime().size() * series.bucketS() * 1e9);
      List<Band> bands = Band.of(levels, LevelInfo::label, startUnixNanos, startUnixNanos + soFar);
      TimeSection time =
          new TimeSection(series, bands, Metric.TTFT_FROM_SCHEDULE_MS, null, isJudged, "");
      return Stream.of(time.section(), time.generator()).filter(Objects::nonNull).toList();
    }

    private Map<String, Object> values() {
      return Map.of(
          "now",
          this,
          "tiles",
          figures == null ? List.of() : RunText.rows("live-tiles", tiles(figures)),
          "finished",
          finishedLevels());
    }

    private static Map<String, Object> tiles(LiveFigures live) {
      Map<String, Object> all = new HashMap<>();
      all.put("live", live);
      all.put("counts", live.figures().counts());
      all.put("ttft", live.figures().metric(Metric.TTFT_MS));
      all.put("itl", live.figures().metric(Metric.ITL_MS));
      all.put("tokens", live.number(Metric.OUTPUT_TOKENS_PER_S));
      return all;
    }

    private Table finishedLevels() {
      return Table.of(
          "Finished load levels",
          finished,
          Column.figure("Load level", Map.Entry::getKey),
          number("Output tok/s", of -> of.number(Metric.OUTPUT_TOKENS_PER_S)),
          number("Requests/s", of -> of.number(Metric.REQUESTS_PER_S)),
          number("TTFT p50, ms", of -> of.figures().metric(Metric.TTFT_MS).p50()),
          number("TTFT p99, ms", of -> of.figures().metric(Metric.TTFT_MS).p99()),
          number("ITL p50, ms", of -> of.figures().metric(Metric.ITL_MS).p50()),
          number("ITL p99, ms", of -> of.figures().metric(Metric.ITL_MS).p99()),
          Column.percent("In SLO", level -> level.getValue().sloShare()),
          Column.count("Ok", level -> level.getValue().figures().counts().ok()),
          Column.count("Failed", level -> level.getValue().figures().counts().failed()));
    }

    private static Column<Map.Entry<String, LiveFigures>> number(
        String heading, Function<LiveFigures, @Nullable Double> value) {
      return Column.<LiveFigures>number(heading, value).in(Map.Entry::getValue);
    }
  }
}
