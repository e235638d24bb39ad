package io.github.gatlingllm.action;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Decides how long the JVM is warmed up: until its compilers are idle, that is until they have used
 * at most 10 ms of the last 500 ms. At least 1 s, and at most 6 s, as an optimising compiler goes
 * on for a minute; 2.5 s where the JVM does not report compilation times.
 */
final class CompilerWatch {

  static final long MIN_NANOS = TimeUnit.SECONDS.toNanos(1);
  static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(6);
  static final long UNKNOWN_NANOS = TimeUnit.MILLISECONDS.toNanos(2_500);
  static final long INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  static final long IDLE_MILLIS = 10;

  private static final long UNKNOWN = -1;

  private final LongSupplier nanoClock;
  private final LongSupplier compilerMillis;
  private final long startNanos;
  private long intervalNanos;
  private long intervalMillis;
  private boolean isIdle;

  /**
   * Starts to watch.
   *
   * @param compilerMillis time that compilers have used so far; −1 where the JVM does not report it
   */
  CompilerWatch(LongSupplier nanoClock, LongSupplier compilerMillis) {
    this.nanoClock = nanoClock;
    this.compilerMillis = compilerMillis;
    startNanos = nanoClock.getAsLong();
    intervalNanos = startNanos;
    intervalMillis = compilerMillis.getAsLong();
  }

  /** Watches the compilers of this JVM. */
  static CompilerWatch ofThisJvm() {
    CompilationMXBean bean = ManagementFactory.getCompilationMXBean();
    boolean isReported = bean != null && bean.isCompilationTimeMonitoringSupported();
    return new CompilerWatch(
        System::nanoTime, () -> isReported ? bean.getTotalCompilationTime() : UNKNOWN);
  }

  /** Whether the warm-up goes on; to be called many times per second. */
  boolean isWarmingUp() {
    long now = nanoClock.getAsLong();
    long millis = compilerMillis.getAsLong();
    if (millis == UNKNOWN) {
      return now - startNanos < UNKNOWN_NANOS;
    }
    if (now - intervalNanos >= INTERVAL_NANOS) {
      isIdle = millis - intervalMillis <= IDLE_MILLIS;
      intervalNanos = now;
      intervalMillis = millis;
    }
    return now - startNanos < MIN_NANOS || (!isIdle && now - startNanos < MAX_NANOS);
  }
}
