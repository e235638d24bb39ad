package io.github.gatlingllm.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.record.ClockOffset;
import io.github.gatlingllm.record.ClockOffset.DateChange;
import io.github.gatlingllm.record.ClockOffset.Reading;
import io.netty.handler.codec.DateFormatter;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Clocks found by the Date of answers: simulated servers, and injectors whose clocks are off. */
class ServerDatesTest {

  private static final long MS = 1_000_000;
  private static final long SECOND = 1_000 * MS;
  private static final long BEGIN = 1_763_800_000L * SECOND + 345_678_901;

  /** What the server's clock is when an answer says what it says. */
  private LongUnaryOperator dateOf = instant -> instant;

  /** An injector by whose clock an instant of the true time is something else. */
  private record Injector(LongUnaryOperator clock, ServerDates dates, Random random) {

    static Injector behind(long nanos, long seed) {
      return new Injector(t -> t - nanos, new ServerDates(), new Random(seed));
    }

    ClockOffset offset() {
      return ClockOffset.ofDates(Map.of("engine:8000", dates.changes(clock)));
    }
  }

  /** Answers at random instants that take 1 to 30 ms to begin. */
  private void load(Injector injector, double perSecond, int seconds) {
    Random random = injector.random;
    double at = BEGIN + random.nextDouble() * SECOND / perSecond;
    while (at < BEGIN + seconds * SECOND) {
      long sent = Math.round(at);
      long made = sent + MS / 2 + random.nextInt(Math.toIntExact(20 * MS));
      long received = made + MS / 2 + random.nextInt(Math.toIntExact(9 * MS));
      String date =
          DateFormatter.format(Date.from(Instant.ofEpochMilli(dateOf.applyAsLong(made) / MS)));
      injector.dates.answered(date, sent, received);
      at += -Math.log(1 - random.nextDouble()) * SECOND / perSecond;
    }
  }

  private static void isKnown(Reading reading, long offset, long within) {
    assertThat(reading.offsetNanos()).isCloseTo(offset, within(within));
    assertThat(Math.abs(reading.offsetNanos() - offset))
        .as("the truth is within the uncertainty %s", reading)
        .isLessThanOrEqualTo(reading.uncertaintyNanos());
  }

  @ParameterizedTest
  @CsvSource({"40, 60, 5", "5, 120, 10", "0.5, 300, 20"})
  void clockThatIsBehind(double perSecond, int seconds, long withinMs) {
    Injector injector = Injector.behind(200 * MS, 1);
    load(injector, perSecond, seconds);

    ClockOffset found = injector.offset();
    assertThat(found.source()).isEqualTo("Date of engine:8000");
    assertThat(found.readings()).hasSize(2);
    found.readings().forEach(reading -> isKnown(reading, 200 * MS, withinMs * MS));
    assertThat(found.uncertaintyNanos()).isLessThan(withinMs * MS);
    assertThat(found.dates().get("engine:8000")).hasSizeBetween(50, 128);
  }

  /**
   * A server that looks at its clock once a second, and each time some milliseconds later in it (as
   * uvicorn does): its Date is up to a second late. Two injectors see that alike.
   */
  @Test
  void serverWhoseDateIsLate() {
    long everySo = 1_004 * MS;
    dateOf = instant -> BEGIN + (instant - BEGIN) / everySo * everySo;
    Injector one = Injector.behind(0, 1);
    Injector other = Injector.behind(200 * MS, 2);
    load(one, 200, 60);
    load(other, 200, 50);

    assertThat(one.offset().unknown())
        .isEqualTo("it is not that of one clock, or late by a time that changes");
    List<Reading> between = other.offset().to(one.offset());
    assertThat(between).hasSize(2);
    between.forEach(reading -> isKnown(reading, 200 * MS, 5 * MS));
    one.offset().to(other.offset()).forEach(reading -> isKnown(reading, -200 * MS, 5 * MS));
  }

  /** 30 ppm, which is much: 108 ms in an hour. */
  @Test
  void clockThatRunsApart() {
    Injector one = Injector.behind(0, 1);
    Injector other =
        new Injector(
            t -> t - 200 * MS - Math.round((t - BEGIN) * 30e-6), new ServerDates(), new Random(2));
    load(one, 5, 3_600);
    load(other, 5, 3_600);

    List<Reading> between = other.offset().to(one.offset());
    for (int minute = 0; minute <= 60; minute += 5) {
      long instant = BEGIN + minute * 60L * SECOND;
      long truth = instant - other.clock.applyAsLong(instant);
      assertThat(ClockOffset.offsetAt(between, other.clock.applyAsLong(instant)))
          .as("minute %s", minute)
          .isCloseTo(truth, within(5 * MS));
    }
    assertThat(other.offset().dates().get("engine:8000")).hasSizeBetween(64, 128);
  }

  /** Behind one address, two servers that disagree by 600 ms. */
  @Test
  void differentClocksBehindOneAddressGiveNoOffset() {
    Random which = new Random(3);
    dateOf = instant -> instant + (which.nextBoolean() ? 600 * MS : 0);
    Injector one = Injector.behind(0, 1);
    Injector other = Injector.behind(200 * MS, 2);
    load(one, 20, 30);
    load(other, 20, 30);

    assertThat(one.offset().offsetNanos()).isNull();
    assertThat(other.offset().to(one.offset())).isEmpty();
  }

  @Test
  void invalidDateIsIgnored() {
    Injector injector = Injector.behind(0, 1);
    injector.dates.answered(null, BEGIN, BEGIN + MS);
    injector.dates.answered("yesterday", BEGIN, BEGIN + MS);
    injector.dates.answered("Thu, 01 Jan 1970 00:00:00 GMT", BEGIN, BEGIN + MS);
    injector.dates.answered("Sat, 22 Nov 2025 08:26:40 GMT", BEGIN, BEGIN + MS);

    assertThat(injector.dates.changes(injector.clock)).isEmpty();
    assertThat(injector.offset().unknown()).isEqualTo("answers had no Date that changed");
    assertThat(injector.offset().to(injector.offset())).isEmpty();
  }

  @Test
  void secondsWithoutAnswersAndAnswersOutOfOrder() {
    ServerDates dates = new ServerDates();
    dates.answered("Sat, 22 Nov 2025 08:26:40 GMT", 100, 110);
    dates.answered("Sat, 22 Nov 2025 08:26:43 GMT", 3_000, 3_010);
    dates.answered("Sat, 22 Nov 2025 08:26:41 GMT", 500, 5_000);

    assertThat(dates.changes(t -> t))
        .containsExactly(
            new DateChange(1_763_800_001, 100, 3_010),
            new DateChange(1_763_800_002, 500, 3_010),
            new DateChange(1_763_800_003, 500, 3_010));
  }
}
