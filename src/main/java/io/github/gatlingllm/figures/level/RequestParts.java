package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.Amount;
import io.github.gatlingllm.figures.metric.Amount.CountedWhen;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.Slo;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One request taken apart: the values of its metrics, and what it adds to the sums of any window.
 * One object serves one request after the other, and allocates nothing per request.
 */
@SuppressWarnings("EnumOrdinal") // arrays: every amount of every request in every window
final class RequestParts {

  private static final int STALL_MICROS = 100_000;

  private static final Amount[] AMOUNTS = Amount.values();

  /** The positions of the amounts that are added at the same instants. */
  private static final int[][] BY_WHEN =
      Arrays.stream(CountedWhen.values())
          .map(
              when ->
                  Arrays.stream(AMOUNTS)
                      .filter(amount -> amount.when() == when)
                      .mapToInt(Amount::ordinal)
                      .toArray())
          .toArray(int[][]::new);

  /** No instant is before or after every window. */
  static final long NEVER = Long.MIN_VALUE;

  final TokenStream stream = new TokenStream();
  private final List<Metric> metrics;
  private final double readingSpeed;

  /** NaN where the request has no value. */
  private final double[] values = new double[Metric.values().length];

  private final double[] adds = new double[AMOUNTS.length];
  private final double[] parts = new double[CountedWhen.values().length];
  private @Nullable RequestRecord record;
  private Slo.@Nullable Judgement judgement;
  String owner = "";
  private @Nullable Boolean met;
  long scheduled;
  private long start;
  long admitted;
  private long firstToken;
  private long lastToken;
  private long answered;
  long closed;

  /** For cells that keep these metrics. */
  RequestParts(List<Metric> metrics, double readingSpeed) {
    this.metrics = metrics;
    this.readingSpeed = readingSpeed;
    Arrays.fill(values, Double.NaN);
  }

  void read(RequestRecord record) {
    judgement = null;
    read(record, record.outcome().sloOk());
  }

  /** Reads a request; {@code owner} is the prefix of its objectives, if it has its own. */
  void read(RequestRecord record, Slo.Judgement judgement, String owner) {
    this.judgement = judgement;
    this.owner = owner;
    read(record, judgement.met());
  }

  private void read(RequestRecord record, @Nullable Boolean met) {
    this.record = record;
    this.met = met;
    stream.read(record);
    int stalls = stream.gapsAbove(STALL_MICROS);
    for (Metric metric : metrics) {
      values[metric.ordinal()] =
          metric == Metric.JITTER_PER_REQUEST ? jitter(record) : metric.of(record, readingSpeed);
    }
    instants(record.timing());
    for (Amount amount : AMOUNTS) {
      adds[amount.ordinal()] = amount.of(record, met, stalls);
    }
  }

  private double jitter(RequestRecord record) {
    double jitter = record.outcome().ok() && stream.gaps > 0 ? stream.jitter(record) : 0;
    return jitter > 0 ? jitter : Double.NaN;
  }

  private void instants(RequestRecord.Timing timing) {
    scheduled = timing.scheduledUnixNanos();
    start = timing.startUnixNanos();
    Long at = timing.admittedUnixNanos();
    admitted = at == null ? NEVER : at;
    firstToken = since(timing.ttftNanos());
    lastToken = since(timing.latencyNanos());
    Long end = timing.closedUnixNanos();
    closed = at == null || end == null ? NEVER : end;
    answered = firstToken != NEVER ? firstToken : lastToken != NEVER ? lastToken : closed;
  }

  private long since(@Nullable Long nanos) {
    return admitted == NEVER || nanos == null ? NEVER : admitted + nanos;
  }

  RequestRecord record() {
    return Objects.requireNonNull(record);
  }

  @Nullable Boolean met() {
    return met;
  }

  Slo.Judgement judgement() {
    return Objects.requireNonNull(judgement);
  }

  /** The instant after which it adds to no window. */
  long end() {
    return Math.max(Math.max(scheduled, closed), Math.max(answered, stream.latest()));
  }

  /** The first instant at which it adds to a window. */
  long begin() {
    return Math.min(scheduled, start);
  }

  boolean isInFlight(long from, long to) {
    return closed != NEVER && overlap(admitted, closed, from, to) > 0;
  }

  /** The first token; without tokens the end of its answer, or of the request. */
  long answered() {
    return answered;
  }

  double value(Metric metric) {
    return values[metric.ordinal()];
  }

  /**
   * Selects what of the request happened in the window [{@code from}, {@code to}), for {@link
   * #addTo}.
   *
   * @param isMeasured whether it is a request of that window, scheduled in the phase measure
   */
  RequestParts in(long from, long to, boolean isMeasured) {
    part(CountedWhen.START, isMeasured ? 1 : 0);
    part(CountedWhen.OUTCOME, isMeasured ? 1 : 0);
    part(CountedWhen.REQUEST, isMeasured ? 1 : 0);
    part(CountedWhen.SCHEDULED, isIn(scheduled, from, to));
    return in(from, to, from);
  }

  /**
   * The same for an interval of a chart: start and outcome count at the instant they happened.
   *
   * @param flightsFrom from when on requests in flight count
   */
  RequestParts during(long from, long to, long flightsFrom) {
    part(CountedWhen.START, isIn(start, from, to));
    part(CountedWhen.OUTCOME, isIn(closed, from, to));
    part(CountedWhen.REQUEST, 0);
    part(CountedWhen.SCHEDULED, 0); // those of a chart are in the plan
    return in(from, to, flightsFrom);
  }

  private RequestParts in(long from, long to, long flightsFrom) {
    part(CountedWhen.TOKEN, stream.tokens(from, to));
    part(CountedWhen.ANSWER, isIn(answered, from, to));
    part(CountedWhen.END, isIn(closed, from, to));
    boolean isClosed = closed != NEVER;
    part(CountedWhen.IN_FLIGHT, isClosed ? overlap(admitted, closed, flightsFrom, to) : 0);
    boolean isStreamed = isClosed && firstToken != NEVER && lastToken != NEVER;
    part(CountedWhen.RECEIVING, isStreamed ? overlap(firstToken, lastToken, flightsFrom, to) : 0);
    return this;
  }

  /** Adds what was selected to sums by the position of their amount. */
  void addTo(double[] sums) {
    for (int when = 0; when < parts.length; when++) {
      double part = parts[when];
      if (part != 0) {
        for (int amount : BY_WHEN[when]) {
          sums[amount] += adds[amount] * part;
        }
      }
    }
  }

  private void part(CountedWhen when, double part) {
    parts[when.ordinal()] = part;
  }

  private static int isIn(long instant, long from, long to) {
    return instant != NEVER && instant >= from && instant < to ? 1 : 0;
  }

  private static double overlap(long start, long end, long from, long to) {
    return Math.max(0, Math.min(end, to) - Math.max(start, from));
  }
}
