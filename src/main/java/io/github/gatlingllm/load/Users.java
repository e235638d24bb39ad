package io.github.gatlingllm.load;

/** Starts virtual users. A user starts on another thread, never during the call. */
public interface Users {

  /** Starts a user now; it then calls {@link PlanDriver#next}. */
  void start();

  /** Starts a user at its planned instant, never before; it runs one iteration. */
  void start(Arrival arrival);

  /** No further user will be started. */
  void allStarted();

  /** A user that waits for an iteration. Both calls take effect on the user's thread. */
  interface LoopingUser {

    /** Runs one iteration of that level. */
    void resume(RunningLevel level);

    /** Ends the user. */
    void end();
  }
}
