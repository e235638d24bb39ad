package io.github.gatlingllm.client;

import io.github.gatlingllm.record.RequestRecord.TokenSource;
import io.github.gatlingllm.record.RequestRecord.Tokens;
import io.github.gatlingllm.record.Timeline;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Where the token counts of a request come from: the server's usage first, then a tokenizer over
 * the generated text, then one per event. Our own count of the prompt is not their matter: it is
 * ready when the record is written.
 */
public final class TokenCounts {

  private TokenCounts() {}

  /**
   * What was asked.
   *
   * @param promptChars characters of all prompt texts
   * @param inputs texts to embed; 0 where an answer is generated
   */
  public record Asked(int promptChars, @Nullable Integer maxTokens, int inputs) {

    /** Of generated text. */
    public Asked(int promptChars, @Nullable Integer maxTokens) {
      this(promptChars, maxTokens, 0);
    }
  }

  /**
   * A tokenizer needs a hundred times the memory of a text, and an answer of more than 1 MiB is no
   * model's.
   */
  private static final int LONGEST_TEXT = 1 << 20;

  /**
   * Whether the server did not say how many tokens it generated, though it generated some, and not
   * too much to be counted.
   */
  public static boolean needTokenizer(ReceivedAnswer answer) {
    return answer.completionTokens() == null
        && answer.hasTokens()
        && answer.generatedBytes() <= LONGEST_TEXT;
  }

  /**
   * Counts that are there at once: the server's usage; for an answer that is too long for a
   * tokenizer its events; else none of the output.
   */
  public static Tokens atOnce(Asked asked, ReceivedAnswer answer, Timeline timeline) {
    Integer output = answer.completionTokens();
    return output == null && answer.generatedBytes() > LONGEST_TEXT
        ? byEvents(asked, answer, timeline)
        : tokens(asked, answer, output, null, output == null ? null : TokenSource.USAGE);
  }

  /**
   * Counts where the server said nothing of its output.
   *
   * @param tokenizer slow: not for an event loop; where it fails, events are counted
   */
  public static Tokens byTokenizer(
      Asked asked, ReceivedAnswer answer, Timeline timeline, ToIntFunction<String> tokenizer) {
    Integer output = local(answer, tokenizer);
    return output == null
        ? byEvents(asked, answer, timeline)
        : tokens(asked, answer, output, output, TokenSource.TOKENIZER);
  }

  /**
   * Our own count of all that was generated and came; null where the tokenizer fails, or would take
   * too much memory.
   *
   * @param tokenizer slow: not for an event loop
   */
  public static @Nullable Integer local(ReceivedAnswer answer, ToIntFunction<String> tokenizer) {
    if (answer.generatedBytes() > LONGEST_TEXT) {
      return null;
    }
    try {
      return tokenizer.applyAsInt(answer.generated());
    } catch (RuntimeException e) {
      return null;
    }
  }

  /**
   * One token per event where neither server nor tokenizer counted the output; absent for an answer
   * that was not streamed.
   */
  public static Tokens byEvents(Asked asked, ReceivedAnswer answer, Timeline timeline) {
    return timeline.count() == 0
        ? tokens(asked, answer, null, null, null)
        : tokens(asked, answer, timeline.count(), null, TokenSource.CHUNKS);
  }

  private static Tokens tokens(
      Asked asked,
      ReceivedAnswer answer,
      @Nullable Integer output,
      @Nullable Integer local,
      @Nullable TokenSource source) {
    return new Tokens(
        asked.promptChars(),
        answer.promptTokens(),
        null,
        answer.cachedTokens(),
        asked.maxTokens(),
        output,
        local,
        answer.reasoningTokens(),
        streamed(answer, output),
        source != null && source != TokenSource.USAGE,
        source,
        answer.refusedCounts(),
        asked.inputs() == 0 ? null : (Integer) asked.inputs());
  }

  /** N of the metrics: reasoning that was billed but never came over the wire is not in it. */
  private static @Nullable Integer streamed(ReceivedAnswer answer, @Nullable Integer output) {
    Integer reasoning = answer.reasoningTokens();
    if (output == null || reasoning == null || answer.streamedReasoning()) {
      return output;
    }
    return Math.max(0, output - reasoning);
  }
}
