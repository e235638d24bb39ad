package io.github.gatlingllm.clock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.clock.ComparedClock.TimeServer;
import io.github.gatlingllm.record.ClockOffset;
import io.github.gatlingllm.record.ClockOffset.DateChange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The clock of a run before and after the load, and the setting. */
class ComparedClockTest {

  private static final long MS = 1_000_000;
  private static final long BEGIN = 1_763_800_000_000_000_000L;
  private static final Map<String, List<DateChange>> DATES =
      Map.of("a:1", List.of(new DateChange(BEGIN / 1_000_000_000, BEGIN - 3 * MS, BEGIN - MS)));

  private final AtomicLong now = new AtomicLong(BEGIN);
  private final List<String> said = new ArrayList<>();

  private ComparedClock clock(String setting) {
    return new ComparedClock(TimeServer.of(setting), now::get, said::add);
  }

  @Test
  void driftIsInTheReadingsBeforeAndAfterTheLoad() {
    AtomicLong ahead = new AtomicLong(-200 * MS);
    try (FakeNtpServer server = new FakeNtpServer(() -> now.get() + ahead.get())) {
      ComparedClock clock = clock(server.address());

      assertThat(clock.before().offsetNanos()).isCloseTo(-200 * MS, within(2L));
      now.addAndGet(3_600_000 * MS);
      ahead.set(-164 * MS);
      clock.after(Duration.ofSeconds(20));
      ClockOffset offset = clock.offset(() -> DATES);

      assertThat(offset.readings())
          .extracting(ClockOffset.Reading::unixNanos)
          .containsExactly(BEGIN, BEGIN + 3_600_000 * MS);
      assertThat(ClockOffset.offsetAt(offset.readings(), BEGIN + 1_800_000 * MS))
          .isCloseTo(-182 * MS, within(2L));
      assertThat(offset.dates()).isEqualTo(DATES);
      assertThat(said)
          .containsExactly("LLM clock: 200.00 ms ahead of ntp " + server.address() + ", ± 0.00 ms");
    }
  }

  @Test
  void serverReachableOnlyBeforeOrOnlyAfterTheLoad() {
    AtomicBoolean well = new AtomicBoolean(true);
    FakeNtpServer.Answer answer =
        FakeNtpServer.always(() -> now.get() + 200 * MS, p -> well.get() ? p : p.put(1, (byte) 16));
    try (FakeNtpServer server = new FakeNtpServer(answer)) {
      ComparedClock before = clock(server.address());
      before.before();
      well.set(false);
      before.after(Duration.ofSeconds(20));
      ComparedClock after = clock(server.address());
      after.before();
      well.set(true);
      after.after(Duration.ofSeconds(20));

      assertThat(before.offset(() -> DATES).readings()).hasSize(1);
      assertThat(after.offset(() -> DATES).offsetNanos()).isCloseTo(200 * MS, within(2L));
      String because =
          "ntp "
              + server.address()
              + ": it is not synchronized itself (leap 0, stratum 16); the offset of this clock"
              + " stays unknown";
      assertThat(said)
          .containsExactly(
              "LLM clock: 200.00 ms behind ntp " + server.address() + ", ± 0.00 ms",
              "LLM clock: compared only before the load; " + because,
              "LLM clock: " + because);
    }
  }

  @Test
  void noServerIsAskedUnlessOneIsSet() {
    for (String setting : List.of("auto", "off")) {
      ComparedClock clock = clock(setting);
      assertThat(clock.before()).isNull();
      clock.after(Duration.ofSeconds(20));
    }
    assertThat(said).isEmpty();
    assertThat(clock("off").offset(() -> DATES)).isNull();
    ClockOffset dates = clock("auto").offset(() -> DATES);
    assertThat(dates.source()).isEqualTo("Date of a:1");
    assertThat(dates.offsetNanos()).isEqualTo(2 * MS);
    assertThat(dates.uncertaintyNanos()).isEqualTo(MS);
    assertThat(clock("auto").offset(Map::of).unknown())
        .isEqualTo("answers had no Date that changed");
  }

  @ParameterizedTest
  @CsvSource({
    "ntp.example.com, ntp.example.com:123",
    "10.0.0.1:1123, 10.0.0.1:1123",
    "[::1]:1123, [::1]:1123",
    "::1, [::1]:123",
    "auto, auto",
    "off, off"
  })
  void validSettings(String text, String means) {
    assertThat(TimeServer.of(text)).hasToString(means);
    assertThat(TimeServer.of(Map.of("llm.clock", text), Map.of())).hasToString(means);
    assertThat(TimeServer.of(Map.of(), Map.of("LLM_CLOCK", text))).hasToString(means);
    assertThat(TimeServer.of(Map.of(), Map.of())).hasToString("auto");
  }

  @ParameterizedTest
  @ValueSource(strings = {"http://a/", "a:0", "a:70000", "a:b", "a b", ":123"})
  void invalidSettings(String text) {
    assertThatThrownBy(() -> TimeServer.of(Map.of("llm.clock", text), Map.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "llm.clock="
                + text
                + ": expected auto, off, or host[:port] of an NTP server such as pool.ntp.org");
  }
}
