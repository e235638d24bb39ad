package io.github.gatlingllm.client;

import static io.github.gatlingllm.client.LocalClient.A;
import static io.github.gatlingllm.client.LocalClient.STOP;
import static io.github.gatlingllm.client.LocalClient.gzip;
import static io.github.gatlingllm.record.RequestStatus.COMPLETE;
import static io.github.gatlingllm.record.RequestStatus.CONNECTION_ERROR;
import static io.github.gatlingllm.record.RequestStatus.EMPTY;
import static io.github.gatlingllm.record.RequestStatus.HTTP_ERROR;
import static io.github.gatlingllm.record.RequestStatus.INVALID_RESPONSE;
import static io.github.gatlingllm.record.RequestStatus.IN_STREAM_ERROR;
import static io.github.gatlingllm.record.RequestStatus.TRUNCATED;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.client.LocalClient.Ended;
import io.github.gatlingllm.client.LocalClient.Sent;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.Exchange;
import io.github.gatlingllm.testing.ScriptedServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** P15, P17, P18, P19: bodies of every type, framing, encoding and size. */
@Timeout(120)
final class BodiesIT {

  private static final String B = ChatChunks.content("b");
  private static final String STREAM = "data: " + A + "\n\ndata: " + STOP + "\n\n";
  private static final String ONE_BODY = ChatChunks.body("a");
  private static final String JSON = "application/json";
  private static final String TYPE = "Content-Type: text/event-stream";
  private static final String GZIP = "Content-Encoding: gzip";

  @RegisterExtension private final LocalClient client = new LocalClient();

  private static Arguments complete(String contentType, String body, boolean streamed) {
    return Arguments.of(contentType, body, streamed, COMPLETE, null, "a");
  }

  private static Arguments invalid(String contentType, String body, String error) {
    return Arguments.of(contentType, body, true, INVALID_RESPONSE, error, "");
  }

  static Stream<Arguments> bodies() {
    String nothing = ONE_BODY.replace("\"a\"", "\"\"");
    return Stream.of(
        complete("text/event-stream;charset=UTF-8", STREAM, true),
        complete("Text/Event-Stream", STREAM, true),
        complete("text/event-stream", STREAM, false),
        complete(JSON, STREAM, true),
        complete(JSON, ONE_BODY, true),
        complete(JSON, ONE_BODY, false),
        complete("text/plain", ONE_BODY, true),
        Arguments.of(JSON, nothing, false, EMPTY, Sentence.text("no_token", false), ""),
        Arguments.of(JSON, ChatChunks.error("broke"), true, IN_STREAM_ERROR, "broke", ""),
        Arguments.of(JSON, "{\"error\":\"broke\"}", false, IN_STREAM_ERROR, "broke", ""),
        invalid("text/plain", "hello", Sentence.text("unexpected", "type", "text/plain", null)),
        invalid(
            "text/html", "<html></html>", Sentence.text("unexpected", "type", "text/html", null)),
        invalid("text/plain", "", Sentence.text("unexpected", "type", "text/plain", null)),
        invalid("text/plain", "dat", Sentence.text("unexpected", "type", "text/plain", null)),
        invalid(
            JSON,
            "{\"choices\":[",
            Sentence.text("unexpected", "malformed", Sentence.of("malformed", "cut", null), null)),
        invalid(JSON, "{\"status\":\"ok\"}", Sentence.text("unexpected", "json", null, null)),
        invalid(
            JSON,
            "[]",
            Sentence.text(
                "unexpected", "malformed", Sentence.of("malformed", "no_object", null), null)));
  }

  @ParameterizedTest
  @MethodSource("bodies")
  void ofEveryType(
      String contentType,
      String body,
      boolean streamed,
      RequestStatus status,
      @Nullable String error,
      String text)
      throws Exception {
    Ended ended =
        client.answeredBy(
            x -> x.respond(200, contentType, body), call -> streamed ? call : call.notStreamed());
    ended.assertEnded(status, error);
    assertThat(ended.text()).isEqualTo(text);
    assertThat(ended.timing().ttftNanos() != null).isEqualTo(body.equals(STREAM));
    assertThat(ended.timing().firstEventNanos() != null).isEqualTo(body.equals(STREAM));
    assertThat(ended.timing().latencyNanos()).isPositive();
    assertThat(ended.timing().tpotNanos()).isNull();
  }

  @Test
  void aCompleteBodyThatIsCutIsTruncated() throws Exception {
    Ended ended =
        client.answeredBy(
            x -> {
              x.sendHeaders(200, "Content-Type: " + JSON, "Content-Length: 999").send(ONE_BODY);
              x.close();
            },
            call -> call.notStreamed());
    ended.assertEnded(TRUNCATED, Sentence.text("truncated", "body", null));
    assertThat(ended.timing().latencyNanos()).isNull();
  }

  @Test
  void aResultForEachInput() throws Exception {
    String vector = "{\"data\":[{\"index\":0,\"embedding\":[0.5]}]}";
    client
        .answeredBy(x -> x.respond(200, JSON, vector), call -> call.inputs(Api.EMBEDDINGS, 2))
        .assertEnded(INVALID_RESPONSE, Sentence.text("unexpected", "results", 1, 2));
    String score = "[{\"index\":1,\"score\":0.5},{\"index\":1,\"score\":0.4}]";
    client
        .answeredBy(x -> x.respond(200, JSON, score), call -> call.inputs(Api.RERANK, 2))
        .assertEnded(INVALID_RESPONSE, Sentence.text("unexpected", "results", 1, 2));
    String both = score.replaceFirst("1", "0");
    client
        .answeredBy(x -> x.respond(200, JSON, both), call -> call.inputs(Api.RERANK, 2))
        .assertEnded(COMPLETE, null);
  }

  @Test
  void aResponseWithoutContentType() throws Exception {
    ScriptedServer server =
        client.serve(
            x -> x.sendHeaders(200, "Content-Length: " + STREAM.length()).send(STREAM),
            x -> x.sendHeaders(200, "Content-Length: 5").send("hello"));
    assertThat(client.post(server.baseUrl()).ended().text()).isEqualTo("a");
    assertThat(client.post(server.baseUrl()).ended().error())
        .isEqualTo(Sentence.text("unexpected", "type", null, null));
  }

  @Test
  void aGzipStreamIsDecodedAsItComes() throws Exception {
    CountDownLatch seen = new CountDownLatch(1);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    GZIPOutputStream gzip = new GZIPOutputStream(bytes, true);
    ScriptedServer server =
        client.serve(
            x -> {
              x.sendHeaders(200, TYPE, GZIP, "Transfer-Encoding: chunked");
              x.chunk(zipped(gzip, bytes, A)).await(seen).chunk(zipped(gzip, bytes, B));
              gzip.write(("data: " + STOP + "\n\n").getBytes(UTF_8));
              gzip.finish();
              x.chunk(bytes.toByteArray()).lastChunk();
            });
    Sent sent = client.post(server.baseUrl()).send();
    sent.awaitText("a");
    seen.countDown();
    Ended ended = sent.ended().assertEnded(COMPLETE, null);
    assertThat(ended.text()).isEqualTo("ab");
    assertThat(ended.events().coalesced()).isZero();
    assertThat(server.requests().get(0).header("Accept-Encoding")).isEqualTo("gzip");
  }

  private static byte[] zipped(GZIPOutputStream gzip, ByteArrayOutputStream bytes, String json)
      throws IOException {
    gzip.write(("data: " + json + "\n\n").getBytes(UTF_8));
    gzip.flush();
    byte[] zipped = bytes.toByteArray();
    bytes.reset();
    return zipped;
  }

  @Test
  void aCloseDelimitedBodyEndsProperly() throws Exception {
    ScriptedServer server =
        client.serve(
            x ->
                x.send("HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + STREAM)
                    .close(),
            x ->
                x.send("HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + ONE_BODY)
                    .close(),
            x -> {
              x.send("HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: " + A);
              x.close();
            });
    client.post(server.baseUrl()).ended().assertEnded(COMPLETE, null);
    client.post(server.baseUrl()).ended().assertEnded(COMPLETE, null);
    Ended cut = client.post(server.baseUrl()).ended();
    assertThat(cut.status()).isEqualTo(TRUNCATED);
    assertThat(cut.text()).isEqualTo("a");
    assertThat(server.connections()).isEqualTo(3);
  }

  @Test
  void trailersEndAStreamProperly() throws Exception {
    ScriptedServer server =
        client.serve(x -> x.startStream().chunk(STREAM).lastChunk("X-Checksum: 1", "X-Other: 2"));
    client.post(server.baseUrl()).ended().assertEnded(COMPLETE, null);
    client.post(server.baseUrl()).ended().assertEnded(COMPLETE, null);
    assertThat(server.connections()).isEqualTo(1);
  }

  private static void forever(Exchange exchange, String text) throws IOException {
    byte[] bytes = text.repeat((1 << 16) / text.length()).getBytes(UTF_8);
    while (true) {
      exchange.chunk(bytes);
    }
  }

  static Stream<Arguments> endless() {
    return Stream.of(
        endless(
            Sentence.text("too_large", "event", 8),
            x -> forever(x.startStream().event(A).chunk("data: {\"choices\":[\""), "x")),
        endless(
            Sentence.text("too_large", "event", 8),
            x -> forever(x.startStream(), "data: {\"a\":\n")),
        endless(
            Sentence.text("too_large", "events", 1 << 21),
            x -> forever(x.startStream(), "data:{}\n\n")),
        endless(
            Sentence.text("too_large", "body", 16),
            x ->
                forever(
                    x.sendHeaders(200, "Content-Type: " + JSON, "Transfer-Encoding: chunked"),
                    "[1,")),
        // A thousand times as large as what is sent: what counts is the size after decompression.
        endless(
            Sentence.text("too_large", "event", 8),
            x -> {
              byte[] bomb = gzip("data: {\"choices\":[\"" + "x".repeat(64 << 20));
              x.sendHeaders(200, TYPE, GZIP, "Content-Length: " + bomb.length)
                  .send(bomb)
                  .awaitClientClose();
            }));
  }

  private static Arguments endless(String error, ScriptedServer.Script script) {
    return Arguments.of(error, script);
  }

  @ParameterizedTest
  @MethodSource("endless")
  void tooLarge(String error, ScriptedServer.Script script) throws Exception {
    client.answeredBy(script).assertEnded(INVALID_RESPONSE, error);
  }

  @Test
  void aTextWithoutAnEndIsKeptToItsLimit() throws Exception {
    String event = "data: " + ChatChunks.content("x".repeat(1_000)) + "\n\n";
    Ended ended = client.answeredBy(x -> forever(x.startStream(), event));
    ended.assertEnded(INVALID_RESPONSE, Sentence.text("too_large", "text", 16));
    assertThat(ended.text()).hasSizeBetween(15 << 20, 16 << 20);
    assertThat(ended.timing().ttftNanos()).isPositive();
  }

  @Test
  void anErrorWithoutAnEndKeepsItsStatus() throws Exception {
    client
        .answeredBy(
            x -> {
              x.sendHeaders(500, "Content-Type: text/plain", "Transfer-Encoding: chunked");
              forever(x.chunk("oops "), " ");
            })
        .assertEnded(HTTP_ERROR, "HTTP 500: oops");
  }

  @Test
  void bytesAfterTheEndAreNotAwaited() throws Exception {
    Ended ended = client.answeredBy(x -> forever(x.startStream().event(A).event(STOP).done(), "x"));
    ended.assertEnded(COMPLETE, null);
    assertThat(ended.text()).isEqualTo("a");
  }

  @Test
  void headerSizeIsLimited() throws Exception {
    String fits = "x".repeat(200 << 10);
    String beyond = "x".repeat(1 << 20);
    ScriptedServer server =
        client.serve(
            x -> x.respond(200, "text/event-stream", STREAM, "X-Long: " + fits),
            x -> x.respond(200, "text/event-stream", STREAM, "X-Long: " + beyond),
            x -> x.startStream().chunk(STREAM).lastChunk("X-Long: " + beyond));
    client.post(server.baseUrl()).ended().assertEnded(COMPLETE, null);
    Ended ended = client.post(server.baseUrl()).ended();
    ended.assertEnded(CONNECTION_ERROR, Sentence.text("unconnected", "long_headers", 256, false));
    client.post(server.baseUrl()).ended().assertEnded(COMPLETE, null);
  }

  /** RFC 9112, 7.1.1: a recipient ignores extensions that it does not know. */
  @Test
  void chunkExtensionsAreIgnored() throws Exception {
    List<String> extensions =
        List.of(
            ";a",
            ";a=b",
            " ; a = b",
            ";a=b;c=d",
            ";a;b=c",
            ";a=\"b;c\"",
            ";a=\"x\\\"y\" ;c=d",
            ";signature=" + "0123456789abcdef".repeat(1_000));
    Ended ended =
        client.answeredBy(
            x -> {
              x.startStream();
              for (String extension : extensions) {
                String event = "data: " + A + "\n\n";
                x.send(Integer.toHexString(event.length()) + extension + "\r\n" + event + "\r\n");
              }
              x.event(STOP).send("0;last\r\n\r\n");
            });
    assertThat(ended.error()).isNull();
    assertThat(ended.text()).isEqualTo("a".repeat(extensions.size()));
  }

  @Test
  void aChunkExtensionThatNettyDoesNotReadIsNamed() throws Exception {
    Ended ended = client.answeredBy(x -> x.startStream().send("5;a=b ;c=d\r\nhello\r\n"));
    assertThat(ended.error())
        .isEqualTo(Sentence.text("unconnected", "chunk_extension", null, false));
  }
}
