package io.github.gatlingllm.report;

import static io.gatling.javaapi.core.CoreDsl.atOnceUsers;
import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.global;
import static io.gatling.javaapi.core.CoreDsl.group;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.gatling.javaapi.http.HttpDsl.http;

import io.gatling.javaapi.core.Simulation;
import io.github.gatlingllm.testing.ScriptedServer;

/** A few plain requests to a separate server: makes Gatling write the pages that tests need. */
public final class PlainHttpSimulation extends Simulation {

  static final String PLAIN = "ask";
  static final String GROUPED = "follow-up";
  static final String HOSTILE = "<b>bold</b> \"é\" & 'q'";

  public PlainHttpSimulation() {
    String url = ScriptedServer.start(to -> to.respond(204, "text/plain", "")).baseUrl();
    setUp(
            scenario("plain")
                .exec(
                    exec(http(PLAIN).get(url)),
                    group("Chat").on(http(GROUPED).get(url)),
                    exec(http(HOSTILE).get(url)))
                .injectOpen(atOnceUsers(3)))
        .assertions(global().failedRequests().count().is(0L));
  }
}
