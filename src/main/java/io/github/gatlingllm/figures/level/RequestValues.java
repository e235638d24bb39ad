package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.RequestRecord;
import java.util.List;
import java.util.function.ObjDoubleConsumer;

/** The values of a request by metric, computed once; one object serves one after the other. */
final class RequestValues {

  private static final List<Metric> METRICS = Metric.ofRequests();
  private static final int READER = METRICS.indexOf(Metric.READER_STALL_MS);

  private final double readingSpeed;

  /** NaN where the request has no value. */
  private final double[] values = new double[METRICS.size()];

  RequestValues(double readingSpeed) {
    this.readingSpeed = readingSpeed;
  }

  /** Reads them; a request that is not ok has only times to its first token. */
  void read(RequestRecord record) {
    boolean ok = record.outcome().ok();
    for (int i = 0; i < values.length; i++) {
      Metric metric = METRICS.get(i);
      values[i] = ok || metric.isOfFirstToken() ? metric.of(record, readingSpeed) : Double.NaN;
    }
  }

  /** Whether the request has the metric {@code READER_STALL_MS}. */
  boolean hasReader() {
    return !Double.isNaN(values[READER]);
  }

  /** Whether somebody who reads the answer waits for a late token. */
  boolean readerStalls() {
    return values[READER] > 0;
  }

  void forEach(ObjDoubleConsumer<Metric> visitor) {
    for (int i = 0; i < values.length; i++) {
      if (!Double.isNaN(values[i])) {
        visitor.accept(METRICS.get(i), values[i]);
      }
    }
  }
}
