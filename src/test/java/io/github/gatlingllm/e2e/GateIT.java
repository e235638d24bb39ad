package io.github.gatlingllm.e2e;

import static java.time.Duration.ofMillis;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.Exchange;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.ScriptedServer;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** The in-flight gate in real runs of Gatling. */
class GateIT {

  private static final int GATE = 4;
  private static final long SERVICE_NANOS = MILLISECONDS.toNanos(20);
  private static final long STALL_NANOS = SECONDS.toNanos(2);

  /** Answers each request after a fixed time, and stalls once as a whole. */
  private static final class Server implements AutoCloseable {
    private final AtomicInteger arrived = new AtomicInteger();
    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final AtomicLong stalledUntil = new AtomicLong(Long.MIN_VALUE);
    private final int stallAt;
    private final ScriptedServer server = ScriptedServer.start(this::answer);

    Server(int stallAt) {
      this.stallAt = stallAt;
    }

    private void answer(Exchange exchange) throws IOException, InterruptedException {
      most.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
      long now = System.nanoTime();
      if (arrived.incrementAndGet() == stallAt) {
        stalledUntil.set(now + STALL_NANOS);
      }
      long stalled = stalledUntil.get();
      exchange
          .at(stalled == Long.MIN_VALUE ? SERVICE_NANOS : Math.max(SERVICE_NANOS, stalled - now))
          .startStream()
          .event(ChatChunks.content("Hi"))
          .event(ChatChunks.finish("stop"))
          .event(ChatChunks.usage(1, 1));
      // Before the client can know: what it sends next may be here at once.
      inFlight.decrementAndGet();
      exchange.done().lastChunk();
    }

    @Override
    public void close() throws IOException {
      server.close();
    }
  }

  @Test
  void lets4Of16UsersInFlightFirstInFirstOut() throws Exception {
    try (Server server = new Server(0)) {
      GatlingRun run =
          GatlingRun.of(GateSimulation.class)
              .set("baseUrl", server.server.baseUrl() + "/v1")
              .set("gate", GATE)
              .noReports()
              .run();
      List<RequestRecord> records = run.requests();

      assertThat(run.exitCode()).as(run.output()).isZero();
      assertThat(server.most.get()).as("in flight at the server").isEqualTo(GATE);
      assertThat(records).hasSizeGreaterThan(100).allMatch(r -> r.outcome().ok());
      assertThat(percentile(records, 50, r -> r.timing().gateWaitNanos()))
          .as("12 wait for 4 that take 20 ms each")
          .isBetween(MILLISECONDS.toNanos(45), MILLISECONDS.toNanos(300));
      assertThat(records)
          .allSatisfy(
              r ->
                  assertThat(r.timing().queueWaitNanos())
                      .isEqualTo(r.timing().startLagNanos() + gateWait(r)));
      assertFirstInFirstOut(records);
      assertThat(run.info().config()).containsEntry("maxInFlight", "4");
    }
  }

  /** Positive control: what the gate keeps out does come without it. */
  @Test
  void withoutGateAll16AreInFlight() throws Exception {
    try (Server server = new Server(0)) {
      GatlingRun run =
          GatlingRun.of(GateSimulation.class)
              .set("baseUrl", server.server.baseUrl() + "/v1")
              .noReports()
              .run();

      assertThat(server.most.get()).isEqualTo(GateSimulation.USERS);
      assertThat(run.requests()).allMatch(r -> gateWait(r) == 0);
    }
  }

  @Test
  void aStallOfTheServerShowsFromScheduleNotInWhatWasAdmittedAfterIt() throws Exception {
    try (Server server = new Server(200)) {
      GatlingRun run =
          GatlingRun.of(GateSimulation.class)
              .set("baseUrl", server.server.baseUrl() + "/v1")
              .set("gate", GATE)
              .set("open", true)
              .noReports()
              .run();
      List<RequestRecord> records = run.requests();

      assertThat(run.exitCode()).as(run.output()).isZero();
      assertThat(server.most.get()).isEqualTo(GATE);
      assertThat(records).hasSizeGreaterThan(500);
      assertThat(percentile(records, 99, r -> r.timing().latencyFromScheduleNanos()))
          .as("p99 from schedule")
          .isGreaterThan(STALL_NANOS * 3 / 4);
      assertThat(percentile(records, 99, r -> r.timing().latencyNanos()))
          .as("p99 from admission: only the 4 that were in flight met the stall")
          .isLessThan(STALL_NANOS / 4);
      assertThat(records.stream().filter(r -> latency(r) > STALL_NANOS / 2).count())
          .isBetween(1L, (long) GATE);
      assertFirstInFirstOut(records);
    }
  }

  @Test
  void whoWaitsWhenTheDrainTimeIsOverIsCancelledAndNeverSent() throws Exception {
    try (EmbeddedEngine engine = endless();
        GatlingRun run = crowdAtTheGate(engine).set("measure", 1).run()) {
      assertThat(run.exitCode()).as(run.output()).isZero();
      assertOnlyTheFirstWasSent(engine, run.requests(), "drain time was over");
      assertThat(run.requests())
          .as("until the level's end, 2 s after its start")
          .allSatisfy(
              r ->
                  assertThat(r.timing().closedNanos())
                      .isBetween(MILLISECONDS.toNanos(1_500), SECONDS.toNanos(4)));
      assertThat(run.summary().at("/counts/cancelled").asInt()).isEqualTo(GateSimulation.USERS);
    }
  }

  @Test
  void whoWaitsAtSigtermIsCancelledAndNeverSent() throws Exception {
    try (EmbeddedEngine engine = endless();
        GatlingRun run = crowdAtTheGate(engine).set("measure", 60).start()) {
      run.awaitLine("c=16 measure / left: ");
      run.terminate();
      run.await(10);

      assertThat(run.output()).containsPattern("\\[#+ +] +\\d+%");
      assertOnlyTheFirstWasSent(engine, run.requests(), "the run was interrupted");
    }
  }

  /** Answers take 50 s. */
  private static EmbeddedEngine endless() throws IOException {
    return EmbeddedEngine.builder()
        .model("m")
        .fixed(ofMillis(5), ofMillis(50))
        .recordGroundTruth()
        .start();
  }

  private static GatlingRun.Setup crowdAtTheGate(EmbeddedEngine engine) {
    return GatlingRun.of(GateSimulation.class)
        .set("baseUrl", engine.baseUrl())
        .set("tokens", 1_000)
        .set("gate", 1)
        .noReports();
  }

  private static void assertOnlyTheFirstWasSent(
      EmbeddedEngine engine, List<RequestRecord> records, String reason) {
    assertThat(engine.groundTruth()).hasSize(1).allMatch(truth -> truth.cancelled());
    assertThat(engine.running()).isZero();
    assertThat(records)
        .hasSize(GateSimulation.USERS)
        .allSatisfy(
            r -> {
              assertThat(r.outcome().status()).isEqualTo(RequestStatus.CANCELLED);
              assertThat(r.outcome().error()).contains(reason);
            });
    assertThat(records)
        .filteredOn(r -> r.timing().gateWaitNanos() == null)
        .hasSize(GateSimulation.USERS - 1)
        .allMatch(r -> r.timing().connectNanos() == null);
  }

  /**
   * As exact as it can be seen from outside: a start is stamped just before the queue is joined, an
   * admission on the event loop of its user, and a busy machine may take its time in between.
   */
  private static void assertFirstInFirstOut(List<RequestRecord> records) {
    long slack = SERVICE_NANOS / 2;
    List<RequestRecord> waited =
        records.stream()
            .filter(r -> gateWait(r) > 0)
            .sorted(Comparator.comparingLong(r -> r.timing().startUnixNanos()))
            .toList();
    assertThat(waited).hasSizeGreaterThan(50);
    long latest = 0;
    int earlier = 0;
    int overtaking = 0;
    for (RequestRecord record : waited) {
      long start = record.timing().startUnixNanos();
      while (waited.get(earlier).timing().startUnixNanos() < start - slack) {
        latest = Math.max(latest, admitted(waited.get(earlier++)));
      }
      overtaking += admitted(record) < latest - slack ? 1 : 0;
    }
    assertThat(latest).as("some were compared").isPositive();
    assertThat(overtaking).as("overtook one that started earlier").isLessThan(waited.size() / 50);
  }

  private static long admitted(RequestRecord record) {
    return Objects.requireNonNull(record.timing().admittedUnixNanos());
  }

  private static long gateWait(RequestRecord record) {
    return Objects.requireNonNull(record.timing().gateWaitNanos());
  }

  private static long latency(RequestRecord record) {
    return Objects.requireNonNull(record.timing().latencyNanos());
  }

  private static long percentile(
      List<RequestRecord> records, int percent, Function<RequestRecord, Long> nanos) {
    List<Long> sorted = records.stream().map(nanos).sorted().toList();
    return sorted.get((int) Math.ceil(percent / 100.0 * sorted.size()) - 1);
  }
}
