package io.github.gatlingllm.run.server;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Reads Prometheus' text format 0.0.4 and OpenMetrics 1.0, sample by sample:
 *
 * <pre>
 *   # TYPE vllm:num_requests_running gauge       comments, types and units are skipped
 *   vllm:num_requests_running{engine="0"} 3.0    name, labels, value
 *   x_bucket{le="0.5"} 7 1700000000 # {id="a"} 0.4   a time and an exemplar are skipped
 *   # EOF
 * </pre>
 *
 * Names and labels are validated on every line, values only of wanted names. No maintained library
 * on Maven Central reads this format: Prometheus' own library only writes it.
 */
final class PrometheusText {

  interface Sink {
    void sample(String name, Map<String, String> labels, double value);
  }

  private final String page;
  private int line;
  private int at;
  private int end;

  private PrometheusText(String page) {
    this.page = page;
  }

  /** Passes the samples with wanted names to {@code sink}. */
  static void read(String page, Predicate<String> wanted, Sink sink) {
    PrometheusText text = new PrometheusText(page);
    for (int start = 0; start < page.length(); start = text.end + 1) {
      int feed = page.indexOf('\n', start);
      text.end = feed < 0 ? page.length() : feed;
      text.at = start;
      text.line++;
      text.skipBlanks();
      if (text.at < text.end && text.peek() != '#') {
        text.sample(wanted, sink);
      }
    }
  }

  private void sample(Predicate<String> wanted, Sink sink) {
    String name = name(true);
    boolean isWanted = wanted.test(name);
    Map<String, String> labels = isWanted ? new LinkedHashMap<>() : Map.of();
    skipBlanks();
    if (peek() == '{') {
      labels(labels, isWanted);
    }
    if (isWanted) {
      sink.sample(name, labels, value());
    }
  }

  private char peek() {
    return at < end ? page.charAt(at) : '\n';
  }

  private void skipBlanks() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\r') {
      at++;
    }
  }

  private String name(boolean colons) {
    int from = at;
    for (char c = peek();
        (c >= 'a' && c <= 'z')
            || (c >= 'A' && c <= 'Z')
            || c == '_'
            || (colons && c == ':')
            || (at > from && c >= '0' && c <= '9');
        c = peek()) {
      at++;
    }
    if (at == from) {
      throw malformed("a name");
    }
    return page.substring(from, at);
  }

  private void labels(Map<String, String> labels, boolean keep) {
    at++;
    skipBlanks();
    while (peek() != '}') {
      String label = name(false);
      skipBlanks();
      pass('=');
      skipBlanks();
      String value = quoted();
      if (keep) {
        labels.put(label, value);
      }
      skipBlanks();
      if (peek() != '}') {
        pass(',');
        skipBlanks();
      }
    }
    at++;
  }

  private void pass(char c) {
    if (peek() != c) {
      throw malformed("'" + c + "'");
    }
    at++;
  }

  private String quoted() {
    pass('"');
    int from = at;
    StringBuilder unescaped = null;
    for (; peek() != '"'; at++) {
      if (at == end) {
        throw malformed("'\"'");
      }
      if (peek() == '\\') {
        unescaped = unescaped == null ? new StringBuilder() : unescaped;
        unescaped.append(page, from, at++);
        unescaped.append(peek() == 'n' ? "\n" : at < end ? page.substring(at, at + 1) : "");
        from = Math.min(at + 1, end);
        if (at == end) {
          throw malformed("'\"'");
        }
      }
    }
    String rest = page.substring(from, at++);
    return unescaped == null ? rest : unescaped + rest;
  }

  private double value() {
    skipBlanks();
    int from = at;
    while (at < end && peek() > ' ') {
      at++;
    }
    String number = page.substring(from, at);
    return switch (number) {
      case "NaN" -> Double.NaN;
      case "+Inf", "Inf" -> Double.POSITIVE_INFINITY;
      case "-Inf" -> Double.NEGATIVE_INFINITY;
      default -> decimal(number);
    };
  }

  /** Rejects what only {@link Double#parseDouble} accepts, such as "1f". */
  private double decimal(String number) {
    boolean isNumber = number.chars().allMatch(c -> "+-.eE0123456789".indexOf(c) >= 0);
    try {
      return Double.parseDouble(isNumber ? number : "");
    } catch (NumberFormatException e) {
      throw malformed("a number");
    }
  }

  private IllegalArgumentException malformed(String expected) {
    return new IllegalArgumentException(
        "not a metrics page: expected %s in line %s".formatted(expected, line));
  }
}
