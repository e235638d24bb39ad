package io.github.gatlingllm.metric;

import java.util.Locale;

/**
 * The metrics that have a distribution, in the order in which tables show them. Formulas: {@code
 * docs/metrics.md}.
 */
public enum Metric {
  /** first token − admitted. */
  TTFT_MS("TTFT", "first token − admitted"),
  /** first token − scheduled. */
  TTFT_FROM_SCHEDULE_MS("TTFT from schedule", "first token − scheduled"),
  /** first token that is not reasoning − admitted. */
  TTFO_MS("TTFO", "first output token that is not reasoning − admitted"),
  /** gap ÷ tokens in the chunk that ended it, once per token. */
  ITL_MS("ITL", "gap ÷ tokens in the chunk that ended it, once per token"),
  /** gap between consecutive token-bearing events, raw. */
  ICL_MS("ICL", "gap between consecutive token-bearing events"),
  /** (last token − first token) ÷ (N − 1). */
  TPOT_MS("TPOT", "(last token − first token) ÷ (N − 1)"),
  /** last token − admitted. */
  E2E_MS("E2E", "last token − admitted"),
  /** last token − scheduled. */
  E2E_FROM_SCHEDULE_MS("E2E from schedule", "last token − scheduled"),
  /** E2E ÷ N. */
  E2E_PER_TOKEN_MS("E2E per token", "E2E ÷ N"),
  /** admitted − scheduled. */
  QUEUE_WAIT_MS("Queue wait", "admitted − scheduled"),
  /** written − admitted. */
  CONNECT_MS("Connection wait", "written − admitted"),
  /** largest gap of a request. */
  STALL_MS("Longest stall", "largest gap of a request"),
  /** prompt tokens of a request. */
  PROMPT_TOKENS("Prompt tokens", "prompt tokens of a request"),
  /** output tokens of a request, reasoning included. */
  OUTPUT_TOKENS("Output tokens", "output tokens of a request, reasoning included");

  private final String key = name().toLowerCase(Locale.ROOT);
  private final String title;
  private final String formula;

  Metric(String title, String formula) {
    this.title = title;
    this.formula = formula;
  }

  /** The name used in files, unit at its end: {@code ttft_ms}. */
  public String key() {
    return key;
  }

  /** The name people read. */
  public String title() {
    return title;
  }

  /** The definition in one line. */
  public String formula() {
    return formula;
  }

  /** {@code ms} or {@code tokens}. */
  public String unit() {
    return isTime() ? "ms" : "tokens";
  }

  /** Whether it is a time, where lower is better; a token count is neither good nor bad. */
  public boolean isTime() {
    return key.endsWith("_ms");
  }

  /** Whether one request has many values, pooled over all requests: they are not independent. */
  public boolean isPooled() {
    return this == ITL_MS || this == ICL_MS;
  }
}
