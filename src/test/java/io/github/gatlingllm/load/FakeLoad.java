package io.github.gatlingllm.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.metric.Backlog.Queue;
import io.github.gatlingllm.load.LoadPlan.LevelResult;
import io.github.gatlingllm.load.PlanDriver.LoopingUser;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import java.util.function.DoubleUnaryOperator;
import java.util.function.IntFunction;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs a plan in virtual time: a clock that jumps from task to task, and users whose iterations
 * have given durations. Times are in milliseconds.
 */
final class FakeLoad implements PlanDriver.Users, PlanDriver.Timer, RunningLevel.Listener {
  private static final long MILLI = 1_000_000L;

  /** Times since the start: instants may overflow. */
  private record Task(long offsetNanos, long order, Runnable action) {}

  private final PriorityQueue<Task> tasks =
      new PriorityQueue<>(
          Comparator.comparingLong(Task::offsetNanos).thenComparingLong(Task::order));
  private final LongSupplier iterationMillis;
  private final LongPredicate exits;
  private final PlanDriver driver;

  /** Far from 0, and such that it overflows on the way. */
  private final long origin = Long.MAX_VALUE - 3_000 * MILLI;

  private long now = origin;
  private long order;
  private int inFlight;

  final List<String> events = new ArrayList<>();
  final List<String> iterations = new ArrayList<>();
  final List<Long> lags = new ArrayList<>();
  private final List<long[]> spans = new ArrayList<>();
  int usersStarted;
  int maxInFlight;
  private int usersPresent;
  private boolean allUsersStarted;
  private boolean failing;
  private long failures;
  private LoadPlan.FailureLimits limits = LoadPlan.FailureLimits.NONE;
  private @Nullable DoubleUnaryOperator missed;
  private LongSupplier lateNanos = () -> 0;
  private @Nullable Runnable tooMany;

  FakeLoad(LongSupplier iterationMillis, LongPredicate exits, LoadLevel... levels) {
    this(iterationMillis, exits, new LoadPlan.Sweep(Arrays.asList(levels)));
  }

  FakeLoad(LongSupplier iterationMillis, LongPredicate exits, LoadPlan plan) {
    this(iterationMillis, exits, plan, level -> null);
  }

  /** The same with planned starts of levels, in nanoseconds since the start. */
  FakeLoad(
      LongSupplier iterationMillis,
      LongPredicate exits,
      LoadPlan plan,
      IntFunction<@Nullable Long> starts) {
    this.iterationMillis = iterationMillis;
    this.exits = exits;
    this.driver =
        new PlanDriver(
            plan.source(),
            () -> now,
            this,
            this,
            this,
            index -> {
              Long start = starts.apply(index);
              return start == null ? null : (Long) (origin + start);
            });
  }

  FakeLoad failing() {
    failing = true;
    return this;
  }

  /** The same, but a share of the iterations, by the rate, misses the SLO. */
  FakeLoad missing(DoubleUnaryOperator shareAtRate) {
    missed = shareAtRate;
    return this;
  }

  /** The same, but every arrival starts so many nanoseconds late. */
  FakeLoad late(LongSupplier nanos) {
    lateNanos = nanos;
    return this;
  }

  static FakeLoad of(long iterationMillis, LoadLevel... levels) {
    return new FakeLoad(() -> iterationMillis, iteration -> false, levels);
  }

  /** To its end, at which all users have started and ended. */
  FakeLoad run() {
    driver.begin();
    for (Task task = tasks.poll(); task != null; task = tasks.poll()) {
      now = origin + task.offsetNanos();
      task.action().run();
    }
    assertThat(allUsersStarted).isTrue();
    assertThat(usersPresent).isZero();
    return this;
  }

  /** What all iterations took of a window, in milliseconds since the start. */
  long millisInFlight(long fromMillis, long untilMillis) {
    return spans.stream()
        .mapToLong(span -> Math.min(span[1], untilMillis) - Math.max(span[0], fromMillis))
        .filter(millis -> millis > 0)
        .sum();
  }

  long nowMillis() {
    return (now - origin) / MILLI;
  }

  private String time(long nanoTime) {
    return String.valueOf((nanoTime - origin) / MILLI);
  }

  @Override
  public void at(long nanoTime, Runnable task) {
    tasks.add(new Task(Math.max(now - origin, nanoTime - origin), order++, task));
  }

  @Override
  public void start() {
    usersStarted++;
    usersPresent++;
    at(now, () -> new User().stand());
  }

  @Override
  public void start(Arrival arrival) {
    usersStarted++;
    usersPresent++;
    at(
        arrival.plannedNanos() + lateNanos.getAsLong(),
        () -> {
          arrival.started(now);
          lags.add(arrival.startLagNanos());
          User user = new User();
          RunningLevel level = Objects.requireNonNull(arrival.level());
          if (driver.begins(arrival)) {
            user.iterate(level);
          } else {
            var unused = driver.next(user, level);
          }
        });
  }

  @Override
  public void allStarted() {
    allUsersStarted = true;
  }

  @Override
  public void levelStarted(RunningLevel level, long nanoTime) {
    events.add(time(nanoTime) + " " + level + " started");
  }

  @Override
  public void phaseStarted(RunningLevel level, Phase phase, long nanoTime) {
    events.add(time(nanoTime) + " " + level + " " + phase.key());
  }

  @Override
  public void settled(RunningLevel level, String text) {
    events.add(time(now) + " " + level + ": " + text);
  }

  @Override
  public void watchFailures(RunningLevel level, LoadPlan.FailureLimits limits, Runnable tooMany) {
    this.tooMany = tooMany;
    this.limits = limits;
    failures = 0;
  }

  /** Of a level, from its requests and how many of them met the SLO. */
  static LevelResult result(
      String label, long requests, @Nullable Long met, @Nullable Queue queue) {
    return new LevelResult(
        label, requests, met, 99, requests, 0, 0, queue, 0, false, null, null, Map.of());
  }

  @Override
  public LevelResult resultSoFar(RunningLevel level) {
    long failed = failing ? failures : 0;
    long measured = missed == null ? 0 : measured(level.label());
    Long met =
        missed == null
            ? null
            : (Long) (measured - (long) (missed.applyAsDouble(level.level().offered()) * measured));
    return new LevelResult(
        level.label(),
        measured,
        met,
        99,
        failures,
        failed,
        0,
        null,
        failed,
        level.isCut(),
        null,
        failing ? new LevelResult.FailedInARow(failed, "HTTP 500: broken") : null,
        Map.of());
  }

  long measured(String label) {
    return iterations.stream().filter(i -> i.endsWith(" " + label + " measure")).count();
  }

  @Override
  public void awaitResult(RunningLevel level, Consumer<LevelResult> goOn) {
    LevelResult result = resultSoFar(level);
    at(now, () -> goOn.accept(result));
  }

  @Override
  public void concluded(Conclusion conclusion) {
    events.add(conclusion.topic() + " " + conclusion.text());
  }

  @Override
  public void levelEnded(RunningLevel level, long nanoTime, int running) {
    events.add(
        time(nanoTime)
            + " "
            + level
            + " ended, "
            + running
            + " running, measured until "
            + time(level.measureEndNanos()));
  }

  private final class User implements LoopingUser {
    private @Nullable RunningLevel level;
    private @Nullable RunningLevel answeredIn;

    private void stand() {
      RunningLevel next = driver.next(this, level);
      if (next != null) {
        iterate(next);
      }
    }

    private void iterate(RunningLevel next) {
      level = next;
      iterations.add(time(now) + " " + next + " " + next.phaseAt(now).key());
      int number = iterations.size();
      boolean measured = next.requestStarted(now);
      boolean first = next != answeredIn;
      inFlight++;
      maxInFlight = Math.max(maxInFlight, inFlight);
      long millis = iterationMillis.getAsLong();
      long start = (now - origin) / MILLI;
      spans.add(new long[] {start, start + millis});
      at(
          now + millis * MILLI,
          () -> {
            answeredIn = next;
            next.requestEnded(measured, millis * MILLI, first);
            next.requestRecorded();
            ended(next, number);
          });
    }

    private void ended(RunningLevel of, int number) {
      inFlight--;
      failures++;
      if (failing && tooMany != null && failures - 1 == Math.min(limits.max(), limits.inARow())) {
        tooMany.run();
      }
      if (exits.test(number)) {
        usersPresent--;
        driver.userExited(of);
      } else {
        stand();
      }
    }

    @Override
    public void resume(RunningLevel next) {
      at(now, () -> iterate(next));
    }

    @Override
    public void end() {
      at(now, () -> usersPresent--);
    }
  }
}
