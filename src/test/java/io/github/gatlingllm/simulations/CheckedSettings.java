package io.github.gatlingllm.simulations;

import static java.util.stream.Collectors.toMap;

import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.settings.Settings;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Reads settings for tests, also of other packages, as a run does. */
public final class CheckedSettings {

  private CheckedSettings() {}

  /** Settings of a run, of which properties are named without {@code llm.}. */
  public static Settings settings(
      Map<String, String> properties, Map<String, String> environment, Path folder) {
    Map<String, String> named = new HashMap<>();
    properties.forEach((name, value) -> named.put("llm." + name, value));
    return InvalidSimulation.checked(
        () -> new Settings(named, environment, folder.resolve(".env")));
  }

  /**
   * The warnings that a run has.
   *
   * @param folder without a file {@code .env}
   * @throws io.github.gatlingllm.action.InvalidSimulation for what is wrong with them
   */
  public static List<String> warnings(
      Map<String, String> properties, Map<String, String> environment, Path folder) {
    Settings settings = settings(properties, environment, folder);
    var unused = InvalidSimulation.checked(() -> BenchmarkPlan.of(settings, () -> 1));
    return settings.warnings();
  }

  public static List<Assertion> assertions(String... texts) {
    return Arrays.stream(texts).map(text -> Setting.ASSERT.parse(text).get(0)).toList();
  }

  /** The plan of settings written as {@code rate=2 duration=10}. */
  static BenchmarkPlan plan(String settings) {
    return plan(named(settings.split(" ", -1)), Map.of());
  }

  /** Of settings written as {@code rate=2}; the last one of a name counts. */
  public static Map<String, String> named(String... settings) {
    return Stream.of(settings)
        .filter(setting -> !setting.isEmpty())
        .map(setting -> setting.split("=", 2))
        .collect(toMap(pair -> pair[0], pair -> pair[1], (one, last) -> last, HashMap::new));
  }

  static BenchmarkPlan plan(Map<String, String> settings, Map<String, String> environment) {
    return InvalidSimulation.checked(
        () -> BenchmarkPlan.of(settings(settings, environment, Path.of("none")), () -> 4711));
  }
}
