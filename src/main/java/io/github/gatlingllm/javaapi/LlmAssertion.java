package io.github.gatlingllm.javaapi;

import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.Objectives.Assertion;
import java.util.function.Function;

/**
 * A condition on a figure of the run. An assertion that is not met fails the build, as Gatling's
 * own assertions do.
 *
 * <pre>{@code
 * llm.baseUrl(url).assertions(
 *     llmGlobal().ttft().percentile(99).lt(200),
 *     llmDetails("ask").goodput().percent().gte(95),
 *     llmStage("c=8").tpot().mean().lt(40),
 *     llmGlobal().status(RequestStatus.TRUNCATED).count().is(0))
 * }</pre>
 *
 * <p>An assertion on a figure without a value is not met, for example if no request succeeded or no
 * request has that name.
 */
public final class LlmAssertion {

  private final Assertion assertion;

  LlmAssertion(Assertion assertion) {
    this.assertion = assertion;
  }

  Assertion assertion() {
    return assertion;
  }

  /** Step 3 of an assertion on a value of each request: the figure of its distribution. */
  public static final class WithMetric<C extends AssertionCondition> {

    private final AssertionCondition metric;
    private final Function<AssertionCondition, C> next;

    WithMetric(AssertionCondition metric, Function<AssertionCondition, C> next) {
      this.metric = metric;
      this.next = next;
    }

    /**
     * A percentile by the nearest-rank method, above 0 and at most 100, e.g. 99.9: the smallest
     * value that is at least as large as this percentage of all values.
     */
    public C percentile(double percent) {
      if (!(percent > 0 && percent <= 100)) {
        throw InvalidSimulation.because(
            "percentile(" + percent + "): expected a number above 0, at most 100");
      }
      return next.apply(metric.on("p" + NumberText.plain(percent)));
    }

    /** The mean. */
    public C mean() {
      return next.apply(metric.on("mean"));
    }

    /** The smallest value. */
    public C min() {
      return next.apply(metric.on("min"));
    }

    /** The largest value. */
    public C max() {
      return next.apply(metric.on("max"));
    }

    /** The population's standard deviation. */
    public C stdDev() {
      return next.apply(metric.on("std"));
    }

    /** The number of values. */
    public AssertionCondition count() {
      return metric.on("count");
    }
  }

  /** Step 3 of an assertion on all requests. */
  public static sealed class WithTotal permits WithCount {

    final AssertionCondition requests;

    WithTotal(AssertionCondition requests) {
      this.requests = requests;
    }

    /** The number of requests. */
    public final AssertionCondition count() {
      return requests.on("count");
    }
  }

  /** Step 3 of an assertion on requests of one kind: their number or their share. */
  public static final class WithCount extends WithTotal {

    WithCount(AssertionCondition kind) {
      super(kind);
    }

    /** Their share of the requests that ended, in percent; for cancelled ones, of all requests. */
    public AssertionCondition percent() {
      return requests.on("percent");
    }
  }

  /** Step 3 of an assertion on requests within the SLO. */
  public static final class WithGoodput {

    private final AssertionCondition goodput;

    WithGoodput(AssertionCondition goodput) {
      this.goodput = goodput;
    }

    /** By the SLO of that tier; without it, by the SLO of the run, which is the first tier's. */
    public WithGoodput ofTier(String name) {
      return new WithGoodput(goodput.by(name));
    }

    /** Share of the attempted requests that met every objective, in percent. */
    public AssertionCondition percent() {
      return goodput.on("percent");
    }

    /** Requests that met every objective per second. */
    public AssertionCondition requestsPerSec() {
      return goodput.on("requests_per_s");
    }

    /** Tokens per second of requests that met every objective. */
    public AssertionCondition tokensPerSec() {
      return goodput.on("tokens_per_s");
    }

    /**
     * Requests per second of the highest load level that holds the SLO; only for {@link
     * LlmDsl#llmGlobal}.
     */
    public AssertionCondition maxRequestsPerSec() {
      return goodput.on("max_requests_per_s");
    }

    /** Seconds from the first planned instant of a load level until it holds the SLO. */
    public AssertionCondition heldAfter() {
      return goodput.on("held_after");
    }
  }
}
