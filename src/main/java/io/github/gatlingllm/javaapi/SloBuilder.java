package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.github.gatlingllm.action.Dynamic.Draft;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.record.Slo;
import java.time.Duration;

/**
 * Service level objectives of requests, and the share of requests that must meet them: {@code
 * slo().ttft(ofMillis(200)).tpot(ofMillis(50)).percentile(99)}. TTFT, TTFO and E2E count from the
 * planned arrival, so that waits inside the client are included. Limits are durations above 0, or
 * numbers of milliseconds.
 */
public final class SloBuilder {

  static final SloBuilder START = new SloBuilder(Slo.NONE);

  private final Slo slo;

  SloBuilder(Slo slo) {
    this.slo = slo;
  }

  Slo build() {
    if (slo.isEmpty()) {
      throw InvalidSimulation.because(
          "slo() has no objective; add one: slo().ttft(200), or slo(\"ttft<200ms,tpot<50ms\")");
    }
    return slo;
  }

  /** Time to first token must be below this limit. */
  public SloBuilder ttft(Duration limit) {
    return and(Slo.Measure.TTFT, limit);
  }

  public SloBuilder ttft(double millis) {
    return ttft(duration(millis));
  }

  /** Time to first token that is not reasoning must be below this limit. */
  public SloBuilder ttfo(Duration limit) {
    return and(Slo.Measure.TTFO, limit);
  }

  public SloBuilder ttfo(double millis) {
    return ttfo(duration(millis));
  }

  /** Mean time per output token after the first must be below this limit. */
  public SloBuilder tpot(Duration limit) {
    return and(Slo.Measure.TPOT, limit);
  }

  public SloBuilder tpot(double millis) {
    return tpot(duration(millis));
  }

  /** The 99th percentile of the request's inter-token gaps must be below this limit. */
  public SloBuilder itl(Duration limit) {
    return and(Slo.Measure.ITL, limit);
  }

  public SloBuilder itl(double millis) {
    return itl(duration(millis));
  }

  /** Time to the last token must be below this limit. */
  public SloBuilder e2e(Duration limit) {
    return and(Slo.Measure.E2E, limit);
  }

  public SloBuilder e2e(double millis) {
    return e2e(duration(millis));
  }

  /** The longest inter-token gap of the request must be below this limit. */
  public SloBuilder stall(Duration limit) {
    return and(Slo.Measure.STALL, limit);
  }

  public SloBuilder stall(double millis) {
    return stall(duration(millis));
  }

  /**
   * The percentage of the attempted requests that must meet each objective for a load level to hold
   * the SLO, failed ones included: above 0, at most 100; 99 by default, which means that TTFT p99
   * and TPOT p99 are within their limits.
   */
  public SloBuilder percentile(double percent) {
    return new SloBuilder(checked(() -> slo.judgedBy(percent, slo.rule())));
  }

  /**
   * A load level holds the SLO only if the share of {@link #percentile} meets all objectives
   * together, instead of each objective by itself.
   */
  public SloBuilder allAtOnce() {
    return new SloBuilder(slo.judgedBy(slo.percentile(), Slo.Rule.REQUESTS));
  }

  private SloBuilder and(Slo.Measure measure, Duration limit) {
    long nanos = InvalidSimulation.above0("slo()." + measure.key(), limit).toNanos();
    Slo.Objective objective = new Slo.Objective(measure, nanos);
    return new SloBuilder(
        new Slo(Draft.and(slo.objectives(), objective), slo.percentile(), slo.rule()));
  }

  private static Duration duration(double millis) {
    return Duration.ofNanos(Math.round(millis * 1e6));
  }
}
