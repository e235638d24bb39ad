package io.github.gatlingllm.client;

import static io.github.gatlingllm.testing.ChatChunks.chunk;
import static io.github.gatlingllm.testing.ChatChunks.finish;
import static io.github.gatlingllm.testing.ChatChunks.usage;
import static io.github.gatlingllm.testing.ChatChunks.withUsage;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.client.Api.Message;
import io.github.gatlingllm.client.StreamedExchange.Ending;
import io.github.gatlingllm.record.RequestRecord.Events;
import io.github.gatlingllm.record.RequestRecord.Timing;
import io.github.gatlingllm.record.RequestRecord.Tokens;
import io.github.gatlingllm.record.Timeline;
import io.github.gatlingllm.testing.ChatChunks;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.provider.Arguments;

/**
 * A server whose clock is held, and what is measured of its answer: status, events, N, TTFT, TTFO
 * and TPOT in ms, and the tokens of each event.
 */
final class HeldServer {

  private static final long MS = 1_000_000;

  static final String REASONING = "'completion_tokens_details':{'reasoning_tokens':%d}";

  final Timeline timeline = new Timeline(0, 0);
  final ReceivedAnswer answer;
  final ResponseBody body;
  long now;

  HeldServer(Api api, int choices) {
    answer =
        new ReceivedAnswer(
            timeline,
            GenerationRequest.of(api)
                .message(Message.user("hi"))
                .prompt(api == Api.COMPLETIONS ? "hi" : null)
                .maxTokens(4_000)
                .parameter("n", choices)
                .build());
    body = ResponseBody.ofEvents(answer);
    timeline.admitted(0);
  }

  HeldServer pause(long millis) {
    now += millis * MS;
    return this;
  }

  HeldServer event(String json) {
    return raw("data: " + json.replace('\'', '"') + "\n\n");
  }

  HeldServer raw(String text) {
    byte[] bytes = text.getBytes(UTF_8);
    body.bytes(now, bytes, 0, bytes.length);
    return this;
  }

  /** Events with a delta each, 20 ms apart. */
  HeldServer deltas(int count, String delta) {
    for (int i = 0; i < count; i++) {
      pause(20).event(chunk(delta, "null"));
    }
    return this;
  }

  HeldServer words(int count) {
    return deltas(count, "{'content':'word '}");
  }

  /** Words, each with the usage so far. */
  HeldServer counted(int from, int to) {
    for (int i = from; i <= to; i++) {
      pause(20).event(withUsage(ChatChunks.content("word "), 12, i));
    }
    return this;
  }

  HeldServer end(String... usage) {
    event(finish("stop"));
    Arrays.stream(usage)
        .forEach(counts -> event("{'choices':[],'usage':{'prompt_tokens':12," + counts + "}}"));
    return event("[DONE]");
  }

  Ending ended() {
    return body.end(now, false);
  }

  static Arguments row(String name, String expected, Consumer<HeldServer> script) {
    return Arguments.of(name, Api.CHAT, 1, expected, script);
  }

  static Arguments row(Api api, String name, String expected, Consumer<HeldServer> script) {
    return Arguments.of(name, api, 1, expected, script);
  }

  static String tokens(int count) {
    return "'completion_tokens':" + count;
  }

  /** The answer as measured; what is unusual, or expected, is added. */
  static void assertMeasured(Api api, int choices, String expected, Consumer<HeldServer> script) {
    HeldServer server = new HeldServer(api, choices);
    script.accept(server);
    Ending ending = server.ended();
    Tokens tokens = server.answer.tokens();
    Timing timing = server.timeline.timing(0, null, tokens.streamedTokens());
    Events events = server.timeline.events(true);
    String measured =
        "%s %s %s %s %s %s %s"
            .formatted(
                ending.status().key(),
                events.count(),
                tokens.n(),
                millis(timing.ttftNanos()),
                millis(timing.ttfoNanos()),
                timing.tpotNanos() == null ? null : "%.1f".formatted(timing.tpotNanos() / MS),
                runs(events.tokens()));
    if (events.tail() > 0) {
      measured += " tail " + events.tail();
    }
    if (expected.contains("usage")) {
      measured +=
          " usage %s %s %s %s"
              .formatted(
                  tokens.promptTokens(),
                  tokens.cachedTokens(),
                  tokens.outputTokens(),
                  tokens.reasoningTokens());
    }
    measured += tokens.refused().isEmpty() ? "" : " refused " + tokens.refused();
    measured += events.unknownFields().isEmpty() ? "" : " unknown " + events.unknownFields();
    boolean isEstimated =
        timing.tpotNanos() != null
            && events.firstEventTokens() == null
            && tokens.n() != null
            && tokens.n() > events.count();
    assertThat(measured + (isEstimated ? " estimated" : "")).isEqualTo(expected);
    if (events.tokens().length > 0) {
      assertThat(Arrays.stream(events.tokens()).sum()).isEqualTo(tokens.n());
    }
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
}
