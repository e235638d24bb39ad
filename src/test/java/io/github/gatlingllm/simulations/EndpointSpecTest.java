package io.github.gatlingllm.simulations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.client.Api;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class EndpointSpecTest {

  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      textBlock =
          """
          http://a:8000/v1,                      -,           http://a:8000/v1/chat/completions,      CHAT
          http://a:8000/v1/,                     CHAT,        http://a:8000/v1/chat/completions,      CHAT
          http://a:8000/v1,                      COMPLETIONS, http://a:8000/v1/completions,           COMPLETIONS
          HTTPS://a/v1/chat/completions,         -,           https://a/v1/chat/completions,          CHAT
          http://a/v1/chat/completions/,         CHAT,        http://a/v1/chat/completions,           CHAT
          http://a/v1/completions,               -,           http://a/v1/completions,                COMPLETIONS
          http://[::1]:80/x/v1,                  -,           http://[::1]:80/x/v1/chat/completions,  CHAT
          https://a/m/chat/completions?api-v=1,  -,           https://a/m/chat/completions?api-v=1,   CHAT
          http://a,                              -,           http://a/chat/completions,              CHAT
          """)
  void readsBaseAndFullUrls(String text, Api asked, String url, Api api) {
    assertThat(EndpointSpec.parse(text, asked)).isEqualTo(new EndpointSpec(url, api));
  }

  @ParameterizedTest
  @ValueSource(strings = {"http://a/v1", "http://a/v1/completions", "http://a/v1/completions?b=c"})
  void baseUrlIsWithoutApiAndQuery(String text) {
    assertThat(EndpointSpec.parse(text, null).baseUrl()).isEqualTo("http://a/v1");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a:8000/v1",
        "/v1",
        "ftp://a/v1",
        "http:///v1",
        "http://a b/v1",
        "http://a/v1#x",
        "http://a:99999/v1"
      })
  void refusesMalformedUrls(String text) {
    assertThatThrownBy(() -> EndpointSpec.parse(text, null))
        .hasMessage(
            "expected http(s)://host[:port]/v1, or the same with /chat/completions, /completions,"
                + " /responses, /messages or /embeddings");
  }

  @Test
  void refusesContradictionsAndCredentials() {
    assertThatThrownBy(() -> EndpointSpec.parse("http://a/v1/completions", Api.CHAT))
        .hasMessage("the path is of llm.api=completions, but llm.api=chat was set; remove llm.api");
    assertThatThrownBy(() -> EndpointSpec.parse("http://me:pass@a/v1", null))
        .hasMessage("expected no credentials in the URL; use LLM_API_KEY");
    assertThatThrownBy(() -> EndpointSpec.parse("http://a/v1?x=y", null))
        .hasMessage("expected the full path …/chat/completions before '?' in a URL with a query");
  }
}
