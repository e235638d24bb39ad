package io.github.gatlingllm.record;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.record.Objectives.SloCounts;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SloTest {

  /** Times in milliseconds; a request that waited 50 ms before it was admitted. */
  @ParameterizedTest(name = "{0}: ttft {2} e2e {3} {1} -> {4}")
  @CsvSource({
    // ttft + 50 ms of waiting against 200 ms
    "ttft<200ms, COMPLETE, 149, 900, ''",
    "ttft<200ms, COMPLETE, 150, 900, ttft",
    "ttft<200ms, COMPLETE, 199, 900, ttft",
    "ttft<200ms, COMPLETE, , 900, ttft",
    "'ttfo<200ms', COMPLETE, 149, 900, ''",
    "'ttfo<200ms', COMPLETE, 150, 900, ttfo",
    "e2e<1s, COMPLETE, 100, 949, ''",
    "e2e<1s, COMPLETE, 100, 950, e2e",
    "'ttft<200ms,e2e<1s', COMPLETE, 150, 950, ttft e2e",
    "'ttft<200ms,e2e<1s', COMPLETE, 100, 900, ''",
    // a failed request misses, whatever its times
    "ttft<200ms, TRUNCATED, 100, 300, failed",
    "ttft<200ms, TRUNCATED, 150, 300, ttft failed",
    "'ttft<200ms,e2e<1s', HTTP_ERROR, , , ttft e2e failed",
  })
  void fromSchedule(
      String slo,
      RequestStatus status,
      @Nullable Double ttft,
      @Nullable Double e2e,
      String missed) {
    Recorded request = Recorded.at(0).gate(50.0);
    if (ttft != null && e2e != null) {
      request.tokens(ttft, e2e);
    } else if (e2e != null) {
      request.bodyForStream(e2e, 2);
    }
    assertThat(
            judge(slo, status == RequestStatus.COMPLETE ? request : request.failed(status, ""))
                .missed())
        .isEqualTo(list(missed));
  }

  /** Closed is when it was cancelled, since admitted; 50 ms of waiting come on top. */
  @ParameterizedTest(name = "{0}: ttft {1} cancelled at {2} -> {3}")
  @CsvSource({
    "ttft<200ms, , 149, '', ",
    "ttft<200ms, , 150, ttft, false",
    "ttft<200ms, 100, 5000, '', true",
    "ttft<200ms, 150, 5000, ttft, false",
    "e2e<1s, 100, 949, '', ",
    "e2e<1s, 100, 950, e2e, false",
    "'ttft<200ms,e2e<1s', 100, 949, '', ",
    // one token has no pace
    "tpot<1ms, 100, 5000, '', ",
    "'ttft<200ms,tpot<1ms', 150, 5000, ttft, false",
  })
  void cancelledRequestIsJudgedByTheTokensReceived(
      String slo, @Nullable Double ttft, double cancelledAt, String missed, @Nullable Boolean met) {
    double[] tokens = ttft == null ? new double[0] : new double[] {ttft};
    Slo.Judgement judgement =
        judge(slo, cancelled(Recorded.at(0).gate(50.0).tokens(tokens), cancelledAt));
    assertThat(judgement.missed()).isEqualTo(list(missed));
    assertThat(judgement.met()).isEqualTo(met);
  }

  /** Waited in the gate until it was given up: 250 ms since its start. */
  @Test
  void neverAdmitted() {
    Recorded waited = cancelled(Recorded.at(0).gate(null), 250);
    assertThat(judge("ttft<200ms", waited).missed()).containsExactly("ttft");
    assertThat(judge("ttft<300ms", waited).met()).isNull();
  }

  /**
   * Tokens at 100, 700 and 1,300 ms, cancelled at 2,000: TPOT and ITL 600 ms, a gap of 700 open.
   */
  @ParameterizedTest
  @CsvSource({
    "tpot<50ms, false",
    "tpot<601ms, true",
    "itl<600ms, false",
    "itl<601ms, true",
    "stall<601ms, false",
    "stall<701ms, true",
    "'tpot<601ms,e2e<9s', ",
  })
  void tpotOfACancelledStreamIsThatOfTheTokensReceived(String slo, @Nullable Boolean met) {
    assertThat(judge(slo, cancelled(Recorded.at(0).tokens(100, 700, 1_300), 2_000)).met())
        .isEqualTo(met);
  }

  @Test
  void missingTpotIsNoMiss() {
    assertThat(judge("tpot<50ms,itl<1us,stall<1us", Recorded.at(0).tokens(100)).missed()).isEmpty();
  }

  @Test
  void answerThatWasNotStreamedNeedsNoTtft() {
    String slo = "ttft<200ms,e2e<1s";
    assertThat(judge(slo, Recorded.at(0).body(400, 9)).missed()).isEmpty();
    assertThat(judge(slo, Recorded.at(0).bodyForStream(400, 9)).missed()).containsExactly("ttft");
  }

  /** Gaps 10, 10, 80 ms: TPOT 33.3, p99 of ITL 80, longest 80. */
  @ParameterizedTest
  @CsvSource({
    "tpot<34ms, ''",
    "tpot<33ms, tpot",
    "itl<81ms, ''",
    "itl<80ms, itl",
    "stall<81ms, ''",
    "stall<80ms, stall"
  })
  void pace(String slo, String missed) {
    assertThat(judge(slo, Recorded.at(0).tokens(100, 110, 120, 200)).missed())
        .isEqualTo(list(missed));
  }

  /** As published; a preset can stand beside limits of one's own. */
  @Test
  void presetsAreReplacedByTheirLimits() {
    assertThat(Slo.parse("mlperf-llama2-70b-interactive, e2e<20s"))
        .hasToString("ttft<450ms,tpot<40ms,e2e<20s");
    Slo.PRESETS.forEach((name, limits) -> assertThat(Slo.parse(name)).hasToString(limits));
  }

  @ParameterizedTest
  @CsvSource({"ttft<0.5us, ttft<0.5us", "ttft<1500us, ttft<1500us", "e2e<1.5us, e2e<1.5us"})
  void objectiveIsWrittenAsItIsRead(String text, String written) {
    assertThat(Slo.parse(text)).hasToString(written);
    assertThat(Slo.parse(written)).isEqualTo(Slo.parse(text));
  }

  @Test
  void limitOfZeroIsRefused() {
    assertThatThrownBy(() -> Slo.parse("tpot<0ms"))
        .hasMessage("SLO 'tpot<0ms' has limit 0, which no request meets; expected a time above 0");
  }

  @Test
  void failedCheckMisses() {
    RequestRecord r = Recorded.at(0).tokens(10, 20).record();
    assertThat(
            Slo.parse("ttft<200ms")
                .judge(true, RequestStatus.COMPLETE, false, r.timing(), r.events(), r.tokens())
                .missed())
        .containsExactly(Slo.FAILED);
  }

  @Test
  void withoutSloNothingIsJudged() {
    Slo.Judgement judgement =
        Slo.NONE.judge(Recorded.at(0).failed(RequestStatus.HTTP_ERROR, "503").record());
    assertThat(judgement.missed()).isEmpty();
    assertThat(judgement.met()).isNull();
  }

  private static Slo.Judgement judge(String slo, Recorded request) {
    return Slo.parse(slo).judge(request.record());
  }

  private static Recorded cancelled(Recorded request, double atMs) {
    return request.closed(atMs).failed(RequestStatus.CANCELLED, "end");
  }

  private static List<String> list(String names) {
    return names.isEmpty() ? List.of() : Arrays.asList(names.split(" ", -1));
  }

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
