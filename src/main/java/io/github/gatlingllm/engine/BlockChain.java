package io.github.gatlingllm.engine;

import io.github.gatlingllm.wire.Api;

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
    BlockHasher hasher = new BlockHasher(prompt.text());
    if (api == Api.CHAT) {
      hasher.mark("assistant");
    }
    for (int token = 0; token < answer.tokens(); token++) {
      // Reasoning is no part of the history: what follows it can never be a prefix of a prompt.
      if (answer.part(token) == GeneratedAnswer.Part.REASONING) {
        hasher.mark("reasoning");
      }
      hasher.text(answer.text(token));
    }
    return new BlockChain(hasher.names(), prompt.tokens(), prompt.text().chars());
  }

  /**
   * Blocks that are full and named when so many tokens are in the cache. The prompt's last token
   * may be part of one; the answer's then follow it without a gap.
   */
  int full(int tokens) {
    long charsPerToken = BlockHasher.CHARS_PER_TOKEN;
    long chars =
        tokens < promptTokens
            ? tokens * charsPerToken
            : promptChars + (tokens - promptTokens) * charsPerToken;
    return (int) Math.min(names.length, chars / charsPerToken / BlockPool.BLOCK_TOKENS);
  }

  long name(int block) {
    return names[block];
  }
}
