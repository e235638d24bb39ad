package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.injector.Injector;
import io.github.gatlingllm.load.Arrival;
import io.github.gatlingllm.load.Arrival.Turns;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.RunSeed;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** What builders of prompts draw from. */
final class Seeds {

  private Seeds() {}

  /** A seed where none was pinned; it follows from the one of the run. */
  static long random() {
    return InvalidSimulation.checked(RunSeed::ofProcess).next();
  }

  /** Turns at something that all injectors of a load test draw from together. */
  static Turns turns() {
    return new Turns(InvalidSimulation.checked(Injector::ofProcess).part());
  }

  /** The user's turn at something that is drawn from in order. */
  static long turn(Turns turns, Session session) {
    return turns.next(session.<Arrival>get(Arrival.KEY));
  }

  /** The same, drawn when it is asked for the first time. */
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

  /** Shared prefixes; a mistake in their sizes is one of the simulation. */
  static PromptPrefix sharedPrefix(int groups, int tokens, long seed) {
    try {
      return new PromptPrefix.Shared(groups, tokens, seed);
    } catch (IllegalArgumentException e) {
      throw InvalidSimulation.because("sharedPrefix: " + e.getMessage());
    }
  }
}
