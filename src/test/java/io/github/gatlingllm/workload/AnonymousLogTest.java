package io.github.gatlingllm.workload;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.workload.Dataset.RecordedTurn;
import io.github.gatlingllm.workload.Dataset.SessionFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class AnonymousLogTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final byte[] SALT = "salt".getBytes(UTF_8);

  @TempDir private Path folder;

  /** A message whose every word is one of its own. */
  private static String message(String role, String name, int words) {
    String text =
        IntStream.range(0, words)
            .mapToObj(i -> "secret" + name + i)
            .collect(Collectors.joining(" "));
    return "{\"role\":\"%s\",\"content\":\"%s\"}".formatted(role, text);
  }

  private static String body(String... messages) {
    return "{\"model\":\"secretmodel\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":"
        + "\"secrettool\"}}],\"messages\":["
        + String.join(",", messages)
        + "]}";
  }

  /** A line of a log; tokens are counted as a quarter of the characters. */
  private static String logged(String time, double seconds, String body, int in, int out) {
    return String.format(
        Locale.ROOT,
        "{\"timestamp\":\"%s\",\"duration\":%s,\"body\":%s,\"response\":{\"choices\":[{\"message\":"
            + "{\"content\":\"secretanswer\"}}],\"usage\":{\"prompt_tokens\":%d,"
            + "\"completion_tokens\":%d}}}",
        time,
        seconds,
        body,
        in,
        out);
  }

  private List<JsonNode> write(byte[] salt, String... lines) throws IOException {
    Path log = Files.writeString(folder.resolve("log.jsonl"), String.join("\n", lines));
    return write(salt, log);
  }

  private List<JsonNode> write(byte[] salt, Path log) throws IOException {
    said = AnonymousLog.write(log.toString(), folder.resolve("out.jsonl"), salt);
    List<JsonNode> sessions = new ArrayList<>();
    for (String line : Files.readAllLines(folder.resolve("out.jsonl"))) {
      sessions.add(JSON.readTree(line));
    }
    return sessions;
  }

  private String said = "";

  private SessionFile replayed() {
    return SessionFile.open(folder.resolve("out.jsonl").toString(), Tokenizer.chars4());
  }

  private static List<Long> ids(JsonNode session, int request) {
    List<Long> ids = new ArrayList<>();
    session.at("/requests/" + request + "/hash_ids").forEach(id -> ids.add(id.longValue()));
    return ids;
  }

  private static final String SYSTEM = message("system", "S", 100);
  private static final String ASKED = message("user", "A", 60);
  private static final String ANSWER = message("assistant", "B", 40);

  private static final String[] LOG = {
    logged("2026-08-25T10:00:00Z", 2.5, body(SYSTEM, ASKED), 600, 80),
    logged("2026-08-25T10:00:01Z", 1, body(SYSTEM, message("user", "C", 60)), 600, 5),
    logged(
        "2026-08-25T10:00:04Z", 3, body(SYSTEM, ASKED, ANSWER, message("user", "D", 60)), 1130, 7),
    "{\"timestamp\":\"2026-08-25T10:00:05Z\",\"status_code\":500,\"body\":"
        + body(SYSTEM, ASKED)
        + "}",
    "{\"timestamp\":\"2026-08-25T10:00:05Z\",\"status\":\"Error\",\"body\":"
        + body(SYSTEM, ASKED)
        + "}",
    "{\"timestamp\":\"2026-08-25T10:00:06Z\",\"body\":{\"input\":\"\"}}",
    "{\"body\":" + body(ASKED) + "}"
  };

  /** The second request shares instructions only: it is its own session. */
  @Test
  void logBecomesSessionsOfLengthsGapsAndHashes() throws IOException {
    List<JsonNode> sessions = write(SALT, LOG);

    assertThat(said)
        .isEqualTo(
            "3 requests of 2 sessions; left out 2: failed; left out 1: without a prompt;"
                + " left out 1: without a time");
    assertThat(sessions).extracting(each -> each.path("id").asText()).containsExactly("s1", "s2");
    JsonNode second = sessions.get(0).at("/requests/1");
    assertThat(second.path("t").doubleValue()).isEqualTo(4.0);
    assertThat(second.path("api_time").doubleValue()).isEqualTo(3.0);
    assertThat(second.path("in").intValue()).isEqualTo(1130);
    assertThat(second.path("out").intValue()).isEqualTo(7);
    assertThat(RecordedTrees.shown(replayed().sessions().get(0))).isEqualTo(" 0@0+0 0@4000+1500");
    assertThat(RecordedTrees.shown(replayed().sessions().get(1))).isEqualTo(" 0@0+0");
  }

  @Test
  void noTextSurvives() throws IOException {
    List<JsonNode> unused = write(SALT, LOG);
    String written = Files.readString(folder.resolve("out.jsonl"));

    assertThat(String.join("", LOG)).contains("secretA7", "secretmodel", "secrettool", "2026-08");
    assertThat(written).doesNotContain("secret", "2026");
    assertThat(
            written.replaceAll("[-\\d.,:\\[\\]{}\"E]", "").replaceAll("hash_id_scope|hash_ids", ""))
        .matches("((id|block_size|global|requests|t|type|s|model|m|in|out|api_time)\\s*)*");
  }

  @Test
  void equalPrefixesHaveEqualFirstIds() throws IOException {
    List<JsonNode> sessions = write(SALT, LOG);
    List<Long> first = ids(sessions.get(0), 0);
    List<Long> other = ids(sessions.get(1), 0);
    int shared = 0;
    while (shared < Math.min(first.size(), other.size())
        && first.get(shared).equals(other.get(shared))) {
      shared++;
    }

    assertThat(ids(sessions.get(0), 1))
        .startsWith(first.toArray(Long[]::new))
        .hasSizeGreaterThan(first.size());
    double block = 64 * (double) charsOf(LOG[0], LOG[1], LOG[2]) / (600 + 600 + 1130);
    int instructions = bodyText(LOG[0]).indexOf("secretA0");
    assertThat(shared).isEqualTo((int) (instructions / Math.round(block))).isPositive();
    RecordedTurn replayedFirst = replayed().sessions().get(0).main().turns().get(0);
    RecordedTurn replayedOther = replayed().sessions().get(1).main().turns().get(0);
    assertThat(replayedOther.recorded().blocks().get())
        .as("also between sessions")
        .startsWith(replayedFirst.recorded().blocks().get()[0]);
    assertThat(write(SALT, LOG)).isEqualTo(sessions);
    assertThat(ids(write("pepper".getBytes(UTF_8), LOG).get(0), 0))
        .hasSameSizeAs(first)
        .doesNotContainAnyElementsOf(first);
  }

  /** What a server makes tokens of: the tools, then each message. */
  private static String bodyText(String line) throws IOException {
    JsonNode body = JSON.readTree(line).path("body");
    StringBuilder text = new StringBuilder();
    body.path("tools").forEach(each -> text.append(each).append('\n'));
    body.path("messages").forEach(each -> text.append(each).append('\n'));
    return text.toString();
  }

  private static int charsOf(String... lines) throws IOException {
    int chars = 0;
    for (String line : lines) {
      chars += bodyText(line).length();
    }
    return chars;
  }

  /** Agents of a replayed session are one session again; overlaps are agents. */
  @Test
  void recordsOfOursAreRead() throws IOException {
    String record =
        "{\"start_unix_ns\":%d,\"session\":\"%s\",\"ok\":true,\"model\":\"m\",\"prompt_tokens\":%d,"
            + "\"output_tokens\":9,\"closed_s\":%s,\"http_status\":200,\"error\":null,"
            + "\"messages\":[%s],\"prompt\":null,\"answer\":\"secretanswer\"}";
    long start = 1_790_000_000_000_000_000L;
    String long1 = SYSTEM + "," + ASKED;

    List<JsonNode> sessions =
        write(
            SALT,
            record.formatted(start, "c1/fix", 600, "2.0", long1),
            record.formatted(
                start + 3_000_000_000L, "c1/fix/read", 600, "1.0", SYSTEM + "," + ANSWER),
            record.formatted(start + 5_000_000_000L, "c1/fix", 900, "1.0", long1 + "," + ANSWER));

    assertThat(sessions).hasSize(1);
    assertThat(RecordedTrees.shown(replayed().sessions().get(0)))
        .isEqualTo(" 0@0+0[flat-1 0@3000+1000]^1 0@5000+1000");
    assertThat(Files.readString(folder.resolve("out.jsonl"))).doesNotContain("secret");
  }

  @Test
  void spansAreRead() throws IOException {
    List<JsonNode> sessions = write(SALT, Path.of("src/test/resources/sessions/otlp.jsonl"));

    assertThat(said).isEqualTo("6 requests of 1 session");
    assertThat(sessions.get(0).path("block_size").intValue()).isEqualTo(16);
    assertThat(RecordedTrees.shown(replayed().sessions().get(0)))
        .as("the agents of three spans, of a text each, are awaited by the last request")
        .isEqualTo(
            " 0@0+0 0@1300+300[flat-1 0@2100+100]^2[flat-2 0@2200+200]^2[flat-3 0@2700+700]^2"
                + " 0@3500+500");
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = '|',
      value = {
        "{\"a\":1} | has no request with its body and time, and no span of gen_ai; left out 1:"
            + " without a prompt",
        "{\"timestamp\":\"noon\",\"body\":{\"prompt\":\"x\"}} | log.jsonl:1: entry 1: expected a"
            + " time",
        "{\"timestamp\":1,\"latency_ms\":-1,\"body\":{\"prompt\":\"x\"}} | entry 1: ends before it"
            + " starts",
        "{\"timestamp\":1,\"body\":\"{\"} | log.jsonl:1: entry 1: a body is not JSON",
        "{\"timestamp\":1,\"body\": | log.jsonl:1: entry 1: not valid JSON",
      })
  void mistakesAreOneLine(String line, String expected) {
    assertThatThrownBy(() -> write(SALT, line))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(expected);
    assertThat(folder.resolve("out.jsonl")).doesNotExist();
  }
}
