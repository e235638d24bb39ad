package io.github.gatlingllm.run;

import static io.github.gatlingllm.figures.level.Recorded.at;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.level.LiveStats;
import io.github.gatlingllm.figures.level.LiveStats.LiveFigures;
import io.github.gatlingllm.figures.level.LiveStats.Progress;
import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestStatus;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RunConsoleTest {

  private static final LiveFigures NOTHING = new LiveStats(() -> 0).peek();

  /** In 25 s: TTFT of 100 to 400 ms, gaps of 10 and 1,200 ms. */
  private static final LiveFigures FULL =
      figures(
              25,
              Stream.concat(
                  IntStream.rangeClosed(1, 4)
                      .mapToObj(i -> at(0).tokens(i * 100, i * 100 + 10, i * 100 + 1_210))
                      .map(answered -> answered.judged(true)),
                  Stream.of(at(0).failed(RequestStatus.HTTP_ERROR, "").judged(false))))
          .with(0.8, 16L, new Progress("c=8", Phase.MEASURE, 0.3333, 65_000_000_000L));

  private static LiveFigures figures(long seconds, Stream<Recorded> requests) {
    AtomicLong clock = new AtomicLong();
    LiveStats stats = new LiveStats(clock::get);
    requests.map(Recorded::record).forEach(stats);
    clock.set(seconds * 1_000_000_000L);
    return stats.peek();
  }

  @Test
  void runUnderLoad() {
    assertThat(RunConsole.block(FULL, Map.of(), 25_000_000_000L))
        .isEqualToNormalizingNewlines(
            """
            ---- LLM ---------------------------------------------------------------------------------- 25 s since the first request
            > TTFT ms           | p50               200 | p95               400 | p99               400
            > ITL ms            | p50              10.0 | p99             1,200
            > output tok/s      | now             0.480 | mean            0.480
            > requests          | in flight          16 | ok                  4 | failed              1 | in SLO          80.0%
            run [###################################                                                                        ]    33%
                c=8: measuring; 1 min 05 s of the run remaining\
            """);
  }

  @Test
  void classesOfTrafficHaveALineEach() {
    Map<String, LiveFigures> classes = new LinkedHashMap<>();
    classes.put("chat", FULL.with(null, 12L, null));
    classes.put("agents-of-the-night-shift", NOTHING.with(null, 4L, null));
    assertThat(RunConsole.block(FULL, classes, 25_000_000_000L).lines().skip(4).limit(3))
        .containsExactly(
            "> requests          | in flight          16 | ok                  4 | failed          "
                + "    1 | in SLO          80.0%",
            "> chat              | in flight          12 | ok                  4 | failed          "
                + "    1 | TTFT p50          200",
            "> agents-of-the-nig | in flight           4 | ok                  0 | failed          "
                + "    0 | TTFT p50            -");
  }

  @Test
  void rateLimitsHaveALineOnlyIfTheyApplied() {
    LiveFigures limited =
        figures(
            0,
            IntStream.range(0, 19)
                .mapToObj(
                    i ->
                        i < 7
                            ? at(0).tokens(1).paced(i < 3 ? 5 : 0)
                            : at(0).failed(RequestStatus.RATE_LIMITED, "")));
    assertThat(RunConsole.block(limited, Map.of(), 25_000_000_000L).lines())
        .last()
        .isEqualTo("> rate limits       | 429                12 | delayed             3");
    assertThat(RunConsole.finished("c=8", limited))
        .endsWith("; 7 ok, 0 failed, 12 rate limited, 3 delayed");
  }

  @Test
  void noLineIsWiderThanGatlingsConsole() {
    Progress far = new Progress("c=8 on " + "x".repeat(200), Phase.DRAIN, 7.0, 3_723_000_000_000L);
    assertThat(
            RunConsole.block(
                    FULL.with(FULL.sloShare(), FULL.inFlight(), far), Map.of(), 25_000_000_000L)
                .lines())
        .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(120))
        .anySatisfy(line -> assertThat(line).endsWith("]   100%").hasSize(120))
        .anySatisfy(line -> assertThat(line).endsWith("xx; 1 h 02 min of the run remaining"));
  }

  @Test
  void finishedLevelIsOneLine() {
    assertThat(RunConsole.finished("c=8 (vllm, Chat)", FULL))
        .startsWith("LLM c=8 (vllm, Chat): 0.480 tok/s")
        .contains("p50 200 ms", "p99 400 ms", "4 ok", "1 failed", "80.0 %")
        .doesNotContain("\n");
    assertThat(RunConsole.finished("b=4", NOTHING)).contains("– tok/s", "0 ok");
  }
}
