package io.github.gatlingllm.figures.merge;

import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.ClockOffset;
import io.github.gatlingllm.record.ClockOffset.Correction;
import io.github.gatlingllm.record.ClockOffset.Reading;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.Phase;
import io.github.gatlingllm.record.RunInfo;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Converts the instants of several injectors to one clock: that of the NTP servers that they
 * queried, otherwise that of the first injector, with which the others are compared by the {@code
 * Date} of the answers that both received. The instants of an injector whose clock is not known
 * exactly enough are not changed, and a remark names it.
 */
final class InjectorClocks {

  /** Largest uncertainty of a correction; a less exact one may make errors larger. */
  private static final long LARGEST_UNCERTAINTY = TimeUnit.MILLISECONDS.toNanos(100);

  /** Largest uncertainty as a share of the shortest measure window. */
  private static final double LARGEST_SHARE_OF_WINDOW = 0.05;

  /** Smallest correction that is mentioned in a remark. */
  private static final long SMALLEST_REMARK = TimeUnit.MILLISECONDS.toNanos(1);

  private final List<RunInfo> runs;
  private final long limit;
  private final int anchor;
  private final List<Clock> clocks = new ArrayList<>();

  /**
   * The clock of an injector.
   *
   * @param readings offsets to be added to its instants; empty if they are not corrected
   * @param reading the first comparison, exact enough or not; null if there is none
   * @param by what the clock was compared with
   * @param doubt why its instants may not match those of the others; null if they do
   */
  private record Clock(
      List<Reading> readings, @Nullable Reading reading, String by, @Nullable String doubt) {

    static Clock unknown(String why) {
      return new Clock(List.of(), null, "", why);
    }
  }

  InjectorClocks(List<RunInfo> runs) {
    this.runs = runs;
    limit = Math.min(LARGEST_UNCERTAINTY, Math.round(shortestWindow() * LARGEST_SHARE_OF_WINDOW));
    anchor =
        IntStream.range(0, runs.size()).filter(i -> isAsked(runs.get(i))).findFirst().orElse(0);
    for (int i = 0; i < runs.size(); i++) {
      clocks.add(judged(clock(i)));
    }
  }

  private long shortestWindow() {
    return runs.stream()
        .flatMap(run -> run.stages().stream())
        .flatMap(level -> level.window(Phase.MEASURE).stream())
        .filter(window -> window.endUnixNanos() != null)
        .mapToLong(InjectorClocks::length)
        .min()
        .orElse(Long.MAX_VALUE);
  }

  private static long length(PhaseWindow window) {
    return Objects.requireNonNull(window.endUnixNanos()) - window.startUnixNanos();
  }

  private static boolean isAsked(RunInfo run) {
    return run.clock() != null && run.clock().isAsked();
  }

  /** The clock of that injector, compared with the common clock. */
  private Clock clock(int i) {
    RunInfo run = runs.get(i);
    RunInfo first = runs.get(anchor);
    ClockOffset own = run.clock();
    if (own != null && own.isAsked()) {
      return new Clock(
          withServerUncertainty(own), own.readings().get(0), own.source(), disagreement(i));
    }
    Reading none = new Reading(run.startUnixNanos(), 0, 0);
    if (i == anchor) {
      return new Clock(List.of(none), none, "", null);
    }
    ClockOffset ofFirst = first.clock();
    List<Reading> byDate =
        own == null || ofFirst == null ? List.of() : toReference(own.to(ofFirst), ofFirst);
    boolean isOneHost = host(run).equals(host(first));
    if (!byDate.isEmpty() && (!isOneHost || ClockOffset.uncertainty(byDate) <= limit)) {
      String by = "that of " + first.injector() + " (Date of the answers)";
      return new Clock(byDate, byDate.get(0), by, null);
    }
    if (isOneHost) {
      List<Reading> same = toReference(List.of(none), ofFirst);
      return new Clock(same, same.get(0), "that of " + first.injector() + " (the same host)", null);
    }
    return Clock.unknown(
        own == null
            ? "it was not compared with another"
            : own.unknown() == null
                ? "it saw no answers of the same server at the same time as " + first.injector()
                : own.source() + ": " + own.unknown());
  }

  /** Its readings; if injectors queried different servers, with the servers' own uncertainty. */
  private List<Reading> withServerUncertainty(ClockOffset own) {
    boolean isOne =
        runs.stream()
                .flatMap(run -> Stream.ofNullable(run.clock()))
                .filter(ClockOffset::isAsked)
                .map(ClockOffset::source)
                .distinct()
                .count()
            == 1;
    Long root = own.serverUncertaintyNanos();
    long more = isOne || root == null ? 0 : root;
    return own.readings().stream().map(reading -> plus(reading, 0, more)).toList();
  }

  private static Reading plus(Reading reading, long offset, long uncertainty) {
    return new Reading(
        reading.unixNanos(),
        reading.offsetNanos() + offset,
        reading.uncertaintyNanos() + uncertainty);
  }

  /** Converts readings against a clock to the reference clock that this clock was compared with. */
  private static List<Reading> toReference(List<Reading> readings, @Nullable ClockOffset to) {
    if (to == null || !to.isAsked()) {
      return readings;
    }
    return readings.stream()
        .map(
            reading ->
                plus(
                    reading,
                    ClockOffset.offsetAt(
                        to.readings(), reading.unixNanos() + reading.offsetNanos()),
                    ClockOffset.uncertainty(to.readings())))
        .toList();
  }

  /** How NTP and the answers of servers disagree on two clocks; null if they agree. */
  private @Nullable String disagreement(int i) {
    ClockOffset own = runs.get(i).clock();
    ClockOffset other = runs.get(anchor).clock();
    List<Reading> byDate = own == null || other == null || i == anchor ? List.of() : own.to(other);
    if (byDate.isEmpty()) {
      return null;
    }
    Reading seen = byDate.get(0);
    long byNtp =
        ClockOffset.offsetAt(own.readings(), seen.unixNanos())
            - ClockOffset.offsetAt(other.readings(), seen.unixNanos() + seen.offsetNanos());
    long uncertainty =
        seen.uncertaintyNanos()
            + ClockOffset.uncertainty(withServerUncertainty(own))
            + ClockOffset.uncertainty(withServerUncertainty(other));
    return Math.abs(byNtp - seen.offsetNanos()) <= uncertainty
        ? null
        : "by NTP it is %s that of %s, by the Date of the answers %s it; NTP is taken"
            .formatted(apart(byNtp), runs.get(anchor).injector(), apart(seen.offsetNanos()));
  }

  /** The host of an injector, whose default name is the host with the injector's index. */
  private static String host(RunInfo run) {
    String index = run.share() == null ? "" : "-" + run.share().index();
    return run.injector().endsWith(index)
        ? run.injector().substring(0, run.injector().length() - index.length())
        : run.injector();
  }

  /** Drops readings that are not exact enough, or compatible with equal clocks. */
  private Clock judged(Clock clock) {
    if (clock.readings.isEmpty()) {
      return clock;
    }
    long uncertainty = ClockOffset.uncertainty(clock.readings);
    if (uncertainty > limit) {
      String why =
          "%s %s, ± %s: too uncertain to correct it"
              .formatted(apart(clock.readings.get(0).offsetNanos()), clock.by, ms(uncertainty));
      return new Clock(List.of(), clock.reading, clock.by, why);
    }
    boolean isSame =
        clock.readings.stream()
            .allMatch(reading -> Math.abs(reading.offsetNanos()) <= reading.uncertaintyNanos());
    return isSame ? new Clock(List.of(), clock.reading, clock.by, clock.doubt) : clock;
  }

  /** How the clock of that injector was corrected; null if there is no other injector. */
  @Nullable Correction correction(int i) {
    Clock clock = clocks.get(i);
    Reading reading = clock.reading;
    return runs.size() < 2
        ? null
        : new Correction(
            clock.by,
            reading == null ? null : (Long) reading.offsetNanos(),
            reading == null ? null : (Long) reading.uncertaintyNanos(),
            isCorrected(i),
            clock.doubt);
  }

  /** Whether the instants of that injector are corrected. */
  boolean isCorrected(int i) {
    return !clocks.get(i).readings.isEmpty();
  }

  /** An instant of that injector by the common clock. */
  long corrected(int i, long unixNanos) {
    List<Reading> readings = clocks.get(i).readings;
    return readings.isEmpty() ? unixNanos : unixNanos + ClockOffset.offsetAt(readings, unixNanos);
  }

  /** The runs by the common clock. */
  List<RunInfo> corrected() {
    return IntStream.range(0, runs.size())
        .mapToObj(
            i ->
                isCorrected(i)
                    ? runs.get(i).byClock(instant -> corrected(i, instant))
                    : runs.get(i))
        .toList();
  }

  /** Remarks for the user, a line each. */
  List<String> remarks() {
    List<String> remarks = new ArrayList<>();
    Map<String, List<String>> doubts = new LinkedHashMap<>();
    for (int i = 0; i < runs.size(); i++) {
      Clock clock = clocks.get(i);
      String name = runs.get(i).injector();
      if (clock.doubt != null) {
        doubts.computeIfAbsent(clock.doubt, why -> new ArrayList<>()).add(name);
      }
      long offset = clock.readings.isEmpty() ? 0 : clock.readings.get(0).offsetNanos();
      if (Math.abs(offset) >= SMALLEST_REMARK) {
        remarks.add(
            "clock of %s: %s %s, ± %s; corrected"
                .formatted(
                    name, apart(offset), clock.by, ms(ClockOffset.uncertainty(clock.readings))));
      }
    }
    doubts.forEach((why, names) -> remarks.add("clock of " + NumberText.some(names) + ": " + why));
    return remarks;
  }

  private static String apart(long offsetNanos) {
    return ms(Math.abs(offsetNanos)) + (offsetNanos < 0 ? " ahead of" : " behind");
  }

  private static String ms(long nanos) {
    return String.format(Locale.ROOT, "%.1f ms", nanos / 1e6);
  }
}
