package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Figures.Counts;
import io.github.gatlingllm.figures.metric.Figures.Pacing;
import io.github.gatlingllm.figures.metric.Figures.Quota;
import io.github.gatlingllm.figures.metric.Figures.RateLimits;
import io.github.gatlingllm.figures.metric.ValueRecorder;
import io.github.gatlingllm.figures.metric.ValueRecorder.Moments;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.ServerReport;
import io.github.gatlingllm.record.RequestStatus;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The timings and rate limits that servers reported in their answers, and waits of the client. */
final class ServerTally {

  /** Timings with separate figures, and quotas; further ones are ignored. */
  private static final int MAX_NAMES = 40;

  private final Map<String, ValueRecorder> timings = new TreeMap<>();
  private @Nullable ValueRecorder retryAfterS;
  private final Map<String, Quota> quotas = new TreeMap<>();
  private final Moments waitsS = new Moments();
  private long passed;
  private long neverSent;

  void add(RequestRecord record) {
    ServerReport report = record.server();
    if (record.outcome().ok()) {
      report.timings().forEach(this::timing);
    }
    Long retryAfter = report.retryAfterNanos();
    if (retryAfter != null && record.outcome().status() == RequestStatus.RATE_LIMITED) {
      retries().add(retryAfter / 1e9);
    }
    report.rateLimits().forEach((key, value) -> quota(report.rateLimits(), key));
    Long wait = record.timing().pacingWaitNanos();
    if (wait != null) {
      passed++;
      if (wait > 0) {
        waitsS.add(wait / 1e9, 1);
        neverSent += record.timing().gateWaitNanos() == null ? 1 : 0;
      }
    }
  }

  private ValueRecorder retries() {
    retryAfterS = retryAfterS == null ? new ValueRecorder(ValueRecorder.MILLIONTHS) : retryAfterS;
    return retryAfterS;
  }

  private void timing(String key, double value) {
    if (timings.size() < MAX_NAMES || timings.containsKey(key)) {
      recorder(key).add(value);
    }
  }

  private ValueRecorder recorder(String key) {
    return timings.computeIfAbsent(key, k -> new ValueRecorder(ValueRecorder.MILLIONTHS));
  }

  private void quota(Map<String, Double> limits, String key) {
    String name = key.replaceFirst("_(limit|remaining)$", "");
    if (name.equals(key) || (quotas.size() >= MAX_NAMES && !quotas.containsKey(name))) {
      return;
    }
    Double limit = limits.get(name + "_limit");
    Double remaining = limits.get(name + "_remaining");
    boolean isShare = limit != null && remaining != null && limit > 0;
    join(name, new Quota(limit, remaining, isShare ? (Double) (remaining / limit) : null));
  }

  private void join(String name, Quota next) {
    quotas.merge(
        name,
        next,
        (a, b) ->
            new Quota(
                b.limit() == null ? a.limit() : b.limit(),
                min(a.lowestRemaining(), b.lowestRemaining()),
                min(a.lowestShare(), b.lowestShare())));
  }

  private static @Nullable Double min(@Nullable Double a, @Nullable Double b) {
    return a == null ? b : b == null ? a : (Double) Math.min(a, b);
  }

  void add(ServerTally other) {
    other.timings.forEach((key, values) -> recorder(key).add(values));
    if (other.retryAfterS != null) {
      retries().add(other.retryAfterS);
    }
    other.quotas.forEach(this::join);
    waitsS.add(other.waitsS);
    passed += other.passed;
    neverSent += other.neverSent;
  }

  Map<String, Distribution> timings() {
    Map<String, Distribution> all = new LinkedHashMap<>();
    timings.forEach((key, values) -> all.put(key, values.distribution()));
    return all;
  }

  @Nullable RateLimits rateLimits(Counts counts) {
    long limited = counts.of(RequestStatus.RATE_LIMITED);
    if (limited == 0 && quotas.isEmpty() && passed == 0) {
      return null;
    }
    long held = waitsS.count();
    return new RateLimits(
        limited,
        counts.ended() == 0 ? null : (Double) ((double) limited / counts.ended()),
        retryAfterS == null ? Distribution.EMPTY : retryAfterS.distribution(),
        Collections.unmodifiableMap(quotas),
        passed == 0
            ? null
            : new Pacing(
                passed,
                held,
                neverSent,
                held == 0 ? null : (Double) waitsS.mean(),
                held == 0 ? null : (Double) waitsS.max()));
  }
}
