package io.github.gatlingllm.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.Authenticator;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProxyTest {

  private static Map<String, String> environment(@Nullable String text) {
    Map<String, String> all = new HashMap<>();
    for (String each : text == null ? new String[0] : text.split(" ", -1)) {
      all.put(each.substring(0, each.indexOf('=')), each.substring(each.indexOf('=') + 1));
    }
    return all;
  }

  /** Variables, URL; the variable that names its proxy, and the proxy. */
  @ParameterizedTest
  @CsvSource({
    ", http://a/v1, , ",
    "HTTP_PROXY=http://p:1, http://a/v1, HTTP_PROXY, http://p:1",
    "HTTP_PROXY=http://p:1, https://a/v1, , ",
    "HTTPS_PROXY=http://p:1, https://a/v1, HTTPS_PROXY, http://p:1",
    "https_proxy=p:1, https://a/v1, https_proxy, http://p:1",
    "HTTP_PROXY=http://u:1 http_proxy=http://l:1, http://a/v1, http_proxy, http://l:1",
    "ALL_PROXY=http://p:1, https://a/v1, ALL_PROXY, http://p:1",
    "ALL_PROXY=http://p:1 HTTP_PROXY=http://q:1, http://a/v1, HTTP_PROXY, http://q:1",
    "HTTP_PROXY=, http://a/v1, , ",
    "HTTP_PROXY=http://me:pass@p:1, http://a/v1, HTTP_PROXY, http://me:pass@p:1",
    "HTTP_PROXY=http://p:1 NO_PROXY=*, http://a/v1, , ",
    "HTTP_PROXY=http://p:1 NO_PROXY=b, http://a/v1, HTTP_PROXY, http://p:1",
    "HTTP_PROXY=http://p:1 no_proxy=.corp.net NO_PROXY=*, http://a/v1, HTTP_PROXY, http://p:1",
    "HTTP_PROXY=http://p:1 NO_PROXY=.corp.net, http://llm.CORP.net/v1, , ",
    "HTTP_PROXY=http://p:1 NO_PROXY=corp.net, http://llm.corp.net/v1, , ",
    "HTTP_PROXY=http://p:1 NO_PROXY=*.corp.net, http://llm.corp.net/v1, , ",
    "HTTP_PROXY=http://p:1 NO_PROXY=corp.net, http://mycorp.net/v1, HTTP_PROXY, http://p:1",
    "HTTP_PROXY=http://p:1 NO_PROXY=x;a:8000, http://a:8000/v1, , ",
    "HTTP_PROXY=http://p:1 NO_PROXY=a:8000, http://a:8001/v1, HTTP_PROXY, http://p:1",
    "HTTPS_PROXY=http://p:1 NO_PROXY=.corp.net:443, https://llm.corp.net/v1, , ",
    "HTTP_PROXY=http://p:1 NO_PROXY=10.0.0.0/8, http://10.1.2.3:8000/v1, , ",
    "HTTP_PROXY=http://p:1 NO_PROXY=10.0.0.0/8, http://11.1.2.3/v1, HTTP_PROXY, http://p:1",
    "HTTP_PROXY=http://p:1 NO_PROXY=::1, http://[::1]:8000/v1, , ",
    "HTTP_PROXY=http://p:1 NO_PROXY=127.0.0.1, http://127.0.0.1:8000/v1, , ",
  })
  void environmentNamesAProxy(
      @Nullable String variables, URI url, @Nullable String variable, @Nullable URI proxy) {
    Map<String, String> environment =
        environment(variables == null ? null : variables.replace(';', ','));
    assertThat(Proxy.variable(url, environment)).isEqualTo(variable);
    assertThat(Proxy.of(url, "env", environment)).isEqualTo(proxy);
    assertThat(Proxy.of(url, "none", environment)).isNull();
    assertThat(Proxy.of(url, null, environment)).isNull();
    assertThat(Proxy.of(url, "http://q:2", environment)).isEqualTo(URI.create("http://q:2"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"socks5://p:1", "http://p", "https://p:1", "p", "http://:1", "a b"})
  void otherValuesAreRefused(String text) {
    assertThatThrownBy(() -> Proxy.check(text)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Proxy.of(URI.create("http://a"), "env", Map.of("HTTP_PROXY", text)))
        .hasMessageContaining("HTTP_PROXY");
  }

  @ParameterizedTest
  @ValueSource(strings = {"env", "none", "http://me:pass@p:1"})
  void valuesOfTheSetting(String text) {
    assertThat(Proxy.check(text)).isEqualTo(text);
  }

  @Test
  void logInIsThatOfTheUrl() {
    assertThat(Proxy.logIn(null)).isNull();
    assertThat(Proxy.logIn(URI.create("http://p:1"))).isNull();
    Authenticator logIn = Proxy.logIn(URI.create("http://me:pa%3Ass@p:1"));
    assertThat(logIn).isNotNull();
    assertThat(
            logIn
                .requestPasswordAuthenticationInstance(
                    "p", null, 1, "http", "", "basic", null, Authenticator.RequestorType.PROXY)
                .getPassword())
        .containsExactly('p', 'a', ':', 's', 's');
    assertThat(
            logIn.requestPasswordAuthenticationInstance(
                "a", null, 1, "http", "", "basic", null, Authenticator.RequestorType.SERVER))
        .isNull();
  }
}
