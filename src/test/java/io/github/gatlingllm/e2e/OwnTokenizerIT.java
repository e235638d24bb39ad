package io.github.gatlingllm.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.Exchange;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.Request;
import io.github.gatlingllm.testing.ScriptedServer;
import io.github.gatlingllm.testing.ScriptedServer.Script;
import io.github.gatlingllm.workload.Tokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Lengths by the tokenizer of a server: three characters a token, and a template of 17. */
class OwnTokenizerIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int TEMPLATE = 17;

  @TempDir Path folder;

  /** A server whose usage is more than it states at {@code /tokenize}, by that share. */
  private static ScriptedServer server(double more) {
    return listing("{\"id\":\"m\"}", exchange -> answer(exchange, more, ",\"max_model_len\":4096"))
        .countsTokens();
  }

  private static ScriptedServer listing(String model, Script script) {
    return ScriptedServer.start(script)
        .pages(
            page ->
                page.respond(
                    page.request().path().endsWith("/models") ? 200 : 404,
                    "application/json",
                    "{\"data\":[" + model + "]}"));
  }

  private static void answer(Exchange exchange, double more, String context) throws IOException {
    JsonNode body = JSON.readTree(exchange.request().body());
    if (isCount(exchange.request())) {
      assertThat(body.path("model").asText()).as("asked of the only model").isEqualTo("m");
      int tokens = body.has("prompt") ? tokens(body.path("prompt")) : request(body);
      exchange.respond(200, "application/json", "{\"count\":" + tokens + context + "}");
    } else {
      int usage = (int) Math.round(request(body) * (1 + more));
      exchange.respond(
          200, "application/json", ChatChunks.withUsage(ChatChunks.body("Hi"), usage, 1));
    }
  }

  private static boolean isCount(Request request) {
    return request.path().equals("/tokenize");
  }

  private static int request(JsonNode body) {
    return tokens(body.at("/messages/0/content")) + TEMPLATE;
  }

  private static int tokens(JsonNode text) {
    return (text.asText().length() + 2) / 3;
  }

  private GatlingRun run(ScriptedServer server, String settings) throws Exception {
    return GatlingRun.benchmark(server.baseUrl())
        .set("llm.datasetCache", folder)
        .llm("concurrency=2 requests=12 seed=5 failOnInvalid=false " + settings)
        .succeed();
  }

  @ParameterizedTest
  @CsvSource({"text, 1000, 1017", "request, 983, 1000"})
  void lengthsArriveAsAskedByDefault(String of, int text, int request) throws Exception {
    try (ScriptedServer server = server(0);
        GatlingRun run = run(server, "promptTokens=1000 maxTokens=4 promptTokensOf=" + of)) {
      List<Request> seen = server.requests();
      List<Request> load = seen.stream().filter(each -> !isCount(each)).toList();
      assertThat(load).hasSizeGreaterThanOrEqualTo(12);
      for (Request each : load) {
        int tokens = tokens(JSON.readTree(each.body()).at("/messages/0/content"));
        assertThat(tokens).isBetween(text - 2, text + 2);
      }
      assertThat(run.requests())
          .allSatisfy(
              record ->
                  assertThat(record.tokens().promptTokens()).isBetween(request - 2, request + 2));
      assertThat(seen.subList(seen.indexOf(load.get(0)), seen.size()))
          .as("not counted in the load")
          .noneMatch(OwnTokenizerIT::isCount);
      assertThat(run.info().config())
          .containsEntry("tokenizer", "server")
          .containsEntry("tokenizer_source", server.baseUrl() + "/tokenize")
          .containsEntry("template_tokens", "17");
      assertThat(run.summary().findValue("template_tokens").asInt()).isEqualTo(TEMPLATE);
      assertThat(run.output())
          .contains("the server's own tokenizer (" + server.baseUrl() + "/tokenize)")
          .containsPattern("\\((1,0\\d\\d|17 more) with the chat template\\)")
          .doesNotContain("LLM WARNING");
      assertThat(run.check("prompt_tokens_agree").path("level").asText()).isEqualTo("ok");
    }
  }

  @Test
  void laterRunsAskForNoTextAgain() throws Exception {
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      try (ScriptedServer server = server(0);
          GatlingRun run = run(server, "promptTokens=200 maxTokens=4")) {
        texts.clear();
        for (Request each : server.requests()) {
          JsonNode body = JSON.readTree(each.body());
          if (isCount(each) && body.has("prompt")) {
            texts.add(body.path("prompt").asText());
          }
        }
        assertThat(run.info().config()).containsEntry("tokenizer", "server");
      }
    }
    assertThat(texts).as("only whether it is the same tokenizer").hasSize(2);
    assertThat(texts.get(0)).isEqualTo(texts.get(1));
  }

  /** A server without such a page: from its counts of the first prompt and of a short one. */
  @ParameterizedTest
  @CsvSource({"true, ok", "false, invalid"})
  void withoutThePageTheTemplateIsFoundByTwoCounts(boolean isOurs, String level) throws Exception {
    try (ScriptedServer server =
            ScriptedServer.start(
                exchange -> {
                  JsonNode text =
                      JSON.readTree(exchange.request().body()).at("/messages/0/content");
                  int tokens = isOurs ? Tokenizer.cl100k().count(text.asText()) : tokens(text);
                  exchange.respond(
                      200,
                      "application/json",
                      ChatChunks.withUsage(ChatChunks.body("Hi"), tokens + TEMPLATE, 1));
                });
        GatlingRun run = run(server, "model=m promptTokens=128 maxTokens=4")) {
      assertThat(server.requests()).as("first, short one, load").hasSize(1 + 1 + 12);
      assertThat(JSON.readTree(server.requests().get(1).body()).path("max_tokens").asInt())
          .isEqualTo(1);
      assertThat(run.info().config()).containsKey("template_tokens");
      int template = Integer.parseInt(run.info().config().get("template_tokens"));
      assertThat(template).isCloseTo(TEMPLATE, within(isOurs ? 0 : 8));
      assertThat(run.summary().findValue("template_tokens").asInt()).isEqualTo(template);
      assertThat(run.output()).contains(template + " more tokens in each prompt");
      assertThat(run.check("prompt_tokens_agree").path("level").asText()).isEqualTo(level);
      assertThat(run.output().contains("LLM WARNING: " + "127.0.0.1")).isEqualTo(!isOurs);
    }
  }

  /** The server counts by another model at {@code /tokenize} than in its usage. */
  @ParameterizedTest
  @CsvSource({"0.05, warning", "0.2, invalid"})
  void aDifferenceThatNoTemplateExplainsIsSaidBeforeTheLoad(double more, String level)
      throws Exception {
    try (ScriptedServer server = server(more);
        GatlingRun run = run(server, "promptTokens=1000 maxTokens=4")) {
      assertThat(run.check("prompt_tokens_agree").path("level").asText()).isEqualTo(level);
      assertThat(run.lines())
          .filteredOn(line -> line.startsWith("LLM WARNING") && line.contains("prompt tokens"))
          .singleElement()
          .asString()
          .contains(String.valueOf(Math.round(1017 * (1 + more))), "1017", "tokenizer=");
    }
  }

  /** By the list of models, as {@code /tokenize} does not tell: 1000 + 17 + 4 tokens. */
  @ParameterizedTest
  @ValueSource(strings = {"'max_model_len':1020", "'meta':{'n_ctx_train':1020}"})
  void aPromptThatExceedsTheContextIsRefusedBeforeTheLoad(String context) throws Exception {
    String model = "{'id':'m'," + context + "}";
    try (ScriptedServer server =
            listing(model.replace('\'', '"'), exchange -> answer(exchange, 0, "")).countsTokens();
        GatlingRun run =
            GatlingRun.benchmark(server.baseUrl())
                .set("llm.datasetCache", folder)
                .llm("concurrency=2 requests=12 promptTokens=1000 maxTokens=4")
                .run()) {
      assertThat(run.exitCode()).isNotZero();
      assertThat(run.lines())
          .filteredOn(line -> line.contains("llm.promptTokens"))
          .singleElement()
          .asString()
          .contains("1000", "17", "4", "1020");
      assertThat(server.requests()).isNotEmpty().allMatch(OwnTokenizerIT::isCount);
    }
  }

  /** No page {@code /tokenize}, and no model set: the server's list has the name of its file. */
  @Test
  void theOnlyModelsFileComesFromTheMirror() throws Exception {
    Path file = Path.of("src/test/resources/tokenizers/bpe.tokenizer.json");
    Tokenizer tokenizer = Tokenizer.huggingFace(file.toString());
    String json = Files.readString(file);
    try (ScriptedServer mirror =
            ScriptedServer.start(exchange -> exchange.respond(200, "application/json", json));
        ScriptedServer server =
            listing("{\"id\":\"owner/name\"}", exchange -> answer(exchange, 0, ""));
        GatlingRun run =
            GatlingRun.benchmark(server.baseUrl())
                .set("llm.datasetCache", folder)
                .llm("concurrency=2 requests=12 promptTokens=200 maxTokens=4")
                .launchedBy(
                    "env",
                    "HF_HOME=" + folder,
                    "HF_ENDPOINT=" + mirror.baseUrl(),
                    "HF_TOKEN=hf_123456789")
                .succeed()) {
      assertThat(run.info().config())
          .containsEntry("tokenizer", "hf:owner/name")
          .containsEntry("tokenizer_source", "tokenizer.json of the model");
      List<Integer> lengths = new ArrayList<>();
      for (Request each : server.requests()) {
        String text = JSON.readTree(each.body()).at("/messages/0/content").asText();
        lengths.add(tokenizer.count(text));
        assertThat(each.headers()).doesNotContainValue("Bearer hf_123456789");
      }
      assertThat(lengths.remove(1)).as("the short request of the warm-up").isLessThan(50);
      assertThat(lengths).hasSize(13).as("nonces differ").allMatch(n -> n >= 190 && n <= 210);
      assertThat(mirror.requests())
          .singleElement()
          .satisfies(
              asked -> {
                assertThat(asked.path()).isEqualTo("/owner/name/resolve/main/tokenizer.json");
                assertThat(asked.header("Authorization")).isEqualTo("Bearer hf_123456789");
              });
      assertThat(run.output()).doesNotContain("hf_123456789");
    }
  }
}
