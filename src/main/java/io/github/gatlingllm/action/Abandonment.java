package io.github.gatlingllm.action;

import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.load.Seed;
import java.time.Duration;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Users who leave before their answer is complete: a share of the requests, above 0 and at most 1,
 * after a time since the planned start that is drawn evenly between two.
 */
public record Abandonment(double share, Duration least, Duration most) {
  private static final long SALT = 0x6162616e646f6eL; // "abandon"

  public Abandonment {
    if (!(share > 0 && share <= 1)
        || least.isNegative()
        || most.isZero()
        || most.compareTo(least) < 0) {
      throw InvalidSimulation.because(
          "abandonAfter(%s, %s, %s): expected a share above 0, at most 1, and times above 0, the"
                  .formatted(share, least, most)
              + " shorter one first");
    }
  }

  /** When the user of a request leaves, in nanoseconds; null for one who stays. */
  @Nullable Long afterNanos(long seed, long request) {
    SplittableRandom random = Seed.at(seed, SALT, request);
    boolean leaves = random.nextDouble() < share;
    double range = (double) (most.toNanos() - least.toNanos());
    return leaves ? (Long) (least.toNanos() + (long) (random.nextDouble() * range)) : null;
  }

  @Override
  public String toString() {
    String from = least.equals(most) ? "" : LlmProtocol.seconds(least) + "-";
    return NumberText.plain(share * 100) + "%@" + from + LlmProtocol.seconds(most);
  }
}
