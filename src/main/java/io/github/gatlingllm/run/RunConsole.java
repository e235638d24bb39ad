package io.github.gatlingllm.run;

import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.run.RunView.LevelView;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Prints the progress of a run on the console: a block every 5 s, a line for each level. */
final class RunConsole implements RunObserver {

  private static final int BLOCK_SECONDS = 5;

  private final Run run;
  private final boolean isLinesOnly = isLinesOnly(System.getenv());
  private final Set<LevelView> ended = new HashSet<>();
  private RunView seen = RunView.OPENED;
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
  public void tick(RunView view) {
    view.lines.stream().skip(seen.lines.size()).forEach(PrintableText::print);
    if (view.levels != seen.levels) {
      view.levels.stream()
          .filter(level -> level.isOver() && ended.add(level))
          .forEach(RunConsole::print);
    }
    if (view.seconds != seen.seconds && ++seconds % BLOCK_SECONDS == 0) {
      block(view.beganNanos);
    }
    seen = view;
  }

  private void block(@Nullable Long beganNanos) {
    LiveFigures figures = beganNanos == null || isLinesOnly ? null : run.levels().figures(true);
    if (beganNanos != null && figures != null) {
      PrintableText.print(ConsoleBlock.of(figures, System.nanoTime() - beganNanos));
    }
  }

  private static void print(LevelView level) {
    LiveFigures figures = level.figures();
    if (figures != null) {
      PrintableText.print(ConsoleBlock.finished(level.toString(), figures));
    } else if (level.info().measured().isEmpty()) {
      PrintableText.print("LLM " + level + ": ended before its measure window began");
    }
  }
}
