package io.github.gatlingllm.run;

import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.figures.level.LiveStats.Progress;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.PrintableText;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The {@code ---- LLM ----} block that is printed after Gatling's own block during a run: as wide
 * as Gatling's, without colours, ASCII except for names of load levels.
 */
final class ConsoleBlock {

  private static final int WIDTH = 120;

  private static final String UNKNOWN = "-";
  private static final int BAR = WIDTH - "run [] 99.99%".length();

  private ConsoleBlock() {}

  /** The block as lines of at most 120 characters, without a line end after the last. */
  static String of(LiveFigures figures, long elapsedNanos) {
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
    Progress progress = figures.progress();
    if (progress != null) {
      progress(progress, lines);
    }
    return String.join(System.lineSeparator(), lines);
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
    return String.format("> %-18s%s", label, String.join(" ", cells)).stripTrailing();
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
    String left =
        progress.leftNanos() == null
            ? ""
            : "; " + NumberText.duration(progress.leftNanos() / 1e9) + " of the run remaining";
    where.setLength(Math.min(where.length(), WIDTH - left.length()));
    lines.add(where + left);
  }

  private static String doing(Phase phase) {
    return switch (phase) {
      case COOLDOWN -> "cooling down";
      case STABILIZE, MEASURE -> phase.key().replaceFirst("e$", "ing");
      case FILL, DRAIN -> phase.key() + "ing";
    };
  }

  private static String number(@Nullable Double value) {
    return value == null ? UNKNOWN : NumberText.number(value);
  }

  private static String count(@Nullable Long value) {
    return value == null ? UNKNOWN : NumberText.count(value);
  }
}
