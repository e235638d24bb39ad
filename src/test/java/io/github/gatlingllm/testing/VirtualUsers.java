package io.github.gatlingllm.testing;

import io.github.gatlingllm.load.Arrival;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.PlanDriver;
import io.github.gatlingllm.load.PlanDriver.LoopingUser;
import io.github.gatlingllm.load.RunningLevel;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Virtual time, and the users of a plan in it: a clock that jumps from task to task, and users each
 * of whose iterations is what a test makes of it. Other threads may add tasks.
 *
 * <pre>{@code
 * VirtualUsers users = new VirtualUsers(0, (level, user) -> users.at(10, user::next));
 * users.begin(plan, listener, level -> null);
 * users.run();
 * }</pre>
 */
public final class VirtualUsers implements PlanDriver.Users {

  /** What a user does in an iteration; in the end it tells the user to go on or to exit. */
  @FunctionalInterface
  public interface Iteration {
    void begin(RunningLevel level, User user);
  }

  /** Times since the start: instants may overflow. */
  private record Task(long offsetNanos, long order, Runnable action) {}

  private final PriorityBlockingQueue<Task> tasks =
      new PriorityBlockingQueue<>(
          16, Comparator.comparingLong(Task::offsetNanos).thenComparingLong(Task::order));
  private final AtomicLong order = new AtomicLong();
  private final long origin;
  private final @Nullable Iteration iteration;
  private final List<Long> lags = new ArrayList<>();
  private LongSupplier lateNanos = () -> 0;
  private Runnable whenAllStarted = () -> {};
  private @Nullable PlanDriver driver;
  private volatile long now;
  private volatile boolean allStarted;
  private boolean gathers;
  private int started;
  private int present;

  /** The iteration is null where no user ever comes, so that each level ends by its time. */
  public VirtualUsers(long origin, @Nullable Iteration iteration) {
    this.origin = origin;
    this.iteration = iteration;
    now = origin;
  }

  public static VirtualUsers none(long origin) {
    return new VirtualUsers(origin, null);
  }

  /** Every arrival starts late by this. */
  public void late(LongSupplier nanos) {
    lateNanos = nanos;
  }

  public void whenAllStarted(Runnable action) {
    whenAllStarted = action;
  }

  /** Those of closed levels wait for each other at the end of the fill. */
  public void gather() {
    gathers = true;
  }

  /** Begins a plan; the planned starts of levels are in nanoseconds since the origin. */
  public void begin(
      LoadPlan plan, RunningLevel.Listener listener, IntFunction<@Nullable Long> starts) {
    driver =
        new PlanDriver(
            plan.source(),
            () -> now,
            (task, nanoTime) -> at(nanoTime, task),
            this,
            listener,
            level -> {
              Long start = starts.apply(level);
              return start == null ? null : (Long) (origin + start);
            },
            gathers);
    driver.begin();
  }

  public long now() {
    return now;
  }

  public boolean hasAllStarted() {
    return allStarted;
  }

  /** How many users have started, and how many of them have not ended. */
  public int started() {
    return started;
  }

  public int present() {
    return present;
  }

  /** By how much each arrival was late, in nanoseconds. */
  public List<Long> lags() {
    return lags;
  }

  /** The time of the next task; null without one. */
  public @Nullable Long due() {
    Task next = tasks.peek();
    return next == null ? null : (Long) (origin + next.offsetNanos());
  }

  /** Lets time pass until the next task, and runs it. */
  public void step() {
    Task task = tasks.remove();
    now = origin + Math.max(now - origin, task.offsetNanos());
    task.action().run();
  }

  public void runTo(long nanoTime) {
    for (Long due = due(); due != null && due - nanoTime <= 0; due = due()) {
      step();
    }
    now = nanoTime;
  }

  /** Lets time pass to an instant before which nothing is due. */
  public void passTo(long nanoTime) {
    now = nanoTime;
  }

  /** Until nothing is left to do. */
  public void run() {
    while (!tasks.isEmpty()) {
      step();
    }
  }

  public void at(long nanoTime, Runnable task) {
    tasks.add(new Task(Math.max(now - origin, nanoTime - origin), order.getAndIncrement(), task));
  }

  @Override
  public void start() {
    if (iteration != null) {
      arrive();
      at(now, () -> new User().next());
    }
  }

  @Override
  public void start(Arrival arrival) {
    if (iteration != null) {
      arrive();
      at(arrival.plannedNanos() + lateNanos.getAsLong(), () -> new User().arrived(arrival));
    }
  }

  private void arrive() {
    started++;
    present++;
  }

  @Override
  public void allStarted() {
    allStarted = true;
    whenAllStarted.run();
  }

  public final class User implements LoopingUser {
    private @Nullable RunningLevel level;
    private @Nullable RunningLevel answeredIn;

    private User() {}

    private void arrived(Arrival arrival) {
      arrival.started(now);
      lags.add(arrival.startLagNanos());
      level = Objects.requireNonNull(arrival.level());
      if (Objects.requireNonNull(driver).begins(arrival)) {
        iterate(level);
      } else {
        next();
      }
    }

    private void iterate(RunningLevel next) {
      level = next;
      Objects.requireNonNull(iteration).begin(next, this);
    }

    /** Whether this is its first iteration in the level. */
    public boolean isNew() {
      return level != answeredIn;
    }

    /** Ends its iteration. */
    public void next() {
      answeredIn = level;
      RunningLevel next = Objects.requireNonNull(driver).next(this, level);
      if (next != null) {
        iterate(next);
      }
    }

    /** Leaves within its iteration. */
    public void exit() {
      present--;
      Objects.requireNonNull(driver).userExited(Objects.requireNonNull(level));
    }

    @Override
    public void resume(RunningLevel next) {
      at(now, () -> iterate(next));
    }

    @Override
    public void end() {
      at(now, () -> present--);
    }
  }
}
