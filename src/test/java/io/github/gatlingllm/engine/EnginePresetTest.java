package io.github.gatlingllm.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.withinPercentage;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Presets give back the rows that they are derived from: closed loops in virtual time. */
class EnginePresetTest {

  @ParameterizedTest
  @CsvSource({
    "1, 406.77, 1, 18.58, 51.67, 3",
    "5, 546.70, 35, 21.83, 218.48, 3",
    "25, 688.69, 35, 38.75, 623.40, 3",
    "50, 834.51, 35, 59.73, 814.37, 3",
    "100, 7996.25, 35, 92.91, 917.26, 10",
    "150, 34794.22, 35, 92.86, 920.90, 10"
  })
  void llama70b(
      int concurrency,
      double ttftMillis,
      double ttftPercent,
      double itlMillis,
      double tokensPerSecond,
      double outputPercent) {
    Level level = new ClosedLoop(EnginePreset.LLAMA_3_3_70B_2XH100, concurrency, 5_000, 500).run();

    assertThat(level.itlMillis()).isCloseTo(itlMillis, withinPercentage(3));
    assertThat(level.ttftMillis()).isCloseTo(ttftMillis, withinPercentage(ttftPercent));
    assertThat(level.tokensPerSecond()).isCloseTo(tokensPerSecond, withinPercentage(outputPercent));
  }

  @Test
  void nemotron8b() {
    Level alone = new ClosedLoop(EnginePreset.NEMOTRON_8B_GH200, 1, 1_000, 1_000).run();
    Level full = new ClosedLoop(EnginePreset.NEMOTRON_8B_GH200, 100, 1_000, 1_000).run();

    assertThat(alone.ttftMillis()).isCloseTo(15.65, withinPercentage(1));
    assertThat(alone.tokensPerSecond()).isCloseTo(165.83, withinPercentage(3));
    assertThat(full.tokensPerSecond()).isCloseTo(7_590.53, withinPercentage(3));
  }

  @Test
  void namesAreFound() {
    for (EnginePreset preset : EnginePreset.values()) {
      assertThat(EnginePreset.of(preset.toString())).isSameAs(preset);
    }
    assertThatThrownBy(() -> EnginePreset.of("gpt-9"))
        .hasMessage(
            "'gpt-9' is no preset of an engine; expected one of llama-3.3-70b-2xh100,"
                + " nemotron-8b-gh200");
  }

  private record Level(double ttftMillis, double itlMillis, double tokensPerSecond) {}

  /** Users that ask again as soon as they are answered; measured after two answers of each. */
  private static final class ClosedLoop {
    private static final int ROUNDS = 8;

    private final BatchScheduler scheduler;
    private final int concurrency;
    private final int promptTokens;
    private final int outputTokens;
    private final List<Double> ttfts = new ArrayList<>();
    private final List<Double> itls = new ArrayList<>();
    private long now;
    private long asked;
    private long ended;
    private long measuredFrom;
    private long tokens;

    ClosedLoop(EnginePreset preset, int concurrency, int promptTokens, int outputTokens) {
      this.scheduler = new BatchScheduler(EmbeddedEngine.builder().preset(preset).batchModel());
      this.concurrency = concurrency;
      this.promptTokens = promptTokens;
      this.outputTokens = outputTokens;
    }

    private final class Request implements Sequence.Listener {
      private final long startNanos = now;
      private long firstNanos;
      private int said;

      @Override
      public void admitted() {}

      @Override
      public void token() {
        said++;
        firstNanos = said == 1 ? now : firstNanos;
        tokens += ended >= 2L * concurrency ? 1 : 0;
        if (said == outputTokens) {
          answered();
        }
      }

      private void answered() {
        ended++;
        if (ended > 2L * concurrency) {
          ttfts.add((firstNanos - startNanos) / 1e6);
          itls.add((now - firstNanos) / 1e6 / (outputTokens - 1));
        } else if (ended == 2L * concurrency) {
          measuredFrom = now;
        }
        ask();
      }
    }

    private void ask() {
      asked++;
      scheduler.add(new Sequence(promptTokens, outputTokens, now, BlockChain.NONE, new Request()));
    }

    Level run() {
      while (asked < concurrency) {
        ask();
      }
      List<Sequence> said = new ArrayList<>();
      while (ended < (long) ROUNDS * concurrency) {
        now = scheduler.plan(now, new ArrayList<>());
        scheduler.advance(now, said);
        said.forEach(sequence -> sequence.listener.token());
        said.clear();
      }
      return new Level(mean(ttfts), mean(itls), tokens / ((now - measuredFrom) / 1e9));
    }

    private static double mean(List<Double> values) {
      return values.stream().mapToDouble(value -> value).average().orElseThrow();
    }
  }
}
