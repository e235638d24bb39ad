package io.github.gatlingllm.run;

import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Replaces Gatling's exit code from the JVM's shutdown hook, for failures that Gatling does not
 * know, and only if Gatling itself ends the JVM: then its frames are on the stack of {@code
 * Runtime.exit}.
 */
final class GatlingExit {

  /**
   * Gatling's exit code for missed assertions, which its Maven plugin knows; also for an invalid
   * run.
   */
  static final int ASSERTIONS_MISSED = 2;

  /** Exit code if records or report could not be written, or not uploaded. */
  static final int OUTPUT_LOST = 1;

  private static final String GATLING = "io.gatling.app.Gatling";
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final Set<Thread> before;

  /** To be created before the shutdown starts: threads that start later may be shutdown hooks. */
  GatlingExit() {
    before = Set.copyOf(Thread.getAllStackTraces().keySet());
  }

  /**
   * Halts the JVM after the other shutdown hooks have ended, or after 5 s. Returns if it is not
   * Gatling that ends the JVM.
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
