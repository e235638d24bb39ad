package io.github.gatlingllm.engine;

import static io.github.gatlingllm.engine.EngineClient.json;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(120)
final class EmbeddedEngineTest {
  private static final EmbeddedEngine.EngineBuilder FAST =
      EmbeddedEngine.builder().decodeStep(Duration.ofNanos(200_000)).seed(1).recordGroundTruth();

  private final HttpClient client = HttpClient.newHttpClient();
  private final List<EmbeddedEngine> started = new ArrayList<>();

  @AfterEach
  void close() {
    started.forEach(EmbeddedEngine::close);
  }

  private EmbeddedEngine start(EmbeddedEngine.EngineBuilder builder) {
    EmbeddedEngine engine = builder.start();
    started.add(engine);
    return engine;
  }

  private static HttpRequest.Builder request(EmbeddedEngine engine, String path) {
    return HttpRequest.newBuilder(URI.create(engine.baseUrl()).resolve(path))
        .timeout(Duration.ofSeconds(60));
  }

  private static HttpRequest chat(EmbeddedEngine engine, String more) {
    String body = "{" + Requests.PROMPT + more + "}";
    return request(engine, "/v1/chat/completions")
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .header("X-Request-Id", "request-7")
        .build();
  }

  /** 127.0.0.2 stands for every other address of the machine. */
  @ParameterizedTest
  @CsvSource({"127.0.0.1, false", "0.0.0.0, true"})
  void otherAddressesAreServedOnlyIfSet(String host, boolean isServed) throws IOException {
    EmbeddedEngine engine = start(host.endsWith("1") ? FAST : FAST.host(host));
    try (Socket socket = new Socket()) {
      InetSocketAddress other =
          new InetSocketAddress("127.0.0.2", URI.create(engine.baseUrl()).getPort());
      if (isServed) {
        socket.connect(other, 60_000);
      } else {
        assertThatThrownBy(() -> socket.connect(other, 60_000)).isInstanceOf(IOException.class);
      }
    }
  }

  private String send(HttpRequest request) throws IOException, InterruptedException {
    return client.send(request, BodyHandlers.ofString()).body();
  }

  /** The chunks of a stream; every event must be one line and a blank one. */
  private static List<JsonNode> chunks(String stream) {
    assertThat(stream).matches("(data: .*\n\n)*");
    return EngineClient.chunks(stream);
  }

  private static void await(BooleanSupplier condition) {
    long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).isLessThan(deadline);
      Thread.onSpinWait();
    }
  }

  @Test
  void streamedChatIsRoleTokensFinishUsageDone() throws Exception {
    EmbeddedEngine engine = start(FAST);
    List<JsonNode> chunks =
        chunks(
            send(
                chat(
                    engine,
                    ",\"max_tokens\":3,\"stream\":true,"
                        + "\"stream_options\":{\"include_usage\":true}")));
    assertThat(chunks).hasSize(6);
    assertThat(chunks)
        .allSatisfy(
            chunk -> {
              assertThat(chunk.path("id").textValue()).isEqualTo("chatcmpl-request-7");
              assertThat(chunk.path("object").textValue()).isEqualTo("chat.completion.chunk");
              assertThat(chunk.path("model").textValue()).isEqualTo("embedded");
            });
    assertThat(chunks.get(0).at("/choices/0/delta"))
        .isEqualTo(json("{\"role\":\"assistant\",\"content\":\"\"}"));
    for (JsonNode chunk : chunks.subList(1, 4)) {
      assertThat(chunk.at("/choices/0/delta/content").textValue()).isNotBlank();
      assertThat(chunk.at("/choices/0/finish_reason").isNull()).isTrue();
    }
    assertThat(chunks.get(4).at("/choices/0"))
        .isEqualTo(
            json("{\"index\":0,\"delta\":{},\"logprobs\":null,\"finish_reason\":\"length\"}"));
    assertThat(chunks.get(5).path("choices")).isEmpty();
    assertThat(chunks.get(5).path("usage"))
        .isEqualTo(
            json(
                """
                {"prompt_tokens":3,"completion_tokens":3,"total_tokens":6,
                 "prompt_tokens_details":{"cached_tokens":0}}\
                """));
  }

  @Test
  void streamedCompletionHasTextsAndNoRole() throws Exception {
    EmbeddedEngine engine = start(FAST);
    String body = "{'prompt':'Once upon a time','max_tokens':2,'stream':true}";
    List<JsonNode> chunks = chunks(new EngineClient(engine).send("/completions", body).body());
    assertThat(chunks).hasSize(3);
    assertThat(chunks).allSatisfy(chunk -> assertThat(chunk.has("usage")).isFalse());
    assertThat(chunks.get(0).at("/choices/0/text").textValue()).isNotBlank();
    assertThat(chunks.get(2).at("/choices/0/finish_reason").textValue()).isEqualTo("length");
  }

  @Test
  void completeAnswerIsTheSumOfTheStreamedOne() throws Exception {
    EmbeddedEngine engine = start(FAST);
    JsonNode notStreamed = json(send(chat(engine, ",\"max_tokens\":40")));
    String streamed =
        chunks(send(chat(engine, ",\"max_tokens\":40,\"stream\":true"))).stream()
            .map(chunk -> chunk.at("/choices/0/delta/content").asText())
            .collect(Collectors.joining());
    assertThat(notStreamed.path("object").textValue()).isEqualTo("chat.completion");
    assertThat(notStreamed.at("/choices/0/message/role").textValue()).isEqualTo("assistant");
    assertThat(notStreamed.at("/choices/0/message/content").textValue()).isEqualTo(streamed);
    assertThat(notStreamed.at("/usage/completion_tokens").intValue())
        .isEqualTo(streamed.split(" ", -1).length);
    assertThat(engine.requestsReceived()).isEqualTo(2);
  }

  @Test
  void fixedTimetableIsNeverEarlyAndTruthIsRecorded() throws Exception {
    EmbeddedEngine engine =
        start(EmbeddedEngine.builder().fixed(ofMillis(20), ofMillis(2)).recordGroundTruth());
    send(chat(engine, ",\"max_tokens\":10,\"ignore_eos\":true,\"stream\":true"));
    await(() -> !engine.groundTruth().isEmpty());
    GroundTruth truth = engine.groundTruth().get(0);
    assertThat(truth.requestId()).isEqualTo("request-7");
    assertThat(truth.promptTokens()).isEqualTo(3);
    assertThat(truth.outputTokens()).isEqualTo(10);
    assertThat(truth.cancelled()).isFalse();
    assertThat(truth.tokenNanos()).hasSize(10).isSorted();
    assertThat(truth.firstTokenNanos()).isEqualTo(truth.tokenNanos()[0]);
    for (int token = 0; token < 10; token++) {
      assertThat(truth.tokenNanos()[token] - truth.receivedNanos())
          .isGreaterThanOrEqualTo(ofMillis(20 + 2L * token).toNanos());
    }
    assertThat(truth.endedNanos()).isGreaterThanOrEqualTo(truth.tokenNanos()[9]);
  }

  @Test
  void tokensOfAPromptAndOfMessagesAreCounted() throws Exception {
    EmbeddedEngine engine = start(EmbeddedEngine.builder());
    String prompt = "{\"prompt\":\"eight ch and 12\",\"add_special_tokens\":false}";
    String chat = "{\"messages\":[{\"role\":\"user\",\"content\":\"eight ch\"}]}";
    for (String[] each : new String[][] {{prompt, "4"}, {chat, "2"}}) {
      HttpRequest.BodyPublisher body = HttpRequest.BodyPublishers.ofString(each[0]);
      assertThat(send(request(engine, "/tokenize").POST(body).build()))
          .isEqualTo("{\"count\":%s,\"max_model_len\":8192}", each[1]);
    }
  }

  @Test
  void cancelledRequestFreesItsPlaceInTheBatch() throws Exception {
    EmbeddedEngine engine = start(FAST.maxBatch(1));
    String endless = ",\"max_tokens\":8000,\"ignore_eos\":true,\"stream\":true";
    HttpResponse<InputStream> running =
        client.send(chat(engine, endless), BodyHandlers.ofInputStream());
    assertThat(running.statusCode()).isEqualTo(200);
    await(() -> engine.load().running() == 1);
    CompletableFuture<HttpResponse<String>> queued =
        client.sendAsync(chat(engine, ",\"max_tokens\":2"), BodyHandlers.ofString());
    await(() -> engine.load().waiting() == 1);
    running.body().close();
    assertThat(queued.get().statusCode()).isEqualTo(200);
    await(() -> engine.load().running() == 0 && engine.load().waiting() == 0);
    assertThat(engine.groundTruth())
        .extracting(GroundTruth::cancelled)
        .containsExactly(true, false);
    assertThat(send(request(engine, "/metrics").build()))
        .contains("vllm:num_requests_running{model_name=\"embedded\"} 0\n")
        .contains("finished_reason=\"abort\"} 1\n");
  }

  @Test
  void metricsAreWellFormedAndCount() throws Exception {
    EmbeddedEngine engine = start(FAST);
    send(chat(engine, ",\"max_tokens\":5,\"ignore_eos\":true"));
    List<String> lines = send(request(engine, "/metrics").build()).lines().toList();
    assertThat(lines)
        .allMatch(
            line ->
                line.matches("# TYPE vllm:[a-z0-9_]+ (gauge|counter|histogram)")
                    || line.matches(
                        "vllm:[a-z0-9_]+\\{model_name=\"embedded\"(,[a-z_]+=\"[^\"]+\")?}"
                            + " [0-9.E-]+"))
        .contains(
            "vllm:kv_cache_usage_perc{model_name=\"embedded\"} 0.0",
            "vllm:prompt_tokens_total{model_name=\"embedded\"} 3",
            "vllm:generation_tokens_total{model_name=\"embedded\"} 5",
            "vllm:request_success_total{model_name=\"embedded\",finished_reason=\"length\"} 1",
            "vllm:time_to_first_token_seconds_count{model_name=\"embedded\"} 1",
            "vllm:inter_token_latency_seconds_count{model_name=\"embedded\"} 4",
            "vllm:e2e_request_latency_seconds_bucket{model_name=\"embedded\",le=\"+Inf\"} 1",
            "vllm:request_queue_time_seconds_count{model_name=\"embedded\"} 1");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "POST | /v1/chat/completions | nonsense | 400 | null",
        "POST | /v1/chat/completions | {'model':'gpt',%s} | 404 | model_not_found",
        "POST | /v1/chat/completions | {'max_tokens':8192,%s} | 400 | context_length_exceeded",
        "POST | /v1/nothing | {} | 404 | unknown_url",
        "GET | /v1/chat/completions | '' | 405 | method_not_allowed",
        "POST | /metrics | {} | 405 | method_not_allowed",
      })
  void errorHasOpenAisShape(String method, String path, String body, int status, String code)
      throws Exception {
    EmbeddedEngine engine = start(FAST);
    String json = body.replace("%s", Requests.PROMPT).replace('\'', '"');
    HttpResponse<String> response =
        client.send(
            request(engine, path).method(method, HttpRequest.BodyPublishers.ofString(json)).build(),
            BodyHandlers.ofString());
    assertThat(response.statusCode()).isEqualTo(status);
    JsonNode error = json(response.body()).path("error");
    assertThat(error.path("message").textValue()).isNotBlank().hasSizeLessThanOrEqualTo(200);
    assertThat(error.path("type").textValue()).isEqualTo("invalid_request_error");
    assertThat(error.path("code").asText()).isEqualTo(code);
    // The connection lives on, and the engine still answers.
    assertThat(send(chat(engine, ",\"max_tokens\":1"))).contains("\"finish_reason\":\"length\"");
  }

  @Test
  void apiKeyIsRequiredAndNeverShown() throws Exception {
    EmbeddedEngine engine = start(FAST.apiKey("secret-key"));
    HttpRequest without = request(engine, "/v1/models").build();
    HttpRequest wrong =
        request(engine, "/v1/models").header("Authorization", "Bearer other-key").build();
    HttpRequest right =
        request(engine, "/v1/models").header("Authorization", "Bearer secret-key").build();
    HttpResponse<String> refused = client.send(without, BodyHandlers.ofString());
    assertThat(refused.statusCode()).isEqualTo(401);
    assertThat(refused.body()).contains("invalid_api_key").doesNotContain("secret-key");
    assertThat(client.send(wrong, BodyHandlers.ofString()).statusCode()).isEqualTo(401);
    assertThat(json(send(right)).at("/data/0/id").textValue()).isEqualTo("embedded");
    assertThat(client.send(request(engine, "/health?verbose=1").build(), BodyHandlers.ofString()))
        .extracting(HttpResponse::statusCode)
        .isEqualTo(200);
  }

  /** Behind it, it is unknown where the next request begins. */
  @Test
  void aMalformedRequestEndsItsConnection() throws Exception {
    URI uri = URI.create(start(EmbeddedEngine.builder()).baseUrl());
    try (Socket socket = new Socket(uri.getHost(), uri.getPort())) {
      socket
          .getOutputStream()
          .write("GET /health HTTP/1.1\r\nContent-Length: x\r\n\r\nGET /health".getBytes(UTF_8));
      String all = new String(socket.getInputStream().readAllBytes(), UTF_8);

      assertThat(all).startsWith("HTTP/1.1 400 ").contains("Malformed HTTP request");
    }
  }

  @Test
  void takenPortIsNamed() {
    int port = URI.create(start(FAST).baseUrl()).getPort();
    assertThatThrownBy(() -> start(FAST.port(port)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("127.0.0.1:" + port);
  }

  @Test
  void closingEndsOpenRequests() throws Exception {
    EmbeddedEngine engine = start(FAST);
    CompletableFuture<HttpResponse<String>> response =
        client.sendAsync(
            chat(engine, ",\"max_tokens\":8000,\"ignore_eos\":true,\"stream\":true"),
            BodyHandlers.ofString());
    await(() -> engine.load().running() == 1);
    engine.close();
    assertThatThrownBy(response::get).hasCauseInstanceOf(IOException.class);
    assertThat(engine.groundTruth()).extracting(GroundTruth::cancelled).containsExactly(true);
  }

  @Test
  void valueOutOfRangeIsNamedWithWhatIsAllowed() {
    EmbeddedEngine.EngineBuilder builder = EmbeddedEngine.builder();
    assertThatThrownBy(() -> builder.port(70_000))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("Embedded engine: port is 70000; expected 0 to 65535");
    assertThatThrownBy(() -> builder.maxBatch(0)).hasMessageContaining("maxBatch is 0");
    assertThatThrownBy(() -> builder.decodeStep(Duration.ZERO)).hasMessageContaining("decodeStep");
    assertThatThrownBy(() -> builder.prefillTokensPerSecond(Double.NaN))
        .hasMessageContaining("prefillTokensPerSecond is NaN");
    assertThatThrownBy(() -> FAST.reject(200, 1)).hasMessageContaining("expected 400 to 599");
    assertThatThrownBy(() -> FAST.reject(429, 0)).hasMessageContaining("more than 0");
    assertThatThrownBy(() -> FAST.reject(429, 1).reject(503, 0.1))
        .hasMessageContaining("expected at most 1");
  }

  @Test
  void rejectAnswersWithItsStatus() throws Exception {
    try (EmbeddedEngine engine = FAST.reject(429, 1).start()) {
      HttpResponse<String> response =
          new EngineClient(engine)
              .send("/chat/completions", "{" + Requests.PROMPT + ",\"stream\":true}");
      assertThat(response.statusCode()).isEqualTo(429);
      assertThat(response.headers().firstValue("retry-after")).hasValue("1");
      assertThat(response.body()).contains("\"type\":\"rate_limit_error\"");
      assertThat(engine.requestsReceived()).isEqualTo(1);
    }
  }

  @Test
  void shareOfTheRequestsIsDrawnFromTheSeed() {
    EmbeddedEngine.EngineBuilder settings =
        EmbeddedEngine.builder().seed(1).reject(503, 0.2).reject(429, 0.1);
    List<Integer> drawn = drawn(settings);
    assertThat(drawn).filteredOn(each -> each == 503).hasSizeBetween(1_900, 2_100);
    assertThat(drawn).filteredOn(each -> each == 429).hasSizeBetween(900, 1_100);
    assertThat(drawn).isEqualTo(drawn(settings));
  }

  private static List<Integer> drawn(EmbeddedEngine.EngineBuilder settings) {
    return LongStream.range(0, 10_000)
        .mapToObj(settings::faultOf)
        .filter(Objects::nonNull)
        .toList();
  }
}
