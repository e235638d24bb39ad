package io.github.gatlingllm.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.client.Api;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Thousands of random steps beside a naive pool that looks at every block each time. */
final class BlockPoolTest {
  private static final int BLOCKS = 24;
  private static final int LENGTH = 10;

  /** A block as plain data. */
  private static final class Block {
    private final int id;
    private @Nullable Long name;
    private int holders;
    private long freedAt;

    Block(int id) {
      this.id = id;
      this.freedAt = (long) id - BLOCKS;
    }
  }

  /** The same rules without any index. */
  private static final class NaivePool {
    private final List<Block> blocks = IntStream.range(0, BLOCKS).mapToObj(Block::new).toList();
    private long clock;

    Optional<Block> named(long name) {
      return blocks.stream().filter(block -> Objects.equals(block.name, name)).findFirst();
    }

    int cachedPrefix(BlockChain chain, int most) {
      int found = 0;
      while (found < most && named(chain.hash(found)).isPresent()) {
        found++;
      }
      return found;
    }

    boolean take(List<Integer> held, BlockChain chain, int shared, int total) {
      List<Block> heads =
          IntStream.range(0, shared).mapToObj(i -> named(chain.hash(i)).orElseThrow()).toList();
      long left =
          blocks.stream().filter(each -> each.holders == 0 && !heads.contains(each)).count();
      if (left < total - shared) {
        return false;
      }
      for (Block head : heads) {
        head.holders++;
        held.add(head.id);
      }
      while (held.size() < total) {
        grow(held);
      }
      return true;
    }

    boolean grow(List<Integer> held) {
      Optional<Block> oldest =
          blocks.stream()
              .filter(block -> block.holders == 0)
              .min(Comparator.comparingLong(block -> block.freedAt));
      oldest.ifPresent(
          block -> {
            block.name = null;
            block.holders = 1;
            held.add(block.id);
          });
      return oldest.isPresent();
    }

    void publish(int block, long name) {
      if (blocks.get(block).name == null && named(name).isEmpty()) {
        blocks.get(block).name = name;
      }
    }

    void release(List<Integer> held) {
      for (int i = held.size() - 1; i >= 0; i--) {
        Block block = blocks.get(held.get(i));
        if (--block.holders == 0) {
          block.freedAt = clock++;
        }
      }
      held.clear();
    }
  }

  /** What one sequence holds in both pools. */
  private static final class Holder {
    private final BlockChain chain;
    private final List<Integer> blocks = new ArrayList<>();
    private final List<Integer> naive = new ArrayList<>();

    Holder(BlockChain chain) {
      this.chain = chain;
    }
  }

  /** A chain of 10 blocks: the first ones of its family, the others its own. */
  private static BlockChain chain(int family, int common, int own) {
    String ids =
        IntStream.range(0, LENGTH * BlockPool.BLOCK_TOKENS)
            .mapToObj(i -> i < common * BlockPool.BLOCK_TOKENS ? "" + family : "" + own)
            .collect(Collectors.joining(","));
    try {
      CompletionRequest request =
          Requests.parse(Api.COMPLETIONS, "{\"max_tokens\":1,\"prompt\":[" + ids + "]}");
      return BlockChain.of(
          request.prompt(), GeneratedAnswer.to(request, 1, 0, 1_000, 0), Api.COMPLETIONS);
    } catch (Refusal e) {
      throw new AssertionError(e);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void poolMatchesANaiveImplementation(long seed) {
    Random random = new Random(seed);
    List<BlockChain> chains =
        IntStream.range(0, 12)
            .mapToObj(i -> chain(i % 3, random.nextInt(LENGTH), 100 + i))
            .toList();
    BlockPool pool = new BlockPool(BLOCKS);
    NaivePool naive = new NaivePool();
    List<Holder> holders = new ArrayList<>();
    int shares = 0;
    int refusals = 0;
    for (int step = 0; step < 4_000; step++) {
      int choice = random.nextInt(10);
      if (choice < 3 || holders.isEmpty()) {
        Holder holder = new Holder(chains.get(random.nextInt(chains.size())));
        int total = 1 + random.nextInt(LENGTH);
        int shared = pool.cachedPrefix(holder.chain, total);
        assertThat(shared).isEqualTo(naive.cachedPrefix(holder.chain, total));
        boolean taken = pool.take(holder.blocks, holder.chain, shared, total);
        assertThat(taken).isEqualTo(naive.take(holder.naive, holder.chain, shared, total));
        shares += shared;
        refusals += taken ? 0 : 1;
        if (taken) {
          holders.add(holder);
        }
      } else {
        Holder holder = holders.get(random.nextInt(holders.size()));
        if (choice < 5) {
          if (holder.blocks.size() < LENGTH) {
            assertThat(pool.grow(holder.blocks)).isEqualTo(naive.grow(holder.naive));
          }
        } else if (choice < 8) {
          int full = random.nextInt(holder.blocks.size() + 1);
          for (int block = 0; block < full; block++) {
            pool.publish(holder.blocks.get(block), holder.chain.hash(block));
            naive.publish(holder.naive.get(block), holder.chain.hash(block));
          }
        } else {
          pool.release(holder.blocks);
          naive.release(holder.naive);
          holders.remove(holder);
        }
      }
      checkEveryBlockIsFreeOrHeld(pool, holders);
    }
    assertThat(shares).as("the test shares blocks").isPositive();
    assertThat(refusals).as("the test runs out of blocks").isPositive();
  }

  private static void checkEveryBlockIsFreeOrHeld(BlockPool pool, List<Holder> holders) {
    Set<Integer> held = new HashSet<>();
    for (Holder holder : holders) {
      assertThat(holder.blocks).isEqualTo(holder.naive).doesNotHaveDuplicates();
      held.addAll(holder.blocks);
      for (Holder other : holders) {
        for (int i = 0; other != holder && i < holder.blocks.size(); i++) {
          int at = other.blocks.indexOf(holder.blocks.get(i));
          if (at >= 0 && (at != i || other.chain.hash(i) != holder.chain.hash(i))) {
            throw new AssertionError("A block is shared by two contents: " + holder.blocks.get(i));
          }
        }
      }
    }
    assertThat(pool.free() + held.size()).isEqualTo(pool.size());
    assertThat(Collections.max(held.isEmpty() ? Set.of(0) : held)).isLessThan(BLOCKS);
  }
}
