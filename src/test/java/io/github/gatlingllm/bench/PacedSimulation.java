package io.github.gatlingllm.bench;

import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.github.gatlingllm.javaapi.LlmDsl.closedLoop;
import static io.github.gatlingllm.javaapi.LlmDsl.llm;

import com.sun.management.OperatingSystemMXBean;
import io.gatling.javaapi.core.Simulation;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * So many streams, all begun at once, each begun anew when it has ended, for so many seconds.
 * Prints the CPU nanoseconds of the process from the first request to the last answer.
 */
public final class PacedSimulation extends Simulation {

  private static final AtomicLong CPU_BEFORE = new AtomicLong();

  {
    long millis = Math.round(Double.parseDouble(System.getProperty("seconds")) * 1e3);
    setUp(
            closedLoop(Integer.getInteger("streams"))
                .fill(0)
                .stabilize(0)
                .measure(Duration.ofMillis(millis))
                .drain(30)
                .inject(
                    scenario("Paced")
                        .exec(
                            session -> {
                              if (CPU_BEFORE.get() == 0) {
                                CPU_BEFORE.compareAndSet(0, cpuNanos());
                              }
                              return session;
                            })
                        .exec(llm("ask").chat().user("Hello").maxTokens(100))))
        .protocols(llm.baseUrl(System.getProperty("baseUrl")).model("embedded"));
  }

  @Override
  public void after() {
    System.out.println("CPU " + (cpuNanos() - CPU_BEFORE.get()));
  }

  private static long cpuNanos() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }
}
