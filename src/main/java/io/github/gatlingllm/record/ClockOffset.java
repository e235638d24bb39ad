package io.github.gatlingllm.record;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * How far a clock that all injectors of a load test can ask is ahead of the clock of one of them.
 *
 * @param source the clock that was asked: {@code ntp <host>:<port> (<address>)}, or {@code Date of
 *     <host>:<port>}
 * @param readings in order of time; empty where it is not known
 * @param serverUncertaintyNanos how far the clock that was asked may itself be from UTC; it counts
 *     only where injectors asked different ones; null where that one does not say
 * @param unknown why there is no reading, in one line; null where there is one
 * @param dates by {@code <host>:<port>}: when the {@code Date} of a server's answers changed. What
 *     two injectors saw of one server compares their clocks, right or wrong as that {@code Date} is
 */
@JsonPropertyOrder({"source", "offset_ns", "uncertainty_ns"})
public record ClockOffset(
    String source,
    List<Reading> readings,
    @JsonProperty("server_uncertainty_ns") @Nullable Long serverUncertaintyNanos,
    @Nullable String unknown,
    Map<String, List<DateChange>> dates) {

  private static final String DATE = "Date of ";

  /** How many changes of {@code Date} are kept, of all servers together. */
  private static final int MOST_CHANGES = 128;

  private static final int MOST_SERVERS = 8;
  private static final long SECOND = 1_000_000_000L;

  /**
   * One comparison of the clocks.
   *
   * @param unixNanos when, by the injector's clock
   * @param offsetNanos what is to be added to instants of the injector
   * @param uncertaintyNanos the truth is at most that far away
   */
  public record Reading(
      @JsonProperty("unix_ns") long unixNanos,
      @JsonProperty("offset_ns") long offsetNanos,
      @JsonProperty("uncertainty_ns") long uncertaintyNanos) {}

  /**
   * A change of the {@code Date} of a server's answers, by the injector's clock.
   *
   * @param unixSecond what it changed to
   * @param afterNanos when the last request was sent whose answer had an earlier one
   * @param beforeNanos when the first answer came that had this one, or a later one
   */
  @JsonFormat(shape = JsonFormat.Shape.ARRAY)
  public record DateChange(
      @JsonProperty("unix_s") long unixSecond,
      @JsonProperty("after_unix_ns") long afterNanos,
      @JsonProperty("before_unix_ns") long beforeNanos) {

    /** By how much a clock may be ahead that showed something between these two just then. */
    private Bounds to(long theirsAfter, long theirsBefore) {
      return new Bounds(
          afterNanos + (beforeNanos - afterNanos) / 2,
          theirsAfter - beforeNanos,
          theirsBefore - afterNanos);
    }
  }

  /** What one change allows: offsets from {@code least} to {@code most}. */
  private record Bounds(long unixNanos, long least, long most) {

    /** What all allow; where that is nothing, the middle of what they disagree about. */
    static Reading all(List<Bounds> some) {
      long least = some.stream().mapToLong(Bounds::least).max().orElseThrow();
      long most = some.stream().mapToLong(Bounds::most).min().orElseThrow();
      long when = some.get(some.size() / 2).unixNanos;
      return new Reading(when, least + (most - least) / 2, Math.abs(most - least) / 2);
    }

    /** Readings one after the other: as many as clocks that run apart need, at most 8. */
    static List<Reading> readings(List<Bounds> inOrder) {
      List<Reading> best = List.of();
      for (int parts = 1; parts <= Math.min(8, inOrder.size()); parts *= 2) {
        List<Reading> readings = new ArrayList<>();
        for (int i = 0; i < parts; i++) {
          readings.add(
              all(inOrder.subList(i * inOrder.size() / parts, (i + 1) * inOrder.size() / parts)));
        }
        if (best.isEmpty() || uncertainty(readings) < uncertainty(best)) {
          best = readings;
        }
      }
      return best;
    }
  }

  /** What an older file does not say is empty. */
  public ClockOffset {
    readings = readings == null ? List.of() : List.copyOf(readings);
    dates = dates == null ? Map.of() : Collections.unmodifiableMap(new TreeMap<>(dates));
  }

  /** One that could not be told. */
  public static ClockOffset unknown(String source, String why) {
    return new ClockOffset(source, List.of(), null, why, Map.of());
  }

  /**
   * What servers' {@code Date} says, where no other clock was asked: that of the server that says
   * most. It is rounded down to a second, and servers that look at their clock only once a second
   * are behind it by up to one.
   *
   * @param changes by {@code <host>:<port>}, in order of time
   */
  public static ClockOffset ofDates(Map<String, List<DateChange>> changes) {
    ClockOffset best = unknown("Date", "answers had no Date that changed");
    for (Map.Entry<String, List<DateChange>> server : changes.entrySet()) {
      List<Reading> readings =
          Bounds.readings(
              server.getValue().stream()
                  .map(c -> c.to(c.unixSecond * SECOND, c.unixSecond * SECOND))
                  .toList());
      if (!readings.isEmpty()
          && (best.readings.isEmpty() || uncertainty(readings) < uncertainty(best.readings))) {
        best = new ClockOffset(DATE + server.getKey(), readings, null, null, Map.of());
      }
    }
    return best.withDates(changes);
  }

  /** The same, with what servers' {@code Date} says beside it. */
  public ClockOffset withDates(Map<String, List<DateChange>> changes) {
    List<String> servers =
        changes.entrySet().stream()
            .filter(server -> !server.getValue().isEmpty())
            .map(Map.Entry::getKey)
            .sorted()
            .limit(MOST_SERVERS)
            .toList();
    Map<String, List<DateChange>> kept =
        servers.stream()
            .collect(
                Collectors.toMap(
                    server -> server,
                    server -> fewer(changes.get(server), MOST_CHANGES / servers.size())));
    return new ClockOffset(source, readings, serverUncertaintyNanos, unknown, kept);
  }

  /** Of every second, or of every second one, fourth, …: the same as other injectors keep. */
  private static List<DateChange> fewer(List<DateChange> all, int most) {
    List<DateChange> fewer = all;
    for (int step = 2; fewer.size() > most; step *= 2) {
      int every = step;
      fewer = all.stream().filter(change -> change.unixSecond % every == 0).toList();
    }
    return fewer;
  }

  /** The same, read again at the end. */
  public ClockOffset and(Reading last) {
    List<Reading> all = new ArrayList<>(readings);
    all.add(last);
    return new ClockOffset(source, all, serverUncertaintyNanos, unknown, dates);
  }

  /** What is to be added to instants of the injector, as first read; null where not known. */
  @JsonProperty("offset_ns")
  public @Nullable Long offsetNanos() {
    return readings.isEmpty() ? null : (Long) readings.get(0).offsetNanos;
  }

  /** The largest of all readings; null where not known. */
  @JsonProperty("uncertainty_ns")
  public @Nullable Long uncertaintyNanos() {
    return readings.isEmpty() ? null : (Long) uncertainty(readings);
  }

  /** Whether another clock was asked than that of the servers under load. */
  public boolean isAsked() {
    return !readings.isEmpty() && !source.startsWith(DATE);
  }

  /**
   * How far the clock of another injector is ahead of this one's, by what both saw of the same
   * servers; empty where they saw none at the same time.
   */
  public List<Reading> to(ClockOffset other) {
    List<Bounds> bounds = new ArrayList<>();
    dates.forEach(
        (server, own) -> {
          Map<Long, DateChange> theirs =
              other.dates.getOrDefault(server, List.of()).stream()
                  .collect(
                      Collectors.toMap(DateChange::unixSecond, Function.identity(), (a, b) -> a));
          for (DateChange change : own) {
            DateChange seen = theirs.get(change.unixSecond);
            if (seen != null) {
              bounds.add(change.to(seen.afterNanos, seen.beforeNanos));
            }
          }
        });
    bounds.sort(Comparator.comparingLong(Bounds::unixNanos));
    return Bounds.readings(bounds);
  }

  /** The largest uncertainty of one or more readings. */
  public static long uncertainty(List<Reading> readings) {
    return readings.stream().mapToLong(Reading::uncertaintyNanos).max().orElseThrow();
  }

  /** The offset at an instant by the injector's clock, in a straight line between readings. */
  public static long offsetAt(List<Reading> readings, long unixNanos) {
    Reading before = readings.get(0);
    for (Reading next : readings) {
      if (next.unixNanos > unixNanos) {
        double part =
            next == before
                ? 1
                : (double) (unixNanos - before.unixNanos) / (next.unixNanos - before.unixNanos);
        return before.offsetNanos + Math.round(part * (next.offsetNanos - before.offsetNanos));
      }
      before = next;
    }
    return before.offsetNanos;
  }
}
