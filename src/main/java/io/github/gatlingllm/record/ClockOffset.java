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

  /** By how much one clock may run faster than another; crystals differ by less. */
  private static final double MOST_DRIFT = 50e-6;

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
   * What became of the clock of an injector in a joined run.
   *
   * @param by what it was compared with
   * @param offsetNanos what is to be added to its instants, as first read; null where not known
   * @param uncertaintyNanos of that; null where not known
   * @param corrected whether its instants are, in all files of the joined run
   * @param doubt why they may not fit those of the other injectors; null where they do
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

    /**
     * What all allow together of two clocks of which one may run faster, by a rate that stays: the
     * offsets at the first and at the last of them; none where they are not of such clocks.
     */
    static List<Reading> fit(List<Bounds> inOrder) {
      if (inOrder.isEmpty()) {
        return List.of();
      }
      Bounds first = inOrder.get(0);
      long length = inOrder.get(inOrder.size() - 1).unixNanos - first.unixNanos;
      double most = length * MOST_DRIFT;
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

    /** Offsets at the first that all allow of a clock that gains that much until the last. */
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

  /** From the least to the most offset, counted from the least that one change allows. */
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
   * most. Some servers look at their clock once a second, and their {@code Date} is late by up to
   * one; that shows where it changes.
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
  @JsonIgnore
  public boolean isAsked() {
    return !readings.isEmpty() && !source.startsWith(DATE);
  }

  /**
   * How far the clock of another injector is ahead of this one's, by what both saw of the same
   * servers; empty where they saw none at the same time. Change by change that holds however late a
   * server's {@code Date} is. Where it is a clock, each compared with that is more exact.
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

  /** Between two clocks that were compared with the same third one. */
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

  /** The offset at an instant by the injector's clock, in a straight line between readings. */
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
