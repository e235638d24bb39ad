package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.ofMillis;

import io.github.gatlingllm.record.RequestStatus;
import java.util.List;

/** Calls every step of an assertion in every overload; part of {@link EveryMethod}. */
final class EveryAssertion {

  static final List<LlmAssertion> ALL =
      List.of(
          llmGlobal().ttft().percentile(99).lt(200),
          llmGlobal().ttft().percentile(99.9).lt(ofMillis(200)),
          llmGlobal().ttftFromSchedule().mean().lte(200),
          llmGlobal().ttfo().min().lte(ofMillis(200)),
          llmGlobal().ttfoFromSchedule().max().lt(500),
          llmGlobal().ttst().mean().lt(100),
          llmGlobal().failedE2e().max().lt(1_000),
          llmGlobal().itl().max().gt(200),
          llmGlobal().icl().stdDev().gt(ofMillis(200)),
          llmDetails("ask").tpot().count().gte(200),
          llmDetails("ask").e2e().mean().gte(ofMillis(200)),
          llmDetails("ask").e2eFromSchedule().mean().between(1, 2),
          llmDetails("ask").e2ePerToken().mean().between(1, 2, false),
          llmStage("c=8").queueWait().mean().between(ofMillis(1), ofMillis(2)),
          llmStage("c=8").connect().mean().between(ofMillis(1), ofMillis(2), false),
          llmStage("c=8").stall().mean().around(20, 2),
          llmStage("c=8").promptTokens().mean().around(20, 2, false),
          llmForAll().outputTokens().mean().deviatesAround(20, 0.1),
          llmForAll().outputTokens().mean().deviatesAround(20, 0.1, false),
          llmForAll().tpot().mean().around(ofMillis(20), ofMillis(2)),
          llmForAll().tpot().mean().around(ofMillis(20), ofMillis(2), false),
          llmForAll().tpot().mean().deviatesAround(ofMillis(20), 0.1),
          llmForAll().tpot().mean().deviatesAround(ofMillis(20), 0.1, false),
          llmGlobal().tpot().mean().is(ofMillis(20)),
          llmGlobal().tpot().mean().shouldBe(ofMillis(20)),
          llmGlobal().tpot().mean().in(ofMillis(20), ofMillis(30)),
          llmGlobal().tpot().mean().within(ofMillis(20), ofMillis(30)),
          llmGlobal().userTokensPerSec().mean().gt(20),
          llmGlobal().decodeTokensPerSec().mean().gt(20),
          llmGlobal().prefillTokensPerSec().mean().gt(20),
          llmGlobal().outputTokensPerSec().gte(1_000),
          llmGlobal().billedOutputTokensPerSec().gte(1_000),
          llmGlobal().peakOutputTokensPerSec().gte(1_000),
          llmGlobal().outputTokensPerSecPerGpu().gte(200),
          llmGlobal().power().lt(400),
          llmGlobal().outputTokensPerJoule().gt(2),
          llmGlobal().costPerMillionOutputTokens().lt(1.5),
          llmGlobal().costPerMillionTokensInSlo().lt(3),
          llmGlobal().inputTokensPerSec().gte(1_000),
          llmGlobal().inputsPerSec().gte(10),
          llmGlobal().effectiveConcurrency().gte(7.5),
          llmGlobal().activeConcurrency().gte(6),
          llmGlobal().peakInFlight().lte(8),
          llmGlobal().totalTokensPerSec().gte(1_000),
          llmGlobal().wallOutputTokensPerSec().gte(1_000),
          llmGlobal().requestsPerSec().gte(10),
          llmGlobal().jitter().lte(3),
          llmGlobal().jitterPerRequest().lte(3),
          llmGlobal().stallsPer1kTokens().lte(3),
          llmGlobal().batchRatio().lte(1.2),
          llmGlobal().readerStall().percentile(99).lt(ofMillis(500)),
          llmGlobal().readersStalled().lte(5),
          llmGlobal().goodput().percent().gte(95),
          llmGlobal().goodput().requestsPerSec().gte(20),
          llmGlobal().goodput().tokensPerSec().gte(2_000),
          llmGlobal().goodput().maxRequestsPerSec().gte(20),
          llmGlobal().allRequests().count().is(100),
          llmGlobal().failedRequests().count().shouldBe(0),
          llmGlobal().failedRequests().percent().lt(1),
          llmGlobal().successfulRequests().count().in(99, 100),
          llmGlobal().successfulRequests().count().in(List.of(99.0, 100.0)),
          llmGlobal().status(RequestStatus.TRUNCATED).count().within(0, 1),
          llmGlobal().status(RequestStatus.TRUNCATED).count().within(List.of(0.0, 1.0)),
          llmValid());

  private EveryAssertion() {}
}
