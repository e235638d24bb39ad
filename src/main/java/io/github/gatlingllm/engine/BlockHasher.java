package io.github.gatlingllm.engine;

import io.github.gatlingllm.random.SplitMix64;
import java.util.Arrays;

/**
 * Reads a text and names each of its KV blocks: 64 characters (Unicode code points) are 16 tokens
 * are a block. A block's name is the FNV-1a hash of everything up to its end, roles included, so
 * equal names mean equal prefixes.
 */
final class BlockHasher {
  static final int CHARS_PER_TOKEN = 4;
  private static final int BLOCK_CHARS = BlockPool.BLOCK_TOKENS * CHARS_PER_TOKEN;
  private static final long PRIME = 0x100000001B3L;

  private long hash = 0xCBF29CE484222325L;
  private long chars;
  private long[] names = new long[4];
  private int blocks;

  BlockHasher() {}

  /** One that has read the same. */
  BlockHasher(BlockHasher other) {
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
