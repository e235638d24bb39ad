package io.github.gatlingllm.engine;

import io.github.gatlingllm.random.SplitMix64;
import io.github.gatlingllm.wire.Api;
import java.util.Arrays;

/**
 * The names of the KV blocks that one sequence will fill, prompt and answer. Answers are drawn from
 * a seed, so all are known beforehand; {@link #full} says which ones are filled so far.
 */
final class BlockChain {
  /** Of an engine without prefix caching: no block has a name. */
  static final BlockChain NONE = new BlockChain(new long[0], 0, 0);

  private final long[] names;
  private final int promptTokens;
  private final long promptChars;

  private BlockChain(long[] names, int promptTokens, long promptChars) {
    this.names = names;
    this.promptTokens = promptTokens;
    this.promptChars = promptChars;
  }

  /** The chain of a prompt and its answer, as the next turn of a conversation will send them. */
  static BlockChain of(Prompt prompt, GeneratedAnswer answer, Api api) {
    Hasher hasher = new Hasher(prompt.text());
    if (api.takesMessages()) {
      hasher.mark("assistant");
    }
    for (int token = 0; token < answer.tokens(); token++) {
      // Reasoning is no part of the history: what follows it can never be a prefix of a prompt.
      if (answer.part(token) == GeneratedAnswer.TokenType.REASONING) {
        hasher.mark("reasoning");
      }
      hasher.text(answer.text(token));
    }
    return new BlockChain(hasher.names(), prompt.tokens(), prompt.text().chars());
  }

  /**
   * Blocks that are full and named when {@code tokens} tokens are in the cache. The prompt's last
   * token may be part of one; the answer's then follow it without a gap.
   */
  int full(int tokens) {
    long charsPerToken = Hasher.CHARS_PER_TOKEN;
    long chars =
        tokens < promptTokens
            ? tokens * charsPerToken
            : promptChars + (tokens - promptTokens) * charsPerToken;
    return (int) Math.min(names.length, chars / charsPerToken / BlockPool.BLOCK_TOKENS);
  }

  long name(int block) {
    return names[block];
  }

  /**
   * Reads a text and names each of its KV blocks: 64 characters (Unicode code points) are 16 tokens
   * are a block. A block's name is the FNV-1a hash of everything up to its end, roles included, so
   * equal names mean equal prefixes.
   */
  static final class Hasher {
    static final int CHARS_PER_TOKEN = 4;
    private static final int BLOCK_CHARS = BlockPool.BLOCK_TOKENS * CHARS_PER_TOKEN;
    private static final long PRIME = 0x100000001B3L;

    private long hash = 0xCBF29CE484222325L;
    private long chars;
    private long[] names = new long[4];
    private int blocks;

    Hasher() {}

    /** One that has read the same. */
    Hasher(Hasher other) {
      hash = other.hash;
      chars = other.chars;
      names = other.names.clone();
      blocks = other.blocks;
    }

    /** Something that tells texts apart but takes no token: a role. */
    void mark(String role) {
      hash = SplitMix64.mix(hash);
      for (int i = 0; i < role.length(); i++) {
        hash = (hash ^ role.charAt(i)) * PRIME;
      }
      hash = SplitMix64.mix(hash);
    }

    void text(String text) {
      for (int at = 0; at < text.length(); ) {
        int point = text.codePointAt(at);
        read(point);
        at += Character.charCount(point);
      }
    }

    /** Whole tokens that are no text: a token id, an image. */
    void tokens(long identity, int tokens) {
      for (int i = 0; i < tokens * CHARS_PER_TOKEN; i++) {
        read(identity);
      }
    }

    private void read(long unit) {
      hash = (hash ^ unit) * PRIME;
      chars++;
      if (chars % BLOCK_CHARS == 0) {
        if (blocks == names.length) {
          names = Arrays.copyOf(names, 2 * blocks);
        }
        names[blocks++] = hash;
      }
    }

    /** Characters read; a token that is no text counts as 4. */
    long chars() {
      return chars;
    }

    /** Tokens read, the last one perhaps in part. */
    int tokens() {
      return (int) ((chars + CHARS_PER_TOKEN - 1) / CHARS_PER_TOKEN);
    }

    /** Identity of all that was read. */
    long hash() {
      return SplitMix64.mix(hash);
    }

    /** Names of the full blocks, in order. */
    long[] names() {
      return Arrays.copyOf(names, blocks);
    }
  }
}
