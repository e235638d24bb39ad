package io.github.gatlingllm.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import io.github.gatlingllm.report.CommandLine;
import io.github.gatlingllm.testing.Request;
import io.github.gatlingllm.testing.ScriptedServer;
import io.github.gatlingllm.testing.ScriptedServer.Script;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
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
      exchange ->
          exchange.sendHeaders(200, "Content-Length: 10", "ETag: \"1\"").send("0123").reset();

  private static final Hub HUB = Hub.of(Map.of());

  @TempDir private Path cache;

  private static Script whole(String content) {
    return exchange -> exchange.respond(200, "text/plain", content, "ETag: \"2\"");
  }

  private static Script rest(String content) {
    return exchange ->
        exchange.respond(206, "text/plain", content, "ETag: \"1\"", "Content-Range: bytes 4-9/10");
  }

  private static Script refusal(int status) {
    return exchange -> exchange.respond(status, "text/plain", "no");
  }

  private String get(ScriptedServer server, String file) throws IOException {
    return Files.readString(Download.file(server.baseUrl() + file, cache, HUB));
  }

  @Test
  void cutDownloadGoesOnAndIsKept() throws IOException {
    try (ScriptedServer server = ScriptedServer.start(CUT, rest("456789"), refusal(500))) {
      assertThat(get(server, "/a.json#sha256=" + SUM)).isEqualTo("0123456789");
      assertThat(get(server, "/a.json")).as("from the cache").isEqualTo("0123456789");
      assertThat(server.requests()).hasSize(2);
      Request second = server.requests().get(1);
      assertThat(second.header("Range")).isEqualTo("bytes=4-");
      assertThat(second.header("If-Range")).isEqualTo("\"1\"");
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
  void nextStartGoesOnWhereThisOneEnded() throws IOException {
    try (ScriptedServer server = ScriptedServer.start(CUT, refusal(503), rest("456789"))) {
      assertThatThrownBy(() -> get(server, "/a.json"))
          .hasMessageContaining("127.0.0.1 answers 503");
      assertThat(get(server, "/a.json")).isEqualTo("0123456789");
      assertThat(server.requests().get(2).header("Range")).isEqualTo("bytes=4-");
    }
  }

  @Test
  void largeFileHasALineForEachTenth() throws IOException {
    String large = "0".repeat(16 << 20);
    int cut = 5 << 20;
    String length = "Content-Length: " + large.length();
    String range = "Content-Range: bytes " + cut + "-/" + large.length();
    try (ScriptedServer server =
        ScriptedServer.start(
            first ->
                first.sendHeaders(200, length, "ETag: 1").send(large.substring(0, cut)).close(),
            second -> second.respond(206, "text/plain", large.substring(cut), "ETag: 1", range))) {
      String lines =
          CommandLine.call(
                  () -> assertDoesNotThrow(() -> get(server, "/a.json")).equals(large) ? 0 : 1)
              .output();
      assertThat(lines.lines().filter(line -> line.endsWith(" of 16 MB")))
          .extracting(line -> line.replaceFirst(".* (\\d+) of 16 MB", "$1"))
          .containsExactly("0", "1", "3", "4", "5", "6", "8", "9", "11", "12", "14", "16");
    }
  }

  @Test
  void fileThatHasChangedIsDownloadedAgain() throws IOException {
    try (ScriptedServer server = ScriptedServer.start(CUT, whole("another"))) {
      assertThat(get(server, "/a.json")).isEqualTo("another");
    }
    try (ScriptedServer server = ScriptedServer.start(CUT, refusal(416), whole("short"))) {
      assertThat(get(server, "/b.json")).isEqualTo("short");
      assertThat(server.requests().get(2).header("Range")).isNull();
    }
  }

  @Test
  void resumedFileOfAnotherChecksumIsDeleted() throws IOException {
    try (ScriptedServer server =
        ScriptedServer.start(CUT, rest("987654"), whole("0123456789"), refusal(500))) {
      String pinned = "/a.json#sha256=" + SUM;
      assertThatThrownBy(() -> get(server, pinned))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("expected " + SUM.substring(0, 12));
      assertThat(get(server, pinned)).isEqualTo("0123456789");
      assertThat(server.requests().get(2).header("Range")).isNull();
      assertThatThrownBy(() -> get(server, "/a.json#sha256=" + "0".repeat(64)))
          .as("what is in the cache is checked too")
          .hasMessageContaining("is " + SUM.substring(0, 12));
    }
  }

  @Test
  void hubRedirectsAndSaysTheChecksum() throws IOException {
    for (String sum : List.of(SUM, "0".repeat(64))) {
      try (ScriptedServer server =
          ScriptedServer.start(
              first ->
                  first.sendHeaders(
                      302,
                      "Location: /store/blob",
                      "X-Linked-ETag: \"" + sum + '"',
                      "Content-Length: 0"),
              CUT,
              first -> first.sendHeaders(302, "Location: /store/blob", "Content-Length: 0"),
              rest("456789"))) {
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
            .startsWith("/datasets/owner/name/resolve/v1/data/a.json", "/store/blob")
            .hasSize(4);
      }
    }
  }

  @Test
  void offlineIsOneLineThatSaysWhereTheFileGoes() throws IOException {
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
    try (ScriptedServer server = ScriptedServer.start(whole("1"))) {
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
