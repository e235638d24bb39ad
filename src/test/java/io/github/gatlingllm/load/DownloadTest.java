package io.github.gatlingllm.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.testing.Request;
import io.github.gatlingllm.testing.ScriptedServer;
import io.github.gatlingllm.testing.ScriptedServer.Script;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class DownloadTest {

  /** Of {@code 0123456789}. */
  private static final String SUM =
      "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882";

  private static final Script CUT =
      exchange -> exchange.sendHeaders(200, "Content-Length: 10").send("0123").reset();

  private static final Hub HUB = Hub.of(Map.of());

  @TempDir private Path cache;

  private static Script complete(String content) {
    return exchange -> exchange.respond(200, "text/plain", content);
  }

  private static Script refusal(int status) {
    return exchange -> exchange.respond(status, "text/plain", "no");
  }

  private String get(ScriptedServer server, String file) throws IOException {
    return Files.readString(Download.file(server.baseUrl() + file, cache, HUB));
  }

  @Test
  void fileIsKept() throws IOException {
    try (ScriptedServer server = ScriptedServer.start(complete("0123456789"), refusal(500))) {
      assertThat(get(server, "/a.json#sha256=" + SUM)).isEqualTo("0123456789");
      assertThat(get(server, "/a.json")).as("from the cache").isEqualTo("0123456789");
      assertThat(server.requests()).hasSize(1);
    }
  }

  @Test
  void incompleteFileIsOneLineAndDownloadedAgain() throws IOException {
    Script silent =
        exchange -> {
          long unused = exchange.sendHeaders(200, "Content-Length: 10").awaitClientClose();
        };
    try (ScriptedServer server =
        ScriptedServer.start(CUT, silent, refusal(503), complete("0123456789"))) {
      String url = server.baseUrl() + "/a.json";
      assertThatThrownBy(() -> get(server, "/a.json"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageMatching("cannot be downloaded from 127.0.0.1 .*" + cache + "/.*");
      assertThatThrownBy(() -> Download.file(url, cache, HUB, Duration.ofMillis(100)))
          .hasMessageContaining("no byte for 0 s");
      assertThatThrownBy(() -> get(server, "/a.json"))
          .hasMessageContaining("127.0.0.1 answers 503");
      assertThat(get(server, "/a.json")).isEqualTo("0123456789");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "file:///etc/hosts",
        "jar:file:/a.jar!/a",
        "ftp://127.0.0.1/a",
        "mailto:a@b",
        "data:text/plain,a",
        "http://127.0.0.1:99999/a",
        "http://a b/a",
        "http://[::1/a",
        "http:///a"
      })
  void redirectsToNoPageOfTheWebAreRefused(String to) throws IOException {
    try (ScriptedServer server =
        ScriptedServer.start(any -> any.sendHeaders(302, "Location: " + to, "Content-Length: 0"))) {
      assertThatThrownBy(() -> get(server, "/a.json"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("127.0.0.1 redirects to '" + to + "'");
    }
    assertThatThrownBy(() -> Download.file("https://host:99999/a", cache, HUB))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("port up to 65535");
  }

  @Test
  void fileOfAnotherChecksumIsDeleted() throws IOException {
    try (ScriptedServer server =
        ScriptedServer.start(complete("0123987654"), complete("0123456789"), refusal(500))) {
      String pinned = "/a.json#sha256=" + SUM;
      assertThatThrownBy(() -> get(server, pinned))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("expected " + SUM.substring(0, 12));
      assertThat(get(server, pinned)).isEqualTo("0123456789");
      assertThatThrownBy(() -> get(server, "/a.json#sha256=" + "0".repeat(64)))
          .as("what is in the cache is checked too")
          .hasMessageContaining("is " + SUM.substring(0, 12));
    }
  }

  @Test
  void hubRedirectsAndStatesTheChecksum() throws IOException {
    for (String sum : List.of(SUM, "0".repeat(64))) {
      try (ScriptedServer server =
          ScriptedServer.start(
              first ->
                  first.sendHeaders(
                      302,
                      "Location: /store/blob",
                      "X-Linked-ETag: \"" + sum + '"',
                      "Content-Length: 0"),
              complete("0123456789"))) {
        Hub hub = new Hub(server.baseUrl(), null);
        String file = "hf:owner/name@v1/data/a.json";
        if (sum.equals(SUM)) {
          assertThat(Download.file(file, cache, hub))
              .hasFileName("a.json")
              .hasContent("0123456789");
        } else {
          assertThatThrownBy(() -> Download.file(file, cache, hub))
              .hasMessageContaining("expected 000");
        }
        assertThat(server.requests())
            .extracting(Request::path)
            .containsExactly("/datasets/owner/name/resolve/v1/data/a.json", "/store/blob");
      }
    }
  }

  @Test
  void offlineIsOneLineWithThePlaceOfTheFile() throws IOException {
    String url;
    try (ServerSocket free = new ServerSocket(0)) {
      url = "http://127.0.0.1:" + free.getLocalPort() + "/a.json";
    }
    assertThatThrownBy(() -> Download.file(url, cache, HUB))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("127.0.0.1", "ConnectException", cache + "/")
        .satisfies(
            e -> {
              String line = e.getMessage();
              Files.writeString(Path.of(line.substring(line.indexOf(cache.toString()))), "mine");
            });
    assertThat(Download.file(url, cache, HUB)).hasContent("mine");
  }

  @Test
  void cacheThatCannotBeWrittenIsNamed() throws IOException {
    Path file = Files.writeString(cache.resolve("file"), "");
    try (ScriptedServer server = ScriptedServer.start(complete("1"))) {
      assertThatThrownBy(() -> Download.file(server.baseUrl() + "/a.json", file, HUB))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContainingAll(file.toString(), "llm.datasetCache");
      assertThat(server.requests()).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "https://host/a[1].json, '[', %5B",
    "https://host/50%.json, '%', %25",
    "'https://host/a\"b', '\"', %22",
    "hf:owner/name/a^b.json, ^, %5E",
    "https://a_b:x/c, https://<host>, host",
  })
  void characterThatNoUrlHasIsOneLine(String location, String wrong, String remedy) {
    assertThatThrownBy(() -> Download.file(location, cache, HUB))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(wrong, remedy)
        .hasMessageMatching(".{10,100}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "hf:owner",
        "hf:owner/name",
        "https://host",
        "https://host/a#sha256=12",
        "hf:a@b/c"
      })
  void otherFormsAreRefused(String location) {
    assertThat(Download.isOne(location)).isTrue();
    assertThatThrownBy(() -> Download.file(location, cache, HUB))
        .hasMessageContaining("expected https");
  }
}
