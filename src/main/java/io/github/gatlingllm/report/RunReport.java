package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.check.Checks;
import io.github.gatlingllm.figures.level.RunStatistics;
import io.github.gatlingllm.figures.level.RunStatistics.RecordSource;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RecordFile.RecordCsv;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunFiles.AtomicFile;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.ServerSample.ServerFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Writes all files of the report of a run from its records: {@code summary.json}, {@code
 * summary.md}, {@code junit.xml}, {@code llm.html} and the block in Gatling's pages. It runs at the
 * end of a load test, and later from the records alone, on any machine.
 */
public final class RunReport {

  private final RunFiles files;
  private final UnaryOperator<RunInfo> judged;
  private final boolean csv;
  private final @Nullable RunInfo known;
  private final RecordSource records;
  private final List<String> messages = new ArrayList<>();

  private RunReport(
      RunFiles files,
      UnaryOperator<RunInfo> judged,
      boolean csv,
      @Nullable RunInfo known,
      RecordSource records) {
    this.files = files;
    this.judged = judged;
    this.csv = csv;
    this.known = known;
    this.records = records;
  }

  public static RunReport of(RunFiles files) {
    return of(files, UnaryOperator.identity(), false);
  }

  /** The report of a run that is judged by another SLO, and perhaps with a CSV file. */
  static RunReport of(RunFiles files, UnaryOperator<RunInfo> judged, boolean csv) {
    return new RunReport(files, judged, csv, null, sink -> RecordFile.read(files.requests(), sink));
  }

  /** The report of a run whose records are copied to its folder while they are read. */
  static RunReport of(RunFiles files, RunInfo info, RecordSource records) {
    return new RunReport(files, UnaryOperator.identity(), false, info, records);
  }

  /** Reads the records and writes all files. */
  public RunFigures write() throws IOException {
    if (known == null) {
      files.requireRequests();
    }
    if (Files.isSymbolicLink(files.folder())) {
      throw new IOException(files.folder() + " is a link; expected the folder of a recorded run");
    }
    RunInfo info = known != null ? known : RunInfo.read(files.info()).orElse(null);
    boolean withCsv = csv || (info != null && info.reportOptions().csv());
    RunFigures figures = withCsv ? figuresAndCsv(info) : figures(info, UnaryOperator.identity());
    SummaryJson.write(figures.summary(), files.summaryJson());
    String markdown = SummaryText.markdown(figures.summary());
    AtomicFile.write(files.summaryMarkdown(), markdown);
    if (figures.summary().assertions().isEmpty()) {
      Files.deleteIfExists(files.junit());
    } else {
      AtomicFile.write(files.junit(), SummaryText.junit(figures.summary()));
    }
    HtmlReport.write(files.page(), figures.summary(), figures.series());
    messages.addAll(blockInGatlingsPages(figures.summary()));
    toJobPage(markdown, System.getenv(), messages::add);
    return figures;
  }

  /** Writes all files, and prints the summary, the assertions and messages. */
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
      Summary summary, RunInfo.ReportOptions options, boolean isWhole, Consumer<String> console) {
    String why = isWhole && options.failOnInvalid() ? summary.whyInvalid() : null;
    boolean invalid = options.failBuild() && why != null;
    if (invalid) {
      console.accept(
          "LLM: the run is invalid, so the build fails (failOnInvalid=false lets it pass): " + why);
    }
    return invalid || (options.failBuild() && !summary.assertionsHold());
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
      return List.of("LLM block left out of Gatling's pages (" + e + "); llm.html has all figures");
    }
  }

  private RunFigures figures(@Nullable RunInfo info, UnaryOperator<Consumer<RequestRecord>> sinks)
      throws IOException {
    return Checks.judged(
        RunStatistics.of(
            info,
            judged,
            new RecordSource() {
              @Override
              public ReadReport replay(Consumer<RequestRecord> sink) throws IOException {
                return records.replay(sinks.apply(sink));
              }

              @Override
              public RunInfo ended(RunInfo read) throws IOException {
                return records.ended(read);
              }

              @Override
              public void generator(Consumer<GeneratorSecond> sink) throws IOException {
                String damage = GeneratorSecond.read(files.generator(), sink);
                if (damage != null) {
                  messages.add(files.generator() + " is read up to its " + damage);
                }
              }

              @Override
              public void server(Consumer<ServerSample> sink) throws IOException {
                long damaged = ServerFile.read(files.server(), sink);
                if (damaged > 0) {
                  messages.add(
                      files.server() + ": left out " + NumberText.counted(damaged, "damaged line"));
                }
              }
            }));
  }

  /** Writes the CSV file during the first pass over the records. */
  private RunFigures figuresAndCsv(@Nullable RunInfo info) throws IOException {
    try (RecordCsv rows = RecordCsv.create(files.csv())) {
      AtomicBoolean isFirst = new AtomicBoolean(true);
      RunFigures figures =
          figures(info, sink -> isFirst.getAndSet(false) ? rows.andThen(sink) : sink);
      rows.finish();
      return figures;
    }
  }
}
