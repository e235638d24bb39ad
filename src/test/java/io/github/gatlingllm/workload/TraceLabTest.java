package io.github.gatlingllm.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.workload.Dataset.RecordedTurn;
import io.github.gatlingllm.workload.Dataset.SessionFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class TraceLabTest {

  @TempDir private Path folder;

  private SessionFile open(String... lines) throws IOException {
    Path file = Files.writeString(folder.resolve("rounds.jsonl"), String.join("\n", lines));
    return SessionFile.open(file.toString(), Tokenizer.chars4());
  }

  /** A round: its prompt and the cached part of it in tokens, its times in s after 10:00. */
  private static String round(
      String user, String session, int index, String model, int in, int cached, int from, int to) {
    return """
    {"session_id":"%s","round_index":%d,"user":"%s","project":"p","model":"%s",\
    "input_tokens_total":%d,"prefix_tokens":%d,"newly_append_tokens":%d,"output_tokens":7,\
    "timing_events":[{"event_type":"user_message","timestamp":"2026-08-25T10:00:%02dZ"},\
    {"event_type":"text","timestamp":"2026-08-25T10:00:%02d.000+00:00"}]}\
    """
        .formatted(session, index, user, model, in, cached, in - cached, from, to);
  }

  /** A round with a tool call. */
  private static String calling(String round, int from, int to) {
    return round.substring(0, round.length() - 1)
        + """
        ,"tools":[{"tool_name":"Agent","emitted_at":"2026-08-25T10:00:%02dZ",\
        "result_at":"2026-08-25T10:00:%02dZ"}]}\
        """
            .formatted(from, to);
  }

  /** Rounds are in any order of lines; a session of another user is not a sub-agent. */
  @Test
  void sessionsInTheTimeOfToolCallsAreJoined() throws IOException {
    SessionFile file =
        open(
            round("u", "main", 1, "opus", 330, 200, 30, 33),
            calling(round("u", "main", 0, "opus", 200, 100, 0, 2), 2, 30),
            calling(round("u", "main", 2, "opus", 340, 330, 34, 35), 35, 59),
            round("u", "sub", 0, "haiku", 100, 64, 3, 5),
            calling(round("u", "sub", 1, "haiku", 150, 128, 6, 20), 7, 19),
            round("u", "inner", 0, "haiku", 100, 0, 8, 9),
            round("u", "late", 0, "opus", 100, 0, 36, 37),
            round("v", "other", 0, "opus", 100, 0, 3, 5),
            round("u", "outside", 0, "opus", 100, 0, 29, 31));

    assertThat(file.sessions())
        .extracting(each -> each.id())
        .containsExactly("main", "other", "outside");
    assertThat(RecordedTrees.shown(file.sessions().get(0)))
        .isEqualTo(
            " 0@0+0[sub 1@3000+1000 1@6000+1000[inner 1@8000+0]~]^1 0@30000+10000"
                + " 0@34000+1000[late 0@36000+1000]~");
    assertThat(file.sessions().get(0).turns()).isEqualTo(7);
    assertThat(file.summary())
        .isEqualTo(
            "3 sessions, 1 to 7 turns (mean 3.0); joined as sub-agents, by the time of a tool call"
                + " of the same user and project, which is a guess: 3 sessions");
  }

  /** 200 tokens are three complete blocks of 64; what was cached before a session is not shared. */
  @Test
  void blocksFollowFromTheCachedPart() throws IOException {
    SessionFile file =
        open(
            round("u", "a", 0, "m", 200, 150, 0, 1),
            round("u", "a", 1, "m", 330, 200, 2, 3),
            round("u", "a", 2, "m", 200, 70, 4, 5),
            round("u", "b", 0, "m", 200, 150, 6, 7));
    List<RecordedTurn> turns = file.sessions().get(0).main().turns();
    long[][] blocks =
        turns.stream().map(turn -> turn.recorded().blocks().get()).toArray(long[][]::new);

    assertThat(blocks[0]).hasSize(4);
    assertThat(blocks[1]).hasSize(6).startsWith(blocks[0][0], blocks[0][1], blocks[0][2]);
    assertThat(blocks[1][3]).as("not a complete block before").isNotEqualTo(blocks[0][3]);
    assertThat(blocks[2]).hasSize(4).startsWith(blocks[0][0]);
    assertThat(blocks[2][1]).isNotEqualTo(blocks[0][1]);
    assertThat(file.sessions().get(1).main().turns().get(0).recorded().blocks().get())
        .doesNotContain(blocks[0]);
    assertThat(turns.get(1).prompt().get().text())
        .hasSize(330 * 4 - 1)
        .startsWith(turns.get(0).prompt().get().text().substring(0, 3 * 64 * 4 - 8));
    assertThat(turns.get(0).prompt().get().outputTokens()).isEqualTo(7);
  }

  @Test
  void roundsWithoutTimeOrInputAreLeftOut() throws IOException {
    SessionFile file =
        open(
            round("u", "a", 0, "m", 200, 0, 0, 1),
            round("u", "a", 1, "m", 0, 0, 2, 3),
            round("u", "a", 2, "m", 200, 0, 2, 3)
                .replace("text", "usage")
                .replace("user_message", "x"));

    assertThat(file.summary())
        .isEqualTo("1 session, 1 turn; left out 2 of 3 rounds: without input, or its time");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"prefix_tokens\":10 | \"prefix_tokens\":11 | rounds.jsonl:2: entry 2:"
            + " \"input_tokens_total\" is 20",
        "T10 | at 10 | rounds.jsonl:2: entry 2: expected a time such as",
        "\"round_index\":1 | \"round_index\":-1 | rounds.jsonl:2: entry 2: expected"
            + " \"round_index\"",
        "\"session_id\":\"a\" | \"session_id\":5 | expected a text \"session_id\"",
      })
  void mistakesAreOneLine(String what, String by, String expected) throws IOException {
    String good = round("u", "a", 1, "m", 20, 10, 0, 1);
    assertThatThrownBy(() -> open(good, good.replace(what, by)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(expected);
  }
}
