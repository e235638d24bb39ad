package io.github.gatlingllm.record;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.record.Objectives.SloCounts;
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

  private static final List<Slo.ObjectiveResult> VERDICTS =
      List.of(
          Slo.ObjectiveResult.MET,
          Slo.ObjectiveResult.MISSED,
          Slo.ObjectiveResult.ABSENT,
          Slo.ObjectiveResult.UNKNOWN);

  /**
   * Adds this number of each: met +, missed -, absent . or unknown ? by objective, ! if it failed.
   */
  private static SloCounts add(SloCounts to, String name, Slo slo, String judgements) {
    for (String some : judgements.split(" ", -1)) {
      String each = some.replaceAll("[0-9!]", "");
      Slo.Judgement judgement =
          new Slo.Judgement(
              slo,
              each.chars().mapToObj(sign -> VERDICTS.get("+-.?".indexOf(sign))).toList(),
              some.endsWith("!"));
      for (int i = Integer.parseInt(some.replaceAll("[^0-9]", "")); i > 0; i--) {
        to.add(name, judgement);
      }
    }
    return to;
  }

  private static SloCounts counts(String judgements) {
    return add(new SloCounts(), "", BOTH, judgements);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          # each is met by 99 of 100, both together by 98
          98++ 1-+ 1+- | PERCENTILES | 99 | true
          98++ 1-+ 1+- | REQUESTS | 99 | false
          98++ 1-+ 1+- | REQUESTS | 98 | true
          # one objective is enough to miss by either rule
          98++ 2+- | PERCENTILES | 99 | false
          98++ 2+- | REQUESTS | 99 | false
          # a failed request meets no objective
          98++ 2+.! | PERCENTILES | 99 | false
          # TPOT applies to 50 answers of 2 tokens and more, of which 1 misses: 98 %
          49++ 1+- 50+. | PERCENTILES | 99 | false
          49++ 1+- 50+. | REQUESTS | 99 | true
          # what applies to nothing decides nothing
          10+. | PERCENTILES | 99 | true
          # 1 of 100 unknown is let pass, 2 of 101 are not
          99++ 1+? | PERCENTILES | 99 | true
          99++ 2+? | PERCENTILES | 99 |
          99++ 2+? | REQUESTS | 99 |
          # at best 98 of 103
          95++ 5+- 3+? | PERCENTILES | 99 | false
          """)
  void levelHolds(String judgements, Slo.Rule rule, double percent, @Nullable Boolean holds) {
    SloCounts counts = add(new SloCounts(), "", BOTH.judgedBy(percent, rule), judgements);
    assertThat(requireNonNull(counts.decide()).holds()).isEqualTo(holds);
  }

  @Test
  void countsOfADecision() {
    assertThat(counts("98++ 1-+ 1+-").all().share()).isEqualTo(0.98);
    assertThat(counts("99++ 1+?").all().share()).isEqualTo(1);
    assertThat(counts("99++ 2+?").all().share()).isNull();
    assertThat(counts("98++ 2+.!").objectives().values())
        .containsExactly(new Objectives.SloCount(100, 98, 0), new Objectives.SloCount(100, 98, 0));
    assertThat(counts("98++ 2+-").decide())
        .isEqualTo(new Objectives.Decision("tpot<50ms", new Objectives.SloCount(100, 98, 0), 99));
    assertThat(new SloCounts().decide()).isNull();
    assertThat(new SloCounts().isEmpty()).isTrue();
  }

  /** 90 of 100 are enough for one name, by 1 point too few of all together of the other. */
  @Test
  void everySloIsJudgedByItsOwnShareAndRule() {
    Slo own = Slo.parse("e2e<1s", 90, Slo.Rule.PERCENTILES);
    SloCounts counts = add(new SloCounts(), "slow: ", own, "90+ 10-");
    assertThat(requireNonNull(counts.decide()).holds()).isTrue();
    assertThat(add(counts, "", BOTH.judgedBy(99, Slo.Rule.REQUESTS), "98++ 2+-").decide())
        .isEqualTo(new Objectives.Decision(null, new Objectives.SloCount(100, 98, 0), 99));
  }
}
