package io.github.gatlingllm.report;

import static io.github.gatlingllm.report.CommandLine.call;
import static io.github.gatlingllm.report.MergeCommandTest.summary;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.Objectives.AssertedCondition;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Objectives.Scope;
import io.github.gatlingllm.record.RandomRecords;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import io.github.gatlingllm.report.CommandLine.Called;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import javax.xml.parsers.DocumentBuilderFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.xml.sax.InputSource;

/** Damaged, foreign and hostile folders of runs. */
class ForeignRunTest {

  private static final ObjectMapper JSON =
      JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();
  private static final long START = 1_795_255_200_000_000_000L;
  private static final long MINUTE = 60_000_000_000L;

  /** Hostile text for a terminal, a page, Markdown, a spreadsheet and XML. */
  private static final String HOSTILE =
      "=1+1\u001b[31m\u009b2J\u202e</script><img src=x onerror=alert(1)>`|*[a](javascript:b)\"'&]]>"
          + "\u0000\u2028\ud800\r\nSet";

  @TempDir Path folder;
  private final RandomRecords records = new RandomRecords(3);

  @Test
  void damagedRecordDoesNotPreventTheReport() throws IOException {
    List<String> good = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      good.add(line(record -> {}));
    }
    List<String> all = new ArrayList<>(good);
    String[] impossible = {
      "output_tokens 99999999999999999999999999",
      "streamed_tokens 1000000000000000000",
      "cached_tokens NaN",
      "start_unix_ns 92233720368547758070",
      "latency_s 1e999999999",
      "latency_s 99999999999",
      "event_offsets_us [1,2,3000000000]",
      "event_tokens [1,2]",
      "status \"won\"",
      "phase 7",
      "request_id " + "[".repeat(2_000) + "]".repeat(2_000)
    };
    for (int i = 0; i < impossible.length; i++) {
      all.add(i, changed(impossible[i]));
    }
    Path alone = run("alone", good, info());
    Path mixed = run("mixed", all, info());

    assertThat(call("render", alone.toString()).exitCode()).isZero();
    Called rendered = call("render", mixed.toString());

    assertThat(rendered.exitCode()).as(rendered.error()).isZero();
    assertThat(rendered.output())
        .contains(
            impossible.length + " damaged lines ignored, the first is line 1: not valid JSON in");
    JsonNode expected = summary(alone);
    JsonNode actual = summary(mixed);
    JsonNode dropped = actual.at("/checks/0");
    assertThat(dropped.path("id").textValue()).isEqualTo("records_dropped");
    assertThat(dropped.path("value").intValue()).isEqualTo(impossible.length);
    assertThat(dropped.path("level").textValue()).isEqualTo("invalid");
    for (JsonNode summary : List.of(expected, actual)) {
      ((ObjectNode) summary).remove(List.of("checks", "verdict", "findings"));
    }
    assertThat(actual).isEqualTo(expected);
    assertThat(actual.at("/counts/ok").intValue()).isEqualTo(40);

    Path joined = folder.resolve("joined");
    Called merged =
        call("merge", mixed.toString(), other(good).toString(), "--out", joined.toString());
    assertThat(merged.exitCode()).as(merged.error()).isZero();
    assertThat(merged.output())
        .contains(impossible.length + " damaged lines ignored, the first is line 1: ");
    assertThat(summary(joined).at("/counts/ok").intValue()).isEqualTo(80);
    assertThat(RunInfo.read(new RunFiles(joined).info()).orElseThrow().outcome().dropped())
        .isEqualTo(impossible.length);
    assertThat(call("compare", alone.toString(), mixed.toString()).exitCode()).isZero();
  }

  @Test
  void absurdNumbersDoNotPreventTheReport() throws IOException {
    List<String> lines = new ArrayList<>();
    for (String change :
        List.of(
            "output_tokens 2147483647",
            "prompt_tokens -5",
            "streamed_tokens 2147483647",
            "start_unix_ns 9223372036854775807",
            "start_unix_ns -1",
            "start_unix_ns 3999999999999999999",
            "latency_s 9223372036.854775807",
            "ttft_s -99999999",
            "closed_s 9223372036.854775807",
            "start_lag_s 30000000",
            "gate_wait_s 9223372036.854775807",
            "stall_s 9223372036.854775807",
            "tpot_s 9223372036.854775807",
            "event_offsets_us [2147483647,0,-1,2,3]",
            "event_tokens [2147483647,2147483647,2147483647,2147483647,2147483647]",
            "event_choices [1000000000,1,1,1,1]",
            "trial 2147483647",
            "turn -2147483648",
            "events -1",
            "events 2147483647",
            "first_event_tokens 2147483647",
            "request_index -1")) {
      lines.add(line(record -> {}));
      lines.add(changed(change));
    }
    Path run = run("absurd", lines, info());
    Path joined = folder.resolve("joined");

    for (String[] command :
        new String[][] {
          {"render", run.toString(), "--csv"},
          {"merge", run.toString(), other(lines).toString(), "--out", joined.toString()},
          {"compare", run.toString(), joined.toString()}
        }) {
      Called called = call(command);
      assertThat(called.exitCode()).as(called.error()).isZero();
    }
    assertThat(summary(run).at("/counts/started").intValue()).isGreaterThan(22);
  }

  @Test
  void namesAreNeverInterpretedAsMarkup() throws Exception {
    String hostile = HOSTILE.replace("\ud800", "");
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      boolean failed = i % 4 == 0;
      lines.add(
          line(
              record -> {
                record.put("name", HOSTILE).put("model", HOSTILE).put("target", hostile);
                record.put("scenario", hostile).put("stage", hostile);
                record.put("endpoint", "http://" + HOSTILE).put("finish_reason", HOSTILE);
                if (failed) {
                  record.put("status", "http_error").put("ok", false).put("error", HOSTILE);
                }
              }));
    }
    RunInfo info =
        RunInfo.started(hostile, hostile, hostile, START)
            .ended(START + MINUTE, RunInfo.State.COMPLETE)
            .stages(List.of(level(hostile, hostile, hostile)))
            .config(Map.of(hostile, hostile, "model", hostile))
            .versions(Map.of(hostile, hostile))
            .notSent(Map.of(hostile, 2L))
            .conclusion(
                new Conclusion("search", hostile, false, 1.0, 1.0, null, null).on(hostile, hostile))
            .assertions(
                List.of(
                    new Assertion(
                        null,
                        Scope.REQUEST,
                        hostile,
                        "e2e.max",
                        AssertedCondition.LT,
                        List.of(1e9))));
    Path run = run("hostile", lines, info);
    Path base = run("base", lines, info);
    RunFiles files = new RunFiles(run);

    Called rendered = call("render", run.toString(), "--csv");
    Called compared = call("compare", base.toString(), run.toString());

    assertThat(compared.exitCode()).as(compared.error()).isZero();
    for (String console : List.of(rendered.output(), rendered.error(), compared.output())) {
      assertThat(console).doesNotContainPattern("[\\p{Cc}\\p{Cf}\u2028&&[^\n\t]]");
    }
    assertThat(rendered.output()).contains("\\u001b[31m\\u009b2J\\u202e");
    for (Path page : List.of(files.page(), run.resolve("compare.html"))) {
      assertThat(page).content(UTF_8).doesNotContain("<img src=x", "</script><img", "\u001b[31m");
    }
    for (Path text : List.of(files.summaryMarkdown(), run.resolve("compare.md"))) {
      assertThat(text)
          .content(UTF_8)
          .doesNotContainPattern("(?<!\\\\)<img")
          .doesNotContainPattern("(?<!\\\\)\\[a")
          .doesNotContainPattern("[\\p{Cc}\\p{Cf}\u2028&&[^\n]]")
          .doesNotContainPattern("(?m)^Set");
    }
    assertThat(Files.readString(files.csv()).lines().skip(1))
        .noneMatch(cells -> cells.contains(",\"=1"));
    assertThat(
            DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new InputSource(new StringReader(Files.readString(files.junit()))))
                .getElementsByTagName("testcase")
                .getLength())
        .isEqualTo(1);
  }

  @Test
  void symbolicLinksAreReplacedAndNeverFollowed() throws IOException {
    Path mine = Files.writeString(folder.resolve("mine.txt"), "mine");
    Path run = run("linked", List.of(line(record -> {})), info());
    RunFiles files = new RunFiles(run);
    List<Path> written =
        List.of(
            files.page(),
            files.summaryJson(),
            files.summaryMarkdown(),
            files.junit(),
            files.csv(),
            files.csv().resolveSibling("requests.csv.part"),
            files.page().resolveSibling("llm.html.part"),
            run.resolve("compare.html"),
            run.resolve("compare.md"));
    for (Path file : written) {
      Files.createSymbolicLink(file, mine);
    }

    assertThat(call("render", run.toString(), "--csv").exitCode()).isZero();
    assertThat(call("compare", run.toString(), run.toString()).exitCode()).isZero();

    assertThat(mine).hasContent("mine");
    assertThat(files.page()).isRegularFile();
    Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
    Files.copy(files.requests(), elsewhere.resolve("requests.jsonl"));
    Path lured = Files.createDirectory(folder.resolve("lured"));
    Files.createSymbolicLink(lured.resolve("llm"), elsewhere);
    Called refused = call("render", lured.toString());
    assertThat(refused.exitCode()).isEqualTo(1);
    assertThat(refused.error()).contains("is a link").hasLineCount(1);
    assertThat(elsewhere)
        .isDirectoryContaining("glob:**requests.jsonl")
        .isDirectoryNotContaining("glob:**summary*");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      value = {
        "{ # is not understood",
        "{\"schema\":\"gatling-llm/run/2\"} # has schema",
        "{\"schema\":\"gatling-llm/run/1\",\"schema\":\"gatling-llm/run/1\"} # Duplicate",
        "{\"schema\":\"gatling-llm/run/1\"} # no id",
        "RUN ,\"stages\":[null] # is not understood",
        "RUN ,\"dropped\":\"x\" # is not understood",
        "RUN ,\"sub\":DEEP # is not understood",
        "HUGE # is larger than 16 MiB",
        "MISSING # not there; expected the directory of a recorded run"
      })
  void invalidRunJsonIsRefusedInOneLine(String json, String why) throws IOException {
    String text =
        json.startsWith("RUN")
            ? "{\"schema\":\"gatling-llm/run/1\",\"id\":\"a\",\"simulation\":\"b\",\"injector\":\"c\","
                + "\"state\":\"complete\""
                + json.substring(4).replace("DEEP", "[".repeat(100_000))
                + "}"
            : json.equals("HUGE") ? " ".repeat((16 << 20) + 1) : json;
    Path run = run("refused", List.of(line(record -> {})), null);
    if (!json.equals("MISSING")) {
      Files.writeString(new RunFiles(run).info(), text);
    }

    Called refused = call("render", run.toString());

    assertThat(refused.exitCode()).isEqualTo(1);
    assertThat(refused.error()).contains("run.json").contains(why).hasLineCount(1);
    assertThat(refused.error().length()).isLessThan(2_000);
  }

  private static RunInfo info() {
    return info("one").stages(List.of(level("c=64", "default", null)));
  }

  private static RunInfo info(String injector) {
    return RunInfo.started("run", "demo.Chat", injector, START)
        .ended(START + MINUTE, RunInfo.State.COMPLETE);
  }

  private static LevelInfo level(String label, String target, @Nullable String scenario) {
    return new LevelInfo(
        label,
        target,
        scenario,
        "closed loop",
        64.0,
        label,
        List.of(new PhaseWindow(Phase.MEASURE, START, START + MINUTE)));
  }

  private Path other(List<String> lines) throws IOException {
    return run("other", lines, info("two").stages(info().stages()));
  }

  private String line(Consumer<ObjectNode> change) throws IOException {
    ObjectNode record = (ObjectNode) JSON.readTree(RecordFile.line(records.answer(5)));
    change.accept(record);
    return JSON.writeValueAsString(record);
  }

  /** A line with another value, which follows its key in {@code change}. */
  private String changed(String change) throws IOException {
    String key = '"' + change.split(" ", 2)[0] + "\":";
    return line(record -> {})
        .replaceFirst(key + "(\\[[^]]*]|[^,}]*)", key + change.split(" ", 2)[1]);
  }

  private Path run(String name, List<String> lines, @Nullable RunInfo info) throws IOException {
    RunFiles files = new RunFiles(folder.resolve(name));
    Files.createDirectories(files.folder());
    Files.write(files.requests(), lines);
    if (info != null) {
      info.write(files.info());
    }
    return files.run();
  }
}
