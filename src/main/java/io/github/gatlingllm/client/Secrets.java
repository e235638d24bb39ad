package io.github.gatlingllm.client;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The secrets of a request: its API key, headers that carry one, credentials in its URL. A server
 * may repeat them in a response, so texts from servers pass {@link #redact} or {@link #line} before
 * they are written to a file, a log or the console. Immutable.
 */
public final class Secrets {

  public static final Secrets NONE = new Secrets(List.of());

  public static final String REDACTED = "***";

  /** Longest {@link #line}, in characters; a longer text is cut and ends with an ellipsis. */
  public static final int MAX_LINE = 200;

  /** API keys that this request does not send, such as one that a gateway uses. */
  private static final Pattern KEY_LIKE =
      Pattern.compile(
          "(?i)\\bbearer\\s+[\\w.~+/=*-]{6,}|\\b(?:sk|gsk|hf|nvapi|xai)[-_][\\w*.-]{8,}");

  /** How the prefixes of these keys end. */
  private static final List<String> PREFIX_ENDS = List.of("sk", "hf", "api", "xai");

  private static final Pattern NOT_PRINTABLE =
      Pattern.compile("[\\s\\p{Cc}\\p{Cf}\\u2028\\u2029]+");

  /** A shorter secret is too likely to be part of an ordinary word, and is not removed. */
  private static final int MIN_CHARS = 6;

  private static final Pattern NAME =
      Pattern.compile("auth|key|token|secret|cookie|passw|sig", Pattern.CASE_INSENSITIVE);

  private static final Pattern IN_URL =
      Pattern.compile("(?<=//)([^/?#@]*)@|[?&]([^=&#]*)=([^&#]*)");

  /** Most requests of a run have the same secrets: the last ones are reused. */
  private static volatile Secrets latest = NONE;

  private final List<String> given;

  /** Longest first: otherwise a secret that starts with another would be removed in part. */
  private final List<String> texts;

  private @Nullable Pattern escaped;

  private Secrets(List<String> given) {
    this.given = given;
    Set<String> all = new LinkedHashSet<>();
    given.forEach(text -> parts(text, all));
    texts =
        all.stream()
            .filter(text -> text.length() >= MIN_CHARS)
            .flatMap(text -> forms(text).stream())
            .distinct()
            .sorted(Comparator.comparingInt(String::length).reversed())
            .toList();
  }

  /** Secrets from these texts, which are keys or complete values of headers. */
  public static Secrets of(List<String> texts) {
    Secrets before = latest;
    if (before.given.equals(texts)) {
      return before;
    }
    Secrets made = new Secrets(List.copyOf(texts));
    latest = made;
    return made;
  }

  public static boolean isNamed(String name) {
    return NAME.matcher(name).find();
  }

  /** The secrets in a URL: its user information, and parameters with a secret name. */
  public static List<String> ofUrl(String url) {
    List<String> found = new ArrayList<>();
    if (url.indexOf('@') >= 0 || url.indexOf('?') >= 0) {
      for (Matcher part = IN_URL.matcher(url); part.find(); ) {
        if (part.group(1) != null) {
          found.add(part.group(1));
          found.add(part.group(1).substring(part.group(1).indexOf(':') + 1));
        } else if (isNamed(part.group(2))) {
          found.add(part.group(3));
        }
      }
    }
    return found;
  }

  public static String redactUrl(String url) {
    return url.indexOf('@') < 0 && url.indexOf('?') < 0
        ? url
        : IN_URL
            .matcher(url)
            .replaceAll(
                part ->
                    Matcher.quoteReplacement(
                        part.group(1) != null
                            ? REDACTED + "@"
                            : isNamed(part.group(2))
                                ? part.group().charAt(0) + part.group(2) + "=" + REDACTED
                                : part.group()));
  }

  /** The text, also in lower case as in names of HTTP/2, and in any longer text in Base64. */
  private static Set<String> forms(String text) {
    Set<String> forms = new LinkedHashSet<>(List.of(text, text.toLowerCase(Locale.ROOT)));
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    for (int before = 0; before < 3; before++) {
      // Three bytes are four characters: those with bits of other bytes are left out.
      byte[] shifted = new byte[before + bytes.length];
      System.arraycopy(bytes, 0, shifted, before, bytes.length);
      int from = before == 0 ? 0 : before + 1;
      int to = shifted.length * 4 / 3;
      String basic = Base64.getEncoder().encodeToString(shifted).substring(from, to);
      forms.add(basic);
      forms.add(basic.replace('+', '-').replace('/', '_'));
    }
    return forms;
  }

  /** The text, and the credentials in {@code Bearer abc}, {@code Basic …} and {@code a=b; c=d}. */
  private static void parts(String text, Set<String> all) {
    String value = text.strip();
    all.add(value);
    int space = value.indexOf(' ');
    String rest = value.substring(space + 1).strip();
    all.add(rest);
    if (value.toLowerCase(Locale.ROOT).startsWith("basic ")) {
      try {
        String login = new String(Base64.getDecoder().decode(rest), StandardCharsets.UTF_8);
        all.add(login);
        all.add(login.substring(login.indexOf(':') + 1));
      } catch (IllegalArgumentException notBase64) {
        // The complete value has been added already.
      }
    }
    if (value.indexOf('=') > 0) {
      for (String pair : value.split("[;,]", -1)) {
        all.add(pair.substring(pair.indexOf('=') + 1).strip());
      }
    }
  }

  /**
   * The text without the secrets: plain, in Base64, or escaped as in JSON, URLs and HTML; without
   * the beginning of a secret where the text is cut off within it.
   */
  public String redact(String text) {
    if (texts.isEmpty() || text.length() < MIN_CHARS) {
      return text;
    }
    String redacted = text;
    if (text.indexOf('\\') >= 0 || text.indexOf('%') >= 0 || text.indexOf('&') >= 0) {
      redacted = escaped().matcher(text).replaceAll(REDACTED);
    } else {
      for (String secret : texts) {
        redacted = redacted.replace(secret, REDACTED);
      }
    }
    for (String secret : texts) {
      for (int length = Math.min(secret.length() - 1, redacted.length());
          length > MIN_CHARS;
          length--) {
        int from = redacted.length() - length;
        if (redacted.charAt(from) == secret.charAt(0)
            && redacted.regionMatches(from, secret, 0, length)) {
          return redacted.substring(0, from) + REDACTED;
        }
      }
    }
    return redacted;
  }

  /** {@link #redact}, and without any text that looks like an API key. */
  public String redactKeys(String text) {
    String redacted = redact(text);
    return mayHaveKey(redacted) ? KEY_LIKE.matcher(redacted).replaceAll(REDACTED) : redacted;
  }

  /** Whether {@link #KEY_LIKE} may match: each answer has an id, and that pattern takes 2 µs. */
  private static boolean mayHaveKey(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c <= ' ') {
        return true;
      }
      if (c == '-' || c == '_') {
        for (String end : PREFIX_ENDS) {
          if (text.regionMatches(true, i - end.length(), end, 0, end.length())) {
            return true;
          }
        }
      }
    }
    return false;
  }

  /** The text as one line of at most {@link #MAX_LINE} characters that holds no API key. */
  public String line(String text) {
    return line(text, MAX_LINE);
  }

  public String line(String text, int length) {
    String line = redactKeys(oneLine(text));
    if (line.length() <= length) {
      return line;
    }
    int end = length - 1;
    return line.substring(0, Character.isHighSurrogate(line.charAt(end - 1)) ? end - 1 : end) + "…";
  }

  /** The text with each run of white space and control characters as a single space. */
  public static String oneLine(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) <= ' ' || text.charAt(i) > '~') {
        return NOT_PRINTABLE.matcher(text).replaceAll(" ").strip();
      }
    }
    return text;
  }

  private Pattern escaped() {
    Pattern known = escaped;
    if (known == null) {
      StringBuilder regex = new StringBuilder();
      for (String secret : texts) {
        regex.append(regex.isEmpty() ? "" : "|");
        secret.chars().forEach(c -> regex.append(anyForm((char) c)));
      }
      known = Pattern.compile(regex.toString());
      escaped = known;
    }
    return known;
  }

  private static String anyForm(char c) {
    String plain = Pattern.quote(Character.toString(c));
    return String.format(
        Locale.ROOT,
        "(?:%s%s|&%s;|\\\\+u(?i:%04x)|%%(?i:%02x)|&#(?:0*%d|x0*(?i:%x));)",
        Character.isLetterOrDigit(c) ? "" : "\\\\*",
        plain,
        switch (c) {
          case '&' -> "amp";
          case '<' -> "lt";
          case '>' -> "gt";
          case '"' -> "quot";
          case '\'' -> "apos";
          default -> "#" + (int) c;
        },
        (int) c,
        (int) c,
        (int) c,
        (int) c);
  }
}
