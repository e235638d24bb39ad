package io.github.gatlingllm.stats;

import io.github.gatlingllm.sample.RequestRecord;
import io.github.gatlingllm.sample.RunInfo;
import io.github.gatlingllm.sample.Slo;
import io.github.gatlingllm.sample.SloJudge;
import io.github.gatlingllm.stats.Summary.ObjectiveRow;
import io.github.gatlingllm.stats.Summary.SloTable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The objectives of a run, also those that single request names have for themselves. */
final class SloTally {

  private final Slo global;
  private final Map<String, Slo> byName = new LinkedHashMap<>();
  private final List<Row> rows = new ArrayList<>();

  private static final class Row {
    private final @Nullable String name;
    private final Slo.Objective objective;
    private final ValueRecorder values = new ValueRecorder(ValueRecorder.MICROS);
    private long attempted;
    private long missed;

    private Row(@Nullable String name, Slo.Objective objective) {
      this.name = name;
      this.objective = objective;
    }
  }

  SloTally(RunInfo info) {
    global = info.globalSlo();
    global.objectives().forEach(o -> rows.add(new Row(null, o)));
    for (String name : info.sloByRequest().keySet()) {
      Slo own = info.sloOf(name);
      byName.put(name, own);
      own.objectives().forEach(o -> rows.add(new Row(name, o)));
    }
  }

  /** The objectives of requests of that name. */
  Slo of(String name) {
    return byName.getOrDefault(name, global);
  }

  Slo global() {
    return global;
  }

  boolean isEmpty() {
    return rows.isEmpty();
  }

  /** Adds an attempted request and what it missed. */
  void add(RequestRecord record, List<String> missed) {
    boolean own = byName.containsKey(record.identity().name());
    for (Row row : rows) {
      if (own ? record.identity().name().equals(row.name) : row.name == null) {
        Slo.Measure measure = row.objective.measure();
        Double nanos = SloJudge.nanos(measure, record.timing(), record.events(), record.tokens());
        if (nanos != null) {
          row.values.add(nanos / 1e6);
        }
        row.attempted++;
        row.missed += missed.contains(measure.key()) || missed.contains(SloJudge.FAILED) ? 1 : 0;
      }
    }
  }

  /** Null when there is no objective. */
  @Nullable SloTable table() {
    if (isEmpty()) {
      return null;
    }
    StringBuilder text = new StringBuilder(global.toString());
    byName.forEach(
        (name, slo) ->
            text.append(text.isEmpty() ? "" : "; ").append(name).append(": ").append(slo));
    return new SloTable(
        text.toString(), global.percentile(), rows.stream().map(this::row).toList());
  }

  private ObjectiveRow row(Row row) {
    double limit = row.objective.limitNanos() / 1e6;
    Double actual = row.values.percentile(global.percentile());
    Double metShare =
        row.attempted == 0
            ? null
            : (Double) ((double) (row.attempted - row.missed) / row.attempted);
    String measure = row.objective.measure().key();
    return new ObjectiveRow(
        row.name == null ? measure : row.name + ": " + measure,
        limit,
        actual,
        actual == null ? null : (Double) (limit - actual),
        metShare,
        metShare == null ? null : (Boolean) (metShare * 100 >= global.percentile() - 1e-9));
  }
}
