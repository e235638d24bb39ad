package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static org.assertj.core.api.Assertions.assertThat;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.testing.GatlingRun;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Two runs of one seed send the same prompts, and with their nonce the same bytes. */
class SeedIT {

  /**
   * The nonce of a fed prompt belongs to its row, whichever user sends first; with enough users
   * that event loops build requests at the same time.
   */
  @Test
  void feedersAndMixesInClosedLoopsRepeatTheirPromptsExactly() throws Exception {
    List<String> first = sent("nonce=seed");
    assertThat(first)
        .hasSizeGreaterThanOrEqualTo(3 * SeedSimulation.ITERATIONS)
        .filteredOn(SeedIT::hasNonce)
        .hasSize(3 * SeedSimulation.ITERATIONS)
        .doesNotHaveDuplicates();
    assertThat(sent("nonce=seed")).containsExactlyInAnyOrderElementsOf(first);
    List<String> other = sent("nonce=run");
    assertThat(other)
        .as("else it would read what a server cached of the first")
        .filteredOn(SeedIT::hasNonce)
        .doesNotContainAnyElementsOf(first);
    assertThat(withoutNonces(other)).containsExactlyInAnyOrderElementsOf(withoutNonces(first));
  }

  private static boolean hasNonce(String text) {
    return text.matches("(?s)\\d{18}\n.*");
  }

  private static List<String> withoutNonces(List<String> texts) {
    return texts.stream().map(text -> hasNonce(text) ? text.substring(18) : text).toList();
  }

  private static List<String> sent(String nonce) throws Exception {
    try (Parrot server = new Parrot()) {
      GatlingRun run =
          GatlingRun.of(SeedSimulation.class, server.baseUrl())
              .llm("tokenizer=chars4 seed=3 " + nonce)
              .succeed();
      assertThat(run.info().outcome().started()).isEqualTo(server.heard().size());
      assertThat(run.info().config().get("nonceOfRun"))
          .matches(nonce.equals("nonce=seed") ? "0" : "\\d{6,}");
      return server.heard().stream().flatMap(heard -> heard.contents().stream()).toList();
    }
  }

  /**
   * Closed loops of fed prompts, each sent twice, and of a mix; both with nonces before prompts.
   */
  public static final class SeedSimulation extends Simulation {

    static final int USERS = 32;
    static final int ITERATIONS = 100;

    public SeedSimulation() {
      setUp(
              loop(
                  scenario("Fed")
                      .feed(prompts().builtIn().seed(3))
                      .exec(ask("first"), ask("again"))),
              loop(
                  scenario("Mix")
                      .exec(
                          mix().add(2, ragAgent().distinct(9)).add(1, diverseShort().distinct(9)))))
          .protocols(llm.baseUrl(System.getProperty("baseUrl")).model("m").uniquePrompts().seed(3));
    }

    private static PopulationBuilder loop(ScenarioBuilder scenario) {
      return closedLoop(USERS).requests(ITERATIONS).inject(scenario);
    }

    private static ActionBuilder ask(String name) {
      return llm(name).chat().user("#{prompt}").maxTokens(8);
    }
  }
}
