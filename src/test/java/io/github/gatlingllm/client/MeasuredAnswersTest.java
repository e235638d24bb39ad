package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.client.Api.Message;
import io.github.gatlingllm.client.StreamedExchange.Ending;
import io.github.gatlingllm.record.RequestRecord.Events;
import io.github.gatlingllm.record.RequestRecord.Timing;
import io.github.gatlingllm.record.RequestRecord.Tokens;
import io.github.gatlingllm.record.Timeline;
import io.github.gatlingllm.testing.ChatChunks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Answers in the forms of many servers, and what is measured of each: a table in a file. */
final class MeasuredAnswersTest {

  private static final long MS = 1_000_000;
  private static final Path TABLE = Path.of("src/test/resources/measured-answers.txt");

  /** {@code 3 words}, {@code 1..3 counts}, {@code 3× {}}, {@code 3 events {}}. */
  private static final Pattern SEVERAL =
      Pattern.compile("(\\d+)(?:\\.\\.(\\d+))?(× | words| counts| events )(.*)");

  static List<String> rows() throws IOException {
    return Files.readAllLines(TABLE).stream()
        .filter(row -> !row.isBlank() && !row.startsWith("#"))
        .toList();
  }

  private final Timeline timeline = new Timeline(0, 0);
  private long now;

  @ParameterizedTest
  @MethodSource("rows")
  void answerIsMeasured(String row) {
    String[] columns = row.split(" \\| ", 4);
    String[] apiAndChoices = columns[0].split("\\*", 2);
    Api api = Api.of(apiAndChoices[0]);
    ReceivedAnswer answer =
        new ReceivedAnswer(
            timeline,
            GenerationRequest.of(api)
                .message(Message.user("hi"))
                .maxTokens(4_000)
                .parameter("n", apiAndChoices.length == 1 ? 1 : Integer.valueOf(apiAndChoices[1]))
                .build());
    timeline.admitted(0);
    ResponseBody body = ResponseBody.ofEvents(answer);
    for (String step : columns[3].split(" ; ", -1)) {
      play(step, body);
    }
    Ending ending = body.end(now, false);

    Tokens tokens = answer.tokens();
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
                : measured(ending, tokens, expected.contains("usage") ? " " + usage : ""))
        .isEqualTo(expected);
  }

  private void play(String step, ResponseBody body) {
    Matcher several = SEVERAL.matcher(step);
    if (several.matches()) {
      int from = Integer.parseInt(several.group(1));
      boolean isCounted = several.group(2) != null;
      int to = isCounted ? Integer.parseInt(several.group(2)) : from;
      for (int i = isCounted ? from : 1; i <= to; i++) {
        now += 20 * MS;
        String json =
            switch (several.group(3)) {
              case " words" -> ChatChunks.content("word ");
              case " counts" -> ChatChunks.chunk("{}", "null");
              case "× " -> ChatChunks.chunk(several.group(4), "null");
              default -> several.group(4);
            };
        event(isCounted ? ChatChunks.withUsage(json, 12, i) : json, body);
      }
    } else if (step.matches("\\d+")) {
      now += Long.parseLong(step) * MS;
    } else if (step.startsWith("\"")) {
      now += 20 * MS;
      event(ChatChunks.chunk("{'content':" + step + "}", "null"), body);
    } else if (step.startsWith("end")) {
      event(ChatChunks.finish("stop"), body);
      String counts = step.substring(3).strip().replaceFirst("^(?=\\d)", "'completion_tokens':");
      if (!counts.isEmpty()) {
        event("{'choices':[],'usage':{'prompt_tokens':12," + counts + "}}", body);
      }
      event("[DONE]", body);
    } else if (step.startsWith(":")) {
      write(step, body);
    } else {
      event(step, body);
    }
  }

  private void event(String json, ResponseBody body) {
    write("data: " + json.replace('\'', '"'), body);
  }

  private void write(String line, ResponseBody body) {
    byte[] bytes = (line + "\n\n").getBytes(UTF_8);
    body.bytes(now, bytes, 0, bytes.length);
  }

  private String measured(Ending ending, Tokens tokens, String usage) {
    Timing timing = timeline.timing(0, null, tokens.streamedTokens());
    Events events = timeline.events(true);
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
                ending.status().key(),
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
        + (ending.error() == null ? "" : " error " + ending.error())
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
}
