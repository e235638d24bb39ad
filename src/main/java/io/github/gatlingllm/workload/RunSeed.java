package io.github.gatlingllm.workload;

import io.github.gatlingllm.random.SplitMix64;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What everything of a simulation is drawn from that has no seed of its own: prompts, the order of
 * dialogs, mixes, arrivals. The same seed gives the same as long as the simulation does not change.
 * Safe for use by several threads.
 */
public final class RunSeed {

  private static final String PROPERTY = "llm.seed";
  private static final String VARIABLE = "LLM_SEED";
  private static final long SALT = 0x756e736565646564L; // "unseeded"

  /** A drawn one stays below: it is read back from JSON by programs that know only doubles. */
  private static final long EXACT_IN_JAVASCRIPT = 1L << 53;

  private static @Nullable RunSeed ofProcess;

  private final long seed;
  private final AtomicLong draws = new AtomicLong();

  RunSeed(long seed) {
    this.seed = seed;
  }

  /**
   * That of this process: the setting {@code seed} as a system property or in the environment, else
   * a random one.
   *
   * @throws IllegalArgumentException if the setting is no whole number
   */
  public static synchronized RunSeed ofProcess() {
    if (ofProcess == null) {
      ofProcess = of(System.getProperty(PROPERTY, System.getenv(VARIABLE)));
    }
    return ofProcess;
  }

  static RunSeed of(@Nullable String set) {
    try {
      return new RunSeed(
          set == null
              ? new SplittableRandom().nextLong(EXACT_IN_JAVASCRIPT)
              : Long.parseLong(set.strip()));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          PROPERTY + "=" + set + ": expected a whole number, or leave it out", e);
    }
  }

  /** The number itself. */
  public long value() {
    return seed;
  }

  /** Whether anything was drawn. */
  public boolean isDrawnFrom() {
    return draws.get() > 0;
  }

  /** A seed for the next part that has none. */
  public long next() {
    return SplitMix64.at(seed, SALT, draws.getAndIncrement()).nextLong();
  }
}
