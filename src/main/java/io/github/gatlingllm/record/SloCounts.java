package io.github.gatlingllm.record;

import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How many requests met each objective, and how many met all at once. Decides whether a load level
 * holds its SLO: the search does so while load is on, the report afterwards, by the same counts.
 */
public final class SloCounts {

  /** Where more requests than this share could not be judged, the share that met is undefined. */
  private static final double MOST_UNKNOWN = 0.01;

  private static final double ROUNDING = 1e-9;

  private final Map<String, Count> objectives = new LinkedHashMap<>();
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

  /**
   * What decides whether a level holds.
   *
   * @param objective as in settings, behind the name of the request that it is for; null where all
   *     are asked for at once
   */
  public record Decision(@Nullable Boolean holds, @Nullable String objective, Count count) {}

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
      Slo.Verdict verdict = judgement.of(i);
      objectives.compute(
          keys.get(i), (key, count) -> (count == null ? Count.NONE : count).and(verdict));
    }
    Boolean met = judgement.met();
    all = all.and(met == null ? Slo.Verdict.UNKNOWN : met ? Slo.Verdict.MET : Slo.Verdict.MISSED);
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
    other.objectives.forEach((name, count) -> objectives.merge(name, count, Count::and));
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
    return Collections.unmodifiableMap(objectives);
  }

  /**
   * Whether at least that share of the requests meets the SLO by that rule, and what decides it: by
   * percentiles an objective that fewest met.
   */
  public Decision decide(Slo.Rule rule, double percent) {
    List<Decision> decisions =
        objectives.entrySet().stream()
            .filter(o -> o.getValue().judged() + o.getValue().unknown() > 0)
            .map(o -> new Decision(o.getValue().holds(percent), o.getKey(), o.getValue()))
            .sorted(Comparator.comparing(SloCounts::rank))
            .toList();
    return rule == Slo.Rule.REQUESTS || decisions.isEmpty()
        ? new Decision(all.holds(percent), null, all)
        : decisions.get(0);
  }

  /** Missed first, then what cannot be told, then the smallest share. */
  private static double rank(Decision decision) {
    Double share = decision.count().share();
    double within = share == null ? 0 : share;
    return within + (decision.holds() == null ? 2 : decision.holds() ? 4 : 0);
  }
}
