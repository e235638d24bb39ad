package io.github.gatlingllm.load;

import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.record.ProcessSetting;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The part of a load test that this process runs: without a share all of it, without a start
 * immediately.
 *
 * @param startAt when the load starts, by the wall clock of each injector
 */
public record Injector(@Nullable InjectorShare share, @Nullable Instant startAt) {

  /** System property of the share, {@code i/n}; {@code LLM_INJECTOR} in the environment. */
  public static final String SHARE_PROPERTY = "llm.injector";

  /** System property of the start; {@code LLM_START_AT} in the environment. */
  public static final String START_PROPERTY = "llm.startAt";

  public static final String START_EXPECTED =
      "seconds or milliseconds since 1970, or a time with its zone such as 2027-03-01T09:30:00Z";

  /** Smaller numbers are seconds: 100 billion seconds is the year 5138, as milliseconds 1973. */
  private static final BigDecimal MIN_MILLIS = BigDecimal.valueOf(100_000_000_000L);

  private static final BigDecimal MAX_MILLIS = MIN_MILLIS.scaleByPowerOfTen(3);

  private static final InjectorShare ALONE = new InjectorShare(1, 1);

  private static final String INDEX = "JOB_COMPLETION_INDEX";
  private static final String COUNT = "INJECTORS";

  public static Injector ofProcess() {
    return of(System.getProperties(), System.getenv());
  }

  static Injector of(Map<?, ?> properties, Map<String, String> environment) {
    InjectorShare share =
        new ProcessSetting(SHARE_PROPERTY).read(properties, environment, InjectorShare::parse);
    return new Injector(
        share == null ? ofJob(environment) : share,
        new ProcessSetting(START_PROPERTY).read(properties, environment, Injector::start));
  }

  /** The share of a pod of an Indexed Job of Kubernetes. */
  private static @Nullable InjectorShare ofJob(Map<String, String> environment) {
    String index = environment.getOrDefault(INDEX, "").strip();
    String count = environment.getOrDefault(COUNT, "").strip();
    if (index.isEmpty() && count.isEmpty()) {
      return null;
    }
    int from0 = index.matches("\\d{1,5}") ? Integer.parseInt(index) : Integer.MAX_VALUE;
    int injectors = count.matches("\\d{1,5}") ? Integer.parseInt(count) : 0;
    if (from0 >= injectors || injectors > InjectorShare.MAX_COUNT) {
      throw new IllegalArgumentException(
          ("%s=%s and %s=%s: expected the index of a pod of an Indexed Job, from 0, and its"
                  + " completions, at most %s; or set %s=<i>/<n>")
              .formatted(
                  INDEX,
                  index,
                  COUNT,
                  count,
                  NumberText.count(InjectorShare.MAX_COUNT),
                  SHARE_PROPERTY));
    }
    return new InjectorShare(from0 + 1, injectors);
  }

  public boolean isPart() {
    return share != null && share.isPart();
  }

  /** The share of the load; 1/1 where none is set. */
  public InjectorShare part() {
    return share == null ? ALONE : share;
  }

  /** {@code 2/4, from 2027-03-01T09:30:00Z}. */
  @Override
  public String toString() {
    return part() + (startAt == null ? "" : ", from " + startAt);
  }

  /** The name of this injector in records: the host, and the index where a share is set. */
  public String nameOn(String host) {
    return share == null ? host : host + "-" + share.index();
  }

  /** Parses seconds or milliseconds since 1970, told apart by size, or an ISO time with zone. */
  public static Instant start(String text) {
    String time = text.strip();
    try {
      Instant start =
          time.matches("\\d+(\\.\\d{1,9})?")
              ? Instant.EPOCH.plusNanos(nanos(new BigDecimal(time)))
              : OffsetDateTime.parse(time).toInstant();
      var unused = unixNanos(start); // until the year 2262
      return start;
    } catch (DateTimeException | ArithmeticException e) {
      throw new IllegalArgumentException("expected " + START_EXPECTED, e);
    }
  }

  private static long nanos(BigDecimal number) {
    if (number.compareTo(MAX_MILLIS) >= 0) {
      throw new ArithmeticException("neither seconds nor milliseconds");
    }
    return number
        .scaleByPowerOfTen(number.compareTo(MIN_MILLIS) < 0 ? 9 : 6)
        .toBigInteger()
        .longValueExact();
  }

  public static long unixNanos(Instant start) {
    return ChronoUnit.NANOS.between(Instant.EPOCH, start);
  }
}
