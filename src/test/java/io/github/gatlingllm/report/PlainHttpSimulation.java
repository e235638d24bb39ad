package io.github.gatlingllm.report;

import static io.gatling.javaapi.core.CoreDsl.atOnceUsers;
import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.global;
import static io.gatling.javaapi.core.CoreDsl.group;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.gatling.javaapi.http.HttpDsl.http;

import com.sun.net.httpserver.HttpServer;
import io.gatling.javaapi.core.Simulation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** A few plain requests to a server of its own: makes Gatling write the pages that tests need. */
public final class PlainHttpSimulation extends Simulation {

  static final String PLAIN = "ask";
  static final String GROUPED = "follow-up";
  static final String HOSTILE = "<b>bold</b> \"é\" & 'q'";

  private final HttpServer server = start();

  public PlainHttpSimulation() {
    String url = "http://127.0.0.1:" + server.getAddress().getPort() + "/";
    setUp(
            scenario("plain")
                .exec(
                    exec(http(PLAIN).get(url)),
                    group("Chat").on(http(GROUPED).get(url)),
                    exec(http(HOSTILE).get(url)))
                .injectOpen(atOnceUsers(3)))
        .assertions(global().failedRequests().count().is(0L));
  }

  private static HttpServer start() {
    try {
      HttpServer server =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      server.createContext("/", exchange -> exchange.sendResponseHeaders(204, -1));
      server.start();
      return server;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void after() {
    server.stop(0);
  }
}
