package io.github.gatlingllm.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.GeneratorSecond.GeneratorField;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GeneratorSecondTest {

  @TempDir Path dir;
  private Path file;
  private final List<GeneratorSecond> read = new ArrayList<>();

  @BeforeEach
  void inADirectory() {
    file = dir.resolve("generator.jsonl");
  }

  private static GeneratorSecond second(long start) {
    return new GeneratorSecond()
        .with(GeneratorField.INJECTOR, "a\nb")
        .with(GeneratorField.START_UNIX_NS, start)
        .with(GeneratorField.LENGTH_S, 1_000_000_001L)
        .with(GeneratorField.LOOP_LAG_MAX_US, new int[] {3, 70})
        .with(GeneratorField.MACHINE_STEAL_S, null);
  }

  @Test
  void linesRoundTrip() throws IOException {
    assertThat(GeneratorSecond.read(file, read::add)).as("without a file").isNull();
    second(5).append(file);
    second(6).append(file);

    assertThat(Files.readAllLines(file)).hasSize(2);
    assertThat(GeneratorSecond.read(file, read::add)).isNull();
    assertThat(read)
        .extracting(s -> s.number(GeneratorField.START_UNIX_NS))
        .containsExactly(5L, 6L);
    GeneratorSecond first = read.get(0);
    assertThat(first.injector()).isEqualTo("a\nb");
    assertThat(first.number(GeneratorField.LENGTH_S)).isEqualTo(1_000_000_001L);
    assertThat(first.largest(GeneratorField.LOOP_LAG_MAX_US)).isEqualTo(70);
    assertThat(first.has(GeneratorField.MACHINE_STEAL_S)).isFalse();
    assertThat(first.number(GeneratorField.MACHINE_STEAL_S)).isZero();
    assertThat(first.largest(GeneratorField.LOOP_LAG_P50_US)).isZero();
  }

  @Test
  void linesBeforeADamagedOneAreRead() throws IOException {
    second(5).append(file);
    String line = Files.readString(file);
    for (String damage :
        List.of(
            line.substring(0, 100),
            "[1]\n",
            "5\n",
            "{\"start_unix_ns\":1}\n",
            "{\"start_unix_ns\":\"x\"}\n",
            "{\"loop_lag_max_us\":[1,{}]}\n",
            "\0\0\0",
            "{\"start_unix_ns\":99999999999999999999}\n")) {
      Files.writeString(file, line + damage);
      read.clear();
      assertThat(GeneratorSecond.read(file, read::add)).as(damage).startsWith("line 2: ");
      assertThat(read).as(damage).hasSize(1);
    }
  }

  @Test
  void unknownKeysAreSkipped() throws IOException {
    Files.writeString(
        file, "{\"new\":{\"a\":[1]},\"length_s\":2,\"start_unix_ns\":7,\"later\":null}\n");
    assertThat(GeneratorSecond.read(file, read::add)).isNull();
    assertThat(read.get(0).number(GeneratorField.LENGTH_S)).isEqualTo(2_000_000_000L);
  }
}
