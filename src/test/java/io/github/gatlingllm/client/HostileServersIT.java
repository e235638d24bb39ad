package io.github.gatlingllm.client;

import static io.github.gatlingllm.record.RequestStatus.COMPLETE;
import static io.github.gatlingllm.record.RequestStatus.HTTP_ERROR;
import static io.github.gatlingllm.record.RequestStatus.INVALID_RESPONSE;
import static io.github.gatlingllm.record.RequestStatus.TIMEOUT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.client.LocalClient.Ended;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.ScriptedServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Servers whose answers break a rule: what they send, and the one verdict on it. */
@Timeout(60)
final class HostileServersIT {

  private static final String TYPE = "Content-Type: text/event-stream";
  private static final String CHUNKED = "Transfer-Encoding: chunked";
  private static final String LONGER = "Content-Length: 9999";
  private static final String A = ChatChunks.content("a");
  private static final String STOP = ChatChunks.finish("stop");
  private static final String STREAM = "data: " + A + "\n\ndata: " + STOP + "\n\ndata: [DONE]\n\n";
  private static final String ZSTD =
      "Content-Encoding zstd is not supported: the server must send gzip or none";

  /** Closes of each kind, of which a race would decide some otherwise. */
  private static final int REPEATS = 30;

  @RegisterExtension private final LocalClient client = new LocalClient();

  private record Row(
      String name, RequestStatus status, @Nullable String error, ScriptedServer.Script script) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Row> servers() throws IOException {
    byte[] whole = gzip(STREAM.getBytes(UTF_8), 1);
    return Stream.of(
        closed("no last chunk, close", x -> x.startStream().chunk(STREAM).close()),
        closed("no last chunk, reset", x -> x.startStream().chunk(STREAM).reset()),
        closed("short body, close", x -> x.sendHeaders(200, TYPE, LONGER).send(STREAM).close()),
        closed("no length, close", x -> x.sendHeaders(200, TYPE).send(STREAM).close()),
        new Row(
            "negative choice index",
            INVALID_RESPONSE,
            "choice index is negative",
            x ->
                x.startStream().event(A.replace("\"index\":0", "\"index\":-1")).done().lastChunk()),
        new Row(
            "plain data labelled zstd",
            INVALID_RESPONSE,
            ZSTD,
            x -> x.respond(200, "text/event-stream", STREAM, "Content-Encoding: zstd")),
        new Row(
            "error labelled zstd",
            HTTP_ERROR,
            "HTTP 500: " + ZSTD,
            x -> x.respond(500, "text/plain", "no", "Content-Encoding: zstd")),
        padded("zeros after gzip", whole, new byte[1_000]),
        padded("one byte after gzip", whole, new byte[] {0x1F}),
        padded("text after gzip", whole, "trailing bytes".getBytes(UTF_8)),
        new Row(
            "event in one line of 50 MB",
            INVALID_RESPONSE,
            "event longer than 8 MiB",
            x -> x.startStream().event(ChatChunks.content("x".repeat(50_000_000)))),
        new Row(
            "body in one line of 50 MB",
            INVALID_RESPONSE,
            "body longer than 16 MiB",
            x -> x.respond(200, "application/json", ChatChunks.whole("x".repeat(50_000_000)))));
  }

  private static Row closed(String name, ScriptedServer.Script script) {
    return new Row(name, COMPLETE, null, script);
  }

  private static Row padded(String name, byte[] gzip, byte[] padding) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(gzip);
    all.writeBytes(padding);
    return new Row(
        name,
        COMPLETE,
        null,
        x ->
            x.sendHeaders(200, TYPE, "Content-Encoding: gzip", CHUNKED)
                .chunk(all.toByteArray())
                .lastChunk());
  }

  /** On a new connection, and as the second request of one. */
  @ParameterizedTest
  @MethodSource("servers")
  void hasOneVerdict(Row row) throws Exception {
    boolean isClose = row.status() == COMPLETE && !row.name().contains("gzip");
    for (int i = 0; i < (isClose ? REPEATS : 1); i++) {
      ScriptedServer first = client.serve(row.script());
      client.post(first.baseUrl()).ended().assertEnded(row.status(), row.error());
      ScriptedServer server =
          client.serve(x -> x.startStream().chunk(STREAM).lastChunk(), row.script());
      client.complete(server);
      client.post(server.baseUrl()).ended().assertEnded(row.status(), row.error());
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

  @Test
  void gzipBombOfCommentsDoesNotHoldTheEventLoop() throws Exception {
    byte[] bomb = gzip(":\n".repeat(1 << 19).getBytes(UTF_8), 1 << 10);
    long start = System.nanoTime();
    Ended ended =
        client.answeredBy(
            x ->
                x.sendHeaders(200, TYPE, "Content-Encoding: gzip", CHUNKED)
                    .chunk(bomb)
                    .awaitClientClose(),
            call -> call.requestTimeoutMillis(1_000));
    ended.assertEnded(TIMEOUT, "no end within the request timeout");
    assertThat(System.nanoTime() - start).isLessThan(2_000_000_000L);
  }

  private static byte[] gzip(byte[] part, int times) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
      for (int i = 0; i < times; i++) {
        gzip.write(part);
      }
    }
    return bytes.toByteArray();
  }
}
