package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Writes {@code llm.html} of a synthetic run into a folder, and inserts into Gatling's pages there,
 * for the pictures in the documentation. With a second argument the run has open loops and two
 * scenarios, or, if that is {@code observed}, metrics of the engine.
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
