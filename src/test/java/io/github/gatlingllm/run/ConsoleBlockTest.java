package io.github.gatlingllm.run;

import static io.github.gatlingllm.figures.metric.Distribution.EMPTY;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.level.Live;
import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.figures.level.LiveStats.LiveFigures.Progress;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.record.LevelInfo.Phase;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConsoleBlockTest {

  private static final LiveFigures NOTHING =
      Live.figures(0, 0, 0, 0, null, EMPTY, EMPTY, null, null, null, null, null, null);

  private static final LiveFigures FULL =
      Live.figures(
          1_204,
          3,
          0,
          0,
          0.9872,
          times(182.3, 402, 1_733),
          times(12.11, 20, 35.16),
          1_604.4,
          1_580.0,
          null,
          57.94,
          16L,
          new Progress("c=8", Phase.MEASURE, 0.3333, 65_000_000_000L));

  private static Distribution times(double p50, double p95, double p99) {
    return new Distribution(
        1_000, null, null, null, null, null, null, p50, null, null, p95, p99, null, null, null,
        null, null, List.of());
  }

  @Test
  void runUnderLoad() {
    assertThat(ConsoleBlock.of(FULL, 25_000_000_000L))
        .isEqualToNormalizingNewlines(
            """
            ---- LLM ---------------------------------------------------------------------------------- 25 s since the first request
            > TTFT ms           | p50               182 | p95               402 | p99             1,733
            > ITL ms            | p50              12.1 | p99              35.2
            > output tok/s      | now             1,604 | mean            1,580
            > requests          | in flight          16 | ok              1,204 | failed              3 | in SLO          98.7%
            run [###################################                                                                        ]    33%
                c=8: measuring; 1 min 05 s left of the run\
            """);
  }

  @Test
  void rateLimitsHaveALineOnlyIfTheyApplied() {
    LiveFigures limited =
        Live.figures(7, 0, 12, 3, null, EMPTY, EMPTY, null, null, null, null, null, null);
    assertThat(ConsoleBlock.of(limited, 25_000_000_000L).lines())
        .last()
        .isEqualTo("> rate limits       | 429                12 | delayed             3");
    assertThat(ConsoleBlock.finished("c=8", limited))
        .endsWith("; 7 ok, 0 failed, 12 rate limited, 3 delayed");
  }

  @Test
  void noLineIsWiderThanGatlingsConsole() {
    Progress far = new Progress("c=8 on " + "x".repeat(200), Phase.DRAIN, 7.0, 3_723_000_000_000L);
    assertThat(
            ConsoleBlock.of(FULL.with(FULL.sloShare(), FULL.inFlight(), far), 25_000_000_000L)
                .lines())
        .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(120))
        .anySatisfy(line -> assertThat(line).endsWith("]   100%").hasSize(120))
        .anySatisfy(line -> assertThat(line).endsWith("xx; 1 h 02 min left of the run"));
  }

  @Test
  void finishedLevelIsOneLine() {
    assertThat(ConsoleBlock.finished("c=8 (vllm, Chat)", FULL))
        .startsWith("LLM c=8 (vllm, Chat): 1,580 tok/s")
        .contains("p50 182 ms", "p99 1,733 ms", "1,204 ok", "3 failed", "98.7 %")
        .doesNotContain("\n");
    assertThat(ConsoleBlock.finished("b=4", NOTHING)).contains("– tok/s", "0 ok");
  }

  @Test
  void remainingTimeHasItsUnits() {
    assertThat(left(0)).endsWith("c=1; 0 s left of the run");
    assertThat(left(59_400_000_000L)).endsWith("; 59 s left of the run");
    assertThat(left(3_723_000_000_000L)).endsWith("; 1 h 02 min left of the run");
  }

  private static String left(long nanos) {
    return ConsoleBlock.of(
        NOTHING.with(null, null, new Progress("c=1", null, null, nanos)), 25_000_000_000L);
  }
}
