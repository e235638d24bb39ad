package io.github.gatlingllm.simulations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.Request;
import io.github.gatlingllm.testing.ScriptedServer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The effects of settings that only a run shows: in requests and in files. */
class SettingEffectsIT {

  private static final String ANSWER =
      "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}],"
          + "\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":1}}";

  private static final Map<String, String> SET =
      Map.ofEntries(
          Map.entry("apiKey", "sk-wire-test"),
          Map.entry("model", "llama"),
          Map.entry("prompt", "Why is the sky blue?"),
          Map.entry("images", "2x3x4"),
          Map.entry("body", "{\"top_k\":40}"),
          Map.entry("header.X-Tenant", "acme"),
          Map.entry("temperature", "0.7"),
          Map.entry("topP", "0.9"),
          Map.entry("maxTokens", "9"),
          Map.entry("stream", "false"),
          Map.entry("ignoreEos", "false"),
          Map.entry("recordText", "true"),
          Map.entry("recordTokens", "false"),
          Map.entry("csv", "true"),
          Map.entry("gpus", "2"),
          Map.entry("costPerHour", "3.6"),
          Map.entry("concurrency", "1"),
          Map.entry("requests", "2"),
          Map.entry("uniquePrompts", "false"));

  @Test
  void settingsReachTheWireAndTheFiles() throws Exception {
    try (ScriptedServer server =
        ScriptedServer.start(exchange -> exchange.respond(200, "application/json", ANSWER))) {
      GatlingRun.Setup benchmark =
          GatlingRun.of(Benchmark.class).set("llm.endpoint", server.baseUrl() + "/v1");
      SET.forEach((name, value) -> benchmark.set("llm." + name, value));
      GatlingRun run = benchmark.reports().succeed();
      assertThat(server.requests()).as("a warm-up request and two").hasSize(3);
      Set<String> images = new HashSet<>();
      for (Request request : server.requests()) {
        JsonNode asked = new ObjectMapper().readTree(request.body());
        assertThat(request.header("Authorization")).isEqualTo("Bearer sk-wire-test");
        assertThat(request.header("X-Tenant")).isEqualTo("acme");
        assertThat(asked.path("model").asText()).isEqualTo("llama");
        JsonNode said = asked.at("/messages/0/content");
        assertThat(said).hasSize(3);
        assertThat(said.at("/0/text").asText()).isEqualTo("Why is the sky blue?");
        assertThat(imageOf(said, 1)).startsWith("data:image/png;base64,");
        assertThat(imageOf(said, 2)).isNotEqualTo(imageOf(said, 1));
        images.add(imageOf(said, 1));
        assertThat(asked.path("top_k").asInt()).isEqualTo(40);
        assertThat(asked.path("temperature").asDouble()).isEqualTo(0.7);
        assertThat(asked.path("top_p").asDouble()).isEqualTo(0.9);
        assertThat(asked.path("max_tokens").asInt()).isEqualTo(9);
        assertThat(asked.path("stream").asBoolean()).isFalse();
        assertThat(asked.has("ignore_eos")).isFalse();
      }
      assertThat(images).as("another image per request").hasSize(3);
      assertThat(run.requests())
          .allSatisfy(
              record -> {
                assertThat(record.text()).isNotNull();
                assertThat(record.events().offsetsMicros()).isEmpty();
              });
      assertThat(run.files().csv()).exists();
      assertThat(run.summary().at("/throughput/output_tokens_per_s_per_gpu").asDouble())
          .isCloseTo(
              run.summary().at("/throughput/output_tokens_per_s").asDouble() / 2,
              withinPercentage(0.001));
      List<String> settings = new ArrayList<>(SET.keySet());
      settings.removeAll(List.of("concurrency", "requests", "uniquePrompts", "header.X-Tenant"));
      settings.addAll(Arrays.asList("header.<Name>", "dryRun"));
      settings.addAll(List.of("live", "otlp", "upload", "selfTestFile"));
      settings.addAll(List.of("help", "injector", "startAt"));
      assertThat(new TreeSet<>(settings)).isEqualTo(new TreeSet<>(SettingEffectsTest.SEEN_IN_RUNS));
    }
  }

  private static String imageOf(JsonNode content, int part) {
    return content.get(part).at("/image_url/url").asText();
  }
}
