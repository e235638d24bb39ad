package io.github.gatlingllm.record;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.Objectives.SloCounts;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SloCountsTest {

  private static final Slo BOTH = Slo.parse("ttft<200ms,tpot<50ms");

  private final SloCounts counts = new SloCounts();
  private final List<Slo.Judgement> added = new ArrayList<>();

  private void add(int times, Slo.Verdict ttft, Slo.Verdict tpot, boolean failed) {
    for (int i = 0; i < times; i++) {
      Slo.Judgement judgement = new Slo.Judgement(BOTH, List.of(ttft, tpot), failed);
      counts.add("", judgement);
      added.add(judgement);
    }
  }

  /** The same requests, judged otherwise. */
  private SloCounts.Decision decide(Slo.Rule rule, double percent) {
    SloCounts others = new SloCounts();
    for (Slo.Judgement judgement : added) {
      others.add(
          "",
          new Slo.Judgement(
              BOTH.judgedBy(percent, rule), judgement.verdicts(), judgement.failed()));
    }
    return requireNonNullElse(
        others.decide(), new SloCounts.Decision(null, SloCounts.Count.NONE, percent));
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

    assertThat(decide(Slo.Rule.PERCENTILES, 99).holds()).isTrue();
    assertThat(decide(Slo.Rule.REQUESTS, 99).holds()).isFalse();
    assertThat(decide(Slo.Rule.REQUESTS, 98).holds()).isTrue();
    assertThat(counts.all().share()).isEqualTo(0.98);
  }

  @Test
  void oneObjectiveIsEnoughToMissByEitherRule() {
    add(98, Slo.Verdict.MET, Slo.Verdict.MET);
    add(2, Slo.Verdict.MET, Slo.Verdict.MISSED);

    SloCounts.Decision decision = decide(Slo.Rule.PERCENTILES, 99);
    assertThat(decision.holds()).isFalse();
    assertThat(decision.objective()).isEqualTo("tpot<50ms");
    assertThat(decision.count()).isEqualTo(new SloCounts.Count(100, 98, 0));
    assertThat(decide(Slo.Rule.REQUESTS, 99).holds()).isFalse();
  }

  @Test
  void aFailedRequestMeetsNoObjective() {
    add(98, Slo.Verdict.MET, Slo.Verdict.MET);
    add(2, Slo.Verdict.MET, Slo.Verdict.ABSENT, true);

    assertThat(counts.objectives().values())
        .containsExactly(new SloCounts.Count(100, 98, 0), new SloCounts.Count(100, 98, 0));
    assertThat(decide(Slo.Rule.PERCENTILES, 99).holds()).isFalse();
  }

  /** TPOT applies to 50 answers of 2 tokens and more, of which 1 misses: 98 %. */
  @Test
  void requestsToWhichAnObjectiveDoesNotApplyAreNotInItsShare() {
    add(49, Slo.Verdict.MET, Slo.Verdict.MET);
    add(1, Slo.Verdict.MET, Slo.Verdict.MISSED);
    add(50, Slo.Verdict.MET, Slo.Verdict.ABSENT);

    assertThat(decide(Slo.Rule.PERCENTILES, 99).holds()).isFalse();
    assertThat(decide(Slo.Rule.REQUESTS, 99).holds()).isTrue();
  }

  @Test
  void anObjectiveThatAppliesToNothingDecidesNothing() {
    add(10, Slo.Verdict.MET, Slo.Verdict.ABSENT);
    assertThat(decide(Slo.Rule.PERCENTILES, 99).holds()).isTrue();
  }

  /** 1 of 100 is let pass, 2 of 101 are not. */
  @Test
  void undefinedIfMoreThanOnePercentIsUnknown() {
    add(99, Slo.Verdict.MET, Slo.Verdict.MET);
    add(1, Slo.Verdict.MET, Slo.Verdict.UNKNOWN);
    assertThat(counts.all().share()).isEqualTo(1);
    assertThat(decide(Slo.Rule.PERCENTILES, 99).holds()).isTrue();

    add(1, Slo.Verdict.MET, Slo.Verdict.UNKNOWN);
    assertThat(counts.all().share()).isNull();
    assertThat(decide(Slo.Rule.PERCENTILES, 99).holds()).isNull();
    assertThat(decide(Slo.Rule.REQUESTS, 99).holds()).isNull();
  }

  /** 5 misses of 100 and 3 unknown: at best 98 of 103. */
  @Test
  void missedEvenIfAllUnknownHadMet() {
    add(95, Slo.Verdict.MET, Slo.Verdict.MET);
    add(5, Slo.Verdict.MET, Slo.Verdict.MISSED);
    add(3, Slo.Verdict.MET, Slo.Verdict.UNKNOWN);
    assertThat(decide(Slo.Rule.PERCENTILES, 99).holds()).isFalse();
  }

  @Test
  void noDecisionWithoutJudgedRequests() {
    assertThat(decide(Slo.Rule.PERCENTILES, 99).holds()).isNull();
    assertThat(counts.isEmpty()).isTrue();
  }

  /** 90 of 100 are enough for one name, by 1 point too few of all at once of the other. */
  @Test
  void everySloIsJudgedByItsOwnShareAndRule() {
    Slo atOnce = BOTH.judgedBy(99, Slo.Rule.REQUESTS);
    Slo own = Slo.parse("e2e<1s", 90, Slo.Rule.PERCENTILES);
    for (int i = 0; i < 100; i++) {
      Slo.Verdict most = i < 90 ? Slo.Verdict.MET : Slo.Verdict.MISSED;
      counts.add("slow: ", new Slo.Judgement(own, List.of(most), false));
    }
    assertThat(requireNonNull(counts.decide()).holds()).isTrue();
    for (int i = 0; i < 100; i++) {
      Slo.Verdict most = i < 98 ? Slo.Verdict.MET : Slo.Verdict.MISSED;
      counts.add("", new Slo.Judgement(atOnce, List.of(Slo.Verdict.MET, most), false));
    }
    SloCounts.Decision decision = requireNonNull(counts.decide());
    assertThat(decision)
        .isEqualTo(new SloCounts.Decision(null, new SloCounts.Count(100, 98, 0), 99));
  }
}
