package io.github.gatlingllm.load;

import io.github.gatlingllm.load.Arrivals.Planned;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Starts users of an open level shortly before their arrivals, under the driver's lock. */
final class OpenArrivals {

  /** Users are started this long before their arrival, and wait for it on their event loop. */
  static final long LOOKAHEAD_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** As {@link #LOOKAHEAD_NANOS}, for arrivals of a cooldown, which may not be needed. */
  private static final long COOLDOWN_LOOKAHEAD_NANOS = PlanDriver.LEAD_NANOS;

  private final RunningLevel level;
  private final LongSupplier nanoClock;
  private final PlanDriver driver;
  private Iterator<Planned> schedule;
  private long started;

  OpenArrivals(RunningLevel level, LongSupplier nanoClock, PlanDriver driver) {
    this.level = level;
    this.nanoClock = nanoClock;
    this.driver = driver;
    this.schedule = ((LoadLevel.Open) level.level()).schedule().iterator();
  }

  void begin() {
    if (schedule.hasNext()) {
      startFrom(schedule.next());
    } else if (level.level().phases().requests() != null) {
      driver.stopByCount(level, level.startNanos());
    }
  }

  /** Starts the users of the arrivals that are due soon, and calls itself again for the rest. */
  private void startFrom(Planned from) {
    if (!driver.isStarting(level)) {
      return;
    }
    long now = nanoClock.getAsLong();
    Planned next = from;
    while (true) {
      long planned = level.startNanos() + next.offsetNanos();
      long ahead =
          switch (level.phaseAt(planned)) {
            case FILL, STABILIZE, MEASURE -> LOOKAHEAD_NANOS;
            case COOLDOWN -> COOLDOWN_LOOKAHEAD_NANOS;
            case DRAIN, CHECK -> 0;
          };
      if (planned - now > ahead) {
        Planned later = next;
        driver.at(planned - ahead / 8 * 7, () -> startFrom(later));
        return;
      }
      if (ahead == 0) {
        return;
      }
      started++;
      driver.start(new Arrival(level, next, planned));
      if (!schedule.hasNext()) {
        if (level.level().phases().requests() != null) {
          driver.at(planned, () -> stopOrExtend(planned));
        }
        return;
      }
      next = schedule.next();
    }
  }

  private void stopOrExtend(long planned) {
    if (driver.extendsMeasuring(level)) {
      schedule = ((LoadLevel.Open) level.level()).schedule().skip(started).iterator();
      begin();
    } else if (driver.isStarting(level)) {
      driver.stopByCount(level, planned);
    }
  }
}
