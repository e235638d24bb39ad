package io.github.gatlingllm.figures.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.compare.Comparison.ComparedRun;
import io.github.gatlingllm.figures.level.MultiServerQueue;
import io.github.gatlingllm.figures.level.MultiServerQueue.Visit;
import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.Runs;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.Slo;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Runs of a queue at 90 % utilisation, with a correlation time of 24 s in runs of 300 s. */
@Tag("nightly")
class NearSaturationTest {

  private static final double SECONDS = 300;

  @Test
  void runsOfTheSameQueueAreUnchanged() throws IOException {
    int pairs = 5;
    int changed = 0;
    for (int pair = 0; pair < pairs; pair++) {
      changed += isClear(Comparison.of(run(2L * pair), run(2L * pair + 1), 1)) ? 1 : 0;
    }

    assertThat(changed).isZero();
  }

  private static boolean isClear(Comparison comparison) {
    return comparison.places().stream()
        .flatMap(place -> place.changes().stream())
        .anyMatch(change -> change.outcome().isClear());
  }

  private static ComparedRun run(long seed) throws IOException {
    List<RequestRecord> records = new ArrayList<>();
    for (Visit visit : new MultiServerQueue(0.9).visits(seed, SECONDS)) {
      records.add(
          Recorded.at(visit.at() * 1e3)
              .stage("r=14")
              .lag(0)
              .tokens(visit.ttft() * 1e3, (visit.ttft() + visit.e2e()) * 500, visit.e2e() * 1e3)
              .record());
    }
    LevelInfo stage = Runs.rate(14, 0, SECONDS * 1e3);
    RunInfo info = Runs.run(SECONDS + 20, stage).slo(Slo.parse("ttft<1s"));
    return ComparedRun.read(info, null, Runs.source(records));
  }
}
