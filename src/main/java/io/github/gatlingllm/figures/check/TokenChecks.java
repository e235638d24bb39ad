package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.metric.NumberText.count;
import static io.github.gatlingllm.figures.metric.NumberText.number;
import static io.github.gatlingllm.figures.metric.NumberText.percent;

import io.github.gatlingllm.figures.level.AnswerCounts.CountComparison;
import io.github.gatlingllm.figures.metric.Figures.Check.Level;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Checks of lengths: whether the server counts the tokens that the local tokenizer counts. */
final class TokenChecks {

  private static final String OWN_TOKENIZER =
      "The model's own tokenizer is set already: ask the vendor how the server counts.";

  /** A difference that is left beside a template, and is not worth a warning. */
  private static final double EXPLAINED = 0.01;

  private TokenChecks() {}

  static @Nullable Finding promptTokensAgree(CheckInput in) {
    Finding found =
        comparison(
            in,
            in.answers().prompts(),
            "prompt tokens",
            in::template,
            "in requests of any length, from a chat template or special tokens");
    return judged(found, in.hasLengths());
  }

  /** Only a note of lengths that were not asked for, or by a tokenizer that stands in. */
  private static @Nullable Finding judged(@Nullable Finding found, boolean isExact) {
    return found == null || isExact
        ? found
        : found.level(found.value() > 0.1 ? Level.NOTE : Level.OK);
  }

  private static @Nullable Finding comparison(
      CheckInput in,
      CountComparison counts,
      String tokens,
      Function<String, @Nullable Integer> templates,
      String template) {
    CountComparison.TargetCounts worst = counts.worst(templates);
    if (worst == null) {
      return null;
    }
    Integer said = templates.apply(worst.target());
    double difference = worst.difference(said);
    double added = worst.templateTokens(said);
    String server = counts.hasSeveralTargets() ? worst.target() : "The server";
    String both = " in the " + count(worst.count()) + " requests that both counted.";
    Finding found =
        worst.areEqual()
            ? Finding.of(0.0, "Server and tokenizer count the same %s" + both, tokens)
            : added > 0 && Math.abs(difference) <= EXPLAINED
                ? Finding.of(
                    Math.abs(difference),
                    "%s counts %s more %s than the local tokenizer, %s.",
                    server,
                    number(added),
                    tokens,
                    template)
                : Finding.of(
                    Math.abs(difference),
                    "%s counts %s %s per request%s, %s %s than the local tokenizer's %s" + both,
                    server,
                    number(worst.serverTokens()),
                    tokens,
                    added == 0 ? "" : " (less " + number(added) + " of the template)",
                    percent(Math.abs(difference)),
                    difference < 0 ? "fewer" : "more",
                    number(worst.localTokens()));
    return in.hasOwnTokenizer(worst.target()) ? found.remedy(OWN_TOKENIZER) : found;
  }

  static @Nullable Finding outputTokensAgree(CheckInput in) {
    CountComparison outputs = in.answers().outputs();
    CountComparison.TargetCounts worst = outputs.worst(target -> null);
    Finding found =
        comparison(
            in,
            outputs,
            "output tokens",
            target -> null,
            "in answers of any length, such as an end token");
    return judged(found, worst != null && in.hasOwnTokenizer(worst.target()));
  }
}
