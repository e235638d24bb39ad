package io.github.gatlingllm.figures.level;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.level.Summary.TierSummary;
import io.github.gatlingllm.figures.metric.Figure.AssertionResult;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.Objectives.AssertedCondition;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Objectives.Scope;
import io.github.gatlingllm.record.Objectives.TargetSlo;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import io.github.gatlingllm.record.Slo;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * Requests of one token at 100, 150, 300 and 700 ms, 500 in the second of each level; of c=2, 10
 * take ten times as long: 490 of 500 are 98 %.
 */
class SloTiersTest {

  private static final Levels SWEEP = Levels.of("1:500:100 2:500:150:10 4:500:300 8:500:700");

  /** Objectives by tier; a level holds by 95 %. */
  private static UnaryOperator<RunInfo> tiers(String... namedSlos) {
    Map<String, TargetSlo> tiers = new LinkedHashMap<>();
    for (String named : namedSlos) {
      String[] parts = named.split(":", 2);
      Slo slo = Slo.parse(parts[1], 95, Slo.Rule.PERCENTILES);
      tiers.put(parts[0], TargetSlo.of(slo, Map.of()));
    }
    TargetSlo first = tiers.values().iterator().next();
    return run -> run.slo(first, Map.of()).sloTiers(tiers);
  }

  private static final UnaryOperator<RunInfo> THREE =
      tiers("gold:ttft<200ms", "silver:ttft<500ms", "batch:e2e<60s");

  private static Summary judged(UnaryOperator<RunInfo> goals) {
    return SWEEP.figures(goals).summary();
  }

  @Test
  void eachTierHasItsLargestLoadItsGoodputAndItsOutcome() {
    Summary summary = judged(THREE);
    assertThat(summary.tiers())
        .extracting(
            TierSummary::tier,
            tier -> Objects.requireNonNull(tier.maxGoodput()).stage(),
            tier -> Objects.requireNonNull(tier.maxGoodput()).requestsPerS(),
            TierSummary::outcome,
            TierSummary::missedAt)
        .containsExactly(
            tuple("gold", "c=2", 490.0, "met", "c=4"),
            tuple("silver", "c=4", 500.0, "met", "c=8"),
            tuple("batch", "c=8", 500.0, "met", null));
    TierSummary gold = summary.tiers().get(0);
    assertThat(gold.goodput().get("c=2").share()).isCloseTo(0.98, within(1e-9));
    assertThat(gold.goodput().get("c=4").met()).as("all take 300 ms").isZero();
    assertThat(summary.tiers().get(1).goodput().get("c=2").met())
        .as("1,500 ms is late for silver too")
        .isEqualTo(490);
  }

  @Test
  void theFirstIsTheSloOfTheRun() {
    Summary alone = judged(run -> run.slo(Slo.parse("ttft<200ms", 95, Slo.Rule.PERCENTILES)));
    Summary summary = judged(THREE);
    assertThat(summary.slo()).isEqualTo(alone.slo());
    assertThat(summary.figures().goodput()).isEqualTo(alone.figures().goodput());
    assertThat(summary.stages()).isEqualTo(alone.stages());
    assertThat(summary.curves().get(0).operatingPoint())
        .isEqualTo(alone.curves().get(0).operatingPoint());
    assertThat(alone.tiers()).isEmpty();
  }

  @Test
  void eachTierHasASentence() {
    assertThat(judged(THREE).findings())
        .filteredOn(finding -> finding.place() != null)
        .extracting(Sentence::place, Sentence::id, finding -> finding.values().get("load"))
        .containsExactly(
            tuple("gold", "verdict.slo_met", "2 concurrent requests"),
            tuple("silver", "verdict.slo_met", "4 concurrent requests"),
            tuple("batch", "verdict.slo_met", "8 concurrent requests"));
  }

  /** The search has the result of two tiers, the curve that of the third. */
  @Test
  void resultOfATierIsStatedOnce() {
    Conclusion gold = new Conclusion("search", "2", true, null, null, 2.0, 4.0).on("a", null);
    Conclusion silver = new Conclusion("search", "4", true, null, null, 4.0, 8.0).on("a", null);
    Summary summary =
        judged(any -> THREE.apply(any).conclusions(List.of(gold.by("gold"), silver.by("silver"))));
    assertThat(summary.findings())
        .extracting(Sentence::place, Sentence::id)
        .containsExactly(
            tuple("gold", "verdict.conclusion"),
            tuple("silver", "verdict.conclusion"),
            tuple(null, "verdict.level"),
            tuple("batch", "verdict.slo_met"));
  }

  @Test
  void aTierThatNoLoadHolds() {
    TierSummary none = judged(tiers("gold:ttft<200ms", "dear:ttft<50ms")).tiers().get(1);
    assertThat(none.maxGoodput()).isNull();
    assertThat(none.goodputAtMax()).isNull();
    assertThat(none.outcome()).isEqualTo("missed");
    assertThat(none.missedAt()).isEqualTo("c=1");
    assertThat(none.finding().id()).isEqualTo("verdict.slo_missed");
  }

  /** 496 of 500 are 99.2 %; Wilson's interval of that is 98.0 % to 99.7 %. */
  @Test
  void aTierWithinNoiseIsUndecided() {
    Slo percent99 = Slo.parse("ttft<200ms");
    Map<String, TargetSlo> tiers = new LinkedHashMap<>();
    tiers.put("gold", TargetSlo.of(percent99, Map.of()));
    tiers.put("silver", TargetSlo.of(Slo.parse("ttft<2s"), Map.of()));
    List<TierSummary> judged =
        Levels.of("1:500:100:4 2:500:100:400")
            .figures(run -> run.slo(percent99).sloTiers(tiers))
            .summary()
            .tiers();
    assertThat(judged)
        .extracting(TierSummary::outcome, TierSummary::missedAt)
        .containsExactly(tuple("undecided", "c=2"), tuple("met", null));
  }

  private static Assertion gate(String tier, String label, String figure, double above) {
    return new Assertion(
            null,
            label.isEmpty() ? Scope.GLOBAL : Scope.STAGE,
            label.isEmpty() ? null : label,
            figure,
            AssertedCondition.GTE,
            List.of(above))
        .by(tier);
  }

  /** Pooled: gold (500 + 490) ÷ 2,000 = 49.5 %, silver (500 + 490 + 500) ÷ 2,000 = 74.5 %. */
  @Test
  void gatesJudgeByTheirTier() {
    List<Assertion> gates =
        List.of(
            gate("silver", "", "goodput.percent", 74),
            gate("gold", "", "goodput.percent", 74),
            gate("silver", "c=4", "goodput.percent", 99),
            gate("gold", "c=4", "goodput.percent", 99),
            gate("batch", "", "goodput.max_requests_per_s", 500),
            gate("gold", "", "goodput.max_requests_per_s", 500));
    Summary summary = judged(run -> THREE.apply(run).assertions(gates));
    assertThat(summary.assertions())
        .extracting(
            result -> result.assertion().tier(), AssertionResult::value, AssertionResult::ok)
        .containsExactlyInAnyOrder(
            tuple("silver", 74.5, true),
            tuple("gold", 49.5, false),
            tuple("silver", 100.0, true),
            tuple("gold", 0.0, false),
            tuple("batch", 500.0, true),
            tuple("gold", 490.0, false));
    assertThat(summary.assertions())
        .extracting(AssertionResult::subject)
        .contains("c=4, tier silver: percentage of requests in SLO");
  }

  @Test
  void gatesOfATierAreJudgedByAnotherSloThatReplacesTheTiers() {
    List<Assertion> gates = List.of(gate("silver", "", "goodput.percent", 74));
    Slo other = Slo.parse("ttft<200ms");
    assertThat(judged(run -> THREE.apply(run).assertions(gates).slo(other)).assertions())
        .singleElement()
        .satisfies(
            result -> {
              assertThat(result.value()).isEqualTo(49.5);
              assertThat(result.subject()).doesNotContain("silver");
            });
    UnaryOperator<RunInfo> without = tiers("gold:ttft<200ms");
    assertThat(judged(run -> without.apply(run).assertions(gates)).assertions()).hasSize(1);
  }

  @Test
  void eachTargetHasARowForEachTier() {
    Summary summary = Levels.of("1:500:100 b 1:500:300").figures(THREE).summary();
    assertThat(summary.tiers())
        .extracting(TierSummary::tier, TierSummary::target, tier -> tier.finding().place())
        .containsExactly(
            tuple("gold", "a", "gold, a"),
            tuple("gold", "b", "gold, b"),
            tuple("silver", "a", "silver, a"),
            tuple("silver", "b", "silver, b"),
            tuple("batch", "a", "batch, a"),
            tuple("batch", "b", "batch, b"));
    assertThat(summary.tiers()).extracting(TierSummary::outcome).contains("missed", "met");
  }
}
