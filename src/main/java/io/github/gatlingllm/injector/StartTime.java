package io.github.gatlingllm.injector;

import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;

/**
 * The instant at which the load is to start, by the wall clock of each injector.
 *
 * @param unixNanos since the epoch
 */
public record StartTime(long unixNanos) {

  /** What may be written. */
  public static final String EXPECTED =
      "seconds or milliseconds since 1970, or a time with its zone such as 2027-03-01T09:30:00Z";

  /** As seconds the year 5138, as milliseconds 1973: nobody means either. */
  private static final BigDecimal LEAST_MILLIS = BigDecimal.valueOf(100_000_000_000L);

  private static final BigDecimal MOST_MILLIS = LEAST_MILLIS.scaleByPowerOfTen(3);

  /**
   * Reads seconds or milliseconds since the epoch, whichever is a date of these decades, or an ISO
   * time with its zone.
   *
   * @throws IllegalArgumentException in one line, if it is none
   */
  public static StartTime parse(String text) {
    String time = text.strip();
    try {
      if (time.matches("\\d+(\\.\\d{1,9})?")) {
        return new StartTime(nanos(new BigDecimal(time)));
      }
      Instant instant = OffsetDateTime.parse(time).toInstant();
      return new StartTime(
          Math.addExact(
              Math.multiplyExact(instant.getEpochSecond(), 1_000_000_000L), instant.getNano()));
    } catch (DateTimeException | ArithmeticException e) {
      throw new IllegalArgumentException("expected " + EXPECTED, e);
    }
  }

  private static long nanos(BigDecimal number) {
    if (number.compareTo(MOST_MILLIS) >= 0) {
      throw new ArithmeticException("neither seconds nor milliseconds");
    }
    return number
        .scaleByPowerOfTen(number.compareTo(LEAST_MILLIS) < 0 ? 9 : 6)
        .toBigInteger()
        .longValueExact();
  }

  /** ISO, in UTC. */
  @Override
  public String toString() {
    return Instant.EPOCH.plusNanos(unixNanos).toString();
  }
}
