package io.github.gatlingllm.settings;

import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.settings.SettingValue.NamedUrl;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A target: a model, and the URLs that its requests are posted to; users are spread over them. */
public record TargetSpec(
    @Nullable String name,
    List<String> urls,
    Api api,
    @Nullable String model,
    @Nullable String apiKey) {

  public static final String NO_UNDERSCORE =
      "its host name has an underscore, which URLs do not allow; give the server a name without one"
          + " (in compose files: networks, aliases), or use its address";

  private static final String EXPECTED =
      "expected http(s)://host[:port]/v1, or the same with "
          + Api.ALL.stream().map(Api::path).collect(Collectors.joining(", "));

  /** Candidates for the labels of targets, the shortest first. */
  private static final List<Function<TargetSpec, @Nullable String>> NAMES =
      List.of(
          target -> target.named(TargetSpec::host),
          target -> target.named(TargetSpec::model),
          target ->
              target.model == null
                  ? target.name
                  : target.named(TargetSpec::host) + " " + target.model,
          target -> target.named(TargetSpec::baseUrl),
          target -> target.named(TargetSpec::url));

  /**
   * A target without model and key, of a base URL or of the full path of an API; of several, {@code
   * http://a/v1+http://b/v1}.
   */
  public static TargetSpec parse(NamedUrl endpoint, @Nullable Api configured) {
    List<TargetSpec> each =
        NamedUrl.AND
            .splitAsStream(endpoint.url())
            .map(url -> one(endpoint.name(), url, configured))
            .toList();
    if (each.stream().map(TargetSpec::api).distinct().count() > 1) {
      throw new IllegalArgumentException("expected the same API at all URLs of one target");
    }
    List<String> urls = Form.distinct(each.stream().map(TargetSpec::url).toList(), "URL");
    return new TargetSpec(endpoint.name(), urls, each.get(0).api, null, null);
  }

  private static TargetSpec one(@Nullable String name, String text, @Nullable Api configured) {
    URI uri = uri(text);
    String path = uri.getRawPath().replaceAll("/+$", "");
    Api named = Api.ofPath(path);
    if (named == null && uri.getRawQuery() != null) {
      throw new IllegalArgumentException(
          "expected the full path …/chat/completions before '?' in a URL with a query");
    }
    if (named != null && configured != null && named != configured) {
      throw new IllegalArgumentException(
          "the path is of llm.api=%s, but llm.api=%s was set; remove llm.api"
              .formatted(named.key(), configured.key()));
    }
    Api api = named != null ? named : configured != null ? configured : Api.CHAT;
    String query = uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery();
    String server = uri.getScheme().toLowerCase(Locale.ROOT) + "://" + uri.getRawAuthority();
    String url = server + path + (named == null ? api.path() : "") + query;
    return new TargetSpec(name, List.of(url), api, null, null);
  }

  /** An http or https URL without credentials; the result has no slash at its end. */
  public static String base(@Nullable String url) {
    if (url == null) {
      throw new IllegalArgumentException(
          "baseUrl(null): expected something like http://localhost:8000/v1; is the environment"
              + " variable or property set that it comes from?");
    }
    String trimmed = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
    URI uri = null;
    try {
      uri = URI.create(trimmed);
    } catch (IllegalArgumentException e) {
      // The message below applies.
    }
    if (uri != null && uri.getRawUserInfo() != null) {
      throw new IllegalArgumentException(
          "baseUrl(…): expected no credentials in the URL; use .apiKey(…) or"
              + " .header(\"Authorization\", …)");
    }
    if (uri == null
        || uri.getHost() == null
        || !List.of("http", "https").contains(String.valueOf(uri.getScheme()))) {
      throw new IllegalArgumentException(
          "'%s' is not a base URL; %s"
              .formatted(
                  url,
                  uri != null && hasUnderscore(uri)
                      ? NO_UNDERSCORE
                      : "expected something like http://localhost:8000/v1"));
    }
    return trimmed;
  }

  private static URI uri(String text) {
    if (text.matches("[^?@]*\\+.*")) {
      throw new IllegalArgumentException(
          "expected a scheme after '+', as in http://a/v1+http://b/v1; encode a '+' of a path");
    }
    URI uri;
    try {
      uri = new URI(text);
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(EXPECTED, e);
    }
    boolean isHttp = uri.getScheme() != null && uri.getScheme().matches("(?i)https?");
    if (!isHttp || uri.getHost() == null || uri.getRawFragment() != null || uri.getPort() > 65535) {
      throw new IllegalArgumentException(isHttp && hasUnderscore(uri) ? NO_UNDERSCORE : EXPECTED);
    }
    if (uri.getRawUserInfo() != null) {
      throw new IllegalArgumentException("expected no credentials in the URL; use LLM_API_KEY");
    }
    return uri;
  }

  /** Whether its host name has an underscore, as names of services in compose files may. */
  public static boolean hasUnderscore(URI url) {
    return url.getHost() == null && String.valueOf(url.getAuthority()).contains("_");
  }

  public TargetSpec with(@Nullable String otherModel, @Nullable String otherKey) {
    return new TargetSpec(name, urls, api, otherModel, otherKey);
  }

  public String url() {
    return urls.get(0);
  }

  /** The URL without the API's path and without a query, e.g. {@code http://localhost:8000/v1}. */
  public String baseUrl() {
    String plain = url().replaceFirst("\\?.*", "");
    return plain.substring(0, plain.length() - api.path().length());
  }

  /** Labels for results: names, else the shortest text that distinguishes the targets. */
  public static List<String> labels(List<TargetSpec> targets) {
    for (Function<TargetSpec, @Nullable String> name : NAMES) {
      List<String> labels = targets.stream().map(name).filter(Objects::nonNull).toList();
      if (new HashSet<>(labels).size() == targets.size()) {
        return labels;
      }
    }
    return IntStream.range(0, targets.size())
        .mapToObj(i -> targets.get(i).named(TargetSpec::host) + " #" + (i + 1))
        .toList();
  }

  private @Nullable String named(Function<TargetSpec, @Nullable String> otherwise) {
    return name == null ? otherwise.apply(this) : name;
  }

  private String host() {
    return URI.create(url()).getRawAuthority();
  }

  /** Leaves out the API key. */
  @Override
  public String toString() {
    return String.join(" and ", urls)
        + (model == null ? "" : " " + model)
        + (apiKey == null ? "" : " (with API key)");
  }
}
