package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

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
    return eventLoop
        .submit(
            () -> {
              InFlightGate.Passage passage =
                  new InFlightGate.Passage(through, eventLoop, () -> LATER);
              passage.enter(1, now -> admitted.add(name + " " + now));
              return passage;
            })
        .get(60, TimeUnit.SECONDS);
  }

  private List<String> admitted() throws Exception {
    return eventLoop.submit(() -> List.copyOf(admitted)).get(60, TimeUnit.SECONDS);
  }

  @Test
  void whereThereIsRoomTheInstantIsThatOfTheStart() throws Exception {
    enter("a", gate);
    assertThat(admitted()).containsExactly("a 1");
  }

  @Test
  void whoWaitedIsAdmittedOnItsEventLoopAtTheInstantOfThat() throws Exception {
    InFlightGate.Passage first = enter("a", gate);
    enter("b", gate);
    assertThat(admitted()).containsExactly("a 1");
    first.leave();
    assertThat(admitted()).containsExactly("a 1", "b " + LATER);
  }

  @Test
  void whoIsCancelledWhileWaitingGivesUpItsPlaceInTheQueue() throws Exception {
    InFlightGate.Passage first = enter("a", gate);
    InFlightGate.Passage second = enter("b", gate);
    enter("c", gate);
    second.leave();
    first.leave();
    assertThat(admitted()).containsExactly("a 1", "c " + LATER);
  }

  @Test
  void leavingTwiceOrBeforeEnteringFreesNothing() throws Exception {
    new InFlightGate.Passage(gate, eventLoop, () -> LATER).leave();
    InFlightGate.Passage first = enter("a", gate);
    enter("b", gate);
    enter("c", gate);
    first.leave();
    first.leave();
    assertThat(admitted()).containsExactly("a 1", "b " + LATER);
  }

  @Test
  void withoutAGateNobodyWaits() throws Exception {
    enter("a", null).leave();
    enter("b", null);
    assertThat(admitted()).containsExactly("a 1", "b 1");
  }
}
