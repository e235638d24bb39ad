package io.github.gatlingllm.client;

import static io.github.gatlingllm.record.RequestStatus.COMPLETE;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.client.Api.Message;
import io.github.gatlingllm.client.LocalClient.Ended;
import io.github.gatlingllm.client.LocalClient.Sent;
import io.github.gatlingllm.record.RequestRecord.Events;
import io.github.gatlingllm.record.RequestRecord.Timing;
import io.github.gatlingllm.record.RequestRecord.Tokens;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.Exchange;
import io.github.gatlingllm.testing.ScriptedServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Answers that a server sends at known instants, in the forms of many servers, and each figure they
 * must give, exactly: the clock of the client goes on just before a write of the server, and at no
 * other time.
 */
@Timeout(120)
final class KnownAnswersIT {

  private static final long MS = 1_000_000;
  private static final Path TABLE = Path.of("src/test/resources/measured-answers.txt");

  /** {@code 3 words}, {@code 1..3 counts}, {@code 3× {}}, {@code 3 events {}}. */
  private static final Pattern SEVERAL =
      Pattern.compile("(\\d+)(?:\\.\\.(\\d+))?(× | words| counts| events )(.*)");

  @RegisterExtension private final LocalClient client = new LocalClient();
  private final ManualTime time = new ManualTime(client);

  static List<String> rows() throws IOException {
    return Files.readAllLines(TABLE).stream()
        .filter(row -> !row.isBlank() && !row.startsWith("#"))
        .toList();
  }

  @ParameterizedTest
  @MethodSource("rows")
  void answerIsMeasured(String row) throws Exception {
    String[] columns = row.split(" \\| ", 4);
    String[] apiAndChoices = columns[0].split("\\*", 2);
    GenerationRequest request =
        GenerationRequest.of(Api.of(apiAndChoices[0]))
            .message(Message.user("hi"))
            .prompt("hi")
            .maxTokens(4_000)
            .parameter("n", apiAndChoices.length == 1 ? 1 : Integer.valueOf(apiAndChoices[1]))
            .build();
    Ended ended =
        client.answeredBy(
            server -> {
              headers(server, "text/event-stream", "Transfer-Encoding: chunked");
              for (String step : columns[3].split(" ; ", -1)) {
                play(step, server);
              }
              server.lastChunk();
            },
            call -> call.request(request).manualTime(time));
    Tokens tokens = ended.exchange().answer().tokens();
    String usage =
        "usage %s %s %s %s"
            .formatted(
                tokens.promptTokens(),
                tokens.cachedTokens(),
                tokens.outputTokens(),
                tokens.reasoningTokens());
    String expected = columns[2];
    assertThat(
            expected.startsWith("usage")
                ? usage
                : measured(ended, tokens, expected.contains("usage") ? " " + usage : ""))
        .isEqualTo(expected);
  }

  /** The next write waits until the client has read this one. */
  private void send(Exchange server, String text) throws IOException {
    time.awaitReading(() -> server.send(text));
  }

  private void headers(Exchange server, String type, String framing) throws IOException {
    send(server, "HTTP/1.1 200 OK\r\nContent-Type: " + type + "\r\n" + framing + "\r\n\r\n");
  }

  private void chunk(Exchange server, String text) throws IOException {
    send(server, Integer.toHexString(text.length()) + "\r\n" + text + "\r\n");
  }

  private void event(Exchange server, String json) throws IOException {
    chunk(server, "data: " + json.replace('\'', '"') + "\n\n");
  }

  private void play(String step, Exchange server) throws IOException {
    Matcher several = SEVERAL.matcher(step);
    if (several.matches()) {
      int from = Integer.parseInt(several.group(1));
      boolean isCounted = several.group(2) != null;
      int to = isCounted ? Integer.parseInt(several.group(2)) : from;
      for (int i = isCounted ? from : 1; i <= to; i++) {
        time.pass(20);
        String json =
            switch (several.group(3)) {
              case " words" -> ChatChunks.content("word ");
              case " counts" -> ChatChunks.chunk("{}", "null");
              case "× " -> ChatChunks.chunk(several.group(4), "null");
              default -> several.group(4);
            };
        event(server, isCounted ? ChatChunks.withUsage(json, 12, i) : json);
      }
    } else if (step.matches("\\d+")) {
      time.pass(Long.parseLong(step));
    } else if (step.startsWith("\"")) {
      time.pass(20);
      event(server, ChatChunks.chunk("{'content':" + step + "}", "null"));
    } else if (step.startsWith("end")) {
      event(server, ChatChunks.finish("stop"));
      String counts = step.substring(3).strip().replaceFirst("^(?=\\d)", "'completion_tokens':");
      if (!counts.isEmpty()) {
        event(server, "{'choices':[],'usage':{'prompt_tokens':12," + counts + "}}");
      }
      event(server, "[DONE]");
    } else if (step.startsWith(":")) {
      chunk(server, step + "\n\n");
    } else {
      event(server, step);
    }
  }

  private static String measured(Ended ended, Tokens tokens, String usage) {
    Timing timing = ended.exchange().timeline().timing(0, null, tokens.streamedTokens());
    Events events = ended.events();
    boolean isEstimated =
        timing.tpotNanos() != null
            && events.firstEventTokens() == null
            && tokens.n() != null
            && tokens.n() > events.count();
    if (events.tokens().length > 0) {
      assertThat(Arrays.stream(events.tokens()).sum()).isEqualTo(tokens.n());
    }
    return "%s %s %s %s %s %s %s"
            .formatted(
                ended.status().key(),
                events.count(),
                tokens.n(),
                millis(timing.ttftNanos()),
                millis(timing.ttfoNanos()),
                timing.tpotNanos() == null ? null : "%.1f".formatted(timing.tpotNanos() / MS),
                runs(events.tokens()))
        + (events.tail() > 0 ? " tail " + events.tail() : "")
        + usage
        + (tokens.refused().isEmpty() ? "" : " refused " + tokens.refused())
        + (events.unknownFields().isEmpty() ? "" : " unknown " + events.unknownFields())
        + (ended.error() == null ? "" : " error " + ended.error())
        + (isEstimated ? " estimated" : "");
  }

  private static @Nullable Long millis(@Nullable Long nanos) {
    return nanos == null ? null : (Long) (nanos / MS);
  }

  /** Numbers in the form {@code 3, 2×1}: those that follow one another are counted. */
  private static String runs(int[] numbers) {
    StringBuilder all = new StringBuilder();
    for (int i = 0; i < numbers.length; ) {
      int same = i;
      while (same < numbers.length && numbers[same] == numbers[i]) {
        same++;
      }
      all.append(i == 0 ? "" : ", ")
          .append(same - i > 1 ? (same - i) + "×" : "")
          .append(numbers[i]);
      i = same;
    }
    return "[" + all + "]";
  }

  /** A write of the server each 20 ms; a token of reasoning, two of the answer. */
  @Test
  void instantsOfAnAnswer() throws Exception {
    Ended ended =
        client.answeredBy(
            server -> {
              time.pass(20);
              headers(server, "text/event-stream", "Transfer-Encoding: chunked");
              for (String json :
                  List.of(
                      ChatChunks.role(),
                      ChatChunks.reasoning("x"),
                      ChatChunks.content("a"),
                      ChatChunks.content("b"),
                      ChatChunks.finish("stop"),
                      "[DONE]")) {
                time.pass(20);
                event(server, json);
              }
              time.pass(20);
              server.lastChunk();
            },
            call -> call.manualTime(time));
    ended.assertEnded(COMPLETE, null);
    Timing timing = ended.timing();
    assertThat(timing.connectNanos()).isZero();
    assertThat(timing.headersNanos()).isEqualTo(20 * MS);
    assertThat(timing.firstEventNanos()).isEqualTo(40 * MS);
    assertThat(timing.ttftNanos()).isEqualTo(60 * MS);
    assertThat(timing.ttfoNanos()).isEqualTo(80 * MS);
    assertThat(timing.latencyNanos()).isEqualTo(100 * MS);
    assertThat(timing.closedNanos()).isEqualTo(160 * MS);
    assertThat(ended.events().offsetsMicros()).containsExactly(60_000, 80_000, 100_000);
    assertThat(ended.events().done()).isTrue();
    assertThat(ended.tokens().estimated()).as("counted by the tokenizer").isTrue();
    assertThat(ended.tokens().streamedTokens()).isEqualTo(3);
  }

  /** Also where a stream was requested and the server ignores that: no first token is made up. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void oneBody(boolean isStreamed) throws Exception {
    String body =
        "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"abc\"},"
            + "\"finish_reason\":\"stop\"}],"
            + "\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3}}";
    Ended ended =
        client.answeredBy(
            x -> {
              time.pass(20);
              headers(x, "application/json", "Content-Length: " + body.length());
              time.pass(20);
              send(x, body.substring(0, 10));
              time.pass(20);
              send(x, body.substring(10));
            },
            call -> (isStreamed ? call : call.notStreamed()).manualTime(time));
    ended.assertEnded(COMPLETE, null);
    assertThat(ended.text()).isEqualTo("abc");
    assertThat(ended.timing().headersNanos()).isEqualTo(20 * MS);
    assertThat(ended.timing().latencyNanos()).isEqualTo(60 * MS);
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
}
