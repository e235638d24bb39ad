package io.github.gatlingllm.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SloTest {

  private static final long MS = 1_000_000L;

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
      String slo, RequestStatus verdict, @Nullable Long ttft, @Nullable Long e2e, String missed) {
    assertThat(judge(slo, true, verdict, timing(ttft, e2e, 1_000L, 50L))).isEqualTo(list(missed));
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
      String slo, @Nullable Long ttft, long cancelledAt, String missed, @Nullable Boolean met) {
    Slo.Judgement judgement =
        judgement(slo, true, RequestStatus.CANCELLED, timing(ttft, null, cancelledAt, 50L));
    assertThat(judgement.missed()).isEqualTo(list(missed));
    assertThat(judgement.met()).isEqualTo(met);
  }

  /** Waited in the gate until it was given up: 250 ms since its start. */
  @Test
  void neverAdmitted() {
    RequestRecord.Timing waited = timing(null, null, 250L, null);
    assertThat(judge("ttft<200ms", true, RequestStatus.CANCELLED, waited)).containsExactly("ttft");
    assertThat(judgement("ttft<300ms", true, RequestStatus.CANCELLED, waited).met()).isNull();
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
    RequestRecord.Timing timing = timing(100L, 1_300L, 2_000L, 0L, 600.0 * MS);
    RequestRecord.Events events = events(600 * MS, 100_000, 700_000, 1_300_000);
    assertThat(
            Slo.parse(slo)
                .judge(true, RequestStatus.CANCELLED, false, timing, events, tokens(3))
                .met())
        .isEqualTo(met);
  }

  @Test
  void missingTpotIsNoMiss() {
    RequestRecord.Timing one = timing(100L, 100L, 100L, 0L);
    assertThat(judge("tpot<50ms", true, RequestStatus.COMPLETE, one)).isEmpty();
    assertThat(judge("itl<1us,stall<1us", true, RequestStatus.COMPLETE, one)).isEmpty();
  }

  @Test
  void answerThatWasNotStreamedNeedsNoTtft() {
    RequestRecord.Timing body = timing(null, 400L, 400L, 0L);
    assertThat(judge("ttft<200ms,e2e<1s", false, RequestStatus.COMPLETE, body)).isEmpty();
    assertThat(judge("ttft<200ms,e2e<1s", true, RequestStatus.COMPLETE, body))
        .containsExactly("ttft");
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
    RequestRecord.Timing timing = timing(100L, 200L, 200L, 0L, 100.0 * MS / 3);
    RequestRecord.Events events = events(80 * MS, 100_000, 110_000, 120_000, 200_000);
    assertThat(
            Slo.parse(slo)
                .judge(true, RequestStatus.COMPLETE, true, timing, events, tokens(4))
                .missed())
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
    assertThat(
            Slo.parse("ttft<200ms")
                .judge(
                    true,
                    RequestStatus.COMPLETE,
                    false,
                    timing(10L, 20L, 20L, 0L),
                    events(null),
                    tokens(2))
                .missed())
        .containsExactly(Slo.FAILED);
  }

  @Test
  void withoutSloNothingIsJudged() {
    Slo.Judgement judgement =
        Slo.NONE.judge(
            true,
            RequestStatus.HTTP_ERROR,
            false,
            timing(null, null, null, 0L),
            events(null),
            tokens(0));
    assertThat(judgement.missed()).isEmpty();
    assertThat(judgement.met()).isNull();
  }

  private static List<String> judge(
      String slo, boolean streamed, RequestStatus verdict, RequestRecord.Timing timing) {
    return judgement(slo, streamed, verdict, timing).missed();
  }

  private static Slo.Judgement judgement(
      String slo, boolean streamed, RequestStatus verdict, RequestRecord.Timing timing) {
    return Slo.parse(slo)
        .judge(
            streamed, verdict, verdict == RequestStatus.COMPLETE, timing, events(null), tokens(2));
  }

  private static RequestRecord.Timing timing(
      @Nullable Long ttft, @Nullable Long e2e, @Nullable Long closed, @Nullable Long gate) {
    return timing(ttft, e2e, closed, gate, null);
  }

  private static RequestRecord.Timing timing(
      @Nullable Long ttft,
      @Nullable Long e2e,
      @Nullable Long closed,
      @Nullable Long gate,
      @Nullable Double tpot) {
    Long first = nanos(ttft);
    return new RequestRecord.Timing(
        0,
        null,
        0,
        nanos(gate),
        null,
        null,
        null,
        first,
        first,
        nanos(e2e),
        nanos(closed),
        tpot,
        null);
  }

  private static @Nullable Long nanos(@Nullable Long ms) {
    return ms == null ? null : (Long) (ms * MS);
  }

  private static RequestRecord.Events events(@Nullable Long longestGap, int... micros) {
    return new RequestRecord.Events(
        micros, new int[0], new int[0], micros.length, 0, 0, true, longestGap, null);
  }

  private static RequestRecord.Tokens tokens(int n) {
    return new RequestRecord.Tokens(
        null, null, null, null, null, n, null, null, n, false, null, List.of(), null);
  }

  private static List<String> list(String names) {
    return names.isEmpty() ? List.of() : Arrays.asList(names.split(" ", -1));
  }
}
