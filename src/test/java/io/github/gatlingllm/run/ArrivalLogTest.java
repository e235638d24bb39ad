package io.github.gatlingllm.run;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Arrivals.Planned;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.run.Run.RunClock;
import io.github.gatlingllm.run.RunLevels.ArrivalLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class ArrivalLogTest {

  private static final LevelInfo.Key LEVEL = new LevelInfo.Key("r=2", "target", "scenario");

  @TempDir private Path folder;

  private final List<Long> counts = new CopyOnWriteArrayList<>();

  private ArrivalLog open() {
    return new ArrivalLog(
        file(),
        new RunClock(1_000, 10),
        new WriteFailures(folder, line -> {}),
        Executors.newSingleThreadExecutor());
  }

  private Path file() {
    return folder.resolve("arrivals.jsonl");
  }

  private List<String> lines() throws IOException {
    return Files.exists(file()) ? Files.readAllLines(file()) : List.of();
  }

  @Test
  void linesHaveTheScheduleAndEpochTime() throws IOException {
    ArrivalLog log = open();
    log.write(
        LEVEL,
        List.of(new Planned(0, 0, null), new Planned(1, 500, new Arrivals.Lengths(7, null)))
            .iterator(),
        110,
        counts::add);
    log.close(ofSeconds(60));

    assertThat(lines())
        .hasSize(2)
        .allMatch(line -> line.contains("\"scenario\""))
        .allMatch(line -> line.contains("\"r=2\""));
    assertThat(lines().get(0)).contains("1100").doesNotContain("7");
    assertThat(lines().get(1)).contains("1600").contains("7");
  }

  @Test
  void halfOfASurrogatePairIsReplaced() throws IOException {
    ArrivalLog log = open();
    log.write(new LevelInfo.Key("r=2", "\ude00b", "a\ud83d"), planned(2), 0, counts::add);
    log.close(ofSeconds(60));

    assertThat(lines())
        .hasSize(2)
        .allMatch(line -> line.contains("\"a\ufffd\",\"target\":\"\ufffdb\""));
  }

  @Test
  void schedulesFollowEachOtherInCompleteLines() throws IOException {
    ArrivalLog log = open();
    log.write(LEVEL, planned(1_000), 0, counts::add);
    log.write(new LevelInfo.Key("r=2", "target", "other"), planned(10), 0, counts::add);
    log.close(ofSeconds(60));

    assertThat(counts).containsExactly(1_000L, 10L);
    assertThat(lines()).hasSize(1_010).allMatch(line -> line.endsWith("}"));
    assertThat(lines().get(999)).contains("\"scenario\":\"scenario\"");
    assertThat(lines().get(1_000)).contains("\"other\"");
  }

  @Test
  @Timeout(60)
  void anEndlessScheduleEndsWithTheRun() throws IOException {
    ArrivalLog log = open();
    log.write(LEVEL, Stream.generate(() -> new Planned(0, 1, null)).iterator(), 0, counts::add);
    log.close(ofSeconds(0));

    assertThat(counts).isEmpty();
    assertThat(lines()).allMatch(line -> line.endsWith("}"));
  }

  /** Of the instants 0, 1, …, 9 the window from 3 to 7 has 3, 4, 5 and 6. */
  @Test
  void countsTheArrivalsOfAWindow() {
    ArrivalLog log = open();
    log.count(planned(10), 3, 7, counts::add);
    log.count(planned(10), 0, 100, counts::add);
    log.count(
        Stream.iterate(0, i -> i + 1).map(i -> new Planned(i, i, null)).iterator(),
        0,
        5,
        counts::add);
    log.close(ofSeconds(60));

    assertThat(counts).containsExactly(4L, 10L, 5L);
  }

  @Test
  void afterTheEndNothingIsWritten() throws IOException {
    ArrivalLog log = open();
    log.close(ofSeconds(60));
    log.write(LEVEL, planned(1), 0, counts::add);

    assertThat(lines()).isEmpty();
  }

  private static Iterator<Planned> planned(int count) {
    return Stream.iterate(0, i -> i + 1).limit(count).map(i -> new Planned(i, i, null)).iterator();
  }
}
