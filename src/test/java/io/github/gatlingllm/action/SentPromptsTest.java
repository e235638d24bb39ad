package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class SentPromptsTest {

  private final SentPrompts sent = new SentPrompts();

  /** A text of this length; an equal seed is the same beginning. */
  private static String text(long seed, int length) {
    return new SplittableRandom(seed)
        .ints(length, 'a', 'z' + 1)
        .mapToObj(Character::toString)
        .collect(Collectors.joining());
  }

  private double add(String... texts) {
    return sent.add("a", List.of(texts), "");
  }

  @Test
  void aLongerPromptBeginsWithAnEarlierOne() {
    assertThat(add(text(1, 640))).as("the first").isZero();
    assertThat(add(text(1, 640))).as("the same").isEqualTo(1);
    assertThat(add(text(1, 800))).isEqualTo(0.8);
    assertThat(add(text(1, 700) + text(2, 580))).as("steps of 64").isEqualTo(640 / 1_280.0);
    assertThat(add(text(1, 701).substring(1))).as("moved by one").isZero();
    assertThat(add(text(1, 80))).as("its end is not a step of an earlier one").isEqualTo(0.8);
    assertThat(add("水".repeat(64) + text(1, 64))).as("192 bytes").isZero();
    assertThat(add("水".repeat(64) + text(2, 64))).isEqualTo(0.75);
  }

  @Test
  void longTextsHaveLongerSteps() {
    add(text(1, 20_000));

    assertThat(add(text(1, 16_300) + text(2, 3_700))).isEqualTo(16_256 / 20_000.0);
    assertThat(add(text(1, 16_500) + text(3, 3_500))).isEqualTo(16_384 / 20_000.0);
    assertThat(add(text(1, 16_700) + text(4, 3_300))).isEqualTo(16_640 / 20_000.0);
  }

  @Test
  void historyOfAConversationWasSentBefore() {
    add("You are an agent.", "Fix it: now!");

    assertThat(add("You are an agent.", "Fix it: now!", "Done", "Thanks")).isEqualTo(29 / 39.0);
    assertThat(add("You are an agent.Fix it: now!")).as("in one text").isZero();
    assertThat(add("You are an agent.")).isEqualTo(1);
    assertThat(add()).isZero();
  }

  @Test
  void whatFollowsANonceIsNew() {
    assertThat(sent.add("a", List.of("You are an agent.", "7\n\nHi"), "7\n\n")).isZero();
    assertThat(sent.add("a", List.of("You are an agent.", "8\n\nHi"), "8\n\n"))
        .isEqualTo(17 / 22.0);
  }

  @Test
  void otherTargetsHaveTheirOwnCache() {
    add(text(1, 64));

    assertThat(sent.add("b", List.of(text(1, 64)), "")).isZero();
  }

  @Test
  void whatIsNotSentAgainIsForgottenWhatIsSentAgainIsNot() {
    SentPrompts few = new SentPrompts(8);
    few.add("", List.of(text(1, 256)), "");
    few.add("", List.of(text(2, 256)), "");
    for (int i = 3; i < 9; i++) {
      assertThat(few.add("", List.of(text(1, 256)), "")).isEqualTo(1);
      few.add("", List.of(text(i, 256)), "");
    }

    assertThat(few.add("", List.of(text(2, 256)), "")).isZero();
  }
}
