package io.github.gatlingllm.client;

import io.github.gatlingllm.sample.RequestRecord.TokenSource;
import io.github.gatlingllm.sample.RequestRecord.Tokens;
import io.github.gatlingllm.sample.Timeline;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Where the token counts of a request come from: the server's usage first, then a tokenizer over
 * the generated text, then one per event.
 */
public final class TokenCounts {

  private TokenCounts() {}

  /**
   * What was asked.
   *
   * @param promptText all prompt texts in one; what a tokenizer counts
   */
  public record Asked(String promptText, @Nullable Integer maxTokens) {}

  /** Whether the server did not say how many tokens it generated, though it generated some. */
  public static boolean needTokenizer(Answer answer) {
    return answer.completionTokens() == null && answer.hasTokens();
  }

  /** Counts by the server's usage alone; output counts are absent where it said nothing. */
  public static Tokens byUsage(Asked asked, Answer answer) {
    Integer output = answer.completionTokens();
    return tokens(asked, answer, null, output, output == null ? null : TokenSource.USAGE);
  }

  /**
   * Counts where the server said nothing of its output.
   *
   * @param tokenizer slow: not for an event loop; a failing one is replaced by one per event, and
   *     leaves the output of an answer that was not streamed absent
   */
  public static Tokens byTokenizer(
      Asked asked, Answer answer, Timeline timeline, ToIntFunction<String> tokenizer) {
    try {
      int prompt = tokenizer.applyAsInt(asked.promptText());
      int output = tokenizer.applyAsInt(answer.generated());
      return tokens(asked, answer, prompt, output, TokenSource.TOKENIZER);
    } catch (RuntimeException e) {
      return timeline.count() == 0
          ? tokens(asked, answer, null, null, null)
          : tokens(asked, answer, null, timeline.count(), TokenSource.CHUNKS);
    }
  }

  private static Tokens tokens(
      Asked asked,
      Answer answer,
      @Nullable Integer localPrompt,
      @Nullable Integer output,
      @Nullable TokenSource source) {
    return new Tokens(
        asked.promptText().codePointCount(0, asked.promptText().length()),
        answer.promptTokens(),
        localPrompt,
        answer.cachedTokens(),
        asked.maxTokens(),
        output,
        answer.reasoningTokens(),
        streamed(answer, output),
        source != null && source != TokenSource.USAGE,
        source);
  }

  /** N of the metrics: reasoning that was billed but never came over the wire is not in it. */
  private static @Nullable Integer streamed(Answer answer, @Nullable Integer output) {
    Integer reasoning = answer.reasoningTokens();
    if (output == null || reasoning == null || answer.streamedReasoning()) {
      return output;
    }
    return Math.max(0, output - reasoning);
  }
}
