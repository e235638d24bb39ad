package io.github.gatlingllm.simulations;

import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.run.server.ServerWatch.MetricsPage;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The URL that requests are posted to, and its API. */
record EndpointSpec(String url, Api api) {
  private static final String EXPECTED =
      "expected http(s)://host[:port]/v1, or the same with /chat/completions, /completions,"
          + " /responses, /messages or /embeddings";

  record Named(@Nullable String name, String url) {

    private static final Pattern FORM = Pattern.compile("([^:/?#=<>|]{1,60})=(.+)");

    static Named parse(String text) {
      Matcher form = FORM.matcher(text);
      return form.matches()
          ? new Named(form.group(1).strip(), form.group(2).strip())
          : new Named(null, text);
    }

    static List<Named> each(List<Named> list) {
      Form.distinct(list.stream().map(Named::name).filter(Objects::nonNull).toList(), "name");
      return list;
    }

    static List<Named> metricsPages(List<Named> list) {
      var unused = MetricsPage.check(list.stream().map(Named::url).toList());
      return list;
    }
  }

  /** Parses a base URL ({@code http://localhost:8000/v1}) or the full path of an API. */
  static EndpointSpec parse(String text, @Nullable Api asked) {
    URI uri = uri(text);
    String path = uri.getRawPath().replaceAll("/+$", "");
    Api named = Api.ofPath(path);
    if (named == null && uri.getRawQuery() != null) {
      throw new IllegalArgumentException(
          "expected the full path …/chat/completions before '?' in a URL with a query");
    }
    if (named != null && asked != null && named != asked) {
      throw new IllegalArgumentException(
          "the path is of llm.api=%s, but llm.api=%s was set; remove llm.api"
              .formatted(named.key(), asked.key()));
    }
    Api api = named != null ? named : asked != null ? asked : Api.CHAT;
    String query = uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery();
    String server = uri.getScheme().toLowerCase(Locale.ROOT) + "://" + uri.getRawAuthority();
    return new EndpointSpec(server + path + (named == null ? api.path() : "") + query, api);
  }

  /** The URL without the API's path and without a query, e.g. {@code http://localhost:8000/v1}. */
  String baseUrl() {
    String plain = url.contains("?") ? url.substring(0, url.indexOf('?')) : url;
    return plain.substring(0, plain.length() - api.path().length());
  }

  private static URI uri(String text) {
    URI uri;
    try {
      uri = new URI(text);
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(EXPECTED, e);
    }
    boolean isHttp = uri.getScheme() != null && uri.getScheme().matches("(?i)https?");
    if (!isHttp || uri.getHost() == null || uri.getRawFragment() != null || uri.getPort() > 65535) {
      throw new IllegalArgumentException(EXPECTED);
    }
    if (uri.getRawUserInfo() != null) {
      throw new IllegalArgumentException("expected no credentials in the URL; use LLM_API_KEY");
    }
    return uri;
  }
}
