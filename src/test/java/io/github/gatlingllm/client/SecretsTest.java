package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SecretsTest {

  private static final String KEY = "k3y/+=\"abc";

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          no right for k3y/+="abc here     | as it is
          {"error":"k3y/+=\\"abc"}          | in JSON
          {"error":"k3y\\/+=\\u0022abc"}     | in JSON, escaped more than needed
          ?key=k3y%2F%2b%3D%22abc&x=1      | in a URL
          <p>k3y&#47;+&#x3D;&#34;abc</p>   | in HTML, as numbers
          """)
  void secretIsRemovedInEveryEscape(String text, String where) {
    assertThat(Secrets.of(List.of(KEY)).redact(text))
        .as(where)
        .contains("***")
        .doesNotContain("k3y", "abc");
  }

  /** Secrets by comma, a text, and what is left of it. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "k3y/+=abcd | no right for k3y/+=a | no right for ***",
        "none,'' | none of the above | none of the above",
        "'' | sk-123456 | sk-123456",
        "abcdef,abcdefghi | abcdefghi | ***",
      })
  void beginningsAtTheEndAndTheLongestButNoShortTextsAreRemoved(
      String secrets, String text, String redacted) {
    assertThat(Secrets.of(List.of(secrets.split(",", -1))).redact(text)).isEqualTo(redacted);
  }

  @Test
  void partsOfHeaderValuesAreSecrets() {
    String basic = Base64.getEncoder().encodeToString("peter:passw0rd".getBytes(UTF_8));
    Secrets secrets =
        Secrets.of(List.of("Bearer abcdef1", "Basic " + basic, "session=ghijkl2; theme=dark"));

    assertThat(secrets.redact("abcdef1 and Bearer abcdef1")).isEqualTo("*** and ***");
    assertThat(secrets.redact("passw0rd of peter:passw0rd, " + basic)).isEqualTo("*** of ***, ***");
    assertThat(secrets.redact("ghijkl2 is dark")).isEqualTo("*** is dark");
  }

  @ParameterizedTest
  @CsvSource({
    "http://host/v1, http://host/v1",
    "http://host/v1?version=2, http://host/v1?version=2",
    "http://me:pass@host/v1, http://***@host/v1",
    "http://host/v1?api-key=abcdef&v=1, http://host/v1?api-key=***&v=1",
    "http://host/v1?v=1&sig=abcdef, http://host/v1?v=1&sig=***"
  })
  void redactUrlTable(String url, String shown) {
    assertThat(Secrets.redactUrl(url)).isEqualTo(shown);
  }

  @Test
  void secretsOfUrl() {
    assertThat(Secrets.ofUrl("http://me:pass12@host/v1?api-key=abcdef&v=1"))
        .containsExactly("me:pass12", "pass12", "abcdef");
    assertThat(Secrets.ofUrl("http://host/v1")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "Authorization, true",
    "x-API-key, true",
    "Cookie, true",
    "X-Tenant, false",
    "Content-Type, false"
  })
  void secretNames(String name, boolean secret) {
    assertThat(Secrets.isNamed(name)).isEqualTo(secret);
  }

  @ParameterizedTest
  @CsvSource({
    "sk-12345678, ***",
    "id:SK_12345678, id:***",
    "gsk-12345678/hf_12345678, ***/***",
    "nvapi-12345678, ***",
    "'(XAI-12345678)', (***)",
    "a bearer\t123456, a ***",
    "Bearer 123456, ***",
    "chatcmpl-12345678, chatcmpl-12345678",
    "task-12345678, task-12345678",
    "sk-1234567, sk-1234567"
  })
  void lineHasNoTextThatLooksLikeAKey(String text, String shown) {
    assertThat(Secrets.NONE.line(text)).isEqualTo(shown);
  }

  @Test
  void lineRemovesASecretBeforeItCuts() {
    String text = "x".repeat(195) + "my-secret-key";
    assertThat(Secrets.of(List.of("my-secret-key")).line(text)).isEqualTo("x".repeat(195) + "***");
    assertThat(Secrets.NONE.line(text)).isEqualTo("x".repeat(195) + "my-s…");
  }

  @Test
  void lineHasNoLineBreaksAndCutsBetweenCharacters() {
    assertThat(Secrets.NONE.line(" a\r\n\tb\u0000c ")).isEqualTo("a b c");
    assertThat(Secrets.NONE.line("😀".repeat(150)))
        .hasSizeLessThanOrEqualTo(Secrets.MAX_LINE)
        .endsWith("😀…");
  }
}
