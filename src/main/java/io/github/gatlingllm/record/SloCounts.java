package io.github.gatlingllm.record;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Counts how many requests met each objective, and how many met all of them, and decides whether a
 * load level holds its SLO. The search decides by it while load is on, the report afterwards.
 */
public final class SloCounts {

  /** If more than this share of requests is unknown, the share that met is undefined. */
  private static final double MAX_UNKNOWN = 0.01;

  private static final double ROUNDING = 1e-9;

  private final Map<String, Objective> objectives = new LinkedHashMap<>();

  /** Requests judged by {@link Slo.Rule#REQUESTS}, all objectives at once, by percentile. */
  private final Map<Double, Count> atOnce = new LinkedHashMap<>();

  private Count all = Count.NONE;
  private @Nullable Slo keysOf;
  private String keysOwner = "";
  private List<String> keys = List.of();

  /**
   * Requests by verdict.
   *
   * @param judged requests that met or missed
   * @param met those of {@code judged} that met
   * @param unknown requests cancelled before they could be judged; not in {@code judged}
   */
  public record Count(long judged, long met, long unknown) {

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

    /** Whether too many requests are unknown for {@link #share}. */
    public boolean isUndefined() {
      return unknown > MAX_UNKNOWN * (judged + unknown);
    }

    /** met ÷ judged, 0 to 1; null if no request was judged, or too many are unknown. */
    public @Nullable Double share() {
      return judged == 0 || isUndefined() ? null : (Double) ((double) met / judged);
    }

    /**
     * Whether at least that share met; null if unknown. If too many requests are unknown, the
     * answer is false if the share would be missed even if all of them had met, and null otherwise.
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

  /** The count of one objective, and the SLO that it belongs to. */
  private record Objective(Slo slo, Count count) {
    Objective and(Objective other) {
      return new Objective(slo, count.and(other.count));
    }
  }

  /**
   * The count that decides whether a level holds.
   *
   * @param objective as in settings, prefixed with its owner (see {@link #add}); null if all
   *     objectives must be met at once
   * @param percent the required share
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
   * @param owner prefix of its objectives, e.g. the name of a request that has its own objectives
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

  /** The keys of an SLO, cached because most requests have the SLO of the one before. */
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

  public boolean isEmpty() {
    return objectives.isEmpty();
  }

  public Count all() {
    return all;
  }

  /** The count of each objective, by its text prefixed with its owner. */
  public Map<String, Count> objectives() {
    Map<String, Count> counts = new LinkedHashMap<>();
    objectives.forEach((name, objective) -> counts.put(name, objective.count));
    return counts;
  }

  /**
   * Whether the level holds its SLO. The deciding count is the one furthest below its required
   * share, or least above it: among the objectives judged by percentiles, and the requests that
   * must meet all objectives at once. Null if no request was judged.
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

  /** Missed first, then unknown, then the smallest margin. */
  private static double rank(Decision decision) {
    Double share = decision.count().share();
    double margin = share == null ? 0 : share - decision.percent() / 100;
    return margin + (decision.holds() == null ? 2 : decision.holds() ? 4 : 0);
  }
}
