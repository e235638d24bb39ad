package io.github.gatlingllm.workload;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.client.Api.Message;
import io.github.gatlingllm.workload.Dataset.Agent;
import io.github.gatlingllm.workload.Dataset.RecordedSession;
import io.github.gatlingllm.workload.Dataset.RecordedTurn;
import io.github.gatlingllm.workload.Dataset.SessionFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Traces written by hand, of blocks of ten tokens; trees, gaps and blocks computed by hand. */
final class WekaTracesTest {

  private static final String NESTED =
      """
      {
        "id": "fix", "models": ["opus", "haiku"], "block_size": 10, "hash_id_scope": "local",
        "tool_tokens": 12, "system_tokens": 3,
        "requests": [
          {"t": 9, "type": "subagent", "agent_id": "early", "requests": [
            {"t": 9, "type": "n", "model": "haiku", "in": 20, "out": 1, "hash_ids": [1, 2]}]},
          {"t": 10, "type": "s", "model": "opus", "in": 25, "out": 5, "hash_ids": [1, 2, 3],
            "api_time": 2, "think_time": 0, "input_types": ["text"], "stop": "tool_use"},
          {"t": 12.5, "type": "subagent", "agent_id": "x", "subagent_type": "Explore", "requests": [
            {"t": 13, "type": "n", "model": "haiku", "in": 20, "out": 4, "hash_ids": [1, 7],
              "api_time": 1},
            {"t": 15, "type": "n", "model": "haiku", "in": 31, "out": 4, "hash_ids": [1, 7, 8, 9],
              "api_time": 1}]},
          {"t": 12.5, "type": "subagent", "agent_id": "y", "status": "completed", "requests": [
            {"t": 12.6, "type": "n", "model": "haiku", "in": 20, "out": 4, "hash_ids": [1, 8],
              "api_time": 5}]},
          {"t": 20, "type": "s", "model": "opus", "in": 40, "out": 0, "hash_ids": [1, 2, 3, 4],
            "api_time": 3},
          {"t": 23.5, "type": "subagent", "agent_id": "z", "requests": [
            {"t": 24, "type": "n", "model": "sonnet", "in": 20, "out": 4, "hash_ids": [1, 2],
              "api_time": 1}]}
        ]
      }
      """;

  @TempDir private Path folder;

  private SessionFile open(String name, String... lines) throws IOException {
    Files.writeString(folder.resolve(name), String.join("\n", lines));
    return open(name);
  }

  private SessionFile open(String name) {
    return SessionFile.open(folder.resolve(name).toString(), Tokenizer.chars4());
  }

  /** A request of a trace: start and end in s, model, ids of complete blocks. */
  private static String request(double start, double end, String model, Integer... ids) {
    return "{\"t\":%s,\"api_time\":%s,\"type\":\"s\",\"model\":\"%s\",\"in\":%s,\"out\":1,\"hash_ids\":%s}"
        .formatted(start, end - start, model, 10 * ids.length, Arrays.toString(ids));
  }

  private static String trace(String... requests) {
    return "{\"id\":\"t\",\"block_size\":10,\"requests\":[" + String.join(",", requests) + "]}";
  }

  private static List<Message> messages(RecordedTurn turn) {
    return turn.prompt().get().messages();
  }

  /** Sub-agents begin with the answer before them, and the next request waits for both. */
  @Test
  void nestedConversationsAreJoinedLeftOutOrInTheBackground() throws IOException {
    SessionFile file = open("fix.json", NESTED);

    assertThat(file)
        .hasToString(
            "fix.json: 1 session, 6 turns; sub-agents: 3 recorded as such, 1 of them in the"
                + " background, as no request follows them, 1 left out, as no request is before"
                + " them, or none in them");
    assertThat(file.sessions().get(0).id()).isEqualTo("fix");
    assertThat(RecordedTrees.shown(file.sessions().get(0)))
        .isEqualTo(
            " 0@0+0[y 1@2600+600]^1[x 1@3000+1000 1@5000+1000]^1 0@10000+2400[z 2@14000+1000]~");
    RecordedTurn second = file.sessions().get(0).main().turns().get(1);
    assertThat(second.recorded().endNanos()).isEqualTo(13_000_000_000L);
    assertThat(second.recorded().inputTokens()).isEqualTo(40);
    assertThat(second.recorded().outputTokens()).as("a server cannot be asked for none").isOne();
    assertThat(second.recorded().blocks().get()).hasSize(4);
  }

  /** Captures of January 2026 count a sub-agent's times from its start, in whole seconds. */
  @Test
  void timesOfSubAgentMayCountFromItsStart() throws IOException {
    SessionFile file =
        open(
            "since.json",
            NESTED
                .replace("\"t\": 13,", "\"t\": 0.5,")
                .replace("\"t\": 15,", "\"t\": 2.5,")
                .replace("\"t\": 12.6,", "\"t\": 0.1,")
                .replace("\"t\": 24,", "\"t\": 0.5,"));

    assertThat(RecordedTrees.shown(file.sessions().get(0)))
        .isEqualTo(RecordedTrees.shown(open("fix.json", NESTED).sessions().get(0)));
    assertThat(file.summary()).contains("3 of them with times since their start");
  }

  /** 15 tokens of tools and instructions are in blocks 1 and 2; the last block is a part of one. */
  @Test
  void equalIdsAreEqualTextAfterTheInstructions() throws IOException {
    Agent main = open("fix.json", NESTED).sessions().get(0).main();
    RecordedTurn first = main.turns().get(0);
    RecordedTurn second = main.turns().get(1);
    RecordedTurn inner = first.children().get(1).turns().get(1);

    assertThat(messages(first)).extracting(Message::role).containsExactly("system", "user");
    assertThat(messages(first).get(0)).isEqualTo(messages(second).get(0));
    assertThat(messages(first).get(0).content()).hasSize(15 * 4 - 1);
    String user = messages(first).get(1).content();
    assertThat(user).hasSize(10 * 4 - 1);
    assertThat(messages(second).get(1).content())
        .hasSize(25 * 4 - 1)
        .startsWith(user.substring(0, 10 * 4 - 8));
    assertThat(messages(inner)).as("other instructions").hasSize(1);
    assertThat(messages(inner).get(0).content())
        .hasSize(31 * 4 - 1)
        .startsWith(messages(first).get(0).content().substring(0, 9 * 4));
    long[] blocks = first.recorded().blocks().get();
    assertThat(second.recorded().blocks().get()).startsWith(blocks);
    assertThat(inner.recorded().blocks().get()).startsWith(blocks[0]).hasSize(4);
  }

  /** The worker that ended last is awaited by the next request that starts after its end. */
  @Test
  void fanOutsThatAreRecordedFlatAreFoundByTheirIds() throws IOException {
    SessionFile file =
        open(
            "flat.json",
            trace(
                request(0, 2, "m", 1, 2, 3),
                request(2.5, 8, "m", 1, 2, 50, 51),
                request(3, 5, "m", 1, 2, 60, 61),
                request(5.5, 6, "m", 1, 2, 60, 61, 62),
                request(7, 9, "m", 1, 2, 3, 4),
                request(12, 13, "m", 1, 2, 3, 4, 5)));

    assertThat(RecordedTrees.shown(file.sessions().get(0)))
        .isEqualTo(
            " 0@0+0[flat-1 0@2500+500]^2[flat-2 0@3000+1000 0@5500+500]^1"
                + " 0@7000+1000 0@12000+3000");
    assertThat(file.summary())
        .isEqualTo("1 session, 6 turns; sub-agents: 2 found in flat requests by hash_ids");
  }

  @Test
  void chainsGoOnOrFork() throws IOException {
    assertThat(flat("0 2 m 1,2,3; 3 4 m 1,2,9; 5 6 m 1,2,9,10"))
        .as("a compaction: nobody has 3 again")
        .isEqualTo(" 0@0+0 0@3000+1000 0@5000+1000");
    assertThat(flat("0 2 m 1,2,3; 3 4 m 1,2,9; 5 6 m 1,2,3,4"))
        .as("a fork: the longer one is needed again")
        .isEqualTo(" 0@0+0[flat-1 0@3000+1000]^1 0@5000+1000");
    assertThat(flat("0 2 m 1,2; 3 4 n 1,2,3; 5 6 m 1,2,4"))
        .as("another model never goes on")
        .isEqualTo(" 0@0+0[flat-1 1@3000+1000]^1 0@5000+1000");
    assertThat(flat("0 2 m 1,2; 3 9 m 1,2,3; 4 5 m 1,2,3,4"))
        .as("what overlaps is never one agent")
        .isEqualTo(" 0@0+0[flat-1 0@4000+2000]~ 0@3000+1000");
    assertThat(flat("0 4 m 1,2; 1 2 m 8,9; 3 4 m 8,9,10"))
        .as("no answer before it: it begins with the session")
        .isEqualTo(" 0@0+0 | flat-1 0@1000+1000 0@3000+1000");
    assertThat(flat("0 2 m ; 3 5 m ; 4 6 m "))
        .as("without ids, only time tells agents apart")
        .isEqualTo(" 0@0+0[flat-1 0@4000+2000]~ 0@3000+1000");
    assertThat(flat("0 1 m 1; 2 3 m 1,2; 2.5 4 m 1,3; 5 6 m 1,3,4; 5.5 7 m 1,3,5; 8 9 m 1,2,7"))
        .as("a fork of a fork")
        .isEqualTo(
            " 0@0+0[flat-1 0@2500+1500[flat-2 0@5500+1500]~ 0@5000+1000]^2"
                + " 0@2000+1000 0@8000+2000");
  }

  /** The agents of flat requests, each with its start, end, model and ids. */
  private String flat(String requests) throws IOException {
    String[] all =
        Arrays.stream(requests.split("; ", -1))
            .map(each -> each.split(" ", -1))
            .map(
                part ->
                    request(
                        Double.parseDouble(part[0]),
                        Double.parseDouble(part[1]),
                        part[2],
                        part[3].isEmpty()
                            ? new Integer[0]
                            : Arrays.stream(part[3].split(",", -1))
                                .map(Integer::valueOf)
                                .toArray(Integer[]::new)))
            .toArray(String[]::new);
    return RecordedTrees.shown(open("flat.json", trace(all)).sessions().get(0));
  }

  /** Without an answer before it inside, it begins as the sub-agent does; one request waits. */
  @Test
  void subAgentsHaveParallelAgentsToo() throws IOException {
    String inner =
        "{\"t\":2,\"type\":\"subagent\",\"agent_id\":\"x\",\"requests\":[%s,%s,%s]}"
            .formatted(
                request(2.5, 5, "m", 7, 8), request(3, 4, "m", 9), request(6, 7, "m", 7, 8, 9));

    SessionFile file =
        open("in.json", trace(request(0, 2, "m", 1, 2), inner, request(8, 9, "m", 1, 2, 3)));

    assertThat(RecordedTrees.shown(file.sessions().get(0)))
        .isEqualTo(" 0@0+0[x 0@2500+500 0@6000+1000]^1[x/flat-1 0@3000+1000]^1 0@8000+1000");
  }

  @Test
  void instructionsAreWhatFirstPromptsShareWhereNothingElseSays() throws IOException {
    Agent main =
        open("flat.json", trace(request(0, 2, "m", 1, 2, 3), request(3, 4, "n", 1, 2, 9, 9)))
            .sessions()
            .get(0)
            .main();

    assertThat(messages(main.turns().get(0)).get(0).content()).hasSize(20 * 4 - 1);
    assertThat(messages(main.turns().get(0).children().get(0).turns().get(0)).get(0))
        .isEqualTo(messages(main.turns().get(0)).get(0));
  }

  /** Ids are those of a trace alone; lines, compressed files and a folder are read alike. */
  @Test
  void folderLinesAndCompressedFilesAreRead() throws IOException {
    String line = trace(request(0, 1, "m", 1, 2), request(2, 3, "m", 1, 2, 3));
    Files.writeString(folder.resolve("a.jsonl"), line + "\n" + line.replace("\"t\",", "\"u\","));
    try (OutputStream out =
        new GZIPOutputStream(Files.newOutputStream(folder.resolve("b.json.gz")))) {
      out.write(NESTED.getBytes(UTF_8));
    }
    Files.writeString(folder.resolve("README.md"), "no trace");

    SessionFile file = SessionFile.open(folder.toString(), Tokenizer.chars4());

    assertThat(file.sessions()).extracting(RecordedSession::id).containsExactly("t", "u", "fix");
    assertThat(file.name()).isEqualTo(folder.toAbsolutePath() + "/");
    assertThat(file.sha256()).hasSize(64);
    RecordedTurn first = file.sessions().get(0).main().turns().get(0);
    RecordedTurn other = file.sessions().get(1).main().turns().get(0);
    assertThat(messages(other)).isNotEqualTo(messages(first));
    assertThat(other.recorded().blocks().get()).isNotEqualTo(first.recorded().blocks().get());
    SessionFile again = SessionFile.open(folder.toString(), Tokenizer.chars4());
    assertThat(messages(again.sessions().get(0).main().turns().get(0))).isEqualTo(messages(first));
    SessionFile global =
        open("c.jsonl", line.replace("{\"id\"", "{\"hash_id_scope\":\"global\",\"id\""));
    assertThat(global.sessions().get(0).main().turns().get(0).recorded().blocks().get())
        .containsExactly(1, 2);
  }

  /** Each fiftieth request keeps ten blocks: a compaction, as nobody has the others again. */
  @Test
  void longTraceIsOneAgentWithItsCompactions() throws IOException {
    GeneratedTraces.write(folder.resolve("long"), 2, 500, 200);

    SessionFile file = SessionFile.open(folder.resolve("long").toString(), Tokenizer.chars4());

    assertThat(file.summary()).isEqualTo("2 sessions, 500 turns");
    RecordedTurn last = file.sessions().get(1).main().turns().get(499);
    RecordedTurn before = file.sessions().get(1).main().turns().get(449);
    long[] blocks = last.recorded().blocks().get();
    assertThat(blocks).hasSize(199).startsWith(Arrays.copyOf(before.recorded().blocks().get(), 10));
    assertThat(blocks[10]).isNotEqualTo(before.recorded().blocks().get()[10]);
    assertThat(messages(last).get(0).content()).hasSize(199 * 64 * 4 - 1);
  }

  @Test
  void cutFilesAreRefused() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (OutputStream out = new GZIPOutputStream(bytes)) {
      out.write(NESTED.getBytes(UTF_8));
    }
    Files.write(
        folder.resolve("cut.json.gz"), Arrays.copyOf(bytes.toByteArray(), bytes.size() / 2));
    Files.writeString(folder.resolve("cut.json"), NESTED.substring(0, NESTED.length() / 2));

    assertThatThrownBy(() -> open("cut.json.gz"))
        .hasMessageContaining("cut.json.gz ends before its gzip data does");
    assertThatThrownBy(() -> open("cut.json")).hasMessageContaining("entry 1: not valid JSON");
  }

  @Test
  void folderWithoutTraceIsRefused() {
    assertThatThrownBy(() -> SessionFile.open(folder.toString(), Tokenizer.chars4()))
        .hasMessageContaining("has no file; expected *.json, *.jsonl, *.ndjson or these with .gz");
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = '|',
      value = {
        "$A, {\"t\":6} | bad.json:3: entry 1: expected \"in\"",
        "$A, {\"t\":-1,\"in\":1,\"out\":1} | bad.json:3: entry 1: \"t\" is -1; expected seconds",
        "$A, $A | bad.json:3: entry 1: \"t\" is 4, less than that of the request above",
        "$A, {\"t\":6,\"type\":\"x\"} | :3: entry 1: \"type\" is \"x\"; expected \"n\", \"s\" or",
        "$A, {\"t\":6,\"in\":1,\"out\":1,\"api_time\":-2} | :3: entry 1: \"api_time\" is -2",
        "$A, {\"t\":6,\"in\":1,\"out\":1,\"hash_ids\":[[1]]} | :3: entry 1: expected \"hash_ids\"",
        "$A, {\"t\":7,\"type\":\"subagent\",\"agent_id\":\"c\"} | in sub-agent c",
        "$A], \"block_size\": 0, \"x\": [1 | bad.json:1: entry 1: \"block_size\" is 0",
        "$A, {\"t\": | bad.json:3: entry 1: not valid JSON",
      })
  void mistakesAreOneLine(String requests, String expected) throws IOException {
    String good = "{\"t\":5,\"in\":9,\"out\":1}";
    String later = "{\"t\":4,\"in\":9,\"out\":1}";
    Files.writeString(
        folder.resolve("bad.json"),
        "{\"requests\":[\n"
            + requests.replaceFirst("\\$A", good).replace("$A", later).replace(", {", ",\n{")
            + "]}");

    assertThatThrownBy(() -> open("bad.json"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(expected);
  }
}
