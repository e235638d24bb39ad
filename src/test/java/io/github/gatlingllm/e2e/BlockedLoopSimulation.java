package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.ofMillis;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.load.RunningLevel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/** Two load levels; in the second one a user's function blocks an event loop once. */
public final class BlockedLoopSimulation extends Simulation {

  static final int MEASURE_SECONDS = 3;
  static final int BLOCKED_MILLIS = 400;

  private static final long BLOCK_AFTER = TimeUnit.MILLISECONDS.toNanos(1_500);
  private static final AtomicBoolean BLOCKED = new AtomicBoolean();

  {
    ScenarioBuilder chat =
        scenario("Chat")
            .exec(BlockedLoopSimulation::mayBlock)
            .exec(llm("ask").chat().user("hi").maxTokens(8));
    setUp(
            closedLoop(4, 8)
                .fill(0)
                .stabilize(ofMillis(100))
                .measure(MEASURE_SECONDS)
                .disableCooldown()
                .inject(chat))
        .protocols(llm.baseUrl(System.getProperty("baseUrl")).model("m"));
  }

  /** How long the second level has been measured when the function blocks. */
  private static Session mayBlock(Session session) {
    long now = System.nanoTime();
    RunningLevel level = session.get(RunningLevel.KEY);
    if (level.label().equals("c=8")
        && now - level.measureStartNanos() > BLOCK_AFTER
        && BLOCKED.compareAndSet(false, true)) {
      System.out.println("BLOCKED " + (now - level.measureStartNanos()));
      long until = now + TimeUnit.MILLISECONDS.toNanos(BLOCKED_MILLIS);
      while (System.nanoTime() < until) {
        LockSupport.parkNanos(until - System.nanoTime());
      }
    }
    return session;
  }
}
