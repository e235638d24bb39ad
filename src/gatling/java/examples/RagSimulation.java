package examples;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;

import io.gatling.javaapi.core.*;
import io.gatling.javaapi.http.*;
import io.github.gatlingllm.javaapi.*;

/**
 * A RAG application: search over plain HTTP, let the model answer from the passages, send the
 * answer as feedback. Gatling's {@code http} protocol and the {@code llm} protocol are used
 * together.
 */
public class RagSimulation extends Simulation {

  private final Server server = Server.fromProperties();

  private final HttpProtocolBuilder web = http.baseUrl(SearchService.start());
  private final LlmProtocolBuilder engine = llm.baseUrl(server.baseUrl()).model(server.model());

  private final ScenarioBuilder rag =
      scenario("RAG")
          .feed(csv("questions.csv").circular())
          .exec(
              http("search")
                  .get("/search")
                  .queryParam("q", "#{question}")
                  .check(jsonPath("$.passages").saveAs("passages")))
          .group("answer")
          .on(
              llm("answer")
                  .chat()
                  .system("Use only: #{passages}")
                  .user("#{question}")
                  .maxTokens(48)
                  .check(answer().saveAs("answer")),
              http("feedback").post("/feedback").body(StringBody("#{answer}")));

  {
    setUp(rag.injectOpen(constantUsersPerSec(3).during(10)))
        .protocols(web, engine)
        .assertions(
            details("answer", "answer TTFT").responseTime().percentile(99).lt(2_000),
            global().failedRequests().count().is(0L));
  }
}
