package io.github.gatlingllm.run;

import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.figures.level.LiveStats.Progress;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.run.RunView.LevelView;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Prints the progress of a run on the console: a line for each level, and every 5 s the {@code ----
 * LLM ----} block, after Gatling's own block and as wide, without colours, ASCII except for names
 * of load levels.
 */
final class RunConsole implements RunObserver {

  private static final int BLOCK_SECONDS = 5;

  private static final int WIDTH = 120;
  private static final String UNKNOWN = "-";
  private static final int LABEL = 18;
  private static final int BAR = WIDTH - "run [] 99.99%".length();

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
      printBlock(view.beganNanos);
    }
    seen = view;
  }

  private void printBlock(@Nullable Long beganNanos) {
    LiveFigures figures = beganNanos == null || isLinesOnly ? null : run.levels().figures(true);
    if (beganNanos != null && figures != null) {
      long elapsed = System.nanoTime() - beganNanos;
      PrintableText.print(block(figures, run.levels().sideBySide(), elapsed));
    }
  }

  private static void print(LevelView level) {
    LiveFigures figures = level.figures();
    if (figures != null) {
      PrintableText.print(finished(level.toString(), figures));
    } else if (level.info().measured().isEmpty()) {
      PrintableText.print("LLM " + level + ": ended before its measure window began");
    }
  }

  /**
   * The block as lines of at most 120 characters, without a line end after the last.
   *
   * @param sideBySide of each class of traffic, or target, that has load now; empty for one
   */
  static String block(LiveFigures figures, Map<String, LiveFigures> sideBySide, long elapsedNanos) {
    List<String> lines = new ArrayList<>();
    String elapsed = " " + NumberText.duration(elapsedNanos / 1e9) + " since the first request";
    String title = "---- LLM ";
    lines.add(title + "-".repeat(WIDTH - title.length() - elapsed.length()) + elapsed);
    Figures of = figures.figures();
    if (of.embeds()) {
      lines.add(row("inputs/s", cell("mean", number(of.delivered()))));
    } else {
      stream(figures, lines);
    }
    lines.add(
        row(
            "requests",
            cell("in flight", count(figures.inFlight())),
            cell("ok", count(of.counts().ok())),
            cell("failed", count(of.counts().failed())),
            figures.sloShare() == null
                ? ""
                : cell("in SLO", NumberText.percent(figures.sloShare()).replace(" ", ""))));
    if (of.counts().rateLimited() + figures.heldBack() > 0) {
      lines.add(
          row(
              "rate limits",
              cell("429", count(of.counts().rateLimited())),
              cell("delayed", count(figures.heldBack()))));
    }
    sideBySide.forEach((name, own) -> lines.add(one(name, own)));
    Progress progress = figures.progress();
    if (progress != null) {
      progress(progress, lines);
    }
    return String.join(System.lineSeparator(), lines);
  }

  /** A class of traffic or a target, beside others. */
  private static String one(String name, LiveFigures own) {
    Distribution ttft = own.figures().metric(Metric.TTFT_MS);
    String label = PrintableText.of(name);
    return row(
        label.substring(0, Math.min(label.length(), LABEL - 1)),
        cell("in flight", count(own.inFlight())),
        cell("ok", count(own.figures().counts().ok())),
        cell("failed", count(own.figures().counts().failed())),
        cell("TTFT p50", number(ttft.p50())));
  }

  private static void stream(LiveFigures figures, List<String> lines) {
    Distribution ttft = figures.figures().metric(Metric.TTFT_MS);
    Distribution itl = figures.figures().metric(Metric.ITL_MS);
    lines.add(
        row(
            "TTFT ms",
            cell("p50", number(ttft.p50())),
            cell("p95", number(ttft.p95())),
            cell("p99", number(ttft.p99()))));
    lines.add(row("ITL ms", cell("p50", number(itl.p50())), cell("p99", number(itl.p99()))));
    String mean = number(figures.number(Metric.OUTPUT_TOKENS_PER_S));
    String now = number(figures.tokensPerSecondNow());
    lines.add(row("output tok/s", cell("now", now), cell("mean", mean)));
  }

  static String finished(String level, LiveFigures figures) {
    Figures of = figures.figures();
    Distribution ttft = of.metric(Metric.TTFT_MS);
    String slo =
        figures.sloShare() == null ? "" : ", " + NumberText.percent(figures.sloShare()) + " in SLO";
    return PrintableText.of(
        "LLM %s: %s, %s requests/s%s; %s ok, %s failed%s%s"
            .formatted(
                level,
                NumberText.number(of.delivered()) + " " + of.deliveredUnit(),
                NumberText.number(of.number(Metric.REQUESTS_PER_S)),
                ttft.isEmpty()
                    ? ""
                    : ", TTFT p50 %s, p99 %s"
                        .formatted(NumberText.ms(ttft.p50()), NumberText.ms(ttft.p99())),
                NumberText.count(of.counts().ok()),
                NumberText.count(of.counts().failed()),
                limits(figures),
                slo));
  }

  private static String limits(LiveFigures figures) {
    long limited = figures.figures().counts().rateLimited();
    return (limited == 0 ? "" : ", " + NumberText.count(limited) + " rate limited")
        + (figures.heldBack() == 0 ? "" : ", " + NumberText.count(figures.heldBack()) + " delayed");
  }

  private static String row(String label, String... cells) {
    return String.format("> %-" + LABEL + "s%s", label, String.join(" ", cells)).stripTrailing();
  }

  private static String cell(String name, String value) {
    return String.format("| %-9s %11s", name, value);
  }

  private static void progress(Progress progress, List<String> lines) {
    Double share = progress.share();
    if (share != null) {
      double done = Math.max(0, Math.min(1, share));
      int hashes = (int) Math.floor(BAR * done);
      lines.add(
          String.format(
              Locale.ROOT,
              "run [%s%s] %5.0f%%",
              "#".repeat(hashes),
              " ".repeat(BAR - hashes),
              Math.floor(100 * done)));
    }
    StringBuilder where = new StringBuilder("    ").append(PrintableText.of(progress.stage()));
    if (progress.phase() != null) {
      where.append(": ").append(doing(progress.phase()));
    }
    String remaining =
        progress.leftNanos() == null
            ? ""
            : "; " + NumberText.duration(progress.leftNanos() / 1e9) + " of the run remaining";
    where.setLength(Math.min(where.length(), WIDTH - remaining.length()));
    lines.add(where + remaining);
  }

  private static String doing(Phase phase) {
    return switch (phase) {
      case COOLDOWN -> "cooling down";
      case STABILIZE, MEASURE -> phase.key().replaceFirst("e$", "ing");
      case FILL, DRAIN, CHECK -> phase.key() + "ing";
    };
  }

  private static String number(@Nullable Double value) {
    return value == null ? UNKNOWN : NumberText.number(value);
  }

  private static String count(@Nullable Long value) {
    return value == null ? UNKNOWN : NumberText.count(value);
  }
}
