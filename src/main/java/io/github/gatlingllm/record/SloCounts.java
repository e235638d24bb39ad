package io.github.gatlingllm.record;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How many requests met each objective, and how many met all at once. Decides whether a load level
 * holds its SLO: the search does so while load is on, the report afterwards, by the same counts.
 */
public final class SloCounts {

  /** Where more requests than this share could not be judged, the share that met is undefined. */
  private static final double MOST_UNKNOWN = 0.01;

  private static final double ROUNDING = 1e-9;

  private final Map<String, Objective> objectives = new LinkedHashMap<>();

  /** Of what is judged by {@link Slo.Rule#REQUESTS}: all objectives at once, by percentile. */
  private final Map<Double, Count> atOnce = new LinkedHashMap<>();

  private Count all = Count.NONE;
  private @Nullable Slo keysOf;
  private String keysOwner = "";
  private List<String> keys = List.of();

  /**
   * Requests that were judged by something.
   *
   * @param judged met or missed it
   * @param met of those, how many met it
   * @param unknown cancelled before it could be told, and in neither of the others
   */
  public record Count(long judged, long met, long unknown) {

    /** No request. */
    public static final Count NONE = new Count(0, 0, 0);

    public Count and(Slo.Verdict verdict) {
      return switch (verdict) {
        case MET -> new Count(judged + 1, met + 1, unknown);
        case MISSED -> new Count(judged + 1, met, unknown);
        case UNKNOWN -> new Count(judged, met, unknown + 1);
        case ABSENT -> this;
      };
    }

    public Count and(Count other) {
      return new Count(judged + other.judged, met + other.met, unknown + other.unknown);
    }

    /** Whether too many could not be judged for a share to mean anything. */
    public boolean isUndefined() {
      return unknown > MOST_UNKNOWN * (judged + unknown);
    }

    /** met ÷ judged, 0 to 1; null where nothing was judged, or too much could not be. */
    public @Nullable Double share() {
      return judged == 0 || isUndefined() ? null : (Double) ((double) met / judged);
    }

    /**
     * Whether at least that share met it; null where that cannot be told. Where too many could not
     * be judged, it is told only if it would be missed even if they had met it.
     */
    public @Nullable Boolean holds(double percent) {
      Double share = share();
      if (share != null) {
        return share * 100 >= percent - ROUNDING;
      }
      boolean cannotHold =
          judged > 0 && (met + unknown) * 100.0 / (judged + unknown) < percent - ROUNDING;
      return cannotHold ? Boolean.FALSE : null;
    }
  }

  /** How many met one objective that requests are judged by. */
  private record Objective(Slo slo, Count count) {
    Objective and(Objective other) {
      return new Objective(slo, count.and(other.count));
    }
  }

  /**
   * What decides whether a level holds.
   *
   * @param objective as in settings, behind the name of the request that it is for; null where all
   *     are asked for at once
   * @param percent the share that is asked for
   */
  public record Decision(
      @Nullable Boolean holds, @Nullable String objective, Count count, double percent) {
    private static Decision of(@Nullable String objective, Count count, double percent) {
      return new Decision(count.holds(percent), objective, count, percent);
    }
  }

  /**
   * Adds a request.
   *
   * @param owner stands before its objectives, e.g. the request name that has objectives of its own
   */
  public void add(String owner, Slo.Judgement judgement) {
    Slo slo = judgement.slo();
    if (slo.isEmpty()) {
      return;
    }
    List<String> keys = keys(owner, slo);
    for (int i = 0; i < keys.size(); i++) {
      Count one = Count.NONE.and(judgement.of(i));
      objectives.merge(keys.get(i), new Objective(slo, one), Objective::and);
    }
    Boolean met = judgement.met();
    Count one =
        Count.NONE.and(
            met == null ? Slo.Verdict.UNKNOWN : met ? Slo.Verdict.MET : Slo.Verdict.MISSED);
    all = all.and(one);
    if (slo.rule() == Slo.Rule.REQUESTS) {
      atOnce.merge(slo.percentile(), one, Count::and);
    }
  }

  /** Made anew only where another SLO comes: mostly it is that of the request before. */
  @SuppressWarnings("ReferenceEquality") // quick, and another one that is equal gives equal keys
  private List<String> keys(String owner, Slo slo) {
    if (slo != keysOf || !owner.equals(keysOwner)) {
      keysOf = slo;
      keysOwner = owner;
      keys = slo.objectives().stream().map(objective -> owner + objective).toList();
    }
    return keys;
  }

  public void add(SloCounts other) {
    other.objectives.forEach((name, count) -> objectives.merge(name, count, Objective::and));
    other.atOnce.forEach((percent, count) -> atOnce.merge(percent, count, Count::and));
    all = all.and(other.all);
  }

  /** Whether no request had an objective. */
  public boolean isEmpty() {
    return objectives.isEmpty();
  }

  /** Of all objectives at once. */
  public Count all() {
    return all;
  }

  /** Of each objective by itself, by its text behind its owner. */
  public Map<String, Count> objectives() {
    Map<String, Count> counts = new LinkedHashMap<>();
    objectives.forEach((name, objective) -> counts.put(name, objective.count));
    return counts;
  }

  /**
   * Whether enough requests meet what they are judged by, and what decides it: of the objectives
   * that are judged by percentiles, and of what is to be met at once, the one that is furthest
   * below the share that is asked for, or least above it. Null where nothing was judged.
   */
  public @Nullable Decision decide() {
    return Stream.concat(
            objectives.entrySet().stream()
                .filter(o -> o.getValue().slo.rule() == Slo.Rule.PERCENTILES)
                .map(
                    o ->
                        Decision.of(o.getKey(), o.getValue().count, o.getValue().slo.percentile())),
            atOnce.entrySet().stream()
                .map(share -> Decision.of(null, share.getValue(), share.getKey())))
        .filter(decision -> decision.count().judged() + decision.count().unknown() > 0)
        .min(Comparator.comparing(SloCounts::rank))
        .orElse(null);
  }

  /** Missed first, then what cannot be told, then the smallest margin. */
  private static double rank(Decision decision) {
    Double share = decision.count().share();
    double margin = share == null ? 0 : share - decision.percent() / 100;
    return margin + (decision.holds() == null ? 2 : decision.holds() ? 4 : 0);
  }
}
