package io.github.gatlingllm.figures.check;

import io.github.gatlingllm.figures.level.AnswerCounts;
import io.github.gatlingllm.figures.level.AnswerCounts.TextCounts;
import io.github.gatlingllm.figures.metric.Figures.CheckLevel;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Checks of lengths: whether the server counts the tokens that the local tokenizer counts. */
final class TokenChecks {

  /** A difference that is left beside a template, and is not worth a warning. */
  private static final double EXPLAINED = 0.01;

  private TokenChecks() {}

  static @Nullable Finding promptTokensAgree(CheckInput in) {
    Finding found = comparison(in, in.answers().prompts(), "prompt_tokens_agree", in::template);
    return judged(found, in.hasLengths());
  }

  /** Only a note of lengths that were not set, or by a tokenizer that stands in. */
  private static @Nullable Finding judged(@Nullable Finding found, boolean isExact) {
    return found == null || isExact
        ? found
        : found.level(found.value() > 0.1 ? CheckLevel.NOTE : CheckLevel.OK);
  }

  private static @Nullable Finding comparison(
      CheckInput in,
      Map<String, TextCounts> counts,
      String check,
      Function<String, @Nullable Integer> templates) {
    String target = AnswerCounts.worst(counts, templates);
    if (target == null) {
      return null;
    }
    TextCounts worst = counts.get(target);
    Integer reported = templates.apply(target);
    double difference = worst.difference(reported);
    double added = worst.templateTokens(reported);
    String server = counts.size() > 1 ? target : "The server";
    double size = Math.abs(difference);
    Finding found =
        worst.areEqual()
            ? Finding.of(0.0, check + ".equal", worst.count())
            : added > 0 && size <= EXPLAINED
                ? Finding.of(size, check + ".added", server, added)
                : Finding.of(
                    size,
                    check + ".differ",
                    server,
                    worst.serverTokens(),
                    added == 0 ? null : (Double) added,
                    size,
                    difference < 0,
                    worst.localTokens(),
                    worst.count());
    return in.hasOwnTokenizer(target) ? found.remedy(check + ".remedy", true) : found;
  }

  static @Nullable Finding outputTokensAgree(CheckInput in) {
    Map<String, TextCounts> outputs = in.answers().outputs();
    String worst = AnswerCounts.worst(outputs, target -> null);
    Finding found = comparison(in, outputs, "output_tokens_agree", target -> null);
    return judged(found, worst != null && in.hasOwnTokenizer(worst));
  }
}
