package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.ofMillis;

import io.gatling.app.Gatling$;
import io.gatling.javaapi.core.*;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.javaapi.*;
import java.util.function.Consumer;

/**
 * Simulations that newcomers write, each from the README or a page, and the requests of each, all
 * complete; 0 where chance states how many. One JVM runs all of them against one engine.
 */
@SuppressWarnings("ImmutableEnumChecker") // its simulations have no state
public enum Programs {
  TEN_LINES(0, s -> s.on(chat().injectOpen(poissonUsersPerSec(20).seed(42).during(1)))),
  RAMP(6, s -> s.on(chat().injectOpen(rampUsers(4).during(1), atOnceUsers(2)))),
  USERS(0, s -> s.on(chat().injectClosed(constantConcurrentUsers(2).during(1)))),
  CONCURRENCY(8, s -> s.on(closedLoop(1, 2).requests(4).inject(chat()))),
  RATES(10, s -> s.on(openLoop(10, 20).constant().requests(5).inject(chat()))),
  BATCHES(6, s -> s.on(batch(3).trials(2).inject(chat()))),
  BURSTS(0, s -> s.on(chat().injectOpen(gammaUsersPerSec(20).cv(1.4).seed(1).during(1)))),
  CURVE(0, s -> s.on(chat().injectOpen(usersPerSec(t -> 20 - t.toMillis() / 99.0).during(1)))),
  CONVERSATION(
      6,
      s ->
          s.asking(
              exec(conversation("h").system("You are a tutor."))
                  .repeat(3)
                  .on(llm("turn").chat().history("h").user("Go on.").maxTokens(4)))),
  RECORDED_DIALOG(
      0,
      s ->
          s.asking(
              feed(dataset(shareGpt("datasets/sharegpt.json")).seed(1))
                  .exec(conversation("h").dialog("#{dialog}"))
                  .asLongAs(goesOn("h"))
                  .on(llm("turn").chat().nextTurn("h").maxTokens(4)))),
  RECORDED_SESSIONS(
      7,
      s ->
          s.asking(
              feed(sessions("sessions/own.jsonl", chars4()))
                  .exec(group("agent").on(replaySession())))),
  HTTP_AND_LLM(
      2,
      s ->
          s.setUp(
                  scenario("RAG")
                      .exec(http("search").get("/models").check(bodyString().saveAs("passages")))
                      .group("answer")
                      .on(ask().user("Use only: #{passages}"))
                      .injectOpen(atOnceUsers(2)))
              .protocols(http.baseUrl(url()), engine())),
  TOOLS(
      2,
      s ->
          s.asking(
              exec(
                  ask()
                      .tools("[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]")
                      .check(toolCalls().saveAs("calls"))))),
  JSON_ANSWER(2, s -> s.asking(exec(ask().responseFormat("{\"type\":\"json_object\"}")))),
  COMPLETION(2, s -> s.asking(exec(llm("go").completion().prompt("Once").maxTokens(4)))),
  RESPONSES(2, s -> s.asking(exec(llm("ask").responses().user("Hello").maxTokens(4)))),
  MESSAGES(2, s -> s.asking(exec(llm("ask").messages().user("Hello").maxTokens(4)))),
  EMBEDDINGS(2, s -> s.asking(exec(llm("embed").embeddings().input("Once", "upon")))),
  IMAGE(2, s -> s.asking(exec(llm("see").chat().user("What?", image(8, 8)).maxTokens(4)))),
  NOT_STREAMED(2, s -> s.asking(exec(ask().stream(false)))),
  CHECKS(
      4,
      s ->
          s.asking(
              exec(ask().check(finishReason().is("length"), answer().saveAs("draft")))
                  .exec(llm("next").chat().user("#{draft}").maxTokens(4)))),
  PROMPTS(2, s -> s.asking(feed(prompts().builtIn().tokens(60).distinct(4)).exec(ask()))),
  WORKLOADS(2, s -> s.asking(exec(mix().add(7, sameShort().maxTokens(4)).add(3, diverseShort())))),
  TARGETS(
      4,
      s ->
          s.setUp(
                  sideBySide(
                      closedLoop(1).requests(2).target("A", engine()).inject(chat()),
                      closedLoop(1).requests(2).target("B", llm.slo("ttft<9s")).inject(chat())))
              .protocols(engine())),
  GATES(
      2,
      s ->
          s.setUp(closedLoop(1).requests(2).inject(chat()))
              .protocols(
                  engine()
                      .slo("ttft<9s")
                      .assertions(llmStage("c=1").goodput().percent().gte(95), llmValid())));

  private static Programs now = TEN_LINES;
  private static String url = "";

  final int requests;
  private final Consumer<Program> simulation;

  Programs(int requests, Consumer<Program> simulation) {
    this.requests = requests;
    this.simulation = simulation;
  }

  private static String url() {
    return url;
  }

  private static LlmProtocolBuilder engine() {
    return llm.baseUrl(url()).model("embedded").disableJvmWarmUp().uniquePrompts();
  }

  private static ChatRequestBuilder ask() {
    return llm("ask").chat().user("Why is the sky blue?").maxTokens(4);
  }

  private static ScenarioBuilder chat() {
    return scenario("Chat").exec(ask());
  }

  public static final class Program extends Simulation {

    public Program() {
      now.simulation.accept(this);
    }

    private void on(PopulationBuilder population) {
      setUp(population).protocols(engine());
    }

    private void asking(ChainBuilder chain) {
      on(scenario("Users").exec(chain).injectOpen(atOnceUsers(2)));
    }
  }

  /** Runs each into a folder of its name; the argument is their parent. */
  public static void main(String[] arguments) {
    try (EmbeddedEngine engine = EmbeddedEngine.builder().fixed(ofMillis(5), ofMillis(1)).start()) {
      url = engine.baseUrl();
      for (Programs each : values()) {
        now = each;
        String folder = arguments[0] + "/" + each;
        var unused =
            Gatling$.MODULE$.fromArgs(
                new String[] {"-s", Program.class.getName(), "-rf", folder, "-nr"});
      }
    }
  }
}
