package io.github.gatlingllm.report;

import static io.github.gatlingllm.report.CommandLine.call;
import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.Objectives.AssertedCondition;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Objectives.Scope;
import io.github.gatlingllm.record.RandomRecords;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.record.StartCommand;
import io.github.gatlingllm.report.CommandLine.Called;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MainTest {

  private static final RunInfo INFO =
      RunInfo.started("run-1", "Chat", "local", 1_795_255_200_000_000_000L);

  @TempDir Path folder;
  private Path run;

  @BeforeEach
  void nameRun() {
    run = folder.resolve("run");
  }

  @Test
  void messagesHaveTheEncodingOfTheStream() {
    PrintStream before = System.err;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    System.setErr(new PrintStream(bytes, true, UTF_16BE));
    try {
      assertThat(Main.execute("merge", "north", "--out=joined", "--expect=0")).isEqualTo(1);
    } finally {
      System.setErr(before);
    }

    assertThat(bytes.toString(UTF_16BE))
        .contains("--expect 0 is out of range; expected an integer ≥ 1");
    assertThat(Path.of("joined")).doesNotExist();
  }

  @Test
  void reportIsRenderedFromTheRecords() throws IOException {
    record(20);
    Called rendered = call("render", run.toString());

    assertThat(rendered.exitCode()).isZero();
    assertThat(rendered.output()).endsWith(" mvn gatling:test");
    RunFiles files = new RunFiles(run);
    assertThat(files.page()).content(UTF_8).contains("LLM report");
    assertThat(files.summaryJson()).content(UTF_8).contains("gatling-llm/summary/1");
    assertThat(files.summaryMarkdown()).isNotEmptyFile();
    assertThat(files.junit()).as("of a run without assertions").doesNotExist();
  }

  @ParameterizedTest
  @CsvSource({
    "'', Missing required subcommand, Usage: gatling-llm [-hV] [COMMAND]",
    "render, Missing required parameter: '<run>', Usage: gatling-llm render [-hV]",
    "merge, Missing required options and parameters, Usage: gatling-llm merge [-hV]",
    "compare, Missing required parameter: '<run>', Usage: gatling-llm compare [-hV]",
    "trend, Missing required parameter: '<run>', gatling-llm trend [-hV]"
  })
  void commandsWithoutArgumentsPrintTheirUsage(String command, String line, String usage) {
    Called called = command.isEmpty() ? call() : call(command);

    assertThat(called.exitCode()).isEqualTo(1);
    assertThat(called.error()).startsWith(line).contains("\n" + usage);
  }

  @Test
  void csvIsWrittenOnlyOnRequest() throws IOException {
    record(20);
    RunFiles files = new RunFiles(run);

    assertThat(call("render", run.toString()).exitCode()).isZero();
    assertThat(files.csv()).doesNotExist();
    assertThat(call("render", run.toString(), "--csv").exitCode()).isZero();
    assertThat(Files.readAllLines(files.csv()))
        .hasSize(21)
        .first()
        .asString()
        .startsWith("request_id,");

    Files.delete(files.csv());
    INFO.report(new RunInfo.ReportOptions(true, true, true)).write(files.info());
    assertThat(call("render", run.toString()).exitCode()).isZero();
    assertThat(Files.readAllLines(files.csv())).hasSize(21);
  }

  @Test
  void assertionsAreJudgedAgain() throws IOException {
    record(20);
    RunFiles files = new RunFiles(run);
    for (double limit : List.of(1e9, 1e-9)) {
      Assertion gate =
          new Assertion(null, Scope.GLOBAL, null, "e2e.max", AssertedCondition.LT, List.of(limit));
      INFO.assertions(List.of(gate)).write(files.info());

      assertThat(call("render", run.toString()).exitCode()).isEqualTo(limit > 1 ? 0 : 2);
      assertThat(files.junit())
          .content(UTF_8)
          .contains(limit > 1 ? "failures=\"0\"" : "failures=\"1\"");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "render none, none/llm/requests.jsonl: not there; expected the directory of a recorded run",
    "render none --out none/new, none/llm/requests.jsonl: not there; expected the directory of a",
    "render run --slo speed<1ms, speed<1ms",
    "render run --slo-percentile 0, at most 100",
    "render run --slo-percentile -1, at most 100",
    "render run --slo-percentile 100.5, at most 100",
    "render run --slo-percentile NaN, at most 100",
    "render run --slo-rule all, 'all'",
    "render run --out run/llm/requests.jsonl, requests.jsonl is not a directory; expected one",
    "rendr x, rendr"
  })
  void mistakeIsOneLineAndWritesNothing(String arguments, String message) throws IOException {
    record(1);
    String[] given = arguments.split(" ");
    Called called =
        call(
            Stream.of(given)
                .map(argument -> argument.replaceFirst("^(run|none)", folder + "/$1"))
                .toArray(String[]::new));

    assertThat(called.exitCode()).isEqualTo(1);
    assertThat(called.error()).contains(message).hasLineCount(1);
    assertThat(new RunFiles(run).page()).doesNotExist();
  }

  @ParameterizedTest
  @ValueSource(strings = {"run.json", "generator.jsonl", "server.jsonl", "requests.jsonl"})
  void inputThatIsNoFileIsNamedAndNothingIsWritten(String name) throws IOException {
    record(1);
    Path input = new RunFiles(run).folder().resolve(name);
    Files.deleteIfExists(input);
    Files.createDirectory(input);
    Called called = call("render", run.toString());

    assertThat(called.exitCode()).isEqualTo(1);
    assertThat(called.error()).startsWith(input + ": not ").hasLineCount(1);
    assertThat(new RunFiles(run).summaryJson()).doesNotExist();
    assertThat(new RunFiles(run).page()).doesNotExist();
  }

  @Test
  void failureOfTheFileSystemHasItsReason() {
    IOException denied = new AccessDeniedException("run/llm");
    assertThat(RunFiles.message(new UncheckedIOException(denied)))
        .isEqualTo("run/llm: no permission");
  }

  @Test
  void percentileWithoutSloHasANote() throws IOException {
    record(1);

    assertThat(call("render", run.toString(), "--slo-percentile", "95").output())
        .contains("LLM: the run has no SLO to judge by; set one with --slo");
  }

  @Test
  void sloAndItsRuleAreReplaced() throws IOException {
    record(20);
    RunFiles files = new RunFiles(run);
    assertThat(call("render", run.toString(), "--slo", "e2e<1us").exitCode()).isZero();
    assertThat(files.summaryJson()).content(UTF_8).contains("\"text\" : \"e2e<1us\"");

    INFO.slo(Slo.parse("ttft<1s,e2e<2s")).write(files.info());

    assertThat(call("render", run.toString(), "--slo-rule", "requests").exitCode()).isZero();
    assertThat(files.summaryJson())
        .content(UTF_8)
        .contains("\"text\" : \"ttft<1s,e2e<2s\"", "\"rule\" : \"requests\"");
  }

  private void record(int requests) throws IOException {
    RandomRecords records = new RandomRecords(7);
    RunInfo info = INFO.config(StartCommand.CONFIG_NAME, "mvn gatling:test");
    DemoRun.write(run, info, Stream.generate(() -> records.answer(5)).limit(requests).toList());
  }

  @Test
  void pageSizeIsBoundedAndIndependentOfRecordOrder() throws IOException {
    RunFiles files = new RunFiles(run);
    new BigRun(4_000, 60, 960).write(run);
    RunReport.of(files).write();
    byte[] page = Files.readAllBytes(files.page());
    assertThat(page.length).isBetween(1_000_000, 2_500_000);

    RunReport.of(files).write();
    assertThat(Files.readAllBytes(files.page())).isEqualTo(page);

    List<String> lines = new ArrayList<>(Files.readAllLines(files.requests()));
    Collections.shuffle(lines, new Random(5));
    Files.write(files.requests(), lines);
    String drawn = charts(page);
    RunReport.of(files).write();
    assertThat(charts(Files.readAllBytes(files.page()))).isEqualTo(drawn);
  }

  /** The data of all charts from the percentiles on. */
  private static String charts(byte[] page) {
    String html = new String(page, UTF_8);
    int from = html.indexOf("{\"id\":\"percentiles-0\"");
    assertThat(from).isPositive();
    return html.substring(from, html.indexOf("</script>", from));
  }
}
