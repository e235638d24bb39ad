package io.github.gatlingllm.figures.level;

import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;

/**
 * An M/G/16 queue in virtual time: Poisson arrivals, first come first served, lognormal service
 * times of mean 1 s and coefficient of variation 0.5. It has run for 400 s when it is first looked
 * at. {@link #truth} is what it does in the long run.
 */
public final class MultiServerQueue {

  private static final int SERVERS = 16;
  private static final double WARM_UP = 400;
  private static final double PREFILL = 0.05;

  private final double utilisation;
  private DoubleUnaryOperator load = t -> 1;
  private int users;

  public MultiServerQueue(double utilisation) {
    this.utilisation = utilisation;
  }

  /** This number of users of the servers, each of whom comes again immediately: a closed loop. */
  static MultiServerQueue closed(int users) {
    MultiServerQueue queue = new MultiServerQueue(1);
    queue.users = users;
    return queue;
  }

  /** The same with arrivals more or less often by that factor at a time of the window. */
  public MultiServerQueue load(DoubleUnaryOperator factor) {
    load = factor;
    return this;
  }

  /**
   * A request, in seconds.
   *
   * @param at when it came, from the start of the window on
   */
  public record Visit(double at, double ttft, double e2e) {}

  /** Figures of 1,000,000 s and more, by a simulation of the same queue with other seeds. */
  public record Truth(
      double mean,
      double p50,
      double p95,
      double p99,
      double ttft,
      double ttftP50,
      double ttftP95,
      double ttftP99) {}

  public Truth truth() {
    return switch (users > 0 ? users : (int) Math.round(utilisation * 10)) {
      case 5 -> new Truth(1.00084, 0.89540, 1.94633, 2.68466, 0.05087, 0.05, 0.05, 0.05);
      case 8 -> new Truth(1.06347, 0.95864, 2.04456, 2.78429, 0.11341, 0.05, 0.42389, 0.72527);
      case 9 -> new Truth(1.23748, 1.11550, 2.40583, 3.21490, 0.28745, 0.12377, 1.02166, 1.63198);
      case 10 -> new Truth(1.5, 0, 0, 0, 0.55, 0, 0, 0);
      case 12 -> new Truth(1, 0.89443, 1.94532, 2.68411, 0.05, 0.05, 0.05, 0.05);
      case 20 -> new Truth(1.24987, 1.14988, 2.20827, 2.94590, 0.29997, 0.28933, 0.49014, 0.58371);
      case 32 -> new Truth(1.99979, 1.90514, 2.97274, 3.71000, 1.04989, 1.04302, 1.31204, 1.43482);
      default -> throw new IllegalArgumentException("not simulated: " + utilisation);
    };
  }

  public List<Visit> visits(long seed, double seconds) {
    return visits(seed, 0, seconds);
  }

  /** The same, and those that come this number of seconds before, at negative times. */
  List<Visit> visits(long seed, double before, double seconds) {
    Random random = new Random(seed * 1_000_003 + 17);
    PriorityQueue<Double> free = new PriorityQueue<>();
    for (int i = 0; i < SERVERS; i++) {
      free.add(-WARM_UP);
    }
    double spread = Math.sqrt(Math.log(1.25));
    List<Visit> visits = new ArrayList<>();
    double at = -WARM_UP;
    PriorityQueue<Double> back = new PriorityQueue<>();
    for (int i = 0; i < users; i++) {
      back.add(-WARM_UP);
    }
    while (at < seconds) {
      at = users > 0 ? back.remove() : at + gap(random, at);
      double start = Math.max(at, free.remove());
      double service = Math.exp(spread * random.nextGaussian() - spread * spread / 2);
      free.add(start + service);
      back.add(start + service);
      if (at >= -before && at < seconds) {
        visits.add(new Visit(at, start - at + PREFILL, start - at + service));
      }
    }
    return visits;
  }

  private double gap(Random random, double at) {
    double rate = utilisation * SERVERS * load.applyAsDouble(Math.max(0, at));
    return -Math.log(1 - random.nextDouble()) / rate;
  }
}
