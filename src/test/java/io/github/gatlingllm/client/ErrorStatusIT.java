package io.github.gatlingllm.client;

import static com.github.tomakehurst.wiremock.client.WireMock.aResponse;
import static com.github.tomakehurst.wiremock.client.WireMock.anyUrl;
import static com.github.tomakehurst.wiremock.client.WireMock.post;
import static com.github.tomakehurst.wiremock.client.WireMock.postRequestedFor;
import static com.github.tomakehurst.wiremock.core.WireMockConfiguration.wireMockConfig;
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

  private static Row json(int status, String message, String error) {
    String body = "{\"error\":{\"message\":\"" + message + "\"}}";
    return row(status, JSON, body, RequestStatus.HTTP_ERROR, error);
  }

  private static Row limited(String retryAfter, String error) {
    return new Row(
        429,
        JSON,
        "{\"error\":{\"message\":\"slow down\"}}",
        "Retry-After",
        retryAfter,
        RequestStatus.RATE_LIMITED,
        error);
  }

  static Stream<Row> rows() {
    return Stream.of(
        json(
            400,
            "ignore_eos is unknown",
            "HTTP 400: ignore_eos is unknown; set ignoreEos=false (llm.ignoreEos)"),
        json(401, "bad key " + KEY, "HTTP 401: bad key ***"),
        json(
            401,
            "Incorrect API key provided: sk-abcdefgh1234",
            "HTTP 401: Incorrect API key provided: ***"),
        json(404, "no model 'x'", "HTTP 404: no model 'x'"),
        json(413, "too large", "HTTP 413: too large"),
        row(
            422,
            JSON,
            "{\"detail\":[{\"loc\":[\"body\",\"n\"],\"msg\":\"must be 1\"}]}",
            RequestStatus.HTTP_ERROR,
            "HTTP 422: must be 1 (body.n)"),
        limited("20", "HTTP 429: slow down; retry after 20"),
        limited(
            "Wed, 21 Oct 2026 07:28:00 GMT",
            "HTTP 429: slow down; retry after Wed, 21 Oct 2026 07:28:00 GMT"),
        json(500, "oops", "HTTP 500: oops"),
        row(
            502,
            "text/html",
            "<html><head><title>502 Bad Gateway</title></head></html>",
            RequestStatus.HTTP_ERROR,
            "HTTP 502: 502 Bad Gateway"),
        json(503, "Loading model", "HTTP 503: Loading model"),
        row(529, "text/plain", "overloaded", RequestStatus.HTTP_ERROR, "HTTP 529: overloaded"),
        new Row(
            307,
            "text/plain",
            "",
            "Location",
            "http://127.0.0.1/v2",
            RequestStatus.HTTP_ERROR,
            "HTTP 307: redirects are not followed; set the endpoint to http://127.0.0.1/v2"),
        new Row(
            308,
            "text/plain",
            "",
            "Location",
            "http://127.0.0.1/v2?key=" + KEY,
            RequestStatus.HTTP_ERROR,
            "HTTP 308: redirects are not followed; set the endpoint to"
                + " http://127.0.0.1/v2?key=***"),
        row(
            407,
            "text/html",
            "<html></html>",
            RequestStatus.HTTP_ERROR,
            "HTTP 407: the proxy wants a user name and password; set them on the http protocol"),
        row(
            204,
            "text/plain",
            "",
            RequestStatus.INVALID_RESPONSE,
            "expected an event stream or JSON, got text/plain"));
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
  void aLongBodyIsOneLineOf200Characters() throws Exception {
    answer(aResponse().withStatus(500).withBody("very\nlong ".repeat(20_000)));
    String error = client.post(server.baseUrl()).ended().error();
    assertThat(error).hasSize(200).startsWith("HTTP 500: very long").endsWith("…");
    assertThat(error).doesNotContain("\n");
  }

  @Test
  void aKeyInAnInStreamErrorIsRedacted() throws Exception {
    answer(
        aResponse()
            .withHeader("Content-Type", "text/event-stream")
            .withBody(
                "data: " + ChatChunks.error("no right for " + KEY + "x".repeat(300)) + "\n\n"));
    Ended ended = client.post(server.baseUrl()).secret(KEY).ended();
    assertThat(ended.status()).isEqualTo(RequestStatus.IN_STREAM_ERROR);
    assertThat(ended.error()).startsWith("no right for ***xxx").hasSize(200);
  }

  @Test
  void aKeyInTheErrorOfAWholeBodyIsRedacted() throws Exception {
    answer(
        aResponse()
            .withHeader("Content-Type", JSON)
            .withBody("{\"error\":\"no right for " + KEY + "\"}"));
    Ended ended = client.post(server.baseUrl()).whole().secret(KEY).ended();
    assertThat(ended.status()).isEqualTo(RequestStatus.IN_STREAM_ERROR);
    assertThat(ended.error()).isEqualTo("no right for ***");
  }

  @Test
  void aProxyThatWantsAPassword() throws Exception {
    try (ScriptedServer proxy =
        ScriptedServer.start(
            x -> x.respond(407, "text/html", "<html></html>", "Proxy-Authenticate: Basic"))) {
      HttpProxyServer settings =
          new HttpProxyServer("127.0.0.1", proxy.port(), null, false, EmptyHttpHeaders.INSTANCE);
      Ended plain = client.post("http://127.0.0.1:1/v1").proxy(settings).ended();
      assertThat(plain.status()).isEqualTo(RequestStatus.HTTP_ERROR);
      assertThat(plain.httpStatus()).isEqualTo(407);
      assertThat(plain.error())
          .isEqualTo(
              "HTTP 407: the proxy wants a user name and password; set them on the http protocol");

      Ended tunnel = client.post("https://127.0.0.1:1/v1").proxy(settings).ended();
      assertThat(tunnel.status()).isEqualTo(RequestStatus.CONNECTION_ERROR);
      assertThat(tunnel.error())
          .isEqualTo(
              "proxy answered 407: it wants a user name and password; set them on the http"
                  + " protocol");
      assertThat(proxy.requests().get(1).method()).isEqualTo("CONNECT");
      assertThat(proxy.posts()).isEqualTo(1);
    }
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

    assertThat(ended.status()).isEqualTo(RequestStatus.CONNECTION_ERROR);
    assertThat(ended.error())
        .isEqualTo(
            "proxy 127.0.0.1:%d: connection refused: is the server running at the proxy's port?",
            port);
  }

  private static void answer(ResponseDefinitionBuilder response) {
    server.stubFor(post(anyUrl()).willReturn(response));
  }
}
