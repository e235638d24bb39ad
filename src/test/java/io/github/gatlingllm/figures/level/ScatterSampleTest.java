package io.github.gatlingllm.figures.level;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.figures.level.RequestSampleTally.DependenceTally;
import io.github.gatlingllm.figures.level.RequestSamples.Cloud;
import io.github.gatlingllm.figures.level.RequestSamples.Dot;
import io.github.gatlingllm.figures.level.RequestSamples.Range;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScatterSampleTest {

  private record Value(String id, int x, int micros) {}

  /** Four ranges per doubling, each x its own below 8. */
  @ParameterizedTest
  @CsvSource({
    "0, 0, 1",
    "1, 1, 2",
    "7, 7, 8",
    "8, 8, 10",
    "9, 8, 10",
    "10, 10, 12",
    "15, 14, 16",
    "16, 16, 20",
    "100, 96, 112",
    "128, 128, 160",
    "159, 128, 160",
    "2147483647, 1879048192, 2147483648"
  })
  void rangeOfALength(int x, long from, long to) {
    ScatterSample tally = new ScatterSample();
    tally.add(x, 1_000, 1, 1, "a");
    Range range = tally.cloud().ranges().get(0);
    assertThat(range.from()).isEqualTo(from);
    assertThat(range.to()).isEqualTo(to);
    assertThat(range.meanX()).isEqualTo(x);
  }

  @Test
  void rangesCountEveryValue() {
    ScatterSample tally = new ScatterSample();
    for (int i = 1; i <= 100; i++) {
      tally.add(128 + i % 2, i * 1_000, 1, i, "r" + i);
    }
    tally.add(300, 5_000, 3, 7, "three tokens");
    Cloud cloud = tally.cloud();
    assertThat(cloud.all()).isEqualTo(103);
    assertThat(cloud.ranges()).hasSize(2);
    Range first = cloud.ranges().get(0);
    assertThat(first.count()).isEqualTo(100);
    assertThat(first.meanX()).isEqualTo(128.5);
    assertThat(first.p50Ms()).isEqualTo(50, within(0.5));
    assertThat(first.p95Ms()).isEqualTo(95, within(1.0));
    assertThat(first.maxMs()).isEqualTo(100);
    assertThat(cloud.ranges().get(1).count()).isEqualTo(3);
    assertThat(cloud.ranges().get(1).p95Ms()).isNull();
  }

  @Test
  void sampleIsBoundedKeepsOutliersAndDoesNotDependOnTheOrderOfRecords() {
    Random random = new Random(3);
    List<Value> values = new ArrayList<>();
    for (int i = 0; i < 50_000; i++) {
      int x = 1 + random.nextInt(4_000);
      values.add(new Value("request " + i, x, 10_000 + random.nextInt(5_000)));
    }
    List<Value> outliers =
        List.of(
            new Value("slow 1", 700, 9_000_000),
            new Value("slow 2", 701, 8_000_000),
            new Value("slow 3", 702, 7_000_000),
            new Value("fast", 703, 1));
    values.addAll(outliers);
    Cloud cloud = cloud(values);
    Collections.shuffle(values, random);

    assertThat(cloud(values)).isEqualTo(cloud);
    assertThat(cloud.dots())
        .hasSizeBetween(ScatterSample.SAMPLE, ScatterSample.SAMPLE + cloud.ranges().size() * 4);
    assertThat(cloud.dots())
        .extracting(Dot::requestId)
        .contains("slow 1", "slow 2", "slow 3", "fast");
    // A sample without favourites lies where the values lie: half of them below the middle.
    assertThat(cloud.dots().stream().filter(dot -> dot.x() <= 2_000).count()).isBetween(250L, 480L);
  }

  private static Cloud cloud(List<Value> values) {
    ScatterSample tally = new ScatterSample();
    for (Value v : values) {
      tally.add(v.x(), v.micros(), 1, DependenceTally.hash(v.id()), v.id());
    }
    return tally.cloud();
  }

  @Test
  void fewValuesAreAllDrawn() {
    ScatterSample tally = new ScatterSample();
    for (int i = 0; i < 300; i++) {
      tally.add(i, 1_000, 1, DependenceTally.hash("r" + i), "r" + i);
    }
    assertThat(tally.cloud().dots()).hasSize(300);
    assertThat(new ScatterSample().cloud().dots()).isEmpty();
  }

  @Test
  void negativeLengthsAndGapsWithoutTokensAreIgnored() {
    ScatterSample tally = new ScatterSample();
    tally.add(-1, 1_000, 1, 1, "a");
    tally.add(5, 1_000, 0, 1, "a");
    assertThat(tally.cloud()).isEqualTo(new Cloud(List.of(), List.of(), 0));
  }
}
