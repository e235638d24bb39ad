package io.github.gatlingllm.report;

import io.github.gatlingllm.stats.RunStatistics.RunFigures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Writes {@code llm.html} of an invented run into the folder given, and our pieces into Gatling's
 * pages where they lie there: what the pictures in the documentation show. With a second argument
 * it is a run of open loops and two scenarios, or, {@code observed}, one whose engine said how it
 * fared.
 */
final class DemoPage {

  private DemoPage() {}

  public static void main(String[] args) throws IOException {
    Path directory = Files.createDirectories(Path.of(args[0]));
    DemoRun run =
        args.length == 1
            ? DemoRun.sweep()
            : args[1].equals("observed") ? DemoRun.sweep().observed() : DemoRun.openScenarios();
    RunFigures figures = run.figures();
    HtmlReport.write(directory.resolve("llm.html"), figures.summary(), figures.series());
    GatlingPages.insert(directory, GatlingPagesIT.summary());
  }
}
