package io.github.gatlingllm.run;

import io.github.gatlingllm.client.Secrets;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * A metrics page in Prometheus text format. If it was only guessed ({@code isSet} is false) and has
 * no metrics of an engine, it is not requested again; otherwise failures are recorded.
 */
public record MetricsPage(
    String target,
    URI uri,
    String shown,
    Map<String, String> headers,
    boolean verifyTls,
    boolean isSet) {

  /** Setting: {@code <host>/metrics} of each target, if it has metrics of an engine. */
  public static final String AUTO = "auto";

  public static final String NONE = "none";

  /** The accepted values, for error messages. */
  public static final String FORMS = "auto, none, or URLs such as http://localhost:9400/metrics";

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
    Set<String> urls = new LinkedHashSet<>();
    for (String setting : settings) {
      if (setting.equals(AUTO)) {
        origins.forEach(origin -> urls.add(origin + "/metrics"));
      } else {
        urls.add(setting);
      }
    }
    for (String url : urls) {
      URI uri = URI.create(url);
      Map<String, String> headers = new LinkedHashMap<>();
      if (origins.contains(origin(uri))) {
        headers.putAll(secrets);
      }
      String user = uri.getUserInfo();
      if (user != null) {
        byte[] login = user.getBytes(StandardCharsets.UTF_8);
        headers.put("Authorization", "Basic " + Base64.getEncoder().encodeToString(login));
      }
      String bare = user == null ? url : url.replaceFirst("//[^/?#@]*@", "//");
      boolean isSet = settings.contains(url);
      pages.add(
          new MetricsPage(
              target,
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
      if (!setting.equals(AUTO) && !isUrl(setting)) {
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

  /** Leaves out the headers, which may be secret. */
  @Override
  public String toString() {
    return shown;
  }
}
