package io.github.gatlingllm.figures.metric;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class SentencesTest {

  private static final Sentences<Integer> TABLE =
      new Sentences<Integer>(Map.of("users", n -> n + " $users", "text", n -> "many"))
          .row("none", n -> n == 0, "Nobody came.")
          .row("few", n -> n < 10, "There were {users}, {users}.")
          .otherwise("many", "{Text}: {users}.");

  @Test
  void firstRowWhoseConditionHoldsMakesTheSentence() {
    assertThat(TABLE.id(0)).isEqualTo("none");
    assertThat(TABLE.id(9)).isEqualTo("few");
    assertThat(TABLE.id(10)).isEqualTo("many");
  }

  @Test
  void fieldsAreFilledIn() {
    assertThat(TABLE.of(0)).isEqualTo("Nobody came.");
    assertThat(TABLE.of(2)).isEqualTo("There were 2 $users, 2 $users.");
    assertThat(TABLE.of(12)).isEqualTo("Many: 12 $users.");
  }
}
