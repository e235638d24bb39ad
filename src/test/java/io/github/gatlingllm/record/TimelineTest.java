package io.github.gatlingllm.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.RequestRecord.ServerReport;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every instant is written down here in milliseconds, every figure was computed by hand. */
final class TimelineTest {
  private static final long MS = 1_000_000;
  private static final int UNKNOWN = -1;

  /** Far from zero, so that a duration cannot be mistaken for an instant. */
  private static final long ADMITTED = 1_000_000 * MS;

  /** A token event at {@code millis} since admission. */
  private record At(long millis, int choice, boolean output, int tokens) {
    private static final Pattern FORM = Pattern.compile("(?:(\\d+):|(r))?(\\d+)(?:x(\\d+))?");

    static At of(String text) {
      Matcher form = FORM.matcher(text);
      assertThat(form.matches()).as(text).isTrue();
      return new At(
          Long.parseLong(form.group(3)),
          form.group(1) == null ? 0 : Integer.parseInt(form.group(1)),
          form.group(2) == null,
          form.group(4) == null ? UNKNOWN : Integer.parseInt(form.group(4)));
    }
  }

  /**
   * Events are at milliseconds since admission: {@code 40x4} came when the server had counted 4
   * tokens, {@code 1:20} is of choice 1, {@code r30} is reasoning. Then N and, in milliseconds,
   * TTFT, TTFO, latency, TPOT and the longest gap; empty where the figure is absent; and how many
   * events were coalesced.
   */
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          no token | | | | | | | | 0
          no token but a usage | | 7 | | | | | | 0
          one token | 50 | 1 | 50 | 50 | 50 | | | 0
          # (90 - 50) / (3 - 1)
          three tokens | 50 70 90 | 3 | 50 | 50 | 90 | 20 | 20 | 0
          N unknown | 50 70 | | 50 | 50 | 70 | | 20 | 0
          a burst of one event | 50 | 128 | 50 | 50 | 50 | | | 0
          all events in one read | 50 50 50 | 3 | 50 | 50 | 50 | | 0 | 2
          # (80 - 50) / (4 - 1); the second shares its read with the first
          two coalesced | 50 50 60 80 | 4 | 50 | 50 | 80 | 10 | 20 | 1
          # (100 - 40) / (10 - 4)
          first chunk of 4 | 40x4 70x7 100x10 | 10 | 40 | 40 | 100 | 10 | 30 | 0
          # k is not known, an even share is: (1020 - 20) / (100 - 100 / 2), as ITL has it
          2 events, N = 100 | 20 1020 | 100 | 20 | 20 | 1020 | 20 | 1000 | 0
          # (100 - 40) / (6 - 6 / 4)
          4 events, N = 6 | 40 60 80 100 | 6 | 40 | 40 | 100 | 60/4.5 | 20 | 0
          # the server counted the first event only: (100 - 40) / (10 - 4)
          first chunk of 4, then unknown | 40x4 70 100 | 10 | 40 | 40 | 100 | 10 | 30 | 0
          # spans 50 and 50 over 2 events of 5 tokens each: 100 / (20 - 2 * 5)
          two choices, N = 20 | 0:10 1:20 0:60 1:70 | 20 | 10 | 10 | 70 | 10 | 50 | 0
          first chunk holds all N | 40x5 70x5 | 5 | 40 | 40 | 70 | | 30 | 0
          # 51 until the first event, 1 in each gap, 5 after the last: 40 / 2
          tokens without text | 50x51 70x52 90x53 | 58 | 50 | 50 | 90 | 20 | 20 | 0
          # each count is the one before it: 8, 1, 1
          counts lag one event | 40x0 60x8 80x9 | 10 | 40 | 40 | 80 | 20 | 20 | 0
          # every second event is counted: 2 in each two
          counts of every second | 40 60x2 80 100x4 | 4 | 40 | 40 | 100 | 20 | 20 | 0
          # reasoning is a token, and no output
          reasoning first | r30 r40 70 | 3 | 30 | 70 | 70 | 20 | 30 | 0
          reasoning only | r30 r50 | 2 | 30 | | 50 | 20 | 20 | 0
          # a stall of 2 s is the longest gap: (2040 - 20) / (4 - 1)
          stall | 20 30 2030 2040 | 4 | 20 | 20 | 2040 | 2020/3 | 2000 | 0
          # spans (50 - 10) and (60 - 20), 6 tokens, 2 of them first ones: 80 / 4
          two choices interleaved | 0:10 1:20 0:30 1:40 0:50 1:60 | 6 | 10 | 10 | 60 | 20 | 20 | 0
          # both choices in every event: no choice ever had two events in one read
          two choices in each event | 0:10 1:10 0:30 1:30 | 4 | 10 | 10 | 30 | 20 | 20 | 0
          only choice 3 | 3:10 3:30 | 2 | 10 | 10 | 30 | 20 | 20 | 0
          # N excludes reasoning that never came; fewer tokens than events are possible
          N of 1 over 2 events | 10 30 | 1 | 10 | 10 | 30 | | 20 | 0
          N of 0 | 10 30 | 0 | 10 | 10 | 30 | | 20 | 0
          """)
  void figures(
      String name,
      @Nullable String events,
      @Nullable Integer n,
      @Nullable Long ttft,
      @Nullable Long ttfo,
      @Nullable Long latency,
      @Nullable String tpot,
      @Nullable Long longestGap,
      int coalesced) {
    List<At> all =
        events == null ? List.of() : Stream.of(events.split(" ", -1)).map(At::of).toList();
    Timeline timeline = admitted(events == null ? new String[0] : events.split(" ", -1));
    if (n != null) {
      timeline.counted(n, 0);
    }
    RequestRecord.Timing timing = timeline.timing(1, null, n);
    assertThat(timing.ttftNanos()).isEqualTo(nanos(ttft));
    assertThat(timing.ttfoNanos()).isEqualTo(nanos(ttfo));
    assertThat(timing.latencyNanos()).isEqualTo(nanos(latency));
    assertThat(timing.tpotNanos()).isEqualTo(tpot == null ? null : (Double) (quotient(tpot) * MS));
    RequestRecord.Events kept = timeline.events(true);
    assertThat(kept.longestGapNanos()).isEqualTo(nanos(longestGap));
    assertThat(kept.coalesced()).isEqualTo(coalesced);
    assertThat(kept.count()).isEqualTo(all.size());
    assertThat(kept.offsetsMicros())
        .containsExactly(all.stream().mapToInt(event -> (int) event.millis() * 1000).toArray());
  }

  private static double quotient(String text) {
    String[] parts = text.split("/", -1);
    return Double.parseDouble(parts[0]) / (parts.length == 1 ? 1 : Double.parseDouble(parts[1]));
  }

  @Test
  void everyInstantOfOneRequest() {
    Timeline timeline = new Timeline(ADMITTED - 7 * MS, ADMITTED - 4 * MS);
    timeline.admitted(ADMITTED);
    timeline.written(ADMITTED + 2 * MS);
    timeline.roundTrip(200_000L);
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
                null,
                200_000L));
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
                9, null, 0, null, null, null, null, null, null, null, null, null, null, null));
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
    Timeline known = admitted("10x2", "20x5");
    assertThat(known.events(true).tokens()).containsExactly(2, 3);
    assertThat(known.events(true).firstEventTokens()).isEqualTo(2);

    add(known, "30");
    assertThat(known.events(true).tokens()).isEmpty();
    assertThat(known.events(true).firstEventTokens()).isEqualTo(2);
  }

  @Test
  void everyTokenThatTheServerCountedBelongsToAnEvent() {
    Timeline timeline = admitted("10x6", "20x7", "30x9");
    timeline.counted(12, 5);
    RequestRecord.Events events = timeline.events(true);
    assertThat(events.tokens()).as("5 of the first were billed only").containsExactly(1, 1, 5);
    assertThat(events.tail()).isEqualTo(3);
    assertThat(timeline.timing(1, null, 7).tpotNanos()).isEqualTo(20d / 3 * MS);
  }

  /** 2 events 1 s apart, N = 100: 50 tokens in the 1 s, 20 ms each by TPOT and by ITL. */
  @Test
  void tpotAndItlAgreeWhereTokensPerEventAreNotKnown() {
    RequestRecord.Tokens hundred = tokens(100);
    RequestRecord record = record(admitted("20", "1020"), hundred);
    assertThat(record.timing().tpotNanos()).isEqualTo(20d * MS);
    assertThat(TokenGaps.sortedTokenMicros(record.events(), hundred))
        .hasSize(50)
        .containsOnly(20_000);
    assertThat(record.isTpotEstimated()).isTrue();

    record = record(admitted("20x60", "1020x100"), hundred);
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
        null,
        null);
  }

  @Test
  void choicesAreKeptWhereThereAreSeveral() {
    assertThat(admitted("0:10").events(true).choices()).isEmpty();
    Timeline many = admitted();
    for (int i = 0; i < 100; i++) {
      add(many, (i < 70 ? 0 : i % 3) + ":" + i);
    }
    int[] choices = many.events(true).choices();
    assertThat(choices).hasSize(100);
    assertThat(choices[0]).isZero();
    assertThat(choices[71]).isEqualTo(2);
    assertThat(choices[99]).isZero();
  }

  @Test
  void eventsAreCountedWithoutTheirTimes() {
    Timeline timeline = admitted("10x1", "20x1");
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
    Timeline timeline = admitted("" + fits, "" + (fits + 60_000));
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

  private static Timeline admitted(String... events) {
    Timeline timeline = new Timeline(ADMITTED, ADMITTED);
    timeline.admitted(ADMITTED);
    Arrays.stream(events).forEach(event -> add(timeline, event));
    return timeline;
  }

  private static void add(Timeline timeline, String text) {
    At event = At.of(text);
    timeline.tokens(event.choice(), ADMITTED + event.millis() * MS, event.output(), event.tokens());
  }

  private static @Nullable Long nanos(@Nullable Long millis) {
    return millis == null ? null : (Long) (millis * MS);
  }

  /**
   * Each row: offsets, tokens per event, choice per event, N; then raw gaps, and gaps per token.
   */
  @ParameterizedTest
  @CsvSource({
    "'100', '', '', 1, '', ''",
    "'', '', '', 5, '', ''",
    "'100 130 190', '', '', 3, '30 60', '30 60'",
    "'100 130 190', '1 1 3', '', 5, '30 60', '20 20 20 30'",
    "'100 130 190', '', '', 6, '30 60', '15 15 30 30'",
    "'100 130 190', '', '', 2, '30 60', '30 60'",
    "'100 130 190', '1 0 1', '', 2, '30 60', '90'",
    "'100 130 190', '1 1 0', '', 2, '30 60', '30'",
    "'100 100 100', '', '', 3, '0 0', '0 0'",
    "'10 15 30 45', '', '0 1 0 1', 4, '20 30', '20 30'",
    "'100 300', '', '', 4, '200', '100 100'",
    "'0 10 20 30', '', '', 6, '10 10 10', '6 6 6 6 6'",
    // an unknown number of tokens is one per event
    "'0 10 30', '', '', , '10 20', '10 20'",
    // a count that no answer can have must not cost memory
    "'0 10', '1 2000000000', '', 3, '10', ''",
  })
  void gapsAndTokens(
      String offsets,
      String tokens,
      String choices,
      @Nullable Integer n,
      String raw,
      String perToken) {
    RequestRecord.Events events = events(ints(offsets), ints(tokens), ints(choices));
    List<String> chunks = new ArrayList<>();
    TokenGaps.visit(events, tokens(n), (i, chunk, micros, count) -> chunks.add("" + chunk));
    assertThat(String.join(" ", chunks)).isEqualTo(raw);
    List<String> values = new ArrayList<>();
    for (double value : TokenGaps.sortedTokenMicros(events, tokens(n))) {
      values.add("" + (int) value);
    }
    assertThat(String.join(" ", values)).isEqualTo(perToken);
  }

  @ParameterizedTest
  @CsvSource({"50, 2", "51, 3", "75, 3", "76, 4", "99, 4", "100, 4", "25, 1", "1, 1"})
  void nearestRank(double percent, double expected) {
    assertThat(TokenGaps.nearestRank(new double[] {1, 2, 3, 4}, percent)).isEqualTo(expected);
  }

  /** Integers tell the exact rank: ⌈tenths of a percent × n ÷ 1,000⌉. */
  @Test
  void rankIsExactWhereBinaryFractionsAreNot() {
    for (int count = 1; count <= 20_000; count += count < 2_000 ? 1 : 500) {
      for (int tenths : new int[] {1, 10, 101, 500, 551, 900, 950, 990, 999, 1_000}) {
        long exact = ((long) tenths * count + 999) / 1_000;
        assertThat(TokenGaps.rank(tenths / 10.0, count))
            .as("p%s of %s", tenths / 10.0, count)
            .isEqualTo(exact);
      }
    }
  }

  private static int[] ints(String text) {
    return text.isEmpty()
        ? new int[0]
        : Arrays.stream(text.split(" ", -1)).mapToInt(Integer::parseInt).toArray();
  }

  private static RequestRecord.Events events(int[] offsets, int[] tokens, int[] choices) {
    return new RequestRecord.Events(
        offsets, tokens, choices, offsets.length, 0, 0, true, null, null, 0, List.of());
  }

  private static RequestRecord.Tokens tokens(@Nullable Integer n) {
    return new RequestRecord.Tokens(
        null, null, null, null, null, null, n, null, null, n, n == null, null, List.of(), null);
  }
}
