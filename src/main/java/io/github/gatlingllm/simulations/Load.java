package io.github.gatlingllm.simulations;

import io.github.gatlingllm.load.StopRule;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What is offered to each target: levels that run one after the other.
 *
 * @param levels in the order in which they run; at least one
 * @param arrival of open levels; null for closed ones
 * @param duration measured at each level; not used where {@code requests} is given
 * @param requests measured at each level; null when {@code duration} bounds it
 * @param warmup requests before measuring, in no figure
 * @param fill over which the users of closed levels start; zero for all at once
 * @param stabilize settled before measuring at each level
 * @param drain longest wait for pending requests after each level
 * @param stopWhen rules that end a sweep early
 * @param search whether the levels are chosen by a search that starts at the first one
 * @param trials of each closed level as a batch; null for loops
 */
public record Load(
    List<Level> levels,
    @Nullable Arrival arrival,
    Duration duration,
    @Nullable Integer requests,
    int warmup,
    Duration fill,
    Duration stabilize,
    Duration drain,
    List<StopRule> stopWhen,
    boolean search,
    @Nullable Integer trials) {

  public Load {
    levels = List.copyOf(levels);
    stopWhen = List.copyOf(stopWhen);
  }

  /** One load level. */
  public sealed interface Level {

    /** The stage's name in files, e.g. {@code c=8}, {@code r=0.5}. */
    String label();
  }

  /**
   * A constant number of requests in flight; each completion starts the next at once.
   *
   * @param concurrency ≥ 1
   */
  public record Closed(int concurrency) implements Level {
    @Override
    public String label() {
      return "c=" + concurrency;
    }
  }

  /**
   * Requests that start at planned instants, whatever the server does.
   *
   * @param rate requests per second, &gt; 0
   */
  public record Open(double rate) implements Level {
    @Override
    public String label() {
      return "r=" + BigDecimal.valueOf(rate).stripTrailingZeros().toPlainString();
    }
  }

  /** How the starts of open levels are spread. */
  public enum Arrival {
    /** Exponential gaps, seeded. */
    POISSON,
    /** Equal gaps. */
    CONSTANT;

    /** The name used in settings: lower case. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** The stage's name in files, e.g. {@code c=8}, or {@code b=8} in trials. */
  String label(Level level) {
    return trials == null ? level.label() : "b=" + ((Closed) level).concurrency();
  }

  /** The rules that end a sweep early. */
  StopRule[] stopRules() {
    return stopWhen.toArray(StopRule[]::new);
  }

  /** The requests in flight of each closed level. */
  int[] concurrencies() {
    return levels.stream().mapToInt(level -> ((Closed) level).concurrency()).toArray();
  }

  /** The requests per second of each open level. */
  double[] rates() {
    return levels.stream().mapToDouble(level -> ((Open) level).rate()).toArray();
  }

  /** Requests to expect at a level, warm-up excepted; null where the server decides. */
  public @Nullable Long expectedRequests(Level level) {
    if (trials != null) {
      return (long) trials * ((Closed) level).concurrency();
    }
    if (requests != null) {
      return requests.longValue();
    }
    return level instanceof Open open
        ? (Long) Math.round(open.rate() * duration.toNanos() / 1e9)
        : null;
  }

  /** How long a level measures; null where a count bounds it and the server decides. */
  public @Nullable Duration expectedDuration(Level level) {
    if (trials != null) {
      return null;
    }
    if (requests == null) {
      return duration;
    }
    return level instanceof Open open
        ? Duration.ofNanos(Math.round(requests / open.rate() * 1e9))
        : null;
  }
}
