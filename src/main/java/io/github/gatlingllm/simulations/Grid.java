package io.github.gatlingllm.simulations;

import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.workload.LengthDistribution;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Every length of prompts with every length of answers, from lists in {@code promptTokens} and
 * {@code maxTokens}. Each pair is a scenario with the whole load, so it gets a curve of its own.
 */
final class Grid {

  /** A comma, but none between the weights of {@code weighted:128=70,4096=30}. */
  private static final Pattern COMMA = Pattern.compile("\\s*,(?!\\s*\\d+\\s*=)\\s*");

  /** A length of prompts or outputs, and its text as typed, which names pairs. */
  record Length(String text, LengthDistribution tokens) {

    static List<Length> each(String list) {
      return Form.distinct(
          Stream.of(COMMA.split(list, -1))
              .map(text -> new Length(text, LengthDistribution.parse(text)))
              .toList(),
          "length");
    }

    static String texts(List<Length> lengths) {
      return lengths.stream().map(Length::text).collect(Collectors.joining(","));
    }

    @Override
    public String toString() {
      return tokens.toString();
    }
  }

  record Pair(Length prompt, Length output) {

    /** The name of its scenario and requests, e.g. {@code 1024/128}. */
    String name() {
      return prompt.text + "/" + output.text;
    }
  }

  private Grid() {}

  /** Whether a setting has several values, which makes it the side of a grid. */
  static boolean isSide(List<?> values) {
    return values.size() > 1;
  }

  /** The pairs in the order of the load; empty where both settings have one value. */
  static List<Pair> pairs(Settings settings) {
    List<Length> prompts = settings.get(Setting.PROMPT_TOKENS);
    List<Length> outputs = outputs(settings);
    return isSide(prompts) || isSide(outputs)
        ? prompts.stream()
            .flatMap(prompt -> outputs.stream().map(output -> new Pair(prompt, output)))
            .toList()
        : List.of();
  }

  /** The lengths of outputs: in a grid by default one, the mean, as it compares lengths. */
  static List<Length> outputs(Settings settings) {
    List<Length> outputs = settings.get(Setting.MAX_TOKENS);
    return isSide(settings.get(Setting.PROMPT_TOKENS)) && !settings.isSet(Setting.MAX_TOKENS)
        ? Length.each(Long.toString(Math.round(outputs.get(0).tokens.mean())))
        : outputs;
  }

  /** Refuses a grid of what has no load levels, no lengths or no output. */
  static void check(Settings settings, Api api) {
    SettingEntry<?> list =
        isSide(settings.get(Setting.PROMPT_TOKENS)) ? Setting.PROMPT_TOKENS : Setting.MAX_TOKENS;
    if (pairs(settings).isEmpty()) {
      return;
    }
    if (!api.generates()) {
      throw refused(settings, list, "api", "this API generates no output");
    }
    if (Load.isTrace(settings.get(Setting.ARRIVAL))) {
      throw refused(settings, list, "arrival", "a trace has its own lengths");
    }
    if (Load.isCurve(settings.get(Setting.RATE))) {
      throw refused(settings, list, "rate", "a curve has no load levels");
    }
  }

  private static InvalidSimulation refused(
      Settings settings, SettingEntry<?> list, String other, String why) {
    return settings.invalid(list, "a list cannot be set with this llm." + other + "; " + why);
  }
}
