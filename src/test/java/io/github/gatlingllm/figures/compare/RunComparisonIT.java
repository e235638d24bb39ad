package io.github.gatlingllm.figures.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.compare.Comparison.ComparedRun;
import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.Runs;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.Slo;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * How often verdicts are right, over many pairs of runs.
 *
 * <p>{@code embedded-engine.jsonl.gz} is a minute of real traffic, c=8 against the embedded engine
 * on a machine that was busy with other work, reduced to the keys that figures need.
 */
@Tag("nightly")
class RunComparisonIT {

  private static final int PAIRS = 20;
  private static final long SECOND = 1_000_000_000L;

  /** Length of resampled pieces, longer than the correlation time of the machine. */
  private static final long PIECE = 5 * SECOND / 2;

  private static final int PIECES = 24;

  @TempDir static Path folder;

  private static final List<RequestRecord> RECORDED = new ArrayList<>();

  @BeforeAll
  static void read() throws IOException {
    Path plain = folder.resolve("requests.jsonl");
    try (InputStream packed =
        RunComparisonIT.class.getResourceAsStream("/recorded/embedded-engine.jsonl.gz")) {
      Files.copy(new GZIPInputStream(packed), plain);
    }
    var unused = RecordFile.read(plain, RECORDED::add);
    assertThat(RECORDED).hasSizeGreaterThan(3_000);
  }

  @Test
  void resampledRunsDifferOnlyWhereChanged() throws IOException {
    TreeMap<String, Integer> wrong = new TreeMap<>();
    int calledChanged = 0;
    int found = 0;
    for (int pair = 0; pair < PAIRS; pair++) {
      ComparedRun base = drawn(2L * pair, 1);
      Comparison same = Comparison.of(base, drawn(2L * pair + 1, 1), 1);
      Comparison slower = Comparison.of(base, drawn(2L * pair + 1, 1.2), 1);
      calledChanged += clear(same, "").isEmpty() ? 0 : 1;
      clear(same, "").forEach(figure -> wrong.merge(figure, 1, Integer::sum));
      found += clear(slower, "ttft.").isEmpty() ? 0 : 1;
    }
    assertThat(calledChanged).as("called changed: %s", wrong).isLessThanOrEqualTo(PAIRS / 20);
    assertThat(found).as("TTFT + 20 %% found").isGreaterThanOrEqualTo(PAIRS * 9 / 10);
  }

  private static List<String> clear(Comparison comparison, String prefix) {
    return comparison.places().stream()
        .flatMap(place -> place.changes().stream())
        .filter(change -> change.outcome().isClear())
        .map(change -> change.figure().name())
        .filter(name -> name.startsWith(prefix))
        .toList();
  }

  /** A minute of pieces of the recording, taken at random positions. */
  private static ComparedRun drawn(long seed, double ttftFactor) throws IOException {
    Random random = new Random(seed);
    long from = RECORDED.stream().mapToLong(r -> r.timing().startUnixNanos()).min().orElseThrow();
    long room = 60 * SECOND - PIECE;
    List<RequestRecord> records = new ArrayList<>();
    for (int piece = 0; piece < PIECES; piece++) {
      long start = from + (long) (random.nextDouble() * room);
      long shift = Recorded.ORIGIN + piece * PIECE - start;
      for (RequestRecord record : RECORDED) {
        long at = record.timing().startUnixNanos();
        if (at >= start && at < start + PIECE) {
          records.add(moved(record, shift, ttftFactor));
        }
      }
    }
    LevelInfo stage = Runs.stage("embedded engine", 8, 0, PIECES * PIECE / 1e6);
    RunInfo info =
        Runs.run(61, stage).slo(Slo.parse("ttft<80ms,tpot<9ms", 95, Slo.Rule.PERCENTILES));
    return ComparedRun.read(info, null, Runs.source(records));
  }

  private static RequestRecord moved(RequestRecord record, long shift, double ttftFactor) {
    Long ttft = record.timing().ttftNanos();
    double later = ttft == null ? 0 : ttft * (ttftFactor - 1) / 1e6;
    return Recorded.at((record.timing().startUnixNanos() + shift - Recorded.ORIGIN) / 1e6)
        .target(record.identity().target())
        .stage(record.identity().stage())
        .tokens(
            Arrays.stream(record.events().offsetsMicros())
                .mapToDouble(micros -> micros / 1e3 + later)
                .toArray())
        .record();
  }
}
