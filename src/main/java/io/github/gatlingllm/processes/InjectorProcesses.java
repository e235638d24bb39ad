package io.github.gatlingllm.processes;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.gatlingllm.metric.NumberText;
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
 * The processes of a load test whose injectors share this machine, from their start to the end of
 * the last one. Each says when it is ready; then all are told the instant at which the load starts.
 * All that they print goes into a file each; lines that begin with {@code LLM} go to the console
 * too, once where several say the same.
 *
 * <p>One thread, that of {@link #await}, decides; a thread per process reads what it prints. {@link
 * #stop} is for any thread.
 */
final class InjectorProcesses {

  /** What a process prints when its load may start. */
  static final String READY = "gatling-llm ready";

  /** What Gatling ends with where assertions of its own are missed. */
  static final int ASSERTIONS_MISSED = 2;

  /** From when all are ready to the start of the load: the word has to reach each of them. */
  private static final Duration LEAD = Duration.ofMillis(500);

  /** A process that is told to end, and does not, is killed. */
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private static final Duration PROGRESS = Duration.ofSeconds(5);
  private static final int LAST_LINES = 5;
  private static final int SIGNALS = 128;

  /** A line that a process has printed; with none it has ended. */
  private record Event(Injector of, @Nullable String line) {}

  /**
   * How a process ended.
   *
   * @param exitCode 128 and the signal where one ended it
   */
  record Outcome(InjectorShare share, int exitCode) {

    /** It did not come to its end; that Gatling's assertions were missed is another matter. */
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
    private boolean isOver;

    private Injector(InjectorShare share, Process process) {
      this.share = share;
      this.process = process;
    }
  }

  private final List<Injector> all = new ArrayList<>();
  private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
  private final Set<String> said = new HashSet<>();
  private final Consumer<String> console;
  private final LongSupplier unixNanos;
  private boolean isStarted;
  private volatile boolean isStopped;
  private volatile long stoppedNanos;

  /**
   * @param console takes the lines to be seen
   * @param unixNanos the wall clock that the start of the load is said by
   */
  InjectorProcesses(Consumer<String> console, LongSupplier unixNanos) {
    this.console = console;
    this.unixNanos = unixNanos;
  }

  /**
   * Starts one more.
   *
   * @param output file for what it prints
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
      // Where the disk is full the process says so; where its pipe is cut it has ended.
    }
    injector.process.onExit().join();
    events.add(new Event(injector, null));
  }

  /** Ends them all as Ctrl-C does: each keeps what it has. */
  void stop() {
    stoppedNanos = System.nanoTime();
    isStopped = true;
    all.forEach(injector -> injector.process.destroy());
  }

  /** Whether the load has started. */
  boolean isStarted() {
    return isStarted;
  }

  /** Whether it was stopped before its end. */
  boolean isStopped() {
    return isStopped;
  }

  /** Leads them to their end; one that fails before the load starts ends all. */
  List<Outcome> await() throws InterruptedException {
    List<Outcome> outcomes = new ArrayList<>();
    long next = System.nanoTime() + PROGRESS.toNanos();
    while (outcomes.size() < all.size()) {
      Event event = events.poll(next - System.nanoTime(), TimeUnit.NANOSECONDS);
      if (event == null) {
        next += PROGRESS.toNanos();
        tick();
      } else if (event.line == null) {
        outcomes.add(ended(event.of));
      } else {
        heard(event.of, event.line);
      }
    }
    outcomes.sort(Comparator.comparingInt(outcome -> outcome.share().index()));
    return outcomes;
  }

  private void heard(Injector injector, String line) {
    LoadProgress progress = LoadProgress.of(line);
    if (progress != null) {
      injector.progress = progress;
    } else if (line.equals(READY)) {
      injector.isReady = true;
      startIfReady();
    } else if (line.startsWith("LLM ") || line.startsWith("LLM: ")) {
      say(injector, line);
    } else if (!line.isBlank()) {
      injector.lastLines.add(line);
      if (injector.lastLines.size() > LAST_LINES) {
        injector.lastLines.remove();
      }
    }
  }

  private void say(Injector injector, String line) {
    if (said.add(line)) {
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
        Writer to = injector.process.outputWriter(UTF_8);
        to.write(start + "\n");
        to.flush();
      } catch (IOException e) {
        // It has ended, which is an event of its own.
      }
    }
  }

  private Outcome ended(Injector injector) {
    injector.isOver = true;
    Outcome outcome = new Outcome(injector.share, injector.process.exitValue());
    if (!isStopped && (outcome.failed() || !isStarted)) {
      int code = outcome.exitCode();
      if (code < SIGNALS) {
        injector.lastLines.forEach(line -> say(injector, line));
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

  private void tick() {
    if (isStopped && System.nanoTime() - stoppedNanos > PATIENCE.toNanos()) {
      all.forEach(injector -> injector.process.destroyForcibly());
    }
    List<Injector> on = all.stream().filter(injector -> !injector.isOver).toList();
    List<LoadProgress> progress =
        on.stream().map(injector -> injector.progress).filter(Objects::nonNull).toList();
    if (isStopped) {
      return;
    }
    if (!isStarted) {
      console.accept(
          "LLM injectors: %s of %s are ready"
              .formatted(on.stream().filter(injector -> injector.isReady).count(), all.size()));
    } else if (!progress.isEmpty()) {
      LoadProgress sum = LoadProgress.sum(progress);
      console.accept(
          "LLM injectors: %s on; %s: %s in flight, %s ok, %s failed, %s tok/s"
              .formatted(
                  on.size(),
                  sum.where(),
                  NumberText.count(sum.inFlight()),
                  NumberText.count(sum.ok()),
                  NumberText.count(sum.failed()),
                  NumberText.number(sum.tokensPerSecond())));
    }
  }
}
