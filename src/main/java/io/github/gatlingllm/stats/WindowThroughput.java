package io.github.gatlingllm.stats;

import io.github.gatlingllm.metric.Moments;

/**
 * What happened inside a measure window, whatever phase the request was scheduled in: tokens that
 * arrived, requests that ended, time in flight.
 */
final class WindowThroughput {

  private double tokens;
  private double sloTokens;
  private long promptTokens;
  private boolean promptKnown;
  private long ok;
  private long met;
  private long inFlightNanos;
  private final Moments staysMs = new Moments();

  void tokens(double count, boolean inSlo) {
    tokens += count;
    sloTokens += inSlo ? count : 0;
  }

  void promptTokens(int count) {
    promptTokens += count;
    promptKnown = true;
  }

  /** A request ended, {@code stayMs} after it was admitted. */
  void ended(double stayMs, boolean wasOk, boolean inSlo) {
    staysMs.add(stayMs, 1);
    ok += wasOk ? 1 : 0;
    met += inSlo ? 1 : 0;
  }

  void inFlight(long nanos) {
    inFlightNanos += nanos;
  }

  void add(WindowThroughput other) {
    tokens += other.tokens;
    sloTokens += other.sloTokens;
    promptTokens += other.promptTokens;
    promptKnown |= other.promptKnown;
    ok += other.ok;
    met += other.met;
    inFlightNanos += other.inFlightNanos;
    staysMs.add(other.staysMs);
  }

  double tokens() {
    return tokens;
  }

  double sloTokens() {
    return sloTokens;
  }

  long promptTokens() {
    return promptTokens;
  }

  boolean promptKnown() {
    return promptKnown;
  }

  long ok() {
    return ok;
  }

  long met() {
    return met;
  }

  long inFlightNanos() {
    return inFlightNanos;
  }

  /** Closed − admitted of the requests that ended in the window, in milliseconds. */
  Moments staysMs() {
    return staysMs;
  }
}
