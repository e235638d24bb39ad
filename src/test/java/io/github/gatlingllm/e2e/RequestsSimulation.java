package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.http;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.ofMillis;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import java.util.List;
import java.util.Map;

/**
 * Parameters and checks of requests, and how a user continues after them: one scenario per aspect.
 */
public final class RequestsSimulation extends Simulation {

  static final int THROTTLED = 8;
  static final int PER_SECOND = 4;

  private final ScenarioBuilder texts =
      scenario("Texts")
          .feed(
              listFeeder(
                  List.of(
                      Map.<String, Object>of(
                          "kind",
                          "fed",
                          "prompt",
                          "from \"EL\"",
                          "tokens",
                          11,
                          "t",
                          0.5,
                          "stream",
                          false))))
          .exec(
              llm("el #{kind}")
                  .chat()
                  .system("be #{kind}")
                  .user("#{prompt}")
                  .model("m-#{kind}")
                  .maxTokens("#{tokens}")
                  .temperature("#{t}")
                  .topP("#{t}")
                  .seed("#{tokens}")
                  .stop("#{kind}", "END")
                  .stream("#{stream}")
                  .header("X-Kind", "#{kind}")
                  .body("{\"extra\": \"#{kind}\", \"top_p\": null}"),
              llm(session -> "fn " + session.getString("kind"))
                  .chat()
                  .system(session -> "be " + session.getString("kind"))
                  .user(session -> "from a function")
                  .model(session -> "m-fn")
                  .maxTokens(session -> session.getInt("tokens") + 1)
                  .temperature(session -> 0.25)
                  .seed(session -> 5L)
                  .header("X-Kind", session -> "fn"),
              llm("completion").completion().prompt("say #{kind} text").maxTokens(3));

  private final ScenarioBuilder checks =
      scenario("Checks")
          .exec(
              llm("passes")
                  .chat()
                  .user("say {\"a\": {\"b\": 7}}")
                  .check(
                      jsonPath("$.a.b").ofInt().is(7).saveAs("seven"),
                      jmesPath("a.b").ofInt().is(7),
                      regex("\"b\": (\\d)").is("7"),
                      substring("{\"a\"").exists(),
                      bodyString().is("{\"a\": {\"b\": 7}}"),
                      bodyLength().is(15),
                      finishReason().is("stop"),
                      outputTokens().is(2),
                      promptTokens().is(7),
                      ttft().lte(10_000),
                      e2e().saveAs("millis"),
                      httpStatus().is(200),
                      cachedTokens().notExists(),
                      toolCalls().is(List.of()),
                      reasoning().notExists())
                  .checkIf("#{seven.isUndefined()}")
                  .then(substring("never there"))
                  .checkIf("#{seven.exists()}")
                  .then(finishReason().saveAs("reason"))
                  .checkIf(session -> true)
                  .then(answer().saveAs("answer"))
                  .checkIf((response, session) -> response.httpStatus() == 200)
                  .then(requestStatus().saveAs("verdict")),
              llm("saved").chat().user("say #{seven} #{reason} #{verdict} #{answer}"),
              llm("fails").chat().user("say no").check(substring("yes")),
              llm("is not json").chat().user("say no").check(jsonPath("$.a")),
              tryMax(3).on(llm("tried").chat().user("say no").check(bodyString().is("yes"))),
              llm("goes on").chat().user("say done"));

  private final ScenarioBuilder failures =
      scenario("Failures")
          .exec(
              llm("unresolved").chat().user("#{nothing}"),
              llm("failing function").chat().user(session -> session.getString("nothing").strip()),
              llm("function of null").chat().user(session -> session.getString("nothing")),
              llm("no number").chat().user("say x").maxTokens("#{nothing}"),
              llm("not an object").chat().user("say x").body("[#{nothing.size()}]"))
          .exitBlockOnFail()
          .on(
              llm("fails in block").chat().user("say no").check(substring("yes")),
              llm("never sent").chat().user("say never"))
          .exec(llm("after the block").chat().user("say after"));

  private final ScenarioBuilder silent =
      scenario("Silent")
          .exec(
              llm("quiet").chat().user("say hush").silent(),
              llm("quiet failure").chat().user("say hush").check(substring("loud")).silent())
          .doIf(Session::isFailed)
          .then(llm("after silence").chat().user("say heard"));

  private final ScenarioBuilder agent =
      scenario("Agent")
          .exec(conversation("history").system("Use tools."))
          .exec(
              llm("plan")
                  .chat()
                  .user("say weather in two cities")
                  .history("history")
                  .tools("[]")
                  .check(
                      finishReason().is("tool_calls"),
                      answer().is(""),
                      itl().exists(),
                      toolCalls().transform(List::size).is(2),
                      toolCalls().saveAs("calls")))
          .asLongAs(session -> !session.getList("calls").isEmpty())
          .on(
              llm("act")
                  .chat()
                  .history("history")
                  .toolResults("calls", call -> "say " + call.name() + call.arguments())
                  .tools("[]")
                  .check(toolCalls().saveAs("calls")))
          .exec(llm("after").chat().history("history").user("say bye"));

  private final ScenarioBuilder ownSettings =
      scenario("Own settings")
          .exec(
              llm("own")
                  .chat()
                  .user("say own")
                  .apiKey("sk-#{missing.isUndefined()}")
                  .headers(Map.of("X-A", "a", "X-B", "b"))
                  .slo(slo().ttft(10_000))
                  .topK(5)
                  .minP(0.1)
                  .frequencyPenalty(0.5)
                  .presencePenalty(-0.5)
                  .repetitionPenalty(1.1)
                  .logprobs(3)
                  .choices(1),
              llm("too late").chat().user("say late").requestTimeout(ofMillis(1)),
              llm("own completion").completion().prompt("say this").logprobs(2));

  private final ScenarioBuilder throttled =
      scenario("Throttled").exec(llm("throttled").chat().user("say slow"));

  public RequestsSimulation() {
    LlmProtocolBuilder engine =
        llm.baseUrl(System.getProperty("url") + "/v1").model("m").recordText().disableJvmWarmUp();
    setUp(
            texts.injectOpen(atOnceUsers(1)),
            checks.injectOpen(atOnceUsers(1)),
            failures.injectOpen(atOnceUsers(1)),
            silent.injectOpen(atOnceUsers(1)),
            agent.injectOpen(atOnceUsers(1)),
            ownSettings.injectOpen(atOnceUsers(1)),
            throttled
                .injectOpen(atOnceUsers(THROTTLED))
                .throttle(jumpToRps(PER_SECOND), holdFor(30)))
        .protocols(engine, http.baseUrl(System.getProperty("url")))
        .assertions(details("fails").failedRequests().count().is(1L));
  }
}
