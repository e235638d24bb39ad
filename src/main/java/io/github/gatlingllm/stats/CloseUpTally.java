package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.ValueRecorder;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.stats.CloseUps.Breakdown;
import io.github.gatlingllm.stats.CloseUps.Evenness;
import io.github.gatlingllm.stats.CloseUps.Pauses;
import io.github.gatlingllm.stats.Series.Shape;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Gathers what charts draw of single requests, from requests scheduled in a measure window. */
final class CloseUpTally {

  private static final double[] PAUSES_MS = {20, 50, 100, 200, 500, 1_000, 2_000, 5_000};

  private final DependenceTally dependence = new DependenceTally();
  private final EventSizes eventSizes = new EventSizes();
  private final Map<Integer, BreakdownTally> breakdowns = new TreeMap<>();
  private final ScenarioTally scenarios = new ScenarioTally();
  private final ExemplarTally exemplars;

  /**
   * @param origin start of the run, epoch nanoseconds
   */
  CloseUpTally(long origin) {
    exemplars = new ExemplarTally(origin);
  }

  /**
   * Adds a request.
   *
   * @param inSlo whether it met the SLO; null when that is not counted
   */
  void add(RequestRecord record, TokenStream stream, StageWindow stage, @Nullable Boolean inSlo) {
    exemplars.add(record, stage.stage());
    scenarios.add(record, stage, inSlo);
    if (record.outcome().ok()) {
      dependence.add(record, stream);
      eventSizes.add(record);
      breakdowns.computeIfAbsent(stage.index(), i -> new BreakdownTally(stage)).add(record);
    }
  }

  /**
   * All of it.
   *
   * @param whole the figures of the whole run
   */
  CloseUps closeUps(Tally whole, Collection<ArrivalTally> arrivals) {
    ValueRecorder lag = ArrivalTally.lagMs(arrivals);
    return new CloseUps(
        dependence.dependence(),
        evenness(whole),
        breakdowns(),
        exemplars.exemplars(),
        shape(lag),
        scenarios.loads());
  }

  private List<Breakdown> breakdowns() {
    return breakdowns.values().stream()
        .filter(stage -> !stage.isEmpty())
        .map(BreakdownTally::breakdown)
        .toList();
  }

  private Evenness evenness(Tally whole) {
    return new Evenness(
        shape(whole.ratio()),
        shape(whole.recorder(Metric.STALL_MS)),
        pauses(whole),
        eventSizes.sizes());
  }

  private static @Nullable Shape shape(ValueRecorder values) {
    return values.isEmpty() ? null : Shapes.of(values);
  }

  /** Up to the first threshold that no gap exceeds. */
  private static List<Pauses> pauses(Tally whole) {
    List<Pauses> pauses = new ArrayList<>();
    ValueRecorder gaps = whole.recorder(Metric.ICL_MS);
    if (gaps.isEmpty() || whole.streamedTokens() == 0) {
      return pauses;
    }
    for (double above : PAUSES_MS) {
      long[] longer = {0};
      gaps.forEach((value, count) -> longer[0] += value > above ? count : 0);
      pauses.add(new Pauses(above, longer[0] * 1e3 / whole.streamedTokens()));
      if (longer[0] == 0) {
        break;
      }
    }
    return pauses;
  }
}
