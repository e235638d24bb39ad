package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Two load levels; in the second one a function of the user's blocks an event loop once. */
public final class BlockedLoopSimulation extends Simulation {

  static final int MEASURE_SECONDS = 3;
  static final int BLOCKED_MILLIS = 400;

  private static final long BLOCK_AFTER = TimeUnit.MILLISECONDS.toNanos(4_500);
  private static final AtomicLong BEGAN = new AtomicLong();

  {
    ScenarioBuilder chat =
        scenario("Chat")
            .exec(BlockedLoopSimulation::mayBlock)
            .exec(llm("ask").chat().user("hi").maxTokens(8));
    setUp(
            closedLoop(4, 8)
                .fill(0)
                .stabilize(0)
                .measure(MEASURE_SECONDS)
                .disableCooldown()
                .inject(chat))
        .protocols(llm.baseUrl(System.getProperty("baseUrl")).model("m"));
  }

  /** Once, when it has run for that long. */
  private static Session mayBlock(Session session) {
    long now = System.nanoTime();
    long began = BEGAN.get();
    if (began == 0) {
      BEGAN.compareAndSet(0, now);
    } else if (now - began > BLOCK_AFTER && BEGAN.compareAndSet(began, Long.MAX_VALUE)) {
      System.out.println("BLOCKED " + System.currentTimeMillis());
      long until = now + TimeUnit.MILLISECONDS.toNanos(BLOCKED_MILLIS);
      while (System.nanoTime() < until) {
        LockSupport.parkNanos(until - System.nanoTime());
      }
    }
    return session;
  }
}
