package io.github.gatlingllm.run;

import static io.github.gatlingllm.figures.level.Recorded.ORIGIN;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.load.LoadLevel.Injection;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PhaseWindow;
import io.github.gatlingllm.record.RequestRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class InjectedLevelsTest {

  private static final LevelInfo.Key CHAT =
      new LevelInfo.Key(LevelInfo.ENTIRE_RUN, "server", "chat");

  private static final long MILLIS_50 = 50_000_000;
  private static final RequestRecord LAST =
      Recorded.at(0)
          .scenario("chat")
          .target("server")
          .stage(LevelInfo.ENTIRE_RUN)
          .tokens(80)
          .record();
  private static final long CLOSED = requireNonNull(LAST.timing().closedUnixNanos());
  private static final long END = CLOSED + MILLIS_50;

  private final RunLevels.InjectedLevels levels = new RunLevels.InjectedLevels();

  private LevelInfo level(@Nullable Long runEnd, long now) {
    return levels.levels(runEnd, now).get(0);
  }

  private static PhaseWindow measure(long from, @Nullable Long until) {
    return new PhaseWindow(Phase.MEASURE, from, until);
  }

  @Test
  void injectionStepsDefineTheMeasureWindow() {
    levels.begin(CHAT, new Injection(5.0, Injection.RATE, 10, 50), 100);
    assertThat(level(null, 120).phases()).containsExactly(measure(110, null));
    assertThat(level(null, 160).phases())
        .containsExactly(measure(110, 150L), new PhaseWindow(Phase.DRAIN, 150, null));
    assertThat(level(200L, 200).phases()).as("nothing ran on").containsExactly(measure(110, 150L));
    assertThat(level(130L, 130).phases()).as("interrupted").containsExactly(measure(110, 130L));
    assertThat(level(200L, 200).offered()).isEqualTo(5);
    assertThat(level(200L, 200).planned()).isNull();
    levels.planned(CHAT, 7);
    assertThat(level(200L, 200).planned()).isEqualTo(7);
  }

  /** A request of 80 ms; the steps take 50 ms. */
  @Test
  void theLastEndIsMeasured() {
    levels.begin(CHAT, new Injection(5.0, Injection.RATE, 0, MILLIS_50), ORIGIN);
    levels.add(CHAT, LAST);
    assertThat(level(END, END).phases())
        .containsExactly(
            measure(ORIGIN, ORIGIN + MILLIS_50),
            new PhaseWindow(Phase.DRAIN, ORIGIN + MILLIS_50, CLOSED + 1));
    assertThat(level(END, END).measured()).contains(measure(ORIGIN, CLOSED + 1));
  }

  @Test
  void usersStartedTogetherAreMeasuredUntilTheLastOneEnds() {
    levels.begin(CHAT, new Injection(null, "", 0, 0), ORIGIN);
    levels.add(CHAT, LAST);
    assertThat(level(null, ORIGIN + 1).phases()).containsExactly(measure(ORIGIN, null));
    assertThat(level(END, END).phases()).containsExactly(measure(ORIGIN, CLOSED + 1));
  }
}
