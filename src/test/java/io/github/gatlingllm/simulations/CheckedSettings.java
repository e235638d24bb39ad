package io.github.gatlingllm.simulations;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Lets tests of the documentation check the settings that it shows. */
public final class CheckedSettings {

  private CheckedSettings() {}

  /**
   * Reads settings as a run does.
   *
   * @param folder without a file {@code .env}
   * @return its warnings
   * @throws io.github.gatlingllm.action.InvalidSimulation for what is wrong with them
   */
  public static List<String> warnings(
      Map<String, String> properties, Map<String, String> environment, Path folder) {
    Settings settings = new Settings(properties, environment, folder.resolve(".env"));
    BenchmarkPlan.of(settings, () -> 1);
    return settings.warnings();
  }
}
