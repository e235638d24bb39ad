package io.github.gatlingllm.telemetry;

import io.github.gatlingllm.wire.Secrets;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A page of metrics that is read while load is on.
 *
 * @param target label of the target that names it
 * @param uri without credentials
 * @param shown as it is said in files and on the console
 * @param headers what it is asked with; secrets among them
 * @param verifyTls whether its certificate is checked
 * @param isSet whether the user named it: then each failure is kept; else one that is no page of an
 *     engine is not asked again
 */
public record MetricsPage(
    String target,
    URI uri,
    String shown,
    Map<String, String> headers,
    boolean verifyTls,
    boolean isSet) {

  /** {@code <host>/metrics} of each target, where that is a page of an engine. */
  public static final String AUTO = "auto";

  /** No page at all. */
  public static final String NONE = "none";

  /** In place of which page each target has. */
  public static final String FORMS = "auto, none, or URLs such as http://localhost:9400/metrics";

  /**
   * The pages of a target.
   *
   * @param settings {@link #AUTO} or URLs, as {@link #check} lets them pass
   * @param baseUrls of the target
   * @param secrets headers that authenticate at the target: sent only to pages of the same scheme,
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

  /**
   * The same settings, if they are what {@link #of} understands.
   *
   * @return {@link #AUTO} and URLs; empty for {@link #NONE}
   * @throws IllegalArgumentException that says what was expected
   */
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

  /** Without headers, which are secret. */
  @Override
  public String toString() {
    return shown;
  }
}
