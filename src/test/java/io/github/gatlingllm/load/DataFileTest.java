package io.github.gatlingllm.load;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Files that would take all memory, or never end. */
@Timeout(30)
class DataFileTest {

  @TempDir private Path folder;

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

  @Test
  void filesThatDoNotFitIntoMemoryAreRefused() throws IOException {
    Path file = folder.resolve("sparse.txt");
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(3L << 30);
    }
    DataFile data = DataFile.of(file.toString());

    assertThatThrownBy(data::lines).hasMessageContaining("sparse.txt").hasMessageContaining("512");
    assertThatThrownBy(() -> data.rows(row -> {})).hasMessageContaining("512 MB");
    assertThatThrownBy(data::bytes).hasMessageContaining("512 MB");
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
