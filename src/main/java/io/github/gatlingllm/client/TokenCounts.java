package io.github.gatlingllm.client;

import io.github.gatlingllm.record.RequestRecord;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The token counts that a server reports: those of one usage object, or of an answer after all of
 * its usage objects. A count is −1 where absent, and {@link Integer#MAX_VALUE} where it is larger,
 * or below −1.
 */
@SuppressWarnings("EnumOrdinal") // an array of counts, one per kind
final class TokenCounts {

  private static final int UNKNOWN = -1;

  /** One event of this number may be empty. */
  private static final int MAX_EMPTY = 10;

  private static final Map<String, Count> BY_NAME = new HashMap<>();

  /** What servers count, and the names that they give it; of several names the largest counts. */
  @SuppressWarnings("ImmutableEnumChecker") // its list is a copy
  private enum Count {
    PROMPT("prompt_tokens", "input_tokens", "promptTokenCount", "prompt_token_count"),
    OUTPUT(
        "completion_tokens",
        "output_tokens",
        "candidatesTokenCount",
        "candidates_token_count",
        "generated_tokens"),
    TOTAL("total_tokens", "totalTokenCount", "total_token_count"),
    /** Of the prompt; also in an object of details. */
    CACHED(
        "cached_tokens",
        "prompt_cache_hit_tokens",
        "cached_prompt_tokens",
        "num_cached_tokens",
        "cachedContentTokenCount",
        "cached_content_token_count"),
    /** Anthropic: of the prompt, and not in {@link #PROMPT}. */
    CACHE_READ("cache_read_input_tokens"),
    CACHE_CREATED("cache_creation_input_tokens"),
    /** Of the output; also in an object of details. */
    REASONING("reasoning_tokens", "thinking_tokens", "thoughtsTokenCount", "thoughts_token_count");

    private final List<String> names;

    Count(String... names) {
      this.names = List.of(names);
    }
  }

  static {
    for (Count count : Count.values()) {
      count.names.forEach(name -> BY_NAME.put(name, count));
    }
  }

  private final int[] counts = new int[Count.values().length];

  /** Of a message it is sent once, perhaps before the usage that counts. */
  private int cacheRead = UNKNOWN;

  private int cacheCreated = UNKNOWN;

  private List<String> rejected = List.of();

  TokenCounts() {
    clear();
  }

  void clear() {
    Arrays.fill(counts, UNKNOWN);
  }

  int prompt() {
    return get(Count.PROMPT);
  }

  int output() {
    return get(Count.OUTPUT);
  }

  int cached() {
    return get(Count.CACHED);
  }

  int reasoning() {
    return get(Count.REASONING);
  }

  /** Names of the counts that contradict others, or that no answer can have. */
  List<String> rejected() {
    return rejected;
  }

  private int get(Count count) {
    return counts[count.ordinal()];
  }

  private void set(Count count, int value) {
    counts[count.ordinal()] = value;
  }

  /** Reads the current field; false if it is neither a count nor has details. */
  boolean take(ChunkParser parser, String field) throws IOException {
    @Nullable Count known = BY_NAME.get(field);
    if (known != null) {
      take(known, parser.count());
    } else if (parser.json.isExpectedStartObjectToken()) {
      for (String inner = parser.firstField(); inner != null; inner = parser.nextField()) {
        @Nullable Count detail = BY_NAME.get(inner);
        if (detail == Count.CACHED || detail == Count.REASONING) {
          take(detail, parser.count());
        }
      }
    } else {
      return false;
    }
    return true;
  }

  private void take(Count count, int value) {
    set(count, Math.max(get(count), value));
  }

  /** All that is counted is input, of which some servers only send the total. */
  TokenCounts ofInput() {
    set(Count.PROMPT, prompt() < 0 ? get(Count.TOTAL) : prompt());
    return this;
  }

  /** The output that an event counts before there is any. */
  TokenCounts withoutOutput() {
    set(Count.OUTPUT, UNKNOWN);
    return this;
  }

  /** Makes the output larger than any answer. */
  void rejectOutput() {
    set(Count.OUTPUT, Integer.MAX_VALUE);
  }

  /** Counts what was read from the cache as cached. */
  TokenCounts withCache() {
    take(Count.CACHED, get(Count.CACHE_READ));
    return this;
  }

  /** The same, where the cached part of the prompt is not in the count of the prompt. */
  TokenCounts withCacheBesidePrompt() {
    cacheRead = Math.max(cacheRead, get(Count.CACHE_READ));
    cacheCreated = Math.max(cacheCreated, get(Count.CACHE_CREATED));
    take(Count.CACHED, cacheRead);
    if (prompt() >= 0) {
      long prompt = prompt() + (long) Math.max(0, cacheRead) + (long) Math.max(0, cacheCreated);
      set(Count.PROMPT, (int) Math.min(Integer.MAX_VALUE, prompt));
    }
    return this;
  }

  /**
   * Adds a usage object of the answer. Of several the last one counts; zeros are ignored.
   *
   * @return output tokens until now; {@value #UNKNOWN} where they are not reported
   */
  int add(TokenCounts usage) {
    int promptTokens = checked(usage.prompt(), "prompt_tokens");
    int completionTokens = checked(usage.output(), "completion_tokens");
    int cachedTokens = checked(usage.cached(), "cached_tokens");
    int reasoningTokens = checked(usage.reasoning(), "reasoning_tokens");
    int total = usage.get(Count.TOTAL);
    if (promptTokens >= 0 && completionTokens >= 0 && total > promptTokens + completionTokens) {
      int beside = total - promptTokens - completionTokens;
      if (beside == reasoningTokens) {
        // xAI and Gemini count reasoning beside the output.
        completionTokens += beside;
      } else if (beside == cachedTokens) {
        promptTokens += beside;
      } else {
        reject("total_tokens");
      }
    } else if (promptTokens > 0
        && completionTokens > 0
        && total > 0
        && total < promptTokens + completionTokens) {
      reject("total_tokens");
    }
    if (promptTokens > 0 || completionTokens > 0) {
      set(Count.PROMPT, lastNonZero(prompt(), promptTokens));
      set(Count.OUTPUT, lastNonZero(output(), completionTokens));
      set(Count.CACHED, cachedTokens == UNKNOWN ? cached() : cachedTokens);
      set(Count.REASONING, reasoningTokens == UNKNOWN ? reasoning() : reasoningTokens);
    }
    return completionTokens;
  }

  /**
   * The answer has ended: counts that contradict each other are not used.
   *
   * @param events events with tokens, of which each has one or more
   */
  void end(int events) {
    if (reasoning() > output() && output() != UNKNOWN) {
      reject("reasoning_tokens");
      set(Count.REASONING, UNKNOWN);
    }
    if (cached() > prompt() && prompt() != UNKNOWN) {
      reject("cached_tokens");
      set(Count.CACHED, UNKNOWN);
    }
    // A chunk for the finish reason, or half a character, may be an event without a token.
    if (output() > 0 && output() + 1 + events / MAX_EMPTY < events) {
      reject("completion_tokens");
      set(Count.OUTPUT, UNKNOWN);
    }
  }

  /** The count; {@value #UNKNOWN} where no answer can have this number of tokens. */
  private int checked(int count, String name) {
    if (count <= RequestRecord.MAX_TOKENS) {
      return count;
    }
    reject(name);
    return UNKNOWN;
  }

  private void reject(String name) {
    if (!rejected.contains(name)) {
      rejected = new ArrayList<>(rejected);
      rejected.add(name);
    }
  }

  private static int lastNonZero(int before, int count) {
    return count > 0 ? count : Math.max(before, count);
  }
}
