package io.github.gatlingllm.javaapi;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.sample.Slo;
import io.github.gatlingllm.sample.Verdict;
import java.util.List;
import java.util.Map;

/** Calls every method that users can call, in all its forms: what compiles here is promised. */
final class EveryMethod extends Simulation {

  private final SloBuilder objectives =
      slo()
          .ttft(ofMillis(200))
          .ttft(200)
          .ttfo(ofMillis(300))
          .ttfo(300)
          .tpot(ofMillis(50))
          .tpot(50)
          .itl(ofMillis(80))
          .itl(80)
          .e2e(ofSeconds(10))
          .e2e(10_000)
          .stall(ofSeconds(1))
          .stall(1_000)
          .percentile(99);

  private final LlmProtocolBuilder protocol =
      llm.baseUrl("http://localhost:8000/v1")
          .baseUrl("http://localhost:8000/v1", "http://localhost:8001/v1")
          .baseUrls(List.of("http://localhost:8000/v1"))
          .target("A")
          .apiKey("#{key}")
          .apiKey(session -> session.getString("key"))
          .model("#{model}")
          .model(session -> session.getString("model"))
          .header("X-Team", "#{team}")
          .header("X-Team", session -> session.getString("team"))
          .headers(Map.of("X-Team", "#{team}"))
          .requestTimeout(600)
          .requestTimeout(ofSeconds(90))
          .idleTimeout(120)
          .idleTimeout(ofSeconds(45))
          .maxInFlight(64)
          .verifyTls()
          .disableVerifyTls()
          .shareConnections()
          .disableShareConnections()
          .disableStreaming()
          .ignoreEos()
          .disableIgnoreEos()
          .disableIndexBlock()
          .seed(42)
          .note("purpose", "every method")
          .disableUsage()
          .body("{\"top_k\": 5}")
          .slo(objectives)
          .slo("ask", objectives)
          .assertions(llmValid())
          .assertions(EveryAssertion.ALL)
          .disableFailBuild()
          .slo(Slo.NONE)
          .recordText()
          .disableRecordTokens()
          .csv()
          .disableIndexBlock()
          .warmUp(1)
          .disableJvmWarmUp()
          .seed(42)
          .note("purpose", "compiling");

  private final ChainBuilder chats =
      exec(conversation("history").system("You are #{who}."))
          .exec(conversation("history").system(session -> "You are a tutor."))
          .exec(conversation("history"))
          .exec(
              llm("ask").chat().history("history").system("Be brief.").user("#{prompt}"),
              llm("ask").chat().system(session -> "Be brief.").user(session -> "Why?"),
              llm(session -> "ask").chat().assistant("Hello."),
              llm("ask").chat().assistant(session -> "Hello."),
              llm("ask").chat().tool("#{id}", "#{result}"),
              llm("ask").chat().tool(session -> "id", session -> "result"),
              llm("ask").chat().messages("#{messages}"),
              llm("ask").chat().messages(session -> session.getList("messages")),
              llm("ask")
                  .chat()
                  .user("#{prompt}")
                  .system("Be brief.")
                  .system(session -> "Be brief.")
                  .user("And?")
                  .user(session -> "And?")
                  .assistant("Well.")
                  .assistant(session -> "Well.")
                  .tool("id", "result")
                  .tool(session -> "id", session -> "result")
                  .messages("#{messages}")
                  .messages(session -> session.getList("messages"))
                  .tools("[]")
                  .tools(session -> "[]")
                  .responseFormat("{\"type\": \"json_object\"}")
                  .responseFormat(session -> "{\"type\": \"json_object\"}"));

  private final ChatRequestBuilder request =
      llm("ask")
          .chat()
          .user("#{prompt}")
          .model("#{model}")
          .model(session -> session.getString("model"))
          .maxTokens(256)
          .maxTokens("#{tokens}")
          .maxTokens(session -> session.getInt("tokens"))
          .temperature(0.5)
          .temperature("#{t}")
          .temperature(session -> session.getDouble("t"))
          .topP(0.9)
          .topP("#{p}")
          .topP(session -> session.getDouble("p"))
          .stop("END", "#{end}")
          .stop(session -> "END")
          .seed(1)
          .seed("#{seed}")
          .seed(session -> session.getLong("seed"))
          .stream(true)
          .stream("#{stream}")
          .stream(session -> session.getBoolean("stream"))
          .body("{\"top_k\": #{k}}")
          .body(session -> "{}")
          .header("X-Kind", "#{kind}")
          .header("X-Kind", session -> session.getString("kind"))
          .silent()
          .check(finishReason().is("length"), answer().saveAs("draft"), reasoning().notExists())
          .check(
              List.of(outputTokens().gt(1), promptTokens().gt(1), verdict().is(Verdict.COMPLETE)))
          .check(ttft().lt(500), ttft().lt(ofMillis(500)), ttfo().lte(500), ttfo().lte(ofMillis(1)))
          .check(tpot().gt(1), tpot().gt(ofMillis(1)), latency().gte(1), latency().gte(ofMillis(1)))
          .check(queueWait().lt(100))
          .check(
              bodyString().exists(), substring("[1]"), regex("a"), jsonPath("$.a"), jmesPath("a"))
          .checkIf("#{strict}")
          .then(substring("[1]"))
          .checkIf(session -> session.getBoolean("strict"))
          .then(List.of(substring("[1]")))
          .checkIf((response, session) -> response.verdict() == Verdict.COMPLETE)
          .then(ttft().lt(500));

  private final ScenarioBuilder completion =
      scenario("Completion")
          .exec(
              llm("complete").completion().prompt("#{prompt}"),
              llm("complete").completion().prompt(session -> "Once"));

  {
    setUp(
            scenario("A").exec(chats, exec(request)).injectOpen(poissonUsersPerSec(25).during(60)),
            scenario("B")
                .exec(request)
                .injectOpen(poissonUsersPerSec(25).seed(42).during(ofSeconds(60)), nothingFor(10)),
            closedLoop(1, 2, 4)
                .fill()
                .fill(1)
                .fill(ofSeconds(1))
                .stabilize(10)
                .stabilize(ofSeconds(10))
                .measure(60)
                .measure(ofSeconds(60))
                .drain(20)
                .drain(ofSeconds(20))
                .requests(100)
                .stopWhen(sloBelow(50))
                .inject(completion),
            closedLoop(1).inject(scenario("D").exec(request)),
            maxGoodput()
                .startingAt(2)
                .precision(0.05)
                .seed(7)
                .stabilize(10)
                .stabilize(ofSeconds(10))
                .measure(60)
                .measure(ofSeconds(60))
                .drain(20)
                .drain(ofSeconds(20))
                .requests(100)
                .inject(scenario("E").exec(request)),
            batch(8).trials(10).drain(20).drain(ofSeconds(20)).inject(scenario("G").exec(request)),
            openLoop(1).inject(scenario("F").exec(request)),
            scenario("H")
                .exec(request)
                .injectOpen(
                    gammaUsersPerSec(25).cv(1.4).seed(42).during(60),
                    gammaUsersPerSec(25).cv(1.4).during(ofSeconds(60)),
                    usersPerSec(t -> 20 + t.toSeconds()).poisson().seed(1).during(60),
                    usersPerSec(t -> 20).constant().during(ofSeconds(60)),
                    usersPerSec(t -> 20).gamma(1.4).during(60),
                    replay("src/test/resources/traces/azure.csv", 2.0),
                    replay("src/test/resources/traces/azure.csv")),
            openLoop(t -> 5 + t.toMillis() / 2000.0, ofSeconds(60))
                .gamma(1.4)
                .inject(scenario("I").exec(request)),
            openLoop(1, 2.5)
                .poisson()
                .constant()
                .seed(7)
                .stabilize(10)
                .stabilize(ofSeconds(10))
                .measure(60)
                .measure(ofSeconds(60))
                .drain(20)
                .drain(ofSeconds(20))
                .requests(100)
                .stopWhen(errorsAbove(10))
                .stopWhen(overSaturated())
                .inject(scenario("C").exec(request)),
            oneAfterTheOther(
                closedLoop(1).target("A", protocol).inject(completion),
                openLoop(1).target("B", protocol).inject(completion)),
            oneAfterTheOther(sideBySide(closedLoop(1).target("C", protocol).inject(completion))))
        .protocols(protocol);
  }
}
