package io.github.gatlingllm.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.GeneratorSecond.GeneratorField;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.testing.Exchange;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.ScriptedServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The setting {@code answers}: engines whose answers depend on the load, come from a cache, … */
class AnswersIT {

  private static final int PROMPTS = 14;

  /** In flight at one engine, above which its answers are others. */
  private static final int MAX_RIGHT = 8;

  private static final HttpClient CLIENT =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  /** Passes answers of an engine on, event by event. */
  private record Gateway(
      URI engine, boolean isCaching, AtomicInteger inFlight, Map<String, List<String>> cache) {

    static ScriptedServer before(EmbeddedEngine engine, boolean isCaching) {
      URI url = URI.create(engine.baseUrl() + "/chat/completions");
      return ScriptedServer.start(
          new Gateway(url, isCaching, new AtomicInteger(), new ConcurrentHashMap<>())::answer);
    }

    private void answer(Exchange exchange) throws IOException, InterruptedException {
      boolean isChanged = inFlight.incrementAndGet() > MAX_RIGHT && !isCaching;
      try {
        String body = exchange.request().body();
        List<String> cached = isCaching ? cache.get(body) : null;
        exchange.startStream();
        for (String line : cached == null ? List.<String>of() : cached) {
          exchange.chunk(line + "\n\n");
        }
        if (cached == null) {
          cache.put(body, passedOn(exchange, body, isChanged));
        }
        exchange.lastChunk();
      } finally {
        inFlight.decrementAndGet();
      }
    }

    private List<String> passedOn(Exchange exchange, String body, boolean isChanged)
        throws IOException, InterruptedException {
      List<String> lines = new ArrayList<>();
      HttpRequest request =
          HttpRequest.newBuilder(engine)
              .POST(HttpRequest.BodyPublishers.ofString(body))
              .timeout(Duration.ofMinutes(1))
              .build();
      try (Stream<String> answer = CLIENT.send(request, BodyHandlers.ofLines()).body()) {
        for (String line : (Iterable<String>) answer.filter(of -> !of.isEmpty())::iterator) {
          String sent = isChanged ? line.replace("\"content\":\"", "\"content\":\"~") : line;
          exchange.chunk(sent + "\n\n");
          lines.add(sent);
        }
      }
      return lines;
    }
  }

  @TempDir private Path folder;

  /** Three targets side by side, so that one run shows all. */
  @Test
  void changedAndCachedAnswersAreFoundAndNoOthers() throws Exception {
    StringBuilder prompts = new StringBuilder();
    IntStream.range(0, PROMPTS)
        .forEach(
            i ->
                prompts.append(
                    "{\"prompt\":\"Question %s\",\"pattern\":\"^[^~]*$\"}\n".formatted(i)));
    Path file = Files.writeString(folder.resolve("qa.jsonl"), prompts);
    EmbeddedEngine.EngineBuilder fixed =
        EmbeddedEngine.builder().fixed(Duration.ofMillis(5), Duration.ofMillis(15));
    try (EmbeddedEngine plain = EmbeddedEngine.builder().start();
        EmbeddedEngine behind = fixed.start();
        ScriptedServer changing = Gateway.before(behind, false);
        ScriptedServer caching = Gateway.before(behind, true)) {
      String endpoints =
          "plain=%s,changing=%s/v1,caching=%s/v1"
              .formatted(plain.baseUrl(), changing.baseUrl(), caching.baseUrl());
      GatlingRun run =
          GatlingRun.benchmark(changing.baseUrl())
              .set("llm.endpoint", endpoints)
              .set("llm.answers", file)
              .llm(
                  "interleave=true model=embedded concurrency=12 duration=4 maxTokens=12"
                      + " promptTokens=200 tokenizer=chars4 warmup=1 metricsUrl=none")
              .llm("body={\"temperature\":0.7,\"response_format\":{\"type\":\"json_object\"}}")
              .succeed();

      assertThat(run.lines())
          .anyMatch(line -> line.startsWith("LLM answers of changing: 2 × 14 requests before"));
      List<RequestRecord> asked =
          run.requests().stream().filter(record -> record.checked() != null).toList();
      assertThat(asked).allMatch(record -> record.identity().phase() == Phase.CHECK);
      assertThat(asked).allMatch(record -> record.text() == null);
      assertThat(asked).as("3 passes without load").hasSizeGreaterThan(3 * 3 * PROMPTS);
      assertThat(changing.requests())
          .filteredOn(request -> request.method().equals("POST"))
          .allMatch(
              request ->
                  request.body().contains("\"temperature\":0.7")
                      ^ request.header("X-Request-Id").contains("-answers-"));
      assertThat(run.check("all_accounted").path("level").asText()).isEqualTo("ok");
      long load = run.info().loadStartUnixNanos();
      List<Long> inFlight = new ArrayList<>();
      String damage =
          GeneratorSecond.read(
              run.files().generator(),
              second -> {
                long end =
                    second.number(GeneratorField.START_UNIX_NS)
                        + second.number(GeneratorField.LENGTH_S);
                if (end < load) {
                  inFlight.add(second.number(GeneratorField.IN_FLIGHT));
                }
              });
      assertThat(damage).isNull();
      assertThat(inFlight)
          .as("before the load, beside checked answers")
          .isNotEmpty()
          .containsOnly(0L);

      assertThat(pass(run, "changing", "after").path("changed").asInt()).isZero();
      JsonNode loaded = pass(run, "changing", "load");
      assertThat(loaded.path("stage").asText()).isEqualTo("c=12");
      assertThat(loaded.path("compared").asInt()).isGreaterThan(6);
      for (String each : List.of("changed", "invalid", "wrong")) {
        assertThat(loaded.path(each).asInt()).as(each).isGreaterThan(6);
      }
      assertThat(loaded.path("changed_at").asInt()).as("its first character").isZero();
      for (String same : List.of("plain", "caching")) {
        assertThat(pass(run, same, "load").path("changed").asInt()).as(same).isZero();
        assertThat(pass(run, same, "load").path("wrong").asInt()).as(same).isZero();
      }
      assertThat(run.check("answers_changed").path("level").asText()).isEqualTo("warning");
      assertThat(run.check("answers_changed").path("message").asText())
          .startsWith("c=12 of changing: ");

      assertThat(pass(run, "caching", "after").path("faster").asInt()).isEqualTo(PROMPTS);
      for (String slow : List.of("plain", "changing")) {
        assertThat(pass(run, slow, "after").path("faster").asInt()).isLessThan(PROMPTS / 2);
      }
      assertThat(run.check("answers_cached").path("level").asText()).isEqualTo("warning");
      assertThat(run.check("answers_cached").path("message").asText()).startsWith("caching: 14 of");
      assertThat(Files.readString(run.files().page()))
          .contains("before the load, again of changing");
    }
  }

  private static JsonNode pass(GatlingRun run, String target, String pass) throws Exception {
    for (JsonNode each : run.summary().path("answers")) {
      if (each.path("target").asText().equals(target) && each.path("pass").asText().equals(pass)) {
        return each;
      }
    }
    throw new AssertionError("no pass " + pass + " of " + target);
  }

  @Test
  void loadWithoutDifferentPromptsIsRefused() throws Exception {
    try (EmbeddedEngine engine = EmbeddedEngine.builder().start()) {
      GatlingRun run =
          GatlingRun.benchmark(engine.baseUrl().replace("/v1", ""))
              .llm("answers=check concurrency=1 requests=1 prompt=Hi")
              .run();
      assertThat(run.exitCode()).isEqualTo(1);
      assertThat(run.output())
          .contains("answers=check: the load has 1 different prompt, expected 10 or more; give")
          .contains("answers=<file>");
      assertThat(engine.requestsReceived()).as("the warm-up").isEqualTo(1);
    }
  }
}
