package io.github.gatlingllm.load;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.metric.Backlog.Queue;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import io.github.gatlingllm.testing.VirtualUsers;
import io.github.gatlingllm.testing.VirtualUsers.User;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.DoubleUnaryOperator;
import java.util.function.IntFunction;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs a plan in virtual time with users whose iterations have given durations. Times are in
 * milliseconds.
 */
final class FakeLoad implements RunningLevel.Listener {
  private static final long MILLI = 1_000_000L;

  /** Far from 0, and such that it overflows on the way. */
  private static final long ORIGIN = Long.MAX_VALUE - 3_000 * MILLI;

  private final LongSupplier iterationMillis;
  private final LongPredicate exits;
  private final LoadPlan plan;
  private final IntFunction<@Nullable Long> starts;
  private final VirtualUsers users = new VirtualUsers(ORIGIN, this::iterate);
  private int inFlight;

  final List<String> events = new ArrayList<>();
  final List<String> iterations = new ArrayList<>();
  private final List<long[]> spans = new ArrayList<>();
  int maxInFlight;
  private boolean failing;
  private long afterMillis;
  private long failures;
  private long maxFailures = Long.MAX_VALUE;
  private @Nullable DoubleUnaryOperator missed;
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
    this.plan = plan;
    this.starts = starts;
  }

  FakeLoad failing() {
    failing = true;
    return this;
  }

  /** The same, but the users of closed levels wait for each other. */
  FakeLoad gathering() {
    users.gather();
    return this;
  }

  /** The same, but a share of the iterations, by the rate, misses the SLO. */
  FakeLoad missing(DoubleUnaryOperator shareAtRate) {
    missed = shareAtRate;
    return this;
  }

  /** The same, but every arrival starts this number of nanoseconds late. */
  FakeLoad late(LongSupplier nanos) {
    users.late(nanos);
    return this;
  }

  static FakeLoad of(long iterationMillis, LoadLevel... levels) {
    return new FakeLoad(() -> iterationMillis, iteration -> false, levels);
  }

  /** To its end, at which all users have started and ended. */
  FakeLoad run() {
    users.begin(plan, this, starts);
    users.run();
    assertThat(users.hasAllStarted()).isTrue();
    assertThat(users.present()).isZero();
    return this;
  }

  /** Plans at the same time, each to its end. */
  static void together(FakeLoad... loads) {
    List<FakeLoad> all = List.of(loads);
    all.forEach(each -> each.users.begin(each.plan, each, each.starts));
    while (all.stream().anyMatch(each -> each.users.due() != null)) {
      long next =
          all.stream()
              .filter(each -> each.users.due() != null)
              .mapToLong(each -> requireNonNull(each.users.due()) - ORIGIN)
              .min()
              .orElseThrow();
      all.forEach(each -> each.users.passTo(ORIGIN + next));
      all.forEach(each -> each.users.runTo(ORIGIN + next));
    }
    assertThat(all).allMatch(each -> each.users.hasAllStarted() && each.users.present() == 0);
  }

  int usersStarted() {
    return users.started();
  }

  List<Long> lags() {
    return users.lags();
  }

  /** What all iterations took of a window, in milliseconds since the start. */
  long millisInFlight(long fromMillis, long untilMillis) {
    return spans.stream()
        .mapToLong(span -> Math.min(span[1], untilMillis) - Math.max(span[0], fromMillis))
        .filter(millis -> millis > 0)
        .sum();
  }

  long nowMillis() {
    return (users.now() - ORIGIN) / MILLI;
  }

  private String time(long nanoTime) {
    return String.valueOf((nanoTime - ORIGIN) / MILLI);
  }

  /** The same, but what follows its last level takes that long. */
  FakeLoad afterwards(long millis) {
    afterMillis = millis;
    return this;
  }

  @Override
  public void afterLevels(Runnable end) {
    if (afterMillis == 0) {
      end.run();
    } else {
      users.at(users.now() + afterMillis * MILLI, end);
    }
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
    events.add(time(users.now()) + " " + level + ": " + text);
  }

  @Override
  public void watchFailures(
      RunningLevel level, long maxFailures, long maxInARow, Runnable tooMany) {
    this.tooMany = tooMany;
    this.maxFailures = Math.min(maxFailures, maxInARow);
    failures = 0;
  }

  /** Of a level, from its requests and how many of them met the SLO. */
  static LevelResult result(
      String label, long requests, @Nullable Long met, @Nullable Queue queue) {
    return new LevelResult(
        label, requests, met, 99, requests, 0, 0, queue, 0, false, null, null, Map.of(), Map.of());
  }

  /** The result by the SLO of the first tier, with those of all. */
  static LevelResult ofTiers(Map<String, LevelResult> tiers) {
    LevelResult first = tiers.values().iterator().next();
    return new LevelResult(
        first.label(),
        first.attempted(),
        first.met(),
        99,
        first.ended(),
        0,
        0,
        first.queue(),
        0,
        false,
        null,
        null,
        Map.of(),
        tiers);
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
        Map.of(),
        Map.of());
  }

  long measured(String label) {
    return iterations.stream().filter(i -> i.endsWith(" " + label + " measure")).count();
  }

  @Override
  public void awaitResult(RunningLevel level, Consumer<LevelResult> goOn) {
    LevelResult result = resultSoFar(level);
    users.at(users.now(), () -> goOn.accept(result));
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

  private void iterate(RunningLevel level, User user) {
    long now = users.now();
    iterations.add(time(now) + " " + level + " " + level.phaseAt(now).key());
    int number = iterations.size();
    boolean measured = level.requestStarted(now);
    boolean first = user.isNew();
    inFlight++;
    maxInFlight = Math.max(maxInFlight, inFlight);
    long millis = iterationMillis.getAsLong();
    spans.add(new long[] {nowMillis(), nowMillis() + millis});
    users.at(
        now + millis * MILLI,
        () -> {
          level.requestEnded(measured, millis * MILLI, first);
          level.requestRecorded();
          inFlight--;
          failures++;
          if (failing && tooMany != null && failures - 1 == maxFailures) {
            tooMany.run();
          }
          if (exits.test(number)) {
            user.exit();
          } else {
            user.next();
          }
        });
  }
}
