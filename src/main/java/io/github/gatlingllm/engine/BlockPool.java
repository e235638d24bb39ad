package io.github.gatlingllm.engine;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * The KV memory: blocks of 16 tokens, and which of them hold a known prefix. As in vLLM, a released
 * block keeps its content until it is reused: the least recently used free block is taken first,
 * and a later request with the same prefix shares the blocks that are still there.
 *
 * <p>Only the pool changes the list of blocks of a sequence. Pure; not thread-safe.
 */
final class BlockPool {
  /** Tokens per block; the default of vLLM. */
  static final int BLOCK_TOKENS = 16;

  private final int[] holders;
  private final Long[] hashes;

  private final Set<Integer> free = new LinkedHashSet<>(); // least recently used first

  private final Map<Long, Integer> cached = new HashMap<>();

  BlockPool(int blocks) {
    holders = new int[blocks];
    hashes = new Long[blocks];
    for (int block = 0; block < blocks; block++) {
      free.add(block);
    }
  }

  static int blocksFor(int tokens) {
    return (tokens + BLOCK_TOKENS - 1) / BLOCK_TOKENS;
  }

  int size() {
    return holders.length;
  }

  /** Number of blocks that no sequence holds; some of them may still be cached. */
  int free() {
    return free.size();
  }

  /** Number of blocks whose content can be shared, held or not. */
  int cached() {
    return cached.size();
  }

  /** Number of cached blocks at the start of the chain, without a gap. */
  int cachedPrefix(BlockChain chain, int most) {
    int blocks = 0;
    while (blocks < most && cached.containsKey(chain.hash(blocks))) {
      blocks++;
    }
    return blocks;
  }

  /**
   * Takes {@code total} blocks for a new sequence, of which the first {@code shared} are cached;
   * all of them or none.
   */
  boolean take(List<Integer> blocks, BlockChain chain, int shared, int total) {
    int reclaimed = 0;
    for (int i = 0; i < shared; i++) {
      reclaimed += holders[block(chain, i)] == 0 ? 1 : 0;
    }
    if (free.size() - reclaimed < total - shared) {
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

  boolean grow(List<Integer> blocks) {
    Iterator<Integer> oldest = free.iterator();
    if (!oldest.hasNext()) {
      return false;
    }
    int block = oldest.next();
    if (hashes[block] != null) {
      cached.remove(hashes[block]);
      hashes[block] = null;
    }
    hold(blocks, block);
    return true;
  }

  /** Makes a full block available for sharing, unless another block has the same content. */
  void publish(int block, long hash) {
    if (hashes[block] == null && cached.putIfAbsent(hash, block) == null) {
      hashes[block] = hash;
    }
  }

  /**
   * Releases all blocks, the last one first: the end of a prefix is the least likely to be shared.
   */
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
    return Objects.requireNonNull(cached.get(chain.hash(index)));
  }

  private void hold(List<Integer> blocks, int block) {
    if (holders[block]++ == 0) {
      free.remove(block);
    }
    blocks.add(block);
  }
}
