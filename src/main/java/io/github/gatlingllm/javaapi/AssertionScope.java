package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.javaapi.AssertionCondition.AssertionFigure;
import io.github.gatlingllm.javaapi.LlmAssertion.WithCount;
import io.github.gatlingllm.javaapi.LlmAssertion.WithGoodput;
import io.github.gatlingllm.javaapi.LlmAssertion.WithMetric;
import io.github.gatlingllm.javaapi.LlmAssertion.WithTotal;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.record.Assertion.Scope;
import io.github.gatlingllm.record.RequestStatus;
import org.jspecify.annotations.Nullable;

/** Step 2 of an assertion: which figure of the requests. Formulas: {@code docs/metrics.md}. */
public final class AssertionScope {

  private final AssertionFigure requests;

  AssertionScope(Scope scope, @Nullable String name) {
    requests = new AssertionFigure(scope, name, "");
  }

  private WithMetric<TimeCondition> time(Metric metric) {
    return new WithMetric<>(requests.and(metric.figure()), TimeCondition::new);
  }

  private WithMetric<AssertionCondition> amount(Metric metric) {
    return new WithMetric<>(requests.and(metric.figure()), AssertionCondition::new);
  }

  private AssertionCondition number(Metric metric) {
    return requests.and(metric.figure()).number();
  }

  private WithCount requestsOf(Metric kind) {
    return new WithCount(requests.and(kind.figure()));
  }

  /** Time to first token, from admission. */
  public WithMetric<TimeCondition> ttft() {
    return time(Metric.TTFT_MS);
  }

  /** Time to first token, from the planned arrival. */
  public WithMetric<TimeCondition> ttftFromSchedule() {
    return time(Metric.TTFT_FROM_SCHEDULE_MS);
  }

  /** Time to first token that is not reasoning, from admission. */
  public WithMetric<TimeCondition> ttfo() {
    return time(Metric.TTFO_MS);
  }

  /** Time to first token that is not reasoning, from the planned arrival. */
  public WithMetric<TimeCondition> ttfoFromSchedule() {
    return time(Metric.TTFO_FROM_SCHEDULE_MS);
  }

  /** Time to second token: from the first token-bearing event to the second. */
  public WithMetric<TimeCondition> ttst() {
    return time(Metric.TTST_MS);
  }

  /** Gaps between tokens, of all requests pooled. */
  public WithMetric<TimeCondition> itl() {
    return time(Metric.ITL_MS);
  }

  /** Gaps between token-bearing events, of all requests pooled. */
  public WithMetric<TimeCondition> icl() {
    return time(Metric.ICL_MS);
  }

  /** Mean time per output token after the first. */
  public WithMetric<TimeCondition> tpot() {
    return time(Metric.TPOT_MS);
  }

  /** Time to the last token, from admission. */
  public WithMetric<TimeCondition> e2e() {
    return time(Metric.E2E_MS);
  }

  /** Time to the last token, from the planned arrival. */
  public WithMetric<TimeCondition> e2eFromSchedule() {
    return time(Metric.E2E_FROM_SCHEDULE_MS);
  }

  /** How long requests took that ended by themselves and are not ok, from admission. */
  public WithMetric<TimeCondition> failedE2e() {
    return time(Metric.FAILED_E2E_MS);
  }

  /** Time to the last token ÷ tokens. */
  public WithMetric<TimeCondition> e2ePerToken() {
    return time(Metric.E2E_PER_TOKEN_MS);
  }

  /** Waiting inside the client: from the planned arrival to admission. */
  public WithMetric<TimeCondition> queueWait() {
    return time(Metric.QUEUE_WAIT_MS);
  }

  /** Waiting for a connection. */
  public WithMetric<TimeCondition> connect() {
    return time(Metric.CONNECT_MS);
  }

  /** Longest gap of each request. */
  public WithMetric<TimeCondition> stall() {
    return time(Metric.STALL_MS);
  }

  /** What a reader at the reading speed waits in all for late tokens of an answer. */
  public WithMetric<TimeCondition> readerStall() {
    return time(Metric.READER_STALL_MS);
  }

  /** Tokens of the prompts. */
  public WithMetric<AssertionCondition> promptTokens() {
    return amount(Metric.PROMPT_TOKENS);
  }

  /** Generated tokens, reasoning included. */
  public WithMetric<AssertionCondition> outputTokens() {
    return amount(Metric.OUTPUT_TOKENS);
  }

  /** Tokens per second that each user sees, TTFT included. */
  public WithMetric<AssertionCondition> userTokensPerSec() {
    return amount(Metric.USER_TOKENS_PER_S);
  }

  /** Tokens per second of each answer after its first token: 1 ÷ TPOT. */
  public WithMetric<AssertionCondition> decodeTokensPerSec() {
    return amount(Metric.DECODE_TOKENS_PER_S);
  }

  /** Effective prefill rate of each prompt: tokens that were not cached ÷ TTFT. */
  public WithMetric<AssertionCondition> prefillTokensPerSec() {
    return amount(Metric.PREFILL_TOKENS_PER_S);
  }

  /** Tokens that arrived in the measure window ÷ window. */
  public AssertionCondition outputTokensPerSec() {
    return number(Metric.OUTPUT_TOKENS_PER_S);
  }

  /** As {@link #outputTokensPerSec()}, with reasoning that was billed and never streamed. */
  public AssertionCondition billedOutputTokensPerSec() {
    return number(Metric.BILLED_OUTPUT_TOKENS_PER_S);
  }

  /** Tokens that arrived in the best whole second of the measure window. */
  public AssertionCondition peakOutputTokensPerSec() {
    return number(Metric.PEAK_OUTPUT_TOKENS_PER_S);
  }

  /** {@link #outputTokensPerSec()} ÷ the GPUs of the target. */
  public AssertionCondition outputTokensPerSecPerGpu() {
    return number(Metric.OUTPUT_TOKENS_PER_S_PER_GPU);
  }

  /** Mean power of the target's GPUs in W, where the server's metrics tell it. */
  public AssertionCondition power() {
    return number(Metric.POWER_W);
  }

  /** {@link #outputTokensPerSec()} ÷ {@link #power()}, where the server's metrics tell it. */
  public AssertionCondition outputTokensPerJoule() {
    return number(Metric.OUTPUT_TOKENS_PER_JOULE);
  }

  /** What a million output tokens cost, with {@code costPerHour}. */
  public AssertionCondition costPerMillionOutputTokens() {
    return number(Metric.COST_PER_MILLION_OUTPUT_TOKENS);
  }

  /** What a million tokens within the SLO cost, with {@code costPerHour}. */
  public AssertionCondition costPerMillionTokensInSlo() {
    return number(Metric.COST_PER_MILLION_SLO_TOKENS);
  }

  /** Prompt tokens of requests whose first token came in the measure window ÷ window. */
  public AssertionCondition inputTokensPerSec() {
    return number(Metric.INPUT_TOKENS_PER_S);
  }

  /** As {@link #outputTokensPerSec()}, with prompt tokens. */
  public AssertionCondition totalTokensPerSec() {
    return number(Metric.TOTAL_TOKENS_PER_S);
  }

  /** All output tokens ÷ the time from the first start to the last end. */
  public AssertionCondition wallOutputTokensPerSec() {
    return number(Metric.WALL_OUTPUT_TOKENS_PER_S);
  }

  /** Successful requests that ended in the measure window ÷ window. */
  public AssertionCondition requestsPerSec() {
    return number(Metric.REQUESTS_PER_S);
  }

  /** Texts embedded by successful requests that ended in the measure window ÷ window. */
  public AssertionCondition inputsPerSec() {
    return number(Metric.INPUTS_PER_S);
  }

  /** Requests in flight, mean over the measure window. */
  public AssertionCondition effectiveConcurrency() {
    return number(Metric.EFFECTIVE_CONCURRENCY);
  }

  /** Requests between their first and last token, mean over the measure window. */
  public AssertionCondition activeConcurrency() {
    return number(Metric.ACTIVE_CONCURRENCY);
  }

  /** Most requests in flight at one of 100 instants a second of the measure window. */
  public AssertionCondition peakInFlight() {
    return number(Metric.PEAK_IN_FLIGHT);
  }

  /** Pooled ITL p99 ÷ p50: 1 is ideal, above 3 are visible pauses. */
  public AssertionCondition jitter() {
    return number(Metric.JITTER);
  }

  /** Median over requests of their own ITL p99 ÷ p50. */
  public AssertionCondition jitterPerRequest() {
    return number(Metric.JITTER_PER_REQUEST);
  }

  /** Gaps over 100 ms per 1,000 output tokens. */
  public AssertionCondition stallsPer1kTokens() {
    return number(Metric.STALLS_PER_1K_TOKENS);
  }

  /** Output tokens ÷ token-bearing events. */
  public AssertionCondition batchRatio() {
    return number(Metric.BATCH_RATIO);
  }

  /** Percentage of readers at the reading speed who wait for a late token. */
  public AssertionCondition readersStalled() {
    return number(Metric.READERS_STALLED);
  }

  /** What met every objective of the SLO. */
  public WithGoodput goodput() {
    return new WithGoodput(requests.and("goodput"));
  }

  /** All requests that were started in measure windows. */
  public WithTotal allRequests() {
    return new WithTotal(requests.and(Metric.STARTED.figure()));
  }

  /**
   * Requests that ended by themselves and are not ok; those that a rate limit of the server turned
   * away ({@code status(RATE_LIMITED)}) are none.
   */
  public WithCount failedRequests() {
    return requestsOf(Metric.ERRORS);
  }

  /** Requests that are complete and passed their checks. */
  public WithCount successfulRequests() {
    return requestsOf(Metric.OK);
  }

  /** Requests that ended that way. */
  public WithCount status(RequestStatus status) {
    return new WithCount(requests.and(status.key()));
  }
}
