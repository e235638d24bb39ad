package io.github.gatlingllm.load;

import io.github.gatlingllm.load.Arrivals.Gaps;
import io.github.gatlingllm.load.Arrivals.Planned;
import io.github.gatlingllm.record.InjectorShare;
import io.github.gatlingllm.record.LevelInfo;
import java.math.BigDecimal;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One load level of a plan: how much is offered, how, and for how long. */
public sealed interface LoadLevel {

  /** The name in files and assertions, e.g. {@code c=8} or {@code r=2.5}. */
  String label();

  /** How it is offered: one of the kinds of {@link LevelInfo}. */
  String kind();

  /** The load that is asked for, in {@link #unit}. */
  double offered();

  /** The unit of {@link #offered}. */
  default String unit() {
    return "concurrent";
  }

  Phases phases();

  /**
   * So many users, each beginning again as soon as it ended.
   *
   * @param users iterations in flight, 1 or more; of one of several injectors its part, 0 or more
   * @param ofUsers those of all injectors
   */
  record Closed(int users, int ofUsers, Phases phases) implements LoadLevel {
    public Closed {
      if (ofUsers <= 0) {
        throw new IllegalArgumentException(
            "closedLoop(" + ofUsers + ") offers no load; expected 1 user or more");
      }
      phases = phases.bounded();
      phases = ofUsers == 1 ? phases.orFill(0) : phases;
    }

    /** All of them. */
    public Closed(int users, Phases phases) {
      this(users, users, phases);
    }

    @Override
    public String label() {
      return "c=" + ofUsers;
    }

    /** The part of an injector; a count of requests is divided as the users are. */
    Closed part(InjectorShare share) {
      Phases fixed = phases.fixed();
      Integer requests = fixed.requests();
      int own = share.of(ofUsers);
      return new Closed(
          own,
          ofUsers,
          requests == null
              ? fixed
              : fixed.counted(share.of(requests, ofUsers), fixed.measureNanos()));
    }

    @Override
    public String kind() {
      return LevelInfo.CLOSED_LOOP;
    }

    @Override
    public double offered() {
      return users;
    }
  }

  /**
   * Trials: start all users at once, wait for the slowest, and repeat.
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
      return LevelInfo.BATCH;
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
   * @param numbers of its arrivals, and which of them are this injector's; null: they have none,
   *     and all are
   */
  record Open(
      String label,
      double perSecond,
      Arrivals arrivals,
      Phases phases,
      @Nullable ArrivalNumbers numbers)
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
                .formatted(stabilize / 1e9, label, arrivals.lengthNanos() / 1e9));
      }
    }

    /** One whose arrivals have no numbers. */
    public Open(String label, double perSecond, Arrivals arrivals, Phases phases) {
      this(label, perSecond, arrivals, phases, null);
    }

    /** A level that its rate is the name of. */
    public Open(double perSecond, Arrivals arrivals, Phases phases) {
      this(
          "r=" + BigDecimal.valueOf(perSecond).stripTrailingZeros().toPlainString(),
          perSecond,
          arrivals,
          phases);
    }

    /** Poisson arrivals at a constant mean rate, in the default phases. */
    public static Open steady(double perSecond) {
      return new Open(perSecond, Arrivals.poisson(perSecond, 0), Phases.DEFAULT);
    }

    /** Poisson arrivals at a rate that follows a curve, all of which is measured. */
    public static Open curve(Arrivals.Rate rate, long lengthNanos) {
      Arrivals.Curve even = new Arrivals.Curve(rate, lengthNanos, new Gaps.Equal());
      return new Open(
          "curve",
          even.countBefore(lengthNanos) / (lengthNanos / 1e9),
          even.with(new Gaps.Exponential(0)),
          Phases.DEFAULT.withMeasure(lengthNanos));
    }

    /** Recorded traffic, all of which is measured. */
    public static Open replay(Arrivals.Replay replay) {
      long lengthNanos = replay.lengthNanos();
      double perSecond = replay.trace().size() / (lengthNanos / 1e9);
      return new Open("trace", perSecond, replay, Phases.DEFAULT.withMeasure(lengthNanos));
    }

    /** The same in other phases. */
    public Open with(Phases others) {
      return new Open(label, perSecond, arrivals, others, numbers);
    }

    /** The same rate with arrivals spread by these gaps, in these phases. */
    public Open with(Gaps gaps, Phases others) {
      return new Open(label, perSecond, arrivals.with(gaps), others, numbers);
    }

    @Override
    public String kind() {
      return arrivals instanceof Arrivals.Curve
          ? LevelInfo.RATE_CURVE
          : arrivals instanceof Arrivals.Replay ? LevelInfo.TRACE : LevelInfo.OPEN_LOOP;
    }

    /** The same with numbers; of one of several injectors in phases that all of them know. */
    Open numbered(ArrivalNumbers ofArrivals) {
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
      return "requests/s";
    }

    /** How many arrivals it may have at most, those of all injectors together. */
    long mostArrivals() {
      if (phases.requests() == null) {
        return arrivals.countBefore(phases.longestNanos() - phases.drainNanos());
      }
      long most = 0;
      for (Iterator<Planned> all = wholeSchedule(); all.hasNext(); all.next()) {
        most++;
      }
      return most;
    }

    /** The longest that it takes. */
    long longestNanos() {
      if (phases.requests() == null || phases.isTimed()) {
        return phases.longestNanos();
      }
      long last = 0;
      for (Iterator<Planned> all = wholeSchedule(); all.hasNext(); ) {
        last = all.next().offsetNanos();
      }
      return last + phases.drainNanos();
    }

    /**
     * The planned arrivals of this level, for as long as it wants some: a curve goes on at its last
     * rate, a trace begins again. A count of requests ends them. Those of this injector.
     */
    public Iterator<Planned> schedule() {
      return numbers == null ? wholeSchedule() : numbers.own(wholeSchedule());
    }

    private Iterator<Planned> wholeSchedule() {
      Integer requests = phases.requests();
      if (requests == null) {
        return arrivals.plannedBefore(Long.MAX_VALUE);
      }
      return arrivals.plannedUntil(phases.knownNanos() - phases.measureNanos(), requests);
    }

    /** Those of {@link #schedule} before that offset. */
    Iterator<Planned> scheduleBefore(long offsetNanos) {
      return ArrivalNumbers.stream(schedule())
          .takeWhile(planned -> planned.offsetNanos() < offsetNanos)
          .iterator();
    }
  }

  /**
   * How long each phase of a level lasts. The measure phase is bounded by time, by a number of
   * iterations, or by both: whichever comes first. {@link RunningLevel} says when the phases end
   * that are automatic.
   *
   * <p>A level makes automatic phases 0 where it has no use for them: all where a number of
   * iterations bounds it, as that number is exact and nothing is sent beside it; filling of open
   * levels and of a single user; stabilizing of rate curves and traces, which are measured from
   * their first arrival.
   *
   * @param fillNanos users start one after the other over this time; 0 = all at once; null =
   *     automatic
   * @param stabilizeNanos wait before measuring; null = automatic
   * @param measureNanos length of the measure phase; 0 where only {@code requests} bounds it
   * @param cooldown whether the load stays on after the measure phase, unmeasured, until the
   *     requests scheduled in it have ended; never where {@code requests} bounds it
   * @param drainNanos at most so long may requests of the measure phase go on after its end, and
   *     pending iterations once nothing new starts
   * @param requests iterations started in the measure phase, shared by all users; null = {@code
   *     measureNanos} bounds it. The phase ends when the last of them ended. 0 only as the part of
   *     one of several injectors
   */
  record Phases(
      @Nullable Long fillNanos,
      @Nullable Long stabilizeNanos,
      long measureNanos,
      boolean cooldown,
      long drainNanos,
      @Nullable Integer requests) {

    /** All automatic, 30 s of measuring, at most 30 s of drain. */
    public static final Phases DEFAULT =
        new Phases(
            null, null, TimeUnit.SECONDS.toNanos(30), true, TimeUnit.SECONDS.toNanos(30), null);

    /** Automatic phases before measuring take this long at least, if they need to. */
    private static final long LEAST_BOUND = TimeUnit.SECONDS.toNanos(5);

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

    /** Phases of which none is automatic, without cooldown. */
    public Phases(
        long fillNanos,
        long stabilizeNanos,
        long measureNanos,
        long drainNanos,
        @Nullable Integer requests) {
      this(fillNanos, stabilizeNanos, measureNanos, false, drainNanos, requests);
    }

    /**
     * Nanoseconds of fill, stabilize and measure, those of automatic phases excepted; null where a
     * number of iterations bounds these. Neither cooldown nor drain is planned: they last as long
     * as what still runs.
     */
    public @Nullable Long plannedNanos() {
      return isTimed() ? (Long) knownNanos() : null;
    }

    /** Whether time bounds the measure phase, alone or beside a number of iterations. */
    public boolean isTimed() {
      return measureNanos > 0;
    }

    private long knownNanos() {
      return orZero(fillNanos) + orZero(stabilizeNanos) + measureNanos;
    }

    /** Whether it shows only while it runs when measuring starts. */
    public boolean isAutomatic() {
      return fillNanos == null || stabilizeNanos == null;
    }

    /**
     * The longest that automatic phases may put off measuring: as long as what is measured, at
     * least 5 s.
     */
    public long boundNanos() {
      return isAutomatic() ? Math.max(LEAST_BOUND, measureNanos) : 0;
    }

    /**
     * The longest that fill, stabilize, measure, cooldown and drain take; without a bound by
     * number.
     */
    public long longestNanos() {
      return knownNanos() + boundNanos() + (cooldown ? 2 : 1) * drainNanos;
    }

    /**
     * The same where nothing is automatic, so that several injectors, none of which knows when the
     * others have settled, measure at the same time: at the latest instant that automatic phases
     * have, filled in its first quarter.
     */
    Phases fixed() {
      long quarter = boundNanos() / 4;
      Phases filled = orFill(quarter);
      return filled.orStabilize(boundNanos() - (fillNanos == null ? quarter : 0));
    }

    private Phases bounded() {
      return requests == null
          ? this
          : new Phases(
              orZero(fillNanos), orZero(stabilizeNanos), measureNanos, drainNanos, requests);
    }

    private Phases orFill(long nanos) {
      return fillNanos == null ? withFill(nanos) : this;
    }

    private Phases orStabilize(long nanos) {
      return stabilizeNanos == null ? withStabilize(nanos) : this;
    }

    private static long orZero(@Nullable Long nanos) {
      return nanos == null ? 0 : nanos;
    }

    private static void notNegative(String name, @Nullable Long nanos) {
      if (nanos != null && nanos < 0) {
        throw new IllegalArgumentException(
            name + "(" + seconds(nanos) + ") is no duration; expected 0 s or more");
      }
    }

    private static String seconds(long nanos) {
      return nanos / 1e9 + " s";
    }

    public Phases withFill(long nanos) {
      return new Phases(nanos, stabilizeNanos, measureNanos, cooldown, drainNanos, requests);
    }

    public Phases withStabilize(long nanos) {
      return new Phases(fillNanos, nanos, measureNanos, cooldown, drainNanos, requests);
    }

    /** Bounded by time; forgets a number of requests given before. */
    public Phases withMeasure(long nanos) {
      return new Phases(fillNanos, stabilizeNanos, nanos, cooldown, drainNanos, null);
    }

    public Phases withCooldown(boolean on) {
      return new Phases(fillNanos, stabilizeNanos, measureNanos, on, drainNanos, requests);
    }

    public Phases withDrain(long nanos) {
      return new Phases(fillNanos, stabilizeNanos, measureNanos, cooldown, nanos, requests);
    }

    /** Bounded by number; forgets a duration given before. */
    public Phases withRequests(int count) {
      return withRequests(count, 0);
    }

    /** Bounded by number and by time, whichever comes first. */
    public Phases withRequests(int count, long mostNanos) {
      if (count == 0) {
        throw new IllegalArgumentException("requests(0) measures nothing; expected 1 or more");
      }
      return counted(count, mostNanos);
    }

    private Phases counted(int count, long mostNanos) {
      return new Phases(fillNanos, stabilizeNanos, mostNanos, cooldown, drainNanos, count);
    }
  }
}
