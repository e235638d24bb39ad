package io.github.gatlingllm.simulations;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.report.CommandLine;
import io.github.gatlingllm.settings.TargetSpec;
import io.github.gatlingllm.testing.Request;
import io.github.gatlingllm.testing.ScriptedServer;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServedModelsTest {

  private final AtomicReference<@Nullable Request> asked = new AtomicReference<>();
  private final AtomicReference<@Nullable String> only = new AtomicReference<>();
  private final AtomicReference<@Nullable Integer> context = new AtomicReference<>();

  /** What is printed about the models of a server; {@code <url>} is its own. */
  private String ask(ScriptedServer server) {
    String url = server.baseUrl() + "/v1/chat/completions";
    TargetSpec target = new TargetSpec(null, List.of(url), Api.CHAT, null, "sk-123456");
    return CommandLine.call(
            () -> {
              ServedModels models = ServedModels.of(target, Map.of("X-Tenant", "acme"), true);
              models.print();
              only.set(models.only());
              context.set(models.context(null));
              return 0;
            })
        .output()
        .replace(server.baseUrl(), "<url>");
  }

  private String answered(int status, String body) throws IOException {
    try (ScriptedServer server =
        ScriptedServer.start(exchange -> {})
            .pages(
                page -> {
                  asked.set(page.request());
                  page.respond(status, "application/json", body);
                })) {
      return ask(server);
    }
  }

  @Test
  void theOnlyModelIsRequested() throws IOException {
    assertThat(answered(200, "{\"data\":[{\"id\":\"llama-8b\"}]}"))
        .isEqualTo("LLM: model llama-8b, the only one of <url>/v1/models");
    assertThat(only).hasValue("llama-8b");
    assertThat(asked.get().path()).isEqualTo("/v1/models");
    assertThat(asked.get().headers())
        .containsEntry("Authorization", "Bearer sk-123456")
        .containsEntry("X-Tenant", "acme");
  }

  @Test
  void withSeveralModelsTheServerDecides() throws IOException {
    assertThat(answered(200, "{\"data\":[{\"id\":\"a\"},{\"id\":\"b\"},{\"id\":\"a\"}]}"))
        .isEqualTo("LLM: llm.model is not set, so the server decides; <url>/v1/models has a, b");
    assertThat(only).hasNullValue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          404 | not here
          401 | {"error":"no key"}
          500 | {"data":[{"id":"a"}]}
          200 | <html>
          200 | {"data":[]}
          200 | {"data":{"id":7}}
          200 | [1]
          302 | moved
          """)
  void anUnexpectedAnswerIsIgnored(int status, String body) throws IOException {
    assertThat(answered(status, body)).isEmpty();
    assertThat(only).hasNullValue();
  }

  @Test
  void aServerThatIsDownIsIgnored() throws IOException {
    ScriptedServer down = ScriptedServer.start(exchange -> {});
    down.close();
    assertThat(ask(down)).isEmpty();
    assertThat(only).hasNullValue();
  }

  /** As vLLM, llama.cpp, old and new, and hosted servers tell it. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          "max_model_len":4096                         | 4096
          "meta":{"n_ctx":2048,"n_ctx_train":8192}     | 2048
          "meta":{"n_ctx_train":8192}                  | 8192
          "meta":null                                  |
          "context_length":131072                      | 131072
          "context_window":131072                      | 131072
          "max_context_length":32768,"max_model_len":0 | 32768
          "max_model_len":"4096"                       |
          "object":"model"                             |
          """)
  void theContextIsThatOfTheModel(String fields, @Nullable Integer tokens) throws IOException {
    var unused = answered(200, "{\"data\":[{\"id\":\"m\"," + fields + "}]}");
    assertThat(context).hasValue(tokens);
  }

  @Test
  void eachModelHasItsContext() throws IOException {
    try (ScriptedServer server =
        ScriptedServer.start(exchange -> {})
            .pages(
                page ->
                    page.respond(
                        200,
                        "application/json",
                        """
                        {"data":[{"id":"a","max_model_len":1},{"id":"b","max_model_len":2}]}
                        """))) {
      TargetSpec target =
          new TargetSpec(
              null, List.of(server.baseUrl() + "/v1/chat/completions"), Api.CHAT, null, null);
      ServedModels models = ServedModels.of(target, Map.of(), true);
      assertThat(models.context("b")).isEqualTo(2);
      assertThat(models.context("alias")).as("of which of them?").isNull();
    }
  }
}
