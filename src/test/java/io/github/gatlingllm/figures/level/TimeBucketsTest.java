package io.github.gatlingllm.figures.level;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class TimeBucketsTest {

  @Test
  void windowHasAllBucketsFromTheStart() {
    TimeBuckets<AtomicInteger> buckets = TimeBuckets.within(100, 10, 4, AtomicInteger::new);
    // 10 ns in 4 buckets are 3, 3, 3 and 1 ns.
    for (long at : new long[] {0, 100, 102, 103, 109, 110, 1_000}) {
      buckets.at(at).incrementAndGet();
    }
    assertThat(buckets.all()).extracting(AtomicInteger::get).containsExactly(3, 1, 0, 3);
  }

  @Test
  void windowWithoutLengthHasBuckets() {
    assertThat(TimeBuckets.within(100, 0, 4, AtomicInteger::new).all()).hasSize(4);
  }

  @Test
  void neighboursAreMergedAtTheLimit() {
    TimeBuckets<AtomicInteger> buckets =
        TimeBuckets.from(100, 10, 3, AtomicInteger::new, (a, b) -> a.addAndGet(b.get()));
    for (long at : new long[] {99, 100, 110, 120}) {
      buckets.at(at).incrementAndGet();
    }
    assertThat(buckets.all()).extracting(AtomicInteger::get).containsExactly(2, 1, 1);
    assertThat(buckets.endOf(115)).isEqualTo(120);

    buckets.at(130).incrementAndGet();
    assertThat(buckets.width()).isEqualTo(20);
    assertThat(buckets.all()).extracting(AtomicInteger::get).containsExactly(3, 2);

    buckets.at(260).incrementAndGet();
    assertThat(buckets.width()).isEqualTo(80);
    assertThat(buckets.all()).extracting(AtomicInteger::get).containsExactly(5, 0, 1);
  }
}
