package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.Figures.Goodput;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.record.Slo;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the requests of a load level can show of its SLO: whether the required share is below,
 * within or above the 95 % confidence interval of the share that met.
 */
enum SloProof {
  MET,
  UNDECIDED,
  MISSED;

  /**
   * A share that met, and what is required of it.
   *
   * @param interval 95 % confidence interval, as wide as autocorrelation makes it
   */
  record Share(Interval interval, double required) {

    private static final double ROUNDING = 1e-9;

    SloProof proof() {
      return interval.low() >= required - ROUNDING
          ? MET
          : interval.high() < required - ROUNDING ? MISSED : UNDECIDED;
    }
  }

  static SloProof of(LevelFigures level, List<SloTally.Objectives> slo) {
    Goodput goodput = level.figures().goodput();
    if (level.fallsBehind()) {
      return MISSED;
    }
    return goodput == null || goodput.holds() == null
        ? UNDECIDED
        : shares(goodput, slo).map(Share::proof).max(Comparator.naturalOrder()).orElse(UNDECIDED);
  }

  /** The interval of the share furthest below what is required of it; null where none is known. */
  static @Nullable Interval worst(LevelFigures level, List<SloTally.Objectives> slo) {
    Goodput goodput = level.figures().goodput();
    return goodput == null
        ? null
        : shares(goodput, slo)
            .min(Comparator.comparingDouble(share -> share.interval.high() - share.required))
            .map(Share::interval)
            .orElse(null);
  }

  private static Stream<Share> shares(Goodput goodput, List<SloTally.Objectives> slo) {
    return slo.stream()
        .flatMap(
            of -> {
              double required = of.slo().percentile() / 100;
              Stream<Interval> intervals =
                  of.slo().rule() == Slo.Rule.REQUESTS
                      ? Stream.ofNullable(goodput.interval())
                      : of.slo().objectives().stream()
                          .map(objective -> goodput.interval(of.owner() + objective))
                          .filter(Objects::nonNull);
              return intervals.map(interval -> new Share(interval, required));
            });
  }
}
