package io.github.gatlingllm.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.workload.Dataset.Agent;
import io.github.gatlingllm.workload.Dataset.RecordedTurn;
import io.github.gatlingllm.workload.Dataset.SessionFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
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
        + (agent.isBackground() && !agent.name().isEmpty() ? "&" : "")
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

  private static String text(RecordedTurn turn) {
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
  void agentsMayRunInTheBackground() throws IOException {
    String row = "{\"session_id\":1,\"input_tokens\":5,\"output_tokens\":5,";
    Path file = folder.resolve("background.jsonl");
    Files.writeString(
        file,
        row
            + "\"children\":[\"a\"],\"background\":[\"b\"]}\n"
            + (row + "\"agent\":\"a\"}\n" + row + "\"agent\":\"b\"}\n" + row + "\"gap_ms\":1}\n"));

    assertThat(shown(open(file.toString()), 0))
        .isEqualTo("1 0@0:5>5[a 0@0:5>5][b& 0@0:5>5] 0@0:5>5");
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
    RecordedTurn parallel = file.inOrder(0).main().turns().get(1).children().get(0).turns().get(0);

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

  /** A span: its id, that of its parent, its start and end in ms, its attributes. */
  private static String span(String id, String parent, int start, int end, String... attributes) {
    return "{'traceId':'t','spanId':'%s','parentSpanId':'%s','startTimeUnixNano':'%s000000',"
            .formatted(id, parent, 1_000 + start)
        + "'endTimeUnixNano':'%s000000','attributes':[%s]}"
            .formatted(
                1_000 + end,
                Stream.of(attributes)
                    .map(each -> each.split("=", 2))
                    .map(
                        each ->
                            "{'key':'%s','value':{'%s':'%s'}}"
                                .formatted(each[0], kind(each), each[1]))
                    .collect(Collectors.joining(",")));
  }

  private static String kind(String[] attribute) {
    return attribute[1].matches("\\d+") ? "intValue" : "stringValue";
  }

  @Test
  void spansOfOtherLibrariesAreReadOrLeftOut() throws IOException {
    String chat = "gen_ai.operation.name=chat";
    String in = "gen_ai.usage.input_tokens=";
    String out = "gen_ai.usage.output_tokens=";
    String all =
        String.join(
            ",",
            span("1", "", 0, 9_000, "gen_ai.operation.name=invoke_agent", in + 5_000_000),
            span("2", "1", 0, 200, chat, in + 40, out + 6), // around the next
            span("3", "2", 20, 120, chat, in + 40, out + 6),
            span("4", "1", 400, 500, chat), // without usage
            span(
                "5",
                "1",
                620,
                700,
                "gen_ai.usage.prompt_tokens=50",
                "gen_ai.usage.completion_tokens=7"),
            span(
                "6",
                "1",
                800,
                900,
                chat,
                "llm.token_count.prompt=60",
                "llm.token_count.completion=8"),
            span(
                "7",
                "1",
                1_000,
                1_100,
                chat,
                "llm.usage.prompt_tokens=70",
                "llm.usage.completion_tokens=9"));
    Path file = folder.resolve("spans.json");
    for (String form :
        new String[] {
          "{'resourceSpans':[{'scopeSpans':[{'spans':[%s]}]}]}",
          "{'batches':[{'instrumentationLibrarySpans':[{'spans':[%s]}]}]}",
          "{'spans':[%s]}",
          "[%s]"
        }) {
      Files.writeString(file, form.formatted(all).replace('\'', '"'));

      assertThat(shown(open(file.toString()), 0))
          .isEqualTo("t 0@0:40>6 500@0:50>7 100@0:60>8 100@0:70>9");
      assertThat(open(file.toString()).summary())
          .isEqualTo(
              "1 session, 4 turns; left out 1 of 6 requests: without usage; left out 1 of 6"
                  + " requests: around the same request");
    }
    Files.writeString(
        file, "{'spans':[%s]}".formatted(span("4", "", 0, 1, chat)).replace('\'', '"'));
    assertThatThrownBy(() -> open(file.toString()))
        .hasMessageContaining("has no session")
        .hasMessageContaining("left out 1 of 1 requests: without usage");
  }

  @Test
  void requestsMayHaveTheirTextAndNoLengthOfTheAnswer() throws IOException {
    Path file = folder.resolve("mixed.jsonl");
    Files.writeString(
        file,
        """
        {"session_id": "a", "text_input": "hello", "output_length": 8}
        {"session_id": "a", "messages": [{"role": "user", "content": "x"}], "delay": 500}
        {"session_id": "a", "input_length": 30}
        """);

    SessionFile read = open(file.toString());

    assertThat(shown(read, 0)).isEqualTo("a 0@0:null>8 500@0:null>null 0@0:30>null");
    assertThat(text(read, 0, 0)).isEqualTo("hello");
    assertThat(text(read, 0, 1)).isEqualTo("x");
  }

  @ParameterizedTest
  @CsvSource({
    "0.0, 2.5, '', 2500, seconds", "0, 2500, '', 2500, milliseconds",
    "0, 2500, @1s, 2500000, seconds", "0, 3, '', 3000, seconds",
    "0, 3, @1ms, 3, milliseconds"
  })
  void allLinesDecideTheUnitOfTime(String first, String second, String suffix, int due, String unit)
      throws IOException {
    String row = "{\"session_id\":1,\"input_length\":9,\"output_length\":5,\"timestamp\":%s}%n";
    Path file = folder.resolve("times.jsonl");
    Files.writeString(file, row.formatted(first) + row.formatted(second));

    SessionFile read = open(file + suffix);

    assertThat(shown(read, 0)).isEqualTo("1 0@0:9>5 0@" + due + ":9>5");
    assertThat(read.summary()).endsWith("; time stamps in " + unit);
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = '|',
      value = {
        "$A}~$A,\"hash_ids\":{\"a\":1}} | bad.jsonl:2: entry 2: expected \"hash_ids\", a list",
        "$A}~$A,\"block_size\":-5} | bad.jsonl:2: entry 2: expected \"block_size\", an integer"
            + " number",
        "$A}~$A,\"block_size\":2000000000} | bad.jsonl:2: entry 2: expected \"block_size\"",
        "{\"input_tokens\": 99999999} | bad.jsonl:1: entry 1: expected \"input_tokens\"",
        "{} | :1: entry 1: expected \"input_tokens\", an integer number of tokens",
        "{\"input_tokens\": 5, \"output_tokens\": \"x\"} | :1: entry 1: expected \"output_tokens\"",
        "{\"input_tokens\": 5, \"output_tokens\": 5, \"gap_ms\": -1} | \"gap_ms\" is -1; expected",
        "{\"input_length\": 5, \"output_length\": 5, \"delay\": \"x\"} | \"delay\" is \"x\"",
        "$A,\"gap_ms\":1e10} | \"gap_ms\" is 1.0E10; expected milliseconds",
        "$A,\"timestamp\":1.8e20} | \"timestamp\" is 1.8E20",
        "$A,\"timestamp\":1}~$A,\"timestamp\":2e9} | bad.jsonl:2: ",
        "{\"input_tokens\": 5, \"output_tokens\": 5, \"block_size\": 0} | \"block_size\" is 0",
        "{\"messages\": [], \"output_tokens\": 5} | has no message of a user or a tool",
        "$A,\"children\":[\"c\"]} | bad.jsonl:1: child 'c' has no request in session s",
        "$A,\"children\":\"b\"}~$B} | :1: entry 1: expected \"children\", a list of names",
        "$A,\"background\":\"b\"}~$B} | :1: entry 1: expected \"background\", a list of names",
        "$A}~$B} | bad.jsonl:2: agent 'b' is in no \"children\" or \"background\" of session s",
        "$A,\"children\":[\"b\"]}~$B}~$A,\"children\":[\"b\"]} | :3: child 'b' has begun before",
        "$A}~$B,\"children\":[\"b\"]} | bad.jsonl:2: agent 'b' of session s waits for itself",
        "$C,\"chat_id\":2,\"parent_chat_id\":1}~$C,\"chat_id\":1} | bad.jsonl:2: entry 2: chat 1"
            + " is",
        "$C,\"chat_id\":2,\"parent_chat_id\":2}~$C,\"chat_id\":2} | bad.jsonl:1: entry 1: chat 2"
            + " is",
        "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{}]}]}]} | :1: entry 1: expected"
            + " traceId, spanId",
        "[] | bad.jsonl: has no session; expected a request per line, spans",
        "{ | bad.jsonl:1: entry 1: not valid JSON",
      })
  void mistakesAreOneLine(String lines, String expected) throws IOException {
    String row = "{\"session_id\":\"s\",\"input_tokens\":5,\"output_tokens\":5";
    Path file = folder.resolve("bad.jsonl");
    Files.writeString(
        file,
        lines
            .replace("$A", row)
            .replace("$B", row + ",\"agent\":\"b\"")
            .replace("$C", "{\"input_length\":5,\"output_length\":5")
            .replace("~", "\n"));

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
