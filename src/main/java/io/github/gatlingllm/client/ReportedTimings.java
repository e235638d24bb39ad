package io.github.gatlingllm.client;

import io.github.gatlingllm.record.RequestRecord.ServerReport;
import io.github.gatlingllm.record.RequestRecord.TimingKey;
import io.netty.handler.codec.http.HttpHeaders;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Timings and rate limits that the server reports with one response, in headers and body. A point
 * in time becomes a duration from the {@code Date} of the same response, whatever the client's
 * clock.
 */
final class ReportedTimings {

  /** A longer wait, or a longer time until a limit is reset, is ignored. */
  private static final double MAX_SECONDS = 366.0 * 86_400;

  /** A higher number is Unix time in seconds; above a thousand times this, in milliseconds. */
  private static final double EPOCH_S = 1e9;

  private static final int MAX_RATE_LIMITS = 16;

  private static final int MAX_NAME_LENGTH = 60;
  private static final int MAX_REPLICA_LENGTH = 100;
  private static final int MAX_ID_LENGTH = 100;

  /** Of llm-d, AIBrix, LiteLLM, and of caches and load balancers: they name who answered. */
  private static final Set<String> REPLICA_HEADERS =
      Set.of("x-inference-pod", "target-pod", "x-litellm-model-id", "x-served-by");

  private static final Pattern RATE_LIMIT =
      Pattern.compile("(?:x-)?ratelimit-(limit|remaining|reset)(?:-([a-z0-9_-]{1,40}))?");

  private static final Pattern ANTHROPIC_RATE_LIMIT =
      Pattern.compile("anthropic-ratelimit-([a-z0-9-]{1,40})-(limit|remaining|reset)");

  /** In the format of Go: {@code 6m0s}, {@code 59.56s}, {@code 12ms}; also days, {@code 1d}. */
  private static final Pattern DURATION =
      Pattern.compile("(?:(\\d+)d)?(?:(\\d+)h)?(?:(\\d+)m)?(?:(\\d+(?:\\.\\d+)?)(ms|s))?");

  private static final Pattern METRIC_DURATION = Pattern.compile("(?i)dur\\s*=");
  private static final int MAX_TIMINGS = 32;

  private Map<String, Double> timings = Map.of();
  private Map<String, String> names = Map.of();
  private Map<String, Double> rateLimits = Map.of();
  private @Nullable Double retryAfterS;
  private @Nullable String replica;
  private String idInBody = "";
  private @Nullable String idInHeader;
  private @Nullable String date;
  private Secrets secrets = Secrets.NONE;

  /** Adds a timing, unless out of range; the last one of a meaning counts: the body's. */
  void add(String name, double reported) {
    double value = TimingKey.value(name, reported);
    if (Double.isNaN(value)) {
      return;
    }
    if (timings.isEmpty()) {
      timings = new LinkedHashMap<>();
      names = new LinkedHashMap<>();
    }
    String key = TimingKey.keyOf(name);
    if (timings.size() < MAX_TIMINGS || timings.containsKey(key)) {
      timings.put(key, value);
      names.put(key, name);
    }
  }

  ServerReport report() {
    Long retryAfterNanos = retryAfterS == null ? null : (Long) Math.round(retryAfterS * 1e9);
    String id = line(idInBody.isEmpty() ? idInHeader : idInBody, MAX_ID_LENGTH);
    return timings.isEmpty()
            && rateLimits.isEmpty()
            && retryAfterNanos == null
            && replica == null
            && id == null
        ? ServerReport.NONE
        : new ServerReport(
            timings, List.copyOf(names.values()), rateLimits, retryAfterNanos, replica, id);
  }

  /** The id in the body, of which the first event's is enough. */
  void answerId(String id) {
    idInBody = idInBody.isEmpty() ? id : idInBody;
  }

  private @Nullable String line(@Nullable String text, int length) {
    String line = text == null ? "" : secrets.line(text.strip(), length);
    return line.isEmpty() ? null : line;
  }

  void headers(HttpHeaders headers, Secrets secrets) {
    this.secrets = secrets;
    date = headers.get("date");
    Iterator<Map.Entry<CharSequence, CharSequence>> each = headers.iteratorCharSequence();
    while (each.hasNext()) {
      Map.Entry<CharSequence, CharSequence> header = each.next();
      header(header.getKey().toString(), header.getValue());
    }
  }

  private void header(String sentName, CharSequence value) {
    String name = sentName.toLowerCase(Locale.ROOT);
    if (name.equals("server-timing")) {
      serverTiming(value);
    } else if (TimingKey.isHeader(name)) {
      add(name, number(value));
    } else if (name.equals("retry-after-ms")) {
      retryAfterS = inRange(number(value) / 1e3);
    } else if (name.equals("retry-after") && retryAfterS == null) {
      retryAfterS = inRange(secondsFromNow(value));
    } else if (replica == null && REPLICA_HEADERS.contains(name)) {
      replica = line(value.toString(), MAX_REPLICA_LENGTH);
    } else if (name.equals("x-request-id")) {
      idInHeader = value.toString();
    } else if (name.contains("ratelimit-")) {
      // Secrets are found as they were sent, not in lower case.
      rateLimit(secrets.redactKeys(sentName).toLowerCase(Locale.ROOT), value);
    }
  }

  /** Metrics separated by commas: a name, then parameters after semicolons, which may be quoted. */
  private void serverTiming(CharSequence header) {
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
          String safe = secrets.redactKeys(text);
          metric = safe.substring(0, Math.min(MAX_NAME_LENGTH, safe.length()));
        } else if (METRIC_DURATION.matcher(text).lookingAt() && !metric.isEmpty()) {
          add(TimingKey.SERVER_TIMING + metric, number(text.substring(text.indexOf('=') + 1)));
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
      if (rateLimits.isEmpty()) {
        rateLimits = new LinkedHashMap<>();
      }
      rateLimits.put(resource.replace('-', '_') + "_" + kind + (isReset ? "_s" : ""), value);
    }
  }

  private static @Nullable Double inRange(double seconds) {
    return seconds >= 0 && seconds <= MAX_SECONDS ? (Double) seconds : null;
  }

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
    Instant sent = date == null ? null : instant(date);
    return sent == null ? Instant.now() : sent;
  }

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
