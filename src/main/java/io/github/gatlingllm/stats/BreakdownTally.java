package io.github.gatlingllm.stats;

import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.stats.CloseUps.Breakdown;
import io.github.gatlingllm.stats.CloseUps.Part;
import io.github.gatlingllm.stats.CloseUps.PartMean;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Where the time of ok requests of one stage went: Σ of each part, so that means add up exactly.
 *
 * <pre>
 * scheduled ─ start lag ─ gate wait ─ connect ─┬ server queue ┬ server prefill ┬ rest ┬─ decode ─ last token
 *                                              └──────── TTFT − connect ──────────────┘
 * </pre>
 */
final class BreakdownTally {

  private final StageWindow stage;
  private final Map<Part, long[]> nanos = new EnumMap<>(Part.class);
  private long count;
  private long reporting;

  BreakdownTally(StageWindow stage) {
    this.stage = stage;
  }

  void add(RequestRecord record) {
    RequestRecord.Timing t = record.timing();
    Long gate = t.gateWaitNanos();
    Long end = t.latencyNanos();
    if (gate == null || end == null) {
      return;
    }
    count++;
    part(Part.START_LAG, t.startLagNanos());
    part(Part.GATE_WAIT, gate);
    Long ttft = t.ttftNanos();
    long connect = Objects.requireNonNullElse(t.connectNanos(), 0L);
    part(Part.CONNECT, connect);
    if (ttft == null) {
      part(Part.ANSWER, end - connect);
      return;
    }
    long queue = reported(record.server(), "queue_s");
    long prefill = reported(record.server(), "prefill_s");
    // A server whose parts do not fit into the time that we saw measures something else.
    if (queue + prefill > 0 && queue + prefill <= ttft - connect) {
      reporting++;
      part(Part.SERVER_QUEUE, queue);
      part(Part.SERVER_PREFILL, prefill);
      part(Part.FIRST_TOKEN, ttft - connect - queue - prefill);
    } else {
      part(Part.FIRST_TOKEN, ttft - connect);
    }
    part(Part.DECODE, end - ttft);
  }

  private static long reported(Map<String, Double> server, String key) {
    Double seconds = server.get(key);
    return seconds == null || !(seconds > 0) ? 0 : Math.round(Math.min(seconds, 1e6) * 1e9);
  }

  private void part(Part part, long more) {
    if (more > 0) {
      nanos.computeIfAbsent(part, p -> new long[1])[0] += more;
    }
  }

  boolean isEmpty() {
    return count == 0;
  }

  Breakdown breakdown() {
    List<PartMean> means = new ArrayList<>();
    nanos.forEach((part, sum) -> means.add(new PartMean(part, sum[0] / 1e6 / count)));
    LevelInfo info = stage.stage();
    return new Breakdown(info.label(), info.target(), info.scenario(), count, reporting, means);
  }
}
