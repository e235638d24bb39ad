package io.github.gatlingllm.action;

import static io.github.gatlingllm.javaapi.LlmDsl.llm;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.testing.ScriptedServer;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CountingServersTest {

  private static boolean isAsked(String models, String metrics, LlmProtocolBuilder protocol)
      throws IOException {
    try (ScriptedServer server =
        ScriptedServer.start(exchange -> exchange.answer("Yes"))
            .pages(
                page -> {
                  String path = page.request().path();
                  String text =
                      path.endsWith("/models")
                          ? "{\"data\":[{\"id\":\"m\",\"owned_by\":\"%s\"}]}".formatted(models)
                          : path.endsWith("/metrics") ? metrics + "\n" : "";
                  page.respond(text.isEmpty() ? 404 : 200, "text/plain", text);
                })) {
      LlmProtocol of = protocol.baseUrl(server.baseUrl() + "/v1").protocol();
      return CountingServers.decided(of).asksEventTokens();
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
  void serversThatCountTokensOfEventsAreAsked(String models, String metrics, boolean isAsked)
      throws IOException {
    assertThat(isAsked(models, metrics == null ? "" : metrics, llm)).isEqualTo(isAsked);
  }

  @Test
  void settingsDecideFirst() throws IOException {
    assertThat(isAsked("vllm", "", llm.eventTokens(false))).isFalse();
    assertThat(isAsked("openai", "", llm.eventTokens(true))).isTrue();
    assertThat(isAsked("vllm", "", llm.disableUsage())).isFalse();
    // Without a first request nobody learns that a gateway rejects the field.
    assertThat(isAsked("vllm", "", llm.warmUp(0))).isFalse();
  }
}
