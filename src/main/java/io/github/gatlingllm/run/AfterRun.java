package io.github.gatlingllm.run;

import io.github.gatlingllm.engine.SelfTestResults;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.SelfTest;
import io.github.gatlingllm.report.ConsoleBlock;
import io.github.gatlingllm.report.RunReport;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The JVM's shutdown hook, which makes the report. Gatling's own pages exist by then; its loggers
 * are closed, so messages are printed. A run that did not complete is reported as interrupted. The
 * exit code changes only if a completed run missed an assertion or is invalid, or if records or
 * other output was lost.
 */
final class AfterRun implements Runnable {

  private final Run run;
  private final PrintStream out;
  private boolean isReportFailed;

  AfterRun(Run run, PrintStream out) {
    this.run = run;
    this.out = out;
  }

  @Override
  public void run() {
    int code = exitCode();
    GatlingExit exit = run.exit();
    if (exit != null && code != 0) {
      exit.with(code);
    }
  }

  /** Makes the report; returns the exit code of a run that completed, 0 to keep Gatling's. */
  int exitCode() {
    boolean failsBuild = report();
    boolean isOutputLost = isReportFailed || run.isOutputLost();
    run.observers().close();
    return failsBuild ? GatlingExit.ASSERTIONS_MISSED : isOutputLost ? GatlingExit.OUTPUT_LOST : 0;
  }

  private boolean report() {
    try {
      RunInfo info = run.end(RunInfo.State.INTERRUPTED);
      if (run.isRefused()) {
        return false;
      }
      boolean isEmpty = !run.hasRequests() && info.objectives().assertions().isEmpty();
      if (!isEmpty) {
        SelfTest known =
            SelfTestResults.ofUser()
                .atEndOf(info, run.files(), run.clock()::unixNanos, out::println);
        run.describe(ended -> ended.selfTest(known));
      }
      run.observers().await(observer -> observer.recordsWritten(run.info()));
      if (isEmpty) {
        out.println("LLM report: none, because no llm request was sent");
        return false;
      }
      boolean failsBuild = report(info);
      run.observers().await(observer -> observer.reportWritten(run.info()));
      return failsBuild;
    } catch (Throwable e) {
      String cause = e instanceof IOException ? e.getMessage() : e.toString();
      out.println(
          ConsoleBlock.visible(
              Files.exists(run.files().requests())
                  ? "LLM report could not be made (%s); the records are kept, make it with: java -cp <class path> io.github.gatlingllm.report.Main render %s"
                      .formatted(cause, run.files().run())
                  : "LLM report could not be made: " + cause));
      isReportFailed = true;
      return false;
    }
  }

  private boolean report(RunInfo info) throws IOException {
    Consumer<String> say = line -> out.println(ConsoleBlock.visible(line));
    List<String> more = new ArrayList<>();
    if (info.assertionsToJudge().size() < info.objectives().assertions().size()) {
      more.add(
          "LLM assertions: judged when the runs of all "
              + info.share().count()
              + " injectors are merged, not by this one's part");
    }
    more.addAll(run.levels().conclusions());
    Summary summary = RunReport.of(run.files()).write(more, say);
    out.println(
        "LLM report generated, please open the following file: " + run.files().page().toUri());
    boolean isWhole = run.exit() != null && (info.share() == null || !info.share().isPart());
    return RunReport.failsBuild(summary, info.reportOptions(), isWhole, say);
  }
}
