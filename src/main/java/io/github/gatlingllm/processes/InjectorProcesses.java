package io.github.gatlingllm.processes;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.processes.ParentProcess.LoadProgress;
import io.github.gatlingllm.record.InjectorShare;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The processes of the injectors on this machine, from their start to the end of the last one. When
 * each of them has reported that it is ready, all get the instant at which the load starts. The
 * output of each process goes to a file; lines that begin with {@code LLM} go to the console as
 * well, once where several processes print the same line.
 *
 * <p>A thread per process reads its output; the thread that calls {@link #await} handles all
 * events. {@link #stop} may be called by any thread.
 */
final class InjectorProcesses {

  /** The line that a process prints when it is ready for the load. */
  static final String READY = "gatling-llm ready";

  /** Gatling's exit code where its own assertions are missed. */
  static final int ASSERTIONS_MISSED = 2;

  /** From the last process that is ready to the start of the load: time for the message to all. */
  private static final Duration LEAD = Duration.ofMillis(500);

  /** Processes that are still alive so long after a SIGTERM are killed. */
  private static final Duration KILL_AFTER = Duration.ofSeconds(20);

  private static final Duration PROGRESS_INTERVAL = Duration.ofSeconds(5);

  /** Lines of a failed process that are shown. */
  private static final int LAST_LINES = 5;

  /** Exit codes above are this plus the number of a signal. */
  private static final int SIGNALS = 128;

  /**
   * An event of a process.
   *
   * @param line that it has printed; null where it has ended
   */
  private record Event(Injector injector, @Nullable String line) {}

  /**
   * How a process ended.
   *
   * @param exitCode 128 plus the signal's number where a signal ended it
   */
  record Outcome(InjectorShare share, int exitCode) {

    /** Whether it ended early: with missed assertions a process has come to its end. */
    boolean failed() {
      return exitCode != 0 && exitCode != ASSERTIONS_MISSED;
    }
  }

  /** One of the processes. */
  private static final class Injector {
    private final InjectorShare share;
    private final Process process;
    private final Deque<String> lastLines = new ArrayDeque<>();
    private @Nullable LoadProgress progress;
    private boolean isReady;
    private boolean hasEnded;

    private Injector(InjectorShare share, Process process) {
      this.share = share;
      this.process = process;
    }
  }

  private final List<Injector> all = new ArrayList<>();
  private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
  private final Set<String> printed = new HashSet<>();
  private final Consumer<String> console;
  private final LongSupplier unixNanos;
  private boolean isStarted;
  private volatile boolean isStopped;
  private volatile long stoppedNanos;

  /**
   * @param console takes lines for the user
   * @param unixNanos the wall clock, for the start of the load
   */
  InjectorProcesses(Consumer<String> console, LongSupplier unixNanos) {
    this.console = console;
    this.unixNanos = unixNanos;
  }

  /**
   * Starts a process.
   *
   * @param output file for its output
   */
  void start(InjectorShare share, ProcessBuilder builder, Path output) throws IOException {
    Writer file = Files.newBufferedWriter(output);
    Injector injector = new Injector(share, builder.redirectErrorStream(true).start());
    all.add(injector);
    Thread reading = new Thread(() -> read(injector, file), "llm-injector-" + share.index());
    reading.setDaemon(true);
    reading.start();
  }

  private void read(Injector injector, Writer output) {
    try (output;
        BufferedReader lines = injector.process.inputReader(UTF_8)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        events.add(new Event(injector, line));
        output.write(line + System.lineSeparator());
        output.flush();
      }
    } catch (IOException e) {
      // The disk is full, which other files report, or the pipe is cut, as the process has ended.
    }
    injector.process.onExit().join();
    events.add(new Event(injector, null));
  }

  /** Ends all processes by SIGTERM; each keeps its records. */
  void stop() {
    stoppedNanos = System.nanoTime();
    isStopped = true;
    all.forEach(injector -> injector.process.destroy());
  }

  /** Whether the load has started. */
  boolean isStarted() {
    return isStarted;
  }

  /** Whether {@link #stop} was called, by whomever. */
  boolean isStopped() {
    return isStopped;
  }

  /**
   * Handles events until all processes have ended. Where one fails before the load starts, all are
   * stopped.
   */
  List<Outcome> await() throws InterruptedException {
    List<Outcome> outcomes = new ArrayList<>();
    long next = System.nanoTime() + PROGRESS_INTERVAL.toNanos();
    while (outcomes.size() < all.size()) {
      Event event = events.poll(next - System.nanoTime(), TimeUnit.NANOSECONDS);
      if (event == null) {
        next += PROGRESS_INTERVAL.toNanos();
        onInterval();
      } else if (event.line == null) {
        outcomes.add(onEnd(event.injector));
      } else {
        onLine(event.injector, event.line);
      }
    }
    outcomes.sort(Comparator.comparingInt(outcome -> outcome.share().index()));
    return outcomes;
  }

  private void onLine(Injector injector, String line) {
    LoadProgress progress = LoadProgress.of(line);
    if (progress != null) {
      injector.progress = progress;
    } else if (line.equals(READY)) {
      injector.isReady = true;
      startIfReady();
    } else if (line.startsWith("LLM ") || line.startsWith("LLM: ")) {
      print(injector, line);
    } else if (!line.isBlank()) {
      injector.lastLines.add(line);
      if (injector.lastLines.size() > LAST_LINES) {
        injector.lastLines.remove();
      }
    }
  }

  private void print(Injector injector, String line) {
    if (printed.add(line)) {
      console.accept("[" + injector.share + "] " + line);
    }
  }

  private void startIfReady() {
    if (isStarted || isStopped || !all.stream().allMatch(injector -> injector.isReady)) {
      return;
    }
    isStarted = true;
    long start = unixNanos.getAsLong() + LEAD.toNanos();
    for (Injector injector : all) {
      try {
        Writer input = injector.process.outputWriter(UTF_8);
        input.write(start + "\n");
        input.flush();
      } catch (IOException e) {
        // The process has ended, which is an event of its own.
      }
    }
  }

  private Outcome onEnd(Injector injector) {
    injector.hasEnded = true;
    Outcome outcome = new Outcome(injector.share, injector.process.exitValue());
    if (!isStopped && (outcome.failed() || !isStarted)) {
      int code = outcome.exitCode();
      if (code < SIGNALS) {
        injector.lastLines.forEach(line -> print(injector, line));
      }
      console.accept(
          "LLM injector %s (process %s) ended with exit code %s%s"
              .formatted(
                  injector.share,
                  injector.process.pid(),
                  code,
                  code > SIGNALS ? ", by signal " + (code - SIGNALS) : ""));
      if (!isStarted) {
        stop();
      }
    }
    return outcome;
  }

  private void onInterval() {
    if (isStopped && System.nanoTime() - stoppedNanos > KILL_AFTER.toNanos()) {
      all.forEach(injector -> injector.process.destroyForcibly());
    }
    List<Injector> running = all.stream().filter(injector -> !injector.hasEnded).toList();
    List<LoadProgress> progress =
        running.stream().map(injector -> injector.progress).filter(Objects::nonNull).toList();
    if (isStopped) {
      return;
    }
    if (!isStarted) {
      console.accept(
          "LLM injectors: %s of %s are ready"
              .formatted(
                  running.stream().filter(injector -> injector.isReady).count(), all.size()));
    } else if (!progress.isEmpty()) {
      LoadProgress sum = LoadProgress.sum(progress);
      console.accept(
          "LLM injectors: %s on; %s: %s in flight, %s ok, %s failed, %s tok/s"
              .formatted(
                  running.size(),
                  sum.where(),
                  NumberText.count(sum.inFlight()),
                  NumberText.count(sum.ok()),
                  NumberText.count(sum.failed()),
                  NumberText.number(sum.tokensPerSecond())));
    }
  }
}
