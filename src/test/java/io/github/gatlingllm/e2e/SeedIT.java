package io.github.gatlingllm.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.gatling.javaapi.core.Simulation;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.GatlingRun;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Two runs of one seed send the same prompts, with the same nonces before them. */
class SeedIT {

  private static final int REQUESTS = 200;

  /** So many users that event loops build requests at the same time. */
  @Test
  void closedLoopsRepeatTheirPromptsExactly() throws Exception {
    List<String> first = prompts(Benchmark.class);
    assertThat(first).hasSize(REQUESTS).doesNotHaveDuplicates();
    assertThat(prompts(Benchmark.class)).containsExactlyInAnyOrderElementsOf(first);
  }

  /** The nonce of a fed prompt belongs to its row, whichever user sends first. */
  @Test
  void feedersAndMixesInClosedLoopsRepeatTheirPromptsExactly() throws Exception {
    List<String> first = prompts(SeedSimulation.class);
    assertThat(first)
        .hasSizeGreaterThanOrEqualTo(3 * SeedSimulation.ITERATIONS)
        .filteredOn(text -> text.matches("(?s)\\d{18}\n.*"))
        .hasSize(3 * SeedSimulation.ITERATIONS)
        .doesNotHaveDuplicates();
    assertThat(prompts(SeedSimulation.class)).containsExactlyInAnyOrderElementsOf(first);
  }

  private static List<String> prompts(Class<? extends Simulation> simulation) throws Exception {
    List<String> prompts = new ArrayList<>();
    try (Parrot server = new Parrot()) {
      GatlingRun.Setup run =
          GatlingRun.of(simulation, server.baseUrl())
              .set("llm.endpoint", server.baseUrl())
              .set("llm.model", "m")
              .set("llm.tokenizer", "chars4")
              .set("llm.seed", 3)
              .set("llm.warmup", 0);
      if (simulation == Benchmark.class) {
        run.set("llm.concurrency", SeedSimulation.USERS).set("llm.requests", REQUESTS);
      }
      run.succeed();
      for (Parrot.Heard heard : server.heard()) {
        prompts.addAll(heard.contents());
      }
    }
    return prompts;
  }
}
