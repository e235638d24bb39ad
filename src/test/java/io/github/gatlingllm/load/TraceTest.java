package io.github.gatlingllm.load;

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
    Arrivals.Replay replay = Arrivals.Replay.read(TRACES.resolve(file).toString(), speed);
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
        .hasMessage("Speed 0.0 replays nothing; expected a factor above 0, at most 1,000,000");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          timestamp~1~x|trace.txt:3: timestamp 'x'; expected seconds or 2023-11-16 18:15:46.6805900
          timestamp,model~,a|trace.txt:2: timestamp ''; expected seconds or 2023-11-16 18:15:46.6805900
          timestamp~2~~1.5|trace.txt:4: is 0.5 s before the line above; sort the file
          timestamp,input tokens~1,-3|trace.txt:2: length '-3'; expected a whole number of tokens
          timestamp,input tokens~1,2.5|trace.txt:2: length '2.5'; expected a whole number of tokens
          time~1|trace.txt:1: expected a header with a column named timestamp
          {"timestamp":1}~{"timestamp":|trace.txt:2: entry 2: not valid JSON (Unexpected end-of-input within/between Object entries); mend or remove it
          {"time":1}|trace.txt:1: entry 1: expected a "timestamp"
          timestamp|trace.txt: has no arrival; expected one or more
          """)
  void errorsNameFileAndLine(String lines, String message) throws IOException {
    Path file = Files.writeString(folder.resolve("trace.txt"), lines.replace('~', '\n'));

    assertThatThrownBy(() -> Trace.read(file.toString()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }

  @Test
  void missingFileIsReported() {
    assertThatThrownBy(() -> Trace.read("none.csv"))
        .hasMessage("none.csv: no such file, neither in the file system nor on the class path");
  }

  @Test
  void lengthKeepsTheRate() throws IOException {
    Path one = Files.writeString(folder.resolve("one.csv"), "Timestamp\n3\n");
    Path three = Files.writeString(folder.resolve("three.csv"), "Timestamp\n3\n4\n7\n");

    assertThat(Trace.read(one.toString()).lengthNanos()).isEqualTo(1_000_000_000L);
    assertThat(Trace.read(three.toString()).lengthNanos()).isEqualTo(6_000_000_000L);
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

    assertThatThrownBy(() -> DataFile.of(file.toString()).entries((entry, start, length) -> {}))
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
