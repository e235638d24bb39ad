package io.github.gatlingllm.action;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.app.Gatling$;
import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.ChatRequestBuilder;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * Mistakes that a newcomer makes in a simulation, and the beginning of the line that each ends
 * with, before any load. Gatling reads all of them in one JVM, as none of them starts a run.
 */
@SuppressWarnings("ImmutableEnumChecker") // its simulations have no state
public enum Mistakes {
  NO_PROTOCOL(
      "scenario 'Browse' or 'Chat' sends llm requests but has no llm protocol; add .protocols(",
      s ->
          s.setUp(
                  scenario("Browse").pause(1).injectOpen(atOnceUsers(1)),
                  chat().injectOpen(atOnceUsers(1)))
              .protocols(http)),
  NO_BASE_URL("the llm protocol has no base URL; set one", s -> s.on(llm.model("x"))),
  TWO_PROTOCOLS(
      "protocols(…) has two llm protocols; ",
      s -> s.setUp(chat().injectOpen(atOnceUsers(1))).protocols(server(), llm.model("x"))),
  TWO_PROTOCOLS_OF_A_POPULATION(
      "protocols(…) has two llm protocols; ",
      s -> s.setUp(chat().injectOpen(atOnceUsers(1)).protocols(server(), llm.model("x")))),
  NOBODY_LISTENS("LLM warm-up request to 127.0.0.1:1 (", s -> s.on(server())),
  NOT_READY(
      "LLM: http://127.0.0.1:1/health is not ready after",
      s -> s.on(server().waitReady(Duration.ofMillis(1)))),
  HOOK_WITHOUT_LEVELS(
      "beforeLevel needs load levels", s -> s.on(server().beforeLevel("POST:/reset"))),
  HOOK_OF_OTHER_LEVEL(
      "afterLevel for load level 'c=8': unknown name; expected one of c=1",
      s ->
          s.setUp(closedLoop(1).inject(chat()))
              .protocols(server().beforeLevel("POST:/a@c=1").afterLevel("POST:/b@c=8"))),
  ANSWERS_OF_INJECTION("answers needs load levels", s -> s.on(server().answers("check"))),
  GOODPUT_WITHOUT_SLO(
      "an assertion on goodput has no SLO to judge; set one: .slo(",
      s -> s.on(server().assertions(llmGlobal().goodput().percent().gte(95)))),
  MISSING_TIER(
      "assertion on tier 'gold': unknown name; expected one of [silver]",
      s ->
          s.on(
              server()
                  .sloTier("silver", slo().ttft(9))
                  .assertions(llmGlobal().goodput().ofTier("gold").percent().gte(95)))),
  TIERS_AND_AN_SLO_OF_A_REQUEST(
      "tiers judge all requests; expected the same tiers for each target, and no slo(…) of a"
          + " request",
      s ->
          s.setUp(scenario("Chat").exec(ask().slo(slo().ttft(9))).injectOpen(atOnceUsers(1)))
              .protocols(server().sloTier("gold", slo().ttft(9)))),
  MISSING_LEVEL(
      "assertion on load level '2/s': unknown name; expected one of c=1, c=8",
      s ->
          s.setUp(closedLoop(1, 8).inject(chat()))
              .protocols(server().assertions(llmStage("2/s").ttft().percentile(99).lt(9)))),
  LEVEL_OF_GATLINGS_LOAD(
      "assertion on load level 'c=1': unknown name; expected one of all",
      s -> s.on(server().assertions(llmStage("c=1").ttft().percentile(99).lt(9)))),
  SEARCH_WITHOUT_SLO(
      "the load has no SLO to hold; set one: .slo(",
      s -> s.setUp(maxGoodput().inject(chat())).protocols(server())),
  STOP_WITHOUT_SLO(
      "the load has no SLO to hold; set one: .slo(",
      s -> s.setUp(closedLoop(1).stopWhen(sloBelow(50)).inject(chat())).protocols(server())),
  TWO_SLOS_OF_A_NAME(
      "requests named 'ask' have the SLOs",
      s ->
          s.setUp(
                  scenario("Chat")
                      .exec(ask().slo(slo().ttft(9)), ask().slo(slo().ttft(8)))
                      .injectOpen(atOnceUsers(1)))
              .protocols(server())),
  NO_TOKENS("maxTokens(0): expected", s -> s.asking(ask().maxTokens(0)));

  private static Mistakes now = NO_PROTOCOL;

  public final String line;
  private final Consumer<Mistaken> simulation;

  Mistakes(String line, Consumer<Mistaken> simulation) {
    this.line = line;
    this.simulation = simulation;
  }

  private static LlmProtocolBuilder server() {
    return llm.baseUrl("http://127.0.0.1:1/v1").disableJvmWarmUp();
  }

  private static ChatRequestBuilder ask() {
    return llm("ask").chat().user("Hello");
  }

  private static ScenarioBuilder chat() {
    return scenario("Chat").exec(ask());
  }

  public static final class Mistaken extends Simulation {

    public Mistaken() {
      now.simulation.accept(this);
    }

    private void on(LlmProtocolBuilder protocol) {
      setUp(chat().injectOpen(atOnceUsers(1))).protocols(protocol);
    }

    private void asking(ChatRequestBuilder request) {
      setUp(scenario("Chat").exec(request).injectOpen(atOnceUsers(1))).protocols(server());
    }
  }

  /** Prints the message of each mistake after its name; the argument is the results folder. */
  public static void main(String[] arguments) {
    for (Mistakes each : values()) {
      now = each;
      String[] gatling = {"-s", Mistaken.class.getName(), "-rf", arguments[0], "-nr"};
      String message = "nothing was refused";
      try {
        Gatling$.MODULE$.fromArgs(gatling);
      } catch (Throwable crash) {
        message = String.valueOf(InvalidSimulation.line(crash));
      }
      System.out.println("> " + each + "\t" + message.replace("\n", "¶"));
    }
    Runtime.getRuntime().halt(0);
  }
}
