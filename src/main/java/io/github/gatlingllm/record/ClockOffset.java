package io.github.gatlingllm.record;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * How far a reference clock, which all injectors of a load test can query, is ahead of the clock of
 * one injector.
 *
 * @param source the reference clock: {@code ntp <host>:<port> (<address>)}, or {@code Date of
 *     <host>:<port>}
 * @param readings in order of time; empty if the offset is not known
 * @param serverUncertaintyNanos how far the reference clock itself may be from UTC; matters only if
 *     injectors queried different ones; null if the clock does not report it
 * @param unknown why there is no reading, in one line; null if there is one
 * @param dates by {@code <host>:<port>}: when the {@code Date} header of a server's answers
 *     changed. Two injectors that received answers of the same server compare their clocks by it,
 *     even if that {@code Date} is wrong
 */
@JsonPropertyOrder({"source", "offset_ns", "uncertainty_ns"})
public record ClockOffset(
    String source,
    List<Reading> readings,
    @JsonProperty("server_uncertainty_ns") @Nullable Long serverUncertaintyNanos,
    @Nullable String unknown,
    Map<String, List<DateChange>> dates) {

  private static final String DATE = "Date of ";

  /** How many changes of {@code Date} are kept, for all servers together. */
  private static final int MAX_CHANGES = 128;

  private static final int MAX_SERVERS = 8;

  /** By how much one clock may run faster than another; quartz crystals differ by less. */
  private static final double MAX_DRIFT = 50e-6;

  private static final long SECOND = 1_000_000_000L;

  /**
   * A comparison of the two clocks.
   *
   * @param unixNanos when, by the injector's clock
   * @param offsetNanos reference clock − injector's clock: to be added to the injector's instants
   * @param uncertaintyNanos the true offset differs by at most this
   */
  public record Reading(
      @JsonProperty("unix_ns") long unixNanos,
      @JsonProperty("offset_ns") long offsetNanos,
      @JsonProperty("uncertainty_ns") long uncertaintyNanos) {}

  /**
   * How the clock of an injector was corrected in a joined run.
   *
   * @param by what it was compared with
   * @param offsetNanos offset of the first reading, to be added to its instants; null if not known
   * @param uncertaintyNanos of that offset; null if not known
   * @param corrected whether its instants are corrected in all files of the joined run
   * @param doubt why its instants may not match those of the other injectors; null if they do
   */
  public record Correction(
      String by,
      @JsonProperty("offset_ns") @Nullable Long offsetNanos,
      @JsonProperty("uncertainty_ns") @Nullable Long uncertaintyNanos,
      boolean corrected,
      @Nullable String doubt) {}

  /**
   * A change of the {@code Date} of a server's answers, by the injector's clock.
   *
   * @param unixSecond the new {@code Date}
   * @param afterNanos when the last request was sent whose answer had an earlier {@code Date}
   * @param beforeNanos when the first answer arrived that had this {@code Date} or a later one
   */
  @JsonFormat(shape = JsonFormat.Shape.ARRAY)
  public record DateChange(
      @JsonProperty("unix_s") long unixSecond,
      @JsonProperty("after_unix_ns") long afterNanos,
      @JsonProperty("before_unix_ns") long beforeNanos) {

    /** Bounds of the offset of a clock that made the same change between these two instants. */
    private Bounds to(long theirsAfter, long theirsBefore) {
      return new Bounds(
          afterNanos + (beforeNanos - afterNanos) / 2,
          theirsAfter - beforeNanos,
          theirsBefore - afterNanos);
    }
  }

  /** The offsets that one change allows: from {@code least} to {@code most}. */
  private record Bounds(long unixNanos, long least, long most) {

    /**
     * The offsets, at the first and at the last change, that all changes allow for two clocks whose
     * speeds differ by a constant rate; empty if no such rate fits all changes.
     */
    static List<Reading> fit(List<Bounds> inOrder) {
      if (inOrder.isEmpty()) {
        return List.of();
      }
      Bounds first = inOrder.get(0);
      long length = inOrder.get(inOrder.size() - 1).unixNanos - first.unixNanos;
      double most = length * MAX_DRIFT;
      int steps = (int) Math.min(2_000, Math.ceil(most / 50_000));
      Range before = new Range(first);
      Range after = new Range(first);
      for (int i = -steps; i <= steps; i++) {
        double drift = steps == 0 ? 0 : most * i / steps;
        Range common = common(inOrder, drift, length);
        if (common.least <= common.most) {
          before.add(common.least, common.most);
          after.add(common.least + drift, common.most + drift);
        }
      }
      if (before.least > before.most) {
        return List.of();
      }
      Reading start = before.reading(first.unixNanos);
      return length == 0 ? List.of(start) : List.of(start, after.reading(first.unixNanos + length));
    }

    /**
     * Offsets at the first change that all changes allow, for a clock that gains {@code drift}
     * nanoseconds until the last one.
     */
    private static Range common(List<Bounds> inOrder, double drift, long length) {
      Bounds first = inOrder.get(0);
      Range common = new Range(first);
      common.least = Double.NEGATIVE_INFINITY;
      common.most = Double.POSITIVE_INFINITY;
      for (Bounds each : inOrder) {
        double gained = length == 0 ? 0 : drift * (each.unixNanos - first.unixNanos) / length;
        common.least = Math.max(common.least, each.least - first.least - gained);
        common.most = Math.min(common.most, each.most - first.least - gained);
      }
      return common;
    }
  }

  /** A range of offsets, relative to the least offset that the first change allows. */
  private static final class Range {
    private final long from;
    private double least = Double.POSITIVE_INFINITY;
    private double most = Double.NEGATIVE_INFINITY;

    Range(Bounds first) {
      from = first.least;
    }

    void add(double low, double high) {
      least = Math.min(least, low);
      most = Math.max(most, high);
    }

    Reading reading(long unixNanos) {
      return new Reading(
          unixNanos, from + Math.round((least + most) / 2), Math.round((most - least) / 2));
    }
  }

  /** Components that older files lack are empty. */
  public ClockOffset {
    readings = readings == null ? List.of() : List.copyOf(readings);
    dates = dates == null ? Map.of() : Collections.unmodifiableMap(new TreeMap<>(dates));
  }

  /** An offset that could not be determined. */
  public static ClockOffset unknown(String source, String why) {
    return new ClockOffset(source, List.of(), null, why, Map.of());
  }

  /**
   * The offset by the {@code Date} headers, if no other clock was queried: by the server whose
   * headers bound it best. Some servers update {@code Date} once a second, so that it is late by up
   * to one second; the instants at which it changes show that.
   *
   * @param changes by {@code <host>:<port>}, in order of time
   */
  public static ClockOffset ofDates(Map<String, List<DateChange>> changes) {
    ClockOffset best = unknown("Date", "answers had no Date that changed");
    for (Map.Entry<String, List<DateChange>> server : changes.entrySet()) {
      String source = DATE + server.getKey();
      List<Reading> readings =
          Bounds.fit(
              server.getValue().stream()
                  .map(c -> c.to(c.unixSecond * SECOND, c.unixSecond * SECOND))
                  .toList());
      if (!readings.isEmpty() && better(best.readings, readings) == readings) {
        best = new ClockOffset(source, readings, null, null, Map.of());
      } else if (!server.getValue().isEmpty() && best.readings.isEmpty()) {
        best = unknown(source, "it is not that of one clock, or late by a time that changes");
      }
    }
    return best.withDates(changes);
  }

  /** The same offset with the changes of {@code Date} of some servers. */
  public ClockOffset withDates(Map<String, List<DateChange>> changes) {
    List<String> servers =
        changes.entrySet().stream()
            .filter(server -> !server.getValue().isEmpty())
            .map(Map.Entry::getKey)
            .sorted()
            .limit(MAX_SERVERS)
            .toList();
    Map<String, List<DateChange>> kept =
        servers.stream()
            .collect(
                Collectors.toMap(
                    server -> server,
                    server -> fewer(changes.get(server), MAX_CHANGES / servers.size())));
    return new ClockOffset(source, readings, serverUncertaintyNanos, unknown, kept);
  }

  /** Keeps the changes of every second, or of every 2nd, 4th, …: the same in all injectors. */
  private static List<DateChange> fewer(List<DateChange> all, int most) {
    List<DateChange> fewer = all;
    for (int step = 2; fewer.size() > most; step *= 2) {
      int every = step;
      fewer = all.stream().filter(change -> change.unixSecond % every == 0).toList();
    }
    return fewer;
  }

  /** The same offset with one more reading, from the end of the run. */
  public ClockOffset and(Reading last) {
    List<Reading> all = new ArrayList<>(readings);
    all.add(last);
    return new ClockOffset(source, all, serverUncertaintyNanos, unknown, dates);
  }

  /** The offset of the first reading, to be added to the injector's instants; null if not known. */
  @JsonProperty("offset_ns")
  public @Nullable Long offsetNanos() {
    return readings.isEmpty() ? null : (Long) readings.get(0).offsetNanos;
  }

  /** The largest uncertainty of all readings; null if not known. */
  @JsonProperty("uncertainty_ns")
  public @Nullable Long uncertaintyNanos() {
    return readings.isEmpty() ? null : (Long) uncertainty(readings);
  }

  /** Whether the offset comes from a clock that was queried, not from {@code Date} headers. */
  @JsonIgnore
  public boolean isAsked() {
    return !readings.isEmpty() && !source.startsWith(DATE);
  }

  /**
   * How far the clock of another injector is ahead of this one's, by the changes of {@code Date}
   * that both saw at the same servers; empty if there are none. Comparing change by change is right
   * even if a server's {@code Date} is late. If it follows a clock, comparing each injector with
   * that clock is more exact.
   */
  public List<Reading> to(ClockOffset other) {
    List<Bounds> bounds = new ArrayList<>();
    for (Map.Entry<String, List<DateChange>> server : dates.entrySet()) {
      Map<Long, DateChange> theirs = new HashMap<>();
      other
          .dates
          .getOrDefault(server.getKey(), List.of())
          .forEach(change -> theirs.put(change.unixSecond, change));
      for (DateChange change : server.getValue()) {
        DateChange same = theirs.get(change.unixSecond);
        if (same != null) {
          bounds.add(change.to(same.afterNanos, same.beforeNanos));
        }
      }
    }
    bounds.sort(Comparator.comparingLong(Bounds::unixNanos));
    List<Reading> bounded = Bounds.fit(bounds);
    List<Reading> exact = isOfSameDate(other) ? difference(readings, other.readings) : List.of();
    boolean agree =
        !bounded.isEmpty()
            && exact.stream()
                .allMatch(
                    reading ->
                        Math.abs(reading.offsetNanos - offsetAt(bounded, reading.unixNanos))
                            <= reading.uncertaintyNanos + uncertainty(bounded));
    return agree ? better(bounded, exact) : bounded;
  }

  private boolean isOfSameDate(ClockOffset other) {
    return source.startsWith(DATE) && source.equals(other.source) && !other.readings.isEmpty();
  }

  /** The offset between two clocks that were compared with the same third one. */
  private static List<Reading> difference(List<Reading> own, List<Reading> theirs) {
    return own.stream()
        .map(
            reading ->
                new Reading(
                    reading.unixNanos,
                    reading.offsetNanos - offsetAt(theirs, reading.unixNanos),
                    reading.uncertaintyNanos + uncertainty(theirs)))
        .toList();
  }

  private static List<Reading> better(List<Reading> one, List<Reading> other) {
    return one.isEmpty() || (!other.isEmpty() && uncertainty(other) < uncertainty(one))
        ? other
        : one;
  }

  /** The largest uncertainty of one or more readings. */
  public static long uncertainty(List<Reading> readings) {
    return readings.stream().mapToLong(Reading::uncertaintyNanos).max().orElseThrow();
  }

  /** The offset at an instant of the injector's clock, interpolated linearly between readings. */
  public static long offsetAt(List<Reading> readings, long unixNanos) {
    Reading before = readings.get(0);
    for (Reading next : readings.subList(1, readings.size())) {
      if (next.unixNanos > unixNanos) {
        double since = Math.max(0, unixNanos - before.unixNanos);
        double part = since / (next.unixNanos - before.unixNanos);
        return before.offsetNanos + Math.round(part * (next.offsetNanos - before.offsetNanos));
      }
      before = next;
    }
    return before.offsetNanos;
  }
}
