package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.javaapi.LlmAssertion.WithCount;
import io.github.gatlingllm.javaapi.LlmAssertion.WithGoodput;
import io.github.gatlingllm.javaapi.LlmAssertion.WithMetric;
import io.github.gatlingllm.javaapi.LlmAssertion.WithTotal;
import io.github.gatlingllm.record.Assertion.Scope;
import io.github.gatlingllm.record.RequestStatus;
import org.jspecify.annotations.Nullable;

/** Step 2 of an assertion: which figure of the requests. Formulas: {@code docs/metrics.md}. */
public final class AssertionScope {

  private final AssertionFigure requests;

  AssertionScope(Scope scope, @Nullable String name) {
    requests = new AssertionFigure(scope, name, "");
  }

  private WithMetric<TimeCondition> time(String metric) {
    return new WithMetric<>(requests.and(metric), TimeCondition::new);
  }

  private WithMetric<AssertionCondition> amount(String metric) {
    return new WithMetric<>(requests.and(metric), AssertionCondition::new);
  }

  private AssertionCondition number(String figure) {
    return requests.and(figure).number();
  }

  private WithCount requests(String kind) {
    return new WithCount(requests.and(kind));
  }

  /** Time to first token, from admission. */
  public WithMetric<TimeCondition> ttft() {
    return time("ttft");
  }

  /** Time to first token, from the planned arrival. */
  public WithMetric<TimeCondition> ttftFromSchedule() {
    return time("ttft_from_schedule");
  }

  /** Time to first token that is not reasoning, from admission. */
  public WithMetric<TimeCondition> ttfo() {
    return time("ttfo");
  }

  /** Gaps between tokens, of all requests pooled. */
  public WithMetric<TimeCondition> itl() {
    return time("itl");
  }

  /** Gaps between token-bearing events, of all requests pooled. */
  public WithMetric<TimeCondition> icl() {
    return time("icl");
  }

  /** Mean time per output token after the first. */
  public WithMetric<TimeCondition> tpot() {
    return time("tpot");
  }

  /** Time to the last token, from admission. */
  public WithMetric<TimeCondition> e2e() {
    return time("e2e");
  }

  /** Time to the last token, from the planned arrival. */
  public WithMetric<TimeCondition> e2eFromSchedule() {
    return time("e2e_from_schedule");
  }

  /** Time to the last token ÷ tokens. */
  public WithMetric<TimeCondition> e2ePerToken() {
    return time("e2e_per_token");
  }

  /** Waiting inside the client: from the planned arrival to admission. */
  public WithMetric<TimeCondition> queueWait() {
    return time("queue_wait");
  }

  /** Waiting for a connection. */
  public WithMetric<TimeCondition> connect() {
    return time("connect");
  }

  /** Longest gap of each request. */
  public WithMetric<TimeCondition> stall() {
    return time("stall");
  }

  /** Tokens of the prompts. */
  public WithMetric<AssertionCondition> promptTokens() {
    return amount("prompt_tokens");
  }

  /** Generated tokens, reasoning included. */
  public WithMetric<AssertionCondition> outputTokens() {
    return amount("output_tokens");
  }

  /** Tokens per second that each user sees, TTFT included. */
  public WithMetric<AssertionCondition> userTokensPerSec() {
    return amount("user_tokens_per_s");
  }

  /** Tokens per second of each answer after its first token: 1 ÷ TPOT. */
  public WithMetric<AssertionCondition> decodeTokensPerSec() {
    return amount("decode_tokens_per_s");
  }

  /** Effective prefill rate of each prompt: tokens that were not cached ÷ TTFT. */
  public WithMetric<AssertionCondition> prefillTokensPerSec() {
    return amount("prefill_tokens_per_s");
  }

  /** Tokens that arrived in the measure window ÷ window. */
  public AssertionCondition outputTokensPerSec() {
    return number("output_tokens_per_s");
  }

  /** As {@link #outputTokensPerSec()}, with prompt tokens. */
  public AssertionCondition totalTokensPerSec() {
    return number("total_tokens_per_s");
  }

  /** All output tokens ÷ the time from the first start to the last end. */
  public AssertionCondition wallOutputTokensPerSec() {
    return number("wall_output_tokens_per_s");
  }

  /** Successful requests that ended in the measure window ÷ window. */
  public AssertionCondition requestsPerSec() {
    return number("requests_per_s");
  }

  /** Pooled ITL p99 ÷ p50: 1 is ideal, above 3 are visible pauses. */
  public AssertionCondition jitter() {
    return number("jitter");
  }

  /** Median over requests of their own ITL p99 ÷ p50. */
  public AssertionCondition jitterPerRequest() {
    return number("jitter_per_request");
  }

  /** Gaps over 100 ms per 1,000 output tokens. */
  public AssertionCondition stallsPer1kTokens() {
    return number("stalls_per_1k_tokens");
  }

  /** Output tokens ÷ token-bearing events. */
  public AssertionCondition batchRatio() {
    return number("batch_ratio");
  }

  /** What met every objective of the SLO. */
  public WithGoodput goodput() {
    return new WithGoodput(requests.and("goodput"));
  }

  /** All requests that were started in measure windows. */
  public WithTotal allRequests() {
    return new WithTotal(requests.and("started"));
  }

  /** Requests that ended by themselves and are not ok. */
  public WithCount failedRequests() {
    return requests("errors");
  }

  /** Requests that are complete and passed their checks. */
  public WithCount successfulRequests() {
    return requests("ok");
  }

  /** Requests that ended that way. */
  public WithCount status(RequestStatus status) {
    return requests(status.key());
  }
}
