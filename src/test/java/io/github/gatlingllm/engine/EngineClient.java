package io.github.gatlingllm.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

record EngineClient(EmbeddedEngine engine) {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  static JsonNode json(String text) {
    try {
      return MAPPER.readTree(text);
    } catch (IOException e) {
      throw new AssertionError(text, e);
    }
  }

  /** The response to a chat request; single quotes stand for double ones. */
  CompletableFuture<String> chat(String body) {
    return post("/chat/completions", body, "Accept", "*/*");
  }

  CompletableFuture<String> post(String path, String body, String header, String value) {
    return CLIENT
        .sendAsync(
            request(path, body).header(header, value).build(), HttpResponse.BodyHandlers.ofString())
        .thenApply(HttpResponse::body);
  }

  HttpResponse<String> send(String path, String body) throws IOException, InterruptedException {
    return CLIENT.send(request(path, body).build(), HttpResponse.BodyHandlers.ofString());
  }

  private HttpRequest.Builder request(String path, String body) {
    return HttpRequest.newBuilder(URI.create(engine.baseUrl() + path))
        .timeout(Duration.ofSeconds(30))
        .POST(HttpRequest.BodyPublishers.ofString(body.replace('\'', '"')));
  }

  JsonNode answer(String body) {
    return json(chat(body).join());
  }

  /** The chunks of a streamed answer; it must end with {@code [DONE]}. */
  List<JsonNode> stream(String body) {
    return chunks(chat(body).join());
  }

  static List<JsonNode> chunks(String stream) {
    assertThat(stream).endsWith("data: [DONE]\n\n");
    return stream
        .lines()
        .filter(line -> line.startsWith("data: {"))
        .map(line -> json(line.substring("data: ".length())))
        .toList();
  }

  String metrics() throws IOException, InterruptedException {
    URI page = URI.create(engine.baseUrl()).resolve("/metrics");
    return CLIENT
        .send(HttpRequest.newBuilder(page).build(), HttpResponse.BodyHandlers.ofString())
        .body();
  }
}
