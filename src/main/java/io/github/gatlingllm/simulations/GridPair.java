package io.github.gatlingllm.simulations;

import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.settings.LoadForms;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.settings.SettingValue.Length;
import io.github.gatlingllm.settings.Settings;
import java.util.List;

/**
 * A pair of a grid: of every length of prompts with every length of answers, from lists in {@code
 * promptTokens} and {@code maxTokens}. Each is a scenario with the full load, so it gets its own
 * curve.
 */
record GridPair(Length prompt, Length output) {

  /** The name of its scenario and requests, e.g. {@code 1024/128}. */
  String name() {
    return prompt.text() + "/" + output.text();
  }

  /** The pairs in the order of the load; empty where both settings have one value. */
  static List<GridPair> pairs(Settings settings) {
    List<Length> prompts = settings.get(Setting.PROMPT_TOKENS);
    List<Length> outputs = outputs(settings);
    return Setting.isList(prompts) || Setting.isList(outputs)
        ? prompts.stream()
            .flatMap(prompt -> outputs.stream().map(output -> new GridPair(prompt, output)))
            .toList()
        : List.of();
  }

  /** The lengths of outputs: in a grid by default one, the mean, as it compares lengths. */
  static List<Length> outputs(Settings settings) {
    List<Length> outputs = settings.get(Setting.MAX_TOKENS);
    return Setting.isList(settings.get(Setting.PROMPT_TOKENS))
            && !settings.isSet(Setting.MAX_TOKENS)
        ? Length.each(Long.toString(Math.round(outputs.get(0).tokens().mean())))
        : outputs;
  }

  /** Refuses a grid of what has no load levels, no lengths or no output. */
  static void check(Settings settings, Api api) {
    Setting<?> list =
        Setting.isList(settings.get(Setting.PROMPT_TOKENS))
            ? Setting.PROMPT_TOKENS
            : Setting.MAX_TOKENS;
    if (pairs(settings).isEmpty()) {
      return;
    }
    if (!api.generates()) {
      throw refused(settings, list, "api", "this API generates no output");
    }
    if (LoadForms.isTrace(settings.get(Setting.ARRIVAL))) {
      throw refused(settings, list, "arrival", "a trace has its own lengths");
    }
    if (LoadForms.isCurve(settings.get(Setting.RATE))) {
      throw refused(settings, list, "rate", "a curve has no load levels");
    }
  }

  private static IllegalArgumentException refused(
      Settings settings, Setting<?> list, String other, String why) {
    return settings.invalid(list, "a list cannot be set with this llm." + other + "; " + why);
  }
}
