package io.github.gatlingllm.client;

import static io.github.gatlingllm.record.RequestStatus.COMPLETE;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.client.LocalClient.Ended;
import io.github.gatlingllm.client.LocalClient.Sent;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.Exchange;
import io.github.gatlingllm.testing.ScriptedServer;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Where an answer ends whose body does not: servers that leave it open, that cut it, or that state
 * the end in other words.
 */
class OpenEndIT {

  private static final long MS = 1_000_000;
  private static final int IDLE = 5_000;

  private static final String STREAM =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

  private static final String FAILED = "{\"error\":{\"message\":\"out of memory\",\"code\":500}}";

  /** What a server sends, by its name in the tables; a number is a time in ms that passes. */
  private static final Map<String, String> PIECES =
      Map.ofEntries(
          Map.entry("END", "0\r\n\r\n"),
          Map.entry("CUT", ""),
          Map.entry("A", chunk("{'content':'a'}", "null")),
          Map.entry("STOP", chunk("{}", "'stop'")),
          Map.entry("A-of-2nd", ofSecond("{'content':'b'}", "null")),
          Map.entry("STOP-of-2nd", ofSecond("{}", "'stop'")),
          Map.entry("A+STOP", chunk("{'content':'a'}", "'stop'")),
          Map.entry("A+EMPTY", chunk("{'content':'a'}", "''")),
          Map.entry("ABORT", chunk("{}", "'abort'")),
          Map.entry("CANCELLED", chunk("{}", "'CANCELLED'")),
          Map.entry("ERROR", chunk("{}", "'error'")),
          Map.entry("QUOTA", chunk("{}", "'quota'")),
          Map.entry("{ABORT}", chunk("{}", "{'type':'abort','message':'preempted'}")),
          Map.entry("{LENGTH}", chunk("{}", "{'type':'length','length':64}")),
          Map.entry("USAGE", data("{'usage':{'prompt_tokens':3,'completion_tokens':1}}")),
          Map.entry("DONE", "data: [DONE]\n\n"),
          Map.entry("BEAT", ": heartbeat\n\n"),
          Map.entry("OOM", "data: " + FAILED + "\n\n"),
          Map.entry("QUOTA-429", data("{'error':{'message':'slow','code':429}}")),
          Map.entry(
              "EXHAUSTED", data("{'error':{'message':'slow','status':'RESOURCE_EXHAUSTED'}}")),
          Map.entry(
              "UPSTREAM",
              data(
                  "{'error':{'message':'Provider error','code':429,"
                      + "'metadata':{'raw':'try again in 7 s'}}}")),
          Map.entry(
              "limited",
              data("{'type':'error','error':{'type':'rate_limit_error','message':'slow'}}")),
          Map.entry(
              "error-limited",
              typed("error", "'error':{'type':'rate_limit_error','message':'slow'}")),
          Map.entry("error:OOM", "error: " + FAILED + "\n\n"),
          Map.entry("bareOOM", FAILED),
          Map.entry("prettyOOM", FAILED.replace(",", ",\n  ") + "\n\n"),
          Map.entry("ONE_BODY", ChatChunks.body("a")),
          Map.entry(
              "RESPONSE",
              ("{'object':'response','status':'completed',"
                      + "'output':[{'type':'message','content':[{'text':'a'}]}]}")
                  .replace('\'', '"')),
          Map.entry(
              "MESSAGE",
              "{'type':'message','stop_reason':'end_turn','content':[{'type':'text','text':'a'}]}"
                  .replace('\'', '"')),
          Map.entry("{CANCELLED}", chunk("{}", "{'reason':'CANCELLED'}")),
          Map.entry("A\\n", chunk("{'content':'a'}", "null").strip() + "\n"),
          Map.entry("DONE\\n", "data: [DONE]\n"),
          Map.entry("A-in-lines", chunk("{'content':'a'}", "null").replace(":[", ":\ndata: [")),
          Map.entry("TIMED-OUT", "upstream timed out\n"),
          Map.entry("PAGE", "<html>no</html>"),
          Map.entry("FIELDS", "id: 7\nretry: 5\n: c\nid"),
          Map.entry(
              "text", typed("content_block_delta", "'delta':{'type':'text_delta','text':'a'}")),
          Map.entry("end_turn", typed("message_delta", "'delta':{'stop_reason':'end_turn'}")),
          Map.entry("message_stop", typed("message_stop", "'index':0")),
          Map.entry("error", "event: error\n\n"),
          Map.entry("overloaded", data("{'type':'error','error':{'message':'overloaded'}}")),
          Map.entry("delta", typed("response.output_text.delta", "'delta':'a'")),
          Map.entry("completed", typed("response.completed", "'response':{'status':'completed'}")),
          Map.entry(
              "failed",
              typed(
                  "response.failed",
                  "'response':{'status':'failed','error':{'message':'no GPU'}}")),
          Map.entry("cancelled", typed("response.cancelled", "'response':{'status':'cancelled'}")));

  private static String data(String json) {
    return "data: " + json.replace('\'', '"') + "\n\n";
  }

  private static String chunk(String delta, String finish) {
    return data("{'choices':[{'index':0,'delta':%s,'finish_reason':%s}]}".formatted(delta, finish));
  }

  /** Of the second of several choices, as with {@code n=2}. */
  private static String ofSecond(String delta, String finish) {
    return chunk(delta, finish).replace("\"index\":0", "\"index\":1");
  }

  private static String typed(String type, String fields) {
    return "event: %s\n%s".formatted(type, data("{'type':'" + type + "'," + fields + "}"));
  }

  private static final Map<String, String> ERRORS =
      Map.ofEntries(
          Map.entry("-", ""),
          Map.entry("idle", Sentence.text("too_late", "byte", 5_000L)),
          Map.entry("oom", "out of memory (500)"),
          Map.entry("slow-429", "slow (429)"),
          Map.entry("slow", "slow (RESOURCE_EXHAUSTED)"),
          Map.entry("slow-type", "slow (rate_limit_error)"),
          Map.entry("upstream", "Provider error (429): try again in 7 s"),
          Map.entry("no-gpu", "no GPU"),
          Map.entry("overloaded", "overloaded"),
          Map.entry("no-message", Sentence.text("server_error", null, null)),
          Map.entry("r-cancelled", Sentence.text("server_error", null, "response.cancelled")),
          Map.entry("abort", Sentence.text("server_error", "abort", null)),
          Map.entry("CANCELLED", Sentence.text("server_error", "CANCELLED", null)),
          Map.entry("error", Sentence.text("server_error", "error", null)),
          Map.entry("unfinished", LocalClient.UNFINISHED),
          Map.entry("no-event", Sentence.text("truncated", "no_event", null)),
          Map.entry(
              "text",
              Sentence.text(
                  "beside_events",
                  Sentence.of("truncated", "no_event", null),
                  "upstream timed out")),
          Map.entry(
              "page",
              Sentence.text(
                  "beside_events", Sentence.of("truncated", "no_event", null), "<html>no</html>")),
          Map.entry(
              "text-done",
              Sentence.text("beside_events", Sentence.of("no_token", true), "upstream timed out")),
          Map.entry("no-blank", Sentence.text("malformed", "no_blank_line", null)));

  /** API, status, error, end of the request in ms, whether it was left open: steps. */
  private static final String TABLE =
      """
      chat complete - 100 no: 100 A STOP DONE END
      chat complete - 300 no: 100 A STOP DONE 200 END
      chat complete - 100 open: 100 A STOP USAGE DONE 250 5
      chat complete - 100 open: 100 A STOP DONE 200 BEAT 50 5
      chat complete - 100 open: 100 A STOP USAGE 1500 5
      chat complete - 100 open: 100 A STOP USAGE 1000 BEAT 500 5
      chat complete - 1100 open: 100 A STOP 1000 USAGE 1500 5
      chat complete - 100 open: 100 A STOP 1500 5
      chat stalled idle 5605 no: 100 A STOP 500 A 5000 5
      chat complete - 600 open: 100 A STOP 500 A DONE 250 5
      chat in_stream_error oom 100 open: 100 A OOM 250 5
      chat complete - 140 open: 100 A A-of-2nd STOP 40 STOP-of-2nd 1500 5
      chat complete - 140 open: 100 A A-of-2nd STOP-of-2nd 40 STOP USAGE DONE 250 5
      chat stalled idle 5105 no: 100 A A-of-2nd STOP 5000 5
      chat truncated unfinished 100 no: 100 A A-of-2nd STOP CUT
      messages complete - 100 open: 100 text message_stop 250 5
      messages complete - 100 open: 100 text end_turn 1500 5
      responses complete - 100 open: 100 delta completed 250 5
      responses in_stream_error no-gpu 100 open: 100 failed 250 5

      chat rate_limited slow-429 100 no: 100 BEAT QUOTA-429 DONE END
      chat rate_limited slow-429 100 open: 100 A QUOTA-429 250 5
      chat rate_limited slow 100 no: 100 EXHAUSTED END
      chat rate_limited upstream 100 no: 100 UPSTREAM END
      messages rate_limited slow-type 100 no: 100 limited END
      messages rate_limited slow-type 100 no: 100 error-limited END

      chat in_stream_error abort 100 no: 100 A ABORT DONE END
      chat in_stream_error CANCELLED 100 no: 100 A CANCELLED DONE END
      chat in_stream_error error 100 open: 100 A ERROR 1500 5
      chat in_stream_error abort 100 no: 100 A {ABORT} DONE END
      chat in_stream_error CANCELLED 100 no: 100 A {CANCELLED} DONE END
      chat complete - 100 no: 100 A {LENGTH} DONE END
      chat complete - 100 no: 100 A QUOTA DONE END
      chat truncated unfinished 100 no: 100 A QUOTA CUT
      chat complete - 140 no: 100 A+STOP 40 A+STOP USAGE DONE END
      chat complete - 140 no: 100 A+STOP 40 A+STOP END
      chat truncated unfinished 140 no: 100 A+STOP 40 A+STOP CUT
      chat truncated unfinished 140 no: 100 A+EMPTY 40 A+EMPTY CUT
      chat complete - 100 no: 100 A STOP CUT
      responses in_stream_error r-cancelled 100 no: 100 delta cancelled END

      chat in_stream_error oom 100 no: 100 error:OOM DONE END
      chat in_stream_error oom 100 no: 100 A A error:OOM DONE END
      chat in_stream_error oom 100 no: 100 bareOOM END
      chat in_stream_error oom 100 no: 100 prettyOOM END
      chat in_stream_error oom 100 no: 100 A prettyOOM CUT
      chat complete - 100 no: 100 ONE_BODY END
      chat in_stream_error oom 100 open: 100 bareOOM 1500 5
      chat in_stream_error oom 100 open: 100 prettyOOM 1500 5
      chat complete - 100 open: 100 ONE_BODY 1500 5
      responses complete - 100 no: 100 RESPONSE END
      responses complete - 100 open: 100 RESPONSE 1500 5
      messages complete - 100 no: 100 MESSAGE END
      chat invalid_response no-blank 140 no: 100 A\\n 40 A\\n DONE\\n END
      chat complete - 100 no: 100 A-in-lines STOP DONE END
      chat truncated text 100 no: 100 TIMED-OUT END
      chat empty text-done 100 no: 100 TIMED-OUT DONE END
      chat truncated page 100 no: 100 PAGE END
      chat truncated no-event 100 no: 100 FIELDS END
      messages in_stream_error overloaded 100 no: 100 error overloaded END
      messages in_stream_error overloaded 100 no: 100 error END-OF-READ overloaded END
      messages in_stream_error no-message 100 no: 100 error END
      """;

  @RegisterExtension private final LocalClient client = new LocalClient();

  static List<String> endings() {
    return TABLE.lines().filter(line -> !line.isBlank()).toList();
  }

  @ParameterizedTest
  @MethodSource("endings")
  void answerEnds(String row) throws Exception {
    String[] expected = row.split(": ", 2)[0].split(" ", -1);
    ManualTime time = new ManualTime(client);
    BlockingQueue<String> writes = new LinkedBlockingQueue<>();
    Sent sent = send(time, writes, Api.of(expected[0]));
    time.awaitReading(() -> writes.add(STREAM));
    StringBuilder read = new StringBuilder();
    for (String step : row.split(": ", 2)[1].split(" ", -1)) {
      if (Character.isDigit(step.charAt(0))) {
        flush(time, writes, read);
        time.pass(Integer.parseInt(step));
      } else if (step.equals("END-OF-READ")) {
        flush(time, writes, read);
      } else if (step.equals("END") || step.equals("CUT")) {
        flush(time, writes, read);
        writes.add(PIECES.get(step));
      } else {
        read.append(PIECES.get(step));
      }
    }
    flush(time, writes, read);

    String error = ERRORS.get(expected[2]);
    Ended ended =
        sent.ended()
            .assertEnded(
                Arrays.stream(RequestStatus.values())
                    .filter(status -> status.key().equals(expected[1]))
                    .findFirst()
                    .orElseThrow(),
                error.isEmpty() ? null : error);

    assertThat(ended.timing().closedNanos()).isEqualTo(Integer.parseInt(expected[3]) * MS);
    assertThat(ended.exchange().wasLeftOpen()).isEqualTo(expected[4].equals("open"));
    if (ended.status() == COMPLETE) {
      assertThat(ended.timing().latencyNanos()).isNotNull();
    }
    writes.add("");
  }

  private Sent send(ManualTime time, BlockingQueue<String> writes, Api api) throws Exception {
    ScriptedServer server = client.serve(exchange -> talk(exchange, writes));
    Sent sent =
        client.post(server.baseUrl()).api(api).manualTime(time).idleTimeoutMillis(IDLE).send();
    client.awaitPosts(server, 1);
    return sent;
  }

  /** Pieces that come in one read, as one chunk. */
  private static void flush(ManualTime time, BlockingQueue<String> writes, StringBuilder read)
      throws Exception {
    if (!read.isEmpty()) {
      String chunk = Integer.toHexString(read.length()) + "\r\n" + read + "\r\n";
      read.setLength(0);
      time.awaitReading(() -> writes.add(chunk));
    }
  }

  /** Sends each text; an empty text closes the connection. */
  private static void talk(Exchange exchange, BlockingQueue<String> writes)
      throws IOException, InterruptedException {
    for (String next = writes.take(); !next.isEmpty(); next = writes.take()) {
      exchange.send(next);
    }
    exchange.close();
  }

  /** Bodies that are complete before their Content-Length: status line, error, body. */
  static List<List<String>> bodies() {
    return List.of(
        List.of("500 No", "HTTP 500: out of memory", FAILED),
        List.of("429 No", "HTTP 429: out of memory", FAILED),
        List.of("502 No", "HTTP 502: Bad", "<html><title>Bad</title></HTML>\n"),
        List.of("200 OK", "", ChatChunks.body("a")));
  }

  @ParameterizedTest
  @MethodSource("bodies")
  void completeBodyThatIsLeftOpenEnds(List<String> row) throws Exception {
    ManualTime time = new ManualTime(client);
    BlockingQueue<String> writes = new LinkedBlockingQueue<>();
    Sent sent = send(time, writes, Api.CHAT);
    String head = "HTTP/1.1 " + row.get(0) + "\r\nContent-Length: 9999\r\n\r\n";
    time.awaitReading(() -> writes.add(head + row.get(2)));
    time.pass(1_500);
    time.pass(5);

    Ended ended = sent.ended();

    assertThat(ended.error()).isEqualTo(row.get(1).isEmpty() ? null : row.get(1));
    assertThat(ended.exchange().wasLeftOpen()).isTrue();
    assertThat(ended.timing().closedNanos()).isZero();
    writes.add("");
  }

  /** What was flushed is the answer, though neither its compression nor its body is ended. */
  @Test
  void compressedAnswerThatIsLeftOpenEnds() throws Exception {
    byte[] flushed =
        HostileServersIT.flushed(PIECES.get("A") + PIECES.get("STOP") + PIECES.get("DONE"));
    ScriptedServer server =
        client.serve(
            exchange -> {
              exchange
                  .sendHeaders(
                      200,
                      "Content-Type: text/event-stream",
                      "Content-Encoding: gzip",
                      "Transfer-Encoding: chunked")
                  .chunk(flushed);
              exchange.awaitClientClose();
            });
    Ended ended = client.post(server.baseUrl()).ended();
    ended.assertEnded(COMPLETE, null);
    assertThat(ended.text()).isEqualTo("a");
    assertThat(ended.exchange().wasLeftOpen()).isTrue();
  }

  @Test
  void connectionOfAnAnswerThatWasLeftOpenIsNotUsedAgain() throws Exception {
    ManualTime time = new ManualTime(client);
    ScriptedServer server = client.serve(LocalClient.AFTER_DONE, LocalClient.ONE_BODY);
    Sent first = client.post(server.baseUrl()).manualTime(time).send();
    first.awaitOver();
    time.pass(250);
    time.pass(5);
    first.ended().assertEnded(COMPLETE, null);
    client.post(server.baseUrl()).ended().assertEnded(COMPLETE, null);
    assertThat(server.connections()).isEqualTo(2);
  }
}
