package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static io.github.gatlingllm.javaapi.WorkloadDsl.*;
import static java.util.stream.Collectors.toMap;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.docs.ReferencePage;
import io.github.gatlingllm.javaapi.*;
import io.github.gatlingllm.testing.Exchange;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.Request;
import io.github.gatlingllm.testing.ScriptedServer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * Requests of every API and option, byte by byte as a server receives them: {@code
 * wire/requests.txt} has the request line, headers and body of each.
 */
class RequestBytesIT {

  private static final Path FILE = Path.of("src/test/resources/wire/requests.txt");

  private static final String USAGE = "\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}";

  /**
   * The answers by the ends of paths; a request with a tool choice gets the calls in place of %s.
   */
  private static final Map<String, List<String>> ANSWERS =
      Map.of(
          "chat/completions",
          List.of(
              "{\"choices\":[{\"message\":{\"content\":\"Hi.\"%s},\"finish_reason\":\"stop\"}],",
              ",\"tool_calls\":[{\"id\":\"c1\",\"function\":{\"name\":\"weather\",\"arguments\":"
                  + "\"{\\\"days\\\":2}\"}}]"),
          "/v1/completions",
          List.of("{\"choices\":[{\"text\":\"Hi.\",\"finish_reason\":\"stop\"}],", ""),
          "responses",
          List.of(
              "{\"object\":\"response\",\"status\":\"completed\",\"output\":[{\"type\":\"message\","
                  + "\"content\":[{\"type\":\"output_text\",\"text\":\"Hi.\"}]}%s],",
              ",{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"weather\",\"arguments\":"
                  + "\"{\\\"days\\\":2}\"}"),
          "messages",
          List.of(
              "{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"Hi.\"}%s],"
                  + "\"stop_reason\":\"end_turn\",",
              ",{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"weather\",\"input\":{\"days\":2}}"),
          "embeddings",
          List.of("{\"data\":[{\"embedding\":[0.5]}],", ""),
          "rerank",
          List.of("{\"results\":[{\"index\":0,\"relevance_score\":0.5}],", ""));

  /** Fields that a strict server rejects, one after the other; the last one in a chat only. */
  private static final List<String> REJECTED = List.of("include_usage", "ignore_eos", "max_tokens");

  private static void answer(Exchange exchange) throws IOException {
    Request request = exchange.request();
    int strict =
        request.path().startsWith("/strict/") ? 3 : request.path().startsWith("/strict-") ? 2 : 0;
    for (String field : REJECTED.subList(0, strict)) {
      if (request.body().contains('"' + field + '"')) {
        String error = "{\"error\":{\"message\":\"Unsupported parameter: " + field + "\"}}";
        exchange.respond(400, "application/json", error);
        return;
      }
    }
    String path = request.path().split("\\?", 2)[0];
    List<String> answer =
        ANSWERS.entrySet().stream()
            .filter(row -> path.endsWith(row.getKey()))
            .findFirst()
            .orElseThrow()
            .getValue();
    String calls = request.body().contains("\"tool_choice\"") ? answer.get(1) : "";
    exchange.respond(200, "application/json", answer.get(0).replace("%s", calls) + USAGE + "}");
  }

  @Test
  void bytesAreThoseOfTheFile() throws Exception {
    try (ScriptedServer server = ScriptedServer.start(RequestBytesIT::answer)) {
      GatlingRun run =
          GatlingRun.of(AllRequests.class, server.baseUrl())
              .triesTargets()
              .llm("nonce=seed")
              .succeed();
      Map<String, String> names =
          run.requests().stream()
              .map(record -> record.identity())
              .collect(toMap(identity -> identity.requestId(), identity -> identity.name()));
      String runId = names.keySet().iterator().next().replaceFirst("-\\d+$", "");

      StringBuilder all = new StringBuilder("# Requests by target, as a server receives them.\n");
      List<Request> sent = new ArrayList<>(server.requests());
      sent.sort(Comparator.comparing(request -> request.path().split("/", 3)[1]));
      for (Request request : sent) {
        String name = names.getOrDefault(request.header("X-Request-Id"), "before the load");
        String target = request.path().split("/", 3)[1];
        String head =
            request
                .head()
                .replace(server.baseUrl().replace("http://", ""), "HOST")
                .replaceFirst("(?i)(\nx-request-id: ).*", "$1ID")
                .replace(runId, "RUN");
        all.append("\n## %s: %s\n%s\n%s\n".formatted(target, name, head, request.body()));
      }
      ReferencePage.at(FILE).mustBe(all.toString());
    }
  }

  /** One user for each target, one after the other. */
  public static final class AllRequests extends Simulation {

    private static final String TOOLS =
        """
        [{"type":"function","function":{"name":"weather","description":"of #{kind}",\
        "parameters":{"type":"object","properties":{"days":{"type":"integer"}}}}},\
        {"type":"function","function":{"name":"now"}}]\
        """;
    private static final String CALLED = "{\"type\":\"function\",\"function\":{\"name\":\"now\"}}";
    private static final String FORMAT =
        """
        {"type":"json_schema","json_schema":{"name":"n","strict":true,\
        "schema":{"type":"object","properties":{"a":{"type":"string"}}}}}\
        """;
    private static final String SPECIAL = "\"\\/\n\t\u0001 é 😀 \u2028 \ud800.";

    private final List<PopulationBuilder> targets = new ArrayList<>();

    public AllRequests() {
      target("chat", llm -> llm, messages(Llm::chat));
      target("responses", llm -> llm, messages(Llm::responses));
      target("messages", llm -> llm, messages(Llm::messages));
      target("texts", llm -> llm, texts());
      target(
          "unpinned",
          llm -> llm.disableIgnoreEos().disableUsage(),
          exec(ask(Llm::chat), complete(), ask(Llm::responses), ask(Llm::messages)));
      target(
          "renamed",
          llm -> llm.maxTokensField("max_completion_tokens").eventTokens(true),
          exec(ask(Llm::chat), complete(), ask(Llm::responses), ask(Llm::messages)));
      target(
          "unlimited",
          llm -> llm.maxTokensField("none"),
          exec(ask(Llm::chat), ask(Llm::responses), ask(Llm::messages)));
      target(
          "whole", LlmProtocolBuilder::disableStreaming, exec(ask(Llm::chat), ask(Llm::messages)));
      target("headers", AllRequests::withHeaders, headers());
      target("unique", LlmProtocolBuilder::uniquePrompts, prefixed());
      target("shared", llm -> llm.sharedPrefix(2, 9), prefixed());
      target(
          "models",
          llm -> llm.model("base", 1).model("lora", 3),
          exec(ask(Llm::chat), ask(Llm::chat), ask(Llm::chat), ask(Llm::chat)));
      target(
          "path",
          llm -> llm.baseUrl(url("path") + "/chat/completions?api-version=1"),
          exec(ask(Llm::chat)));
      target("strict", llm -> llm.warmUp(1), exec(ask(Llm::chat)));
      target("strict-responses", llm -> llm.warmUp(1), exec(ask(Llm::responses)));
      target("strict-text", llm -> llm.warmUp(1), exec(complete()));

      target("rerank", llm -> llm, rerank());
      target("rerank-tei", llm -> llm.baseUrl(url("rerank-tei").replace("/v1", "")), rerank());

      PopulationBuilder first = targets.get(targets.size() - 1);
      for (int i = targets.size() - 2; i >= 0; i--) {
        first = targets.get(i).andThen(first);
      }
      setUp(first);
    }

    private static String url(String target) {
      return System.getProperty("baseUrl") + "/" + target + "/v1";
    }

    private void target(
        String name, UnaryOperator<LlmProtocolBuilder> protocol, ChainBuilder requests) {
      LlmProtocolBuilder common =
          llm.baseUrl(url(name)).target(name).model("m").seed(7).warmUp(0).metricsUrl("none");
      targets.add(
          scenario(name)
              .exec(
                  session ->
                      session
                          .set("kind", "fed")
                          .set("tokens", 11)
                          .set("t", 0.5)
                          .set("stream", false)
                          .set(
                              "dialog",
                              List.of(
                                  new TreeMap<>(Map.of("role", "system", "content", "Be.")),
                                  new TreeMap<>(Map.of("role", "user", "content", "Yes?")))))
              .exec(requests)
              .injectOpen(atOnceUsers(1))
              .protocols(protocol.apply(common)));
    }

    private static ChatRequestBuilder ask(Function<Llm, ChatRequestBuilder> api) {
      return api.apply(llm("ask")).user("Why?").maxTokens(16);
    }

    private static CompletionRequestBuilder complete() {
      return llm("complete").completion().prompt("Once").maxTokens(16);
    }

    /** What requests with messages can say, the same in each API. */
    private static ChainBuilder messages(Function<Llm, ChatRequestBuilder> api) {
      Function<String, ChatRequestBuilder> as = name -> api.apply(llm(name)).maxTokens(16);
      return exec(
              as.apply("texts").system("Be \"brief\".").user(SPECIAL).assistant("Well,"),
              api
                  .apply(llm("EL"))
                  .system("be #{kind}")
                  .user("#{kind}?")
                  .model("m-#{kind}")
                  .maxTokens("#{tokens}")
                  .temperature("#{t}")
                  .topP("#{t}")
                  .seed("#{tokens}")
                  .stop("#{kind}", "END")
                  .stream("#{stream}")
                  .header("X-Kind", "#{kind}")
                  .body("{\"extra\":{\"#{kind}\":[1,2.5,true,null]},\"top_p\":null}"),
              api.apply(llm("functions"))
                  .system(session -> "be " + session.getString("kind"))
                  .user(session -> "go")
                  .model(session -> "m-fn")
                  .maxTokens(session -> session.getInt("tokens") + 1)
                  .temperature(session -> 0.25)
                  .seed(session -> 5L)
                  .stop(session -> "END")
                  .apiKey(session -> "sk-own")
                  .header("X-Kind", session -> "fn"),
              as.apply("sampling")
                  .user("Go.")
                  .topK(5)
                  .minP(0.1)
                  .frequencyPenalty(0.5)
                  .presencePenalty(-0.5)
                  .repetitionPenalty(1.1)
                  .logprobs(3)
                  .choices(2),
              as.apply("a tool").user("Go.").tools(TOOLS).toolChoice(CALLED),
              as.apply("auto").user("Go.").tools(TOOLS).toolChoice("\"auto\""),
              as.apply("a result").user("Go.").tool("c-#{kind}", "42").tool("c2", "43"),
              as.apply("images")
                  .system("Look.")
                  .user("#{kind}?", imageUrl("http://h/#{kind}.png"), image(bytes(), "image/png")),
              as.apply("an image").user("", image(bytes(), "image/png")),
              as.apply("format").user("Go.").responseFormat(FORMAT),
              as.apply("whole").user("Go.").stream(false),
              as.apply("list").messages("#{dialog}").user("Go."),
              as.apply("JSON").messages("[{\"role\":\"user\",\"content\":\"#{kind}\"}]"),
              as.apply("drawn").user("Go.").maxTokens(uniformTokens(20, 90)))
          .exec(conversation("h").system("Use tools."))
          .exec(
              as.apply("plan")
                  .history("h")
                  .user("Weather?")
                  .tools(TOOLS)
                  .toolChoice("\"required\"")
                  .check(toolCalls().saveAs("calls")),
              as.apply("act")
                  .history("h")
                  .toolResults("calls", call -> "sunny; asked " + call.arguments())
                  .tools(TOOLS),
              as.apply("end").history("h").user("Bye."));
    }

    private static byte[] bytes() {
      return new byte[] {1, 2, 3};
    }

    private static ChainBuilder texts() {
      return exec(
          llm("EL").completion().prompt("#{kind} " + SPECIAL).maxTokens("#{tokens}").stop("END"),
          llm("functions").completion().prompt(s -> "go").maxTokens(3).stream(s -> false),
          llm("sampling").completion().prompt("Go.").logprobs(2).temperature(0).choices(2).topK(1),
          llm("body").completion().prompt("Go.").body("{\"prompt\":[1,2],\"stream\":null}"),
          llm("one").embeddings().input("#{kind}"),
          llm("three").embeddings().input("a", "b", SPECIAL).dimensions(8).encodingFormat("base64"),
          llm("list").embeddings().input(session -> List.of("a", session.getString("kind"))),
          llm("body").embeddings().input("a").model("e").body("{\"input\":[1,2],\"x\":\"#{t}\"}"));
    }

    private static ChainBuilder rerank() {
      return exec(
          llm("EL").rerank().query("#{kind}?").documents("a", SPECIAL).topN(1),
          llm("functions")
              .rerank()
              .query(session -> session.getString("kind"))
              .documents(session -> List.of("a", session.getString("kind")))
              .returnDocuments(true)
              .body("{\"truncate\":true}"));
    }

    private static LlmProtocolBuilder withHeaders(LlmProtocolBuilder llm) {
      return llm.apiKey("sk-#{kind}\n")
          .header("X-Kind", "#{kind}")
          .headers(Map.of("anthropic-version", "2024-01-01"))
          .conversationHeader("X-Session")
          .body("{\"user\":\"u\",\"temperature\":null}");
    }

    private static ChainBuilder headers() {
      return exec(
              ask(Llm::chat).temperature(0.5),
              ask(Llm::messages).apiKey("sk-own").header("x-kind", "own"),
              ask(Llm::responses).body("{\"user\":null}"),
              llm("embed").embeddings().input("a"))
          .exec(conversation("h"))
          .exec(ask(Llm::chat).history("h"), ask(Llm::chat).history("h"))
          .exec(conversation("h"))
          .exec(ask(Llm::chat).history("h"));
    }

    private static ChainBuilder prefixed() {
      return exec(
              ask(Llm::chat),
              ask(Llm::chat).system("Last."),
              llm("image").messages().user("?", image(bytes(), "image/png")).maxTokens(5),
              llm("system").messages().system("Be brief.").user("Why?").maxTokens(5),
              ask(Llm::responses),
              complete(),
              llm("embed").embeddings().input("a", "b"))
          .exec(conversation("h"))
          .exec(ask(Llm::chat).history("h"), ask(Llm::chat).history("h"));
    }
  }
}
