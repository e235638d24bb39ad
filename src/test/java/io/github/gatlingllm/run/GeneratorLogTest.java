package io.github.gatlingllm.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.GeneratorSecond.GeneratorField;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RequestRecord;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GeneratorLogTest {

  @TempDir private Path folder;

  @Test
  void recordsRightBeforeTheEndAreInALineThatIsLongEnough() throws Exception {
    List<RequestRecord> records = new ArrayList<>();
    Path recorded = folder.resolve("requests.jsonl");
    try (InputStream zipped =
        getClass().getResourceAsStream("/recorded/runs/curve/requests.jsonl.gz")) {
      Files.copy(new GZIPInputStream(zipped), recorded);
    }
    RecordFile.read(recorded, records::add);
    Path file = folder.resolve("generator.jsonl");
    GeneratorLog log =
        new GeneratorLog(
            file, "here", nanos -> nanos, () -> new GeneratorLog.Load(0, 0, 0), second -> {});
    records.forEach(log::requestEnded);
    log.secondPassed();
    log.runEnded();

    List<GeneratorSecond> lines = new ArrayList<>();
    assertThat(GeneratorSecond.read(file, lines::add)).isNull();
    assertThat(lines).allMatch(line -> line.number(GeneratorField.LENGTH_S) >= 100_000_000);
    assertThat(lines.stream().mapToLong(line -> line.number(GeneratorField.EVENTS)).sum())
        .isPositive()
        .isEqualTo(records.stream().mapToLong(record -> record.events().count()).sum());
  }

  @Test
  void aLineEndsAtTheEdgeOfAMeasureWindow() throws Exception {
    Path file = folder.resolve("generator.jsonl");
    GeneratorLog log =
        new GeneratorLog(
            file, "here", nanos -> nanos, () -> new GeneratorLog.Load(0, 0, 0), second -> {});
    long edge = System.nanoTime();
    log.windowEdge(edge);
    log.windowEdge(edge + TimeUnit.HOURS.toNanos(1));
    log.secondPassed(); // late, after the edge
    log.windowEdge(edge);
    log.windowEdge(edge - 1_000);
    log.runEnded();

    List<GeneratorSecond> lines = new ArrayList<>();
    assertThat(GeneratorSecond.read(file, lines::add)).isNull();
    assertThat(lines)
        .as("on a slow machine, one that the edge did not end too")
        .hasSizeGreaterThanOrEqualTo(2)
        .allMatch(line -> line.number(GeneratorField.LENGTH_S) > 0);
    GeneratorSecond first = lines.get(0);
    assertThat(first.number(GeneratorField.START_UNIX_NS) + first.number(GeneratorField.LENGTH_S))
        .isEqualTo(edge);
    assertThat(lines.get(1).number(GeneratorField.START_UNIX_NS)).isEqualTo(edge);
  }
}
