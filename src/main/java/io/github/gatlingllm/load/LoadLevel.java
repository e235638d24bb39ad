package io.github.gatlingllm.load;

import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.load.Arrivals.Gaps;
import io.github.gatlingllm.load.Arrivals.Planned;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.record.LevelInfo;
import java.util.concurrent.TimeUnit;
import java.util.function.LongToDoubleFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One load level of a plan: the kind of load, its amount, and its phases. */
public sealed interface LoadLevel {

  /** The name in files and assertions, e.g. {@code c=8} or {@code r=2.5}. */
  String label();

  /** How it is offered: one of the kinds of {@link LevelInfo}. */
  default String kind() {
    if (!(this instanceof Open open)) {
      return this instanceof FixedBatch ? LevelInfo.BATCH : LevelInfo.CLOSED_LOOP;
    }
    return open.arrivals() instanceof VaryingRate
        ? LevelInfo.RATE_CURVE
        : open.arrivals() instanceof Trace ? LevelInfo.TRACE : LevelInfo.OPEN_LOOP;
  }

  /** The requested load, in {@link #unit}. */
  double offered();

  default String unit() {
    return "concurrent";
  }

  Phases phases();

  /**
   * The same as the repeat of that number, from 1, with separate arrivals; for 0 the level that is
   * not repeated.
   */
  LoadLevel repeat(int number);

  /** The same, while no other class of traffic has load. */
  LoadLevel alone();

  LoadLevel with(Phases others);

  /** Between the seeds of repeats; levels have neighbouring seeds. */
  long SEEDS_APART = 1_000;

  /** A user of a closed loop or a batch takes some kilobytes of memory before it does anything. */
  int MAX_USERS = 1_000_000;

  private static void requireBounded(int users, int trials) {
    if (users > MAX_USERS || (long) users * trials > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "%s users%s are too many for one load test; expected at most %s users and %s requests"
              .formatted(
                  NumberText.count(users),
                  trials == 1 ? "" : " times " + NumberText.count(trials) + " trials",
                  NumberText.count(MAX_USERS),
                  NumberText.count(Integer.MAX_VALUE)));
    }
  }

  /** A fixed number of users, each starting its next iteration when the previous one has ended. */
  record Closed(String label, int users, int ofUsers, Phases phases) implements LoadLevel {
    public Closed {
      if (ofUsers <= 0) {
        throw new IllegalArgumentException(
            "closedLoop(" + ofUsers + ") offers no load; expected 1 user or more");
      }
      requireBounded(ofUsers, 1);
      phases = phases.bounded();
      phases = ofUsers == 1 ? phases.orFill(0) : phases;
    }

    public Closed(int users, Phases phases) {
      this("c=" + users, users, phases);
    }

    Closed(String label, int users, Phases phases) {
      this(label, users, users, phases);
    }

    @Override
    public Closed repeat(int number) {
      return new Closed(
          LevelInfo.numbered(LevelInfo.unnumbered(label), number), users, ofUsers, phases);
    }

    @Override
    public Closed alone() {
      return new Closed(label + LevelInfo.ALONE, users, ofUsers, phases);
    }

    @Override
    public Closed with(Phases others) {
      return new Closed(label, users, ofUsers, others);
    }

    /** The part of one injector; requests are divided in the same proportion as users. */
    Closed part(InjectorShare share) {
      Phases fixed = phases.fixed();
      Integer requests = fixed.requests();
      int own = share.of(ofUsers);
      return new Closed(
          label,
          own,
          ofUsers,
          requests == null
              ? fixed
              : fixed.counted(share.of(requests, ofUsers), fixed.measureNanos()));
    }

    @Override
    public double offered() {
      return users;
    }
  }

  /** All users start together; the next trial starts when the slowest has ended. */
  record FixedBatch(int users, int trials, long drainNanos) implements LoadLevel {
    public FixedBatch {
      if (users <= 0 || trials <= 0) {
        throw new IllegalArgumentException(
            "batch(" + users + ").trials(" + trials + ") offers no load; expected 1 or more each");
      }
      requireBounded(users, trials);
    }

    @Override
    public String label() {
      return "b=" + users;
    }

    @Override
    public LoadLevel repeat(int number) {
      throw new IllegalArgumentException("trials are repeats already; expected one of the two");
    }

    @Override
    public LoadLevel alone() {
      throw new IllegalArgumentException(
          "trials wait for their slowest request, so classes of traffic cannot run them together;"
              + " expected a rate or a concurrency");
    }

    @Override
    public LoadLevel with(Phases others) {
      return alone();
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

  /** Users that arrive at planned instants, independent of the server's answers. */
  record Open(
      String label,
      double perSecond,
      Arrivals arrivals,
      Phases phases,
      Arrival.@Nullable Numbers numbers)
      implements LoadLevel {

    public Open {
      phases = phases.bounded().orFill(0);
      if (arrivals.lengthNanos() != Long.MAX_VALUE) {
        phases = phases.orStabilize(0);
      }
      Long stabilize = phases.stabilizeNanos();
      if (stabilize != null && stabilize >= arrivals.lengthNanos()) {
        throw new IllegalArgumentException(
            ("stabilize(%s s) outlasts the %s of %s s, so nothing would be measured; stabilize for"
                    + " less")
                .formatted(
                    NumberText.plain(stabilize / 1e9),
                    label,
                    NumberText.plain(arrivals.lengthNanos() / 1e9)));
      }
    }

    public Open(String label, double perSecond, Arrivals arrivals, Phases phases) {
      this(label, perSecond, arrivals, phases, null);
    }

    public Open(double perSecond, Arrivals arrivals, Phases phases) {
      this("r=" + NumberText.plain(perSecond), perSecond, arrivals, phases);
    }

    /** Poisson arrivals at a constant mean rate, in the default phases. */
    public static Open steady(double perSecond) {
      return new Open(perSecond, Arrivals.poisson(perSecond, 0), Phases.DEFAULT);
    }

    /** Poisson arrivals at a rate that follows a curve, all of which is measured. */
    public static Open curve(LongToDoubleFunction rate, long lengthNanos) {
      VaryingRate even = new VaryingRate(rate, lengthNanos, Gaps.EQUAL);
      return new Open(
          "curve",
          even.countBefore(lengthNanos) / (lengthNanos / 1e9),
          even.with(Gaps.poisson(0)),
          Phases.DEFAULT.withMeasure(lengthNanos));
    }

    /** Replayed traffic, all of which is measured. */
    public static Open replay(Trace replay) {
      long lengthNanos = replay.lengthNanos();
      double perSecond = replay.size() / (lengthNanos / 1e9);
      return new Open("trace", perSecond, replay, Phases.DEFAULT.withMeasure(lengthNanos));
    }

    @Override
    public Open repeat(int number) {
      Gaps gaps = arrivals.gaps();
      if (gaps == null || arrivals instanceof VaryingRate) {
        throw new IllegalArgumentException("a " + label + " has no load levels to repeat");
      }
      return new Open(
          LevelInfo.numbered(LevelInfo.unnumbered(label), number),
          perSecond,
          arrivals.with(gaps.withSeed(gaps.seed() + SEEDS_APART * Math.max(0, number - 1))),
          phases,
          numbers);
    }

    @Override
    public Open alone() {
      return new Open(label + LevelInfo.ALONE, perSecond, arrivals, phases, numbers);
    }

    @Override
    public Open with(Phases others) {
      return new Open(label, perSecond, arrivals, others, numbers);
    }

    Open with(Gaps gaps, Phases others) {
      return new Open(label, perSecond, arrivals.with(gaps), others, numbers);
    }

    /** The same with numbered arrivals, and for one of several injectors with fixed phases. */
    Open numbered(Arrival.Numbers ofArrivals) {
      return new Open(
          label,
          perSecond,
          arrivals,
          ofArrivals.share().isPart() ? phases.fixed() : phases,
          ofArrivals);
    }

    @Override
    public double offered() {
      return numbers == null ? perSecond : perSecond / numbers.share().count();
    }

    @Override
    public String unit() {
      return LevelInfo.REQUESTS_PER_S;
    }

    /** Upper bound of the number of arrivals on all injectors together. */
    long maxArrivals() {
      return phases.requests() == null
          ? arrivals.countBefore(phases.longestNanos() - phases.drainNanos())
          : completeSchedule().count();
    }

    long longestNanos() {
      if (phases.requests() == null || phases.isTimed()) {
        return phases.longestNanos();
      }
      return completeSchedule().mapToLong(Planned::offsetNanos).max().orElse(0)
          + phases.drainNanos();
    }

    /** The arrivals on this injector, which end only if a number of requests bounds them. */
    public Stream<Planned> schedule() {
      return numbers == null ? completeSchedule() : numbers.own(completeSchedule());
    }

    private Stream<Planned> completeSchedule() {
      Integer requests = phases.requests();
      return requests == null
          ? arrivals.planned()
          : arrivals.plannedUntil(phases.knownNanos() - phases.measureNanos(), requests);
    }
  }

  /** The load of one scenario that Gatling's own injection steps plan. */
  record Injection(@Nullable Double offered, String unit, long fromNanos, long untilNanos) {

    public static final String RATE = LevelInfo.USERS_PER_S;

    public static final String USERS = "concurrent";
  }

  /**
   * The lengths of the phases of a level; null for automatic ones, see {@link Settling}. Automatic
   * phases are 0 where they have no use: with a number of iterations, fill of open levels and of a
   * single user, stabilize of curves and traces.
   *
   * @param measureNanos 0 if only {@code requests} bounds it
   * @param requests iterations to start in the measure phase, which ends when the last has ended;
   *     null if time alone bounds it
   */
  public record Phases(
      @Nullable Long fillNanos,
      @Nullable Long stabilizeNanos,
      long measureNanos,
      boolean cooldown,
      long drainNanos,
      @Nullable Integer requests) {

    /** Automatic fill and stabilize, 30 s of measure, cooldown, at most 30 s of drain. */
    public static final Phases DEFAULT =
        new Phases(
            null, null, TimeUnit.SECONDS.toNanos(30), true, TimeUnit.SECONDS.toNanos(30), null);

    private static final long MIN_BOUND = TimeUnit.SECONDS.toNanos(5);

    public Phases {
      notNegative("fill", fillNanos);
      notNegative("stabilize", stabilizeNanos);
      notNegative("drain", drainNanos);
      if (requests == null && measureNanos <= 0) {
        throw new IllegalArgumentException(
            "measure(" + seconds(measureNanos) + ") measures nothing; expected more than 0 s");
      }
      if (requests != null && (requests < 0 || measureNanos < 0)) {
        throw new IllegalArgumentException(
            "requests(" + requests + ") measures nothing; expected 1 or more");
      }
    }

    /** Fixed phases without cooldown. */
    public Phases(
        long fillNanos,
        long stabilizeNanos,
        long measureNanos,
        long drainNanos,
        @Nullable Integer requests) {
      this(fillNanos, stabilizeNanos, measureNanos, false, drainNanos, requests);
    }

    /** Length of fill, stabilize and measure without automatic phases; null without a time. */
    public @Nullable Long plannedNanos() {
      return isTimed() ? (Long) knownNanos() : null;
    }

    /** Whether time bounds the measure phase, alone or together with a number of iterations. */
    public boolean isTimed() {
      return measureNanos > 0;
    }

    long knownNanos() {
      return orZero(fillNanos) + orZero(stabilizeNanos) + measureNanos;
    }

    /** Whether the start of measuring is determined while the level runs. */
    public boolean isAutomatic() {
      return fillNanos == null || stabilizeNanos == null;
    }

    /** Longest delay of measuring by automatic phases: the measure phase, at least 5 s. */
    long boundNanos() {
      return isAutomatic() ? Math.max(MIN_BOUND, measureNanos) : 0;
    }

    /** Longest possible duration of all phases together, for phases bounded by time. */
    public long longestNanos() {
      return knownNanos() + boundNanos() + (cooldown ? 2 : 1) * drainNanos;
    }

    /** The same with automatic phases at their longest: injectors do not see each other settle. */
    Phases fixed() {
      long quarter = boundNanos() / 4;
      Phases filled = orFill(quarter);
      return filled.orStabilize(boundNanos() - (fillNanos == null ? quarter : 0));
    }

    Phases bounded() {
      return requests == null
          ? this
          : new Phases(
              orZero(fillNanos), orZero(stabilizeNanos), measureNanos, drainNanos, requests);
    }

    Phases orFill(long nanos) {
      return fillNanos == null ? withFill(nanos) : this;
    }

    Phases orStabilize(long nanos) {
      return stabilizeNanos == null ? withStabilize(nanos) : this;
    }

    private static long orZero(@Nullable Long nanos) {
      return nanos == null ? 0 : nanos;
    }

    private static void notNegative(String name, @Nullable Long nanos) {
      if (nanos != null && nanos < 0) {
        throw new IllegalArgumentException(
            name + "(" + seconds(nanos) + ") is not a duration; expected 0 s or more");
      }
    }

    private static String seconds(long nanos) {
      return NumberText.plain(nanos / 1e9) + " s";
    }

    public Phases withFill(long nanos) {
      return new Phases(nanos, stabilizeNanos, measureNanos, cooldown, drainNanos, requests);
    }

    public Phases withStabilize(long nanos) {
      return new Phases(fillNanos, nanos, measureNanos, cooldown, drainNanos, requests);
    }

    /** Bounded by time; replaces a number of requests. */
    public Phases withMeasure(long nanos) {
      return new Phases(fillNanos, stabilizeNanos, nanos, cooldown, drainNanos, null);
    }

    public Phases withCooldown(boolean on) {
      return new Phases(fillNanos, stabilizeNanos, measureNanos, on, drainNanos, requests);
    }

    public Phases withDrain(long nanos) {
      return new Phases(fillNanos, stabilizeNanos, measureNanos, cooldown, nanos, requests);
    }

    /** Bounded by number; replaces a duration. */
    public Phases withRequests(int count) {
      return withRequests(count, 0);
    }

    /** Bounded by number and by time, whichever comes first. */
    public Phases withRequests(int count, long maxNanos) {
      if (count == 0) {
        throw new IllegalArgumentException("requests(0) measures nothing; expected 1 or more");
      }
      return counted(count, maxNanos);
    }

    Phases counted(int count, long maxNanos) {
      return new Phases(fillNanos, stabilizeNanos, maxNanos, cooldown, drainNanos, count);
    }
  }
}
