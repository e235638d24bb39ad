package io.github.gatlingllm.report;

import io.github.gatlingllm.metric.Distribution;
import io.github.gatlingllm.metric.NumberText;
import io.github.gatlingllm.stats.Summary;

/** What was asked, in words: no result is worth reading without it. */
final class WorkloadText {

  private final Summary summary;

  WorkloadText(Summary summary) {
    this.summary = summary;
  }

  /** All in one line; absent where no length is known. */
  String line() {
    StringBuilder text = new StringBuilder();
    part(text, "prompt tokens ", lengths(summary.workload().promptTokens()));
    part(text, "output tokens ", lengths(summary.workload().outputTokens()));
    part(text, "prefix cache ", cached());
    part(text, "", prefixes());
    return text.isEmpty() ? NumberText.ABSENT : text.toString();
  }

  /** The middle of token counts, their mean and their range; empty where there are none. */
  static String lengths(Distribution tokens) {
    if (tokens.isEmpty()) {
      return "";
    }
    String median = NumberText.number(tokens.p50());
    String least = NumberText.number(tokens.min());
    String most = NumberText.number(tokens.max());
    return least.equals(most)
        ? median + " each"
        : "median %s, mean %s (%s to %s)"
            .formatted(median, NumberText.number(tokens.mean()), least, most);
  }

  /** How much of the prompts the server had already; empty where it does not tell. */
  String cached() {
    Double share = summary.workload().cachedShare();
    return share == null ? "" : NumberText.percent(share) + " of prompt tokens";
  }

  /** What the load test did to the beginnings of prompts; empty where nothing. */
  String prefixes() {
    StringBuilder text = new StringBuilder();
    String shared = summary.config().getOrDefault("sharedPrefix", "");
    part(text, "", shared.isEmpty() ? "" : "shared prefixes " + shared);
    part(
        text,
        "",
        "true".equals(summary.config().get("uniquePrompts")) ? "every prompt unique" : "");
    return text.toString();
  }

  private static void part(StringBuilder text, String name, String value) {
    if (!value.isEmpty()) {
      text.append(text.isEmpty() ? "" : "; ").append(name).append(value);
    }
  }
}
