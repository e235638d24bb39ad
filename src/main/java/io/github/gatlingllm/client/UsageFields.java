package io.github.gatlingllm.client;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The token counts of one usage object. A count is −1 where absent, and {@link Integer#MAX_VALUE}
 * where it is larger, or below −1.
 */
@SuppressWarnings("EnumOrdinal") // an array of counts, one per kind
final class UsageFields {

  private static final Map<String, Count> BY_NAME = new HashMap<>();

  /** What servers count, and the names that they give it; of several names the largest counts. */
  @SuppressWarnings("ImmutableEnumChecker") // its list is a copy
  enum Count {
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
  private int cacheRead = -1;

  private int cacheCreated = -1;

  UsageFields() {
    clear();
  }

  void clear() {
    Arrays.fill(counts, -1);
  }

  int get(Count count) {
    return counts[count.ordinal()];
  }

  void set(Count count, int value) {
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

  /** Counts what was read from the cache as cached. */
  UsageFields withCache() {
    take(Count.CACHED, get(Count.CACHE_READ));
    return this;
  }

  /** The same, where the cached part of the prompt is not in the count of the prompt. */
  UsageFields withCacheBesidePrompt() {
    cacheRead = Math.max(cacheRead, get(Count.CACHE_READ));
    cacheCreated = Math.max(cacheCreated, get(Count.CACHE_CREATED));
    take(Count.CACHED, cacheRead);
    if (get(Count.PROMPT) >= 0) {
      long prompt =
          get(Count.PROMPT) + (long) Math.max(0, cacheRead) + (long) Math.max(0, cacheCreated);
      set(Count.PROMPT, (int) Math.min(Integer.MAX_VALUE, prompt));
    }
    return this;
  }
}
