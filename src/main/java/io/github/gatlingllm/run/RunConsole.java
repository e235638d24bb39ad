package io.github.gatlingllm.run;

import io.github.gatlingllm.figures.level.LiveStats;
import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.report.ConsoleBlock;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The live figures of a run, and the block that prints them on the console. Thread-safe. */
final class RunConsole {

  private final LevelLog levels;
  private final LevelTally tally;
  private final LongSupplier inFlight;
  private final LiveStats live = new LiveStats(System::nanoTime);
  private final boolean isLinesOnly = isLinesOnly(System.getenv());

  /** {@link System#nanoTime()} of the first request; 0 before. */
  private volatile long firstRequestNanos;

  /**
   * @param inFlight number of requests in flight
   */
  RunConsole(LevelLog levels, LevelTally tally, LongSupplier inFlight) {
    this.levels = levels;
    this.tally = tally;
    this.inFlight = inFlight;
  }

  /** The first request is about to be sent. */
  void begin() {
    firstRequestNanos = System.nanoTime();
  }

  /** Counts a request that has ended. */
  void accept(RequestRecord record) {
    if (!tally.hasLevels()) {
      live.accept(record);
    }
  }

  /** The figures for another reader than the console; null before there are any. */
  @Nullable LiveFigures peek() {
    return figures(levels.peek(), live::peek);
  }

  /**
   * Whether only one line per level is printed, for logs: if {@code CI} is set, as by build
   * servers, or {@code TERM=dumb}, as by consoles without a cursor. A missing terminal is no
   * criterion, as load tests run by Maven never have one.
   */
  static boolean isLinesOnly(Map<String, String> environment) {
    String ci = environment.getOrDefault("CI", "");
    boolean isBuildServer = !ci.isEmpty() && !ci.equals("false") && !ci.equals("0");
    return isBuildServer || "dumb".equals(environment.get("TERM"));
  }

  /** Figures of the current load level, or of the run if it has no levels. */
  private @Nullable LiveFigures figures(
      @Nullable LiveFigures ofLevel, Supplier<LiveFigures> ofRun) {
    LiveFigures figures = ofLevel == null && !tally.hasLevels() ? ofRun.get() : ofLevel;
    return figures == null
        ? null
        : figures
            .withInFlight(inFlight.getAsLong())
            .withProgress(levels.progress(System.nanoTime()));
  }

  /** Prints the block, once a request was sent. */
  void print() {
    try {
      long first = firstRequestNanos;
      if (first == 0 || isLinesOnly) {
        return;
      }
      LiveFigures figures = figures(levels.figures(), live::snapshot);
      if (figures != null) {
        System.out.println(ConsoleBlock.of(figures, System.nanoTime() - first));
      }
    } catch (RuntimeException e) {
      System.out.println("LLM console block failed: " + e);
    }
  }
}
