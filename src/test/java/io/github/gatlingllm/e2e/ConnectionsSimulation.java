package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.http;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import io.gatling.javaapi.http.HttpProtocolBuilder;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;

/** Consecutive users; each protocol decides whether they share connections. */
public final class ConnectionsSimulation extends Simulation {

  static final int USERS = 6;
  static final int REQUESTS = 2;

  private final HttpProtocolBuilder web =
      http.baseUrl(System.getProperty("web")).header("X-Team", "qa").userAgentHeader("tests");

  private final HttpProtocolBuilder sharingWeb = web.shareConnections();

  private final LlmProtocolBuilder shared = engine("shared").header("X-Engine", "#{who}");

  private final LlmProtocolBuilder perUser = engine("perUser").disableShareConnections();

  private static LlmProtocolBuilder engine(String property) {
    return llm.baseUrl(System.getProperty(property) + "/v1")
        .model("m")
        .metricsUrl("none")
        .disableJvmWarmUp();
  }

  /** A user that exits is replaced by a new one. */
  private static PopulationBuilder users(String name) {
    return closedLoop(1)
        .requests(USERS)
        .inject(
            scenario(name)
                .exec(session -> session.set("who", name))
                .repeat(REQUESTS)
                .on(llm(name).chat().user("say hi"), http(name + " web").get("/" + name))
                .exitHere());
  }

  public ConnectionsSimulation() {
    setUp(users("shared").protocols(shared, web), users("perUser").protocols(perUser, sharingWeb))
        .assertions(global().failedRequests().count().is(0L));
  }
}
