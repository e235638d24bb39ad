package io.github.gatlingllm.testing;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What other tests would not notice; all else of the server is used by them. */
@Timeout(120)
final class ScriptedServerTest {

  private static void awaitEnd(ScriptedServer server) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      socket.getOutputStream().write("GET / HTTP/1.1\r\nHost: test\r\n\r\n".getBytes(UTF_8));
      socket.getInputStream().readAllBytes();
    }
  }

  @Test
  void pacesSendsFromTheRequestAndNeverEarly() throws Exception {
    try (ScriptedServer server =
        ScriptedServer.start(
            x -> x.startStream().at(20_000_000).event("1").at(40_000_000).event("2").close())) {
      awaitEnd(server);
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
    awaitEnd(server);
    assertThatThrownBy(server::close)
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("broken script");
  }
}
