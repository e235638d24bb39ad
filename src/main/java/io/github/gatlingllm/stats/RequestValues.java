package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.TokenGaps;
import org.jspecify.annotations.Nullable;

/** The values of an ok request by metric: one each, but for its gaps. */
final class RequestValues {

  private static final double NANOS_PER_MS = 1e6;

  private final RequestRecord record;
  private final Visitor visitor;

  /** Receives the values, in milliseconds or tokens. */
  @FunctionalInterface
  interface Visitor {
    void value(Metric metric, double value, int count);
  }

  private RequestValues(RequestRecord record, Visitor visitor) {
    this.record = record;
    this.visitor = visitor;
  }

  /** All values but those of gaps. */
  static void visit(RequestRecord record, Visitor visitor) {
    new RequestValues(record, visitor).visit();
  }

  /** Every gap: as it is, and shared among the tokens that ended it. */
  static void visitGaps(RequestRecord record, Visitor visitor) {
    TokenGaps.visit(
        record.events(),
        record.tokens(),
        (i, chunkMicros, tokenMicros, count) -> {
          visitor.value(Metric.ICL_MS, chunkMicros / 1e3, 1);
          visitor.value(Metric.ITL_MS, tokenMicros / 1e3, count);
        });
  }

  private void visit() {
    RequestRecord.Timing t = record.timing();
    time(Metric.TTFT_MS, t.ttftNanos());
    time(Metric.TTFT_FROM_SCHEDULE_MS, t.ttftFromScheduleNanos());
    time(Metric.TTFO_MS, t.ttfoNanos());
    time(Metric.E2E_MS, t.latencyNanos());
    time(Metric.E2E_FROM_SCHEDULE_MS, t.latencyFromScheduleNanos());
    time(Metric.QUEUE_WAIT_MS, t.queueWaitNanos());
    time(Metric.CONNECT_MS, t.connectNanos());
    time(Metric.STALL_MS, record.events().longestGapNanos());
    Double tpot = t.tpotNanos();
    if (tpot != null) {
      visitor.value(Metric.TPOT_MS, tpot / NANOS_PER_MS, 1);
    }
    Integer n = TokenArrivals.tokensOf(record);
    Long latency = t.latencyNanos();
    if (n != null && n > 0 && latency != null && latency > 0) {
      visitor.value(Metric.E2E_PER_TOKEN_MS, latency / NANOS_PER_MS / n, 1);
    }
    tokens(Metric.PROMPT_TOKENS, TokenArrivals.promptTokensOf(record));
    tokens(Metric.OUTPUT_TOKENS, record.tokens().outputTokens());
  }

  private void time(Metric metric, @Nullable Long nanos) {
    if (nanos != null) {
      visitor.value(metric, nanos / NANOS_PER_MS, 1);
    }
  }

  private void tokens(Metric metric, @Nullable Integer tokens) {
    if (tokens != null) {
      visitor.value(metric, tokens, 1);
    }
  }
}
