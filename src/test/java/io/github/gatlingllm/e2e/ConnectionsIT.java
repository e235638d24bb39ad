package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static org.assertj.core.api.Assertions.assertThat;

import io.gatling.javaapi.core.*;
import io.gatling.javaapi.http.HttpProtocolBuilder;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.Request;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The llm protocol configures the connections of its requests, http those of its own. */
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
                assertThat(request.header("Cookie")).isNull();
                assertThat(request.header("X-Engine")).isEqualTo("shared");
                assertThat(request.header("Content-Type")).isEqualTo("application/json");
                assertThat(request.header("Accept")).isEqualTo("text/event-stream");
                assertThat(request.header("Authorization")).isNull();
              });
      assertThat(web.requests())
          .allMatch(request -> "shop=cart".equals(request.header("Cookie")))
          .allMatch(
              request -> String.valueOf(request.header("Authorization")).startsWith("Basic "));
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

  public static final class ConnectionsSimulation extends Simulation {

    static final int USERS = 6;
    static final int REQUESTS = 2;

    private final HttpProtocolBuilder web =
        http.baseUrl(System.getProperty("web"))
            .basicAuth("shop", "secret")
            .header("X-Team", "qa")
            .userAgentHeader("tests");

    private final HttpProtocolBuilder sharingWeb = web.shareConnections();

    private final LlmProtocolBuilder shared = engine("shared").header("X-Engine", "#{who}");

    private final LlmProtocolBuilder perUser = engine("perUser").disableShareConnections();

    private static LlmProtocolBuilder engine(String property) {
      return llm.baseUrl(System.getProperty(property) + "/v1").model("m").metricsUrl("none");
    }

    /** A user that exits is replaced by a new one. */
    private static PopulationBuilder users(String name) {
      return closedLoop(1)
          .requests(USERS)
          .inject(
              scenario(name)
                  .exec(session -> session.set("who", name))
                  .exec(addCookie(Cookie("shop", "cart")))
                  .repeat(REQUESTS)
                  .on(llm(name).chat().user("say hi"), http(name + " web").get("/" + name))
                  .exitHere());
    }

    public ConnectionsSimulation() {
      setUp(users("shared").protocols(shared, web), users("perUser").protocols(perUser, sharingWeb))
          .assertions(global().failedRequests().count().is(0L));
    }
  }
}
