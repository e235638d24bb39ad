package io.github.gatlingllm.load;

import io.github.gatlingllm.record.ProcessSetting;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * A seed, and draws that follow from a seed and an index, without the preceding ones, by parts of
 * SplitMix64 (Steele, Lea and Flood, 2014). The seed of the process is for all that has no seed of
 * its own; it gives the same draws as long as the simulation does not change. Thread-safe.
 */
public final class Seed {

  public static final long GOLDEN_GAMMA = 0x9e3779b97f4a7c15L;

  private static final ProcessSetting SETTING = new ProcessSetting("llm.seed");
  private static final long SALT = 0x756e736565646564L; // "unseeded"

  /** Makes orders independent of other draws with the same seed. */
  private static final long ORDER_SALT = 0x6469616c6f677331L; // "dialogs1"

  private static final int ROUNDS = 8;

  /** Random seeds stay below: programs that know only doubles read them from JSON. */
  private static final long EXACT_IN_JAVASCRIPT = 1L << 53;

  /** The setting {@code nonce}: the run, nothing besides the seed, or the number of another run. */
  private static final ProcessSetting NONCE = new ProcessSetting("llm.nonce");

  private static final long OF_THE_SEED_ONLY = 0;

  private static volatile @Nullable Seed ofProcess;
  private static @Nullable Long ofRun;

  private final long seed;
  private final AtomicLong draws = new AtomicLong();

  Seed(long seed) {
    this.seed = seed;
  }

  /** The setting {@code seed}, else computed from the common start of injectors, else random. */
  public static Seed ofProcess() {
    Seed known = ofProcess; // without a lock, as each request reads it
    return known == null ? decide() : known;
  }

  private static synchronized Seed decide() {
    if (ofProcess == null) {
      Long set = setting(System.getProperties(), System.getenv());
      Injector injector = Injector.ofProcess();
      Instant start = injector.isPart() ? injector.startAt() : null;
      ofProcess = new Seed(set != null ? set : start != null ? common(start) : random());
    }
    return ofProcess;
  }

  /** What nonces depend on besides the seed; {@code run.json} has it as {@code nonceOfRun}. */
  public static synchronized long ofRun() {
    if (ofRun == null) {
      Injector injector = Injector.ofProcess();
      ofRun = ofRun(System.getProperties(), System.getenv(), injector.startAt());
    }
    return ofRun;
  }

  /** Differs from run to run, but not between injectors with a common start. */
  static long ofRun(
      Map<?, ?> properties, Map<String, String> environment, @Nullable Instant start) {
    Long number = NONCE.read(properties, environment, Seed::nonce);
    return number != null ? number : start != null ? common(start) : random();
  }

  /** Null for the number of the run itself. */
  public static @Nullable Long nonce(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "run" -> null;
      case "seed" -> OF_THE_SEED_ONLY;
      default -> number(text, "run or seed");
    };
  }

  /** That seed; the one of the process where there is none. */
  public static long orOfProcess(@Nullable Long seed) {
    return seed == null ? ofProcess().value() : seed;
  }

  static @Nullable Long setting(Map<?, ?> properties, Map<String, String> environment) {
    return SETTING.read(properties, environment, text -> number(text, "or leave it out"));
  }

  private static Long number(String text, String others) {
    try {
      return Long.valueOf(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("expected an integer, " + others, e);
    }
  }

  /** The seed of injectors that share a load and have no seed set. */
  static long common(Instant start) {
    return mix(Injector.unixNanos(start)) & (EXACT_IN_JAVASCRIPT - 1);
  }

  static long random() {
    return new SplittableRandom().nextLong(EXACT_IN_JAVASCRIPT);
  }

  public long value() {
    return seed;
  }

  public boolean isDrawnFrom() {
    return draws.get() > 0;
  }

  /** Draws a seed for the next part of the simulation without a seed. */
  public long next() {
    return at(seed, SALT, draws.getAndIncrement()).nextLong();
  }

  /** The finalizer of SplitMix64 (Stafford's variant 13), which decorrelates neighbours. */
  public static long mix(long value) {
    long z = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  /** A generator for the draw at an index; mixed, so that neighbouring indices are independent. */
  public static SplittableRandom at(long seed, long salt, long index) {
    return new SplittableRandom(mix((seed ^ salt) + index * GOLDEN_GAMMA));
  }

  /**
   * The number at an index of 0 to size − 1 in a random order without memory, another one in every
   * pass: a balanced Feistel network (Luby and Rackoff, 1988) with cycle walking (Black and
   * Rogaway, 2002).
   */
  public static long permuted(long seed, long size, long index) {
    int bits = Math.max(2, Long.SIZE - Long.numberOfLeadingZeros(size - 1));
    int halfBits = (bits + 1) / 2;
    long key = mix((seed ^ ORDER_SALT) + (index / size) * GOLDEN_GAMMA);
    long value = index % size;
    do {
      value = encrypted(value, key, halfBits);
    } while (value >= size);
    return value;
  }

  private static long encrypted(long value, long key, int halfBits) {
    long mask = (1L << halfBits) - 1;
    long left = value >>> halfBits;
    long right = value & mask;
    for (int round = 1; round <= ROUNDS; round++) {
      long next = left ^ (mix(key + round * GOLDEN_GAMMA + right) & mask);
      left = right;
      right = next;
    }
    return left << halfBits | right;
  }

  public static double weight(double weight) {
    if (!(weight > 0 && weight < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException("weight " + weight + "; expected a number above 0");
    }
    return weight;
  }

  /** Draws an element with a probability of its weight ÷ the sum of all weights. */
  public static <T> T weighted(
      List<T> choices, ToDoubleFunction<T> weight, SplittableRandom random) {
    double rest = random.nextDouble() * choices.stream().mapToDouble(weight).sum();
    for (T choice : choices) {
      rest -= weight.applyAsDouble(choice);
      if (rest < 0) {
        return choice;
      }
    }
    return choices.get(choices.size() - 1);
  }
}
