package io.github.gatlingllm.compare;

import io.github.gatlingllm.metric.Figure;
import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.Interval;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Two runs held against each other: what changed, by how much, and whether that is more than noise.
 *
 * @param places the stages that both have: pooled first, then each of them where there are several
 * @param unmatched stages that only one of them has, in words
 * @param notes what to know before reading on, a sentence each
 */
public record Comparison(List<Place> places, List<String> unmatched, List<String> notes) {

  /** A change below this many percent of the base is called none. */
  public static final double LEAST_PERCENT = 3;

  /** A change of a share below this many percentage points is called none. */
  public static final double LEAST_POINTS = 1;

  /** A change of a time below this many milliseconds is called none. */
  public static final double LEAST_MS = 0.1;

  public Comparison {
    places = List.copyOf(places);
    unmatched = List.copyOf(unmatched);
    notes = List.copyOf(notes);
  }

  /** What changed from {@code base} to {@code run}; no place where they have no stage in common. */
  public static Comparison of(ComparedRun base, ComparedRun run) throws IOException {
    return RunComparison.of(base, run);
  }

  /** What the change of a figure amounts to. */
  public enum Outcome {
    /** Clearly changed, for the better. */
    BETTER("better"),
    /** Clearly changed, for the worse. */
    WORSE("worse"),
    /** What is seen may be noise, or is too small to matter. */
    NO_CLEAR_CHANGE("no clear change"),
    /** Too few values to say anything. */
    TOO_FEW("too few values"),
    /** Not among the figures that get an interval. */
    NOT_JUDGED("not judged");

    private final String words;

    Outcome(String words) {
      this.words = words;
    }

    /** As people read it. */
    public String words() {
      return words;
    }

    /** Whether it changed clearly. */
    public boolean isClear() {
      return this == BETTER || this == WORSE;
    }
  }

  /**
   * The figures of one stage, or of all.
   *
   * @param stage its label; null for all stages pooled
   * @param target its target in the base; null for all
   * @param scenario its scenario; null where scenarios are not told apart
   * @param base all its figures in the base
   * @param run all its figures in the other run
   */
  public record Place(
      @Nullable String stage,
      @Nullable String target,
      @Nullable String scenario,
      Figures base,
      Figures run,
      List<Change> changes) {

    public Place {
      changes = List.copyOf(changes);
    }

    /** The change of the figure of that name. */
    public Optional<Change> change(String figure) {
      return changes.stream().filter(c -> c.figure().name().equals(figure)).findFirst();
    }
  }

  /**
   * The change of one figure.
   *
   * @param figure which one
   * @param isLowerBetter whether less of it is better
   * @param inPoints whether {@code percent} and {@code interval} are percentage points, not percent
   *     of the base
   * @param base its value in the base; null where it has none
   * @param run its value in the other run; null where it has none
   * @param percent run ÷ base − 1 in percent, or run − base of a share; null where it has none
   * @param interval where the true change lies, with 95 % confidence for all figures of the
   *     comparison together; null where values are too few
   */
  public record Change(
      Figure figure,
      boolean isLowerBetter,
      boolean inPoints,
      @Nullable Double base,
      @Nullable Double run,
      @Nullable Double percent,
      @Nullable Interval interval,
      Outcome outcome) {}

  /** All clear changes of that kind, of all places. */
  public long count(Outcome outcome) {
    return places.stream()
        .flatMap(place -> place.changes().stream())
        .filter(change -> change.outcome() == outcome)
        .count();
  }
}
