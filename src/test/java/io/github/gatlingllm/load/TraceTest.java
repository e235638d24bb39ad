package io.github.gatlingllm.load;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.load.Arrivals.Planned;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TraceTest {
  private static final Path TRACES = Path.of("src/test/resources/traces");

  @TempDir private Path folder;

  private static Planned planned(
      int index, long nanos, @Nullable Integer input, @Nullable Integer output) {
    return new Planned(index, nanos, new Arrivals.Lengths(input, output));
  }

  private static List<Planned> read(String file, double speed) {
    Trace replay = Trace.read(TRACES.resolve(file).toString(), speed);
    return replay.plannedBefore(replay.lengthNanos()).toList();
  }

  @Test
  void readsEveryFormat() {
    assertThat(read("azure.csv", 1))
        .containsExactly(
            planned(0, 0, 374, 44),
            planned(1, 4_314_579_000L, 396, 109),
            planned(2, 13_319_410_000L, 879, 55));
    assertThat(read("burstgpt.csv", 1))
        .containsExactly(
            planned(0, 0, 472, 18),
            planned(1, 40_000_000_000L, 1087, 230),
            planned(2, 40_250_000_000L, 417, null));
    assertThat(read("mooncake.jsonl", 1))
        .containsExactly(planned(0, 0, 6758, 500), planned(1, 3_052_000_000L, 7322, 490));
    assertThat(read("seconds.jsonl", 1))
        .containsExactly(new Planned(0, 0, null), new Planned(1, 500_000_001L, null));
    assertThat(read("iso.jsonl", 1))
        .containsExactly(planned(0, 0, 5, null), planned(1, 1_000_000_000L, null, 7));
  }

  @Test
  void speedScalesTime() {
    assertThat(read("azure.csv", 2))
        .extracting(Planned::offsetNanos)
        .containsExactly(0L, 2_157_289_500L, 6_659_705_000L);
    assertThat(read("mooncake.jsonl", 0.5))
        .extracting(Planned::offsetNanos)
        .containsExactly(0L, 6_104_000_000L);
    assertThatThrownBy(() -> read("azure.csv", 0))
        .hasMessage("Speed 0.0 is not valid; expected a factor above 0, at most 1,000,000");
  }

  /** Lines, in which ~ is a line end and $N the input_length, and their offsets in ms and unit. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          timestamp,input_length~0.0,9~0.5,9~1.0,9 | | 0 500 1000 | seconds
          {"timestamp":0.0,$N}~{"timestamp":2.5,$N}~{"timestamp":3.5,$N} | | 0 2500 3500 | seconds
          {"timestamp":0,$N}~{"timestamp":1,$N}~{"timestamp":3,$N} | | 0 1000 3000 | seconds
          {"timestamp":12.0,$N}~{"timestamp":40.5,$N}~{"timestamp":130.5,$N} | | 0 28500 118500 | seconds
          {"timestamp":0,$N}~{"timestamp":10,$N}~{"timestamp":40,$N} | | 0 10 40 | milliseconds
          {"timestamp":0.5,$N}~{"timestamp":400.5,$N}~{"timestamp":900,$N} | | 0 400 900 | milliseconds
          {"timestamp":0,$N}~{"timestamp":0,$N}~{"timestamp":0,$N} | | 0 0 0 | milliseconds
          {"timestamp":0,$N}~{"timestamp":1,$N} | @1ms | 0 1 | milliseconds
          {"timestamp":0,$N}~{"timestamp":2000,$N} | @1s | 0 2000000 | seconds
          {"timestamp":0,$N}~{"timestamp":2000,$N} | @1us | 0 2 | microseconds
          timestamp,input_tokens~0,9~500,9~1000,9 | | 0 500 1000 | milliseconds
          timestamp~0~90~180 | | 0 90000 180000 | seconds
          timestamp~0.0~150.5~300.0 | | 0 150500 300000 | seconds
          timestamp~1764316800~1764316810 | | 0 10000 | seconds
          timestamp~1764316800000~1764316800010 | | 0 10 | milliseconds
          timestamp~1764316800000000~1764316800007000 | | 0 7 | microseconds
          timestamp~1764316800000000000~1764316800500000000 | | 0 500 | nanoseconds
          timestamp~2023-11-16 18:15:46~2023-11-16 18:15:47 | @1ms | 0 1000 |
          """)
  void allLinesDecideTheUnit(
      String lines, @Nullable String suffix, String millis, @Nullable String unit)
      throws IOException {
    String text = lines.replace('~', '\n').replace("$N", "\"input_length\":9");
    Path file = Files.writeString(folder.resolve("trace.txt"), text);

    Trace trace = Trace.read(file + (suffix == null ? "" : suffix), 1);

    assertThat(
            LongStream.of(trace.recorded())
                .mapToObj(nanos -> Long.toString(Math.round(nanos / 1e6)))
                .collect(Collectors.joining(" ")))
        .isEqualTo(millis);
    assertThat(trace.stamps())
        .startsWith(unit == null ? "" : "time stamps in " + unit)
        .hasSizeGreaterThanOrEqualTo(unit == null ? 0 : 20);
  }

  @Test
  void rowsWithoutTokensAreLeftOutAndCounted() throws IOException {
    Path file =
        Files.writeString(
            folder.resolve("burst.csv"),
            "Timestamp,Request tokens,Response tokens\n1,0,5\n2,9,0\n3,9,5\n4,0,0\n5,8,\n");

    Trace trace = Trace.read(file.toString(), 1);

    assertThat(trace.leftOut())
        .containsExactly("skipped 2 of 5: no input tokens", "skipped 1 of 5: no output tokens");
    assertThat(trace.recorded()).containsExactly(0, 2_000_000_000L);
    assertThat(trace.lengths(1)).isEqualTo(new Arrivals.Lengths(8, null));
    assertThat(trace.hasInputs()).isTrue();
    Files.writeString(file, "Timestamp,Response tokens\n1,0\n");
    assertThatThrownBy(() -> Trace.read(file.toString(), 1))
        .hasMessageContaining("has no arrival")
        .hasMessageContaining("skipped 1 of 1");
    Files.writeString(file, "Timestamp,Response tokens\n1,5\n");
    assertThat(Trace.read(file.toString(), 1).hasInputs()).isFalse();
  }

  @Test
  void filesOfOtherFormatsAreNamed() throws IOException {
    String[][] starts = {
      {"PAR1\u0000", "is Parquet"},
      {"ARROW1\u0000\u0000", "is Arrow"},
      {"PK\u0003\u0004x", "is a zip archive"},
      {"\u001f\u008b\b", "is compressed by gzip"},
      {"(\u00b5/\u00fdx", "is compressed by zstd"},
      {"<!DOCTYPE html>", "is a web page"},
      {"version https://git-lfs.github.com/spec/v1", "is a pointer of Git LFS"}
    };
    for (String[] each : starts) {
      Path file = Files.writeString(folder.resolve("a.json"), each[0], ISO_8859_1);
      assertThatThrownBy(() -> DataFile.of(file.toString()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("a.json " + each[1]);
    }
    String[][] entries = {
      {"{\"id\":1,\"requests\":[{\"t\":0,\"hash_ids\":[1]}]}", "is a Weka trace"},
      {"{\"session_id\":1,\"turns\":[{\"text\":\"a\"}]}", "is a conversation of AIPerf"},
      {"{\"conversations\":[]}", "use dataset=sharegpt:"},
      {"{\"body\":{\"messages\":[]}}", "use dataset=openai:"},
      {"{\"resourceSpans\":[{\"spans\":[]}]}", "use sessions="},
      {"{\"context\":\"c\"}", "use dataset=longbench:"},
      {"{\"prompt\":\"c\"}", "use prompts="},
      {"{\"x\":1}", "expected a \"timestamp\""},
      {"{\"timestamp\":\"x\",\"input_length\":1}", "timestamp 'x'"}
    };
    for (String[] each : entries) {
      Path file = Files.writeString(folder.resolve("a.json"), each[0]);
      assertThatThrownBy(() -> Trace.read(file.toString(), 1))
          .hasMessageStartingWith("a.json:1: entry 1: ")
          .hasMessageContaining(each[1]);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          timestamp~1~1e999999999|trace.txt:3: timestamp '1e999999999'; expected seconds or 2023-11-16 18:15:46.6805900
          timestamp,input tokens~1,1000001|trace.txt:2: length '1000001'; expected an integer number of tokens, at most 1,000,000
          timestamp~1~x|trace.txt:3: timestamp 'x'; expected seconds or 2023-11-16 18:15:46.6805900
          timestamp,model~,a|trace.txt:2: timestamp ''; expected seconds or 2023-11-16 18:15:46.6805900
          timestamp~2~~1.5|trace.txt:4: is 0.5 before the line above; sort the file
          timestamp,input tokens~1,-3|trace.txt:2: length '-3'; expected an integer number of tokens, at most 1,000,000
          timestamp,input tokens~1,2.5|trace.txt:2: length '2.5'; expected an integer number of tokens, at most 1,000,000
          time~1|trace.txt:1: expected a header with a column named timestamp
          {"timestamp":1}~{"timestamp":|trace.txt:2: entry 2: not valid JSON (Unexpected end-of-input within/between Object entries); mend or remove it
          {"time":1}|trace.txt:1: entry 1: expected a "timestamp"
          timestamp|trace.txt: has no arrival; expected one or more
          """)
  void errorsNameFileAndLine(String lines, String message) throws IOException {
    Path file = Files.writeString(folder.resolve("trace.txt"), lines.replace('~', '\n'));

    assertThatThrownBy(() -> Trace.read(file.toString(), 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }

  @Test
  void missingFileIsReported() {
    assertThatThrownBy(() -> Trace.read("none.csv", 1))
        .hasMessage("none.csv: no such file, neither in the file system nor on the class path");
  }

  @Test
  void lengthKeepsTheRate() throws IOException {
    Path one = Files.writeString(folder.resolve("one.csv"), "Timestamp\n3\n");
    Path three = Files.writeString(folder.resolve("three.csv"), "Timestamp\n3\n4\n7\n");

    assertThat(Trace.read(one.toString(), 1).lengthNanos()).isEqualTo(1_000_000_000L);
    assertThat(Trace.read(three.toString(), 1).lengthNanos()).isEqualTo(6_000_000_000L);
  }

  @Test
  @DisabledOnOs(OS.WINDOWS)
  void devicesAndPipesAreRefused() throws IOException, InterruptedException {
    Path pipe = folder.resolve("pipe");
    Process mkfifo = new ProcessBuilder("mkfifo", pipe.toString()).start();
    assertThat(mkfifo.waitFor(5, TimeUnit.SECONDS)).isTrue();

    for (String file : new String[] {"/dev/zero", pipe.toString()}) {
      assertThatThrownBy(() -> DataFile.of(file))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("'" + file + "' is a device or a pipe; write its content to a file");
    }
  }

  private DataFile large(String name, String head) throws IOException {
    Path file = folder.resolve(name);
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.write(head.getBytes(UTF_8));
      sparse.setLength(3L << 30);
    }
    return DataFile.of(file.toString());
  }

  @Test
  void filesThatDoNotFitIntoMemoryAreRefused() throws IOException {
    DataFile data = large("sparse.txt", "");

    assertThatThrownBy(data::lines).hasMessageContaining("sparse.txt").hasMessageContaining("512");
    assertThatThrownBy(() -> data.rows(row -> {}))
        .hasMessage("sparse.txt:1: a cell is longer than 64 MB; split it");
    assertThatThrownBy(data::bytes).hasMessageContaining("512 MB");
    assertThatThrownBy(data::held).hasMessageContaining("512 MB");
  }

  @Test
  void csvLargerThanMemoryIsVisitedRowByRow() throws IOException {
    DataFile data = large("large.csv", "1,2\n");
    List<List<String>> rows = new ArrayList<>();

    assertThatThrownBy(() -> data.rows(rows::add))
        .hasMessage("large.csv:2: a cell is longer than 64 MB; split it");
    assertThat(rows).containsExactly(List.of("1", "2"));
  }

  @Test
  void textOfJsonThatDoesNotFitIntoMemoryIsRefused() throws IOException {
    Path file = folder.resolve("bomb.jsonl.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file), 1 << 16)) {
      out.write("{\"ok\":1}\n{\"text\":\"".getBytes(UTF_8));
      byte[] part = "a".repeat(1 << 20).getBytes(UTF_8);
      for (int i = 0; i < 80; i++) {
        out.write(part);
      }
      out.write("\"}\n".getBytes(UTF_8));
    }

    assertThatThrownBy(() -> DataFile.of(file.toString()).entries("", (entry, start, length) -> {}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("bomb.jsonl.gz:2: entry 2")
        .hasMessageContaining("64 MB");
  }

  @Test
  void jsonIsRecognisedBehindAByteOrderMarkAndSpaces() throws IOException {
    Path file = Files.writeString(folder.resolve("a.json"), "\ufeff \n [1]");

    assertThat(DataFile.of(file.toString()).isJson()).isTrue();
    assertThat(DataFile.of(Files.writeString(file, "text").toString()).isJson()).isFalse();
  }
}
