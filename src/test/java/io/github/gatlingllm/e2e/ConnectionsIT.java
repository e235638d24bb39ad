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
import io.github.gatlingllm.testing.ScriptedServer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The llm protocol configures the connections of its requests, http those of other requests. */
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

  /**
   * A proxy of the http protocol, of the setting, and of the setting with a log-in; none of them
   * gets the requests to the engine inside the JVM.
   */
  @ParameterizedTest
  @CsvSource({"proxy, , ", "none, http://proxy, ", "none, http://me:s3cretpass@proxy, Basic"})
  void proxyPassesTheRequestsOfTheLoadOnly(
      String ofHttp, @Nullable String setting, @Nullable String logIn) throws Exception {
    try (ScriptedServer proxy = ScriptedServer.start(exchange -> exchange.answer("Yes"));
        ScriptedServer other = ScriptedServer.start(exchange -> exchange.answer("Yes"))) {
      String own = "127.0.0.1:" + proxy.port();
      GatlingRun run =
          GatlingRun.of(ProxySimulation.class)
              .set("proxyPort", ofHttp.equals("proxy") ? proxy.port() : other.port())
              .set("llm.jvmWarmUp", true)
              .set(
                  setting == null ? "unused" : "llm.proxy",
                  String.valueOf(setting).replace("proxy", own))
              .succeed();
      assertThat(run.requests("asks")).hasSize(3).allMatch(record -> record.outcome().ok());
      assertThat(proxy.requests())
          .hasSize(3)
          .allMatch(request -> request.path().equals("http://llm.test/v1/chat/completions"))
          .allMatch(
              request ->
                  String.valueOf(request.header("Proxy-Authorization"))
                      .startsWith(String.valueOf(logIn)));
      assertThat(other.requests()).isEmpty();
      assertThat(run.output())
          .contains("LLM warm-up of the JVM: ")
          .doesNotContain("LLM warm-up of the JVM failed", "s3cretpass");
      assertThat(run.info().config()).doesNotContainValue("s3cretpass");
    }
  }

  public static final class ProxySimulation extends Simulation {
    {
      setUp(scenario("Asks").exec(llm("asks").chat().user("Why?")).injectOpen(atOnceUsers(3)))
          .protocols(
              http.proxy(Proxy("127.0.0.1", Integer.getInteger("proxyPort"))),
              llm.baseUrl("http://llm.test/v1").model("m").metricsUrl("none"));
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
