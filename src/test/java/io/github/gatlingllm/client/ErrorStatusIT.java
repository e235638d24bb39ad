package io.github.gatlingllm.client;

import static com.github.tomakehurst.wiremock.client.WireMock.aResponse;
import static com.github.tomakehurst.wiremock.client.WireMock.anyUrl;
import static com.github.tomakehurst.wiremock.client.WireMock.post;
import static com.github.tomakehurst.wiremock.client.WireMock.postRequestedFor;
import static com.github.tomakehurst.wiremock.core.WireMockConfiguration.wireMockConfig;
import static io.github.gatlingllm.record.RequestStatus.CONNECTION_ERROR;
import static io.github.gatlingllm.record.RequestStatus.HTTP_ERROR;
import static io.github.gatlingllm.record.RequestStatus.INVALID_RESPONSE;
import static io.github.gatlingllm.record.RequestStatus.IN_STREAM_ERROR;
import static io.github.gatlingllm.record.RequestStatus.RATE_LIMITED;
import static org.assertj.core.api.Assertions.assertThat;

import com.github.tomakehurst.wiremock.WireMockServer;
import com.github.tomakehurst.wiremock.client.ResponseDefinitionBuilder;
import io.gatling.http.client.proxy.HttpProxyServer;
import io.github.gatlingllm.client.LocalClient.Ended;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.ScriptedServer;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** P16 and P23: statuses that are no answer, and where the key must not appear. */
@Timeout(120)
final class ErrorStatusIT {

  private static final String KEY = "my-own-secret-key-1234";
  private static final String JSON = "application/json";

  private static WireMockServer server;
  @RegisterExtension private final LocalClient client = new LocalClient();

  @BeforeAll
  static void startServer() {
    server = new WireMockServer(wireMockConfig().bindAddress("127.0.0.1").dynamicPort());
    server.start();
  }

  @AfterAll
  static void stopServer() {
    server.stop();
  }

  @BeforeEach
  void start() throws Exception {
    server.resetAll();
  }

  private record Row(
      int httpStatus,
      String contentType,
      String body,
      String header,
      String value,
      RequestStatus status,
      String error) {
    @Override
    public String toString() {
      return httpStatus + " " + header + " " + value;
    }
  }

  private static Row row(
      int httpStatus, String contentType, String body, RequestStatus status, String error) {
    return new Row(httpStatus, contentType, body, "X-None", "none", status, error);
  }

  private static Row redirect(int httpStatus, String location, String named) {
    return new Row(
        httpStatus,
        "text/plain",
        "",
        "Location",
        location,
        HTTP_ERROR,
        "HTTP %d: redirects are not followed; set the endpoint to %s".formatted(httpStatus, named));
  }

  /** The lines of all bodies are in ErrorBodyTest. */
  static Stream<Row> rows() {
    String wrongKey = "{\"error\":{\"message\":\"bad key " + KEY + "\"}}";
    String limited = "{\"error\":{\"message\":\"slow down\"}}";
    String proxy =
        "HTTP 407: the proxy wants a user name and password; set them on the http protocol";
    String noAnswer = "expected an event stream or JSON, got text/plain";
    return Stream.of(
        row(401, JSON, wrongKey, HTTP_ERROR, "HTTP 401: bad key ***"),
        new Row(
            429,
            JSON,
            limited,
            "Retry-After",
            "20",
            RATE_LIMITED,
            "HTTP 429: slow down; retry after 20"),
        row(529, "text/plain", "overloaded", HTTP_ERROR, "HTTP 529: overloaded"),
        redirect(307, "http://127.0.0.1/v2", "http://127.0.0.1/v2"),
        redirect(308, "http://127.0.0.1/v2?key=" + KEY, "http://127.0.0.1/v2?key=***"),
        row(407, "text/html", "<html></html>", HTTP_ERROR, proxy),
        row(204, "text/plain", "", INVALID_RESPONSE, noAnswer));
  }

  @ParameterizedTest
  @MethodSource("rows")
  void status(Row row) throws Exception {
    answer(
        aResponse()
            .withStatus(row.httpStatus())
            .withHeader("Content-Type", row.contentType())
            .withHeader(row.header(), row.value())
            .withBody(row.body()));
    Ended ended = client.post(server.baseUrl()).secret(KEY).ended();
    assertThat(ended.status()).isEqualTo(row.status());
    assertThat(ended.httpStatus()).isEqualTo(row.httpStatus());
    assertThat(ended.error()).isEqualTo(row.error());
    assertThat(ended.timing().headersNanos()).isPositive();
    assertThat(ended.timing().ttftNanos()).isNull();
    assertThat(ended.tokens().outputTokens()).isNull();
    server.verify(1, postRequestedFor(anyUrl()));
  }

  @Test
  void aKeyInAnErrorOfStatus200IsRedacted() throws Exception {
    String error = ChatChunks.error("no right for " + KEY + "x".repeat(300));
    for (String type : List.of("text/event-stream", JSON)) {
      boolean whole = type.equals(JSON);
      answer(
          aResponse()
              .withHeader("Content-Type", type)
              .withBody(whole ? error : "data: " + error + "\n\n"));
      LocalClient.Call call = client.post(server.baseUrl()).secret(KEY);
      Ended ended = (whole ? call.whole() : call).ended();
      assertThat(ended.status()).isEqualTo(IN_STREAM_ERROR);
      assertThat(ended.error()).startsWith("no right for ***xxx").hasSize(200);
    }
  }

  @Test
  void aProxyThatWantsAPassword() throws Exception {
    ScriptedServer proxy =
        client.serve(
            x -> x.respond(407, "text/html", "<html></html>", "Proxy-Authenticate: Basic"));
    HttpProxyServer settings =
        new HttpProxyServer("127.0.0.1", proxy.port(), null, false, EmptyHttpHeaders.INSTANCE);
    Ended plain = client.post("http://127.0.0.1:1/v1").proxy(settings).ended();
    assertThat(plain.status()).isEqualTo(HTTP_ERROR);
    assertThat(plain.httpStatus()).isEqualTo(407);
    assertThat(plain.error())
        .isEqualTo(
            "HTTP 407: the proxy wants a user name and password; set them on the http protocol");

    Ended tunnel = client.post("https://127.0.0.1:1/v1").proxy(settings).ended();
    tunnel.assertEnded(
        CONNECTION_ERROR,
        "proxy answered 407: it wants a user name and password; set them on the http"
            + " protocol");
    assertThat(proxy.requests().get(1).method()).isEqualTo("CONNECT");
    assertThat(proxy.posts()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"http", "https"})
  void aProxyThatIsDownIsNamed(String scheme) throws Exception {
    int port;
    try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = closed.getLocalPort();
    }
    HttpProxyServer down =
        new HttpProxyServer("127.0.0.1", port, null, false, EmptyHttpHeaders.INSTANCE);

    Ended ended = client.post(scheme + "://127.0.0.1:1/v1").proxy(down).ended();

    ended.assertEnded(
        CONNECTION_ERROR,
        "proxy 127.0.0.1:%d: connection refused: is the server running at the proxy's port?"
            .formatted(port));
  }

  /** As the log-in page of a guest network; Netty takes every 200 for a tunnel. */
  @Test
  void aProxyThatAnswersConnectWithAPage() throws Exception {
    ScriptedServer proxy =
        client.serve(
            x -> x.respond(200, "text/html", "<html><title>Log in</title></html>"),
            x -> x.respond(403, "text/html", "<html>no</html>"));
    HttpProxyServer settings =
        new HttpProxyServer("127.0.0.1", proxy.port(), null, false, EmptyHttpHeaders.INSTANCE);

    client
        .post("https://127.0.0.1:1/v1")
        .proxy(settings)
        .ended()
        .assertEnded(
            CONNECTION_ERROR,
            ("proxy 127.0.0.1:%d: answered CONNECT with 200 and then no TLS but"
                    + " '<html><title>Log in</title></html>'; does it want a log-in?")
                .formatted(proxy.port()));
    client
        .post("https://127.0.0.1:1/v1")
        .proxy(settings)
        .ended()
        .assertEnded(
            CONNECTION_ERROR, "proxy did not connect to the endpoint: status: 403 Scripted");
  }

  @Test
  void keyInThePageOfAProxyIsRedactedBeforeItIsCut() throws Exception {
    String key = "sk-hostile-0123456789abcdef0123456789";
    ScriptedServer proxy =
        client.serve(x -> x.respond(200, "text/html", "<html><title>You sent " + key + "</title>"));
    HttpProxyServer settings =
        new HttpProxyServer("127.0.0.1", proxy.port(), null, false, EmptyHttpHeaders.INSTANCE);

    Ended ended = client.post("https://127.0.0.1:1/v1").proxy(settings).secret(key).ended();

    assertThat(ended.error()).contains("'<html><title>You sent ***</title>'").doesNotContain("sk-");
  }

  private static void answer(ResponseDefinitionBuilder response) {
    server.stubFor(post(anyUrl()).willReturn(response));
  }
}
