package io.github.gatlingllm.run;

import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.report.ConsoleBlock;
import io.github.gatlingllm.report.RunReport;
import io.github.gatlingllm.report.SummaryText;
import io.github.gatlingllm.selftest.SelfTestResults;
import io.github.gatlingllm.stats.Summary;
import java.io.PrintStream;

/**
 * The JVM's shutdown hook: Gatling's pages exist by now and its loggers are gone, so ours are made,
 * and what is said is printed. A run that did not come to its end is reported as interrupted. Only
 * a missed assertion or an invalid run after it came to its end, and records that could not be
 * written, change the exit code; no failure in here does.
 */
final class AfterRun implements Runnable {

  private final Run run;
  private final PrintStream out;

  AfterRun(Run run, PrintStream out) {
    this.run = run;
    this.out = out;
  }

  @Override
  public void run() {
    boolean failed = report();
    GatlingExit exit = run.exit();
    if (exit != null && (failed || run.isRecordLost())) {
      exit.with(failed ? GatlingExit.ASSERTIONS_MISSED : GatlingExit.RECORDS_LOST);
    }
  }

  /** Makes the report; true where the build is to fail for what it shows. */
  boolean report() {
    try {
      RunInfo info = run.end(RunInfo.State.INTERRUPTED);
      if (run.isRefused()) {
        return false;
      }
      if (!run.hasRequests() && info.assertions().isEmpty()) {
        out.println("LLM report: no llm request was sent, so there is none");
        return false;
      }
      run.selfTest(SelfTestResults.ofUser(), out::println);
      RunReport report = RunReport.of(run.files());
      Summary summary = report.write().summary();
      out.println(SummaryText.console(summary));
      summary.assertions().forEach(result -> out.println(ConsoleBlock.visible(result.line())));
      if (info.assertionsToJudge().size() < info.assertions().size()) {
        out.println(
            "LLM assertions: judged when the runs of all "
                + info.share().count()
                + " injectors are merged, not by this one's part");
      }
      run.conclusions().forEach(line -> out.println(ConsoleBlock.visible(line)));
      report.messages().forEach(out::println);
      out.println(
          "LLM report generated, please open the following file: " + run.files().page().toUri());
      return failsBuild(summary, info.reportOptions());
    } catch (Throwable e) {
      out.println(
          "LLM report could not be made ("
              + e
              + "); the records are kept, rebuild it with: java -cp <class path>"
              + " io.github.gatlingllm.report.Main render "
              + run.files().run());
      return false;
    }
  }

  /** A missed assertion was said above; what makes the run invalid is said here, in one line. */
  private boolean failsBuild(Summary summary, RunInfo.ReportOptions options) {
    if (!options.failBuild()) {
      return false;
    }
    String why = summary.whyInvalid();
    boolean invalid = options.failOnInvalid() && why != null && run.exit() != null;
    if (invalid) {
      out.println(
          ConsoleBlock.visible(
              "LLM: the run is invalid, so the build fails (failOnInvalid=false lets it pass): "
                  + why));
    }
    return invalid || !summary.assertionsHold();
  }
}
