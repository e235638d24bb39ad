package io.github.gatlingllm.simulations;

import io.github.gatlingllm.record.Objectives.Assertion;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reads settings for tests, also of other packages, as a run does. */
public final class CheckedSettings {

  private CheckedSettings() {}

  /**
   * The warnings that a run has.
   *
   * @param folder without a file {@code .env}
   * @throws io.github.gatlingllm.action.InvalidSimulation for what is wrong with them
   */
  public static List<String> warnings(
      Map<String, String> properties, Map<String, String> environment, Path folder) {
    Settings settings = new Settings(properties, environment, folder.resolve(".env"));
    BenchmarkPlan.of(settings, () -> 1);
    return settings.warnings();
  }

  public static List<Assertion> assertions(String... texts) {
    return Arrays.stream(texts).map(Goals::assertion).toList();
  }

  /** The plan of settings written as {@code rate=2 duration=10}; the last one of a name counts. */
  static BenchmarkPlan plan(String settings) {
    return plan(
        Stream.of(settings.split(" ", -1))
            .filter(setting -> !setting.isEmpty())
            .map(setting -> setting.split("=", 2))
            .collect(Collectors.toMap(pair -> pair[0], pair -> pair[1], (one, last) -> last)));
  }

  static BenchmarkPlan plan(Map<String, String> settings) {
    Map<String, String> properties = new HashMap<>();
    settings.forEach((name, value) -> properties.put("llm." + name, value));
    return BenchmarkPlan.of(
        new Settings(properties, Map.of(), Path.of("none", ".env")), () -> 4711);
  }
}
