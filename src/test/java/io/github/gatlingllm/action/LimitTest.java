package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** With a clock that the test sets; instants in milliseconds. */
class LimitTest {

  /** A minute and the margin. */
  private static final long WINDOW = 60_500;

  private record Task(long at, Runnable task) {}

  private final class Sent implements Limit.Waiter {
    private final String name;
    private final long tokens;
    private long at = -1;

    private Sent(String name, long tokens) {
      this.name = name;
      this.tokens = tokens;
    }

    @Override
    public void go() {
      at = TimeUnit.NANOSECONDS.toMillis(clock - origin);
      sent.add(this);
    }

    @Override
    public void at(long nanoTime, Runnable task) {
      tasks.add(new Task(nanoTime, task));
    }

    @Override
    public String toString() {
      return name + "@" + at;
    }
  }

  private final List<Sent> sent = new ArrayList<>();
  private final PriorityQueue<Task> tasks = new PriorityQueue<>(Comparator.comparingLong(Task::at));

  /** Near the overflow of a long, as a monotonic clock may start at any value. */
  private final long origin = Long.MAX_VALUE - TimeUnit.HOURS.toNanos(1);

  private long clock = origin;

  private void at(long ms) {
    long until = origin + TimeUnit.MILLISECONDS.toNanos(ms);
    while (!tasks.isEmpty() && tasks.element().at() - until <= 0) {
      Task next = tasks.remove();
      clock = Math.max(clock, next.at());
      next.task().run();
    }
    clock = until;
  }

  private Limit limiter(Integer requests, Integer tokens) {
    return Limit.perMinute(requests, tokens, () -> clock);
  }

  private Limit.Turn enter(Limit limiter, String name, long tokens) {
    Sent request = new Sent(name, tokens);
    Limit.Turn turn = limiter.enter(tokens, request);
    if (turn.isImmediate()) {
      request.go();
    }
    return turn;
  }

  @Test
  void requestsAboveTheLimitAreAdmittedInOrderAfterAMinute() {
    Limit limiter = limiter(3, null);
    enter(limiter, "a", 0);
    enter(limiter, "b", 0);
    at(10_000);
    enter(limiter, "c", 0);
    enter(limiter, "d", 0);
    at(20_000);
    enter(limiter, "e", 0);
    enter(limiter, "f", 0);
    enter(limiter, "g", 0);
    at(300_000);
    assertThat(sent.toString())
        .isEqualTo("[a@0, b@0, c@10000, d@60500, e@60500, f@70500, g@121000]");
  }

  @Test
  void requestThatLeavesTheQueueTakesNoPlace() {
    Limit limiter = limiter(1, null);
    enter(limiter, "a", 0);
    Limit.Turn b = enter(limiter, "b", 0);
    enter(limiter, "c", 0);
    assertThat(b.isWaiting()).isTrue();
    b.end(null);
    b.end(null);
    assertThat(b.isWaiting()).isFalse();
    at(200_000);
    assertThat(sent.toString()).isEqualTo("[a@0, c@60500]");
  }

  @Test
  void tokensCountUntilTheRealNumberIsKnown() {
    Limit limiter = limiter(null, 1_000);
    Limit.Turn a = enter(limiter, "a", 600);
    enter(limiter, "b", 600);
    enter(limiter, "c", 100);
    at(5_000);
    assertThat(sent.toString()).isEqualTo("[a@0]");
    a.end(350L);
    assertThat(sent.toString()).as("350 + 600 fit, 100 more do not").isEqualTo("[a@0, b@5000]");
    at(100_000);
    assertThat(sent.toString()).isEqualTo("[a@0, b@5000, c@60500]");
    a.end(9_999L);
    enter(limiter, "d", 900);
    assertThat(sent.toString()).as("what is over counts no more").endsWith("d@100000]");
  }

  @Test
  void requestAboveTheLimitIsSentAlone() {
    Limit limiter = limiter(100, 1_000);
    enter(limiter, "a", 10);
    enter(limiter, "huge", 5_000);
    enter(limiter, "b", 10);
    at(200_000);
    assertThat(sent.toString()).isEqualTo("[a@0, huge@60500, b@121000]");
  }

  @Test
  void requestsWithinTheLimitsAreAdmittedImmediately() {
    Limit limiter = limiter(60, 60_000);
    for (int i = 0; i < 600; i++) {
      at(i * 1_010L);
      assertThat(enter(limiter, "r", 900).isImmediate()).isTrue();
    }
    assertThat(tasks).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void noMinuteHasMoreThanTheLimits(int seed) {
    Random random = new Random(seed);
    Limit limiter = limiter(20, 10_000);
    List<Limit.Turn> turns = new ArrayList<>();
    long ms = 0;
    for (int i = 0; i < 400; i++) {
      ms += random.nextInt(3) > 0 ? random.nextInt(20) : random.nextInt(4_000);
      at(ms);
      turns.add(enter(limiter, "r" + i, random.nextInt(1_500)));
      Limit.Turn earlier = turns.get(random.nextInt(turns.size()));
      if (random.nextInt(8) == 0) {
        earlier.end(null);
      }
    }
    at(ms + 3_000_000);
    assertThat(turns).noneMatch(Limit.Turn::isWaiting);
    assertThat(sent).hasSizeGreaterThan(300);
    for (int first = 0; first < sent.size(); first++) {
      long from = sent.get(first).at;
      List<Sent> minute =
          sent.subList(first, sent.size()).stream().filter(s -> s.at < from + 60_000).toList();
      assertThat(minute).hasSizeLessThanOrEqualTo(20);
      assertThat(minute.stream().mapToLong(s -> s.tokens).sum()).isLessThanOrEqualTo(10_000);
    }
    long busy = sent.get(sent.size() - 1).at - sent.get(0).at;
    assertThat(sent.size())
        .as("and no fewer than could be")
        .isGreaterThan((int) (busy / WINDOW * 12));
  }
}
