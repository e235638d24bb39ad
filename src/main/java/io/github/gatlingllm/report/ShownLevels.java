package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.LoadCurve;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.report.Page.PagePart;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/**
 * The load levels that readers can choose on the page; by default the operating point of each
 * curve.
 */
final class ShownLevels {

  private static final String OPERATING = "operating";

  record ShownLevel(
      int position, LevelFigures stage, LoadCurve curve, String title, boolean isOperating) {

    String suffix() {
      return "-" + position;
    }
  }

  /** One choice; {@code isFirst} for the default. */
  private record LevelChoice(String key, String name, boolean isFirst) {}

  private record LevelChoices(String heading, List<LevelChoice> all) {}

  private final Summary summary;
  private final List<ShownLevel> levels = new ArrayList<>();

  ShownLevels(Summary summary) {
    this.summary = summary;
    for (LevelFigures stage : summary.byLoad()) {
      for (LoadCurve curve : summary.curves()) {
        if (isOf(curve, stage)) {
          levels.add(level(summary.stages().indexOf(stage), stage, curve));
        }
      }
    }
  }

  private ShownLevel level(int position, LevelFigures stage, LoadCurve curve) {
    boolean isOperating = curve.operatingLevel().equals(stage);
    String title =
        !summary.hasSeveralLevels()
            ? ""
            : isOperating
                ? Row.operatingPoint(summary, curve)
                : "At " + summary.place(stage.info());
    return new ShownLevel(position, stage, curve, title, isOperating);
  }

  static boolean isOf(LoadCurve curve, LevelFigures stage) {
    return stage.target().equals(curve.target())
        && Objects.equals(stage.scenario(), curve.scenario());
  }

  List<ShownLevel> all() {
    return levels;
  }

  /**
   * A part for each level.
   *
   * @param isAmongOperating whether the choice of all operating points shows those of these levels
   */
  <T> List<PagePart<T>> parts(boolean isAmongOperating, Function<ShownLevel, T> content) {
    return new ArrayList<>(
        levels.stream().map(level -> part(level, isAmongOperating, content.apply(level))).toList());
  }

  List<ShownLevel> operating() {
    return levels.stream().filter(ShownLevel::isOperating).toList();
  }

  boolean hasSeveralCurves() {
    return summary.curves().size() > 1;
  }

  private <T> PagePart<T> part(ShownLevel level, boolean isAmongOperating, T content) {
    if (levels.size() < 2) {
      return PagePart.always(level.title, content);
    }
    String own = Integer.toString(level.position);
    boolean isOperating = isAmongOperating && hasSeveralCurves() && level.isOperating;
    return new PagePart<>(
        level.title,
        isOperating ? own + " " + OPERATING : own,
        isOperating || (level.isOperating && !hasSeveralCurves()),
        content);
  }

  /** A part about all operating points together. */
  static <T> PagePart<T> ofOperatingPoints(String title, T content) {
    return new PagePart<>(title, OPERATING, true, content);
  }

  /** All choices; empty if there is only one level. */
  List<LevelChoices> choices() {
    if (levels.size() < 2) {
      return List.of();
    }
    List<LevelChoices> groups = new ArrayList<>();
    if (hasSeveralCurves()) {
      groups.add(
          new LevelChoices("", List.of(new LevelChoice(OPERATING, "Operating points", true))));
    }
    for (LoadCurve curve : summary.curves()) {
      List<LevelChoice> own =
          levels.stream().filter(level -> level.curve.equals(curve)).map(this::choice).toList();
      groups.add(new LevelChoices(hasSeveralCurves() ? summary.name(curve) : "", own));
    }
    return groups;
  }

  private LevelChoice choice(ShownLevel level) {
    return new LevelChoice(
        Integer.toString(level.position),
        level.stage.label() + (level.isOperating ? " (operating point)" : ""),
        level.isOperating && !hasSeveralCurves());
  }
}
