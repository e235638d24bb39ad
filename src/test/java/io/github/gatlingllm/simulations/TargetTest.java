package io.github.gatlingllm.simulations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.client.Api;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class TargetTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          http://a:8000/v1 | m | a:8000
          http://a:8000/v1,http://a:8001/v1 | m,m | a:8000,a:8001
          http://a/v1,http://a/v1 | small,large | small,large
          http://a/v1,http://a/v1,http://b/v1 | x,y,x | a x,a y,b x
          http://a/one/v1,http://a/two/v1 | m,m | http://a/one/v1,http://a/two/v1
          http://a/v1/chat/completions,http://a/v1/completions | m,m | http://a/v1/chat/completions,http://a/v1/completions
          http://a/v1,http://a/v1 | m,m | a #1,a #2
          http://a/v1,http://a/v1 | ,   | a #1,a #2
          vLLM = http://a/v1,http://b/v1 | m,m | vLLM,b
          vLLM=http://a/v1,vLLM=http://a/v1,SGLang=http://b/v1 | x,y,x | vLLM x,vLLM y,SGLang x
          """)
  void labelsAreTheShortestDistinctTexts(String urls, String models, String labels) {
    String[] model = models.split(",", -1);
    List<Target> targets = new ArrayList<>();
    for (String text : urls.split(",", -1)) {
      String name = model[targets.size()];
      targets.add(
          Target.parse(Target.NamedUrl.parse(text), null).with(name.isEmpty() ? null : name, null));
    }
    assertThat(String.join(",", Target.labels(targets))).isEqualTo(labels);
  }

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
    assertThat(parse(text, asked)).isEqualTo(new Target(null, url, api, null, null));
  }

  @ParameterizedTest
  @ValueSource(strings = {"http://a/v1", "http://a/v1/completions", "http://a/v1/completions?b=c"})
  void baseUrlIsWithoutApiAndQuery(String text) {
    assertThat(parse(text, null).baseUrl()).isEqualTo("http://a/v1");
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
    assertThatThrownBy(() -> parse(text, null))
        .hasMessage(
            "expected http(s)://host[:port]/v1, or the same with /chat/completions, /completions,"
                + " /responses, /messages or /embeddings");
  }

  @Test
  void namesTheUnderscoreOfAHost() {
    assertThatThrownBy(() -> parse("http://my_vllm:8000/v1", null))
        .hasMessageContaining("underscore")
        .hasMessageContaining("aliases");
  }

  @Test
  void refusesContradictionsAndCredentials() {
    assertThatThrownBy(() -> parse("http://a/v1/completions", Api.CHAT))
        .hasMessage("the path is of llm.api=completions, but llm.api=chat was set; remove llm.api");
    assertThatThrownBy(() -> parse("http://me:pass@a/v1", null))
        .hasMessage("expected no credentials in the URL; use LLM_API_KEY");
    assertThatThrownBy(() -> parse("http://a/v1?x=y", null))
        .hasMessage("expected the full path …/chat/completions before '?' in a URL with a query");
  }

  private static Target parse(String url, @Nullable Api asked) {
    return Target.parse(new Target.NamedUrl(null, url), asked);
  }
}
