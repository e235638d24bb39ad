package io.github.gatlingllm.simulations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.report.CommandLine;
import io.github.gatlingllm.settings.TargetSpec;
import io.github.gatlingllm.testing.Request;
import io.github.gatlingllm.testing.ScriptedServer;
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
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ModelTokenizersTest {

  private static TargetSpec target(String url, @Nullable String model) {
    return new TargetSpec(null, List.of(url + Api.CHAT.path()), Api.CHAT, model, "sk-1234567890");
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
      TargetSpec target = target(url, "gpt-4o-mini");
      assertThat(ModelTokenizers.ofServer(target, "m", Map.of(), true)).isNull();
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
    ModelTokenizers found = found(model, Map.of("HF_ENDPOINT", "http://127.0.0.1:1"));
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
                    target("http://a/v1", "m"),
                    new Tokenizer.UnresolvedServer("server"),
                    null,
                    "m",
                    Map.of()))
        .isInstanceOf(InvalidSimulation.class);
  }

  private static ModelTokenizers found(@Nullable String model, Map<String, String> environment) {
    TargetSpec unnamed = target("http://a/v1", null);
    return ModelTokenizers.of(
        unnamed, new Tokenizer.UnresolvedServer("auto"), null, model, environment);
  }

  private static final Path BPE = Path.of("src/test/resources/tokenizers/bpe.tokenizer.json");

  /** Also of a model whose name OpenAI's names match: its own file comes first. */
  @Test
  void aModelWhoseFileIsHereHasItsTokenizer(@TempDir Path folder) throws IOException {
    Path models = folder.resolve("hub/models--openai--gpt-oss-20b");
    Path cached = models.resolve("snapshots/abc/tokenizer.json");
    Files.createDirectories(cached.getParent());
    Files.copy(BPE, cached);
    Files.writeString(Files.createDirectories(models.resolve("refs")).resolve("main"), "abc\n");
    Map<String, String> environment =
        Map.of("HF_HOME", folder.toString(), "HF_ENDPOINT", "http://127.0.0.1:1");
    for (String model :
        List.of(
            "openai/gpt-oss-20b",
            "openai/gpt-oss-20b@abc",
            cached.toString(),
            cached.getParent().toString())) {
      ModelTokenizers found = found(model, environment);
      assertThat(found.source()).isEqualTo("tokenizer.json of the model");
      assertThat(found.tokenizer().name()).isEqualTo("hf:" + model);
      assertThat(found.isOwn()).isTrue();
    }
    for (String other :
        List.of("owner/other", "openai/gpt-oss-20b@b", "m", folder.toString(), "a/b/c", "a\0b")) {
      assertThat(ModelTokenizers.ofFile(other, environment)).as(other).isNull();
    }
    assertThat(found("openai/gpt-oss-120b", environment).tokenizer().name())
        .as("where its file is not to be had, OpenAI's by its name")
        .isEqualTo("tiktoken:o200k_base");
    assertThat(found(null, environment).isOwn()).isFalse();
  }

  @Test
  void theFileOfAModelIsDownloadedFromTheMirrorOnce(@TempDir Path folder) throws IOException {
    String cache = System.setProperty("llm.datasetCache", folder.toString());
    String file = Files.readString(BPE);
    try (ScriptedServer mirror =
        ScriptedServer.start(
            first -> first.respond(200, "application/json", file),
            gated -> gated.respond(403, "text/plain", "no"))) {
      Map<String, String> environment =
          Map.of("HF_HOME", folder.toString(), "HF_ENDPOINT", mirror.baseUrl());
      for (int i = 0; i < 2; i++) {
        ModelTokenizers found = found("owner/name", environment);
        assertThat(found.tokenizer().name()).isEqualTo("hf:owner/name");
        assertThat(found.tokenizer().count("hello")).isPositive();
      }
      assertThat(mirror.requests())
          .extracting(Request::path)
          .containsExactly("/owner/name/resolve/main/tokenizer.json");

      String line =
          CommandLine.call(() -> found("owner/gated", environment).isOwn() ? 1 : 0).output();
      assertThat(line)
          .startsWith("LLM: no tokenizer.json of the model (hf:owner/gated: 127.0.0.1 answers 403")
          .contains("set HF_TOKEN")
          .doesNotContain("\n");
    } finally {
      if (cache == null) {
        System.clearProperty("llm.datasetCache");
      } else {
        System.setProperty("llm.datasetCache", cache);
      }
    }
  }
}
