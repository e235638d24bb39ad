import io.gatling.core.Predef._
import io.github.gatlingllm.javaapi.LlmDsl._
import io.github.gatlingllm.javaapi.LoadDsl._

import java.time.Duration.ofMillis

/**
 * With Gatling's Scala DSL, requests and injection steps end in `asScala`, and a protocol in `protocol`. Load plans accept Scala
 * scenarios. Prompts, workloads and datasets are in `WorkloadDsl`.
 */
class FirstSimulation extends Simulation {

  private val engine =
    llm
      .baseUrl(System.getProperty("baseUrl", "http://localhost:8000/v1"))
      .model(System.getProperty("model", "llama-8b"))
      .slo(slo().ttft(ofMillis(500)).percentile(95))

  private val chat =
    scenario("Chat")
      .exec(conversation("history").system("Be brief.").toChainBuilder.wrapped)
      .exec(
        llm("ask")
          .chat()
          .history("history")
          .user("Why is the sky blue?")
          .maxTokens(64)
          .check(ttft().lt(5000), finishReason().is("length"), answer().saveAs("answer"))
          .asScala
      )

  setUp(
    chat.inject(poissonUsersPerSec(5).seed(42).during(Integer.getInteger("seconds", 30).toLong).asScala),
    closedLoop(1, 2).measure(1).inject(scenario("Levels").exec(chat)),
    openLoop(t => 1.0 + t.toSeconds, java.time.Duration.ofSeconds(1)).inject(scenario("Curve").exec(chat))
  ).protocols(engine.protocol)
}
