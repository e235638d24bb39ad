package io.github.gatlingllm.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.workload.Dataset.SessionFile;
import io.github.gatlingllm.workload.Dataset.SessionFile.Agent;
import io.github.gatlingllm.workload.Dataset.SessionFile.Turn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SessionFileTest {

  @TempDir private Path folder;

  private static SessionFile open(String location) {
    return SessionFile.open(location, Tokenizer.chars4());
  }

  /** Turns as {@code gap@due:tokens>output}, children in brackets; times in ms. */
  private static String shown(Agent agent) {
    return agent.name()
        + agent.turns().stream()
            .map(
                turn ->
                    " %s@%s:%s>%s%s"
                        .formatted(
                            turn.gapNanos() / 1_000_000,
                            turn.dueNanos() / 1_000_000,
                            turn.prompt().get().inputTokens(),
                            turn.prompt().get().outputTokens(),
                            turn.children().stream()
                                .map(child -> "[" + shown(child) + "]")
                                .collect(Collectors.joining())))
            .collect(Collectors.joining());
  }

  private static String shown(SessionFile file, int session) {
    return file.inOrder(session).id() + shown(file.inOrder(session).main());
  }

  private static String text(SessionFile file, int session, int turn) {
    return text(file.inOrder(session).main().turns().get(turn));
  }

  private static String text(Turn turn) {
    return turn.prompt().get().prompt();
  }

  @Test
  void ownFormatHasGapsAndSubAgents() {
    SessionFile file = open("sessions/own.jsonl");

    assertThat(file).hasToString("own.jsonl: 2 sessions, 1 to 6 turns (mean 3.5)");
    assertThat(shown(file, 0))
        .isEqualTo("fix 0@0:24>3 200@0:40>3[read 0@0:20>2 150@0:30>2][search 0@0:20>2] 100@0:56>3");
    assertThat(shown(file, 1)).as("messages as they are").isEqualTo("chat 0@0:null>2");
    assertThat(text(file, 1, 0)).isEqualTo("Hello");
    assertThat(file.inOrder(2)).as("the first again").isSameAs(file.inOrder(0));
  }

  @Test
  void idsOfDifferentKindsNameDifferentSessions() throws IOException {
    String tokens = "\"input_tokens\":8,\"output_tokens\":2}\n";
    Path mixed =
        Files.writeString(
            folder.resolve("mixed.jsonl"),
            "{" + tokens + "{\"session_id\":1," + tokens + "{\"chat_id\":1," + tokens);

    assertThat(open(mixed.toString()).sessions())
        .extracting(each -> each.id() + ": " + each.turns())
        .containsExactly("1: 1", "1: 1", "1: 1");
  }

  @Test
  void equalHashesAreEqualTexts() {
    SessionFile file = open("sessions/own.jsonl");
    int block = 16 * 4;
    String second = text(file, 0, 1);
    Turn parallel = file.inOrder(0).main().turns().get(1).children().get(0).turns().get(0);

    assertThat(text(file, 0, 0)).hasSize(24 * 4 - 1).startsWith(second.substring(0, block));
    assertThat(text(file, 0, 0).charAt(block)).isNotEqualTo(' ');
    assertThat(text(file, 0, 0)).doesNotStartWith(second.substring(0, block + 16));
    assertThat(text(file, 0, 2))
        .startsWith(second.substring(0, 2 * block))
        .doesNotStartWith(second.substring(0, 2 * block + 16));
    assertThat(text(parallel)).startsWith(second.substring(0, block));
  }

  @Test
  void mooncakesSessionsFollowFromHashes() {
    SessionFile file = open("sessions/mooncake.jsonl");

    assertThat(file.sessions()).hasSize(2);
    assertThat(shown(file, 0))
        .as("times from the session's first request")
        .isEqualTo("1 0@0:1100>20 0@1500:1700>30 0@2500:2100>30");
    assertThat(shown(file, 1)).isEqualTo("2 0@0:1100>20 0@2200:1300>10");
    assertThat(text(file, 0, 1)).startsWith(text(file, 0, 0).substring(0, 2 * 512 * 4));
    assertThat(text(file, 1, 0)).startsWith(text(file, 0, 0).substring(0, 512 * 4));
  }

  @Test
  void chatsFollowTheirParents() {
    SessionFile file = open("sessions/chats.jsonl");

    assertThat(file.sessions()).hasSize(2);
    assertThat(shown(file, 0)).as("seconds").isEqualTo("7 0@0:40>5 0@2500:60>5");
    assertThat(text(file, 0, 1)).startsWith(text(file, 0, 0).substring(0, 2 * 16 * 4));
  }

  /** The third agent was called when the second had answered; a failed request is left out. */
  @Test
  void spansBecomeTurnsGapsAndSubAgents() {
    SessionFile file = open("sessions/otlp.jsonl");

    assertThat(file.sessions()).hasSize(1);
    assertThat(shown(file, 0))
        .isEqualTo(
            "talk-1 0@0:100>20"
                + " 300@0:160>10[critic 100@0:50>5][search 200@0:50>5 100@0:60>6]"
                + " 500@0:200>30");
    assertThat(text(file, 0, 1)).as("the story goes on").startsWith(text(file, 0, 0));
    assertThat(file.inOrder(0).turns()).isEqualTo(6);
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = '|',
      value = {
        "{} | :1: entry 1: expected \"input_tokens\", a whole number of tokens",
        "{\"input_tokens\": 5} | :1: entry 1: expected \"output_tokens\"",
        "{\"input_tokens\": 5, \"output_tokens\": 5, \"gap_ms\": -1} | \"gap_ms\" is -1; expected",
        "{\"input_length\": 5, \"output_length\": 5, \"delay\": \"x\"} | \"delay\" is \"x\"",
        "$A,\"gap_ms\":1e10} | \"gap_ms\" is 1.0E10; expected milliseconds",
        "$A,\"timestamp\":1.8e18} | \"timestamp\" is 1.8E18",
        "$A,\"timestamp\":1}~$A,\"timestamp\":2e9} | bad.jsonl:2: ",
        "{\"input_tokens\": 5, \"output_tokens\": 5, \"block_size\": 0} | \"block_size\" is 0",
        "{\"messages\": [], \"output_tokens\": 5} | has no message of a user or a tool",
        "$A,\"children\":[\"c\"]} | bad.jsonl:1: child 'c' has no request in session s",
        "$A,\"children\":\"b\"}~$B} | :1: entry 1: expected \"children\", a list of names",
        "$A}~$B} | bad.jsonl:2: agent 'b' is in no \"children\" of session s",
        "$A,\"children\":[\"b\"]}~$B}~$A,\"children\":[\"b\"]} | :3: child 'b' has begun before",
        "$A}~$B,\"children\":[\"b\"]} | bad.jsonl:2: agent 'b' of session s waits for itself",
        "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{}]}]}]} | :1: entry 1: expected"
            + " traceId, spanId",
        "[] | bad.jsonl: holds no session; expected a request per line, or spans",
        "{ | bad.jsonl:1: entry 1: not valid JSON",
      })
  void mistakesAreOneLine(String lines, String expected) throws IOException {
    String row = "{\"session_id\":\"s\",\"input_tokens\":5,\"output_tokens\":5";
    Path file = folder.resolve("bad.jsonl");
    Files.writeString(
        file, lines.replace("$A", row).replace("$B", row + ",\"agent\":\"b\"").replace("~", "\n"));

    assertThatThrownBy(() -> open(file.toString()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(expected);
  }

  @Test
  void agentsMayBeginOneInsideTheOther() throws IOException {
    String row =
        "{\"session_id\":1,\"input_tokens\":5,\"output_tokens\":5,\"agent\":%d,\"children\":[%s]}%n";
    Path file = folder.resolve("deep.jsonl");
    Files.writeString(
        file,
        IntStream.range(0, 1_000)
            .mapToObj(i -> row.formatted(i, i < 999 ? i + 1 : ""))
            .collect(Collectors.joining()));

    assertThat(open(file.toString()).inOrder(0).turns()).isEqualTo(1_000);
  }

  @Test
  void missingFileIsOneLine() {
    assertThatThrownBy(() -> open("sessions/none.jsonl"))
        .hasMessage(
            "sessions/none.jsonl: no such file, neither in the file system nor on the class path");
  }
}
