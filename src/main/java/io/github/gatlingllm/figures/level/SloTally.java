package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.Summary.SloTable;
import io.github.gatlingllm.figures.metric.LevelFigures.ObjectiveRow;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.record.Objectives.SloCount;
import io.github.gatlingllm.record.Objectives.TargetSlo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.record.TokenGaps;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The objectives of a run, of its targets and of its request names, and how they were met. */
final class SloTally {

  /** Those of all other requests, then those of request names. */
  private final List<OwnedSlo> common;

  private final Map<String, List<OwnedSlo>> byTarget = new LinkedHashMap<>();

  /** The objectives of a target or of a request name, and how they were met. */
  static final class OwnedSlo {
    final Slo slo;

    /** The request name that they belong to; null for those of all other requests. */
    final @Nullable String request;

    /** Prefix of their names: target and request name, where these have their own. */
    final String owner;

    private final Map<Integer, List<Row>> byLevel = new HashMap<>();

    private OwnedSlo(Slo slo, @Nullable String request, String owner) {
      this.slo = slo;
      this.request = request;
      this.owner = owner;
    }

    private List<Row> newRows() {
      return slo.objectives().stream().map(Row::new).toList();
    }

    private List<Row> allRows() {
      List<Row> all = newRows();
      for (List<Row> level : byLevel.values()) {
        for (int i = 0; i < all.size(); i++) {
          all.get(i).add(level.get(i));
        }
      }
      return all;
    }

    void add(int level, RequestRecord record, Slo.Judgement judgement) {
      List<Row> own = byLevel.computeIfAbsent(level, l -> newRows());
      for (int i = 0; i < own.size(); i++) {
        own.get(i).add(own.get(i).nanos(record), judgement.of(i));
      }
    }

    /** Whether they apply to any request of a load level, one that was cancelled included. */
    private boolean areIn(int level) {
      return byLevel.getOrDefault(level, List.of()).stream()
          .anyMatch(row -> row.count.judged() + row.count.unknown() > 0);
    }

    private Stream<ObjectiveRow> objectiveRows(List<Row> of) {
      return of.stream().map(row -> row.row(slo, owner));
    }
  }

  private static final class Row {
    private final Slo.Objective objective;
    private final ValueRecorder values = new ValueRecorder(ValueRecorder.MICROS);
    private SloCount count = SloCount.NONE;
    private long endless;

    private Row(Slo.Objective objective) {
      this.objective = objective;
    }

    /** Adds a value; a missed objective without a value counts as longer than any limit. */
    private void add(@Nullable Double nanos, Slo.ObjectiveResult verdict) {
      count = count.and(verdict);
      if (verdict == Slo.ObjectiveResult.MISSED
          && (nanos == null || nanos < objective.limitNanos())) {
        endless++;
      } else if (nanos != null
          && (verdict == Slo.ObjectiveResult.MISSED || verdict == Slo.ObjectiveResult.MET)) {
        values.add(nanos / 1e6);
      }
    }

    private void add(Row other) {
      count = count.and(other.count);
      endless += other.endless;
      values.add(other.values);
    }

    /** The value of a request that is ok, or was cut after it was measured; else null. */
    private @Nullable Double nanos(RequestRecord record) {
      boolean mayHaveTokens =
          record.outcome().status().isCut() && objective.measure() != Slo.Measure.E2E;
      return record.outcome().ok() || mayHaveTokens
          ? objective.measure().nanos(record.timing(), record.events(), record.tokens())
          : null;
    }

    /** The nearest-rank percentile, endless values being the highest; null where it is endless. */
    private @Nullable Double percentile(double percent) {
      long finite = values.moments().count();
      long rank = TokenGaps.rank(percent, finite + endless);
      return rank > finite ? null : (Double) values.atRank(rank);
    }

    ObjectiveRow row(Slo slo, String owner) {
      double limit = objective.limitNanos() / 1e6;
      Double actual = count.isUndefined() ? null : percentile(slo.percentile());
      return new ObjectiveRow(
          owner + objective.measure().key(),
          limit,
          actual,
          actual != null ? null : noValue(),
          actual == null ? null : (Double) (limit - actual),
          count.share(),
          count.holds(slo.percentile()),
          slo.percentile());
    }

    private String noValue() {
      long requests = count.judged() + count.unknown();
      return requests == 0
          ? "no request to judge"
          : count.isUndefined()
              ? "%s of %s requests were ended by the client before they could be judged"
                  .formatted(share(count.unknown(), requests), NumberText.count(requests))
              : "%s of %s requests failed or had none"
                  .formatted(share(endless, requests), NumberText.count(requests));
    }

    private static String share(long part, long total) {
      return NumberText.percent((double) part / total);
    }
  }

  SloTally(RunInfo info) {
    common = owned(info.objectives().of(""), "");
    info.objectives()
        .sloByTarget()
        .forEach((target, slo) -> byTarget.put(target, owned(slo, target + ": ")));
  }

  private static List<OwnedSlo> owned(TargetSlo slo, String target) {
    List<OwnedSlo> all = new ArrayList<>(List.of(new OwnedSlo(slo.global(), null, target)));
    for (String name : slo.byRequest().keySet()) {
      all.add(new OwnedSlo(slo.of(name), name, target + slo.owner(name)));
    }
    return all;
  }

  private Stream<List<OwnedSlo>> judges() {
    return byTarget.isEmpty() ? Stream.of(common) : byTarget.values().stream();
  }

  private List<OwnedSlo> judge(String target) {
    return byTarget.getOrDefault(target, common);
  }

  OwnedSlo of(String target, String name) {
    List<OwnedSlo> judge = judge(target);
    for (int i = 1; i < judge.size(); i++) {
      if (name.equals(judge.get(i).request)) {
        return judge.get(i);
      }
    }
    return judge.get(0);
  }

  /** The objectives of a target, then those of request names. */
  List<OwnedSlo> of(String target) {
    return judge(target).stream().filter(all -> !all.slo.isEmpty()).toList();
  }

  boolean isEmpty() {
    return judges().allMatch(SloTally::isEmpty);
  }

  boolean isEmpty(String target) {
    return isEmpty(judge(target));
  }

  private static boolean isEmpty(List<OwnedSlo> judge) {
    return judge.stream().allMatch(all -> all.slo.isEmpty());
  }

  private Slo first() {
    return judges().findFirst().orElse(common).get(0).slo;
  }

  /** The SLO and how it was met over all load levels; null without SLO. */
  @Nullable SloTable table() {
    if (isEmpty()) {
      return null;
    }
    List<ObjectiveRow> table =
        judges().flatMap(List::stream).flatMap(all -> all.objectiveRows(all.allRows())).toList();
    return new SloTable(text(null), first().percentile(), first().rule(), table);
  }

  /** Whether a load level has only requests without objectives, as a class of traffic may. */
  boolean isWithout(String target, int level) {
    List<OwnedSlo> used =
        judge(target).stream().filter(all -> all.byLevel.containsKey(level)).toList();
    return !used.isEmpty() && isEmpty(used);
  }

  /** The metrics that the SLO of a target limits; of gaps, their mean in a request. */
  List<Metric> limited(String target) {
    return judge(target).stream()
        .flatMap(all -> all.slo.objectives().stream())
        .map(
            objective ->
                switch (objective.measure()) {
                  case TTFT -> Metric.TTFT_FROM_SCHEDULE_MS;
                  case TTFO -> Metric.TTFO_FROM_SCHEDULE_MS;
                  case E2E -> Metric.E2E_FROM_SCHEDULE_MS;
                  case TPOT, ITL -> Metric.TPOT_MS;
                  case STALL -> Metric.STALL_MS;
                })
        .distinct()
        .toList();
  }

  /** How the objectives were met at a load level; empty where no request was judged. */
  List<ObjectiveRow> level(int level) {
    return judges()
        .flatMap(List::stream)
        .flatMap(all -> all.objectiveRows(all.byLevel.getOrDefault(level, List.of())))
        .toList();
  }

  String text(@Nullable String target) {
    if (byTarget.isEmpty() || target != null) {
      List<OwnedSlo> judge = judge(target == null ? "" : target);
      return text(judge, judge);
    }
    boolean haveOneRule = judges().allMatch(judge -> judge.get(0).slo.hasSameRule(first()));
    List<String> parts = new ArrayList<>();
    byTarget.forEach(
        (name, judge) ->
            parts.add(
                name
                    + ": "
                    + (isEmpty(judge) ? "no SLO" : text(judge, judge))
                    + (haveOneRule || isEmpty(judge) ? "" : rule(judge.get(0).slo))));
    return String.join("; ", parts);
  }

  /** Some of the objectives that judge a target. */
  private static String text(List<OwnedSlo> judge, List<OwnedSlo> some) {
    return some.stream()
        .map(
            own ->
                (own.request == null ? "" : own.request + ": ")
                    + own.slo
                    + (own.slo.hasSameRule(judge.get(0).slo) ? "" : rule(own.slo)))
        .filter(text -> !text.isEmpty())
        .collect(Collectors.joining("; "));
  }

  private static String rule(Slo slo) {
    boolean isTogether = slo.rule() == Slo.Rule.REQUESTS;
    return " (" + NumberText.plain(slo.percentile()) + (isTogether ? " % together)" : " %)");
  }

  /** The SLO as in settings, with its clock where that matters. */
  String quote(@Nullable String target, boolean isClockNamed) {
    Stream<List<OwnedSlo>> judges = target == null ? judges() : Stream.of(judge(target));
    return withClock(text(target), judges.flatMap(List::stream), isClockNamed);
  }

  /** The SLO of a load level, without objectives that apply to none of its requests. */
  String quote(String target, int level, boolean isClockNamed) {
    List<OwnedSlo> used = judge(target).stream().filter(all -> all.areIn(level)).toList();
    return used.isEmpty()
        ? quote(target, isClockNamed)
        : withClock(text(judge(target), used), used.stream(), isClockNamed);
  }

  private static String withClock(String text, Stream<OwnedSlo> of, boolean isClockNamed) {
    List<String> fromSchedule =
        of.flatMap(all -> all.slo.objectives().stream())
            .map(Slo.Objective::measure)
            .filter(Slo.Measure::isFromSchedule)
            .map(Slo.Measure::key)
            .distinct()
            .toList();
    return fromSchedule.isEmpty() || !isClockNamed
        ? text
        : text + " (" + String.join(", ", fromSchedule) + " from schedule)";
  }
}
