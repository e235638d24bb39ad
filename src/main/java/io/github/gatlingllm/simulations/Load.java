package io.github.gatlingllm.simulations;

import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.StopRule;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
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
record Load(
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

  /** Requests whose rate follows a curve. */
  public record Curve(RateCurve curve) implements Level {
    @Override
    public String label() {
      return "curve";
    }
  }

  /** Requests that start as recorded traffic did; it is level and arrival in one. */
  public record Replay(Arrivals.Replay replay) implements Level, Arrival {
    @Override
    public String label() {
      return "trace";
    }

    @Override
    public String toString() {
      return "arrivals of "
          + replay.trace().name()
          + (replay.speed() == 1
              ? ""
              : ", "
                  + BigDecimal.valueOf(replay.speed()).stripTrailingZeros().toPlainString()
                  + " times as fast");
    }
  }

  /** How the starts of open levels are spread. */
  public sealed interface Arrival {
    /** Whether the number of arrivals in a time is up to chance. */
    default boolean random() {
      return false;
    }
  }

  /** Exponential gaps, seeded. */
  public record Poisson() implements Arrival {
    @Override
    public boolean random() {
      return true;
    }

    @Override
    public String toString() {
      return "poisson arrivals";
    }
  }

  /** Equal gaps. */
  public record Constant() implements Arrival {
    @Override
    public String toString() {
      return "constant arrivals";
    }
  }

  /**
   * Gamma-distributed gaps, seeded.
   *
   * @param cv their coefficient of variation, above 0, at most 100
   */
  public record Gamma(double cv) implements Arrival {
    @Override
    public boolean random() {
      return true;
    }

    @Override
    public String toString() {
      return "gamma arrivals of cv " + BigDecimal.valueOf(cv).stripTrailingZeros().toPlainString();
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

  /** Requests to expect at all levels, warm-up excepted; null where the server decides. */
  public @Nullable Long expected() {
    long all = 0;
    for (Level level : levels) {
      Long some = search ? null : expectedRequests(level);
      if (some == null) {
        return null;
      }
      all += some;
    }
    return all;
  }

  /** Requests to expect at a level, warm-up excepted; null where the server decides. */
  public @Nullable Long expectedRequests(Level level) {
    if (trials != null) {
      return (long) trials * ((Closed) level).concurrency();
    }
    if (level instanceof Curve along) {
      return Math.round(along.curve().requests());
    }
    if (level instanceof Replay recorded) {
      return (long) recorded.replay().trace().size();
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
    if (level instanceof Curve along) {
      return along.curve().length();
    }
    if (level instanceof Replay recorded) {
      return Duration.ofNanos(recorded.replay().lengthNanos());
    }
    if (requests == null) {
      return duration;
    }
    return level instanceof Open open
        ? Duration.ofNanos(Math.round(requests / open.rate() * 1e9))
        : null;
  }
}
