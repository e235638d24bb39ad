package io.github.gatlingllm.action;

import io.github.gatlingllm.load.LoadPlan;
import java.util.ServiceLoader;

/**
 * What the settings of this process change in a simulation. A service, because the catalogue of
 * settings lies above this room.
 */
public interface RunSettings {

  /** The settings of this process. */
  static RunSettings ofProcess() {
    return Holder.FOUND;
  }

  /**
   * Before the run opens: ends it where a setting is not understood, or has no effect on it, and
   * prints what else is to be known.
   */
  void begin();

  /**
   * A protocol of the simulation, completed or overridden.
   *
   * @param isOnly whether the simulation has no other: only then its target can be replaced
   */
  LlmProtocol applyTo(LlmProtocol protocol, boolean isOnly);

  /** A load plan of the simulation, with the rules that end it. */
  LoadPlan applyTo(LoadPlan plan);

  /** Reads the settings once. */
  final class Holder {
    private static final RunSettings FOUND =
        ServiceLoader.load(RunSettings.class, RunSettings.class.getClassLoader())
            .findFirst()
            .orElseThrow();

    private Holder() {}
  }
}
