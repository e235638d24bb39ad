package io.github.gatlingllm.e2e;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.Exchange;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.ScriptedServer;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class GateIT {
  private static final int GATE = 4;
  private static final long SERVICE_NANOS = MILLISECONDS.toNanos(20);
  private static final long STALL_NANOS = SECONDS.toNanos(2);

  private static final int STALL_AT = 200;

  /** Answers each request after a fixed time, with one stall; none before the gate is full. */
  private static final class Server implements AutoCloseable {
    private final AtomicInteger arrived = new AtomicInteger();
    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicInteger max = new AtomicInteger();
    private final AtomicInteger stalled = new AtomicInteger();
    private final AtomicLong stalledUntil = new AtomicLong(Long.MIN_VALUE);
    private final CountDownLatch together = new CountDownLatch(GATE);
    private final ScriptedServer server = ScriptedServer.start(this::answer);

    private void answer(Exchange exchange) throws IOException, InterruptedException {
      max.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
      together.countDown();
      exchange.await(together);
      long now = System.nanoTime();
      if (arrived.incrementAndGet() == STALL_AT) {
        stalledUntil.set(now + STALL_NANOS);
      }
      long until = stalledUntil.get();
      boolean stalls = until != Long.MIN_VALUE && until - now > SERVICE_NANOS;
      if (stalls) {
        stalled.incrementAndGet();
      }
      exchange
          .at(stalls ? until - exchange.request().receivedNanos() : SERVICE_NANOS)
          .startStream()
          .event(ChatChunks.content("Hi"))
          .event(ChatChunks.finish("stop"))
          .event(ChatChunks.usage(1, 1));
      // Before the client can know: what it sends next may be here immediately.
      inFlight.decrementAndGet();
      exchange.done().lastChunk();
    }

    @Override
    public void close() throws IOException {
      server.close();
    }
  }

  @Test
  void serverStallIsInLatencyFromScheduleOfLaterRequests() throws Exception {
    try (Server server = new Server()) {
      GatlingRun run =
          GatlingRun.benchmark(server.server.baseUrl())
              .llm("model=m maxTokens=2 maxInFlight=%s warmup=0 metricsUrl=none".formatted(GATE))
              .llm("rate=100 seed=1 stabilize=0 duration=4 cooldown=false")
              .succeed();
      List<RequestRecord> records = run.requests();

      assertThat(server.max.get()).as("in flight at the server").isEqualTo(GATE);
      assertThat(records)
          .hasSizeGreaterThan(200)
          .allMatch(r -> r.outcome().ok())
          .allMatch(
              r ->
                  r.timing().queueWaitNanos()
                      == r.timing().startLagNanos() + r.timing().gateWaitNanos());
      assertThat(run.info().config()).containsEntry("maxInFlight", "4");
      assertThat(percentile(records, 99, r -> r.timing().latencyFromScheduleNanos()))
          .as("p99 from schedule")
          .isGreaterThan(STALL_NANOS * 3 / 4);
      assertThat(server.stalled.get())
          .as("only as many as the gate lets in flight met the stall")
          .isBetween(1, GATE);
      assertThat(percentile(records, 99, r -> r.timing().latencyNanos()))
          .as("p99 from admission")
          .isLessThan(percentile(records, 99, r -> r.timing().latencyFromScheduleNanos()));
    }
  }

  private static long percentile(
      List<RequestRecord> records, int percent, Function<RequestRecord, Long> nanos) {
    List<Long> sorted = records.stream().map(nanos).sorted().toList();
    return sorted.get((int) Math.ceil(percent / 100.0 * sorted.size()) - 1);
  }
}
