package io.github.gatlingllm.action;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Says how long the JVM is to be warmed up: until its compilers stand still, which is that they
 * took at most 2 % of half a second. At least 1 s and at most 6 s, since an optimising compiler
 * goes on for a minute; 2.5 s where the JVM does not tell.
 */
final class CompilerWatch {

  static final long LEAST_NANOS = TimeUnit.SECONDS.toNanos(1);
  static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(6);
  static final long UNTOLD_NANOS = TimeUnit.MILLISECONDS.toNanos(2_500);
  static final long SPAN_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  static final long STILL_MILLIS = 10;

  private static final long UNTOLD = -1;

  private final LongSupplier nanoClock;
  private final LongSupplier compilerMillis;
  private final long startNanos;
  private long spanNanos;
  private long spanMillis;
  private boolean still;

  /**
   * Watches from now on.
   *
   * @param compilerMillis what compilers took so far; −1 where the JVM does not tell
   */
  CompilerWatch(LongSupplier nanoClock, LongSupplier compilerMillis) {
    this.nanoClock = nanoClock;
    this.compilerMillis = compilerMillis;
    startNanos = nanoClock.getAsLong();
    spanNanos = startNanos;
    spanMillis = compilerMillis.getAsLong();
  }

  /** Watches the compilers of this JVM. */
  static CompilerWatch ofThisJvm() {
    CompilationMXBean bean = ManagementFactory.getCompilationMXBean();
    boolean tells = bean != null && bean.isCompilationTimeMonitoringSupported();
    return new CompilerWatch(
        System::nanoTime, () -> tells ? bean.getTotalCompilationTime() : UNTOLD);
  }

  /** Whether to go on; to be asked often. */
  boolean goesOn() {
    long now = nanoClock.getAsLong();
    long millis = compilerMillis.getAsLong();
    if (millis == UNTOLD) {
      return now - startNanos < UNTOLD_NANOS;
    }
    if (now - spanNanos >= SPAN_NANOS) {
      still = millis - spanMillis <= STILL_MILLIS;
      spanNanos = now;
      spanMillis = millis;
    }
    return now - startNanos < LEAST_NANOS || (!still && now - startNanos < MOST_NANOS);
  }
}
