package io.github.gatlingllm.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.testing.Request;
import io.github.gatlingllm.testing.ScriptedServer;
import io.github.gatlingllm.testing.ScriptedServer.Script;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The Hub's token, which reaches the Hub or its mirror only. */
final class HubTest {

  private static final String TOKEN = "hf_123456789";

  private static final Script FILE = exchange -> exchange.respond(200, "text/plain", "{}");

  @TempDir private Path cache;

  private static Script redirect(String to) {
    return exchange -> exchange.sendHeaders(302, "Location: " + to, "Content-Length: 0");
  }

  private static Hub hub(String mirror) {
    return Hub.of(Map.of("HF_ENDPOINT", mirror + "/", "HF_TOKEN", TOKEN + "\n"));
  }

  @ParameterizedTest
  @CsvSource({
    "https://huggingface.co/a/b/resolve/main/c, true",
    "https://HuggingFace.co:443/a, true",
    "http://huggingface.co/a, false",
    "https://huggingface.co:8443/a, false",
    "https://cdn-lfs.huggingface.co/a, false",
    "https://huggingface.co.example.org/a, false",
    "https://example.org/huggingface.co, false",
    "https://huggingface.co@example.org/a, false",
  })
  void theTokenIsOfOneOrigin(String at, boolean isSent) {
    String login = Hub.of(Map.of("HF_TOKEN", TOKEN)).login(URI.create(at));
    assertThat(login).isEqualTo(isSent ? "Bearer " + TOKEN : null);
    assertThat(Hub.of(Map.of()).login(URI.create(at))).isNull();
  }

  @Test
  void aMirrorHasTheTokenAndTheStoreBehindItDoesNot() throws IOException {
    try (ScriptedServer store = ScriptedServer.start(FILE);
        ScriptedServer mirror =
            ScriptedServer.start(redirect("/renamed"), redirect(store.baseUrl() + "/blob"))) {
      Hub hub = hub(mirror.baseUrl());
      Path file = Download.file(hub.model("owner/name", "main", "tokenizer.json"), cache, hub);

      assertThat(file).hasFileName("tokenizer.json").hasContent("{}");
      assertThat(mirror.requests())
          .extracting(Request::path)
          .containsExactly("/owner/name/resolve/main/tokenizer.json", "/renamed");
      assertThat(mirror.requests())
          .allSatisfy(
              asked -> assertThat(asked.header("Authorization")).isEqualTo("Bearer " + TOKEN));
      assertThat(store.requests())
          .singleElement()
          .satisfies(asked -> assertThat(asked.header("Authorization")).isNull());
    }
  }

  @Test
  void otherHostsNeverHaveTheToken() throws IOException {
    try (ScriptedServer other = ScriptedServer.start(FILE)) {
      var unused = Download.file(other.baseUrl() + "/a.json", cache, hub("https://mirror.invalid"));
      assertThat(other.requests().get(0).header("Authorization")).isNull();
    }
  }

  @Test
  void dataSetsComeFromTheMirrorToo() throws IOException {
    try (ScriptedServer mirror = ScriptedServer.start(FILE)) {
      var unused = Download.file("hf:owner/name/a.json", cache, hub(mirror.baseUrl()));
      Request asked = mirror.requests().get(0);
      assertThat(asked.path()).isEqualTo("/datasets/owner/name/resolve/main/a.json");
      assertThat(asked.header("Authorization")).isEqualTo("Bearer " + TOKEN);
    }
  }

  /** A gated model: the remedy differs with a token, and the token is not shown. */
  @ParameterizedTest
  @CsvSource({
    "401, '', set HF_TOKEN",
    "403, '', set HF_TOKEN",
    "401, hf_123456789, account of HF_TOKEN",
    "403, hf_123456789, account of HF_TOKEN"
  })
  void aRefusalIsOneLineWithItsRemedy(int status, String token, String remedy) throws IOException {
    try (ScriptedServer mirror =
        ScriptedServer.start(exchange -> exchange.respond(status, "text/plain", "gated"))) {
      Map<String, String> environment = Map.of("HF_ENDPOINT", mirror.baseUrl(), "HF_TOKEN", token);
      Hub hub = Hub.of(environment);
      assertThatThrownBy(() -> Download.file(hub.model("owner/name", "main", "t.json"), cache, hub))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("127.0.0.1 answers " + status + "; ")
          .hasMessageContainingAll(remedy, "by hand: " + cache)
          .hasMessageNotContainingAny(TOKEN, "\n");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"mirror", "ftp://mirror", "https://", "https://a b", "https://a?b"})
  void aMirrorThatIsNoAddressIsRefused(String mirror) {
    assertThatThrownBy(() -> Hub.of(Map.of("HF_ENDPOINT", mirror)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("HF_ENDPOINT is '");
  }

  @Test
  void aTokenThatNoHeaderCanHaveIsNotQuoted() {
    assertThatThrownBy(() -> Hub.of(Map.of("HF_TOKEN", "hf_1\n2")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("HF_TOKEN ")
        .hasMessageNotContaining("hf_1");
  }
}
