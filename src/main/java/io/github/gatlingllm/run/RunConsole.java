package io.github.gatlingllm.run;

import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.PrintableText;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Prints the progress of a run on the console: a block every 5 s, a line for each level. */
final class RunConsole implements RunObserver {

  private static final int BLOCK_SECONDS = 5;

  private final Run run;
  private final boolean isLinesOnly = isLinesOnly(System.getenv());
  private final Set<ObservedLevel> measured = new HashSet<>();
  private long firstRequestNanos;
  private boolean hasBegun;
  private int seconds;

  RunConsole(Run run) {
    this.run = run;
  }

  @Override
  public String name() {
    return "console";
  }

  /**
   * Whether only one line per level is printed, for logs of build servers ({@code CI}) and consoles
   * without a cursor ({@code TERM=dumb}). Load tests run by Maven never have a terminal.
   */
  static boolean isLinesOnly(Map<String, String> environment) {
    String ci = environment.getOrDefault("CI", "");
    boolean isBuildServer = !ci.isEmpty() && !ci.equals("false") && !ci.equals("0");
    return isBuildServer || "dumb".equals(environment.get("TERM"));
  }

  @Override
  public void runBegan() {
    firstRequestNanos = System.nanoTime();
    hasBegun = true;
  }

  @Override
  public void secondPassed() {
    seconds++;
    if (seconds % BLOCK_SECONDS == 0 && hasBegun && !isLinesOnly) {
      LiveFigures figures = run.levels().figures(true);
      if (figures != null) {
        PrintableText.print(ConsoleBlock.of(figures, System.nanoTime() - firstRequestNanos));
      }
    }
  }

  @Override
  public void phaseBegan(ObservedLevel level, Phase phase) {
    if (phase == Phase.MEASURE) {
      measured.add(level);
    }
  }

  @Override
  public void levelEnded(ObservedLevel level, @Nullable LiveFigures figures) {
    if (figures != null) {
      PrintableText.print(ConsoleBlock.finished(level.toString(), figures));
    } else if (!measured.contains(level)) {
      PrintableText.print("LLM " + level + ": ended before its measure window began");
    }
  }

  @Override
  public void message(String line) {
    PrintableText.print(line);
  }
}
