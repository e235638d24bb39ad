package io.github.gatlingllm.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every instant is written down here in milliseconds, every figure was computed by hand. */
final class TimelineTest {

  private static final long MS = 1_000_000;
  private static final int UNKNOWN = -1;

  /** Far from zero, so that a duration cannot be mistaken for an instant. */
  private static final long ADMITTED = 1_000_000 * MS;

  /** A token event at {@code millis} since admission. */
  private record At(long millis, int choice, boolean output, int tokens) {}

  private static At at(long millis) {
    return new At(millis, 0, true, UNKNOWN);
  }

  private static At at(long millis, int tokens) {
    return new At(millis, 0, true, tokens);
  }

  private static At ofChoice(int choice, long millis) {
    return new At(millis, choice, true, UNKNOWN);
  }

  private static At reasoning(long millis) {
    return new At(millis, 0, false, UNKNOWN);
  }

  /** Times in milliseconds; null where the figure is absent. */
  private record Row(
      String name,
      List<At> events,
      @Nullable Integer n,
      @Nullable Long ttft,
      @Nullable Long ttfo,
      @Nullable Long latency,
      @Nullable Double tpot,
      @Nullable Long longestGap,
      int coalesced) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Row> rows() {
    return Stream.of(
        new Row("no token", List.of(), null, null, null, null, null, null, 0),
        new Row("no token but a usage", List.of(), 7, null, null, null, null, null, 0),
        new Row("one token", List.of(at(50)), 1, 50L, 50L, 50L, null, null, 0),
        // (90 - 50) / (3 - 1)
        new Row("three tokens", List.of(at(50), at(70), at(90)), 3, 50L, 50L, 90L, 20d, 20L, 0),
        new Row("N unknown", List.of(at(50), at(70)), null, 50L, 50L, 70L, null, 20L, 0),
        new Row("a burst of one event", List.of(at(50)), 128, 50L, 50L, 50L, null, null, 0),
        new Row(
            "all events in one read",
            List.of(at(50), at(50), at(50)),
            3,
            50L,
            50L,
            50L,
            null,
            0L,
            2),
        // (80 - 50) / (4 - 1); the second shares its read with the first
        new Row(
            "two coalesced",
            List.of(at(50), at(50), at(60), at(80)),
            4,
            50L,
            50L,
            80L,
            10d,
            20L,
            1),
        // (100 - 40) / (10 - 4)
        new Row(
            "first chunk of 4",
            List.of(at(40, 4), at(70, 3), at(100, 3)),
            10,
            40L,
            40L,
            100L,
            10d,
            30L,
            0),
        // k is not known, an even share is: (1020 - 20) / (100 - 100 / 2), as ITL has it
        new Row(
            "2 events, N = 100", List.of(at(20), at(1020)), 100, 20L, 20L, 1020L, 20d, 1000L, 0),
        // (100 - 40) / (6 - 6 / 4)
        new Row(
            "4 events, N = 6",
            List.of(at(40), at(60), at(80), at(100)),
            6,
            40L,
            40L,
            100L,
            60 / 4.5,
            20L,
            0),
        // the server counted the first event only: (100 - 40) / (10 - 4)
        new Row(
            "first chunk of 4, then unknown",
            List.of(at(40, 4), at(70), at(100)),
            10,
            40L,
            40L,
            100L,
            10d,
            30L,
            0),
        // spans 50 and 50 over 2 events of 5 tokens each: 100 / (20 - 2 * 5)
        new Row(
            "two choices, N = 20",
            List.of(ofChoice(0, 10), ofChoice(1, 20), ofChoice(0, 60), ofChoice(1, 70)),
            20,
            10L,
            10L,
            70L,
            10d,
            50L,
            0),
        new Row(
            "first chunk holds all N",
            List.of(at(40, 5), at(70, 1)),
            5,
            40L,
            40L,
            70L,
            null,
            30L,
            0),
        // reasoning is a token, and no output
        new Row(
            "reasoning first",
            List.of(reasoning(30), reasoning(40), at(70)),
            3,
            30L,
            70L,
            70L,
            20d,
            30L,
            0),
        new Row(
            "reasoning only",
            List.of(reasoning(30), reasoning(50)),
            2,
            30L,
            null,
            50L,
            20d,
            20L,
            0),
        // a stall of 2 s is the longest gap: (2040 - 20) / (4 - 1)
        new Row(
            "stall",
            List.of(at(20), at(30), at(2030), at(2040)),
            4,
            20L,
            20L,
            2040L,
            2020 / 3d,
            2000L,
            0),
        // spans (50 - 10) and (60 - 20), 6 tokens, 2 of them first ones: 80 / 4
        new Row(
            "two choices interleaved",
            List.of(
                ofChoice(0, 10),
                ofChoice(1, 20),
                ofChoice(0, 30),
                ofChoice(1, 40),
                ofChoice(0, 50),
                ofChoice(1, 60)),
            6,
            10L,
            10L,
            60L,
            20d,
            20L,
            0),
        // both choices in every event: no choice ever had two events in one read
        new Row(
            "two choices in each event",
            List.of(ofChoice(0, 10), ofChoice(1, 10), ofChoice(0, 30), ofChoice(1, 30)),
            4,
            10L,
            10L,
            30L,
            20d,
            20L,
            0),
        new Row(
            "only choice 3",
            List.of(ofChoice(3, 10), ofChoice(3, 30)),
            2,
            10L,
            10L,
            30L,
            20d,
            20L,
            0),
        // N excludes reasoning that never came; fewer tokens than events are possible
        new Row("N of 1 over 2 events", List.of(at(10), at(30)), 1, 10L, 10L, 30L, null, 20L, 0),
        new Row("N of 0", List.of(at(10), at(30)), 0, 10L, 10L, 30L, null, 20L, 0));
  }

  @ParameterizedTest
  @MethodSource("rows")
  void figures(Row row) {
    Timeline timeline = admitted();
    row.events().forEach(event -> add(timeline, event));
    RequestRecord.Timing timing = timeline.timing(1, null, row.n());
    RequestRecord.Events events = timeline.events(true);
    assertThat(timing.ttftNanos()).isEqualTo(nanos(row.ttft()));
    assertThat(timing.ttfoNanos()).isEqualTo(nanos(row.ttfo()));
    assertThat(timing.latencyNanos()).isEqualTo(nanos(row.latency()));
    assertThat(timing.tpotNanos()).isEqualTo(row.tpot() == null ? null : row.tpot() * MS);
    assertThat(events.longestGapNanos()).isEqualTo(nanos(row.longestGap()));
    assertThat(events.coalesced()).isEqualTo(row.coalesced());
    assertThat(events.count()).isEqualTo(row.events().size());
    assertThat(events.offsetsMicros())
        .containsExactly(row.events().stream().mapToInt(e -> (int) e.millis() * 1000).toArray());
  }

  @Test
  void everyInstantOfOneRequest() {
    Timeline timeline = new Timeline(ADMITTED - 7 * MS, ADMITTED - 4 * MS);
    timeline.admitted(ADMITTED);
    timeline.written(ADMITTED + 2 * MS);
    timeline.headers(ADMITTED + 5 * MS);
    timeline.event(ADMITTED + 8 * MS);
    timeline.event(ADMITTED + 11 * MS);
    timeline.tokens(0, ADMITTED + 11 * MS, false, UNKNOWN);
    timeline.tokens(0, ADMITTED + 21 * MS, true, UNKNOWN);
    timeline.closed(ADMITTED + 30 * MS);
    RequestRecord.Timing timing = timeline.timing(5_000 * MS, 44L, 2);
    assertThat(timing)
        .isEqualTo(
            new RequestRecord.Timing(
                5_000 * MS,
                44L,
                3 * MS,
                4 * MS,
                2 * MS,
                5 * MS,
                8 * MS,
                11 * MS,
                21 * MS,
                21 * MS,
                30 * MS,
                10d * MS,
                null));
    assertThat(timing.queueWaitNanos()).isEqualTo(7 * MS);
    assertThat(timing.ttftFromScheduleNanos()).isEqualTo(18 * MS);
    assertThat(timing.latencyFromScheduleNanos()).isEqualTo(28 * MS);
  }

  @Test
  void unknownTimesAreNull() {
    Timeline timeline = new Timeline(ADMITTED, ADMITTED);
    assertThat(timeline.isAdmitted()).isFalse();
    assertThat(timeline.timing(9, null, null))
        .isEqualTo(
            new RequestRecord.Timing(
                9, null, 0, null, null, null, null, null, null, null, null, null, null));
    RequestRecord.Events events = timeline.events(true);
    assertThat(events.longestGapNanos()).isNull();
    assertThat(events.firstEventTokens()).isNull();
    assertThat(events.done()).isFalse();
  }

  @Test
  void theEndOfARequestThatWasNeverAdmittedCountsFromItsStart() {
    Timeline timeline = new Timeline(ADMITTED - 7 * MS, ADMITTED - 4 * MS);
    timeline.closed(ADMITTED);
    RequestRecord.Timing timing = timeline.timing(1, null, null);
    assertThat(timing.closedNanos()).isEqualTo(4 * MS);
    assertThat(timing.startLagNanos()).isEqualTo(3 * MS);
    assertThat(timing.gateWaitNanos()).isNull();
    assertThat(timing.closedUnixNanos()).isNull();
  }

  @Test
  void aBodyThatWasNotStreamedHasALatencyAndNoFirstToken() {
    Timeline timeline = admitted();
    timeline.headers(ADMITTED + 5 * MS);
    timeline.body(ADMITTED + 80 * MS);
    timeline.closed(ADMITTED + 81 * MS);
    RequestRecord.Timing timing = timeline.timing(1, null, 40);
    assertThat(timing.latencyNanos()).isEqualTo(80 * MS);
    assertThat(timing.ttftNanos()).isNull();
    assertThat(timing.ttfoNanos()).isNull();
    assertThat(timing.tpotNanos()).isNull();
    assertThat(timing.firstEventNanos()).isNull();
  }

  @Test
  void tokensPerEventAreKeptWhereEveryEventHasThem() {
    Timeline known = admitted();
    add(known, at(10, 2));
    add(known, at(20, 3));
    assertThat(known.events(true).tokens()).containsExactly(2, 3);
    assertThat(known.events(true).firstEventTokens()).isEqualTo(2);

    add(known, at(30));
    assertThat(known.events(true).tokens()).isEmpty();
    assertThat(known.events(true).firstEventTokens()).isEqualTo(2);
  }

  /** 2 events 1 s apart, N = 100: 50 tokens in the 1 s, 20 ms each by TPOT and by ITL. */
  @Test
  void tpotAndItlAgreeWhereTokensPerEventAreNotKnown() {
    RequestRecord.Tokens hundred =
        new RequestRecord.Tokens(
            null, null, null, null, null, 100, null, null, 100, false, null, List.of(), null);
    Timeline unknown = admitted();
    add(unknown, at(20));
    add(unknown, at(1_020));
    RequestRecord record = record(unknown, hundred);
    assertThat(record.timing().tpotNanos()).isEqualTo(20d * MS);
    assertThat(TokenGaps.sortedTokenMicros(record.events(), hundred))
        .hasSize(50)
        .containsOnly(20_000);
    assertThat(record.isTpotEstimated()).isTrue();

    Timeline known = admitted();
    add(known, at(20, 60));
    add(known, at(1_020, 40));
    record = record(known, hundred);
    assertThat(record.timing().tpotNanos()).isEqualTo(25d * MS);
    assertThat(TokenGaps.sortedTokenMicros(record.events(), hundred))
        .hasSize(40)
        .containsOnly(25_000);
    assertThat(record.isTpotEstimated()).isFalse();
  }

  private static RequestRecord record(Timeline timeline, RequestRecord.Tokens tokens) {
    RequestRecord any = new RandomRecords(1).any();
    return new RequestRecord(
        any.identity(),
        timeline.timing(1, null, tokens.streamedTokens()),
        timeline.events(true),
        tokens,
        any.outcome(),
        ServerReport.NONE,
        null);
  }

  @Test
  void choicesAreKeptWhereThereAreSeveral() {
    Timeline one = admitted();
    add(one, ofChoice(0, 10));
    assertThat(one.events(true).choices()).isEmpty();

    Timeline many = admitted();
    for (int i = 0; i < 100; i++) {
      add(many, ofChoice(i < 70 ? 0 : i % 3, i));
    }
    int[] choices = many.events(true).choices();
    assertThat(choices).hasSize(100);
    assertThat(choices[0]).isZero();
    assertThat(choices[71]).isEqualTo(2);
    assertThat(choices[99]).isZero();
  }

  @Test
  void eventsAreCountedWithoutTheirTimes() {
    Timeline timeline = admitted();
    add(timeline, at(10, 1));
    add(timeline, at(20, 1));
    timeline.done();
    timeline.late();
    RequestRecord.Events events = timeline.events(false);
    assertThat(events.offsetsMicros()).isEmpty();
    assertThat(events.tokens()).isEmpty();
    assertThat(events.count()).isEqualTo(2);
    assertThat(events.longestGapNanos()).isEqualTo(10 * MS);
    assertThat(events.done()).isTrue();
    assertThat(events.late()).isEqualTo(1);
  }

  @Test
  void offsetsEndAtTheLargestNumberOfMicrosecondsThatFits() {
    long fits = Integer.MAX_VALUE / 1_000; // 35.8 minutes
    Timeline timeline = admitted();
    add(timeline, at(fits));
    add(timeline, at(fits + 60_000));
    assertThat(timeline.events(true).offsetsMicros())
        .containsExactly((int) fits * 1_000, Integer.MAX_VALUE);
    assertThat(timeline.timing(1, null, 2).latencyNanos()).isEqualTo((fits + 60_000) * MS);
  }

  @Test
  void gapsOfOneMicrosecondSurvive() {
    Timeline timeline = admitted();
    for (int i = 0; i < 1_000; i++) {
      timeline.tokens(0, ADMITTED + i * 1_000L, true, UNKNOWN);
    }
    assertThat(timeline.events(true).offsetsMicros()).startsWith(0, 1, 2).endsWith(998, 999);
    assertThat(timeline.timing(1, null, 1_000).tpotNanos()).isEqualTo(1_000d);
    assertThat(timeline.events(true).coalesced()).isZero();
  }

  @Test
  void clockMayOverflow() {
    long start = Long.MAX_VALUE - 5 * MS;
    Timeline timeline = new Timeline(start, start);
    timeline.admitted(start);
    timeline.tokens(0, start + 2 * MS, true, UNKNOWN);
    timeline.tokens(0, start + 12 * MS, true, UNKNOWN);
    assertThat(timeline.timing(1, null, 2).tpotNanos()).isEqualTo(10d * MS);
    assertThat(timeline.timing(1, null, 2).latencyNanos()).isEqualTo(12 * MS);
  }

  private static Timeline admitted() {
    Timeline timeline = new Timeline(ADMITTED, ADMITTED);
    timeline.admitted(ADMITTED);
    return timeline;
  }

  private static void add(Timeline timeline, At event) {
    timeline.tokens(event.choice(), ADMITTED + event.millis() * MS, event.output(), event.tokens());
  }

  private static @Nullable Long nanos(@Nullable Long millis) {
    return millis == null ? null : (Long) (millis * MS);
  }
}
