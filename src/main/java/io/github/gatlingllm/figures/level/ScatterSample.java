package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.level.RequestSamples.Cloud;
import io.github.gatlingllm.figures.level.RequestSamples.Dot;
import io.github.gatlingllm.figures.level.RequestSamples.Range;
import io.github.gatlingllm.figures.metric.LogLinearHistogram;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Values of a time against a whole number x: figures of all values by range of x, and a sample of
 * single values that includes the outliers.
 *
 * <p>The sample consists of the {@value #SAMPLE} values with the smallest hash, so that it depends
 * neither on chance nor on the order of records, and of the {@value #SLOWEST} largest values and
 * the smallest value of each range. Ranges are a quarter of a doubling wide: 1, 2, … 8, 10, 12, 14,
 * 16, 20, 24, … There are at most 124 ranges, of about 15 KiB each.
 */
final class ScatterSample {

  /** Number of values of the sample that are drawn by hash. */
  static final int SAMPLE = 300;

  /** Number of the slowest values of each range in the sample. */
  static final int SLOWEST = 3;

  private static final int MIN_FOR_P95 = 20;

  private final List<@Nullable Bin> bins = new ArrayList<>();
  private final PriorityQueue<Kept> sample =
      new PriorityQueue<>(Comparator.comparingLong(Kept::hash).reversed());
  private long largestHash = Long.MAX_VALUE;
  private long all;

  private record Kept(long hash, int x, int micros, String requestId) {

    private boolean isSlowerThan(Kept other) {
      return micros != other.micros ? micros > other.micros : hash < other.hash;
    }

    private Dot dot() {
      return new Dot(x, micros / 1e3, requestId);
    }
  }

  private static final class Bin {
    private final LogLinearHistogram times = Shapes.coarse();
    private final List<Kept> slowest = new ArrayList<>(SLOWEST + 1);
    private @Nullable Kept fastest;
    private double sumX;
    private long count;

    private void keep(Kept kept) {
      if (fastest == null || fastest.isSlowerThan(kept)) {
        fastest = kept;
      }
      int at = 0;
      while (at < slowest.size() && slowest.get(at).isSlowerThan(kept)) {
        at++;
      }
      slowest.add(at, kept);
      if (slowest.size() > SLOWEST) {
        slowest.remove(SLOWEST);
      }
    }

    private boolean isOutlier(int value, long hash) {
      Kept least = fastest;
      if (least == null || slowest.size() < SLOWEST) {
        return true;
      }
      Kept slow = slowest.get(SLOWEST - 1);
      return value > slow.micros()
          || value < least.micros()
          || (value == slow.micros() && hash < slow.hash())
          || (value == least.micros() && hash > least.hash());
    }
  }

  /**
   * Adds a value.
   *
   * @param weight number of values that it stands for
   * @param hash of the request, and of the position in it where the request has several values
   */
  void add(int x, double micros, int weight, long hash, String requestId) {
    if (x >= 0 && weight > 0) {
      int value = (int) Math.min(Integer.MAX_VALUE, Math.max(0, Math.round(micros)));
      add(bin(x), x, value, weight, hash, requestId);
    }
  }

  /** Adds the gaps of a request. Here x is the number, from 1, of the event that ended the gap. */
  void addGaps(TokenStream stream, long requestHash, String requestId) {
    Bin bin = null;
    long from = 0;
    long to = 0;
    for (int g = 0; g < stream.gaps(); g++) {
      int weight = stream.gapTokens(g);
      if (weight <= 0) {
        continue;
      }
      int event = stream.endedBy(g);
      int x = event + 1;
      if (bin == null || x >= to || x < from) {
        bin = bin(x);
        from = from(indexOf(x));
        to = from(indexOf(x) + 1);
      }
      long micros = stream.isOneEach() ? stream.chunkMicros(g) : Math.round(stream.tokenMicros(g));
      int value = (int) Math.min(Integer.MAX_VALUE, Math.max(0, micros));
      add(bin, x, value, weight, spread(requestHash + event), requestId);
    }
  }

  /** A hash ≥ 0 that is far apart for neighbouring values. */
  static long spread(long value) {
    return new SplittableRandom(value).nextLong() >>> 1;
  }

  private void add(Bin bin, int x, int value, int weight, long hash, String requestId) {
    bin.times.add(value, weight);
    bin.count += weight;
    bin.sumX += (double) x * weight;
    all += weight;
    boolean outlier = bin.isOutlier(value, hash);
    if (outlier || hash < largestHash) {
      Kept kept = new Kept(hash, x, value, requestId);
      if (outlier) {
        bin.keep(kept);
      }
      if (hash < largestHash) {
        sample(kept);
      }
    }
  }

  private void sample(Kept kept) {
    sample.add(kept);
    if (sample.size() > SAMPLE) {
      sample.remove();
    }
    Kept largest = sample.peek();
    if (sample.size() == SAMPLE && largest != null) {
      largestHash = largest.hash();
    }
  }

  private Bin bin(int x) {
    int index = indexOf(x);
    while (bins.size() <= index) {
      bins.add(null);
    }
    Bin bin = bins.get(index);
    if (bin == null) {
      bin = new Bin();
      bins.set(index, bin);
    }
    return bin;
  }

  /** The number of the range of x: one per value below 8, then four per doubling. */
  static int indexOf(int x) {
    if (x < 4) {
      return x;
    }
    int octave = 31 - Integer.numberOfLeadingZeros(x);
    return 4 * (octave - 1) + (x >> (octave - 2) & 3);
  }

  /** The smallest x of a range. */
  static long from(int index) {
    return index < 4 ? index : (4L + index % 4) << (index / 4 - 1);
  }

  Cloud cloud() {
    List<Range> ranges = new ArrayList<>();
    Set<Kept> dots = new LinkedHashSet<>(sample);
    for (int i = 0; i < bins.size(); i++) {
      Bin bin = bins.get(i);
      if (bin != null) {
        ranges.add(range(i, bin));
        dots.addAll(bin.slowest);
        if (bin.fastest != null) {
          dots.add(bin.fastest);
        }
      }
    }
    return new Cloud(
        ranges,
        dots.stream()
            .sorted(Comparator.comparingInt(Kept::x).thenComparingLong(Kept::hash))
            .map(Kept::dot)
            .toList(),
        all);
  }

  private static Range range(int index, Bin bin) {
    double max = bin.slowest.get(0).micros() / 1e3;
    return new Range(
        from(index),
        from(index + 1),
        bin.sumX / bin.count,
        bin.count,
        Math.min(max, Objects.requireNonNull(Shapes.percentileMs(bin.times, 50))),
        bin.count < MIN_FOR_P95
            ? null
            : (Double) Math.min(max, Objects.requireNonNull(Shapes.percentileMs(bin.times, 95))),
        max);
  }
}
