package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import java.util.List;
import org.junit.jupiter.api.Test;

class SeenPromptsTest {

  private final SeenPrompts seen = new SeenPrompts(1_000);

  private void add(int requests, int different) {
    for (int i = 0; i < requests; i++) {
      seen.add("a", List.of("You are terse.", "Question " + i % different));
    }
  }

  @Test
  void fixedPromptRepeatsAfterItsFirstRequest() {
    add(600, 1);
    assertThat(seen.counted()).isEqualTo(600);
    assertThat(seen.repeated()).isEqualTo(599);
  }

  @Test
  void promptsOfAPoolRepeat() {
    add(250, 100);
    assertThat(seen.repeated()).isEqualTo(150);
  }

  @Test
  void distinctPromptsNeverCountAsRepeated() {
    add(100_000, 100_000);
    assertThat(seen.repeated()).isZero();
  }

  /**
   * 20,000 prompts three times each: 40,000 repeats, known from a sample of some hundred prompts.
   */
  @Test
  void repetitionIsEstimatedFromASampleBeyondTheLimit() {
    add(60_000, 20_000);
    assertThat(seen.repeated()).isCloseTo(40_000, withinPercentage(15));
  }

  @Test
  void repetitionIsCountedPerTarget() {
    seen.add("a", List.of("x"));
    seen.add("b", List.of("x"));
    seen.add("a", List.of("x", ""));
    seen.add("a", List.of("", "x"));
    assertThat(seen.repeated()).isZero();
  }
}
