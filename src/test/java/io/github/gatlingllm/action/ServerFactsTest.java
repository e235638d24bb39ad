package io.github.gatlingllm.action;

import static io.github.gatlingllm.javaapi.LlmDsl.llm;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.client.Api.AddedField;
import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.testing.ScriptedServer;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServerFactsTest {

  private static final RequestRecord FIRST =
      Recorded.at(0).model("m").tokens(20).output(16).max(16).roundTrip(0.25).record();

  /** A server with these pages, by their paths, and no others. */
  private static ScriptedServer serving(Map<String, String> pages) {
    return ScriptedServer.start(exchange -> exchange.answer("Yes"))
        .pages(
            page -> {
              String text =
                  pages.entrySet().stream()
                      .filter(each -> page.request().path().equals(each.getKey()))
                      .map(Map.Entry::getValue)
                      .findFirst()
                      .orElse("");
              page.respond(text.isEmpty() ? 404 : 200, "text/plain", text + "\n");
            });
  }

  private static String owned(String by, String more) {
    return "{\"data\":[{\"id\":\"m\",\"owned_by\":\"%s\"%s}]}".formatted(by, more);
  }

  private static boolean isRequested(String owner, String metrics, LlmProtocolBuilder protocol)
      throws IOException {
    try (ScriptedServer server =
        serving(Map.of("/v1/models", owned(owner, ""), "/metrics", metrics))) {
      LlmProtocol of = protocol.baseUrl(server.baseUrl() + "/v1").protocol();
      return ServerFacts.read(of, false).decided().requestsEventTokens();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "vllm, , true",
    "sglang, , true",
    "openai, , false",
    "openai, vllm:num_requests_running 0, true",
    "openai, sglang:num_running_reqs 0, true",
    "openai, tgi_request_count 0, false",
    // The embedded engine has metrics of vLLM's names.
    "gatling-llm, vllm:num_requests_running 0, false",
  })
  void tokensOfEventsAreRequestedOfServersThatCountThem(
      String models, @Nullable String metrics, boolean isRequested) throws IOException {
    assertThat(isRequested(models, Objects.requireNonNullElse(metrics, ""), llm))
        .isEqualTo(isRequested);
  }

  @Test
  void settingsDecideFirst() throws IOException {
    assertThat(isRequested("vllm", "", llm.eventTokens(false))).isFalse();
    assertThat(isRequested("openai", "", llm.eventTokens(true))).isTrue();
    assertThat(isRequested("vllm", "", llm.disableUsage())).isFalse();
    // Without a first request it is unknown that a gateway rejects the field.
    assertThat(isRequested("vllm", "", llm.warmUp(0))).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "vllm, \"max_model_len\":16384 | | /version | {\"version\":\"0.32.0\"} | vllm | 0.32.0 |"
            + " 16384",
        "sglang | sglang:num_running_reqs 0 | /get_server_info |"
            + " {\"version\":\"0.5.2\",\"context_length\":32768} | sglang | 0.5.2 | 32768",
        "llamacpp, \"meta\":{\"n_ctx\":4096} | | /props | {\"build_info\":\"b9000-abc\"} |"
            + " llama.cpp | b9000-abc | 4096",
        "me | | /props | {\"build_info\":\"b1\",\"default_generation_settings\":{\"n_ctx\":2048}} |"
            + " llama.cpp | b1 | 2048",
        "m | tgi_queue_size 0 | /info | {\"version\":\"3.3.5\",\"max_total_tokens\":8192} | tgi |"
            + " 3.3.5 | 8192",
        "me | | /info | {\"version\":\"7\"} | | | ",
        "library | | /api/version | {\"version\":\"0.12.0\"} | ollama | 0.12.0 | ",
        "me | | /api/version | {\"version\":\"0.12.0\"} | ollama | 0.12.0 | ",
        "organization_owner | | /api/v0/models | {\"data\":[{\"loaded_context_length\":4096}]} |"
            + " lm-studio | | 4096",
        "tensorrt_llm | | /version | {\"version\":\"1.1.0\"} | tensorrt-llm | 1.1.0 | ",
        "me | | /version | {\"version\":\"1.1.0\"} | | | ",
        "me | | /props | <html>Welcome</html> | | | ",
      })
  void enginesTellWhatTheyAre(
      String models,
      @Nullable String metrics,
      String page,
      String text,
      @Nullable String engine,
      @Nullable String version,
      @Nullable Integer context)
      throws IOException {
    String[] model = models.split(", ", 2);
    Map<String, String> pages =
        Map.of(
            "/v1/models",
            owned(model[0], model.length > 1 ? "," + model[1] : ""),
            "/metrics",
            Objects.requireNonNullElse(metrics, ""),
            page,
            text);
    try (ScriptedServer server = serving(pages)) {
      LlmProtocol protocol = llm.baseUrl(server.baseUrl() + "/v1").protocol();
      ServerFacts facts = ServerFacts.read(protocol, true).with(FIRST, null, Set.of(), true, "");

      assertThat(facts.values()).containsEntry("engine", engine);
      assertThat(facts.values()).containsEntry("engine_version", version);
      assertThat(facts.values()).containsEntry("context_tokens", context);
      assertThat(facts.values()).containsEntry("metrics", metrics != null);
    }
  }

  @Test
  void aRunStatesInALineWhatItKnows() throws IOException {
    try (ScriptedServer server =
        serving(
            Map.of(
                "/v1/models",
                owned("vllm", ",\"max_model_len\":16384,\"permission\":[{\"id\":\"modelperm-1\"}]"),
                "/version",
                "{\"version\":\"0.32.0\"}"))) {
      LlmProtocol protocol = llm.baseUrl(server.baseUrl() + "/v1").protocol();
      ServerFacts facts = ServerFacts.read(protocol, false).with(FIRST, 12, Set.of(), null, "");

      assertThat(facts.line("a"))
          .isEqualTo(
              "LLM server a: vllm, version 0.32.0, model m, context 16,384 tokens,"
                  + " template 12 tokens, round trip 0.250 ms");
      assertThat(facts.values()).containsEntry("models", List.of("m"));
      assertThat(ServerFacts.read(protocol, false).line("a")).isEmpty();
    }
  }

  @Test
  void fieldsAreThoseOfTheAnswer() {
    LlmProtocol protocol = llm.baseUrl("http://127.0.0.1:1/v1").warmUp(0).protocol();
    RequestRecord early = Recorded.at(0).tokens(20).output(9).max(16).record();
    ServerFacts server = ServerFacts.read(protocol, true);

    assertThat(server.with(FIRST, null, Set.of(AddedField.USAGE), true, "").values())
        .containsEntry("stream_options", false)
        .containsEntry("ignore_eos", true);
    assertThat(server.with(early, null, Set.of(), true, "").values())
        .containsEntry("ignore_eos", false);
    assertThat(server.with(FIRST, null, Set.of(AddedField.PINNING), true, "").values())
        .containsEntry("ignore_eos", false);
  }
}
