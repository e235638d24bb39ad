package io.github.gatlingllm.workload;

import io.github.gatlingllm.injector.Injector;
import io.github.gatlingllm.injector.Injector.StartTime;
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
   * a random one. One of several injectors has what all of them know: the setting, else a number
   * that follows from their common start.
   *
   * @throws IllegalArgumentException if the setting is no whole number, or the share of this
   *     process or its start is none
   */
  public static synchronized RunSeed ofProcess() {
    if (ofProcess == null) {
      String set = System.getProperty(PROPERTY, System.getenv(VARIABLE));
      Injector injector = Injector.ofProcess();
      StartTime start = injector.isPart() ? injector.startAt() : null;
      ofProcess = set == null && start != null ? new RunSeed(common(start)) : of(set);
    }
    return ofProcess;
  }

  /** What injectors draw from that share a load and no seed. */
  static long common(StartTime start) {
    return SplitMix64.mix(start.unixNanos()) & (EXACT_IN_JAVASCRIPT - 1);
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
