package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.check.Checks;
import io.github.gatlingllm.figures.level.RunStatistics;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.report.Browser.Theme;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Measures how fast the records of a run are read, how fast its report is written, how large it is
 * and how fast a browser opens it. Argument: the directory of a run, e.g. of {@link BigRun}.
 *
 * <p>Rates are per second of CPU time of the working thread, independent of other load on the
 * machine.
 */
final class BigRunTiming {

  private BigRunTiming() {}

  public static void main(String[] args) throws IOException {
    RunFiles files = new RunFiles(Path.of(args[0]).toAbsolutePath());
    RunInfo info = RunInfo.read(files.info()).orElseThrow();
    long records = 0;
    for (String when : new String[] {"cold", "warm"}) {
      long start = cpuNanos();
      ReadReport read = RecordFile.read(files.requests(), record -> {});
      records = read.records();
      say(when + " read", records, cpuNanos() - start);
      start = cpuNanos();
      RunFigures figures =
          Checks.judged(RunStatistics.of(info, sink -> RecordFile.read(files.requests(), sink)));
      long ended = figures.summary().figures().counts().ended();
      say(when + " read with all statistics", ended, cpuNanos() - start);
    }
    long start = cpuNanos();
    RunReport.of(files).write();
    say("report", records, cpuNanos() - start);
    System.out.printf("page: %.2f MB%n", Files.size(files.page()) / 1e6);
    if (args.length == 1) {
      open(files.page());
    }
  }

  private static long cpuNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  private static void say(String what, long records, long nanos) {
    System.out.printf(
        "%s: %.1f s of processor time, %,.0f records/s%n",
        what, nanos / 1e9, records * 1e9 / nanos);
  }

  /** From navigation until every chart is drawn: the load event follows the scripts. */
  private static void open(Path page) throws IOException {
    try (Browser browser = Browser.open(Files.createTempDirectory("big-run"))) {
      browser.prefer(Theme.LIGHT);
      for (int i = 0; i < 5; i++) {
        browser.show(page, 1400, 1000);
        System.out.printf(
            "open: loaded in %s ms, all %s charts drawn in %s ms%n",
            browser.eval("Math.round(performance.getEntriesByType('navigation')[0].loadEventEnd)"),
            browser.eval("document.querySelectorAll('.plot svg').length"),
            browser.eval("Math.round(performance.getEntriesByName('drawn')[0].startTime)"));
      }
    }
  }
}
