package io.github.gatlingllm.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SloCountsTest {

  private static final Slo BOTH = Slo.parse("ttft<200ms,tpot<50ms");

  private final SloCounts counts = new SloCounts();

  private void add(int times, Slo.Verdict ttft, Slo.Verdict tpot, boolean failed) {
    for (int i = 0; i < times; i++) {
      counts.add("", new Slo.Judgement(BOTH, List.of(ttft, tpot), failed));
    }
  }

  private void add(int times, Slo.Verdict ttft, Slo.Verdict tpot) {
    add(times, ttft, tpot, false);
  }

  /** Each is met by 99 of 100, both at once by 98. */
  @Test
  void objectivesThatDifferentRequestsMiss() {
    add(98, Slo.Verdict.MET, Slo.Verdict.MET);
    add(1, Slo.Verdict.MISSED, Slo.Verdict.MET);
    add(1, Slo.Verdict.MET, Slo.Verdict.MISSED);

    assertThat(counts.decide(Slo.Rule.PERCENTILES, 99).holds()).isTrue();
    assertThat(counts.decide(Slo.Rule.REQUESTS, 99).holds()).isFalse();
    assertThat(counts.decide(Slo.Rule.REQUESTS, 98).holds()).isTrue();
    assertThat(counts.all().share()).isEqualTo(0.98);
  }

  @Test
  void oneObjectiveIsEnoughToMissByEitherRule() {
    add(98, Slo.Verdict.MET, Slo.Verdict.MET);
    add(2, Slo.Verdict.MET, Slo.Verdict.MISSED);

    SloCounts.Decision decision = counts.decide(Slo.Rule.PERCENTILES, 99);
    assertThat(decision.holds()).isFalse();
    assertThat(decision.objective()).isEqualTo("tpot<50ms");
    assertThat(decision.count()).isEqualTo(new SloCounts.Count(100, 98, 0));
    assertThat(counts.decide(Slo.Rule.REQUESTS, 99).holds()).isFalse();
  }

  @Test
  void aFailedRequestMeetsNoObjective() {
    add(98, Slo.Verdict.MET, Slo.Verdict.MET);
    add(2, Slo.Verdict.MET, Slo.Verdict.ABSENT, true);

    assertThat(counts.objectives().values())
        .containsExactly(new SloCounts.Count(100, 98, 0), new SloCounts.Count(100, 98, 0));
    assertThat(counts.decide(Slo.Rule.PERCENTILES, 99).holds()).isFalse();
  }

  /** TPOT applies to 50 answers of 2 tokens and more, of which 1 misses: 98 %. */
  @Test
  void requestsToWhichAnObjectiveDoesNotApplyAreNotInItsShare() {
    add(49, Slo.Verdict.MET, Slo.Verdict.MET);
    add(1, Slo.Verdict.MET, Slo.Verdict.MISSED);
    add(50, Slo.Verdict.MET, Slo.Verdict.ABSENT);

    assertThat(counts.decide(Slo.Rule.PERCENTILES, 99).holds()).isFalse();
    assertThat(counts.decide(Slo.Rule.REQUESTS, 99).holds()).isTrue();
  }

  @Test
  void anObjectiveThatAppliesToNothingDecidesNothing() {
    add(10, Slo.Verdict.MET, Slo.Verdict.ABSENT);
    assertThat(counts.decide(Slo.Rule.PERCENTILES, 99).holds()).isTrue();
  }

  /** 1 of 100 is let pass, 2 of 101 are not. */
  @Test
  void undefinedWhereMoreThanOnePercentCannotBeTold() {
    add(99, Slo.Verdict.MET, Slo.Verdict.MET);
    add(1, Slo.Verdict.MET, Slo.Verdict.UNKNOWN);
    assertThat(counts.all().share()).isEqualTo(1);
    assertThat(counts.decide(Slo.Rule.PERCENTILES, 99).holds()).isTrue();

    add(1, Slo.Verdict.MET, Slo.Verdict.UNKNOWN);
    assertThat(counts.all().share()).isNull();
    assertThat(counts.decide(Slo.Rule.PERCENTILES, 99).holds()).isNull();
    assertThat(counts.decide(Slo.Rule.REQUESTS, 99).holds()).isNull();
  }

  /** 5 misses of 100 and 3 unknown: at best 98 of 103. */
  @Test
  void missedWhateverTheUnknownOnesWouldHaveBeen() {
    add(95, Slo.Verdict.MET, Slo.Verdict.MET);
    add(5, Slo.Verdict.MET, Slo.Verdict.MISSED);
    add(3, Slo.Verdict.MET, Slo.Verdict.UNKNOWN);
    assertThat(counts.decide(Slo.Rule.PERCENTILES, 99).holds()).isFalse();
  }

  @Test
  void nothingHoldsWhereNothingWasJudged() {
    assertThat(counts.decide(Slo.Rule.PERCENTILES, 99).holds()).isNull();
    assertThat(counts.isEmpty()).isTrue();
  }
}
