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
 * What response headers say beside the answer: timings, what is left of rate limits, and how long
 * to wait. What cannot be read, or cannot be meant, is as if it had not been said.
 *
 * <p>Instants are turned into times from the response's own {@code Date} on, so that the clocks of
 * client and server need not agree.
 *
 * @see <a href="https://www.w3.org/TR/server-timing/">Server-Timing</a>
 * @see <a href="https://www.rfc-editor.org/rfc/rfc9110#field.retry-after">Retry-After</a>
 */
final class AnswerHeaders {

  /** A longer wait, or a longer time until a quota is renewed, is none. */
  private static final double LONGEST_S = 366.0 * 86_400;

  /** A number of seconds above this is an instant since 1970, above a thousand times it in ms. */
  private static final double EPOCH_S = 1e9;

  private static final int MOST_QUOTAS = 16;

  private static final int LONGEST_NAME = 60;

  /** {@code x-ratelimit-remaining-tokens}, {@code ratelimit-limit}. */
  private static final Pattern QUOTA =
      Pattern.compile("(?:x-)?ratelimit-(limit|remaining|reset)(?:-([a-z0-9_-]{1,40}))?");

  /** {@code anthropic-ratelimit-input-tokens-remaining}. */
  private static final Pattern ANTHROPIC =
      Pattern.compile("anthropic-ratelimit-([a-z0-9-]{1,40})-(limit|remaining|reset)");

  /** As Go writes them: {@code 6m0s}, {@code 59.56s}, {@code 12ms}. */
  private static final Pattern DURATION =
      Pattern.compile("(?:(\\d+)d)?(?:(\\d+)h)?(?:(\\d+)m)?(?:(\\d+(?:\\.\\d+)?)(ms|s))?");

  private static final Pattern METRIC_DURATION = Pattern.compile("(?i)dur\\s*=");

  private final HttpHeaders headers;
  private final Map<String, Double> rateLimits = new LinkedHashMap<>();
  private @Nullable Double retryAfterS;

  AnswerHeaders(HttpHeaders headers) {
    this.headers = headers;
  }

  /** Reads all of them. */
  void read(SaidTimings timings) {
    Iterator<Map.Entry<CharSequence, CharSequence>> each = headers.iteratorCharSequence();
    while (each.hasNext()) {
      Map.Entry<CharSequence, CharSequence> header = each.next();
      read(header.getKey().toString().toLowerCase(Locale.ROOT), header.getValue(), timings);
    }
    if (!rateLimits.isEmpty() || retryAfterS != null) {
      timings.limits(rateLimits, retryAfterS == null ? null : Math.round(retryAfterS * 1e9));
    }
  }

  private void read(String name, CharSequence said, SaidTimings timings) {
    if (name.equals("server-timing")) {
      serverTiming(said, timings);
    } else if (ServerReport.Timing.isHeader(name)) {
      timings.add(name, number(said));
    } else if (name.equals("retry-after-ms")) {
      retryAfterS = possible(number(said) / 1e3);
    } else if (name.equals("retry-after") && retryAfterS == null) {
      retryAfterS = possible(secondsFromNow(said));
    } else if (name.contains("ratelimit-")) {
      quota(name, said);
    }
  }

  /** Metrics between commas: a name, then parameters behind semicolons; values may be quoted. */
  private static void serverTiming(CharSequence said, SaidTimings timings) {
    StringBuilder part = new StringBuilder();
    String metric = "";
    boolean isName = true;
    boolean isQuoted = false;
    for (int i = 0; i <= said.length(); i++) {
      char c = i == said.length() ? ',' : said.charAt(i);
      if (c == '"') {
        isQuoted = !isQuoted;
      } else if (c == '\\' && isQuoted) {
        i++;
      } else if ((c != ',' && c != ';') || (isQuoted && i < said.length())) {
        part.append(c);
      } else {
        String text = part.toString().strip();
        if (isName) {
          metric = text.substring(0, Math.min(LONGEST_NAME, text.length()));
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

  private void quota(String name, CharSequence said) {
    Matcher plain = QUOTA.matcher(name);
    Matcher anthropic = ANTHROPIC.matcher(name);
    if (plain.matches()) {
      quota(plain.group(2) == null ? "requests" : plain.group(2), plain.group(1), said);
    } else if (anthropic.matches()) {
      quota(anthropic.group(1), anthropic.group(2), said);
    }
  }

  private void quota(String of, String what, CharSequence said) {
    boolean isReset = what.equals("reset");
    // Of several windows ("100, 1000;w=3600") the first.
    CharSequence first = isReset ? said : said.toString().split("[,;]", 2)[0];
    double value = isReset ? secondsFromNow(first) : number(first);
    // Some say -1 for what they do not limit.
    boolean isPossible = value >= 0 && value <= (isReset ? LONGEST_S : 1e15);
    if (isPossible && rateLimits.size() < 3 * MOST_QUOTAS) {
      rateLimits.put(of.replace('-', '_') + "_" + what + (isReset ? "_s" : ""), value);
    }
  }

  private static @Nullable Double possible(double seconds) {
    return seconds >= 0 && seconds <= LONGEST_S ? (Double) seconds : null;
  }

  /** Seconds, a duration or an instant; what is past is 0, what cannot be read not a number. */
  private double secondsFromNow(CharSequence said) {
    String text = said.toString().strip();
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
    Instant said = date == null ? null : instant(date);
    return said == null ? Instant.now() : said;
  }

  /** A date of HTTP, or of RFC 3339. */
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
    try {
      return Double.parseDouble(text.toString());
    } catch (NumberFormatException e) {
      return Double.NaN;
    }
  }
}
