package io.github.gatlingllm.stats;

import io.github.gatlingllm.stats.FigureName.Unit;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * What every request, or every token, has a value of: what figures with a percentile are about.
 *
 * @param name as in {@code summary.json}, without its unit where that is milliseconds
 * @param title in the middle of a sentence
 * @param distribution where a summary has it
 * @param recorder where all its values are
 */
record Quantity(
    String name,
    String title,
    Unit unit,
    Function<Figures, Distribution> distribution,
    Function<Tally, ValueRecorder> recorder) {

  static List<Quantity> all() {
    List<Quantity> all = new ArrayList<>();
    for (Metric metric : Metric.values()) {
      all.add(
          new Quantity(
              metric.isTime() ? metric.key().replaceAll("_ms$", "") : metric.key(),
              inSentence(metric.title()),
              metric.isTime() ? Unit.MILLIS : Unit.TOKENS,
              figures -> figures.metric(metric),
              tally -> tally.recorder(metric)));
    }
    all.add(rate("user", f -> f.throughput().userTokensPerS(), Tally::user));
    all.add(rate("decode", f -> f.throughput().decodeTokensPerS(), Tally::decode));
    all.add(rate("prefill", f -> f.throughput().prefillTokensPerS(), Tally::prefill));
    return all;
  }

  private static Quantity rate(
      String kind,
      Function<Figures, Distribution> distribution,
      Function<Tally, ValueRecorder> recorder) {
    return new Quantity(
        kind + "_tokens_per_s",
        kind + " tokens per second",
        Unit.TOKENS_PER_S,
        distribution,
        recorder);
  }

  /** Abbreviations stay as they are. */
  private static String inSentence(String title) {
    return Character.isLowerCase(title.charAt(1))
        ? Character.toLowerCase(title.charAt(0)) + title.substring(1)
        : title;
  }
}
