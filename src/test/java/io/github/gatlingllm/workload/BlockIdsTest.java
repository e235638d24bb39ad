package io.github.gatlingllm.workload;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class BlockIdsTest {

  /** Lists that share any number of first ids with any list before them. */
  @Test
  void listsAreKeptAsTheyWere() {
    SplittableRandom random = new SplittableRandom(1);
    List<long[]> lists = new ArrayList<>();
    List<Integer> nodes = new ArrayList<>();
    BlockIds ids = new BlockIds();
    for (int i = 0; i < 500; i++) {
      long[] like = i == 0 ? new long[0] : lists.get(random.nextInt(i));
      int kept = like.length == 0 ? 0 : random.nextInt(like.length + 1);
      long[] list = random.longs(kept + random.nextInt(60), 0, 1 << 20).toArray();
      System.arraycopy(like, 0, list, 0, kept);
      lists.add(list);
      nodes.add(ids.add(list));
    }
    ids.close();

    for (int i = 0; i < lists.size(); i++) {
      assertThat(ids.list(nodes.get(i))).containsExactly(lists.get(i));
      int other = random.nextInt(lists.size());
      assertThat(BlockIds.common(ids.path(nodes.get(i)), ids.path(nodes.get(other))))
          .isEqualTo(mismatch(lists.get(i), lists.get(other)));
    }
    assertThat(ids.size()).isLessThan(lists.stream().mapToInt(list -> list.length).sum());
  }

  private static int mismatch(long[] a, long[] b) {
    int at = Arrays.mismatch(a, b);
    return at < 0 ? a.length : at;
  }

  @Test
  void equalListsAreOneNode() {
    BlockIds ids = new BlockIds();

    assertThat(ids.add(new long[] {7, 8})).isEqualTo(ids.add(new long[] {7, 8}));
    assertThat(ids.add(new long[] {})).isEqualTo(BlockIds.ROOT);
    assertThat(ids.list(BlockIds.ROOT)).isEmpty();
  }
}
