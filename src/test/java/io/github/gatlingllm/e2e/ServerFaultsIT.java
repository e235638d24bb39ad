package io.github.gatlingllm.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.ServerProcess;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A server that pauses, continues, dies and restarts under load. */
class ServerFaultsIT {

  /** Ten times the requests needed, because a busy machine looks late; the last server is fast. */
  private static final int REQUESTS = 1_500;

  private static final int SLOW_MILLIS = 50;
  private static final int ENOUGH = 12;

  private static final String SILENT = " 500 ms (idle timeout)";
  private static final String REFUSED =
      "connection refused: is the server running at the endpoint's port?";

  @Test
  void runCompletesWhenItsServerDies() throws Exception {
    try (ServerProcess first = ServerProcess.start(0, SLOW_MILLIS);
        GatlingRun run =
            GatlingRun.of(PatientSimulation.class, "http://127.0.0.1:" + first.port() + "/v1")
                .set("requests", REQUESTS)
                .set("idleMillis", 500)
                .set("timeoutMillis", 1_500)
                .start()) {
      run.awaitRecords(ENOUGH);
      first.signal("STOP");
      awaitFailure(run, SILENT);
      first.signal("CONT");
      awaitAnswers(run);
      first.kill();
      awaitFailure(run, REFUSED);
      try (ServerProcess second = ServerProcess.start(first.port(), 0)) {
        assertThat(second.port()).isEqualTo(first.port());
        awaitAnswers(run);
        run.await();
      }

      assertThat(run.exitCode()).as(run.output()).isZero();
      FaultsIT.assertAllIsAccountedFor(run, REQUESTS);
      assertThat(run.requests())
          .extracting(record -> record.outcome().error())
          .as("what a stop and a kill may do to a request")
          .isSubsetOf(
              null,
              "no end within the request timeout",
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
