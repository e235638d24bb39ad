package io.github.gatlingllm.simulations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.workload.Tokenizer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ModelTokenizersTest {

  private static Target target(String url, String model) {
    return new Target(null, List.of(url + Api.CHAT.path()), Api.CHAT, model, "sk-1234567890");
  }

  /** Pages beside {@code /v1} that answer so; 0 hangs. */
  @ParameterizedTest
  @CsvSource({
    "0, ''",
    "404, ''",
    "401, {}",
    "500, oops",
    "200, <html></html>",
    "302, ''",
    "200, '{\"count\":0}'"
  })
  void aServerWithoutCountsIsNoSource(int status, String body) throws IOException {
    CountDownLatch hanging = new CountDownLatch(1);
    Set<String> seen = ConcurrentHashMap.newKeySet();
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    var threads = Executors.newCachedThreadPool();
    server.setExecutor(threads);
    server.createContext(
        "/",
        exchange -> {
          seen.add(
              exchange.getRequestURI().getPath()
                  + " "
                  + exchange.getRequestHeaders().getFirst("Authorization"));
          try {
            if (status == 0) {
              hanging.await();
            }
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
          exchange.getResponseHeaders().set("Location", "http://elsewhere.invalid/tokenize");
          exchange.sendResponseHeaders(
              Math.max(200, status), bytes.length == 0 ? -1 : bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    server.start();
    try {
      String url = "http://127.0.0.1:" + server.getAddress().getPort() + "/v1";
      Target target = target(url, "gpt-4o-mini");
      assertThat(ModelTokenizers.ofServer(target, Map.of(), true)).isNull();
      assertThat(seen).containsExactly("/tokenize Bearer sk-1234567890");
    } finally {
      hanging.countDown();
      server.stop(0);
      threads.shutdownNow();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "gpt-4o-mini, tiktoken:o200k_base, true",
    "openai/gpt-5, tiktoken:o200k_base, true",
    "o3-mini, tiktoken:o200k_base, true",
    "gpt-4.1, tiktoken:o200k_base, true",
    "gpt-4, tiktoken:cl100k_base, true",
    "gpt-4-turbo, tiktoken:cl100k_base, true",
    "gpt-3.5-turbo, tiktoken:cl100k_base, true",
    "llama-8b, tiktoken:cl100k_base, false",
    "olmo-7b, tiktoken:cl100k_base, false",
  })
  void aModelOfOpenAiHasItsEncoding(String model, String tokenizer, boolean isOwn) {
    ModelTokenizers found =
        ModelTokenizers.of(target("http://a/v1", model), new Tokenizer.Unresolved("auto"), null);
    assertThat(found.tokenizer().name()).isEqualTo(tokenizer);
    assertThat(found.isOwn()).isEqualTo(isOwn);
    assertThat(found.size("exactly 1000 tokens"))
        .isEqualTo(isOwn ? "exactly 1000 tokens" : "about 1000 tokens");
  }

  @Test
  void aTokenizerThatIsDemandedMustBeThere() {
    assertThatThrownBy(
            () ->
                ModelTokenizers.of(
                    target("http://a/v1", "m"), new Tokenizer.Unresolved("server"), null))
        .isInstanceOf(InvalidSimulation.class);
  }

  @Test
  void aModelWhoseFileIsHereHasItsTokenizer(@TempDir Path folder) throws IOException {
    Path cached = folder.resolve("hub/models--owner--name/snapshots/abc/tokenizer.json");
    Files.createDirectories(cached.getParent());
    Files.copy(Path.of("src/test/resources/tokenizers/bpe.tokenizer.json"), cached);
    Map<String, String> environment = Map.of("HF_HOME", folder.toString());
    for (String model : List.of("owner/name", cached.toString(), cached.getParent().toString())) {
      ModelTokenizers found = ModelTokenizers.ofFile(model, environment);
      assertThat(found).as(model).isNotNull();
      assertThat(found.isOwn()).isTrue();
    }
    for (String other : List.of("owner/other", "m", folder.toString(), "a/b/c")) {
      assertThat(ModelTokenizers.ofFile(other, environment)).as(other).isNull();
    }
  }
}
