package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.javaapi.LlmDsl.lengths;
import static io.github.gatlingllm.javaapi.LlmDsl.normalTokens;
import static io.github.gatlingllm.javaapi.LlmDsl.prompts;
import static io.github.gatlingllm.javaapi.LlmDsl.tracedTokens;
import static io.github.gatlingllm.javaapi.LlmDsl.uniformTokens;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.load.Arrival.DrawOrder;
import io.github.gatlingllm.workload.Tokenizer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class PromptsBuilderTest {

  private static List<Map<String, Object>> rows(PromptsBuilder builder, int count) {
    Iterator<Map<String, Object>> feeder = builder.get();
    List<Map<String, Object>> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      assertThat(feeder.hasNext()).isTrue();
      Map<String, Object> row = new HashMap<>(feeder.next());
      assertThat(row.remove(DrawOrder.KEY)).isInstanceOf(AtomicLong.class);
      rows.add(row);
    }
    return rows;
  }

  @Test
  void theSameSeedFeedsTheSamePromptsAndAnotherOneOthers() {
    PromptsBuilder sized = prompts().tokens(normalTokens(60, 10)).distinct(20).unique();

    List<Map<String, Object>> rows = rows(sized.seed(42), 50);
    assertThat(rows(sized.seed(42), 50)).isEqualTo(rows);
    assertThat(rows(sized.seed(43), 50)).isNotEqualTo(rows);
    assertThat(rows).doesNotHaveDuplicates();
    assertThat(rows)
        .allSatisfy(
            row ->
                assertThat(Tokenizer.cl100k().count((String) row.get("prompt")))
                    .isEqualTo(row.get("promptTokens")));
  }

  @Test
  void pairsFeedTheLengthsOfPromptAndOutput() {
    LengthsBuilder lengths =
        lengths()
            .pair(40, 3)
            .weight(60)
            .pair(uniformTokens(60, 80), normalTokens(500, 9))
            .weight(40);
    PromptsBuilder paired = prompts().tokens(lengths, Tokenizer.chars4()).distinct(20);

    List<Map<String, Object>> rows = rows(paired.seed(42), 50);
    assertThat(rows(paired.seed(42), 50)).isEqualTo(rows);
    assertThat(rows(paired.seed(43), 50)).isNotEqualTo(rows);
    assertThat(rows)
        .allSatisfy(
            row -> {
              boolean isShort = row.get("promptTokens").equals(40);
              assertThat((int) row.get("promptTokens")).isBetween(isShort ? 40 : 60, 80);
              assertThat((int) row.get("outputTokens"))
                  .isBetween(isShort ? 3 : 450, isShort ? 3 : 550);
            });
    assertThat(rows).extracting(row -> row.get("promptTokens")).contains(40).doesNotContainNull();
    assertThat(rows(paired.tokens(40, Tokenizer.chars4()), 1).get(0))
        .doesNotContainKey("outputTokens");
  }

  @Test
  void lengthsThatCannotBeAreRefused() {
    Map<String, ThrowingCallable> mistakes =
        Map.of(
            "a length of 0 tokens; expected 1 to 1,000,000", () -> lengths().pair(9, 0),
            "a length of 1,000,001 tokens; expected", () -> LlmDsl.dialog().maxTokens(1_000_001),
            "lengths().weight(2.0): expected a pair first", () -> lengths().weight(2),
            "lengths().weight(0.0): expected a number", () -> lengths().pair(9, 9).weight(0),
            "lengths() is empty; add a pair: lengths()", () -> prompts().tokens(lengths()));
    mistakes.forEach(
        (message, mistake) ->
            assertThatThrownBy(mistake)
                .isInstanceOf(InvalidSimulation.class)
                .hasMessageStartingWith(message));
  }

  @Test
  void promptsWithoutALengthAreNotCounted() {
    assertThat(rows(prompts().text("Why?"), 2))
        .containsExactly(Map.of("prompt", "Why?"), Map.of("prompt", "Why?"));
  }

  @Test
  void promptsHaveTheLengthsOfTheTrace() {
    assertThat(
            rows(
                prompts()
                    .synthetic()
                    .tokens(tracedTokens("src/test/resources/traces/azure.csv"))
                    .distinct(3),
                3))
        .extracting(row -> row.get("promptTokens"))
        .containsExactly(374, 396, 879);
  }
}
