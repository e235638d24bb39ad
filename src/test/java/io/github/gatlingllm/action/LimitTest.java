package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import io.gatling.netty.util.Transports;
import io.github.gatlingllm.record.Timeline;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** With a clock that the test sets; instants in milliseconds. */
class LimitTest {

  /** A minute and the margin. */
  private static final long WINDOW = 60_500;

  private record Sent(String name, long tokens, long at) {
    @Override
    public String toString() {
      return name + "@" + at;
    }
  }

  private final List<Sent> sent = new ArrayList<>();
  private final Limit gate = Limit.inFlight(1);

  /** Near the overflow of a long, as a monotonic clock may start at any value. */
  private final long origin = Long.MAX_VALUE - TimeUnit.HOURS.toNanos(1);

  private long clock = origin;
  private final EmbeddedChannel channel = new EmbeddedChannel();

  LimitTest() {
    channel.freezeTime();
  }

  @AfterEach
  void close() {
    assertThat(channel.close().isSuccess()).isTrue();
  }

  /** Passes the time until then, with the timers of the event loop. */
  private void at(long ms) {
    long until = origin + TimeUnit.MILLISECONDS.toNanos(ms);
    long next = channel.runScheduledPendingTasks();
    while (next >= 0 && clock + next - until <= 0) {
      pass(next);
      next = channel.runScheduledPendingTasks();
    }
    pass(until - clock);
  }

  private void pass(long nanos) {
    clock += nanos;
    channel.advanceTimeBy(nanos, TimeUnit.NANOSECONDS);
    channel.runScheduledPendingTasks();
    channel.runPendingTasks();
  }

  private Limit perMinute(@Nullable Integer requests, @Nullable Integer tokens) {
    return Limit.perMinute(requests, tokens, () -> clock);
  }

  private Limit.Permit enter(String name, long tokens, Limit... limits) {
    return enter(new Timeline(0, 0), name, tokens, limits);
  }

  private Limit.Permit enter(Timeline timeline, String name, long tokens, Limit... limits) {
    Limit.Permit permit =
        new Limit.Permit(
            List.of(limits),
            timeline,
            channel.eventLoop(),
            () -> clock,
            () -> tokens,
            now -> sent.add(new Sent(name, tokens, TimeUnit.NANOSECONDS.toMillis(now - origin))));
    permit.enter(clock);
    return permit;
  }

  private void leave(Limit.Permit permit, @Nullable Long usedTokens) {
    permit.leave(usedTokens);
    channel.runPendingTasks();
  }

  @Test
  void requestsAboveTheLimitAreAdmittedInOrderAfterAMinute() {
    Limit limit = perMinute(3, null);
    enter("a", 0, limit);
    enter("b", 0, limit);
    at(10_000);
    enter("c", 0, limit);
    enter("d", 0, limit);
    at(20_000);
    enter("e", 0, limit);
    enter("f", 0, limit);
    enter("g", 0, limit);
    at(300_000);
    assertThat(sent.toString())
        .isEqualTo("[a@0, b@0, c@10000, d@60500, e@60500, f@70500, g@121000]");
  }

  @Test
  void requestThatLeavesTheQueueTakesNoPlace() {
    Limit limit = perMinute(1, null);
    enter("a", 0, limit);
    Limit.Permit b = enter("b", 0, limit);
    enter("c", 0, limit);
    leave(b, null);
    leave(b, null);
    at(200_000);
    assertThat(sent.toString()).isEqualTo("[a@0, c@60500]");
  }

  @Test
  void tokensCountUntilTheRealNumberIsKnown() {
    Limit limit = perMinute(null, 1_000);
    Limit.Permit a = enter("a", 600, limit);
    enter("b", 600, limit);
    enter("c", 100, limit);
    at(5_000);
    assertThat(sent.toString()).isEqualTo("[a@0]");
    leave(a, 350L);
    assertThat(sent.toString()).as("350 + 600 fit, 100 more do not").isEqualTo("[a@0, b@5000]");
    at(100_000);
    assertThat(sent.toString()).isEqualTo("[a@0, b@5000, c@60500]");
    leave(a, 9_999L);
    enter("d", 900, limit);
    assertThat(sent.toString()).as("what is over counts no more").endsWith("d@100000]");
  }

  @Test
  void requestAboveTheLimitIsSentAlone() {
    Limit limit = perMinute(100, 1_000);
    enter("a", 10, limit);
    enter("huge", 5_000, limit);
    enter("b", 10, limit);
    at(200_000);
    assertThat(sent.toString()).isEqualTo("[a@0, huge@60500, b@121000]");
  }

  @Test
  void requestsWithinTheLimitsAreAdmittedImmediately() {
    Limit limit = perMinute(60, 60_000);
    for (int i = 0; i < 600; i++) {
      at(i * 1_010L);
      enter("r", 900, limit);
      assertThat(sent).hasSize(i + 1);
    }
    assertThat(channel.runScheduledPendingTasks()).as("no timer").isEqualTo(-1);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void noMinuteHasMoreThanTheLimits(int seed) {
    Random random = new Random(seed);
    Limit limit = perMinute(20, 10_000);
    List<Limit.Permit> permits = new ArrayList<>();
    long ms = 0;
    for (int i = 0; i < 400; i++) {
      ms += random.nextInt(3) > 0 ? random.nextInt(20) : random.nextInt(4_000);
      at(ms);
      permits.add(enter("r" + i, random.nextInt(1_500), limit));
      Limit.Permit earlier = permits.get(random.nextInt(permits.size()));
      if (random.nextInt(8) == 0) {
        leave(earlier, null);
      }
    }
    at(ms + 3_000_000);
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

  @Test
  void admitsInTheOrderOfArrivalWhatHasNotLeft() {
    Limit.Permit a = enter("a", 0, gate);
    Limit.Permit b = enter("b", 0, gate);
    Limit.Permit c = enter("c", 0, gate);
    leave(b, null);
    assertThat(sent.toString()).isEqualTo("[a@0]");
    at(7);
    leave(a, null);
    leave(a, null);
    assertThat(sent.toString()).as("a leaves one place").isEqualTo("[a@0, c@7]");
    enter("d", 0, gate);
    leave(c, null);
    enter("e", 0, gate);
    assertThat(sent.toString()).isEqualTo("[a@0, c@7, d@7]");
  }

  /** An answer of 30 tokens where 100 were reserved admits the next request. */
  @Test
  void waitForARateLimitIsInTheTimeline() {
    Limit limit = perMinute(null, 130);
    List<Timeline> timelines = new ArrayList<>();
    List<Limit.Permit> permits = new ArrayList<>();
    for (String name : List.of("a", "b", "c", "d")) {
      timelines.add(new Timeline(0, 1));
      Limit own = name.equals("d") ? gate : limit;
      permits.add(enter(timelines.get(timelines.size() - 1), name, 100, own));
    }
    assertThat(sent.toString()).isEqualTo("[a@0, d@0]");
    at(5);
    leave(permits.get(2), null);
    leave(permits.get(0), 30L);
    assertThat(sent.toString()).isEqualTo("[a@0, d@0, b@5]");
    assertThat(pacingMillis(timelines)).containsExactly(0L, 5L, 5L, null);
  }

  /** Who has passed the first limit keeps its place there while it waits for the second. */
  @Test
  void limitsArePassedOneAfterTheOther() {
    Limit limit = perMinute(1, null);
    List<Timeline> timelines = List.of(new Timeline(0, 1), new Timeline(0, 1), new Timeline(0, 1));
    Limit.Permit a = enter(timelines.get(0), "a", 0, gate, limit);
    Limit.Permit b = enter(timelines.get(1), "b", 0, gate, limit);
    at(2);
    leave(a, null);
    enter(timelines.get(2), "c", 0, gate);
    at(5);
    assertThat(sent.toString()).isEqualTo("[a@0]");
    leave(b, null);
    assertThat(sent.toString()).isEqualTo("[a@0, c@5]");
    assertThat(pacingMillis(timelines)).containsExactly(0L, 3L, null);
  }

  private static List<@Nullable Long> pacingMillis(List<Timeline> timelines) {
    List<@Nullable Long> millis = new ArrayList<>();
    for (Timeline timeline : timelines) {
      Long nanos = timeline.timing(0, null, null).pacingWaitNanos();
      millis.add(nanos == null ? null : (Long) TimeUnit.NANOSECONDS.toMillis(nanos));
    }
    return millis;
  }

  /** Every fifth request leaves if it has to wait. */
  @Test
  void keepsItsLimitUnderConcurrency() throws InterruptedException {
    int requests = 160_000;
    Limit three = Limit.inFlight(3);
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger max = new AtomicInteger();
    CountDownLatch done = new CountDownLatch(requests);
    EventLoopGroup loops = Transports.newEventLoopGroup(false, false, 4, "loops");
    for (int i = 0; i < requests; i++) {
      boolean isImpatient = i % 5 == 0;
      EventLoop loop = loops.next();
      AtomicBoolean isOver = new AtomicBoolean();
      AtomicBoolean isAdmitted = new AtomicBoolean();
      AtomicReference<Limit.Permit> permit = new AtomicReference<>();
      Runnable end =
          () -> {
            isOver.set(true);
            permit.get().leave(null);
            done.countDown();
          };
      permit.set(
          new Limit.Permit(
              List.of(three),
              new Timeline(0, 0),
              loop,
              System::nanoTime,
              () -> 0,
              now -> {
                isAdmitted.set(true);
                if (!isOver.get()) {
                  max.accumulateAndGet(inside.incrementAndGet(), Math::max);
                  loop.execute(
                      () -> {
                        inside.decrementAndGet();
                        end.run();
                      });
                }
              }));
      loop.execute(
          () -> {
            permit.get().enter(0);
            if (isImpatient && !isAdmitted.get()) {
              end.run();
            }
          });
    }
    assertThat(done.await(60, TimeUnit.SECONDS)).as("no request waits for ever").isTrue();
    assertThat(loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).await(60, TimeUnit.SECONDS))
        .isTrue();
    assertThat(max.get()).isBetween(1, 3);
    for (String name : List.of("a", "b", "c", "d")) {
      enter(name, 0, three);
    }
    assertThat(sent).as("three places are free").hasSize(3);
  }
}
