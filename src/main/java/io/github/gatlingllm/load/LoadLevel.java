package io.github.gatlingllm.load;

import java.math.BigDecimal;
import java.util.Iterator;

/** One load level of a plan: how much is offered, and for how long. */
public sealed interface LoadLevel {

  /** The name in files and assertions, e.g. {@code c=8} or {@code r=2.5}. */
  String label();

  /** {@code closed}, {@code open} or {@code batch}. */
  String kind();

  /** Users in flight (closed) or users per second (open). */
  double offered();

  Phases phases();

  /**
   * So many users, each beginning again as soon as it ended.
   *
   * @param users iterations in flight, 1 or more
   */
  record Closed(int users, Phases phases) implements LoadLevel {
    public Closed {
      if (users <= 0) {
        throw new IllegalArgumentException(
            "closedLoop(" + users + ") offers no load; expected 1 user or more");
      }
    }

    @Override
    public String label() {
      return "c=" + users;
    }

    @Override
    public String kind() {
      return "closed";
    }

    @Override
    public double offered() {
      return users;
    }
  }

  /**
   * Trials: so many users at once, wait for the slowest, and again.
   *
   * @param users iterations of each trial, 1 or more
   * @param trials 1 or more
   * @param drainNanos at most so long may the last trial take
   */
  record Batch(int users, int trials, long drainNanos) implements LoadLevel {
    public Batch {
      if (users <= 0 || trials <= 0) {
        throw new IllegalArgumentException(
            "batch(" + users + ").trials(" + trials + ") offers no load; expected 1 or more each");
      }
      var unused = Math.multiplyExact(users, trials);
    }

    @Override
    public String label() {
      return "b=" + users;
    }

    @Override
    public String kind() {
      return "batch";
    }

    @Override
    public double offered() {
      return users;
    }

    @Override
    public Phases phases() {
      return new Phases(0, 0, 0, drainNanos, users * trials);
    }
  }

  /**
   * Users that arrive whether or not earlier ones were served.
   *
   * @param label the name, e.g. {@code r=2.5}
   * @param perSecond mean rate, above 0
   * @param arrivals the process that draws the arrivals at that rate
   */
  record Open(String label, double perSecond, Arrivals arrivals, Phases phases)
      implements LoadLevel {

    public Open {
      long length =
          arrivals instanceof Arrivals.Curve curve
              ? curve.lengthNanos()
              : arrivals instanceof Arrivals.Replay replay ? replay.lengthNanos() : Long.MAX_VALUE;
      if (phases.stabilizeNanos() >= length) {
        throw new IllegalArgumentException(
            "stabilize("
                + phases.stabilizeNanos() / 1e9
                + " s) outlasts the "
                + label
                + " of "
                + length / 1e9
                + " s, so nothing would be measured; stabilize for less");
      }
    }

    /** A level that its rate is the name of. */
    public Open(double perSecond, Arrivals arrivals, Phases phases) {
      this(
          "r=" + BigDecimal.valueOf(perSecond).stripTrailingZeros().toPlainString(),
          perSecond,
          arrivals,
          phases);
    }

    @Override
    public String kind() {
      return "open";
    }

    @Override
    public double offered() {
      return perSecond;
    }

    /** The planned arrivals of this level: over stabilize and measure, or until enough. */
    public Iterator<Planned> schedule() {
      long measureFrom = phases.fillNanos() + phases.stabilizeNanos();
      Integer requests = phases.requests();
      return Planned.of(
          arrivals,
          requests == null
              ? arrivals.offsetsBefore(measureFrom + phases.measureNanos())
              : Offsets.head(arrivals.offsets(), Long.MAX_VALUE, measureFrom, requests));
    }
  }
}
