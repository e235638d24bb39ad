package io.github.gatlingllm.report;

import io.github.gatlingllm.stats.RunFigures;
import java.io.IOException;
import java.nio.file.Path;

/** Writes {@code llm.html} of the invented run into the folder given: what README pictures show. */
final class DemoPage {

  private DemoPage() {}

  public static void main(String[] args) throws IOException {
    RunFigures figures = DemoRun.sweep().figures();
    HtmlReport.write(Path.of(args[0], "llm.html"), figures.summary(), figures.series());
  }
}
