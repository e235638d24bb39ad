package io.github.gatlingllm.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The default model under closed loops, in virtual time: what a sweep of 6 s a level would see. */
final class DefaultKneeTest {
  private static final int PROMPT_TOKENS = 60;
  private static final int OUTPUT_TOKENS = 128;
  private static final long WINDOW_NANOS = 6_000_000_000L;

  private record Level(double tokensPerSecond, double medianSeconds, double medianTtftSeconds) {
    double power() {
      return tokensPerSecond / medianSeconds;
    }
  }

  @Test
  void documentedTableHolds() {
    List<Level> levels =
        Stream.of(1, 2, 4, 8, 16, 32, 64).map(users -> new ClosedLoop(users).run()).toList();
    assertThat(levels)
        .extracting(level -> Math.round(level.power()))
        .containsExactly(274L, 485L, 776L, 1_055L, 1_162L, 1_100L, 550L);
    assertThat(levels)
        .extracting(level -> Math.round(level.tokensPerSecond()))
        .containsExactly(187L, 352L, 630L, 1_037L, 1_541L, 1_836L, 1_836L);
    assertThat(levels)
        .extracting(level -> Math.round(level.medianTtftSeconds() * 1e3))
        .containsExactly(8L, 12L, 18L, 31L, 57L, 84L, 1_753L);
  }

  private static final class ClosedLoop {
    private final BatchScheduler scheduler = new BatchScheduler(EmbeddedEngine.builder());
    private final int concurrency;
    private final List<Double> latencies = new ArrayList<>();
    private final List<Double> ttfts = new ArrayList<>();
    private long now;
    private long tokensInWindow;

    ClosedLoop(int concurrency) {
      this.concurrency = concurrency;
    }

    private final class Request extends Sequence {
      private final long startNanos = now;
      private int tokens;

      Request() {
        super(PROMPT_TOKENS, OUTPUT_TOKENS, now, 0, null);
      }

      @Override
      void admitted() {}

      @Override
      void token() {
        tokens++;
        tokensInWindow += now <= WINDOW_NANOS ? 1 : 0;
        if (tokens == 1) {
          ttfts.add((now - startNanos) / 1e9);
        }
        if (tokens == OUTPUT_TOKENS) {
          latencies.add((now - startNanos) / 1e9);
          if (now < WINDOW_NANOS) {
            scheduler.add(new Request());
          }
        }
      }
    }

    Level run() {
      for (int user = 0; user < concurrency; user++) {
        scheduler.add(new Request());
      }
      List<Sequence> tokens = new ArrayList<>();
      for (long due = scheduler.plan(now, new ArrayList<>());
          due != Scheduler.NEVER;
          due = scheduler.plan(now, new ArrayList<>())) {
        now = due;
        scheduler.advance(now, tokens);
        tokens.forEach(Sequence::token);
        tokens.clear();
      }
      return new Level(tokensInWindow / (WINDOW_NANOS / 1e9), median(latencies), median(ttfts));
    }

    private static double median(List<Double> values) {
      Collections.sort(values);
      return values.get(values.size() / 2);
    }
  }
}
