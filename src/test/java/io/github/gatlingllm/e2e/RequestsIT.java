package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.testing.GatlingRun;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** All parameters and checks of a request, as seen by a server and in the records of one run. */
class RequestsIT {
  @AutoClose private static Parrot server;
  private static GatlingRun run;

  @BeforeAll
  static void runOnce() throws Exception {
    server = new Parrot();
    run = GatlingRun.of(RequestsSimulation.class).set("url", server.url()).succeed();
  }

  @Test
  void expressionLanguageIsResolvedEverywhere() throws Exception {
    Parrot.Heard heard = server.heard("from \"EL\"").get(0);
    JsonNode body = heard.body();

    assertThat(heard.contents()).containsExactly("be fed", "from \"EL\"");
    assertThat(body.path("model").asText()).isEqualTo("m-fed");
    assertThat(body.path("max_tokens").asInt()).isEqualTo(11);
    assertThat(body.path("min_tokens").asInt()).isEqualTo(11);
    assertThat(body.path("ignore_eos").asBoolean()).isTrue();
    assertThat(body.path("temperature").asDouble()).isEqualTo(0.5);
    assertThat(body.has("top_p")).as("removed by the extra body").isFalse();
    assertThat(body.path("seed").asInt()).isEqualTo(11);
    assertThat(body.path("stop")).hasToString("[\"fed\",\"END\"]");
    assertThat(body.path("stream").asBoolean()).isFalse();
    assertThat(body.path("extra").asText()).isEqualTo("fed");
    assertThat(heard.request().header("X-Kind")).isEqualTo("fed");
    RequestRecord record = only("el fed");
    assertThat(heard.request().header("X-Request-Id")).isEqualTo(record.identity().requestId());
    assertThat(record.identity().streamed()).isFalse();
    assertThat(record.timing().ttftNanos()).as("nothing streamed").isNull();
    assertThat(record.timing().latencyNanos()).isPositive();
    assertThat(record.text().answer()).isEqualTo(Parrot.OTHERWISE);
    assertThat(only("completion").text().prompt()).isEqualTo("say fed text");
  }

  @Test
  void functionsAreResolvedEverywhere() throws Exception {
    Parrot.Heard heard = server.heard("from a function").get(0);

    assertThat(heard.contents()).containsExactly("be fed", "from a function");
    assertThat(heard.body().path("model").asText()).isEqualTo("m-fn");
    assertThat(heard.body().path("max_tokens").asInt()).isEqualTo(12);
    assertThat(heard.body().path("temperature").asDouble()).isEqualTo(0.25);
    assertThat(heard.body().path("seed").asInt()).isEqualTo(5);
    assertThat(heard.body().path("stream").asBoolean()).isTrue();
    assertThat(heard.body().at("/stream_options/include_usage").asBoolean()).isTrue();
    assertThat(heard.request().header("X-Kind")).isEqualTo("fn");
    assertThat(only("fn fed").outcome().ok()).isTrue();
  }

  @Test
  void checksReadTheAnswer() throws Exception {
    RequestRecord passes = only("passes");

    assertThat(passes.outcome().error()).isNull();
    assertThat(passes.outcome().ok()).isTrue();
    assertThat(server.heard("say 7 stop COMPLETE {\"a\": {\"b\": 7}}"))
        .as("what checks saved is in the session")
        .hasSize(1);
  }

  @Test
  void failedCheckIsReported() throws Exception {
    assertFails(only("fails"), "substring(yes).find.exists, found nothing");
    assertFails(
        only("is not json"),
        "jsonPath($.a).find.exists preparation crashed: the answer is not JSON");
    assertThat(run.log()).contains("substring(yes).find.exists, found nothing");
  }

  @Test
  void tryMaxRepeatsTheRequest() throws Exception {
    assertThat(run.requests("tried")).hasSize(3).noneMatch(record -> record.outcome().ok());
    assertThat(only("goes on").outcome().ok()).isTrue();
  }

  @Test
  void requestThatCannotBeBuiltFailsAndTheUserContinues() throws Exception {
    for (String name :
        List.of(
            "unresolved", "failing function", "function of null", "no number", "not an object")) {
      assertThat(run.requests(name))
          .as(name)
          .singleElement()
          .extracting(record -> record.outcome().status())
          .isEqualTo(RequestStatus.NOT_BUILT);
      assertThat(run.log()).contains(name + ": ");
    }
    assertThat(run.summary().at("/counts/verdicts/not_built").asLong()).isEqualTo(5);
    assertThat(run.summary().at("/errors"))
        .extracting(error -> error.get("message").asText())
        .contains("No attribute named 'nothing' is defined");
    assertThat(run.info().outcome().prompts().counted()).isEqualTo(run.requests().size() - 5);
    assertThat(run.info().outcome().prompts().repeated()).as("say no, say slow").isGreaterThan(3);
    assertThat(run.info().outcome().started())
        .as("without the silent ones")
        .isEqualTo(run.requests().size());
    assertThat(run.log()).contains("unresolved: No attribute named 'nothing' is defined");
    assertThat(run.requests("fails in block")).hasSize(1);
  }

  @Test
  void exitBlockOnFailEndsTheBlock() throws Exception {
    assertThat(run.requests("never sent")).isEmpty();
    assertThat(server.heard("say never")).isEmpty();
    assertThat(only("after the block").outcome().ok()).isTrue();
  }

  @Test
  void silentRequestsAreSentAndCheckedButNotCounted() throws Exception {
    assertThat(server.heard("say hush")).hasSize(2);
    assertThat(run.requests("quiet")).isEmpty();
    assertThat(run.requests("quiet failure")).isEmpty();
    assertThat(run.output()).doesNotContain("quiet");
    assertThat(server.heard("say heard")).as("a silent failure marks the user").hasSize(1);
  }

  @Test
  void agentCallsToolsAndContinuesWithTheirResults() throws Exception {
    assertThat(only("plan").outcome().error()).isNull();
    assertThat(only("plan").tokens().outputTokens()).isEqualTo(4);
    List<Parrot.Heard> heard = server.heard("say weather{\"in\":\"Rome\"}");
    assertThat(heard).hasSize(1);
    JsonNode messages = heard.get(0).body().path("messages");
    assertThat(messages.findValuesAsText("role"))
        .containsExactly("system", "user", "assistant", "tool", "tool");
    assertThat(messages.at("/2/content").isNull()).isTrue();
    assertThat(messages.at("/2/tool_calls"))
        .hasToString(
            "[{\"id\":\"p\",\"type\":\"function\",\"function\":{\"name\":\"weather\","
                + "\"arguments\":\"{\\\"in\\\":\\\"Paris\\\"}\"}},"
                + "{\"id\":\"r\",\"type\":\"function\",\"function\":{\"name\":\"weather\","
                + "\"arguments\":\"{\\\"in\\\":\\\"Rome\\\"}\"}}]");
    assertThat(messages.findValuesAsText("tool_call_id")).containsExactly("p", "r");
    assertThat(only("act").outcome().ok()).isTrue();
    assertThat(server.heard("say bye").get(0).contents())
        .as("calls and results stay in the history")
        .hasSize(7);
  }

  @Test
  void requestSettingsOverrideTheProtocol() throws Exception {
    Parrot.Heard own = server.heard("say own").get(0);

    assertThat(own.request().header("Authorization")).isEqualTo("Bearer sk-true");
    assertThat(own.request().header("X-A")).isEqualTo("a");
    assertThat(own.request().header("X-B")).isEqualTo("b");
    assertThat(own.body().toString())
        .contains(
            "\"top_k\":5,\"min_p\":0.1,\"frequency_penalty\":0.5,\"presence_penalty\":-0.5,"
                + "\"repetition_penalty\":1.1,\"logprobs\":true,\"top_logprobs\":3,\"n\":1");
    assertThat(only("own").outcome().sloOk()).isTrue();
    assertThat(run.info().objectives().sloByRequest())
        .containsExactly(Map.entry("own", "ttft<10s"));
    assertThat(server.heard("say late").get(0).request().header("Authorization")).isNull();
    assertThat(only("too late").outcome().status()).isEqualTo(RequestStatus.TIMEOUT);
    assertThat(only("too late").outcome().sloOk()).as("it has none").isNull();
    assertThat(server.heard("say this").get(0).body().path("logprobs").asInt()).isEqualTo(2);
  }

  @Test
  void waitForTheThrottleIsRecorded() throws Exception {
    List<RequestRecord> throttled = run.requests("throttled");

    assertThat(throttled)
        .hasSize(RequestsSimulation.THROTTLED)
        .allMatch(record -> record.timing().gateWaitNanos() > 0);
    assertThat(run.requests("passes"))
        .isNotEmpty()
        .allMatch(record -> record.timing().gateWaitNanos() == 0);
    assertThat(throttled)
        .as("in no latency, but in those from the start")
        .extracting(RequestRecord::timing)
        .allMatch(t -> t.ttftFromScheduleNanos() - t.ttftNanos() >= t.gateWaitNanos());
  }

  private static RequestRecord only(String name) throws Exception {
    List<RequestRecord> records = run.requests(name);
    assertThat(records).as(name).hasSize(1);
    return records.get(0);
  }

  private static void assertFails(RequestRecord record, String error) {
    assertThat(record.outcome().ok()).isFalse();
    assertThat(record.outcome().status().name()).isEqualTo("CHECK_FAILED");
    assertThat(record.outcome().error()).isEqualTo(error);
  }

  public static final class RequestsSimulation extends Simulation {

    static final int THROTTLED = 8;
    static final int PER_SECOND = 4;

    private final ScenarioBuilder texts =
        scenario("Texts")
            .exec(
                session ->
                    session
                        .set("kind", "fed")
                        .set("prompt", "from \"EL\"")
                        .set("tokens", 11)
                        .set("t", 0.5)
                        .set("stream", false))
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
                        httpStatus().is(200))
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
                llm("failing function")
                    .chat()
                    .user(session -> session.getString("nothing").strip()),
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
          llm.baseUrl(System.getProperty("url") + "/v1").model("m").recordText();
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
}
