package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.gatling.javaapi.core.CoreDsl.substring;
import static io.github.gatlingllm.javaapi.LlmDsl.answer;
import static io.github.gatlingllm.javaapi.LlmDsl.closedLoop;
import static io.github.gatlingllm.javaapi.LlmDsl.conversation;
import static io.github.gatlingllm.javaapi.LlmDsl.finishReason;
import static io.github.gatlingllm.javaapi.LlmDsl.llm;
import static io.github.gatlingllm.javaapi.LlmDsl.llmDetails;
import static io.github.gatlingllm.javaapi.LlmDsl.toolCalls;

import io.gatling.javaapi.core.ChainBuilder;
import io.gatling.javaapi.core.Simulation;
import io.github.gatlingllm.javaapi.ChatStep;
import io.github.gatlingllm.javaapi.Llm;
import java.util.List;
import java.util.function.Function;

/** An agent with each API of typed events, a request without streaming to each, and embeddings. */
public final class ApisSimulation extends Simulation {

  static final int ITERATIONS = 6;

  private static final String TOOLS =
      "[{\"type\":\"function\",\"function\":{\"name\":\"weather\",\"parameters\":"
          + "{\"type\":\"object\",\"properties\":{\"days\":{\"type\":\"integer\"}},"
          + "\"required\":[\"days\"]}}}]";

  public ApisSimulation() {
    setUp(
            closedLoop(2)
                .requests(ITERATIONS)
                .inject(
                    scenario("APIs")
                        .exec(
                            agent("responses", Llm::responses, "completed", "max_output_tokens"),
                            agent("messages", Llm::messages, "tool_use", "max_tokens"),
                            exec(
                                llm("embed")
                                    .embeddings()
                                    .input("one text", "another text", "a third")
                                    .dimensions(8)
                                    .encodingFormat("base64")))))
        .protocols(
            llm.baseUrl(System.getProperty("baseUrl"))
                .apiKey("sk-never-to-be-seen")
                .disableJvmWarmUp()
                .recordText()
                .assertions(llmDetails("embed").inputsPerSec().gt(0)));
  }

  /**
   * Calls a tool, sends the result with the history, and ends with a request that is not streamed.
   */
  private static ChainBuilder agent(
      String name, Function<Llm, ChatStep> api, String called, String cut) {
    String history = name + "-history";
    String calls = name + "-calls";
    return exec(conversation(history).system("Be brief."))
        .exec(
            api.apply(llm(name + " plan"))
                .history(history)
                .user("How is it in Bern?")
                .tools(TOOLS)
                .toolChoice("\"required\"")
                .maxTokens(24)
                .check(toolCalls().saveAs(calls), finishReason().in(List.of(called, cut))),
            api.apply(llm(name))
                .history(history)
                .toolResults(calls, call -> "sunny; asked " + call.arguments())
                .tools(TOOLS)
                .maxTokens(12)
                .check(finishReason().is(cut), answer().saveAs("said"), substring(" ")),
            api.apply(llm(name + " whole")).history(history).user("Again.").maxTokens(5).stream(
                    false)
                .check(finishReason().is(cut), substring(" ")));
  }
}
