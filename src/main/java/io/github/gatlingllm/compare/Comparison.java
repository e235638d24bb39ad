package io.github.gatlingllm.compare;

import io.github.gatlingllm.compare.Comparison.Change;
import io.github.gatlingllm.compare.Comparison.Place;
import io.github.gatlingllm.metric.Distribution.Interval;
import io.github.gatlingllm.metric.Figure;
import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.Metric;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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

  /**
   * What changed from {@code base} to {@code run}; no place where they have no stage in common.
   *
   * @param runs how many are compared with the same base: the intervals of all figures of all of
   *     them hold together
   */
  public static Comparison of(ComparedRun base, ComparedRun run, int runs) throws IOException {
    return new RunComparison(base, run, runs).compare();
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
   * @param base its value in the base; null where it has none
   * @param run its value in the other run; null where it has none
   * @param percent run ÷ base − 1 in percent, or run − base of a share; null where it has none
   * @param interval where the true change lies, with 95 % confidence for all figures of all runs
   *     that are compared with the base together; null where values are too few
   */
  public record Change(
      Figure figure,
      @Nullable Double base,
      @Nullable Double run,
      @Nullable Double percent,
      @Nullable Interval interval,
      Outcome outcome) {

    /**
     * Whether {@code percent} and {@code interval} are percentage points, not percent of the base.
     */
    public boolean inPoints() {
      return figure.unit() == Metric.Unit.PERCENT;
    }
  }

  /** All clear changes of that kind, of all places. */
  public long count(Outcome outcome) {
    return places.stream()
        .flatMap(place -> place.changes().stream())
        .filter(change -> change.outcome() == outcome)
        .count();
  }

  /**
   * A bound on the change of a figure, beyond which a comparison fails.
   *
   * <pre>
   * ttft.p95>+10%           more than 10 % above the base, all stages pooled
   * output_tokens_per_s&lt;-5%  more than 5 % below it
   * goodput&lt;-2%             a share: more than 2 percentage points below it
   * c=8:e2e.p99>+20%        of one stage
   * </pre>
   *
   * <p>The bound is on the measured change, whether or not it is clear beyond noise; the interval
   * is shown beside it. A figure without a value in both runs fails.
   *
   * @param text as it was written
   * @param stage label of the stage; null for all stages pooled
   * @param figure which one, any of {@link Figure#names}
   * @param above whether more than the bound fails, not less
   * @param percent the bound: percent of the base, or percentage points of a share
   */
  public record FailCondition(
      String text, @Nullable String stage, Figure figure, boolean above, double percent) {

    private static final Pattern FORM =
        Pattern.compile(
            "(?:([^:<>]+):)?\\s*([A-Za-z0-9_.]+)\\s*([<>])\\s*([+-]?\\d{1,6}(?:\\.\\d{1,6})?)\\s*%");

    /**
     * The outcome of a condition.
     *
     * @param change of its figure; null where that has no value in one of the runs
     */
    public record Judged(FailCondition condition, @Nullable Change change, boolean hasFailed) {}

    /**
     * Reads conditions, separated by commas.
     *
     * @throws IllegalArgumentException in one line that names the first wrong one and what is
     *     allowed
     */
    public static List<FailCondition> parse(String text) {
      List<FailCondition> conditions = new ArrayList<>();
      for (String part : text.split(",", -1)) {
        conditions.add(one(part.strip()));
      }
      return conditions;
    }

    private static FailCondition one(String text) {
      Matcher form = FORM.matcher(text);
      if (!form.matches()) {
        throw new IllegalArgumentException(
            "'" + text + "' is no condition; expected e.g. ttft.p95>+10% or goodput<-2%");
      }
      String stage = form.group(1);
      return new FailCondition(
          text,
          stage == null ? null : stage.strip(),
          Figure.parse(form.group(2)),
          form.group(3).equals(">"),
          new BigDecimal(form.group(4)).doubleValue());
    }

    /** Judges a comparison; a stage that several targets have is judged at each. */
    public List<Judged> judge(Comparison comparison) {
      List<Place> places =
          stage == null
              ? comparison.places().stream().limit(1).toList()
              : comparison.places().stream().filter(p -> stage.equals(p.stage())).toList();
      if (places.isEmpty()) {
        return List.of(new Judged(this, null, true));
      }
      return places.stream().map(this::judged).toList();
    }

    private Judged judged(Place place) {
      Change change =
          place.change(figure.name()).orElseGet(() -> RunComparison.measured(figure, place));
      Double measured = change == null ? null : change.percent();
      boolean isBeyond = measured == null || (above ? measured > percent : measured < percent);
      return new Judged(this, measured == null ? null : change, isBeyond);
    }
  }
}
