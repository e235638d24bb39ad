package io.github.gatlingllm.action;

import io.gatling.javaapi.core.Simulation;
import io.github.gatlingllm.testing.GatlingRun;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Runs simulations whose output is the result. */
final class GatlingProcess {
  private GatlingProcess() {}

  /** The lines of its output. */
  static List<String> run(Class<? extends Simulation> simulation, Map<String, ?> properties)
      throws IOException, InterruptedException {
    GatlingRun run = GatlingRun.of(simulation).set(properties).succeed();
    return run.lines();
  }
}
