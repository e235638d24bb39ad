package io.github.gatlingllm.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.ScriptedServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;

/** A server that pauses, continues, dies and restarts under load. */
class ServerFaultsIT {

  /** Ten times the requests needed, because a busy machine looks late; the last server is fast. */
  private static final int REQUESTS = 1_500;

  private static final long SLOW_NANOS = 50_000_000;
  private static final int ENOUGH = 12;

  private static final String SILENT = " 500 ms (idle timeout)";
  private static final String REFUSED =
      "connection refused: is the server running at the endpoint's port?";

  private volatile boolean isPaused;

  /** Below the ports that Linux assigns to connections, so that it is still free for a restart. */
  private static int freePort() {
    while (true) {
      int port = ThreadLocalRandom.current().nextInt(20_000, 30_000);
      try (ServerSocket free = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        return free.getLocalPort();
      } catch (IOException taken) {
        // another one
      }
    }
  }

  /** Ends an answer some time after its request, and sends nothing more while it pauses. */
  private ScriptedServer server(int port, long nanos) {
    return ScriptedServer.startAt(
        port,
        exchange -> {
          exchange.startStream().event(ChatChunks.content("a"));
          if (isPaused) {
            var unused = exchange.awaitClientClose();
          }
          exchange.at(nanos).event(ChatChunks.finish("stop")).lastChunk();
        });
  }

  @Test
  @SuppressWarnings("try") // the first server dies before the run ends
  void runCompletesWhenItsServerDies() throws Exception {
    try (ScriptedServer first = server(freePort(), SLOW_NANOS);
        GatlingRun run =
            GatlingRun.of(PatientSimulation.class, first.baseUrl() + "/v1")
                .set("requests", REQUESTS)
                .set("idleMillis", 500)
                .set("timeoutMillis", 1_500)
                .start()) {
      run.awaitRecords(ENOUGH);
      isPaused = true;
      awaitFailure(run, SILENT);
      isPaused = false;
      awaitAnswers(run);
      first.close();
      awaitFailure(run, REFUSED);
      try (ScriptedServer second = server(first.port(), 0)) {
        awaitAnswers(run);
        run.await();
        assertThat(second.requests()).isNotEmpty();
      }

      assertThat(run.exitCode()).as(run.output()).isZero();
      FaultsIT.assertAllIsAccountedFor(run, REQUESTS);
      assertThat(run.requests())
          .extracting(record -> record.outcome().error())
          .as("what a stop and a kill may do to a request")
          .isSubsetOf(
              null,
              "no complete answer within 1500 ms (requestTimeout)",
              "no byte for" + SILENT,
              "no response headers for" + SILENT,
              REFUSED,
              "connection reset by the server",
              "connection closed by the server before any response",
              "kept-alive connection closed by the server; not re-sent",
              "stream ended before finish_reason and without [DONE]",
              "stream ended without a single event");
      assertThat(run.requests())
          .filteredOn(record -> !record.outcome().ok())
          .extracting(record -> record.outcome().status())
          .isSubsetOf(
              Set.of(
                  RequestStatus.TIMEOUT,
                  RequestStatus.STALLED,
                  RequestStatus.CONNECTION_ERROR,
                  RequestStatus.TRUNCATED));
    }
  }

  private static void awaitFailure(GatlingRun run, String error)
      throws IOException, InterruptedException {
    run.await(
        error,
        () ->
            run.requests().stream()
                .anyMatch(r -> String.valueOf(r.outcome().error()).contains(error)));
  }

  /** Waits until the last requests have all been answered. */
  private static void awaitAnswers(GatlingRun run) throws IOException, InterruptedException {
    int before = run.requests().size();
    run.await(
        "answers",
        () -> {
          List<RequestRecord> records = run.requests();
          return records.size() >= before + ENOUGH
              && records.subList(records.size() - PatientSimulation.USERS, records.size()).stream()
                  .allMatch(record -> record.outcome().ok());
        });
  }
}
