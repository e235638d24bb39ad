package io.github.gatlingllm.client;

import static io.github.gatlingllm.record.RequestStatus.COMPLETE;
import static io.github.gatlingllm.testing.ChatChunks.withUsage;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.client.LocalClient.Ended;
import io.github.gatlingllm.client.LocalClient.Sent;
import io.github.gatlingllm.record.RequestRecord.Events;
import io.github.gatlingllm.record.RequestRecord.Timing;
import io.github.gatlingllm.record.RequestRecord.TokenSource;
import io.github.gatlingllm.record.RequestRecord.Tokens;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.Exchange;
import io.github.gatlingllm.testing.ScriptedServer;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Answers that a server sends at known instants, and each figure they must give, exactly: the clock
 * of the client goes on by a step just before each write of the server, and at no other time.
 */
@Timeout(120)
final class KnownAnswersIT {

  private static final long STEP = 20_000_000;
  private static final String DONE = "[DONE]";

  @RegisterExtension private final LocalClient client = new LocalClient();

  /**
   * One answer: the data of each event written, which of them hold tokens (from 0), which is the
   * first that holds more than reasoning, and the tokens of each token event (empty: not known).
   */
  private record Row(
      Api api,
      String name,
      List<String> writes,
      List<Integer> tokenWrites,
      int firstOutput,
      List<Integer> eventTokens,
      TokenSource source) {

    /** One token per event, none reasoning alone; single quotes are double ones. */
    static Row of(
        Api api, String name, TokenSource source, List<Integer> tokenWrites, String... writes) {
      List<String> json = Stream.of(writes).map(write -> write.replace('\'', '"')).toList();
      return new Row(api, name, json, tokenWrites, tokenWrites.get(0), List.of(), source);
    }

    Row firstOutput(int write) {
      return new Row(api, name, writes, tokenWrites, write, eventTokens, source);
    }

    Row eventTokens(Integer... tokens) {
      return new Row(api, name, writes, tokenWrites, firstOutput, List.of(tokens), source);
    }

    int n() {
      return eventTokens.isEmpty()
          ? tokenWrites.size()
          : eventTokens.stream().mapToInt(count -> count).sum();
    }

    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Row> rows() {
    String a = ChatChunks.content("a");
    String b = ChatChunks.content("b");
    String role = ChatChunks.role();
    String stop = ChatChunks.finish("stop");
    String usage2 = ChatChunks.usage(9, 2);
    TokenSource usage = TokenSource.USAGE;
    return Stream.of(
        chat("usage at the end", usage, List.of(1, 2), role, a, b, stop, usage2, DONE),
        chat("usage in the finish chunk", usage, List.of(1, 2), role, a, b, withUsage(stop, 9, 2)),
        chat(
                "usage in every chunk",
                usage,
                List.of(1, 2),
                withUsage(role, 9, 0),
                withUsage(a, 9, 3),
                withUsage(b, 9, 7),
                withUsage(stop, 9, 7),
                DONE)
            .eventTokens(3, 4),
        chat("no usage", TokenSource.TOKENIZER, List.of(1, 2), role, a, b, stop, DONE),
        chat(
            "completions",
            usage,
            List.of(0, 1),
            "{'choices':[{'text':'a'}]}",
            "{'choices':[{'text':'b','finish_reason':'length'}]}",
            usage2),
        chat(
                "reasoning",
                usage,
                List.of(0, 1, 2),
                ChatChunks.reasoning("x"),
                ChatChunks.reasoning("y"),
                a,
                stop,
                ChatChunks.usage(9, 3))
            .firstOutput(2),
        chat(
            "tool call",
            usage,
            List.of(1, 2, 3),
            role,
            tool("{'name':'f'}"),
            tool("{'arguments':'{'}"),
            tool("{'arguments':'}'}"),
            ChatChunks.finish("tool_calls"),
            ChatChunks.usage(9, 3)),
        Row.of(
            Api.RESPONSES,
            "responses",
            usage,
            List.of(2, 3, 4),
            "{'type':'response.created','response':{'status':'in_progress','usage':null}}",
            "{'type':'response.output_item.added','item':{'type':'message','content':[]}}",
            text("a"),
            text("b"),
            text("c"),
            "{'type':'response.output_text.done','text':'abc'}",
            completed(3)),
        Row.of(
                Api.RESPONSES,
                "responses, reasoning and a tool call",
                usage,
                List.of(0, 1, 2, 3),
                "{'type':'response.reasoning_text.delta','delta':'x'}",
                "{'type':'response.reasoning_text.delta','delta':'y'}",
                "{'type':'response.output_item.added','output_index':1,"
                    + "'item':{'type':'function_call','call_id':'c','name':'f','arguments':''}}",
                "{'type':'response.function_call_arguments.delta','output_index':1,'delta':'{}'}",
                completed(4))
            .firstOutput(2),
        Row.of(
                Api.MESSAGES,
                "messages",
                usage,
                List.of(3, 5, 6),
                "{'type':'message_start','message':{'usage':{'input_tokens':9,'output_tokens':1}}}",
                "{'type':'content_block_start','index':0,"
                    + "'content_block':{'type':'thinking','thinking':''}}",
                "{'type':'ping'}",
                block("thinking", "x"),
                "{'type':'content_block_stop','index':0}",
                block("text", "a"),
                block("text", "b"),
                "{'type':'message_delta','delta':{'stop_reason':'end_turn'},"
                    + "'usage':{'output_tokens':3}}",
                "{'type':'message_stop'}")
            .firstOutput(5));
  }

  private static Row chat(
      String name, TokenSource source, List<Integer> tokenWrites, String... writes) {
    return Row.of(Api.CHAT, name, source, tokenWrites, writes);
  }

  private static String text(String delta) {
    return "{'type':'response.output_text.delta','output_index':0,'delta':'" + delta + "'}";
  }

  private static String completed(int tokens) {
    return "{'type':'response.completed','response':{'status':'completed','usage':"
        + "{'input_tokens':9,'output_tokens':%d}}}".formatted(tokens);
  }

  private static String block(String kind, String text) {
    return "{'type':'content_block_delta','index':0,'delta':{'type':'%s_delta','%s':'%s'}}"
        .formatted(kind, kind, text);
  }

  private final HeldTime time = new HeldTime(client);

  /** A step later; the next write waits until the client has read this one. */
  private void send(Exchange server, String text) throws IOException {
    time.pass(STEP / 1_000_000);
    time.awaitAsked(() -> server.send(text));
  }

  private void headers(Exchange server, String type, String framing) throws IOException {
    send(server, "HTTP/1.1 200 OK\r\nContent-Type: " + type + "\r\n" + framing + "\r\n\r\n");
  }

  @ParameterizedTest
  @MethodSource("rows")
  void streamed(Row row) throws Exception {
    Ended ended =
        client.answeredBy(
            x -> {
              headers(x, "text/event-stream", "Transfer-Encoding: chunked");
              for (String write : row.writes()) {
                String event = "data: " + write + "\n\n";
                send(x, Integer.toHexString(event.length()) + "\r\n" + event + "\r\n");
              }
              send(x, "0\r\n\r\n");
            },
            call -> call.api(row.api()).held(time));
    ended.assertEnded(COMPLETE, null);

    Timing timing = ended.timing();
    Events events = ended.events();
    int tokenEvents = row.tokenWrites().size();
    assertThat(timing.connectNanos()).isZero();
    assertThat(timing.headersNanos()).isEqualTo(at(-1));
    assertThat(timing.firstEventNanos()).isEqualTo(at(0));
    assertThat(timing.ttftNanos()).isEqualTo(at(row.tokenWrites().get(0)));
    assertThat(timing.ttfoNanos()).isEqualTo(at(row.firstOutput()));
    assertThat(timing.latencyNanos()).isEqualTo(at(row.tokenWrites().get(tokenEvents - 1)));
    assertThat(timing.closedNanos()).isEqualTo(at(row.writes().size()));

    assertThat(events.count()).isEqualTo(tokenEvents);
    for (int i = 0; i < tokenEvents; i++) {
      assertThat(events.offsetsMicros()[i] * 1_000L).isEqualTo(at(row.tokenWrites().get(i)));
    }
    assertThat(Arrays.stream(events.tokens()).boxed().toList()).isEqualTo(row.eventTokens());
    assertThat(events.done())
        .isEqualTo(row.writes().contains(DONE) || row.api().terminalEvent() != null);

    Tokens tokens = ended.tokens();
    assertThat(tokens.streamedTokens()).isEqualTo(row.n());
    assertThat(tokens.source()).isEqualTo(row.source());
    assertThat(tokens.estimated()).isEqualTo(row.source() != TokenSource.USAGE);
    assertThat(tokens.promptTokens()).isEqualTo(row.source() == TokenSource.USAGE ? 9 : null);
    double span = timing.latencyNanos() - timing.ttftNanos();
    int taken = row.eventTokens().isEmpty() ? 1 : row.eventTokens().get(0);
    assertThat(timing.tpotNanos()).isEqualTo(span / (row.n() - taken));
  }

  /** When that write was sent, from the first event on; the headers are the one before. */
  private static long at(int write) {
    return (write + 2) * STEP;
  }

  /** Also where a stream was asked for and the server ignores that: no first token is made up. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void oneBody(boolean isStreamAskedFor) throws Exception {
    String body =
        "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"abc\"},"
            + "\"finish_reason\":\"stop\"}],"
            + "\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3}}";
    Ended ended =
        client.answeredBy(
            x -> {
              headers(x, "application/json", "Content-Length: " + body.length());
              send(x, body.substring(0, 10));
              send(x, body.substring(10));
            },
            call -> (isStreamAskedFor ? call : call.notStreamed()).held(time));
    ended.assertEnded(COMPLETE, null);
    assertThat(ended.text()).isEqualTo("abc");
    assertThat(ended.timing().headersNanos()).isEqualTo(at(-1));
    assertThat(ended.timing().latencyNanos()).isEqualTo(at(1));
    assertThat(ended.timing().ttftNanos()).isNull();
    assertThat(ended.timing().ttfoNanos()).isNull();
    assertThat(ended.timing().tpotNanos()).isNull();
    assertThat(ended.events().count()).isZero();
    assertThat(ended.tokens().streamedTokens()).isEqualTo(3);
  }

  /** P5: three HTTP chunks in one write are one read. */
  @Test
  void chunksOfOneReadShareOneTimestamp() throws Exception {
    String event = "data: " + ChatChunks.content("a") + "\n\n";
    CountDownLatch seen = new CountDownLatch(1);
    String chunk = Integer.toHexString(event.length()) + "\r\n" + event + "\r\n";
    ScriptedServer server =
        client.serve(
            x ->
                x.startStream()
                    .send(chunk.repeat(3))
                    .await(seen)
                    .send(chunk.repeat(2))
                    .done()
                    .lastChunk());
    Sent sent = client.post(server.baseUrl()).send();
    sent.await(exchange -> exchange.timeline().count() == 3);
    seen.countDown();
    Events events = sent.ended().events();
    int[] at = events.offsetsMicros();
    assertThat(at).hasSize(5);
    assertThat(at[1]).isEqualTo(at[0]);
    assertThat(at[2]).isEqualTo(at[0]);
    assertThat(at[3]).isGreaterThan(at[0]);
    assertThat(at[4]).isEqualTo(at[3]);
    assertThat(events.coalesced()).isEqualTo(3);
  }

  private static String tool(String function) {
    return ChatChunks.chunk(
        "{\"tool_calls\":[{\"index\":0,\"function\":" + function + "}]}", "null");
  }
}
