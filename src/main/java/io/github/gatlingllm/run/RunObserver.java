package io.github.gatlingllm.run;

import io.github.gatlingllm.record.RequestRecord;
import java.time.Duration;
import java.util.List;

/**
 * An output of a run, called by one separate thread. One that throws, blocks or cannot keep up
 * costs its own output and one line on the console.
 */
interface RunObserver {

  String name();

  /** Longest wait of the run for {@link #start}, {@link #stop} and a new stage. */
  default Duration patience() {
    return Duration.ofSeconds(3);
  }

  /** The run waits: a target will be used, or a warm-up is over and the load is ahead. */
  default void start(RunView view) {}

  /** Requests that have ended, whose records are in the file or will be; valid in the call only. */
  default void records(List<RequestRecord> batch) {}

  /** A second has passed, or something else in the view has changed. */
  default void tick(RunView view) {}

  /** All requests have ended and all records are written; what follows is new stages. */
  default void stop(RunView view) {}

  /** Whether output was lost that the user must not miss, so that the build fails; any thread. */
  default boolean isOutputLost() {
    return false;
  }
}
