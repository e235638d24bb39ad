package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.Timeline;
import io.netty.channel.DefaultEventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GatePassageTest {

  private static final long LATER = 99;

  private final DefaultEventLoop eventLoop = new DefaultEventLoop();
  private final InFlightGate gate = new InFlightGate(1);
  private final List<String> admitted = new ArrayList<>();

  @AfterEach
  void stopsTheLoop() {
    var unused = eventLoop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }

  private InFlightGate.Passage enter(String name, @Nullable InFlightGate through) throws Exception {
    return enter(name, through, null, new Timeline(0, 1));
  }

  private InFlightGate.Passage enter(
      String name, @Nullable InFlightGate through, @Nullable RateLimiter limiter, Timeline timeline)
      throws Exception {
    return eventLoop
        .submit(
            () -> {
              InFlightGate.Passage passage =
                  new InFlightGate.Passage(through, limiter, timeline, eventLoop, () -> LATER);
              passage.enter(1, () -> 100, now -> admitted.add(name + " " + now));
              return passage;
            })
        .get(60, TimeUnit.SECONDS);
  }

  private List<String> admitted() throws Exception {
    return eventLoop.submit(() -> List.copyOf(admitted)).get(60, TimeUnit.SECONDS);
  }

  @Test
  void waitingRequestIsAdmittedOnItsEventLoopWithTheCurrentInstant() throws Exception {
    InFlightGate.Passage first = enter("a", gate);
    enter("b", gate);
    assertThat(admitted()).containsExactly("a 1");
    first.leave(null);
    assertThat(admitted()).containsExactly("a 1", "b " + LATER);
  }

  @Test
  void withoutLimitsRequestsAreAdmittedAtOnce() throws Exception {
    enter("a", null).leave(null);
    enter("b", null);
    assertThat(admitted()).containsExactly("a 1", "b 1");
  }

  /** An answer of 30 tokens where 100 were reserved admits the next request. */
  @Test
  void waitForARateLimitIsInTheTimeline() throws Exception {
    RateLimiter limiter = new RateLimiter(null, 130, () -> 0);
    List<Timeline> timelines =
        List.of(new Timeline(0, 1), new Timeline(0, 1), new Timeline(0, 1), new Timeline(0, 1));
    InFlightGate.Passage first = enter("a", null, limiter, timelines.get(0));
    enter("b", null, limiter, timelines.get(1));
    InFlightGate.Passage third = enter("c", null, limiter, timelines.get(2));
    enter("d", gate, null, timelines.get(3));
    assertThat(admitted()).containsExactly("a 1", "d 1");
    third.leave(null);
    first.leave(30L);
    assertThat(admitted()).containsExactly("a 1", "d 1", "b " + LATER);
    assertThat(timelines)
        .extracting(timeline -> timeline.timing(0, null, null).pacingWaitNanos())
        .containsExactly(0L, LATER - 1, LATER - 1, null);
  }
}
