package io.github.gatlingllm.javaapi;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.workload.Dialog;
import io.github.gatlingllm.workload.Tokenizer;
import java.util.List;
import java.util.Map;

/** Calls every public method in every overload: source compatibility of the DSL. */
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
          .percentile(99)
          .allAtOnce();

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
          .maxRequestsPerMinute(500)
          .maxTokensPerMinute(150_000)
          .gpus(8)
          .metricsUrl("auto", "http://localhost:9400/metrics")
          .metricsUrls(List.of("none"))
          .closeAfterRun(() -> {})
          .readingSpeed(5)
          .costPerHour(3.6)
          .verifyTls()
          .disableVerifyTls()
          .shareConnections()
          .disableShareConnections()
          .disableStreaming()
          .ignoreEos()
          .disableIgnoreEos()
          .disableIndexBlock()
          .seed(42)
          .tokenizer(tiktoken("o200k_base"))
          .tokenizer(huggingFace("src/test/resources/tokenizers/bpe.tokenizer.json"))
          .tokenizer(chars4())
          .note("purpose", "every method")
          .disableUsage()
          .body("{\"top_k\": 5}")
          .uniquePrompts()
          .sharedPrefix(4, 512)
          .slo(objectives)
          .slo("ask", objectives)
          .assertions(llmValid())
          .assertions(EveryAssertion.ALL)
          .disableFailBuild()
          .disableFailOnInvalid()
          .slo(Slo.NONE)
          .slo("ask", Slo.NONE)
          .recordText()
          .disableRecordTokens()
          .csv()
          .disableIndexBlock()
          .warmUp(1)
          .warmUp(1, Map.of("prompt", "Why?"))
          .disableJvmWarmUp()
          .seed(42)
          .note("purpose", "compiling");

  private final ChainBuilder chats =
      exec(conversation("history").system("You are #{who}."))
          .exec(conversation("history").system(session -> "You are a tutor."))
          .exec(conversation("history"))
          .feed(dataset(shareGpt("datasets/sharegpt.json")).seed(42).inOrder())
          .feed(dataset(openAssistant("datasets/oasst.trees.jsonl").tokenizer(Tokenizer.chars4())))
          .feed(dataset(longBench("datasets/longbench.json")))
          .feed(dataset(mooncake("datasets/mooncake.jsonl", Tokenizer.chars4())))
          .feed(dataset(openAiChat("datasets/openai.jsonl")).get())
          .exec(conversation("history").dialog("#{dialog}").recordedAnswers().contextLimit(8192))
          .exec(conversation("history").dialog(session -> session.<Dialog>get("dialog")))
          .asLongAs(goesOn("history"))
          .on(llm("turn").chat().nextTurn("history"))
          .exec(
              llm("ask").chat().history("history").system("Be brief.").user("#{prompt}"),
              llm("ask").chat().system(session -> "Be brief.").user(session -> "Why?"),
              llm(session -> "ask").chat().assistant("Hello."),
              llm("ask").chat().assistant(session -> "Hello."),
              llm("ask").chat().tool("#{id}", "#{result}"),
              llm("ask").chat().tool(session -> "id", session -> "result"),
              llm("ask").chat().messages("#{messages}"),
              llm("look").chat().user("What is this?", image(new byte[0], "image/png")),
              llm("look").chat().user(session -> "And?", image(8, 8).seed(1).variants(2)),
              llm("ask").chat().messages(session -> session.getList("messages")),
              llm("ask").chat().toolResults("calls", call -> call.id() + call.name()),
              llm("ask").chat().user("Why?").history("history").toolResults("calls", call -> "1"),
              llm("ask").completion().prompt("Why?").logprobs(1),
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
                  .user("This?", imageUrl("#{url}"), imageUrl(session -> "http://host/a.png"))
                  .user(session -> "Or that?", image("datasets/pixel.png"))
                  .toolChoice("\"auto\"")
                  .toolChoice(session -> "\"none\"")
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
          .topK(5)
          .topK("#{x}")
          .topK(session -> session.getInt("x"))
          .minP(0.1)
          .minP("#{x}")
          .minP(session -> session.getDouble("x"))
          .frequencyPenalty(0.1)
          .frequencyPenalty("#{x}")
          .frequencyPenalty(session -> session.getDouble("x"))
          .presencePenalty(0.1)
          .presencePenalty("#{x}")
          .presencePenalty(session -> session.getDouble("x"))
          .repetitionPenalty(1.1)
          .repetitionPenalty("#{x}")
          .repetitionPenalty(session -> session.getDouble("x"))
          .apiKey("#{key}")
          .apiKey(session -> session.getString("key"))
          .requestTimeout(60)
          .requestTimeout(ofSeconds(60))
          .slo(objectives)
          .headers(Map.of("X-Kind", "#{kind}"))
          .logprobs(3)
          .choices(2)
          .choices("#{n}")
          .choices(session -> 2)
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
              List.of(
                  outputTokens().gt(1),
                  promptTokens().gt(1),
                  requestStatus().is(RequestStatus.COMPLETE)))
          .check(ttft().lt(500), ttft().lt(ofMillis(500)), ttfo().lte(500), ttfo().lte(ofMillis(1)))
          .check(tpot().gt(1), tpot().gt(ofMillis(1)), e2e().gte(1), e2e().gte(ofMillis(1)))
          .check(itl().lt(100), httpStatus().is(200), cachedTokens().lt(9))
          .check(toolCalls().saveAs("calls"))
          .check(queueWait().lt(100), queueWait().is(0))
          .check(
              bodyString().exists(), substring("[1]"), regex("a"), jsonPath("$.a"), jmesPath("a"))
          .checkIf("#{strict}")
          .then(substring("[1]"))
          .checkIf(session -> session.getBoolean("strict"))
          .then(List.of(substring("[1]")))
          .checkIf(
              (response, session) ->
                  response.requestStatus() == RequestStatus.COMPLETE
                      && response.httpStatus() == 200
                      && "stop".equals(response.finishReason())
                      && response.answer().length() > response.reasoning().length()
                      && response.toolCalls().isEmpty()
                      && response.timing().ttftNanos() != null
                      && response.tokens().outputTokens() != null)
          .then(ttft().lt(500));

  private final ChainBuilder prompts =
      feed(prompts()
              .text("Why?")
              .file("src/gatling/resources/prompts.json")
              .synthetic()
              .builtIn()
              .tokens(256)
              .tokens(256, Tokenizer.chars4())
              .tokens(normalTokens(256, 32))
              .tokens(lognormalTokens(256, 32), Tokenizer.cl100k())
              .tokens(uniformTokens(100, 900))
              .tokens(weightedTokens(Map.of(128, 70.0, 4_096, 30.0)))
              .tokens(tracedTokens("src/test/resources/traces/azure.csv"))
              .distinct(100)
              .unique()
              .sharedPrefix(4, 64)
              .seed(42))
          .exec(
              mix()
                  .add(1, sameShort().maxTokens(16).seed(1))
                  .add(1, sameLong().tokenizer(Tokenizer.chars4()))
                  .add(1, diverseShort().distinct(10).request(ask -> ask.temperature(0.5)))
                  .add(1, diverseLong().distinct(10).completion(ask -> ask.topP(0.5)))
                  .add(1, ragAgent().by(Llm::responses))
                  .add(
                      1,
                      dialog()
                          .turns(3)
                          .contextLimit(8192)
                          .thinkTime(1, 2)
                          .thinkTime(ofMillis(100), ofMillis(200))
                          .distinct(10))
                  .seed(42));

  private final ScenarioBuilder completion =
      scenario("Completion")
          .exec(
              llm("think").responses().system("Be brief.").user("Why?").maxTokens(8),
              llm("say").messages().user("Why?").maxTokens(8).header("anthropic-beta", "x"),
              llm("embed")
                  .embeddings()
                  .input("#{passage}", "#{next}")
                  .dimensions(256)
                  .dimensions("#{length}")
                  .dimensions(session -> 256)
                  .encodingFormat("base64")
                  .encodingFormat(session -> "float"),
              llm("embed").embeddings().input(session -> session.getList("passages")),
              llm("complete").completion().prompt("#{prompt}"),
              llm("complete").completion().prompt(session -> "Once"));

  /** As scenarios of Gatling's Scala DSL come. */
  @SuppressWarnings("UnusedVariable") // that it compiles is what counts
  private final List<?> scala =
      List.of(
          closedLoop(1).inject(completion.wrapped),
          closedLoop(1).target("A", protocol).inject(completion.wrapped));

  {
    setUp(
            scenario("A")
                .exec(chats, exec(request), prompts)
                .injectOpen(poissonUsersPerSec(25).during(60)),
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
                .disableCooldown()
                .drain(20)
                .drain(ofSeconds(20))
                .requests(100)
                .requests(100, ofSeconds(60))
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
                .disableCooldown()
                .drain(20)
                .drain(ofSeconds(20))
                .requests(100)
                .inject(scenario("E").exec(request)),
            batch(8)
                .trials(10)
                .drain(20)
                .drain(ofSeconds(20))
                .stopWhen(never())
                .inject(scenario("G").exec(request)),
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
                .disableCooldown()
                .drain(20)
                .drain(ofSeconds(20))
                .requests(100)
                .stopWhen(errorsAbove(10))
                .stopWhen(overSaturated(), errorCountAbove(50), errorsInARowAbove(10), never())
                .inject(scenario("C").exec(request)),
            oneAfterTheOther(
                closedLoop(1).target("A", protocol).inject(completion),
                openLoop(1).target("B", protocol).inject(completion)),
            oneAfterTheOther(sideBySide(closedLoop(1).target("C", protocol).inject(completion))))
        .protocols(protocol);
  }
}
