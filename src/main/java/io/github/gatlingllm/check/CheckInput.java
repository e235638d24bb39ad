package io.github.gatlingllm.check;

import io.github.gatlingllm.metric.Distribution;
import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RunInfo;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the checks judge a run by.
 *
 * @param file what the file of records held besides its records
 * @param areWindowsInferred whether measure windows were inferred from the records
 * @param figures all load levels pooled
 * @param levels in the order in which they were planned
 * @param sweeps the load levels of each target and scenario by themselves
 * @param arrivals null in closed loops
 * @param models what each target was asked for; an empty name stands for none
 * @param cache null where the server does not tell
 */
public record CheckInput(
    RunInfo info,
    ReadReport file,
    boolean areWindowsInferred,
    Figures figures,
    List<MeasuredLevel> levels,
    List<Sweep> sweeps,
    Figures.@Nullable ArrivalFigures arrivals,
    List<Set<String>> models,
    AnswerCounts answers,
    @Nullable CachedPrompts cache) {

  int mostLevels() {
    return sweeps.stream().mapToInt(Sweep::levels).max().orElse(0);
  }

  boolean hasArrivals() {
    return arrivals != null && arrivals.plannedPerS() != null && arrivals.realisedPerS() != null;
  }

  /** What load plans found on a topic. */
  Stream<RunInfo.Conclusion> conclusions(String topic) {
    return info.conclusions().stream().filter(found -> found.topic().equals(topic));
  }

  /**
   * One load level.
   *
   * @param label with its target and scenario where there are several
   * @param isPlanned false where only the records know it
   * @param law null without a measure window, or where no request ended in it
   * @param steadiness null where it is too short to look for one, or changes by plan
   */
  public record MeasuredLevel(
      String label,
      boolean isPlanned,
      Figures figures,
      @Nullable LittlesLaw law,
      @Nullable Steadiness steadiness) {}

  /**
   * Both sides of Little's law.
   *
   * @param mean requests in flight, time-weighted over the measure window
   * @param rateTimesStay requests that ended ÷ window × mean time in the system
   * @param stayOverWindow mean time in the system ÷ window
   */
  public record LittlesLaw(double mean, double rateTimesStay, double stayOverWindow) {

    double residual() {
      return mean == 0 ? 0 : Math.abs(mean - rateTimesStay) / mean;
    }

    /** How far it is beyond its tolerance. */
    double excess() {
      return residual() - tolerance();
    }

    /** What requests that cross an edge of the window can make of it, and 5 %. */
    double tolerance() {
      return 0.05 + stayOverWindow;
    }
  }

  /**
   * What was found when TTFT, E2E and output tok/s were tested for a trend over the measure window.
   *
   * @param largest null where none is significant
   */
  public record Steadiness(@Nullable Drift largest) {}

  /**
   * A trend that is significant, however small.
   *
   * @param what grew or fell, e.g. {@code TTFT from schedule}
   * @param change difference of the means of the first and last quarter ÷ their mean
   * @param from the mean of the first quarter, with its unit
   */
  public record Drift(String what, double change, String from, String to, boolean up) {}

  /**
   * The load levels of one target and scenario.
   *
   * @param levels how many
   * @param isOneAtATime whether there is nothing but one user in a closed loop
   * @param isKneeReached whether a level below the highest is the best
   */
  public record Sweep(int levels, boolean isOneAtATime, boolean isKneeReached) {}

  /**
   * The server's prefix cache.
   *
   * @param share cached prompt tokens ÷ prompt tokens, 0 to 1
   * @param level whose TTFT is told; null where there is one only
   * @param warmTtftMs of requests with at least half of their prompt cached
   * @param coldTtftMs of the others
   */
  public record CachedPrompts(
      double share, @Nullable String level, Distribution warmTtftMs, Distribution coldTtftMs) {}
}
