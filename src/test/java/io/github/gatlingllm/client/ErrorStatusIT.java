package io.github.gatlingllm.client;

import static com.github.tomakehurst.wiremock.client.WireMock.aResponse;
import static com.github.tomakehurst.wiremock.client.WireMock.anyUrl;
import static com.github.tomakehurst.wiremock.client.WireMock.post;
import static com.github.tomakehurst.wiremock.client.WireMock.postRequestedFor;
import static com.github.tomakehurst.wiremock.core.WireMockConfiguration.wireMockConfig;
import static io.github.gatlingllm.record.RequestStatus.CONNECTION_ERROR;
import static io.github.gatlingllm.record.RequestStatus.CONTEXT_EXCEEDED;
import static io.github.gatlingllm.record.RequestStatus.HTTP_ERROR;
import static io.github.gatlingllm.record.RequestStatus.INVALID_RESPONSE;
import static io.github.gatlingllm.record.RequestStatus.IN_STREAM_ERROR;
import static io.github.gatlingllm.record.RequestStatus.RATE_LIMITED;
import static org.assertj.core.api.Assertions.assertThat;

import com.github.tomakehurst.wiremock.client.ResponseDefinitionBuilder;
import com.github.tomakehurst.wiremock.junit5.WireMockExtension;
import io.github.gatlingllm.client.LocalClient.Ended;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.ScriptedServer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** P16 and P23: statuses that are not answers, and where the key must not appear. */
@Timeout(120)
final class ErrorStatusIT {

  private static final String KEY = "my-own-secret-key-1234";
  private static final String JSON = "application/json";

  @RegisterExtension
  private static final WireMockExtension SERVER =
      WireMockExtension.newInstance()
          .options(wireMockConfig().bindAddress("127.0.0.1").dynamicPort())
          .build();

  @RegisterExtension private final LocalClient client = new LocalClient();

  private static Arguments row(
      int httpStatus, String header, String body, RequestStatus status, String error) {
    String[] nameAndValue = header.split(": ", 2);
    ResponseDefinitionBuilder answer =
        aResponse()
            .withStatus(httpStatus)
            .withHeader("Content-Type", body.startsWith("{") ? JSON : "text/plain")
            .withHeader(nameAndValue[0], nameAndValue[1])
            .withBody(body);
    return Arguments.of(httpStatus, answer, status, error);
  }

  private static Arguments redirect(int httpStatus, String location, String named) {
    String line = "HTTP " + httpStatus + ": " + Sentence.text("unread", "redirect", named);
    return row(httpStatus, "Location: " + location, "", HTTP_ERROR, line);
  }

  /** The lines of all bodies are in ErrorBodyTest. */
  static Stream<Arguments> rows() {
    String none = "X-None: none";
    String wrongKey = "{\"error\":{\"message\":\"bad key " + KEY + "\"}}";
    String limited = "HTTP 429: slow down; retry after 20";
    String noAnswer = Sentence.text("unexpected", "type", "text/plain", null);
    return Stream.of(
        row(401, none, wrongKey, HTTP_ERROR, "HTTP 401: bad key ***"),
        row(429, "Retry-After: 20", "slow down", RATE_LIMITED, limited),
        row(400, none, "context length is 8", CONTEXT_EXCEEDED, "HTTP 400: context length is 8"),
        row(500, none, "context length is 8", HTTP_ERROR, "HTTP 500: context length is 8"),
        row(529, none, "overloaded", HTTP_ERROR, "HTTP 529: overloaded"),
        redirect(307, "http://127.0.0.1/v2", "http://127.0.0.1/v2"),
        redirect(308, "http://127.0.0.1/v2?key=" + KEY, "http://127.0.0.1/v2?key=***"),
        row(204, none, "", INVALID_RESPONSE, noAnswer));
  }

  @ParameterizedTest
  @MethodSource("rows")
  void status(int httpStatus, ResponseDefinitionBuilder answer, RequestStatus status, String error)
      throws Exception {
    SERVER.stubFor(post(anyUrl()).willReturn(answer));
    Ended ended = client.post(SERVER.baseUrl()).secret(KEY).ended().assertEnded(status, error);
    SERVER.verify(1, postRequestedFor(anyUrl()));
    assertThat(ended.httpStatus()).isEqualTo(httpStatus);
    assertThat(ended.timing().headersNanos()).isPositive();
    assertThat(ended.timing().ttftNanos()).isNull();
    assertThat(ended.tokens().outputTokens()).isNull();
  }

  @Test
  void aKeyInAnErrorOfStatus200IsRedacted() throws Exception {
    String error = ChatChunks.error("no right for " + KEY + "x".repeat(300));
    for (Ended ended :
        List.of(
            client.answeredBy(x -> x.startStream().event(error).lastChunk(), c -> c.secret(KEY)),
            client.answeredBy(
                x -> x.respond(200, JSON, error), c -> c.notStreamed().secret(KEY)))) {
      assertThat(ended.status()).isEqualTo(IN_STREAM_ERROR);
      assertThat(ended.error()).startsWith("no right for ***xxx").hasSize(200);
    }
    String tooLong = ChatChunks.error("prompt is too long: 9 tokens > 8 maximum");
    client
        .answeredBy(x -> x.startStream().event(tooLong).lastChunk(), c -> c)
        .assertEnded(CONTEXT_EXCEEDED, "prompt is too long: 9 tokens > 8 maximum");
  }

  @Test
  void aProxyThatRequiresAPassword() throws Exception {
    ScriptedServer proxy =
        client.serve(
            x -> x.respond(407, "text/html", "<html></html>", "Proxy-Authenticate: Basic"));
    Ended plain = client.post("http://127.0.0.1:1/v1").proxy(proxy.port()).ended();
    plain.assertEnded(HTTP_ERROR, "HTTP 407: " + Sentence.text("unread", "proxy_login", null));
    assertThat(plain.httpStatus()).isEqualTo(407);

    Ended tunnel = client.post("https://127.0.0.1:1/v1").proxy(proxy.port()).ended();
    tunnel.assertEnded(CONNECTION_ERROR, Sentence.text("unconnected", "proxy_login", null, false));
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
    Ended ended = client.post(scheme + "://127.0.0.1:1/v1").proxy(port).ended();

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

    client
        .post("https://127.0.0.1:1/v1")
        .proxy(proxy.port())
        .ended()
        .assertEnded(
            CONNECTION_ERROR,
            ("proxy 127.0.0.1:%d: answered CONNECT with 200 and then no TLS but"
                    + " '<html><title>Log in</title></html>'; does it require a login?")
                .formatted(proxy.port()));
    client
        .post("https://127.0.0.1:1/v1")
        .proxy(proxy.port())
        .ended()
        .assertEnded(
            CONNECTION_ERROR, Sentence.text("unconnected", "proxy", "status: 403 Scripted", false));
  }

  @Test
  void keyInThePageOfAProxyIsRedactedBeforeItIsCut() throws Exception {
    String key = "sk-hostile-0123456789abcdef0123456789";
    ScriptedServer proxy =
        client.serve(x -> x.respond(200, "text/html", "<html><title>You sent " + key + "</title>"));

    Ended ended = client.post("https://127.0.0.1:1/v1").proxy(proxy.port()).secret(key).ended();

    assertThat(ended.error()).contains("'<html><title>You sent ***</title>'").doesNotContain("sk-");
  }
}
