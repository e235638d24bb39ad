package io.github.gatlingllm.workload;

import io.github.gatlingllm.client.Api.Message;
import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.workload.Conversation.Dialog;
import java.util.List;

/**
 * The prompts of a session of which ids of blocks and lengths are recorded. A text is made when it
 * is required: the same one each time.
 *
 * @param key of the session, for texts that no id stands for
 * @param isLocal whether equal ids of different sessions are different texts
 * @param blockTokens tokens of a block
 * @param systemTokens length of the tools and instructions with which prompts begin, a message of
 *     the role {@code system}; 0 for none
 * @param systemNode the last block of these instructions; prompts without it have no such message
 */
record BlockPrompts(
    Mooncake texts,
    BlockIds ids,
    long key,
    boolean isLocal,
    int blockTokens,
    int systemTokens,
    int systemNode) {

  /** The ids of the blocks of a prompt. */
  long[] blocks(int node, int tokens, long key) {
    return texts.blocks(scoped(node), blockTokens, tokens, key);
  }

  private long[] scoped(int node) {
    long[] list = ids.list(node);
    for (int i = 0; isLocal && i < list.length; i++) {
      list[i] = Seed.mix(key + list[i] * Seed.GOLDEN_GAMMA);
    }
    return list;
  }

  /**
   * A prompt.
   *
   * @param key stands for the text after the last id
   */
  Dialog dialog(int node, int tokens, int outputTokens, long key) {
    long[] list = scoped(node);
    int system = tokens > systemTokens && hasSystem(node) ? systemTokens : 0;
    Message prompt = Message.user(texts.text(list, blockTokens, system, tokens, key));
    return new Dialog(
        system == 0
            ? List.of(prompt)
            : List.of(Message.system(texts.text(list, blockTokens, 0, system, key)), prompt),
        null,
        tokens,
        outputTokens);
  }

  private boolean hasSystem(int node) {
    int[] path = ids.path(node);
    int blocks = (systemTokens + blockTokens - 1) / blockTokens;
    return blocks > 0 && blocks <= path.length && path[blocks - 1] == systemNode;
  }
}
