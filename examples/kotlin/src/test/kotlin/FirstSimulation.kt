import io.gatling.javaapi.core.CoreDsl.*
import io.gatling.javaapi.core.Simulation
import io.github.gatlingllm.javaapi.LlmDsl.*
import java.time.Duration.ofMillis

/** Kotlin needs `5.0` where the DSL takes a `Double`. Limits of checks accept any number type. */
class FirstSimulation : Simulation() {

  private val engine =
    llm.baseUrl(System.getProperty("baseUrl", "http://localhost:8000/v1"))
      .apiKey(System.getenv("LLM_API_KEY"))
      .model(System.getProperty("model", "llama-8b"))
      .slo(slo().ttft(ofMillis(500)).tpot(50.0).percentile(95.0))
      .assertions(llmGlobal().failedRequests().count().shouldBe(0.0))

  private val chat =
    scenario("Chat")
      .exec(conversation("history").system("Be brief."))
      .exec(
        llm("ask").chat()
          .history("history")
          .user { session -> "Why is the sky blue? I am number ${session.userId()}." }
          .maxTokens(64)
          .temperature(0.5)
          .header("X-Team") { _ -> "load" }
          .check(ttft().lt(5_000), e2e().lt(60_000.0), answer().saveAs("answer"))
          .checkIf { session -> session.userId() > 1 }.then(itl().gte(0))
          .checkIf { response, _ -> response.toolCalls().isEmpty() }.then(httpStatus().shouldBe(200)))

  private val other = scenario("Other").exec(llm("complete").completion().prompt("Once").maxTokens(8))

  private val changing = scenario("Changing").exec(llm("change").completion().prompt("And").maxTokens(8))

  init {
    setUp(
        chat.injectOpen(poissonUsersPerSec(5.0).seed(42).during(Integer.getInteger("seconds", 30).toLong())),
        openLoop(1.0, 2.0).poisson().measure(1).stopWhen(sloBelow(50.0)).inject(other),
        changing.injectOpen(usersPerSec { t -> 1.0 + t.toSeconds() }.during(1)))
      .protocols(engine)
  }
}
