package io.github.gatlingllm.engine;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The KV memory: blocks of 16 tokens, and which of them hold a known prefix. As in vLLM, a block
 * that no sequence holds any more keeps its content until it is needed: the free block that was
 * used longest ago is taken first, and a later request with the same prefix shares what is still
 * there.
 *
 * <p>A holder's blocks are a list that only the pool changes. Pure; not thread-safe.
 */
final class BlockPool {
  /** Tokens per block, vLLM's default. */
  static final int BLOCK_TOKENS = 16;

  private final int[] holders;
  private final Long[] names;

  /** Blocks that no sequence holds, least recently used first. */
  private final Set<Integer> free = new LinkedHashSet<>();

  private final Map<Long, Integer> cached = new HashMap<>();

  BlockPool(int blocks) {
    holders = new int[blocks];
    names = new Long[blocks];
    for (int block = 0; block < blocks; block++) {
      free.add(block);
    }
  }

  /** Blocks that this many tokens fill, the last one perhaps in part. */
  static int blocksFor(int tokens) {
    return (tokens + BLOCK_TOKENS - 1) / BLOCK_TOKENS;
  }

  int size() {
    return holders.length;
  }

  /** Blocks that no sequence holds; some of them may still be cached. */
  int free() {
    return free.size();
  }

  /** Blocks whose content can be shared, held or not. */
  int cached() {
    return cached.size();
  }

  /** How many of the chain's first {@code most} blocks are there, from the first without a gap. */
  int cachedPrefix(BlockChain chain, int most) {
    int blocks = 0;
    while (blocks < most && cached.containsKey(chain.name(blocks))) {
      blocks++;
    }
    return blocks;
  }

  /**
   * Takes blocks for a sequence that begins, all of them or none.
   *
   * @param blocks the sequence's, empty
   * @param shared of the chain's first blocks, as {@link #cachedPrefix} found them
   * @param total blocks that it shall hold
   * @return whether there was room
   */
  boolean take(List<Integer> blocks, BlockChain chain, int shared, int total) {
    int revived = 0;
    for (int i = 0; i < shared; i++) {
      revived += holders[block(chain, i)] == 0 ? 1 : 0;
    }
    if (free.size() - revived < total - shared) {
      return false;
    }
    for (int i = 0; i < shared; i++) {
      hold(blocks, block(chain, i));
    }
    while (blocks.size() < total) {
      grow(blocks);
    }
    return true;
  }

  /** Takes one more block; false where none is free. */
  boolean grow(List<Integer> blocks) {
    Iterator<Integer> oldest = free.iterator();
    if (!oldest.hasNext()) {
      return false;
    }
    int block = oldest.next();
    if (names[block] != null) {
      cached.remove(names[block]);
      names[block] = null;
    }
    hold(blocks, block);
    return true;
  }

  /** Says that a held block is full; a name that is taken stays with the block that has it. */
  void publish(int block, long name) {
    if (names[block] == null && cached.putIfAbsent(name, block) == null) {
      names[block] = name;
    }
  }

  /** Gives all blocks back, the last one first: the end of a prefix is of use to the fewest. */
  void release(List<Integer> blocks) {
    for (int i = blocks.size() - 1; i >= 0; i--) {
      int block = blocks.get(i);
      if (--holders[block] == 0) {
        free.add(block);
      }
    }
    blocks.clear();
  }

  private int block(BlockChain chain, int index) {
    Integer block = cached.get(chain.name(index));
    if (block == null) {
      throw new IllegalStateException("Block " + index + " of the chain is not cached");
    }
    return block;
  }

  private void hold(List<Integer> blocks, int block) {
    if (holders[block]++ == 0) {
      free.remove(block);
    }
    blocks.add(block);
  }
}
