package io.github.gatlingllm.record;

import java.math.BigDecimal;
import java.net.Authenticator;
import java.net.InetSocketAddress;
import java.net.PasswordAuthentication;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
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

/**
 * A setting that a process reads whatever simulation it runs: a system property such as {@code
 * llm.startAt}, else the environment variable {@code LLM_START_AT}. A blank value counts as not
 * set; a blank property hides the variable.
 */
public record ProcessSetting(String property, String variable) {

  private static final Pattern ADDRESS = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}");
  private static final Pattern NETWORK = Pattern.compile("(\\d{1,3}(?:\\.\\d{1,3}){3})/(\\d{1,2})");

  public ProcessSetting(String property) {
    this(
        property,
        property.replace('.', '_').replaceAll("([a-z])([A-Z])", "$1_$2").toUpperCase(Locale.ROOT));
  }

  public @Nullable String text() {
    return text(System.getProperties(), System.getenv());
  }

  /** The value in these properties and variables, stripped; null where not set. */
  public @Nullable String text(Map<?, ?> properties, Map<String, String> environment) {
    Object set = properties.get(property);
    String text = set == null ? environment.get(variable()) : set.toString();
    return text == null || text.isBlank() ? null : text.strip();
  }

  public boolean isTrue(boolean otherwise) {
    return isTrue(System.getProperties(), System.getenv(), otherwise);
  }

  boolean isTrue(Map<?, ?> properties, Map<String, String> environment, boolean otherwise) {
    Boolean set = read(properties, environment, ProcessSetting::booleanOf);
    return set == null ? otherwise : set;
  }

  public static Boolean booleanOf(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException("expected true or false");
    };
  }

  /** Parses the value; null where it is not set. A message begins with the setting. */
  public <T> @Nullable T read(
      Map<?, ?> properties, Map<String, String> environment, Function<String, T> form) {
    String text = text(properties, environment);
    try {
      return text == null ? null : form.apply(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(property + "=" + text + ": " + e.getMessage(), e);
    }
  }

  /** A number and a unit: {@code 500us}, {@code 0.5ms}, {@code 30s}, {@code 2m}, {@code 1h}. */
  public static final class DurationText {

    public static final String UNITS = "us|ms|s|m|h";

    public static final String NUMBER = "(?:\\d{1,9}(?:\\.\\d{1,9})?|\\.\\d{1,9})";

    public static final String FORM = NUMBER + "(?:" + UNITS + ")?";

    private static final Pattern PARTS = Pattern.compile("(" + NUMBER + ")\\s*(" + UNITS + ")?");

    private DurationText() {}

    /**
     * The duration in nanoseconds; fractions of a nanosecond are cut off.
     *
     * @param defaultUnit the unit of a number without one
     * @throws IllegalArgumentException without a message, if the text is not a duration, or longer
     *     than 292 years
     */
    public static long nanos(String text, String defaultUnit) {
      Matcher parts = PARTS.matcher(text);
      if (!parts.matches()) {
        throw new IllegalArgumentException();
      }
      try {
        return new BigDecimal(parts.group(1))
            .multiply(
                BigDecimal.valueOf(
                    unitNanos(parts.group(2) == null ? defaultUnit : parts.group(2))))
            .toBigInteger()
            .longValueExact();
      } catch (ArithmeticException tooLong) {
        throw new IllegalArgumentException(null, tooLong);
      }
    }

    /** Nanoseconds per unit; throws without a message if the unit is unknown. */
    public static long unitNanos(String unit) {
      return switch (unit) {
        case "us" -> 1_000L;
        case "ms" -> 1_000_000L;
        case "s" -> 1_000_000_000L;
        case "m" -> 60_000_000_000L;
        case "h" -> 3_600_000_000_000L;
        default -> throw new IllegalArgumentException();
      };
    }
  }

  public static final class Spelling {

    /** Longer than any name; comparing takes time in proportion to the length. */
    private static final int MAX_CHARS = 100;

    private static final int MIN_PART = 3;

    private Spelling() {}

    /** The name that is meant; null where none is near: a third of its characters differ. */
    public static @Nullable String meant(String wrong, Collection<String> names) {
      String nearest = names.isEmpty() ? "" : nearest(wrong, names, 1).get(0);
      int max = Math.max(1, plain(wrong).length() / 3);
      return apart(plain(wrong), plain(nearest)) <= max ? nearest : null;
    }

    /** The nearest names by edit distance, which is at most 1 if one contains the other. */
    public static List<String> nearest(String wrong, Collection<String> names, int max) {
      String plain = plain(wrong);
      return names.stream()
          .sorted(Comparator.comparingInt(name -> apart(plain, plain(name))))
          .limit(max)
          .toList();
    }

    private static String plain(String name) {
      String start = name.substring(0, Math.min(name.length(), MAX_CHARS));
      return start.replace("_", "").toLowerCase(Locale.ROOT);
    }

    private static int apart(String wrong, String name) {
      int distance = distance(wrong, name);
      boolean isPart =
          (wrong.length() >= MIN_PART && name.contains(wrong))
              || (name.length() > MIN_PART && wrong.contains(name));
      return isPart ? Math.min(1, distance) : distance;
    }

    /** The number of characters to insert, delete or replace, and of neighbours to swap. */
    private static int distance(String a, String b) {
      int[] before = new int[b.length() + 1];
      int[] row = new int[b.length() + 1];
      Arrays.setAll(row, i -> i);
      for (int i = 1; i <= a.length(); i++) {
        int[] next = new int[b.length() + 1];
        next[0] = i;
        for (int j = 1; j <= b.length(); j++) {
          int replaced = row[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
          next[j] = Math.min(replaced, 1 + Math.min(row[j], next[j - 1]));
          boolean isSwapped =
              i > 1
                  && j > 1
                  && a.charAt(i - 1) == b.charAt(j - 2)
                  && a.charAt(i - 2) == b.charAt(j - 1);
          next[j] = isSwapped ? Math.min(next[j], 1 + before[j - 2]) : next[j];
        }
        before = row;
        row = next;
      }
      return row[b.length()];
    }
  }

  /** The proxy of requests to a URL: one for all, that of the environment, or none. */
  public static final class Proxy {

    public static final ProcessSetting SETTING = new ProcessSetting("llm.proxy");
    public static final String ENV = "env";
    public static final String NONE = "none";

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
        throw new IllegalArgumentException(
            "proxy=env: " + variable + ": expected http://host:port");
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
}
