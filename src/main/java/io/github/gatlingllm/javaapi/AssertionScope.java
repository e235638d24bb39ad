package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.javaapi.LlmAssertion.WithCount;
import io.github.gatlingllm.javaapi.LlmAssertion.WithGoodput;
import io.github.gatlingllm.javaapi.LlmAssertion.WithMetric;
import io.github.gatlingllm.javaapi.LlmAssertion.WithTotal;
import io.github.gatlingllm.record.Objectives.Scope;
import io.github.gatlingllm.record.RequestStatus;
import org.jspecify.annotations.Nullable;

/** Step 2 of an assertion: the figure. {@code docs/metrics.md} has the formulas. */
public final class AssertionScope {

  private final AssertionCondition requests;

  AssertionScope(Scope scope, @Nullable String name) {
    requests = new AssertionCondition(scope, name);
  }

  private WithMetric<TimeCondition> time(Metric metric) {
    return new WithMetric<>(requests.on(metric.figure()), TimeCondition::new);
  }

  private WithMetric<AssertionCondition> amount(Metric metric) {
    return new WithMetric<>(requests.on(metric.figure()), figure -> figure);
  }

  private AssertionCondition number(Metric metric) {
    return requests.on(metric.figure());
  }

  private WithCount requestsOf(Metric kind) {
    return new WithCount(requests.on(kind.figure()));
  }

  /** Time to first token, from admission, in ms. */
  public WithMetric<TimeCondition> ttft() {
    return time(Metric.TTFT_MS);
  }

  /** Time to first token, from the planned arrival, in ms. */
  public WithMetric<TimeCondition> ttftFromSchedule() {
    return time(Metric.TTFT_FROM_SCHEDULE_MS);
  }

  /** Time to first token that is not reasoning, from admission, in ms. */
  public WithMetric<TimeCondition> ttfo() {
    return time(Metric.TTFO_MS);
  }

  /** Time to first token that is not reasoning, from the planned arrival, in ms. */
  public WithMetric<TimeCondition> ttfoFromSchedule() {
    return time(Metric.TTFO_FROM_SCHEDULE_MS);
  }

  /** Time to second token: from the first event with tokens to the second one, in ms. */
  public WithMetric<TimeCondition> ttst() {
    return time(Metric.TTST_MS);
  }

  /** Inter-token latency: gaps between tokens, pooled over all requests, in ms. */
  public WithMetric<TimeCondition> itl() {
    return time(Metric.ITL_MS);
  }

  /** Inter-chunk latency: gaps between events with tokens, pooled over all requests, in ms. */
  public WithMetric<TimeCondition> icl() {
    return time(Metric.ICL_MS);
  }

  /** Time per output token: the mean time of each token after the first, in ms. */
  public WithMetric<TimeCondition> tpot() {
    return time(Metric.TPOT_MS);
  }

  /** Time to the last token, from admission, in ms. */
  public WithMetric<TimeCondition> e2e() {
    return time(Metric.E2E_MS);
  }

  /** Time to the last token, from the planned arrival, in ms. */
  public WithMetric<TimeCondition> e2eFromSchedule() {
    return time(Metric.E2E_FROM_SCHEDULE_MS);
  }

  /** Time to the end of failed requests, from admission, in ms. */
  public WithMetric<TimeCondition> failedE2e() {
    return time(Metric.FAILED_E2E_MS);
  }

  /** Time to the last token ÷ output tokens, in ms. */
  public WithMetric<TimeCondition> e2ePerToken() {
    return time(Metric.E2E_PER_TOKEN_MS);
  }

  /** Time of a replayed session, to the end of its last answer, in ms. */
  public WithMetric<TimeCondition> session() {
    return time(Metric.SESSION_MS);
  }

  /** Part of a replayed session in which it waited for tools, in ms. */
  public WithMetric<TimeCondition> sessionTools() {
    return time(Metric.SESSION_TOOLS_MS);
  }

  /** Part of a replayed session in which it waited for the server, in ms. */
  public WithMetric<TimeCondition> sessionServer() {
    return time(Metric.SESSION_SERVER_MS);
  }

  /** Wait inside the client, from the planned arrival to admission, in ms. */
  public WithMetric<TimeCondition> queueWait() {
    return time(Metric.QUEUE_WAIT_MS);
  }

  /** Wait for a connection, in ms. */
  public WithMetric<TimeCondition> connect() {
    return time(Metric.CONNECT_MS);
  }

  /** TCP handshake of the request's connection, in ms; on Linux only. */
  public WithMetric<TimeCondition> roundTrip() {
    return time(Metric.ROUND_TRIP_MS);
  }

  /** Longest gap between tokens of each request, in ms. */
  public WithMetric<TimeCondition> stall() {
    return time(Metric.STALL_MS);
  }

  /** Total wait for late tokens of an answer, of a reader at the reading speed, in ms. */
  public WithMetric<TimeCondition> readerStall() {
    return time(Metric.READER_STALL_MS);
  }

  /** Tokens of each prompt. */
  public WithMetric<AssertionCondition> promptTokens() {
    return amount(Metric.PROMPT_TOKENS);
  }

  /** Generated tokens of each request, reasoning included. */
  public WithMetric<AssertionCondition> outputTokens() {
    return amount(Metric.OUTPUT_TOKENS);
  }

  /** Tokens per second of each answer, TTFT included. */
  public WithMetric<AssertionCondition> userTokensPerSec() {
    return amount(Metric.USER_TOKENS_PER_S);
  }

  /** Tokens per second of each answer after its first token: 1 ÷ TPOT. */
  public WithMetric<AssertionCondition> decodeTokensPerSec() {
    return amount(Metric.DECODE_TOKENS_PER_S);
  }

  /** Prefill rate of each prompt: tokens that were not cached ÷ TTFT, per second. */
  public WithMetric<AssertionCondition> prefillTokensPerSec() {
    return amount(Metric.PREFILL_TOKENS_PER_S);
  }

  /** Tokens that arrived in the measure window ÷ window. */
  public AssertionCondition outputTokensPerSec() {
    return number(Metric.OUTPUT_TOKENS_PER_S);
  }

  /** As {@link #outputTokensPerSec()}, with reasoning tokens that were billed but not streamed. */
  public AssertionCondition billedOutputTokensPerSec() {
    return number(Metric.BILLED_OUTPUT_TOKENS_PER_S);
  }

  /** Maximum number of tokens that arrived in a full second of the measure window. */
  public AssertionCondition peakOutputTokensPerSec() {
    return number(Metric.PEAK_OUTPUT_TOKENS_PER_S);
  }

  /** {@link #outputTokensPerSec()} ÷ the GPUs of the target. */
  public AssertionCondition outputTokensPerSecPerGpu() {
    return number(Metric.OUTPUT_TOKENS_PER_S_PER_GPU);
  }

  /**
   * {@link #outputTokensPerSec()} of a load level ÷ the tokens per second of the warm-up's last
   * request, which is sent alone; absent for several levels together.
   */
  public AssertionCondition batchingGain() {
    return number(Metric.BATCHING_GAIN);
  }

  /** Mean power of the target's GPUs in W; absent if the server's metrics lack it. */
  public AssertionCondition power() {
    return number(Metric.POWER_W);
  }

  /** {@link #outputTokensPerSec()} ÷ {@link #power()}; absent if the power is not known. */
  public AssertionCondition outputTokensPerJoule() {
    return number(Metric.OUTPUT_TOKENS_PER_JOULE);
  }

  /** Cost of a million output tokens; needs {@link LlmProtocolBuilder#costPerHour}. */
  public AssertionCondition costPerMillionOutputTokens() {
    return number(Metric.COST_PER_MILLION_OUTPUT_TOKENS);
  }

  /**
   * Cost of a million output tokens of requests within the SLO; needs {@link
   * LlmProtocolBuilder#costPerHour}.
   */
  public AssertionCondition costPerMillionTokensInSlo() {
    return number(Metric.COST_PER_MILLION_SLO_TOKENS);
  }

  /** Prompt tokens of requests whose first token arrived in the measure window ÷ window. */
  public AssertionCondition inputTokensPerSec() {
    return number(Metric.INPUT_TOKENS_PER_S);
  }

  /** {@link #outputTokensPerSec()} + {@link #inputTokensPerSec()}. */
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

  /** Mean number of requests in flight over the measure window. */
  public AssertionCondition effectiveConcurrency() {
    return number(Metric.EFFECTIVE_CONCURRENCY);
  }

  /** Mean number of requests between first and last token over the measure window. */
  public AssertionCondition activeConcurrency() {
    return number(Metric.ACTIVE_CONCURRENCY);
  }

  /** Maximum number of requests in flight in the measure window, sampled 100 times a second. */
  public AssertionCondition peakInFlight() {
    return number(Metric.PEAK_IN_FLIGHT);
  }

  /** Seconds from the first planned instant of a load level to the first token of an answer. */
  public AssertionCondition coldStart() {
    return number(Metric.COLD_START_S);
  }

  /** p99 ÷ p50 of the pooled inter-token gaps: 1 is ideal, above 3 pauses are visible. */
  public AssertionCondition jitter() {
    return number(Metric.JITTER);
  }

  /** Median over requests of p99 ÷ p50 of their inter-token gaps. */
  public AssertionCondition jitterPerRequest() {
    return number(Metric.JITTER_PER_REQUEST);
  }

  /** Number of gaps over 100 ms per 1,000 output tokens. */
  public AssertionCondition stallsPer1kTokens() {
    return number(Metric.STALLS_PER_1K_TOKENS);
  }

  /** Output tokens ÷ events with tokens. */
  public AssertionCondition batchRatio() {
    return number(Metric.BATCH_RATIO);
  }

  /** Replayed sessions in which all answers were ok. */
  public AssertionCondition sessionsCompleted() {
    return number(Metric.SESSIONS_COMPLETED);
  }

  /** Replayed sessions that a failed request ended. */
  public AssertionCondition sessionsFailed() {
    return number(Metric.SESSIONS_FAILED);
  }

  /** Replayed sessions that ended where a prompt exceeded the context length. */
  public AssertionCondition sessionsOutOfContext() {
    return number(Metric.SESSIONS_OUT_OF_CONTEXT);
  }

  /** Percentage of prompt tokens that came from the server's prefix cache. */
  public AssertionCondition cachedPercent() {
    return number(Metric.CACHED_PERCENT);
  }

  /** Percentage of prompt tokens that an earlier request of the run had sent. */
  public AssertionCondition idealCachedPercent() {
    return number(Metric.IDEAL_CACHED_PERCENT);
  }

  /** Ideal minus actual percentage of prompt tokens from the prefix cache. */
  public AssertionCondition cacheGapPercent() {
    return number(Metric.CACHE_GAP_PERCENT);
  }

  /** Requests and tokens that met every objective of the SLO. */
  public WithGoodput goodput() {
    return new WithGoodput(requests.on("goodput"));
  }

  /** All requests that started in measure windows. */
  public WithTotal allRequests() {
    return new WithTotal(requests.on(Metric.STARTED.figure()));
  }

  /**
   * Failed requests: those that ended by themselves and are not ok. Requests rejected by a rate
   * limit of the server are not failed requests; see {@code status(RATE_LIMITED)}.
   */
  public WithCount failedRequests() {
    return requestsOf(Metric.ERRORS);
  }

  /** Requests with a complete answer that passed their checks. */
  public WithCount successfulRequests() {
    return requestsOf(Metric.OK);
  }

  /** Requests with this status. */
  public WithCount status(RequestStatus status) {
    return new WithCount(requests.on(status.key()));
  }
}
