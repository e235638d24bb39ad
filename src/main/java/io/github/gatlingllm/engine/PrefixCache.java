package io.github.gatlingllm.engine;

import java.util.LinkedHashMap;
import java.util.Map;

/** An LRU of blocks of 16 tokens, by the hash of everything up to their end. Not thread-safe. */
final class PrefixCache {
  /** Tokens per block; the default of vLLM. */
  static final int BLOCK_TOKENS = 16;

  private final Map<Long, Boolean> blocks;

  PrefixCache(int maxTokens) {
    blocks =
        new LinkedHashMap<>(16, 0.75f, true) {
          @Override
          protected boolean removeEldestEntry(Map.Entry<Long, Boolean> eldest) {
            return size() > maxTokens / BLOCK_TOKENS;
          }
        };
  }

  /** Number of cached tokens at the start of a prompt, without a gap. */
  int cachedTokens(long[] hashes, int promptTokens) {
    // The last prompt token is always computed: the first output token is predicted from it.
    int max = Math.min(hashes.length, (promptTokens - 1) / BLOCK_TOKENS);
    int found = 0;
    while (found < max && blocks.containsKey(hashes[found])) {
      found++;
    }
    return found * BLOCK_TOKENS;
  }

  /** Adds the first blocks; the first one last, as the end of a prefix is shared the least. */
  void add(long[] hashes, int count) {
    for (int i = Math.min(count, hashes.length) - 1; i >= 0; i--) {
      blocks.put(hashes[i], true);
    }
  }
}
