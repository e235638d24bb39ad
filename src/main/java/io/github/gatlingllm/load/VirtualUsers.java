package io.github.gatlingllm.load;

/**
 * Where virtual users come from. Calls return at once: a user starts on a thread of its own, never
 * inside the call.
 */
public interface VirtualUsers {

  /** Starts a user now; it then asks {@link PlanDriver#next} what to do. */
  void start();

  /** Starts a user at its planned instant, never before; it runs one iteration. */
  void start(Arrival arrival);

  /** Nobody will be started any more. */
  void noMore();

  /** A user that stands at the loop. Both calls return at once and act on the user's own thread. */
  interface Waiting {

    /** Runs one iteration of that stage. */
    void resume(RunningLevel stage);

    /** Ends the user. */
    void leave();
  }

  /** Runs tasks at instants of {@link System#nanoTime()}, never before. */
  @FunctionalInterface
  interface Timer {
    void at(long nanoTime, Runnable task);
  }
}
