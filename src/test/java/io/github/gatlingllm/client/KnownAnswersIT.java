package io.github.gatlingllm.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.client.LocalClient.Ended;
import io.github.gatlingllm.client.LocalClient.Sent;
import io.github.gatlingllm.record.RequestRecord.Events;
import io.github.gatlingllm.record.RequestRecord.Timing;
import io.github.gatlingllm.record.RequestRecord.TokenSource;
import io.github.gatlingllm.record.RequestRecord.Tokens;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.ScriptedServer;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Answers that a server sends at known instants, and each figure they must give. Both sides read
 * one clock: no figure may be earlier than the write it belongs to, and none later than that write
 * by more than {@link #LATE_NANOS}, which is wide because test machines stall.
 */
@Timeout(60)
final class KnownAnswersIT {

  private static final long MS = 1_000_000;
  private static final long LATE_NANOS = 250 * MS;

  /** The n-th write after the headers is sent n times this after the request. */
  private static final long STEP = 20 * MS;

  private LocalClient client;

  @BeforeEach
  void start() throws Exception {
    client = new LocalClient();
  }

  @AfterEach
  void stop() {
    client.close();
  }

  /**
   * One answer.
   *
   * @param writes the data of one event each
   * @param tokenWrites which writes hold tokens, from 0
   * @param firstOutput the first write that holds more than reasoning; null for none
   * @param eventTokens tokens of each token event; empty where not known
   * @param n N of the metrics
   * @param taken what is taken off N for TPOT
   */
  private record Row(
      String name,
      List<String> writes,
      List<Integer> tokenWrites,
      @Nullable Integer firstOutput,
      List<Integer> eventTokens,
      @Nullable Integer n,
      int taken,
      TokenSource source) {
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
    return Stream.of(
        new Row(
            "chat, usage in its own chunk",
            List.of(role, a, b, stop, usage2, "[DONE]"),
            List.of(1, 2),
            1,
            List.of(),
            2,
            1,
            TokenSource.USAGE),
        new Row(
            "chat, usage in the finish chunk",
            List.of(role, a, b, with(stop, 9, 2)),
            List.of(1, 2),
            1,
            List.of(),
            2,
            1,
            TokenSource.USAGE),
        new Row(
            "chat, usage in every chunk",
            List.of(with(role, 9, 0), with(a, 9, 3), with(b, 9, 7), with(stop, 9, 7), "[DONE]"),
            List.of(1, 2),
            1,
            List.of(3, 4),
            7,
            3,
            TokenSource.USAGE),
        new Row(
            "chat, usage under x_groq",
            List.of(
                a,
                b,
                stop.substring(0, stop.length() - 1)
                    + ",\"x_groq\":{\"usage\":"
                    + usage(9, 2)
                    + "}}"),
            List.of(0, 1),
            0,
            List.of(),
            2,
            1,
            TokenSource.USAGE),
        new Row(
            "chat, no usage",
            List.of(role, a, b, stop, "[DONE]"),
            List.of(1, 2),
            1,
            List.of(),
            2,
            1,
            TokenSource.TOKENIZER),
        new Row(
            "chat, usage of zeros",
            List.of(with(a, 0, 0), with(b, 0, 0), stop),
            List.of(0, 1),
            0,
            List.of(),
            2,
            1,
            TokenSource.TOKENIZER),
        new Row(
            "completions",
            List.of(
                "{\"choices\":[{\"text\":\"a\"}]}",
                "{\"choices\":[{\"text\":\"b\",\"finish_reason\":\"length\"}]}",
                usage2),
            List.of(0, 1),
            0,
            List.of(),
            2,
            1,
            TokenSource.USAGE),
        new Row(
            "reasoning",
            List.of(
                ChatChunks.reasoning("x"),
                ChatChunks.reasoning("y"),
                a,
                stop,
                ChatChunks.usage(9, 3)),
            List.of(0, 1, 2),
            2,
            List.of(),
            3,
            1,
            TokenSource.USAGE),
        new Row(
            "tool call",
            List.of(
                role,
                tool("{\"name\":\"f\"}"),
                tool("{\"arguments\":\"{\"}"),
                tool("{\"arguments\":\"}\"}"),
                ChatChunks.finish("tool_calls"),
                ChatChunks.usage(9, 3)),
            List.of(1, 2, 3),
            1,
            List.of(),
            3,
            1,
            TokenSource.USAGE),
        new Row(
            "one token",
            List.of(role, a, stop, ChatChunks.usage(9, 1)),
            List.of(1),
            1,
            List.of(),
            1,
            1,
            TokenSource.USAGE));
  }

  @ParameterizedTest
  @MethodSource("rows")
  void streamed(Row row) throws Exception {
    CountDownLatch sent = new CountDownLatch(1);
    try (ScriptedServer server =
        ScriptedServer.start(
            x -> {
              x.startStream();
              for (int i = 0; i < row.writes().size(); i++) {
                x.at((i + 1) * STEP).event(row.writes().get(i));
              }
              x.at((row.writes().size() + 1) * STEP).lastChunk();
              sent.countDown();
            })) {
      Ended ended = client.post(server.baseUrl()).ended();
      await(sent);
      assertThat(ended.status()).isEqualTo(RequestStatus.COMPLETE);

      Timing timing = ended.timing();
      Events events = ended.events();
      int tokenEvents = row.tokenWrites().size();
      assertSent(ended, server, -1, timing.headersNanos());
      assertSent(ended, server, 0, timing.firstEventNanos());
      assertSent(ended, server, row.tokenWrites().get(0), timing.ttftNanos());
      if (row.firstOutput() != null) {
        assertSent(ended, server, row.firstOutput(), timing.ttfoNanos());
      }
      assertSent(ended, server, row.tokenWrites().get(tokenEvents - 1), timing.latencyNanos());
      assertSent(ended, server, row.writes().size(), timing.closedNanos());
      assertThat(timing.connectNanos()).isPositive().isLessThan(timing.headersNanos());

      assertThat(events.count()).isEqualTo(tokenEvents);
      for (int i = 0; i < tokenEvents; i++) {
        long micros = events.offsetsMicros()[i];
        assertSent(ended, server, row.tokenWrites().get(i), (micros + 1) * 1_000);
      }
      assertThat(Arrays.stream(events.tokens()).boxed().toList()).isEqualTo(row.eventTokens());
      assertThat(events.done()).isEqualTo(row.writes().contains("[DONE]"));

      Tokens tokens = ended.tokens();
      assertThat(tokens.streamedTokens()).isEqualTo(row.n());
      assertThat(tokens.source()).isEqualTo(row.source());
      assertThat(tokens.estimated()).isEqualTo(row.source() != TokenSource.USAGE);
      assertThat(tokens.promptTokens()).isEqualTo(row.source() == TokenSource.USAGE ? 9 : null);
      if (tokenEvents == 1) {
        assertThat(timing.tpotNanos()).isNull();
      } else {
        double span = timing.latencyNanos() - timing.ttftNanos();
        // A client that stalls may find all events in one read.
        assertThat(timing.tpotNanos())
            .isEqualTo(span == 0 ? null : (Double) (span / (row.n() - row.taken())));
      }
    }
  }

  /** A write is in the server's list only after it: the client may be done before. */
  private static void await(CountDownLatch sent) throws InterruptedException {
    assertThat(sent.await(20, TimeUnit.SECONDS)).isTrue();
  }

  /** Writes count from the first event; the headers are the one before. */
  private static void assertSent(
      Ended ended, ScriptedServer server, int write, @Nullable Long sinceAdmitted) {
    assertThat(sinceAdmitted).isNotNull();
    long sent = server.exchanges().get(0).sends().get(write + 1).beforeNanos();
    assertThat(ended.admittedNanos() + sinceAdmitted - sent).isBetween(0L, LATE_NANOS);
  }

  @Test
  void notStreamed() throws Exception {
    CountDownLatch sent = new CountDownLatch(1);
    String body =
        "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"abc\"},"
            + "\"finish_reason\":\"stop\"}],\"usage\":"
            + usage(9, 3)
            + "}";
    try (ScriptedServer server =
        ScriptedServer.start(
            x -> {
              x.sendHeaders(
                  200, "Content-Type: application/json", "Content-Length: " + body.length());
              x.at(STEP).send(body.substring(0, 10)).at(2 * STEP).send(body.substring(10));
              sent.countDown();
            })) {
      Ended ended = client.post(server.baseUrl()).whole().ended();
      await(sent);
      assertThat(ended.status()).isEqualTo(RequestStatus.COMPLETE);
      assertThat(ended.text()).isEqualTo("abc");
      assertSent(ended, server, -1, ended.timing().headersNanos());
      assertSent(ended, server, 1, ended.timing().latencyNanos());
      assertThat(ended.timing().ttftNanos()).isNull();
      assertThat(ended.timing().ttfoNanos()).isNull();
      assertThat(ended.timing().tpotNanos()).isNull();
      assertThat(ended.events().count()).isZero();
      assertThat(ended.tokens().streamedTokens()).isEqualTo(3);
    }
  }

  /** P4: an event is there when its last byte is. */
  @Test
  void anEventInTwoReadsHasTheInstantOfTheSecond() throws Exception {
    String event = "data: " + ChatChunks.content("a") + "\n\n";
    try (ScriptedServer server =
        ScriptedServer.start(
            x ->
                x.startStream()
                    .chunk(event.substring(0, 40))
                    .at(5 * STEP)
                    .chunk(event.substring(40))
                    .done()
                    .lastChunk())) {
      Ended ended = client.post(server.baseUrl()).ended();
      assertSent(ended, server, 1, ended.timing().ttftNanos());
      assertSent(ended, server, 1, ended.timing().firstEventNanos());
    }
  }

  /** P5: three HTTP chunks in one write are one read. */
  @Test
  void chunksThatCameInOneReadShareOneInstant() throws Exception {
    String event = "data: " + ChatChunks.content("a") + "\n\n";
    CountDownLatch seen = new CountDownLatch(1);
    String chunk = Integer.toHexString(event.length()) + "\r\n" + event + "\r\n";
    try (ScriptedServer server =
        ScriptedServer.start(
            x ->
                x.startStream()
                    .send(chunk.repeat(3))
                    .await(seen)
                    .send(chunk.repeat(2))
                    .done()
                    .lastChunk())) {
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
  }

  /** P11: timing per choice, tokens of all. */
  @Test
  void interleavedChoicesAreTimedApart() throws Exception {
    CountDownLatch seen = new CountDownLatch(1);
    try (ScriptedServer server =
        ScriptedServer.start(
            x ->
                x.startStream()
                    .event(choice(0, "a", "null"))
                    .event(choice(1, "x", "null"))
                    .await(seen)
                    .at(2 * STEP)
                    .event(choice(0, "b", "\"stop\""))
                    .at(3 * STEP)
                    .event(choice(1, "y", "\"stop\""))
                    .event(ChatChunks.usage(9, 4))
                    .lastChunk())) {
      Sent sent = client.post(server.baseUrl()).choices(2).send();
      sent.await(exchange -> exchange.timeline().count() == 2);
      seen.countDown();
      Ended ended = sent.ended();
      assertThat(ended.status()).isEqualTo(RequestStatus.COMPLETE);
      assertThat(ended.events().choices()).containsExactly(0, 1, 0, 1);
      int[] at = ended.events().offsetsMicros();
      double spans = (at[2] - at[0]) + (at[3] - at[1]);
      assertThat(ended.timing().tpotNanos() / 1_000).isCloseTo(spans / 2, within(2d));
      assertThat(ended.tokens().streamedTokens()).isEqualTo(4);
    }
  }

  private static String with(String chunk, int prompt, int completion) {
    return chunk.substring(0, chunk.length() - 1) + ",\"usage\":" + usage(prompt, completion) + "}";
  }

  private static String usage(int prompt, int completion) {
    return "{\"prompt_tokens\":" + prompt + ",\"completion_tokens\":" + completion + "}";
  }

  private static String tool(String function) {
    return ChatChunks.chunk(
        "{\"tool_calls\":[{\"index\":0,\"function\":" + function + "}]}", "null");
  }

  private static String choice(int index, String text, String finishReason) {
    return "{\"choices\":[{\"index\":"
        + index
        + ",\"delta\":{\"content\":\""
        + text
        + "\"},\"finish_reason\":"
        + finishReason
        + "}]}";
  }
}
