package io.github.gatlingllm.run;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.client.Secrets;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A metrics page in Prometheus text format. If it was only guessed ({@code isSet} is false) and has
 * no metrics of an engine, it is not requested again; otherwise failures are recorded.
 *
 * @param role of its server where prefill and decode have servers of their own; else null
 */
public record MetricsPage(
    String target,
    @Nullable String role,
    URI uri,
    String shown,
    Map<String, String> headers,
    boolean verifyTls,
    boolean isSet) {

  /** Setting: {@code <host>/metrics} of each target, if it has metrics of an engine. */
  public static final String AUTO = "auto";

  public static final String NONE = "none";

  /** Before the URL of a page: the role of its server. */
  private static final Pattern ROLE = Pattern.compile("(prefill|decode)=(.+)");

  /** Where an entry of a list of models has it: what the server was started with comes first. */
  private static final List<String> CONTEXT =
      List.of(
          "/max_model_len", // vLLM, SGLang
          "/meta/n_ctx", // llama.cpp, of a slot
          "/meta/n_ctx_train", // llama.cpp, older
          "/context_length",
          "/context_window",
          "/max_context_length");

  /** The accepted values, for error messages. */
  public static final String FORMS = "auto, none, or URLs such as http://localhost:9400/metrics";

  /** A page without a role. */
  public MetricsPage(
      String target,
      URI uri,
      String shown,
      Map<String, String> headers,
      boolean verifyTls,
      boolean isSet) {
    this(target, null, uri, shown, headers, verifyTls, isSet);
  }

  /** The entry of a page whose server has a role; null for another name. */
  public static @Nullable String inRole(@Nullable String name, String url) {
    String text = name + "=" + url;
    return ROLE.matcher(text).matches() ? text : null;
  }

  /** The longest prompt with its answer, in tokens, by a model's entry in {@code /models}. */
  public static @Nullable Integer contextOf(JsonNode model) {
    return CONTEXT.stream()
        .map(model::at)
        .filter(tokens -> tokens.isInt() && tokens.intValue() > 0)
        .map(JsonNode::intValue)
        .findFirst()
        .orElse(null);
  }

  /**
   * The pages of a target.
   *
   * @param secrets headers that authenticate at the target; sent only to pages of the same scheme,
   *     host and port
   */
  public static List<MetricsPage> of(
      String target,
      List<String> settings,
      List<String> baseUrls,
      Map<String, String> secrets,
      boolean verifyTls) {
    List<MetricsPage> pages = new ArrayList<>();
    Set<String> origins = new LinkedHashSet<>();
    baseUrls.forEach(url -> origins.add(origin(URI.create(url))));
    Map<String, @Nullable String> urls = new LinkedHashMap<>();
    for (String setting : settings) {
      Matcher role = ROLE.matcher(setting);
      if (setting.equals(AUTO)) {
        origins.forEach(origin -> urls.putIfAbsent(origin + "/metrics", null));
      } else if (role.matches()) {
        urls.put(role.group(2), role.group(1));
      } else {
        urls.putIfAbsent(setting, null);
      }
    }
    for (String url : urls.keySet()) {
      URI uri = URI.create(url);
      Map<String, String> headers = new LinkedHashMap<>();
      if (origins.contains(origin(uri))) {
        headers.putAll(secrets);
      }
      String user = uri.getUserInfo();
      if (user != null) {
        byte[] login = user.getBytes(UTF_8);
        headers.put("Authorization", "Basic " + Base64.getEncoder().encodeToString(login));
      }
      String bare = user == null ? url : url.replaceFirst("//[^/?#@]*@", "//");
      boolean isSet = settings.contains(url) || urls.get(url) != null;
      pages.add(
          new MetricsPage(
              target,
              urls.get(url),
              URI.create(bare),
              Secrets.redactUrl(bare),
              Map.copyOf(headers),
              verifyTls,
              isSet));
    }
    return pages;
  }

  public static List<String> check(List<String> settings) {
    if (settings.equals(List.of(NONE))) {
      return List.of();
    }
    for (String setting : settings) {
      Matcher role = ROLE.matcher(setting);
      if (!setting.equals(AUTO) && !isUrl(role.matches() ? role.group(2) : setting)) {
        throw new IllegalArgumentException("expected " + FORMS);
      }
    }
    return List.copyOf(settings);
  }

  private static boolean isUrl(String text) {
    try {
      URI uri = URI.create(text);
      return ("http".equals(uri.getScheme()) || "https".equals(uri.getScheme()))
          && uri.getHost() != null;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static String origin(URI uri) {
    return uri.getScheme() + "://" + uri.getHost() + (uri.getPort() < 0 ? "" : ":" + uri.getPort());
  }

  public CompletableFuture<String> text(Duration timeout) {
    return new PageClient(timeout).get(this);
  }

  /** Whether the server agrees to HTTP/2 by ALPN, which is possible over https only. */
  public boolean isHttp2(Duration timeout) {
    return "https".equals(uri.getScheme())
        && new PageClient(timeout, HttpClient.Version.HTTP_2)
            .send("GET", this)
            .handle((page, failure) -> page != null && page.version() == HttpClient.Version.HTTP_2)
            .join();
  }

  /** Posts JSON to pages, whose answers are texts. */
  public static BiFunction<MetricsPage, String, CompletableFuture<String>> posting(
      Duration timeout) {
    return new PageClient(timeout)::post;
  }

  /** Leaves out the headers, which may be secret. */
  @Override
  public String toString() {
    return shown;
  }
}
