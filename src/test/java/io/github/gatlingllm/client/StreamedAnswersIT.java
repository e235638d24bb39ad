package io.github.gatlingllm.client;

import static io.github.gatlingllm.client.LocalClient.A;
import static io.github.gatlingllm.client.LocalClient.STOP;
import static io.github.gatlingllm.client.LocalClient.UNFINISHED;
import static io.github.gatlingllm.record.RequestStatus.COMPLETE;
import static io.github.gatlingllm.record.RequestStatus.EMPTY;
import static io.github.gatlingllm.record.RequestStatus.INVALID_RESPONSE;
import static io.github.gatlingllm.record.RequestStatus.IN_STREAM_ERROR;
import static io.github.gatlingllm.record.RequestStatus.TRUNCATED;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.client.LocalClient.Ended;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.ScriptedServer;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Streams as bytes, and what they come to: each one complete in one HTTP chunk, and again with one
 * HTTP chunk per byte.
 */
@Timeout(120)
final class StreamedAnswersIT {

  private static final String B = ChatChunks.content("b");
  private static final String DONE = "data: [DONE]\n\n";

  private static final String RESPONSE =
      event("response.output_text.delta", "'delta':'a'")
          + event("response.output_text.delta", "'delta':'b'")
          + event("response.completed", "'response':{'status':'completed'}");

  private static final String MESSAGE =
      event("message_start", "'message':{'usage':{'input_tokens':9,'output_tokens':1}}")
          + event("ping", "'x':0")
          + event("content_block_delta", "'index':0,'delta':{'type':'text_delta','text':'a'}")
          + event("content_block_delta", "'index':0,'delta':{'type':'text_delta','text':'b'}")
          + event("of_tomorrow", "'delta':{'text':'c'}")
          + event("message_delta", "'delta':{'stop_reason':'end_turn'}")
          + event("message_stop", "'x':0");

  @RegisterExtension private final LocalClient client = new LocalClient();

  /** A letter of text per event with tokens; {@code late} is how many events came too late. */
  private record Row(
      Api api,
      String name,
      String body,
      RequestStatus status,
      @Nullable String error,
      String text,
      int late) {

    @Override
    public String toString() {
      return api.key() + ", " + name;
    }
  }

  private static Row complete(Api api, String name, String text, int late, String body) {
    return new Row(api, name, body, COMPLETE, null, text, late);
  }

  private static String sse(String... data) {
    return "data: " + String.join("\n\ndata: ", data) + "\n\n";
  }

  private static String until(String type, String stream) {
    return stream.substring(0, stream.indexOf("event: " + type));
  }

  /** Answers that end well; the parsers' tests have all forms of lines, deltas and usage. */
  static Stream<Row> complete() {
    String mixed =
        "\uFEFFid: 1\nretry: 5\n"
            + sse(ChatChunks.role(), A).replace("\n", "\r\n")
            + ": OPENROUTER PROCESSING\n\n\n\n:\n"
            + sse(B).replace("\n", "\r").replace("data: ", "data:")
            + sse(STOP, "[DONE]");
    return Stream.of(
        complete(Api.CHAT, "mixed lines and comments", "ab", 0, mixed),
        // P12
        complete(Api.CHAT, "no DONE", "a", 0, sse(A, STOP)),
        complete(Api.CHAT, "DONE without finish_reason", "a", 0, sse(A, "[DONE]")),
        complete(Api.CHAT, "last blank line missing", "a", 0, sse(A) + "data: " + STOP),
        complete(Api.CHAT, "DONE twice", "a", 1, sse(A, STOP, "[DONE]", "[DONE]")),
        complete(Api.CHAT, "data after DONE", "a", 1, sse(A, STOP, "[DONE]", B)),
        // P21
        complete(Api.CHAT, "filter", "a", 0, sse(A, ChatChunks.finish("content_filter"))),
        complete(Api.RESPONSES, "CRLF", "ab", 0, (RESPONSE + DONE).replace("\n", "\r\n")),
        complete(Api.RESPONSES, "no types", "ab", 0, RESPONSE.replaceAll("event: .*\n", "")),
        complete(Api.RESPONSES, "data after the end", "ab", 3, RESPONSE + RESPONSE),
        complete(Api.MESSAGES, "ping and unknown events", "ab", 0, MESSAGE));
  }

  private static Row failed(
      Api api, String name, RequestStatus status, String error, String text, String body) {
    return new Row(api, name, body, status, error, text, 0);
  }

  private static Row truncated(Api api, String name, String error, String body) {
    return failed(api, name, TRUNCATED, error, "ab", body);
  }

  private static Row error(Api api, String name, String error, String text, String body) {
    return failed(api, name, IN_STREAM_ERROR, error, text, body);
  }

  private static Row empty(Api api, String name, RequestStatus status, String error, String body) {
    return failed(api, name, status, error, "", body);
  }

  private static Row invalid(String name, String error, String body) {
    return empty(Api.CHAT, name, INVALID_RESPONSE, error, body);
  }

  static Stream<Row> failed() {
    String none = Sentence.text("truncated", "no_event", null);
    String noToken = Sentence.text("no_token", true);
    String broke = ChatChunks.error("broke");
    String response = until("response.completed", RESPONSE);
    String completed = RESPONSE.substring(response.length());
    String notCompleted = Sentence.text("truncated", "typed", "response.completed");
    String brokenResponse =
        RESPONSE.replace(
            "\"response.completed\",\"response\":{",
            "\"response.failed\",\"response\":{\"error\":{\"message\":\"broke\"},");
    String overloaded =
        event("error", "'error':{'type':'overloaded_error','message':'Overloaded'}");
    return Stream.of(
        // P13, the orderly part
        truncated(Api.CHAT, "no finish_reason", UNFINISHED, sse(A, B)),
        truncated(Api.CHAT, "cut in an event", UNFINISHED, sse(A, B) + "data: {\"choi"),
        empty(Api.CHAT, "nothing", TRUNCATED, none, ""),
        empty(Api.CHAT, "comments only", TRUNCATED, none, ": ping\n\n"),
        // P14
        error(Api.CHAT, "error object", "broke", "", sse(broke)),
        error(Api.CHAT, "error event", "broke", "", "event: error\ndata: broke\n\n"),
        error(Api.CHAT, "error, then DONE", "broke", "a", sse(A, broke, "[DONE]")),
        error(Api.CHAT, "error after finish_reason", "broke", "a", sse(A, STOP, broke)),
        // P22
        invalid("no JSON", Sentence.text("malformed", "no_object", null), sse("hello")),
        invalid(
            "broken JSON",
            Sentence.text("malformed", "character", null),
            sse("{\"choices\":[}", STOP)),
        // P24
        empty(Api.CHAT, "no token", EMPTY, noToken, sse(STOP, "[DONE]")),
        empty(Api.RESPONSES, "no token", EMPTY, noToken, completed),
        truncated(Api.RESPONSES, "no terminal event", notCompleted, response),
        truncated(Api.RESPONSES, "[DONE] is not a terminal event", notCompleted, response + DONE),
        error(Api.RESPONSES, "failed", "broke", "ab", brokenResponse),
        truncated(
            Api.MESSAGES,
            "stop reason, no message_stop",
            Sentence.text("truncated", "typed", "message_stop"),
            until("message_stop", MESSAGE)),
        error(
            Api.MESSAGES,
            "error after tokens",
            "Overloaded (overloaded_error)",
            "ab",
            until("message_delta", MESSAGE) + overloaded));
  }

  private static String event(String type, String fields) {
    String data = "{'type':'" + type + "'," + fields + "}";
    return "event: " + type + "\ndata: " + data.replace('\'', '"') + "\n\n";
  }

  @ParameterizedTest
  @MethodSource({"complete", "failed"})
  void inOneChunk(Row row) throws Exception {
    Ended ended =
        check(
            row,
            x -> {
              x.startStream();
              if (!row.body().isEmpty()) {
                x.chunk(row.body());
              }
              x.lastChunk();
            });
    // P5: what one read brings shares one instant
    assertThat(ended.events().coalesced()).isEqualTo(Math.max(0, row.text().length() - 1));
    assertThat(ended.timing().tpotNanos()).isNull();
  }

  @ParameterizedTest
  @MethodSource({"complete", "failed"})
  void oneChunkPerByte(Row row) throws Exception {
    ByteArrayOutputStream chunks = new ByteArrayOutputStream();
    for (byte b : row.body().getBytes(UTF_8)) {
      chunks.writeBytes(new byte[] {'1', '\r', '\n', b, '\r', '\n'});
    }
    check(row, x -> x.startStream().send(chunks.toByteArray()).lastChunk());
  }

  @ParameterizedTest
  @MethodSource({"complete", "failed"})
  void underAWrongContentType(Row row) throws Exception {
    if (row.body().isEmpty()) {
      return;
    }
    check(
        row,
        x -> {
          x.sendHeaders(200, "Content-Type: text/plain", "Transfer-Encoding: chunked");
          byte[] bytes = row.body().getBytes(UTF_8);
          for (int i = 0; i < Math.min(8, bytes.length); i++) {
            x.chunk(new byte[] {bytes[i]});
          }
          x.chunk(Arrays.copyOfRange(bytes, Math.min(8, bytes.length), bytes.length));
          x.lastChunk();
        });
  }

  private Ended check(Row row, ScriptedServer.Script script) throws Exception {
    Ended ended =
        client
            .answeredBy(script, call -> call.api(row.api()))
            .assertEnded(row.status(), row.error());
    assertThat(ended.httpStatus()).isEqualTo(200);
    assertThat(ended.text()).isEqualTo(row.text());
    assertThat(ended.events().count()).isEqualTo(row.text().length());
    assertThat(ended.events().late()).isEqualTo(row.late());
    assertThat(ended.timing().ttftNanos() == null).isEqualTo(row.text().length() == 0);
    assertThat(ended.timing().latencyNanos() == null).isEqualTo(row.text().length() == 0);
    if (row.text().length() < 2) {
      assertThat(ended.timing().tpotNanos()).isNull();
    }
    return ended;
  }
}
