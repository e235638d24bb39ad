package io.github.gatlingllm.client;

import static io.github.gatlingllm.client.LocalClient.A;
import static io.github.gatlingllm.client.LocalClient.STOP;
import static io.github.gatlingllm.client.LocalClient.gzip;
import static io.github.gatlingllm.record.RequestStatus.CANCELLED;
import static io.github.gatlingllm.record.RequestStatus.COMPLETE;
import static io.github.gatlingllm.record.RequestStatus.CONNECTION_ERROR;
import static io.github.gatlingllm.record.RequestStatus.HTTP_ERROR;
import static io.github.gatlingllm.record.RequestStatus.INVALID_RESPONSE;
import static io.github.gatlingllm.record.RequestStatus.TRUNCATED;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.github.gatlingllm.client.LocalClient.Ended;
import io.github.gatlingllm.client.LocalClient.Sent;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.Http2Server;
import io.github.gatlingllm.testing.Http2Server.ServerStream;
import io.github.gatlingllm.testing.ScriptedServer;
import io.github.gatlingllm.testing.SelfSigned;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
final class HostileServersIT {

  private static final String TYPE = "Content-Type: text/event-stream";
  private static final String GZIP = "Content-Encoding: gzip";
  private static final String CHUNKED = "Transfer-Encoding: chunked";
  private static final String LONGER = "Content-Length: 9999";
  private static final String STREAM = "data: " + A + "\n\ndata: " + STOP + "\n\ndata: [DONE]\n\n";
  private static final String ZSTD = Sentence.text("unread", "encoding", "zstd");

  /** Closes of each kind, of which a race would decide some otherwise. */
  private static final int REPEATS = 30;

  /** Requests that are answered while a bomb is decoded, which takes longer. */
  private static final int OTHERS = 10;

  private static SSLContext certificate;

  @RegisterExtension private final LocalClient client = new LocalClient();

  @BeforeAll
  static void makeCertificate(@TempDir Path folder) throws Exception {
    certificate = SelfSigned.sslContext(folder);
  }

  static Stream<Arguments> servers() {
    return Stream.of(
        closed("no last chunk, close", x -> x.startStream().chunk(STREAM).close()),
        closed("no last chunk, reset", x -> x.startStream().chunk(STREAM).reset()),
        closed("short body, close", x -> x.sendHeaders(200, TYPE, LONGER).send(STREAM).close()),
        closed("no length, close", x -> x.sendHeaders(200, TYPE).send(STREAM).close()),
        server(
            "negative choice index",
            INVALID_RESPONSE,
            Sentence.text("malformed", "negative_index", null),
            x ->
                x.startStream().event(A.replace("\"index\":0", "\"index\":-1")).done().lastChunk()),
        server(
            "plain data labelled zstd",
            INVALID_RESPONSE,
            ZSTD,
            x -> x.respond(200, "text/event-stream", STREAM, "Content-Encoding: zstd")),
        server(
            "error labelled zstd",
            HTTP_ERROR,
            "HTTP 500: " + ZSTD,
            x -> x.respond(500, "text/plain", "no", "Content-Encoding: zstd")));
  }

  private static Arguments closed(String name, ScriptedServer.Script script) {
    return server(name, COMPLETE, null, script);
  }

  private static Arguments server(
      String name, RequestStatus status, @Nullable String error, ScriptedServer.Script script) {
    return arguments(name, status, error, script);
  }

  /** On a new connection, and as the second request of one. */
  @ParameterizedTest(name = "{0}")
  @MethodSource("servers")
  void hasOneVerdict(
      String name, RequestStatus status, @Nullable String error, ScriptedServer.Script script)
      throws Exception {
    for (int i = 0; i < (status == COMPLETE ? REPEATS : 1); i++) {
      client.answeredBy(script).assertEnded(status, error);
      ScriptedServer server = client.serve(x -> x.startStream().chunk(STREAM).lastChunk(), script);
      client.complete(server);
      client.post(server.baseUrl()).ended().assertEnded(status, error);
      assertThat(server.posts()).isEqualTo(2);
    }
  }

  /** The request has a limit of 16 tokens. */
  @Test
  void countsFarBeyondTheLimitAreImpossible() throws Exception {
    for (int count : List.of(160, 161, 15_000_000)) {
      Ended ended =
          client.answeredBy(
              x ->
                  x.startStream()
                      .event(A)
                      .event(STOP)
                      .event(ChatChunks.usage(3, count))
                      .done()
                      .lastChunk());
      ended.assertEnded(COMPLETE, null);
      assertThat(ended.exchange().answer().completionTokens()).isEqualTo(count > 160 ? null : 160);
      assertThat(ended.exchange().answer().tokens().refused())
          .isEqualTo(count > 160 ? List.of("completion_tokens") : List.of());
    }
  }

  static Stream<Arguments> gzipped() throws IOException {
    byte[] complete = gzip(STREAM);
    byte[] members = joined(gzip(STREAM.substring(0, 9)), gzip(STREAM.substring(9)));
    String broken = "response could not be decompressed: ";
    String cut = Sentence.text("truncated", "gzip", null);
    return Stream.of(
        arguments("zeros after it", COMPLETE, null, joined(complete, new byte[1_000])),
        arguments("one byte after it", COMPLETE, null, joined(complete, new byte[] {0x1F})),
        arguments("text after it", COMPLETE, null, joined(complete, "trailing".getBytes(UTF_8))),
        arguments("two members", COMPLETE, null, members),
        arguments(
            "no trailer after [DONE]",
            TRUNCATED,
            cut,
            Arrays.copyOf(complete, complete.length - 8)),
        arguments("half a trailer", TRUNCATED, cut, Arrays.copyOf(complete, complete.length - 3)),
        arguments("half of it", TRUNCATED, cut, Arrays.copyOf(complete, complete.length / 2)),
        arguments(
            "its second member cut", TRUNCATED, cut, Arrays.copyOf(members, members.length - 1)),
        arguments(
            "wrong checksum after [DONE]",
            CONNECTION_ERROR,
            broken + "CRC value mismatch",
            joined(Arrays.copyOf(complete, complete.length - 8), new byte[8])),
        arguments(
            "broken data after [DONE]",
            CONNECTION_ERROR,
            broken + "decompression failure",
            joined(flushed(STREAM), new byte[] {7, 7, 7, 7})),
        arguments(
            "no gzip",
            CONNECTION_ERROR,
            broken + "Input is not in the GZIP format",
            STREAM.getBytes(UTF_8)));
  }

  static byte[] flushed(String text) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes, true)) {
      gzip.write(text.getBytes(UTF_8));
      gzip.flush();
      return bytes.toByteArray();
    }
  }

  private static byte[] joined(byte[] one, byte[] other) {
    byte[] all = Arrays.copyOf(one, one.length + other.length);
    System.arraycopy(other, 0, all, one.length, other.length);
    return all;
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("gzipped")
  void gzipHasOneVerdictOverBothProtocols(
      String name, RequestStatus status, @Nullable String error, byte[] body) throws Exception {
    List<ScriptedServer.Script> frames =
        List.of(
            x -> {
              x.sendHeaders(200, TYPE, GZIP, CHUNKED);
              for (byte single : body) {
                x.chunk(new byte[] {single});
              }
              x.lastChunk();
            },
            x -> x.sendHeaders(200, TYPE, GZIP, "Content-Length: " + body.length).send(body),
            x -> x.sendHeaders(200, TYPE, GZIP, "Connection: close").send(body).close());
    for (ScriptedServer.Script each : frames) {
      client.answeredBy(each).assertEnded(status, error);
    }
    try (Http2Server server = new Http2Server(certificate)) {
      for (boolean isEndApart : List.of(true, false)) {
        Sent sent = client.post(server.url()).http2().send();
        ServerStream stream = server.next().startStream("content-encoding", "gzip");
        stream.bytes(body, !isEndApart);
        if (isEndApart) {
          stream.end();
        }
        sent.ended().assertEnded(status, error);
      }
      assertThat(server.connections()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void gzipBombOfCommentsDoesNotHoldTheEventLoop(boolean isHttp2) throws Exception {
    ByteArrayOutputStream members = new ByteArrayOutputStream();
    byte[] member = gzip(":\n".repeat(1 << 19).getBytes(UTF_8), 16);
    for (int i = 0; i < 64; i++) {
      members.writeBytes(member);
    }
    byte[] bomb = members.toByteArray(); // of 1 GiB
    try (Http2Server server = new Http2Server(certificate)) {
      ScriptedServer plain =
          client.serve(x -> x.sendHeaders(200, TYPE, GZIP, CHUNKED).chunk(bomb).lastChunk());
      ScriptedServer other = client.serve(x -> x.startStream().chunk(STREAM).lastChunk());
      Sent sent =
          (isHttp2 ? client.post(server.url()).http2() : client.post(plain.baseUrl())).send();
      if (isHttp2) {
        server.next().startStream("content-encoding", "gzip").bytes(bomb, true);
      }
      sent.await(exchange -> exchange.timeline().timing(0, null, null).headersNanos() != null);
      for (int i = 0; i < OTHERS; i++) {
        client.complete(other);
      }
      sent.cancel("before its end");
      sent.ended().assertEnded(CANCELLED, "before its end");
    }
  }
}
