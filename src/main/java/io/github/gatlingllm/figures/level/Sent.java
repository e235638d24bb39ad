package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;

/** What was sent to a target over the entire run, to be compared with what its engine counted. */
final class Sent {
  long from = Long.MAX_VALUE;
  long to = Long.MIN_VALUE;

  /** An engine counts each text to embed as a request. */
  long requests;

  long ok;
  long abandoned;
  long tokens;
  private double onlyOurs;
  private double bothByServer;
  private double bothByUs;

  void add(RequestRecord record, long admitted) {
    Long closed = record.timing().closedUnixNanos();
    from = Math.min(from, admitted);
    to = Math.max(to, closed == null ? admitted : closed);
    RequestRecord.Tokens of = record.tokens();
    requests += of.inputs() == null ? 1 : of.inputs();
    ok += record.outcome().ok() ? 1 : 0;
    abandoned += record.outcome().status() == RequestStatus.ABANDONED ? 1 : 0;
    int all = of.outputTokens() == null ? 0 : of.outputTokens();
    tokens += all;
    Integer ours = of.outputTokensLocal();
    if (of.source() == RequestRecord.TokenSource.TOKENIZER) {
      onlyOurs += all;
    } else if (ours != null && of.streamedTokens() != null) {
      bothByServer += of.streamedTokens();
      bothByUs += ours;
    }
  }

  /** See {@link io.github.gatlingllm.figures.metric.EngineFigures.EngineRun}. */
  double tokensByServer() {
    double perOurs = bothByUs > 0 && bothByServer > 0 ? bothByServer / bothByUs : 1;
    return tokens + onlyOurs * (perOurs - 1);
  }

  void add(Sent other) {
    from = Math.min(from, other.from);
    to = Math.max(to, other.to);
    requests += other.requests;
    ok += other.ok;
    abandoned += other.abandoned;
    tokens += other.tokens;
    onlyOurs += other.onlyOurs;
    bothByServer += other.bothByServer;
    bothByUs += other.bothByUs;
  }
}
