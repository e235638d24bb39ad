package io.github.gatlingllm.simulations;

import io.github.gatlingllm.action.LlmProtocol;
import io.github.gatlingllm.action.LlmRequest.WeightedModel;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.run.Observers.MetricsPage;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A target: a model, and the URLs that its requests are posted to; users are spread over them. */
record Target(
    @Nullable String name,
    List<String> urls,
    Api api,
    @Nullable String model,
    @Nullable String apiKey) {

  private static final String EXPECTED =
      "expected http(s)://host[:port]/v1, or the same with "
          + Api.ALL.stream().map(Api::path).collect(Collectors.joining(", "));

  /** Candidates for the labels of targets, the shortest first. */
  private static final List<Function<Target, @Nullable String>> NAMES =
      List.of(
          target -> target.named(Target::host),
          target -> target.named(Target::model),
          target ->
              target.model == null ? target.name : target.named(Target::host) + " " + target.model,
          target -> target.named(Target::baseUrl),
          target -> target.named(Target::url));

  /** A URL with the name of a target, if it has one: {@code vLLM=http://a:8000/v1}. */
  record NamedUrl(@Nullable String name, String url) {

    /** Between the URLs of one target. */
    static final Pattern AND = Pattern.compile("\\s*\\+\\s*(?=[a-zA-Z]+://)");

    private static final Pattern FORM = Pattern.compile("([^:/?#=<>|]{1,60})=(.+)");

    static NamedUrl parse(String text) {
      Matcher form = FORM.matcher(text);
      return form.matches()
          ? new NamedUrl(form.group(1).strip(), form.group(2).strip())
          : new NamedUrl(null, text);
    }

    static List<NamedUrl> each(List<NamedUrl> list) {
      Form.distinct(list.stream().map(NamedUrl::name).filter(Objects::nonNull).toList(), "name");
      return list;
    }

    static List<NamedUrl> metricsPages(List<NamedUrl> list) {
      var unused = MetricsPage.check(list.stream().map(NamedUrl::url).toList());
      return list;
    }
  }

  /**
   * The models of the targets.
   *
   * @param names one for all endpoints, or one per endpoint; {@code a|b} are two targets each
   * @param mix in place of names: models that the requests to each target are spread over
   */
  record Models(List<String> names, List<WeightedModel> mix) {
    static final Models NONE = new Models(List.of(), List.of());

    private static final Pattern WEIGHTED = Pattern.compile("(.+)=(\\d{1,9}(?:\\.\\d{1,9})?)");

    /** They are a mix if each ends in a weight, as names may have {@code =} too. */
    static Models of(List<String> texts) {
      if (!texts.stream().allMatch(text -> WEIGHTED.matcher(text).matches())) {
        return new Models(texts, List.of());
      }
      List<WeightedModel> mix = texts.stream().map(Models::weighted).toList();
      Form.distinct(mix.stream().map(WeightedModel::name).toList(), "model");
      return new Models(List.of(), mix);
    }

    private static WeightedModel weighted(String text) {
      Matcher form = WEIGHTED.matcher(text);
      if (form.matches() && Double.parseDouble(form.group(2)) > 0 && text.indexOf('|') < 0) {
        return new WeightedModel(form.group(1).strip(), Double.parseDouble(form.group(2)));
      }
      throw new IllegalArgumentException(
          "expected <name>=<weight > 0> for each model of a mix, e.g. base=50,lora-a=30,lora-b=20");
    }
  }

  /**
   * A target without model and key, of a base URL or of the full path of an API; of several, {@code
   * http://a/v1+http://b/v1}.
   */
  static Target parse(NamedUrl endpoint, @Nullable Api asked) {
    List<Target> each =
        NamedUrl.AND
            .splitAsStream(endpoint.url)
            .map(url -> one(endpoint.name, url, asked))
            .toList();
    if (each.stream().map(Target::api).distinct().count() > 1) {
      throw new IllegalArgumentException("expected the same API at all URLs of one target");
    }
    List<String> urls = Form.distinct(each.stream().map(Target::url).toList(), "URL");
    return new Target(endpoint.name, urls, each.get(0).api, null, null);
  }

  private static Target one(@Nullable String name, String text, @Nullable Api asked) {
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
    String url = server + path + (named == null ? api.path() : "") + query;
    return new Target(name, List.of(url), api, null, null);
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
      throw new IllegalArgumentException(
          isHttp && LlmProtocol.hasUnderscore(uri) ? LlmProtocol.NO_UNDERSCORE : EXPECTED);
    }
    if (uri.getRawUserInfo() != null) {
      throw new IllegalArgumentException("expected no credentials in the URL; use LLM_API_KEY");
    }
    return uri;
  }

  Target with(@Nullable String otherModel, @Nullable String otherKey) {
    return new Target(name, urls, api, otherModel, otherKey);
  }

  String url() {
    return urls.get(0);
  }

  /** The URL without the API's path and without a query, e.g. {@code http://localhost:8000/v1}. */
  String baseUrl() {
    String plain = url().replaceFirst("\\?.*", "");
    return plain.substring(0, plain.length() - api.path().length());
  }

  /** Labels for results: names, else the shortest text that distinguishes the targets. */
  static List<String> labels(List<Target> targets) {
    for (Function<Target, @Nullable String> name : NAMES) {
      List<String> labels = targets.stream().map(name).filter(Objects::nonNull).toList();
      if (new HashSet<>(labels).size() == targets.size()) {
        return labels;
      }
    }
    return IntStream.range(0, targets.size())
        .mapToObj(i -> targets.get(i).named(Target::host) + " #" + (i + 1))
        .toList();
  }

  private @Nullable String named(Function<Target, @Nullable String> otherwise) {
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
