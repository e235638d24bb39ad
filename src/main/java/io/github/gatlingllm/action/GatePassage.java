package io.github.gatlingllm.action;

import io.github.gatlingllm.load.InFlightGate;
import io.netty.channel.EventLoop;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One request's way through the in-flight gate, if there is one. Belongs to the request's event
 * loop.
 */
final class GatePassage {

  private final @Nullable InFlightGate gate;
  private final EventLoop eventLoop;
  private final LongSupplier nanoClock;
  private InFlightGate.@Nullable Pass pass;

  GatePassage(@Nullable InFlightGate gate, EventLoop eventLoop, LongSupplier nanoClock) {
    this.gate = gate;
    this.eventLoop = eventLoop;
    this.nanoClock = nanoClock;
  }

  /**
   * Calls back as soon as there is room, with the instant of that: {@code now} inside this call, or
   * later on the event loop.
   */
  void enter(long now, LongConsumer admitted) {
    if (gate == null) {
      admitted.accept(now);
      return;
    }
    pass =
        gate.acquire(
            () -> EventLoops.execute(eventLoop, () -> admitted.accept(nanoClock.getAsLong())));
    if (pass.atOnce()) {
      admitted.accept(now);
    }
  }

  /** The request is over, or will never be sent. */
  void leave() {
    if (pass != null) {
      pass.release();
    }
  }
}
