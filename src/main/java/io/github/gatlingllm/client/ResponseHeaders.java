package io.github.gatlingllm.client;

import io.github.gatlingllm.record.ServerReport;
import io.netty.handler.codec.http.HttpHeaders;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads timings, rate limits and {@code Retry-After} from response headers. A value that cannot be
 * parsed, or is out of range, is ignored.
 *
 * <p>A point in time becomes a duration from the {@code Date} of the same response, so that a
 * difference between the clocks of client and server does not matter.
 *
 * @see <a href="https://www.w3.org/TR/server-timing/">Server-Timing</a>
 * @see <a href="https://www.rfc-editor.org/rfc/rfc9110#field.retry-after">Retry-After</a>
 */
final class ResponseHeaders {

  /** A longer wait, or a longer time until a limit is reset, is ignored. */
  private static final double MAX_SECONDS = 366.0 * 86_400;

  /** A higher number is Unix time in seconds; above a thousand times this, in milliseconds. */
  private static final double EPOCH_S = 1e9;

  private static final int MAX_RATE_LIMITS = 16;

  private static final int MAX_NAME_LENGTH = 60;

  /** {@code x-ratelimit-remaining-tokens}, {@code ratelimit-limit}. */
  private static final Pattern RATE_LIMIT =
      Pattern.compile("(?:x-)?ratelimit-(limit|remaining|reset)(?:-([a-z0-9_-]{1,40}))?");

  /** {@code anthropic-ratelimit-input-tokens-remaining}. */
  private static final Pattern ANTHROPIC_RATE_LIMIT =
      Pattern.compile("anthropic-ratelimit-([a-z0-9-]{1,40})-(limit|remaining|reset)");

  /** In the format of Go: {@code 6m0s}, {@code 59.56s}, {@code 12ms}; also days, {@code 1d}. */
  private static final Pattern DURATION =
      Pattern.compile("(?:(\\d+)d)?(?:(\\d+)h)?(?:(\\d+)m)?(?:(\\d+(?:\\.\\d+)?)(ms|s))?");

  private static final Pattern METRIC_DURATION = Pattern.compile("(?i)dur\\s*=");

  private final HttpHeaders headers;
  private final Map<String, Double> rateLimits = new LinkedHashMap<>();
  private @Nullable Double retryAfterS;

  ResponseHeaders(HttpHeaders headers) {
    this.headers = headers;
  }

  /** Reads all headers. */
  void read(ReportedTimings timings) {
    Iterator<Map.Entry<CharSequence, CharSequence>> each = headers.iteratorCharSequence();
    while (each.hasNext()) {
      Map.Entry<CharSequence, CharSequence> header = each.next();
      read(header.getKey().toString().toLowerCase(Locale.ROOT), header.getValue(), timings);
    }
    if (!rateLimits.isEmpty() || retryAfterS != null) {
      timings.limits(rateLimits, retryAfterS == null ? null : Math.round(retryAfterS * 1e9));
    }
  }

  private void read(String name, CharSequence value, ReportedTimings timings) {
    if (name.equals("server-timing")) {
      serverTiming(value, timings);
    } else if (ServerReport.Timing.isHeader(name)) {
      timings.add(name, number(value));
    } else if (name.equals("retry-after-ms")) {
      retryAfterS = inRange(number(value) / 1e3);
    } else if (name.equals("retry-after") && retryAfterS == null) {
      retryAfterS = inRange(secondsFromNow(value));
    } else if (name.contains("ratelimit-")) {
      rateLimit(name, value);
    }
  }

  /**
   * Metrics separated by commas: a name, then parameters after semicolons; values may be quoted.
   */
  private static void serverTiming(CharSequence header, ReportedTimings timings) {
    StringBuilder part = new StringBuilder();
    String metric = "";
    boolean isName = true;
    boolean isQuoted = false;
    for (int i = 0; i <= header.length(); i++) {
      char c = i == header.length() ? ',' : header.charAt(i);
      if (c == '"') {
        isQuoted = !isQuoted;
      } else if (c == '\\' && isQuoted) {
        i++;
      } else if ((c != ',' && c != ';') || (isQuoted && i < header.length())) {
        part.append(c);
      } else {
        String text = part.toString().strip();
        if (isName) {
          metric = text.substring(0, Math.min(MAX_NAME_LENGTH, text.length()));
        } else if (METRIC_DURATION.matcher(text).lookingAt() && !metric.isEmpty()) {
          timings.add(
              ServerReport.SERVER_TIMING + metric, number(text.substring(text.indexOf('=') + 1)));
          metric = "";
        }
        part.setLength(0);
        isName = c == ',';
      }
    }
  }

  private void rateLimit(String name, CharSequence header) {
    Matcher plain = RATE_LIMIT.matcher(name);
    Matcher anthropic = ANTHROPIC_RATE_LIMIT.matcher(name);
    if (plain.matches()) {
      rateLimit(plain.group(2) == null ? "requests" : plain.group(2), plain.group(1), header);
    } else if (anthropic.matches()) {
      rateLimit(anthropic.group(1), anthropic.group(2), header);
    }
  }

  private void rateLimit(String resource, String kind, CharSequence header) {
    boolean isReset = kind.equals("reset");
    // The first of several windows ("100, 1000;w=3600").
    CharSequence first = isReset ? header : header.toString().split("[,;]", 2)[0];
    double value = isReset ? secondsFromNow(first) : number(first);
    // Some servers send -1 for no limit.
    boolean isInRange = value >= 0 && value <= (isReset ? MAX_SECONDS : 1e15);
    if (isInRange && rateLimits.size() < 3 * MAX_RATE_LIMITS) {
      rateLimits.put(resource.replace('-', '_') + "_" + kind + (isReset ? "_s" : ""), value);
    }
  }

  private static @Nullable Double inRange(double seconds) {
    return seconds >= 0 && seconds <= MAX_SECONDS ? (Double) seconds : null;
  }

  /** From seconds, a duration or a point in time; 0 for the past, NaN if it cannot be parsed. */
  private double secondsFromNow(CharSequence header) {
    String text = header.toString().strip();
    double seconds = number(text);
    if (!Double.isNaN(seconds)) {
      return seconds < EPOCH_S
          ? seconds
          : Math.max(
              0, (seconds < 1e3 * EPOCH_S ? seconds : seconds / 1e3) - now().toEpochMilli() / 1e3);
    }
    Matcher duration = DURATION.matcher(text);
    if (!text.isEmpty() && duration.matches()) {
      double last = part(duration, 4);
      return part(duration, 1) * 86_400
          + part(duration, 2) * 3_600
          + part(duration, 3) * 60
          + ("ms".equals(duration.group(5)) ? last / 1e3 : last);
    }
    Instant instant = instant(text);
    return instant == null
        ? Double.NaN
        : Math.max(0, (instant.toEpochMilli() - now().toEpochMilli()) / 1e3);
  }

  private static double part(Matcher duration, int group) {
    return duration.group(group) == null ? 0 : Double.parseDouble(duration.group(group));
  }

  private Instant now() {
    String date = headers.get("date");
    Instant now = date == null ? null : instant(date);
    return now == null ? Instant.now() : now;
  }

  /** Parses a date of HTTP or RFC 3339; null if it is neither. */
  static @Nullable Instant instant(String text) {
    try {
      return Character.isDigit(text.isEmpty() ? ' ' : text.charAt(0))
          ? OffsetDateTime.parse(text).toInstant()
          : Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(text));
    } catch (DateTimeException e) {
      return null;
    }
  }

  private static double number(CharSequence text) {
    String number = text.toString().strip();
    // Java also parses suffixes: it would read 2d (two days) as 2.
    boolean hasSuffix = !number.isEmpty() && Character.isLetter(number.charAt(number.length() - 1));
    try {
      return hasSuffix ? Double.NaN : Double.parseDouble(number);
    } catch (NumberFormatException e) {
      return Double.NaN;
    }
  }
}
