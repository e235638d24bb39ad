package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.figures.level.LiveStats.LiveFigures.Percentiles;
import io.github.gatlingllm.figures.level.LiveStats.LiveFigures.Progress;
import io.github.gatlingllm.figures.level.Series;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.report.Chart.Band;
import io.github.gatlingllm.report.Page.Section;
import io.github.gatlingllm.report.Table.Column;
import io.github.gatlingllm.report.VerdictSections.Tiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The page of a run in progress: figures of the current load level, load levels that have ended,
 * and the report's charts over time. A browser opens {@link #html}; each {@link #event} updates it.
 */
public final class LivePage {

  private LivePage() {}

  /** The state of a run in progress; {@code page} is the report at its end. */
  public record Now(
      String simulation,
      String id,
      Path page,
      long startUnixNanos,
      boolean isOver,
      boolean isJudged,
      Series series,
      List<LevelInfo> levels,
      @Nullable LiveFigures figures,
      List<Finished> finished) {}

  public record Finished(String level, LiveFigures figures) {}

  public static String html(Now now) {
    String name = now.simulation.substring(now.simulation.lastIndexOf('.') + 1);
    List<Section> sections = new ArrayList<>();
    sections.add(Section.of("now").body("live", values(now)));
    sections.addAll(charts(now));
    return new Page(
            "live-page",
            "Live",
            "Live: " + name,
            Map.of("run", Map.of("name", name, "id", now.id)),
            List.of(),
            List.of(),
            sections)
        .following("live.js")
        .html();
  }

  /** An update as one line of JSON: the markup {@code now}, {@code isOver}, and {@code charts}. */
  public static String event(Now now) {
    return Page.json(
        Map.of(
            "now",
            Templates.fill("live-now", Map.of("values", values(now))),
            "isOver",
            now.isOver,
            "charts",
            Page.charts(charts(now))));
  }

  private static List<Section> charts(Now now) {
    long soFar = Math.round(now.series.overTime().size() * now.series.bucketS() * 1e9);
    List<Band> bands =
        Band.of(now.levels, LevelInfo::label, now.startUnixNanos, now.startUnixNanos + soFar);
    TimeSection time =
        new TimeSection(now.series, bands, Metric.TTFT_FROM_SCHEDULE_MS, null, now.isJudged, "");
    return Stream.of(time.section(), time.generator()).filter(Objects::nonNull).toList();
  }

  private static Map<String, Object> values(Now now) {
    Map<String, Object> values = new HashMap<>();
    LiveFigures figures = now.figures;
    Progress progress = figures == null ? null : figures.progress();
    values.put("where", where(now, progress));
    values.put("share", progress == null || now.isOver ? null : progress.share());
    values.put(
        "tiles",
        figures == null ? List.of() : Tiles.rows("live-tiles", Map.of("figures", figures)));
    values.put("finished", finished(now.finished));
    values.put("page", now.page.toString());
    return values;
  }

  private static String where(Now now, @Nullable Progress progress) {
    if (now.isOver) {
      return "The run is over. Its report: " + now.page;
    }
    if (progress == null) {
      return now.figures == null ? "No request has ended yet." : "The run is in progress.";
    }
    String phase = progress.phase() == null ? "" : ", " + progress.phase().key();
    String left =
        progress.leftNanos() == null
            ? ""
            : ", about " + NumberText.duration(progress.leftNanos() / 1e9) + " left";
    return progress.stage() + phase + left;
  }

  private static Table finished(List<Finished> levels) {
    return Table.of(
        "Finished load levels",
        levels,
        Column.figure("Load level", Finished::level),
        Column.number("Output tok/s", level -> level.figures.tokensPerSecondMean()),
        Column.number("Requests/s", level -> level.figures.requestsPerSecond()),
        Column.number("TTFT p50, ms", level -> ms(level.figures.ttftMs(), Percentiles::p50)),
        Column.number("TTFT p99, ms", level -> ms(level.figures.ttftMs(), Percentiles::p99)),
        Column.number("ITL p50, ms", level -> ms(level.figures.itlMs(), Percentiles::p50)),
        Column.number("ITL p99, ms", level -> ms(level.figures.itlMs(), Percentiles::p99)),
        Column.percent("In SLO", level -> level.figures.sloShare()),
        Column.count("Ok", level -> level.figures.ok()),
        Column.count("Failed", level -> level.figures.failed()));
  }

  private static @Nullable Double ms(
      @Nullable Percentiles ms, ToDoubleFunction<Percentiles> which) {
    return ms == null ? null : (Double) which.applyAsDouble(ms);
  }
}
