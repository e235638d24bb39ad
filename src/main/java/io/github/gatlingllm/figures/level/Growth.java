package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Summary.Knee;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.LevelInfo;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What more load would bring: from a level to that with double its load, else to the heaviest. */
record Growth(
    @Nullable Double load, @Nullable Double throughput, @Nullable Double time, String latency) {

  /** A sentence for the verdict; none where the load alone decides the throughput. */
  static List<Sentence> sentence(LoadCurve curve, LevelFigures from) {
    return isOpenBelowKnee(curve, from) ? List.of() : List.of(of(curve, from).sentence());
  }

  /**
   * Below its knee an open loop delivers what is offered, so that throughput grows with the load.
   */
  private static boolean isOpenBelowKnee(LoadCurve curve, LevelFigures level) {
    Knee knee = curve.knee();
    Double load = level.offered();
    boolean isBelow =
        knee == null || knee.offered() == null || load == null || load < knee.offered();
    return level.kind().equals(LevelInfo.OPEN_LOOP) && isBelow;
  }

  private static Growth of(LoadCurve curve, LevelFigures from) {
    Double load = from.offered();
    List<LevelFigures> levels = curve.levels();
    LevelFigures to =
        levels.stream()
            .filter(each -> load != null && Objects.equals(each.offered(), 2 * load))
            .findFirst()
            .orElse(levels.get(levels.size() - 1));
    Metric latency = curve.clock().metric(from.latency());
    Distribution lighter = from.figures().metric(latency);
    Distribution heavier = to.figures().metric(latency);
    boolean isP90Known = !lighter.isLowN("p90") && !heavier.isLowN("p90");
    return new Growth(
        ratio(load, to.offered()),
        ratio(from.figures().delivered(), to.figures().delivered()),
        isP90Known ? ratio(lighter.p90(), heavier.p90()) : ratio(lighter.p50(), heavier.p50()),
        latency.title() + (isP90Known ? " p90" : " p50"));
  }

  private Sentence sentence() {
    return Sentence.of(
        "verdict.growth",
        load,
        Sentence.of(
            "verdict.adds",
            throughput,
            throughput == null ? null : (Long) Math.round((throughput - 1) * 100)),
        time,
        latency);
  }

  private static @Nullable Double ratio(@Nullable Double before, @Nullable Double after) {
    return before == null || after == null || before <= 0 ? null : (Double) (after / before);
  }
}
