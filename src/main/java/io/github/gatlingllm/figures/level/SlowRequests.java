package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.RunStatistics.SlowRequest;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.RequestRecord;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/** The slowest requests of the measure windows that have an id to look for elsewhere. */
final class SlowRequests {

  private static final List<Metric> BY = List.of(Metric.TTFT_MS, Metric.STALL_MS);

  private static final int MAX = 10;

  /** Of equally slow requests the one that came first is the slower. */
  private static final Comparator<SlowRequest> ORDER =
      Comparator.comparing(SlowRequest::ms)
          .thenComparing(each -> -each.record().identity().requestIndex());

  private final Map<Metric, PriorityQueue<SlowRequest>> slowest = new LinkedHashMap<>();

  SlowRequests() {
    BY.forEach(metric -> slowest.put(metric, new PriorityQueue<>(ORDER)));
  }

  void add(RequestRecord record) {
    if (record.identity().traceId() == null && record.server().answerId() == null) {
      return;
    }
    slowest.forEach(
        (metric, queue) -> {
          double ms = metric.of(record, 0);
          if (ms >= 0 && (queue.size() < MAX || queue.element().ms() < ms)) {
            queue.add(new SlowRequest(metric, ms, record));
            if (queue.size() > MAX) {
              queue.remove();
            }
          }
        });
  }

  /** By each metric, the slowest first. */
  List<SlowRequest> all() {
    return slowest.values().stream()
        .flatMap(queue -> queue.stream().sorted(ORDER.reversed()))
        .toList();
  }
}
