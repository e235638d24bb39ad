package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.javaapi.LlmDsl.normalTokens;
import static io.github.gatlingllm.javaapi.LlmDsl.prompts;
import static io.github.gatlingllm.javaapi.LlmDsl.tracedTokens;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.load.Arrival.DrawOrder;
import io.github.gatlingllm.workload.Tokenizer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
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
