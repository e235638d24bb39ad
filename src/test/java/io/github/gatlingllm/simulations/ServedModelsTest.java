package io.github.gatlingllm.simulations;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.github.gatlingllm.client.Api;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServedModelsTest {

  private final PrintStream console = System.out;
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
  private final AtomicReference<String> asked = new AtomicReference<>("");
  private @Nullable HttpServer server;

  @BeforeEach
  void listen() {
    System.setOut(new PrintStream(printed, true, UTF_8));
  }

  @AfterEach
  void leaveAsItWas() {
    System.setOut(console);
    if (server != null) {
      server.stop(0);
    }
  }

  @Test
  void theOnlyModelIsRequested() throws IOException {
    String url = answering(200, "{\"data\":[{\"id\":\"llama-8b\"}]}");

    assertThat(only(url)).isEqualTo("llama-8b");
    assertThat(asked).hasValue("GET /v1/models Bearer sk-123456 acme");
    assertThat(printed.toString(UTF_8))
        .isEqualTo("LLM: model llama-8b, the only one of " + url + "/models\n");
  }

  @Test
  void withSeveralModelsTheServerDecides() throws IOException {
    String url = answering(200, "{\"data\":[{\"id\":\"a\"},{\"id\":\"b\"},{\"id\":\"a\"}]}");

    assertThat(only(url)).isNull();
    assertThat(printed.toString(UTF_8))
        .isEqualTo(
            "LLM: llm.model is not set, so the server decides; " + url + "/models has a, b\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          404 | not here
          401 | {"error":"no key"}
          500 | {"data":[{"id":"a"}]}
          200 | <html>
          200 | {"data":[]}
          200 | {"data":{"id":7}}
          200 | [1]
          302 | moved
          """)
  void anUnexpectedAnswerIsIgnored(int status, String body) throws IOException {
    assertThat(only(answering(status, body))).isNull();
    assertThat(printed.toString(UTF_8)).isEmpty();
  }

  @Test
  void aServerThatIsDownIsIgnored() throws IOException {
    String url = answering(200, "");
    server.stop(0);

    assertThat(only(url)).isNull();
  }

  private static @Nullable String only(String url) {
    Target target =
        new Target(null, List.of(url + "/chat/completions"), Api.CHAT, null, "sk-123456");
    return ServedModels.only(target, Map.of("X-Tenant", "acme"), true);
  }

  private String answering(int status, String body) throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          asked.set(
              "%s %s %s %s"
                  .formatted(
                      exchange.getRequestMethod(),
                      exchange.getRequestURI(),
                      exchange.getRequestHeaders().getFirst("Authorization"),
                      exchange.getRequestHeaders().getFirst("X-Tenant")));
          byte[] bytes = body.getBytes(UTF_8);
          exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
          try (OutputStream out = exchange.getResponseBody()) {
            out.write(bytes);
          }
        });
    server.start();
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/v1";
  }
}
