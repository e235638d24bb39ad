package io.github.gatlingllm.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.Request;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The llm protocol configures the connections of its requests, the http protocol those of its own.
 */
class ConnectionsIT {

  private static final int USERS = ConnectionsSimulation.USERS;
  private static final int REQUESTS = USERS * ConnectionsSimulation.REQUESTS;

  @Test
  void eachProtocolHasItsOwnConnections() throws Exception {
    try (Parrot shared = new Parrot();
        Parrot perUser = new Parrot();
        Parrot web = new Parrot()) {
      GatlingRun run =
          GatlingRun.of(ConnectionsSimulation.class)
              .set("shared", shared.url())
              .set("perUser", perUser.url())
              .set("web", web.url())
              .set("io.netty.eventLoopThreads", 1) // which have a pool of connections each
              .succeed();
      assertThat(shared.heard()).hasSize(REQUESTS);
      assertThat(shared.connections()).as("users come one after the other").isOne();
      assertThat(perUser.heard()).hasSize(REQUESTS);
      assertThat(perUser.connections()).isEqualTo(USERS);
      assertThat(connections(web, "/shared")).as("http does not share").hasSize(USERS);
      assertThat(connections(web, "/perUser")).as("http shares").hasSize(1);
      assertThat(shared.requests())
          .as("headers of the llm protocol and ours, none of the http protocol")
          .allSatisfy(
              request -> {
                assertThat(request.header("X-Team")).isNull();
                assertThat(request.header("User-Agent")).isNull();
                assertThat(request.header("X-Engine")).isEqualTo("shared");
                assertThat(request.header("Content-Type")).isEqualTo("application/json");
                assertThat(request.header("Accept")).isEqualTo("text/event-stream");
                assertThat(request.header("Authorization")).isNull();
              });
      assertThat(run.requests("shared"))
          .extracting(record -> record.identity().target())
          .containsOnly(shared.url().substring("http://".length()));
    }
  }

  private static List<Integer> connections(Parrot server, String path) {
    return server.requests().stream()
        .filter(request -> request.path().equals(path))
        .map(Request::connectionNumber)
        .distinct()
        .toList();
  }
}
