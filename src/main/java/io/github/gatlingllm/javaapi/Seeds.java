package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.load.Arrival;
import io.github.gatlingllm.load.Arrival.DrawOrder;
import io.github.gatlingllm.load.Injector;
import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.workload.LengthDistribution.Draw;
import io.github.gatlingllm.workload.PromptPrefix;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Seeds, and positions in shared sequences, for the builders. */
final class Seeds {

  private Seeds() {}

  /** A seed for a builder whose seed is not set, derived from the seed of the run. */
  static long random() {
    return InvalidSimulation.checked(Seed::ofProcess).next();
  }

  /** An order of draws from something that all injectors of a load test share. */
  static DrawOrder drawOrder() {
    return new DrawOrder(InvalidSimulation.checked(Injector::ofProcess).part());
  }

  /** The index at which this user draws next. */
  static long drawIndex(DrawOrder order, Session session) {
    return order.next(session.<Arrival>get(Arrival.KEY), session.<Draw>get(Draw.KEY));
  }

  /** As {@link #random}, drawn on the first call. */
  static LongSupplier later() {
    return new LongSupplier() {
      private @Nullable Long drawn;

      @Override
      public synchronized long getAsLong() {
        drawn = drawn == null ? (Long) random() : drawn;
        return drawn;
      }
    };
  }

  /** Shared prefixes; sizes out of range are a mistake in the simulation. */
  static PromptPrefix.Shared sharedPrefix(int groups, int tokens, long seed) {
    String given = groups + ", " + tokens;
    return InvalidSimulation.checked(
        "sharedPrefix", given, () -> new PromptPrefix.Shared(groups, tokens, seed));
  }
}
