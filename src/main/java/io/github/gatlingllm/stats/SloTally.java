package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.metric.ValueRecorder;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.stats.Summary.ObjectiveRow;
import io.github.gatlingllm.stats.Summary.SloTable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The objectives of a run: those of all requests, or of each target where targets differ, also
 * those that single request names have for themselves.
 */
final class SloTally {

  private final Judge common;
  private final Map<String, Judge> byTarget = new LinkedHashMap<>();
  private final List<Row> rows = new ArrayList<>();

  private record Judge(Slo global, Map<String, Slo> byName) {
    static Judge of(RunInfo info, String target) {
      Map<String, Slo> byName = new LinkedHashMap<>();
      for (String name : info.judgeOf(target).byRequest().keySet()) {
        byName.put(name, info.sloOf(target, name));
      }
      return new Judge(info.sloOf(target), byName);
    }

    Slo of(String name) {
      return byName.getOrDefault(name, global);
    }

    boolean isEmpty() {
      return global.isEmpty() && byName.values().stream().allMatch(Slo::isEmpty);
    }

    @Override
    public String toString() {
      StringBuilder text = new StringBuilder(global.toString());
      byName.forEach(
          (name, slo) ->
              text.append(text.isEmpty() ? "" : "; ").append(name).append(": ").append(slo));
      return text.toString();
    }
  }

  private static final class Row {
    private final @Nullable String target;
    private final @Nullable String name;
    private final Slo.Objective objective;
    private final double percentile;
    private final ValueRecorder values = new ValueRecorder(ValueRecorder.MICROS);
    private long attempted;
    private long missed;

    private Row(
        @Nullable String target,
        @Nullable String name,
        Slo.Objective objective,
        double percentile) {
      this.target = target;
      this.name = name;
      this.objective = objective;
      this.percentile = percentile;
    }

    private String measure() {
      String measure = objective.measure().key();
      String own = name == null ? measure : name + ": " + measure;
      return target == null ? own : target + ": " + own;
    }
  }

  SloTally(RunInfo info) {
    common = Judge.of(info, "");
    info.sloByTarget().keySet().forEach(target -> byTarget.put(target, Judge.of(info, target)));
    if (byTarget.isEmpty()) {
      addRows(null, common);
    } else {
      byTarget.forEach(this::addRows);
    }
  }

  private void addRows(@Nullable String target, Judge judge) {
    double percentile = judge.global().percentile();
    judge.global().objectives().forEach(o -> rows.add(new Row(target, null, o, percentile)));
    judge
        .byName()
        .forEach(
            (name, own) ->
                own.objectives().forEach(o -> rows.add(new Row(target, name, o, percentile))));
  }

  private Judge judge(String target) {
    return byTarget.getOrDefault(target, common);
  }

  /** The objectives of requests of that name to that target. */
  Slo of(String target, String name) {
    return judge(target).of(name);
  }

  /** The objectives of requests to that target that have none of their own. */
  Slo global(String target) {
    return judge(target).global();
  }

  /** Whether no request of the run has an objective. */
  boolean isEmpty() {
    return rows.isEmpty();
  }

  /** Whether no request to that target has one. */
  boolean isEmpty(String target) {
    return judge(target).isEmpty();
  }

  /** Adds an attempted request and what it missed. */
  void add(RequestRecord record, List<String> missed) {
    String target = record.identity().target();
    String name = record.identity().name();
    boolean own = judge(target).byName().containsKey(name);
    for (Row row : rows) {
      boolean mine = row.target == null || row.target.equals(target);
      if (mine && (own ? name.equals(row.name) : row.name == null)) {
        Slo.Measure measure = row.objective.measure();
        Double nanos = measure.nanos(record.timing(), record.events(), record.tokens());
        if (nanos != null) {
          row.values.add(nanos / 1e6);
        }
        row.attempted++;
        row.missed += missed.contains(measure.key()) || missed.contains(Slo.FAILED) ? 1 : 0;
      }
    }
  }

  /** Null when there is no objective. */
  @Nullable SloTable table() {
    if (isEmpty()) {
      return null;
    }
    List<ObjectiveRow> table = rows.stream().map(SloTally::row).toList();
    return new SloTable(text(), rows.get(0).percentile, table);
  }

  private String text() {
    if (byTarget.isEmpty()) {
      return common.toString();
    }
    boolean alike =
        byTarget.values().stream().mapToDouble(j -> j.global().percentile()).distinct().count()
            == 1;
    List<String> parts = new ArrayList<>();
    byTarget.forEach(
        (target, judge) ->
            parts.add(
                target
                    + ": "
                    + (judge.isEmpty() ? "no SLO" : judge.toString())
                    + (alike || judge.isEmpty()
                        ? ""
                        : " (" + NumberText.plain(judge.global().percentile()) + " %)")));
    return String.join("; ", parts);
  }

  private static ObjectiveRow row(Row row) {
    double limit = row.objective.limitNanos() / 1e6;
    Double actual = row.values.percentile(row.percentile);
    Double metShare =
        row.attempted == 0
            ? null
            : (Double) ((double) (row.attempted - row.missed) / row.attempted);
    return new ObjectiveRow(
        row.measure(),
        limit,
        actual,
        actual == null ? null : (Double) (limit - actual),
        metShare,
        metShare == null ? null : (Boolean) (metShare * 100 >= row.percentile - 1e-9),
        row.percentile);
  }
}
