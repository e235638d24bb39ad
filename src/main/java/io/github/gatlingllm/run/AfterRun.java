package io.github.gatlingllm.run;

import io.github.gatlingllm.engine.SelfTestResults;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.SelfTest;
import io.github.gatlingllm.record.StartCommand;
import io.github.gatlingllm.report.RunReport;
import io.github.gatlingllm.run.RunView.Stage;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The end of a run, and the JVM's shutdown hook, which makes the report. Gatling's own pages exist
 * by then; its loggers are closed, so messages are printed. A run that did not complete is reported
 * as interrupted. The exit code changes only if a completed run missed an assertion or is invalid,
 * or if records or other output was lost.
 */
public final class AfterRun implements Runnable {

  /** Longest wait for the records of cancelled requests: there is little time after a SIGTERM. */
  private static final Duration CANCELLING = Duration.ofSeconds(2);

  private static final Duration DRAIN = Duration.ofSeconds(30);

  /** All the time there is for records after a SIGTERM. */
  private static final Duration FREEZE = Duration.ofSeconds(2);

  /** Gatling's exit code for missed assertions, which its Maven plugin knows. */
  private static final int ASSERTIONS_MISSED = 2;

  /** Exit code if records or report could not be written, or not uploaded. */
  private static final int OUTPUT_LOST = 1;

  private final Run run;
  private final Recorder recorder;
  private final ExecutorService worker;
  private final List<AutoCloseable> closedAtEnd = new CopyOnWriteArrayList<>();
  private final AtomicBoolean over = new AtomicBoolean();

  private volatile @Nullable Duration maxDuration;
  private volatile long loadExpectedNanos = System.nanoTime();
  private volatile @Nullable GatlingExit exit;
  private volatile boolean isRefused;
  private volatile long unwritten;
  private volatile Consumer<Duration> cancelling = max -> {};
  private volatile LongSupplier unrecordedRequests = () -> 0;
  private boolean isReportFailed;

  AfterRun(Run run, Recorder recorder, ExecutorService worker) {
    this.run = run;
    this.recorder = recorder;
    this.worker = worker;
  }

  /** Registers a server to be closed at the end of the run; null is ignored. */
  public void close(@Nullable AutoCloseable server) {
    if (server != null) {
      closedAtEnd.add(server);
    }
  }

  /** Sets how requests in flight are cancelled by an interruption, and how many have no record. */
  public void onInterruption(Consumer<Duration> cancelling, LongSupplier unrecorded) {
    this.cancelling = cancelling;
    unrecordedRequests = unrecorded;
  }

  /** After that time of load Gatling stops the run, as planned; null for no limit. */
  public void endsAfter(@Nullable Duration duration) {
    maxDuration = duration;
    if (duration != null) {
      run.describe(info -> info.config(RunInfo.MAX_DURATION, duration.toSeconds() + "s"));
    }
  }

  void beforeLoad() {
    loadExpectedNanos = System.nanoTime();
  }

  /** No load is sent, for a reason that was printed: no report is made. */
  public void refuse() {
    isRefused = true;
  }

  /** All requests have ended, and no more are sent; unless it is over, {@code first} runs first. */
  public void complete(Runnable first) {
    if (!isOver()) {
      first.run();
      end(RunInfo.State.COMPLETE, false);
    }
  }

  /** Gatling stops the run: requests in flight are cancelled, and all records are kept. */
  public void stopped() {
    if (!isOver()) {
      exit = new GatlingExit();
      Duration max = maxDuration;
      boolean isPlanned = max != null && System.nanoTime() - loadExpectedNanos >= max.toNanos();
      end(isPlanned ? RunInfo.State.COMPLETE : RunInfo.State.INTERRUPTED, true);
    }
  }

  boolean isOver() {
    return over.get();
  }

  private void end(RunInfo.State state, boolean cancels) {
    if (over.compareAndSet(false, true)) {
      var unused = Run.close(worker, Duration.ofSeconds(1)); // completes a file being written
      boolean isComplete = state == RunInfo.State.COMPLETE;
      if (isComplete) {
        exit = new GatlingExit();
        catchFailureOfPages();
      }
      if (cancels) {
        run.levels().interrupted(System.nanoTime());
        cancelling.accept(CANCELLING);
      }
      run.levels().close(isComplete ? DRAIN : Duration.ofSeconds(1));
      closeRecorder(state, cancels ? unrecordedRequests.getAsLong() : 0);
      run.observers().await(next -> {}, RunObserver::stop);
      closedAtEnd.forEach(AfterRun::closeNow);
    }
  }

  /** Gatling's pages fail with a stack trace where the disk is full or the folder was deleted. */
  private void catchFailureOfPages() {
    if (Thread.getDefaultUncaughtExceptionHandler() == null) {
      Thread.setDefaultUncaughtExceptionHandler(
          (thread, failure) -> {
            boolean isGone = Files.notExists(run.files().run().resolve(RunDirectory.LOG));
            boolean isGatling = GatlingExit.isGatling(failure.getStackTrace());
            if (isGatling && isGone) {
              return; // a line about lost records was printed
            }
            if (isGatling && failure instanceof IOException) {
              PrintableText.printError(
                  "LLM: Gatling's own pages could not be made: " + failure.getMessage());
            } else {
              System.err.print("Exception in thread \"" + thread.getName() + "\" ");
              failure.printStackTrace();
            }
          });
    }
  }

  private void closeRecorder(RunInfo.State state, long inFlight) {
    boolean isDrained = recorder.close(state == RunInfo.State.COMPLETE ? DRAIN : FREEZE);
    if (!isDrained || inFlight > 0) {
      PrintableText.print(
          "LLM: not all records could be written in time; run.json has the number of missing ones"
              + " (dropped)");
    }
    unwritten = recorder.failed();
    long started = run.startedRequests();
    if (unwritten > 0) {
      PrintableText.print(
          String.format(
              Locale.ROOT,
              "LLM records: %,d of %,d could not be written; %s",
              unwritten,
              started,
              isGone() ? "there is no report" : "the run is invalid"));
    }
    long lost = run.lostRecords() + inFlight;
    long now = run.unixNanos(System.nanoTime());
    run.describe(info -> info.ended(now, state).dropped(lost).started(started));
  }

  private boolean isGone() {
    return Files.notExists(run.files().requests());
  }

  private static void closeNow(AutoCloseable server) {
    try {
      server.close();
    } catch (Exception e) {
      PrintableText.print("LLM: a server of the simulation could not be closed: " + e);
    }
  }

  @Override
  public void run() {
    int code = exitCode(System.out);
    GatlingExit sets = exit;
    if (sets != null && code != 0) {
      sets.with(code);
    }
  }

  /** Makes the report; returns the exit code of a run that completed, 0 to keep Gatling's. */
  int exitCode(PrintStream out) {
    boolean failsBuild = report(line -> out.println(PrintableText.of(line)));
    boolean isOutputLost = isReportFailed || unwritten > 0 || run.observers().isOutputLost();
    run.observers().close();
    return failsBuild ? ASSERTIONS_MISSED : isOutputLost ? OUTPUT_LOST : 0;
  }

  private boolean report(Consumer<String> print) {
    try {
      end(RunInfo.State.INTERRUPTED, true);
      RunInfo info = run.info();
      if (isRefused) {
        return false;
      }
      boolean isEmpty = !run.hasRequests() && info.objectives().assertions().isEmpty();
      if (!isEmpty) {
        SelfTest known =
            SelfTestResults.ofUser().atEndOf(info, run.files(), run.clock()::unixNanos, print);
        run.describe(ended -> ended.selfTest(known));
      }
      run.observers().await(next -> next.stage = Stage.RECORDED, RunObserver::tick);
      if (unwritten > 0 && isGone()) {
        return false;
      }
      if (isEmpty) {
        print.accept("LLM report: none, because no llm request was sent");
        return false;
      }
      boolean failsBuild = report(info, print);
      run.observers().await(next -> next.stage = Stage.REPORTED, RunObserver::tick);
      return failsBuild;
    } catch (Throwable e) {
      String cause = e instanceof IOException ? RunFiles.message(e) : e.toString();
      print.accept(
          Files.exists(run.files().requests())
              ? "LLM report could not be made (%s); the records are kept, make it with: %s"
                  .formatted(
                      cause,
                      StartCommand.of(run.info().config())
                          .forRecords("render " + run.files().run()))
              : "LLM report could not be made: " + cause);
      isReportFailed = true;
      return false;
    }
  }

  private boolean report(RunInfo info, Consumer<String> print) throws IOException {
    List<String> more = new ArrayList<>();
    if (info.assertionsToJudge().size() < info.objectives().assertions().size()) {
      more.add(
          "LLM assertions: judged when the runs of all "
              + info.share().count()
              + " injectors are merged, not by this one's part");
    }
    Summary summary = RunReport.of(run.files()).write(more, print);
    print.accept(
        "LLM report generated, with verdict, levels and checks: please open the following file: "
            + run.files().page().toUri());
    boolean isComplete = exit != null && (info.share() == null || !info.share().isPart());
    return RunReport.failsBuild(summary, info.report(), isComplete, print);
  }

  /**
   * Replaces Gatling's exit code from the JVM's shutdown hook, only if Gatling itself ends the JVM:
   * then its frames are on the stack of {@code Runtime.exit}.
   */
  private static final class GatlingExit {

    private static final String GATLING = "io.gatling.app.Gatling";
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final Set<Thread> before;

    /** To be created before the shutdown starts: threads that start later may be shutdown hooks. */
    GatlingExit() {
      before = Set.copyOf(Thread.getAllStackTraces().keySet());
    }

    /** Halts the JVM after the other shutdown hooks, if it is Gatling that ends it. */
    void with(int code) {
      if (!gatlingExits()) {
        return;
      }
      awaitOtherHooks();
      System.out.flush();
      System.err.flush();
      Runtime.getRuntime().halt(code);
    }

    private static boolean gatlingExits() {
      return Thread.getAllStackTraces().values().stream()
          .anyMatch(
              stack -> Arrays.stream(stack).anyMatch(GatlingExit::isExit) && isGatling(stack));
    }

    private static boolean isGatling(StackTraceElement[] stack) {
      return Arrays.stream(stack).anyMatch(GatlingExit::isGatling);
    }

    private static boolean isExit(StackTraceElement frame) {
      return frame.getClassName().equals("java.lang.Runtime")
          && frame.getMethodName().equals("exit");
    }

    private static boolean isGatling(StackTraceElement frame) {
      return frame.getClassName().equals(GATLING) || frame.getClassName().equals(GATLING + "$");
    }

    private void awaitOtherHooks() {
      long deadline = System.nanoTime() + PATIENCE.toNanos();
      for (Map.Entry<Thread, StackTraceElement[]> each : Thread.getAllStackTraces().entrySet()) {
        Thread thread = each.getKey();
        boolean mayBeHook =
            thread != Thread.currentThread()
                && !before.contains(thread)
                && thread.getThreadGroup() == Thread.currentThread().getThreadGroup();
        long remaining = deadline - System.nanoTime();
        if (mayBeHook && remaining > 0) {
          try {
            thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(remaining)));
          } catch (InterruptedException e) {
            return;
          }
        }
      }
    }
  }
}
