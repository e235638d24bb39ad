package io.github.gatlingllm.engine;

import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.load.SplitMix64;
import java.util.Arrays;

/**
 * Hashes of the KV blocks that one sequence will fill with its prompt and answer. Answers are drawn
 * from a seed, so all hashes are known in advance; {@link #full} returns how many blocks are filled
 * so far.
 */
final class BlockChain {
  static final BlockChain NONE = new BlockChain(new long[0], 0, 0);

  private final long[] hashes;
  private final int promptTokens;
  private final long promptChars;

  private BlockChain(long[] hashes, int promptTokens, long promptChars) {
    this.hashes = hashes;
    this.promptTokens = promptTokens;
    this.promptChars = promptChars;
  }

  /** The chain of a prompt and its answer, as the next turn of a conversation sends them. */
  static BlockChain of(Prompt prompt, GeneratedAnswer answer, Api api) {
    Hasher hasher = new Hasher(prompt.text());
    if (api.takesMessages()) {
      hasher.mark("assistant");
    }
    for (int token = 0; token < answer.tokens(); token++) {
      // The next turn leaves reasoning out, so blocks after it can never be shared.
      if (answer.type(token) == GeneratedAnswer.TokenType.REASONING) {
        hasher.mark("reasoning");
      }
      hasher.text(answer.text(token));
    }
    return new BlockChain(hasher.blockHashes(), prompt.tokens(), prompt.text().chars());
  }

  /**
   * Number of full blocks with a hash when {@code tokens} tokens are in the cache. The prompt's
   * last token may have fewer characters than a token; the answer follows without a gap.
   */
  int full(int tokens) {
    long charsPerToken = Hasher.CHARS_PER_TOKEN;
    long chars =
        tokens < promptTokens
            ? tokens * charsPerToken
            : promptChars + (tokens - promptTokens) * charsPerToken;
    return (int) Math.min(hashes.length, chars / charsPerToken / BlockPool.BLOCK_TOKENS);
  }

  long hash(int block) {
    return hashes[block];
  }

  /**
   * Reads a text and computes a hash for each of its KV blocks. 64 characters (Unicode code points)
   * are 16 tokens, one block. The hash of a block is the FNV-1a hash of everything up to its end,
   * roles included, so equal hashes mean equal prefixes.
   */
  static final class Hasher {
    static final int CHARS_PER_TOKEN = 4;
    private static final int BLOCK_CHARS = BlockPool.BLOCK_TOKENS * CHARS_PER_TOKEN;
    private static final long PRIME = 0x100000001B3L;

    private long hash = 0xCBF29CE484222325L;
    private long chars;
    private long[] blockHashes = new long[4];
    private int blocks;

    Hasher() {}

    Hasher(Hasher other) {
      hash = other.hash;
      chars = other.chars;
      blockHashes = other.blockHashes.clone();
      blocks = other.blocks;
    }

    /** Adds a role, which distinguishes texts but takes no token. */
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

    /** Adds whole tokens that are not text, such as a token id or an image. */
    void tokens(long identity, int tokens) {
      for (int i = 0; i < tokens * CHARS_PER_TOKEN; i++) {
        read(identity);
      }
    }

    private void read(long unit) {
      hash = (hash ^ unit) * PRIME;
      chars++;
      if (chars % BLOCK_CHARS == 0) {
        if (blocks == blockHashes.length) {
          blockHashes = Arrays.copyOf(blockHashes, 2 * blocks);
        }
        blockHashes[blocks++] = hash;
      }
    }

    long chars() {
      return chars;
    }

    int tokens() {
      return (int) ((chars + CHARS_PER_TOKEN - 1) / CHARS_PER_TOKEN);
    }

    long hash() {
      return SplitMix64.mix(hash);
    }

    long[] blockHashes() {
      return Arrays.copyOf(blockHashes, blocks);
    }
  }
}
