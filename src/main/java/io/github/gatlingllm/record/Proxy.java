package io.github.gatlingllm.record;

import java.net.Authenticator;
import java.net.InetSocketAddress;
import java.net.PasswordAuthentication;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The proxy of requests to a URL: one for all, that of the environment, or none. */
public final class Proxy {

  public static final ProcessSetting SETTING = new ProcessSetting("llm.proxy");
  public static final String ENV = "env";
  public static final String NONE = "none";

  private static final Pattern NETWORK = Pattern.compile("(\\d{1,3}(?:\\.\\d{1,3}){3})/(\\d{1,2})");
  private static final Pattern ADDRESS = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}");
  private static final Map<URI, Optional<URI>> OF_PROCESS = new ConcurrentHashMap<>();

  static {
    // Java sends no log-in to a proxy before TLS unless this is set, before its first request.
    System.getProperties().putIfAbsent("jdk.http.auth.tunneling.disabledSchemes", "");
  }

  private Proxy() {}

  public static String check(String text) {
    return text.equals(ENV) || text.equals(NONE) ? text : parse(text).toString();
  }

  private static URI parse(String text) {
    URI uri = URI.create(text.contains("://") ? text : "http://" + text);
    if (!"http".equals(uri.getScheme()) || uri.getHost() == null || uri.getPort() < 1) {
      throw new IllegalArgumentException(
          "expected http://<host>:<port>, with <user>:<password>@ if it requires a login, env or"
              + " none");
    }
    return uri;
  }

  public static boolean isSet() {
    return SETTING.text() != null;
  }

  /** The proxy of this process for a URL; null for none. */
  public static @Nullable URI of(URI target) {
    return OF_PROCESS
        .computeIfAbsent(
            target, url -> Optional.ofNullable(of(url, SETTING.text(), System.getenv())))
        .orElse(null);
  }

  static @Nullable URI of(URI target, @Nullable String setting, Map<String, String> environment) {
    if (setting == null || setting.equals(NONE)) {
      return null;
    }
    if (!setting.equals(ENV)) {
      return parse(setting);
    }
    String variable = variable(target, environment);
    try {
      return variable == null ? null : parse(environment.get(variable));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("proxy=env: " + variable + ": expected http://host:port");
    }
  }

  /** The variable of the environment that names a proxy for a URL, as for curl; null for none. */
  public static @Nullable String variable(URI target, Map<String, String> environment) {
    String own = target.getScheme() + "_proxy";
    Function<String, Stream<String>> both = n -> Stream.of(n, n.toUpperCase(Locale.ROOT));
    Predicate<String> isSet = name -> !environment.getOrDefault(name, "").isBlank();
    boolean isExcepted =
        both.apply("no_proxy")
            .filter(isSet)
            .limit(1)
            .flatMap(name -> Stream.of(environment.get(name).split("[,\\s]+", -1)))
            .anyMatch(exception -> isExcepted(target, exception));
    return isExcepted
        ? null
        : Stream.of(own, "all_proxy").flatMap(both).filter(isSet).findFirst().orElse(null);
  }

  /** A host, also with its port, or a domain and all hosts in it, or a network {@code a.b/n}. */
  private static boolean isExcepted(URI target, String exception) {
    String host = target.getHost().toLowerCase(Locale.ROOT);
    String name = exception.toLowerCase(Locale.ROOT);
    if (name.equals("*") || isInNetwork(host, name)) {
      return true;
    }
    int colon = name.lastIndexOf(':');
    if (colon > 0 && name.indexOf(':') == colon) {
      int byDefault = "https".equals(target.getScheme()) ? 443 : 80;
      int port = target.getPort() < 0 ? byDefault : target.getPort();
      if (!name.substring(colon + 1).equals(Integer.toString(port))) {
        return false;
      }
      name = name.substring(0, colon);
    }
    String domain = name.replaceFirst("^\\*?\\.", "");
    String bare =
        host.startsWith("[") && !domain.startsWith("[") ? host.replaceAll("[\\[\\]]", "") : host;
    return !domain.isEmpty() && (bare.equals(domain) || bare.endsWith("." + domain));
  }

  private static boolean isInNetwork(String host, String network) {
    Matcher parts = NETWORK.matcher(network);
    if (!parts.matches() || !ADDRESS.matcher(host).matches()) {
      return false;
    }
    int shift = 32 - Math.min(32, Integer.parseInt(parts.group(2)));
    return bits(host) >> shift == bits(parts.group(1)) >> shift;
  }

  private static long bits(String address) {
    long bits = 0;
    for (String part : address.split("\\.", -1)) {
      bits = bits << 8 | Integer.parseInt(part);
    }
    return bits;
  }

  /** Makes a client use the proxy, with its log-in; none if null. */
  public static void use(HttpClient.Builder client, @Nullable URI proxy) {
    Authenticator logIn = logIn(proxy);
    client.proxy(
        proxy == null
            ? HttpClient.Builder.NO_PROXY
            : ProxySelector.of(new InetSocketAddress(proxy.getHost(), proxy.getPort())));
    if (logIn != null) {
      client.authenticator(logIn);
    }
  }

  /** Answers a proxy that requires a login; null where the URL has none. */
  static @Nullable Authenticator logIn(@Nullable URI proxy) {
    String user = proxy == null ? null : proxy.getUserInfo();
    if (user == null) {
      return null;
    }
    String[] parts = user.split(":", 2);
    char[] password = parts.length < 2 ? new char[0] : parts[1].toCharArray();
    return new Authenticator() {
      @Override
      protected @Nullable PasswordAuthentication getPasswordAuthentication() {
        return getRequestorType() == RequestorType.PROXY
            ? new PasswordAuthentication(parts[0], password)
            : null;
      }
    };
  }
}
