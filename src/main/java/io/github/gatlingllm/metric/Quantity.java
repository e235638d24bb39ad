package io.github.gatlingllm.metric;

import io.github.gatlingllm.metric.Figure.Unit;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * What every request, or every token, has a value of: what figures with a percentile are about.
 *
 * @param name as in {@code summary.json}, without its unit where that is milliseconds
 * @param title in the middle of a sentence
 * @param distribution where a summary has it
 */
record Quantity(
    String name, String title, Unit unit, Function<Figures, Distribution> distribution) {

  static List<Quantity> all() {
    List<Quantity> all = new ArrayList<>();
    for (Metric metric : Metric.values()) {
      all.add(
          new Quantity(
              metric.isTime() ? metric.key().replaceAll("_ms$", "") : metric.key(),
              inSentence(metric.title()),
              metric.isTime() ? Unit.MILLIS : Unit.TOKENS,
              figures -> figures.metric(metric)));
    }
    all.add(rate("user", f -> f.throughput().userTokensPerS()));
    all.add(rate("decode", f -> f.throughput().decodeTokensPerS()));
    all.add(rate("prefill", f -> f.throughput().prefillTokensPerS()));
    return all;
  }

  private static Quantity rate(String kind, Function<Figures, Distribution> distribution) {
    return new Quantity(
        kind + "_tokens_per_s", kind + " tokens per second", Unit.TOKENS_PER_S, distribution);
  }

  /** Abbreviations stay as they are. */
  private static String inSentence(String title) {
    return Character.isLowerCase(title.charAt(1))
        ? Character.toLowerCase(title.charAt(0)) + title.substring(1)
        : title;
  }
}
