package io.github.gatlingllm.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.testing.GatlingRun;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Two runs of one seed send the same prompts, with the same nonces before them. */
class SeedIT {

  /**
   * The nonce of a fed prompt belongs to its row, whichever user sends first; so many users that
   * event loops build requests at the same time.
   */
  @Test
  void feedersAndMixesInClosedLoopsRepeatTheirPromptsExactly() throws Exception {
    List<String> first = prompts();
    assertThat(first)
        .hasSizeGreaterThanOrEqualTo(3 * SeedSimulation.ITERATIONS)
        .filteredOn(text -> text.matches("(?s)\\d{18}\n.*"))
        .hasSize(3 * SeedSimulation.ITERATIONS)
        .doesNotHaveDuplicates();
    assertThat(prompts()).containsExactlyInAnyOrderElementsOf(first);
  }

  private static List<String> prompts() throws Exception {
    try (Parrot server = new Parrot()) {
      GatlingRun run =
          GatlingRun.of(SeedSimulation.class, server.baseUrl())
              .set("llm.tokenizer", "chars4")
              .set("llm.seed", 3)
              .succeed();
      assertThat(run.info().outcome().started()).isEqualTo(server.heard().size());
      return server.heard().stream().flatMap(heard -> heard.contents().stream()).toList();
    }
  }
}
