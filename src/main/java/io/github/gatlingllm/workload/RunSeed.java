package io.github.gatlingllm.workload;

import io.github.gatlingllm.load.Injector;
import io.github.gatlingllm.load.Injector.StartTime;
import io.github.gatlingllm.load.SplitMix64;
import io.github.gatlingllm.record.ProcessSetting;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The seed of all draws that have no seed of their own; the same seed gives the same draws as long
 * as the simulation does not change. Thread-safe.
 */
public final class RunSeed {

  private static final ProcessSetting SETTING = new ProcessSetting("llm.seed");
  private static final long SALT = 0x756e736565646564L; // "unseeded"

  /** Random seeds stay below: programs that know only doubles read them from JSON. */
  private static final long EXACT_IN_JAVASCRIPT = 1L << 53;

  private static @Nullable RunSeed ofProcess;

  private final long seed;
  private final AtomicLong draws = new AtomicLong();

  RunSeed(long seed) {
    this.seed = seed;
  }

  /** The setting {@code seed}, else computed from the common start of injectors, else random. */
  public static synchronized RunSeed ofProcess() {
    if (ofProcess == null) {
      Long set = setting(System.getProperties(), System.getenv());
      Injector injector = Injector.ofProcess();
      StartTime start = injector.isPart() ? injector.startAt() : null;
      ofProcess = new RunSeed(set != null ? set : start != null ? common(start) : random());
    }
    return ofProcess;
  }

  static @Nullable Long setting(Map<?, ?> properties, Map<String, String> environment) {
    return SETTING.read(properties, environment, RunSeed::number);
  }

  private static Long number(String text) {
    try {
      return Long.valueOf(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("expected a whole number, or leave it out", e);
    }
  }

  /** The seed of injectors that share a load and have no seed set. */
  static long common(StartTime start) {
    return SplitMix64.mix(start.unixNanos()) & (EXACT_IN_JAVASCRIPT - 1);
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

  /** Draws a seed for the next part of the simulation that has none of its own. */
  public long next() {
    return SplitMix64.at(seed, SALT, draws.getAndIncrement()).nextLong();
  }
}
