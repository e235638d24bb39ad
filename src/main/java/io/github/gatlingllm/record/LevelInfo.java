package io.github.gatlingllm.record;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A load level of a target, and the times of its phases.
 *
 * @param label e.g. {@code c=8}; the {@code stage} of its records
 * @param target the {@code target} of its records
 * @param scenario the {@code scenario} of its records; null if all scenarios of a target are one
 *     level
 * @param kind {@code closed loop}, {@code open loop}, {@code rate curve}, {@code trace}, {@code
 *     batch} or {@code injection}
 * @param offered the offered load, in {@code unit}; null if it is not constant
 * @param unit of {@code offered}, e.g. {@code users} or {@code requests/s}
 * @param phases the phases that began, in order of time
 * @param planned planned requests in the measure window: arrivals of open load, otherwise the
 *     number that bounds the level; null if time bounds it
 * @param plannedStartUnixNanos planned start, in nanoseconds since the epoch: the same in all
 *     injectors of a load test; null without a plan
 * @param inFlight in the measure window, counted while the level ran; null if it did not end as
 *     planned
 * @param hooks the requests before and after it, by {@code beforeLevel} and {@code afterLevel}
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
    @Nullable InFlightCount inFlight,
    List<HookCall> hooks) {

  /** Units of open loads: of users where each may send several requests. */
  public static final String REQUESTS_PER_S = "requests/s";

  public static final String USERS_PER_S = "users/s";

  /** Label of the only level of users that Gatling's own injection starts. */
  public static final String ENTIRE_RUN = "all";

  /** Suffix of the label of a level that repeats the one without it, and replaces it in curves. */
  public static final String AGAIN = " again";

  /** Suffix of the label of a level in which no other class of traffic has load. */
  public static final String ALONE = " alone";

  /**
   * Before the number of a repeat at the end of a label: {@code c=8#2} is the second of {@code
   * c=8}.
   */
  private static final String REPEAT = "#";

  /** A constant number of users, each of whom starts again as soon as it has ended. */
  public static final String CLOSED_LOOP = "closed loop";

  /** Users that arrive at a constant mean rate. */
  public static final String OPEN_LOOP = "open loop";

  public static final String BATCH = "batch";

  /** A level that is in the records and not in {@code run.json}. */
  public static final String UNPLANNED = "unplanned";

  /** An open loop whose rate changes by plan. */
  public static final String RATE_CURVE = "rate curve";

  /** An open loop that replays recorded traffic. */
  public static final String TRACE = "trace";

  /** Users that Gatling's own injection starts. */
  public static final String INJECTION = "injection";

  /**
   * A request to the server before or after the level, such as {@code POST http://a/reset}.
   *
   * @param above the number of requests in flight that the level exceeded, where it was sent for
   *     that; not {@code after} it, it was sent at that instant
   */
  public record HookCall(
      String request,
      int status,
      double seconds,
      boolean after,
      @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Integer above) {
    @Override
    public String toString() {
      String when = after ? "after it " : above == null ? "" : "above " + above + " running ";
      return when + request + ": HTTP " + status;
    }
  }

  /** Requests in flight: admitted, and not ended. The mean is over time. */
  public record InFlightCount(double mean, int peak) {}

  public LevelInfo {
    phases = phases == null ? List.of() : List.copyOf(phases);
    hooks = hooks == null ? List.of() : List.copyOf(hooks);
  }

  /** A level without a plan and without counts of requests in flight. */
  public LevelInfo(
      String label,
      String target,
      @Nullable String scenario,
      String kind,
      @Nullable Double offered,
      String unit,
      List<PhaseWindow> phases) {
    this(label, target, scenario, kind, offered, unit, phases, null, null, null, List.of());
  }

  /** The label of a repeat, from 1; of a level that is not repeated for 0. */
  public static String numbered(String label, int repeat) {
    return repeat == 0 ? label : label + REPEAT + repeat;
  }

  /** The label of the level that a label with the number of a repeat is of. */
  public static String unnumbered(String label) {
    int at = label.lastIndexOf(REPEAT);
    return at > 0 && label.substring(at + 1).matches("\\d{1,3}") ? label.substring(0, at) : label;
  }

  /** Whether no other class of traffic had load, by the label of the level or of a repeat. */
  public static boolean isAlone(String label) {
    return unnumbered(label).endsWith(ALONE);
  }

  /** The repeats of a level as one: phases and hooks by time, planned requests added up. */
  public static LevelInfo ofRepeats(List<LevelInfo> repeats) {
    LevelInfo first = repeats.get(0);
    String own = unnumbered(first.label);
    return own.equals(first.label)
        ? first
        : new LevelInfo(
            own,
            first.target,
            first.scenario,
            first.kind,
            first.offered,
            first.unit,
            repeats.stream().flatMap(repeat -> repeat.phases.stream()).toList(),
            planned(repeats),
            first.plannedStartUnixNanos,
            null,
            repeats.stream().flatMap(repeat -> repeat.hooks.stream()).toList());
  }

  /** The time of a phase; the end is exclusive, and null while it runs or if the run died in it. */
  public record PhaseWindow(
      Phase phase,
      @JsonProperty("start_unix_ns") long startUnixNanos,
      @JsonProperty("end_unix_ns") @Nullable Long endUnixNanos) {}

  /** What tells levels apart; without a scenario if all scenarios of a target are one level. */
  public record Key(String label, String target, @Nullable String scenario) {

    /** The level of a request, if it is of that scenario or, for null, of all. */
    public static Key of(RequestRecord.Identity id, @Nullable String scenario) {
      return new Key(id.stage().isEmpty() ? ENTIRE_RUN : id.stage(), id.target(), scenario);
    }

    @Override
    public String toString() {
      return label + " of " + target + (scenario == null ? "" : ", " + scenario);
    }
  }

  public Key key() {
    return new Key(label, target, scenario);
  }

  /** Whether its users arrive by a schedule, independently of earlier answers. */
  @JsonIgnore
  public boolean isOpen() {
    return kind.equals(OPEN_LOOP) || kind.equals(RATE_CURVE) || kind.equals(TRACE);
  }

  /** The same level where each user sends several requests: its rate is one of users. */
  public LevelInfo ofUsers() {
    return !unit.equals(REQUESTS_PER_S) ? this : Components.with(this, "unit", USERS_PER_S);
  }

  /**
   * The window of its rates: the measure phase. For users that Gatling injects it extends to the
   * end of the last request, because no load follows that would replace the requests that end late.
   * Empty if the measure phase never began.
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

  /** Planned requests of these levels; null if one has no plan, and without levels. */
  public static @Nullable Long planned(List<LevelInfo> levels) {
    return levels.isEmpty() || levels.stream().anyMatch(level -> level.planned == null)
        ? null
        : (Long) levels.stream().mapToLong(level -> requireNonNull(level.planned)).sum();
  }

  public Optional<PhaseWindow> window(Phase phase) {
    return phases.stream().filter(window -> window.phase() == phase).findFirst();
  }

  /** The phase in which a request was scheduled. Figures use {@link #MEASURE} only. */
  public enum Phase implements RunInfo.Keyed {
    /** Users are being started. */
    FILL,
    /** All users run, and the system settles. */
    STABILIZE,
    /** The window of all figures. */
    MEASURE,
    /** The load continues until the requests scheduled in {@link #MEASURE} have ended. */
    COOLDOWN,
    /** No request starts; open requests may end. */
    DRAIN,
    /** Beside the load: a request of the setting {@code answers}, in no figure of the load. */
    CHECK
  }

  /**
   * A planned arrival of open load, whether or not its request was sent: a line of {@code
   * llm/arrivals.jsonl}.
   *
   * @param index from 0, in its schedule
   * @param scheduledOffsetS from the start of its schedule
   * @param scheduledUnixNs the same on the run's clock
   * @param inputTokens of a replayed request, else null
   */
  public record PlannedArrival(
      @Nullable String scenario,
      String target,
      String stage,
      long index,
      @Nullable BigDecimal scheduledOffsetS,
      long scheduledUnixNs,
      @Nullable Integer inputTokens,
      @Nullable Integer outputTokens) {

    public PlannedArrival {
      requireNonNull(target);
      requireNonNull(stage);
    }

    @JsonIgnore
    public Key level() {
      return new Key(stage, target, scenario);
    }

    /**
     * Appends to the file until there are no more or the thread is interrupted; returns the number.
     */
    public static <T> long append(Path file, Iterator<T> all, Function<T, PlannedArrival> arrival)
        throws IOException {
      long count = 0;
      try (JsonLines lines = JsonLines.appendTo(file)) {
        for (; all.hasNext() && !Thread.currentThread().isInterrupted(); count++) {
          lines.add(arrival.apply(all.next()));
        }
      }
      return count;
    }

    /** Passes every arrival of the file to {@code sink}; returns the number of damaged lines. */
    public static long read(Path file, Consumer<PlannedArrival> sink) throws IOException {
      return JsonLines.values(file, PlannedArrival.class, sink);
    }
  }
}
