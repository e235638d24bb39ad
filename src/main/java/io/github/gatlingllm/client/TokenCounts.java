package io.github.gatlingllm.client;

import io.github.gatlingllm.record.RequestRecord.TokenSource;
import io.github.gatlingllm.record.RequestRecord.Tokens;
import io.github.gatlingllm.record.Timeline;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the source of the token counts of a request: the server's usage, else a tokenizer over
 * the generated text, else one token per event. The client's own count of the prompt is not
 * included; it is added when the record is written.
 */
public final class TokenCounts {

  private TokenCounts() {}

  /**
   * Size of a request.
   *
   * @param promptChars characters of all prompt texts
   * @param maxTokens limit on output tokens; null for none
   * @param inputs number of texts to embed; 0 where text is generated
   */
  public record RequestSize(int promptChars, @Nullable Integer maxTokens, int inputs) {}

  /**
   * Longer texts are not tokenized: a tokenizer needs a hundred times the memory of a text, and no
   * model generates that much.
   */
  private static final int MAX_TEXT_BYTES = 1 << 20;

  /**
   * Whether the server generated tokens without reporting their number, and the text is short
   * enough for a tokenizer.
   */
  public static boolean needsTokenizer(ReceivedAnswer answer) {
    return answer.completionTokens() == null
        && answer.hasTokens()
        && answer.generatedBytes() <= MAX_TEXT_BYTES;
  }

  /**
   * Counts without a tokenizer: the server's usage; events for an answer that is too long for a
   * tokenizer; else no count of the output.
   */
  public static Tokens withoutTokenizer(
      RequestSize request, ReceivedAnswer answer, Timeline timeline) {
    Integer output = answer.completionTokens();
    return output == null && answer.generatedBytes() > MAX_TEXT_BYTES
        ? countedByEvents(request, answer, timeline)
        : tokens(request, answer, output, null, output == null ? null : TokenSource.USAGE);
  }

  /**
   * Counts of an answer whose output the server did not count.
   *
   * @param tokenizer slow, so not for an event loop; if it fails, events are counted
   */
  public static Tokens countedByTokenizer(
      RequestSize request,
      ReceivedAnswer answer,
      Timeline timeline,
      ToIntFunction<String> tokenizer) {
    Integer output = countLocally(answer, tokenizer);
    return output == null
        ? countedByEvents(request, answer, timeline)
        : tokens(request, answer, output, output, TokenSource.TOKENIZER);
  }

  /**
   * The tokenizer's count of the generated text that arrived; null if it fails, or the text is too
   * long.
   *
   * @param tokenizer slow, so not for an event loop
   */
  public static @Nullable Integer countLocally(
      ReceivedAnswer answer, ToIntFunction<String> tokenizer) {
    if (answer.generatedBytes() > MAX_TEXT_BYTES) {
      return null;
    }
    try {
      return tokenizer.applyAsInt(answer.generated());
    } catch (RuntimeException e) {
      return null;
    }
  }

  /**
   * One token per event, where neither server nor tokenizer counted the output; no count for an
   * answer that was not streamed.
   */
  public static Tokens countedByEvents(
      RequestSize request, ReceivedAnswer answer, Timeline timeline) {
    return timeline.count() == 0
        ? tokens(request, answer, null, null, null)
        : tokens(request, answer, timeline.count(), null, TokenSource.CHUNKS);
  }

  private static Tokens tokens(
      RequestSize request,
      ReceivedAnswer answer,
      @Nullable Integer output,
      @Nullable Integer local,
      @Nullable TokenSource source) {
    return new Tokens(
        request.promptChars(),
        answer.promptTokens(),
        null,
        answer.cachedTokens(),
        request.maxTokens(),
        output,
        local,
        answer.reasoningTokens(),
        streamed(answer, output),
        source != null && source != TokenSource.USAGE,
        source,
        answer.rejectedCounts(),
        request.inputs() == 0 ? null : (Integer) request.inputs());
  }

  /** N of the metrics: tokens that arrived, without reasoning that was billed but not streamed. */
  private static @Nullable Integer streamed(ReceivedAnswer answer, @Nullable Integer output) {
    Integer reasoning = answer.reasoningTokens();
    if (output == null || reasoning == null || answer.streamedReasoning()) {
      return output;
    }
    return Math.max(0, output - reasoning);
  }
}
