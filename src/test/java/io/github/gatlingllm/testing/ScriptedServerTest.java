package io.github.gatlingllm.testing;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
final class ScriptedServerTest {

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  @Test
  void streamsEventsOverChunksAndRecordsTheRequest() throws Exception {
    CountDownLatch allSent = new CountDownLatch(1);
    try (ScriptedServer server =
        ScriptedServer.start(
            x -> {
              x.startStream()
                  .event(ChatChunks.content("\u00e9\"\n"))
                  .done()
                  .lastChunk("X-Trailer: end");
              allSent.countDown();
            })) {
      assertThat(post(server, "{\"a\":1}"))
          .isEqualTo("data: " + ChatChunks.content("\u00e9\"\n") + "\n\ndata: [DONE]\n\n");
      Request request = server.requests().get(0);
      assertThat(request.method()).isEqualTo("POST");
      assertThat(request.path()).isEqualTo("/v1/chat/completions");
      assertThat(request.body()).isEqualTo("{\"a\":1}");
      assertThat(request.header("x-test")).isEqualTo("yes");
      assertThat(request.header("x-none")).isNull();
      assertThat(allSent.await(10, TimeUnit.SECONDS)).isTrue();
      assertThat(server.exchanges().get(0).sends()).hasSize(4);
    }
  }

  @Test
  void keepsTheConnectionAndRunsScriptsByRequestIndex() throws Exception {
    try (ScriptedServer server =
        ScriptedServer.start(
            x -> x.respond(200, "text/plain", "first"),
            x -> x.respond(200, "text/plain", "later"))) {
      assertThat(post(server, "")).isEqualTo("first");
      assertThat(post(server, "")).isEqualTo("later");
      assertThat(post(server, "")).isEqualTo("later");
      assertThat(server.posts()).isEqualTo(3);
      assertThat(server.connections()).isEqualTo(1);
      assertThat(server.requests()).extracting(Request::indexOnConnection).containsExactly(0, 1, 2);
    }
  }

  @Test
  void pacesSendsFromTheRequestAndNeverEarly() throws Exception {
    try (ScriptedServer server =
        ScriptedServer.start(
            x -> x.startStream().at(20_000_000).event("1").at(40_000_000).event("2").lastChunk())) {
      post(server, "");
      Exchange exchange = server.exchanges().get(0);
      long received = exchange.request().receivedNanos();
      assertThat(exchange.sends().get(1).beforeNanos() - received)
          .isGreaterThanOrEqualTo(20_000_000L);
      assertThat(exchange.sends().get(2).beforeNanos() - received)
          .isGreaterThanOrEqualTo(40_000_000L);
    }
  }

  @Test
  void reportsAFailedScriptOnClose() throws Exception {
    ScriptedServer server =
        ScriptedServer.start(
            x -> {
              throw new IllegalStateException("broken script");
            });
    try (Socket socket = connect(server)) {
      assertThat(socket.getInputStream().read()).isEqualTo(-1);
    }
    assertThatThrownBy(server::close)
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("broken script");
  }

  private String post(ScriptedServer server, String body) throws Exception {
    return client
        .send(
            HttpRequest.newBuilder(URI.create(server.baseUrl() + "/v1/chat/completions"))
                .header("X-Test", "yes")
                .POST(BodyPublishers.ofString(body))
                .build(),
            BodyHandlers.ofString())
        .body();
  }

  private static Socket connect(ScriptedServer server) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
    socket.getOutputStream().write("GET / HTTP/1.1\r\nHost: test\r\n\r\n".getBytes(UTF_8));
    return socket;
  }
}
