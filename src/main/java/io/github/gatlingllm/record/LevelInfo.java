package io.github.gatlingllm.record;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Optional;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * One load level of one target, and when its phases were.
 *
 * @param label e.g. {@code c=8}; the {@code stage} of its records
 * @param target the {@code target} of its records
 * @param scenario the {@code scenario} of its records; null where all scenarios of the target are
 *     one level: in runs recorded before scenarios were told apart
 * @param kind {@code closed loop}, {@code open loop}, {@code rate curve}, {@code trace}, {@code
 *     batch} or {@code injection}
 * @param offered the load that was asked for, in {@code unit}; null where it is not one number
 * @param unit of {@code offered}, e.g. {@code users} or {@code requests/s}
 * @param phases in order of time; those that began
 * @param planned requests that its plan asks for in the measure window: arrivals of open load, else
 *     the number that bounds it; null where time bounds it, and in files without it
 * @param plannedStartUnixNanos when it was to begin by plan, in nanoseconds since the epoch: the
 *     same in all injectors of a load test; null where nothing was planned, and in files without it
 * @param inFlight in the measure window, kept while the level ran; null in files without it
 */
public record LevelInfo(
    String label,
    String target,
    @Nullable String scenario,
    String kind,
    @Nullable Double offered,
    String unit,
    List<PhaseWindow> phases,
    @Nullable Long planned,
    @JsonProperty("planned_start_unix_ns") @Nullable Long plannedStartUnixNanos,
    @Nullable InFlight inFlight) {

  /** Label of the one level of what no load plan, but Gatling's own injection starts. */
  public static final String WHOLE_RUN = "all";

  /**
   * Ends the label of a level that measures again what the level of the label before it measured;
   * it takes that one's place in curves.
   */
  public static final String AGAIN = " again";

  /** A constant number of users, each beginning again as soon as it ended. */
  public static final String CLOSED_LOOP = "closed loop";

  /** Users that arrive at a constant mean rate. */
  public static final String OPEN_LOOP = "open loop";

  /** Users at once, in trials. */
  public static final String BATCH = "batch";

  /** An open loop whose rate changes by plan. */
  public static final String RATE_CURVE = "rate curve";

  /** An open loop that replays recorded traffic. */
  public static final String TRACE = "trace";

  /** Users that Gatling's own injection starts. */
  public static final String INJECTION = "injection";

  /**
   * Requests that were admitted and had not ended.
   *
   * @param mean over time
   * @param peak the most at once
   */
  public record InFlight(double mean, int peak) {}

  public LevelInfo {
    phases = phases == null ? List.of() : List.copyOf(phases);
  }

  /** One of which only this is known. */
  public LevelInfo(
      String label,
      String target,
      @Nullable String scenario,
      String kind,
      @Nullable Double offered,
      String unit,
      List<PhaseWindow> phases) {
    this(label, target, scenario, kind, offered, unit, phases, null, null, null);
  }

  /**
   * When a phase was, in nanoseconds since the epoch.
   *
   * @param endUnixNanos exclusive; null while it runs, and when the run died in it
   */
  public record PhaseWindow(
      Phase phase,
      @JsonProperty("start_unix_ns") long startUnixNanos,
      @JsonProperty("end_unix_ns") @Nullable Long endUnixNanos) {

    private PhaseWindow later(long nanos) {
      return new PhaseWindow(
          phase,
          startUnixNanos + nanos,
          endUnixNanos == null ? null : (Long) (endUnixNanos + nanos));
    }
  }

  /** Whether its users arrive by a schedule, whether or not earlier ones were served. */
  public boolean isOpen() {
    return kind.equals(OPEN_LOOP) || kind.equals(RATE_CURVE) || kind.equals(TRACE);
  }

  /** Whether its load is to stay the same while it measures. */
  public boolean isSteadyByPlan() {
    return !kind.equals(RATE_CURVE) && !kind.equals(TRACE);
  }

  /** The same with these phases. */
  public LevelInfo withPhases(List<PhaseWindow> windows) {
    return ByName.with(this, "phases", windows);
  }

  /** The same, by a clock that is ahead by as much as at its begin. */
  LevelInfo byClock(LongUnaryOperator clock) {
    if (phases.isEmpty()) {
      return this;
    }
    long begin = phases.get(0).startUnixNanos();
    long ahead = clock.applyAsLong(begin) - begin;
    return withPhases(phases.stream().map(phase -> phase.later(ahead)).toList());
  }

  /** The same where the plan asks for so many requests. */
  public LevelInfo withPlanned(long requests) {
    return ByName.with(this, "planned", requests);
  }

  /**
   * When its rates are measured: the measure phase; of users that Gatling injects until the last of
   * their requests has ended, as nothing follows that would make up for those that end later. Empty
   * if it never came to measure.
   */
  public Optional<PhaseWindow> measured() {
    Optional<PhaseWindow> drain =
        kind.equals(INJECTION) ? window(Phase.DRAIN) : Optional.<PhaseWindow>empty();
    return window(Phase.MEASURE)
        .map(
            measure ->
                drain.isEmpty()
                    ? measure
                    : new PhaseWindow(
                        Phase.MEASURE, measure.startUnixNanos(), drain.get().endUnixNanos()));
  }

  /** Requests that all these levels ask for; null where one does not say, and without levels. */
  public static @Nullable Long planned(List<LevelInfo> levels) {
    return levels.isEmpty() || levels.stream().anyMatch(level -> level.planned == null)
        ? null
        : (Long) levels.stream().mapToLong(level -> requireNonNull(level.planned)).sum();
  }

  /** When that phase was; empty if it never began. */
  public Optional<PhaseWindow> window(Phase phase) {
    return phases.stream().filter(window -> window.phase() == phase).findFirst();
  }
}
