package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.client.LocalClient.Ended;
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
 * Streams as bytes, and what they come to: each one whole in one HTTP chunk, and again with one
 * HTTP chunk per byte.
 */
@Timeout(120)
final class StreamedAnswersIT {

  private static final String A = ChatChunks.content("a");
  private static final String B = ChatChunks.content("b");
  private static final String STOP = ChatChunks.finish("stop");
  private static final String TRUNCATED = "stream ended before finish_reason and without [DONE]";

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

  /** {@code tokenEvents} is how many events held tokens; {@code late} how many came too late. */
  private record Row(
      Api api,
      String name,
      String body,
      RequestStatus status,
      @Nullable String error,
      String text,
      int tokenEvents,
      int late) {

    Row(
        String name,
        String body,
        RequestStatus status,
        @Nullable String error,
        String text,
        int tokenEvents,
        int late) {
      this(Api.CHAT, name, body, status, error, text, tokenEvents, late);
    }

    /** The same, of an API whose events have types; single quotes stand for double ones. */
    Row of(Api typed) {
      return new Row(
          typed,
          typed.key() + ", " + name,
          body.replace('\'', '"'),
          status,
          error,
          text,
          tokenEvents,
          late);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private static Row complete(String name, String body, String text, int tokenEvents) {
    return new Row(name, body, RequestStatus.COMPLETE, null, text, tokenEvents, 0);
  }

  private static Row failed(
      String name, String body, RequestStatus status, String error, String text, int tokenEvents) {
    return new Row(name, body, status, error, text, tokenEvents, 0);
  }

  private static String sse(String... data) {
    return "data: " + String.join("\n\ndata: ", data) + "\n\n";
  }

  static Stream<Row> rows() {
    String plain = sse(ChatChunks.role(), A, B, STOP, "[DONE]");
    String deep = "[".repeat(2_000) + "]".repeat(2_000);
    return Stream.of(
        // P1
        complete("line feeds", plain, "ab", 2),
        complete("CRLF", plain.replace("\n", "\r\n"), "ab", 2),
        complete("lone CR", plain.replace("\n", "\r"), "ab", 2),
        complete(
            "mixed line ends",
            sse(A).replace("\n", "\r\n") + sse(B).replace("\n", "\r") + sse(STOP),
            "ab",
            2),
        complete("byte order mark", "\uFEFF" + plain, "ab", 2),
        // P2, P3
        complete("no space", plain.replace("data: ", "data:"), "ab", 2),
        complete("two spaces", plain.replace("data: {", "data:  {"), "ab", 2),
        complete(
            "other fields",
            "id: 1\nretry: 5\n" + sse(A) + "retry: soon\nfoo: bar\ndata\n\n" + sse(B, STOP),
            "ab",
            2),
        complete(
            "several data lines",
            "data: {\"choices\":[{\"index\":0,\ndata: \"delta\":{\"content\":\"a\"}}]}\n\n"
                + sse(STOP),
            "a",
            1),
        // P6, P7
        complete(
            "comments",
            ": ping\n\n" + sse(A) + ": OPENROUTER PROCESSING\n\n\n\n:\n" + sse(STOP),
            "a",
            1),
        complete(
            "chunks without a token",
            sse(
                ChatChunks.role(),
                ChatChunks.chunk("{\"content\":null}", "null"),
                ChatChunks.chunk("{\"tool_calls\":null}", "null"),
                A,
                STOP),
            "a",
            1),
        // P8, P9
        complete("reasoning", sse(ChatChunks.reasoning("hm"), A, STOP), "a", 2),
        complete("refusal", sse(ChatChunks.chunk("{\"refusal\":\"no\"}", "null"), STOP), "no", 1),
        complete(
            "tool call",
            sse(
                ChatChunks.chunk(
                    "{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"f\"}}]}", "null"),
                ChatChunks.finish("tool_calls")),
            "",
            1),
        complete(
            "completions",
            sse("{\"choices\":[{\"text\":\"a\",\"finish_reason\":\"length\"}]}"),
            "a",
            1),
        // P12
        complete("DONE without space", sse(A, STOP) + "data:[DONE]\n\n", "a", 1),
        complete("no DONE", sse(A, STOP), "a", 1),
        complete("DONE without finish_reason", sse(A, "[DONE]"), "a", 1),
        complete("last blank line missing", sse(A) + "data: " + STOP, "a", 1),
        new Row(
            "DONE twice",
            sse(A, STOP, "[DONE]", "[DONE]"),
            RequestStatus.COMPLETE,
            null,
            "a",
            1,
            1),
        new Row(
            "data after DONE", sse(A, STOP, "[DONE]", B), RequestStatus.COMPLETE, null, "a", 1, 1),
        // P13, the orderly part
        failed("no finish_reason", sse(A), RequestStatus.TRUNCATED, TRUNCATED, "a", 1),
        failed(
            "cut in an event",
            sse(A) + "data: {\"choi",
            RequestStatus.TRUNCATED,
            TRUNCATED,
            "a",
            1),
        failed(
            "nothing", "", RequestStatus.TRUNCATED, "stream ended without a single event", "", 0),
        failed(
            "comments only",
            ": ping\n\n",
            RequestStatus.TRUNCATED,
            "stream ended without a single event",
            "",
            0),
        // P14
        failed(
            "error object",
            sse(ChatChunks.error("broke")),
            RequestStatus.IN_STREAM_ERROR,
            "broke",
            "",
            0),
        failed(
            "error text",
            sse("{\"error\":\"broke\"}"),
            RequestStatus.IN_STREAM_ERROR,
            "broke",
            "",
            0),
        failed(
            "error event",
            "event: error\ndata: broke\n\n",
            RequestStatus.IN_STREAM_ERROR,
            "broke",
            "",
            0),
        failed(
            "error after tokens",
            sse(A, ChatChunks.error("broke")),
            RequestStatus.IN_STREAM_ERROR,
            "broke",
            "a",
            1),
        failed(
            "error, then DONE",
            sse(A, ChatChunks.error("broke"), "[DONE]"),
            RequestStatus.IN_STREAM_ERROR,
            "broke",
            "a",
            1),
        failed(
            "error after finish_reason",
            sse(A, STOP, ChatChunks.error("broke")),
            RequestStatus.IN_STREAM_ERROR,
            "broke",
            "a",
            1),
        failed(
            "x_groq error",
            sse("{\"x_groq\":{\"error\":\"broke\"},\"choices\":[]}"),
            RequestStatus.IN_STREAM_ERROR,
            "broke",
            "",
            0),
        // P20
        complete(
            "unusual line breaks",
            sse(ChatChunks.content("\u2028\u2029\u0085"), STOP),
            "\u2028\u2029\u0085",
            1),
        complete(
            "UTF-8",
            sse(ChatChunks.content("\u00e9\u4e2d\uD83D\uDE00"), STOP),
            "\u00e9\u4e2d\uD83D\uDE00",
            1),
        // P21
        complete("content_filter", sse(A, ChatChunks.finish("content_filter")), "a", 1),
        complete(
            "finish_reason null, then DONE",
            sse(A, ChatChunks.chunk("{}", "null"), "[DONE]"),
            "a",
            1),
        // P22
        complete(
            "unknown and deep fields",
            sse(
                "{\"x\":"
                    + deep
                    + ",\"choices\":[{\"index\":\"0\",\"logprobs\":{\"content\":[{\"token\":\"a\",\"logprob\":-0.1}]},\"delta\":{\"content\":\"a\"}}]}",
                STOP),
            "a",
            1),
        failed(
            "no JSON",
            sse("hello"),
            RequestStatus.INVALID_RESPONSE,
            "data is not a JSON object",
            "",
            0),
        failed(
            "broken JSON",
            sse("{\"choices\":[}", STOP),
            RequestStatus.INVALID_RESPONSE,
            "JSON has an unexpected character",
            "",
            0),
        // P24
        failed(
            "no token at all",
            sse(ChatChunks.role(), STOP, "[DONE]"),
            RequestStatus.EMPTY,
            "stream ended well but held no token",
            "",
            0),
        complete("one token", sse(A, STOP, "[DONE]"), "a", 1),
        complete("CRLF, then [DONE]", (RESPONSE + DONE).replace("\n", "\r\n"), "ab", 2)
            .of(Api.RESPONSES),
        complete("no event lines", RESPONSE.replaceAll("event: .*\n", ""), "ab", 2)
            .of(Api.RESPONSES),
        failed(
                "no terminal event",
                RESPONSE.substring(0, RESPONSE.indexOf("event: response.completed")),
                RequestStatus.TRUNCATED,
                "stream ended without response.completed",
                "ab",
                2)
            .of(Api.RESPONSES),
        failed(
                "[DONE] is no terminal event",
                RESPONSE.substring(0, RESPONSE.indexOf("event: response.completed")) + DONE,
                RequestStatus.TRUNCATED,
                "stream ended without response.completed",
                "ab",
                2)
            .of(Api.RESPONSES),
        failed(
                "failed",
                RESPONSE.replace(
                    "'response.completed','response':{",
                    "'response.failed','response':{'error':{'message':'broke'},"),
                RequestStatus.IN_STREAM_ERROR,
                "broke",
                "ab",
                2)
            .of(Api.RESPONSES),
        failed(
                "no token",
                RESPONSE.substring(RESPONSE.indexOf("event: response.completed")),
                RequestStatus.EMPTY,
                "stream ended well but held no token",
                "",
                0)
            .of(Api.RESPONSES),
        new Row("data after the end", RESPONSE + RESPONSE, RequestStatus.COMPLETE, null, "ab", 2, 3)
            .of(Api.RESPONSES),
        complete("ping and unknown events", MESSAGE, "ab", 2).of(Api.MESSAGES),
        failed(
                "stop reason, no message_stop",
                MESSAGE.substring(0, MESSAGE.indexOf("event: message_stop")),
                RequestStatus.TRUNCATED,
                "stream ended without message_stop",
                "ab",
                2)
            .of(Api.MESSAGES),
        failed(
                "error after tokens",
                MESSAGE.substring(0, MESSAGE.indexOf("event: message_delta"))
                    + event("error", "'error':{'type':'overloaded_error','message':'Overloaded'}"),
                RequestStatus.IN_STREAM_ERROR,
                "Overloaded",
                "ab",
                2)
            .of(Api.MESSAGES));
  }

  private static String event(String type, String fields) {
    return "event: " + type + "\ndata: {'type':'" + type + "'," + fields + "}\n\n";
  }

  @ParameterizedTest
  @MethodSource("rows")
  void inOneChunk(Row row) throws Exception {
    try (ScriptedServer server =
        ScriptedServer.start(
            x -> {
              x.startStream();
              if (!row.body().isEmpty()) {
                x.chunk(row.body());
              }
              x.lastChunk();
            })) {
      Ended ended = client.post(server.baseUrl()).api(row.api()).ended();
      check(row, ended);
      // P5: what one read brings shares one instant
      assertThat(ended.events().coalesced()).isEqualTo(Math.max(0, row.tokenEvents() - 1));
      assertThat(ended.timing().tpotNanos()).isNull();
      assertThat(server.posts()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @MethodSource("rows")
  void oneChunkPerByte(Row row) throws Exception {
    ByteArrayOutputStream chunks = new ByteArrayOutputStream();
    for (byte b : row.body().getBytes(UTF_8)) {
      chunks.writeBytes(new byte[] {'1', '\r', '\n', b, '\r', '\n'});
    }
    try (ScriptedServer server =
        ScriptedServer.start(x -> x.startStream().send(chunks.toByteArray()).lastChunk())) {
      check(row, client.post(server.baseUrl()).api(row.api()).ended());
    }
  }

  @ParameterizedTest
  @MethodSource("rows")
  void underAWrongContentType(Row row) throws Exception {
    if (row.body().isEmpty()) {
      return;
    }
    try (ScriptedServer server =
        ScriptedServer.start(
            x -> {
              x.sendHeaders(200, "Content-Type: text/plain", "Transfer-Encoding: chunked");
              byte[] bytes = row.body().getBytes(UTF_8);
              for (int i = 0; i < Math.min(8, bytes.length); i++) {
                x.chunk(new byte[] {bytes[i]});
              }
              x.chunk(Arrays.copyOfRange(bytes, Math.min(8, bytes.length), bytes.length));
              x.lastChunk();
            })) {
      check(row, client.post(server.baseUrl()).api(row.api()).ended());
    }
  }

  private static void check(Row row, Ended ended) {
    assertThat(ended.status()).isEqualTo(row.status());
    assertThat(ended.error()).isEqualTo(row.error());
    assertThat(ended.httpStatus()).isEqualTo(200);
    assertThat(ended.text()).isEqualTo(row.text());
    assertThat(ended.events().count()).isEqualTo(row.tokenEvents());
    assertThat(ended.events().late()).isEqualTo(row.late());
    assertThat(ended.timing().ttftNanos() == null).isEqualTo(row.tokenEvents() == 0);
    assertThat(ended.timing().latencyNanos() == null).isEqualTo(row.tokenEvents() == 0);
    if (row.tokenEvents() < 2) {
      assertThat(ended.timing().tpotNanos()).isNull();
    }
  }
}
