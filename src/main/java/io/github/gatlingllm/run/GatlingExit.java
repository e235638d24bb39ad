package io.github.gatlingllm.run;

import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Ends the JVM, from its shutdown hook, with an exit code other than Gatling's: what it does not
 * know of has failed. Only where Gatling itself ends the JVM, after a run that came to its end:
 * whoever asks the JVM to exit still stands in {@code Runtime.exit} with all its callers on the
 * stack. After a signal or a crash, or where Gatling is a guest in somebody else's JVM, it is not
 * Gatling, and nothing happens.
 */
final class GatlingExit {

  /**
   * What Gatling returns, and its Maven plugin understands, when assertions were missed; an invalid
   * run is no better.
   */
  static final int ASSERTIONS_MISSED = 2;

  /** Records could not be written, or not uploaded. */
  static final int RECORDS_LOST = 1;

  private static final String GATLING = "io.gatling.app.Gatling";
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final Set<Thread> before;

  /** To be made before anything shuts down: what starts later may be somebody's shutdown hook. */
  GatlingExit() {
    before = Set.copyOf(Thread.getAllStackTraces().keySet());
  }

  /**
   * Ends the JVM at once, but not before other shutdown hooks have ended, or 5 s have passed.
   * Returns where Gatling does not end the JVM.
   */
  void with(int code) {
    if (!gatlingExits()) {
      return;
    }
    awaitOtherHooks();
    System.out.flush();
    System.err.flush();
    Runtime.getRuntime().halt(code);
  }

  private static boolean gatlingExits() {
    return Thread.getAllStackTraces().values().stream()
        .anyMatch(
            stack ->
                Arrays.stream(stack).anyMatch(GatlingExit::isExit)
                    && Arrays.stream(stack).anyMatch(GatlingExit::isGatling));
  }

  private static boolean isExit(StackTraceElement frame) {
    return frame.getClassName().equals("java.lang.Runtime") && frame.getMethodName().equals("exit");
  }

  private static boolean isGatling(StackTraceElement frame) {
    return frame.getClassName().equals(GATLING) || frame.getClassName().equals(GATLING + "$");
  }

  private void awaitOtherHooks() {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    for (Map.Entry<Thread, StackTraceElement[]> each : Thread.getAllStackTraces().entrySet()) {
      Thread thread = each.getKey();
      boolean mayBeHook =
          thread != Thread.currentThread()
              && !before.contains(thread)
              && thread.getThreadGroup() == Thread.currentThread().getThreadGroup();
      long left = deadline - System.nanoTime();
      if (mayBeHook && left > 0) {
        try {
          thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(left)));
        } catch (InterruptedException e) {
          return;
        }
      }
    }
  }
}
