package io.github.gatlingllm.figures.level;

import static io.github.gatlingllm.figures.level.Recorded.at;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.level.RunStatistics.RecordSource;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Names, causes and lengths that a script or a server chooses cannot grow the figures. */
class BoundedMemoryTest {

  private static final RunInfo RUN = Recorded.run(10, Recorded.stage(1, 0, 10_000));

  @Test
  void namesCausesAndReasonsAreBounded() throws IOException {
    RecordSource source =
        sink -> {
          for (int i = 0; i < 5_000; i++) {
            sink.accept(at(i).name("ask " + i).tokens(5, 9).finish("reason " + i).record());
            sink.accept(at(i).failed(RequestStatus.HTTP_ERROR, "cause " + i).record());
          }
          return new ReadReport(10_000, 0, 0, List.of());
        };
    Summary summary = RunStatistics.of(RUN, source).summary();
    assertThat(summary.requests()).hasSize(101);
    assertThat(summary.requests()).extracting(g -> g.name()).contains("(other names)", "ask 0");
    assertThat(summary.figures().errors()).hasSize(201);
    assertThat(summary.figures().finishReasons()).hasSizeLessThanOrEqualTo(201);
    assertThat(summary.figures().counts().ok()).isEqualTo(5_000);
    assertThat(summary.figures().errors().stream().mapToLong(e -> e.count()).sum())
        .isEqualTo(5_000);
  }

  @Test
  void absurdTimesAndCounts() {
    Summary summary =
        Recorded.summary(RUN, at(0).tokens(1e6, 2e6).perEvent(1, 2_000_000_000), at(8e7).tokens(5));
    assertThat(summary.figures().metric(Metric.ITL_MS).count()).isEqualTo(2_000_000_000L);
    assertThat(summary.figures().counts().ok()).isEqualTo(2);
  }
}
