package io.github.gatlingllm.client;

import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.TokenSource;
import io.github.gatlingllm.record.RequestRecord.Tokens;
import io.github.gatlingllm.record.Timeline;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Token counts of one answer: what the server reported, and the choice of the source for the
 * record: the server's usage, else a tokenizer over the generated text, else one token per event.
 * The client's own count of the prompt is added when the record is written.
 */
public final class TokenCounts {

  private static final int UNKNOWN = -1;

  private int prompt = UNKNOWN;
  private int completion = UNKNOWN;
  private int cached = UNKNOWN;
  private int reasoning = UNKNOWN;
  private List<String> rejected = List.of();

  /** Takes one usage object. Of several the last one counts; an object of zeros is ignored. */
  int usage(int ofPrompt, int ofCompletion, int ofCache, int ofReasoning) {
    int promptTokens = checked(ofPrompt, "prompt_tokens");
    int completionTokens = checked(ofCompletion, "completion_tokens");
    if (promptTokens > 0 || completionTokens > 0) {
      prompt = lastNonZero(prompt, promptTokens);
      completion = lastNonZero(completion, completionTokens);
    }
    if (ofPrompt > 0 || ofCompletion > 0) {
      int cachedTokens = checked(ofCache, "cached_tokens");
      int reasoningTokens = checked(ofReasoning, "reasoning_tokens");
      cached = cachedTokens == UNKNOWN ? cached : cachedTokens;
      reasoning = reasoningTokens == UNKNOWN ? reasoning : reasoningTokens;
    }
    return completionTokens;
  }

  /** The count; {@value #UNKNOWN} where no answer can have so many tokens. */
  private int checked(int count, String name) {
    if (count <= RequestRecord.MAX_TOKENS) {
      return count;
    }
    if (!rejected.contains(name)) {
      rejected = new ArrayList<>(rejected);
      rejected.add(name);
    }
    return UNKNOWN;
  }

  /** The last count that is not zero; zero if all were. */
  private static int lastNonZero(int before, int count) {
    return count > 0 ? count : Math.max(before, count);
  }

  private static @Nullable Integer known(int count) {
    return count == UNKNOWN ? null : count;
  }

  @Nullable Integer prompt() {
    return known(prompt);
  }

  @Nullable Integer completion() {
    return known(completion);
  }

  @Nullable Integer cached() {
    return known(cached);
  }

  @Nullable Integer reasoning() {
    return known(reasoning);
  }

  /** Names of the counts that were ignored, as no answer can have so many tokens. */
  List<String> rejected() {
    return rejected;
  }

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
   * Counts of an answer whose output the server did not count. The tokenizer is slow, so not for an
   * event loop; if it fails, events are counted.
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
   * long. Not for an event loop.
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
