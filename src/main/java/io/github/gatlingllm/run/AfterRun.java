package io.github.gatlingllm.run;

import io.github.gatlingllm.report.ConsoleSummary;
import io.github.gatlingllm.report.RunReport;
import io.github.gatlingllm.sample.RunInfo;
import io.github.gatlingllm.stats.RunFigures;

/**
 * The JVM's shutdown hook: Gatling's pages exist by now and its loggers are gone, so ours are made,
 * and what is said is printed. A run that did not come to its end is reported as interrupted. No
 * failure in here changes the exit code.
 */
final class AfterRun implements Runnable {

  private final Run run;

  AfterRun(Run run) {
    this.run = run;
  }

  @Override
  public void run() {
    try {
      run.end(RunInfo.State.INTERRUPTED);
      if (!run.hasRequests()) {
        System.out.println("LLM report: no llm request was sent, so there is none");
        return;
      }
      RunReport report = RunReport.of(run.files());
      RunFigures figures = report.write();
      System.out.println(ConsoleSummary.of(figures.summary()));
      run.conclusions().forEach(System.out::println);
      report.messages().forEach(System.out::println);
      System.out.println(
          "LLM report generated, please open the following file: " + run.files().page().toUri());
    } catch (Throwable e) {
      System.out.println(
          "LLM report could not be made ("
              + e
              + "); the records are kept, rebuild it with: java -cp <class path>"
              + " io.github.gatlingllm.report.Main render "
              + run.files().run());
    }
  }
}
