package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import java.util.List;
import java.util.Map;

/** A conversation, and a scenario with HTTP and LLM requests, as in the documentation. */
public class JourneySimulation extends Simulation {
  FeederBuilder<Object> questions =
      listFeeder(List.of(Map.of("question", "What is light?"), Map.of("question", "And air?")))
          .circular();

  ScenarioBuilder dialog =
      scenario("Dialog")
          .exec(conversation("history").system("You are a tutor."))
          .repeat(5, "turn")
          .on(
              feed(questions),
              llm("turn").chat().history("history").user("#{question}").maxTokens(200),
              pause(2, 8));

  ScenarioBuilder rag =
      scenario("RAG")
          .feed(listFeeder(List.of(Map.<String, Object>of("question", "why?"))).circular())
          .exec(
              addCookie(Cookie("shop", "cart")),
              http("search")
                  .get("/search?q=#{question}")
                  .check(jsonPath("$.passages").saveAs("passages")))
          .group("answer")
          .on(
              llm("answer")
                  .chat()
                  .system("Use only: #{passages}")
                  .user("#{question}")
                  .maxTokens(300)
                  .check(substring("[1]"), answer().saveAs("answer")),
              http("feedback").post("/feedback").body(StringBody("#{answer}")));

  {
    setUp(dialog.injectOpen(atOnceUsers(2)), rag.injectOpen(atOnceUsers(3)))
        .disablePauses()
        .protocols(
            llm.baseUrl(System.getProperty("url") + "/v1").disableJvmWarmUp(),
            http.baseUrl(System.getProperty("url"))
                .basicAuth("shop", "secret")
                .header("X-Shop", "1"))
        .assertions(
            global().failedRequests().count().is(0L),
            global().allRequests().count().is(2 * 5 + 3 * 3L));
  }
}
