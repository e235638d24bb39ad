package io.github.gatlingllm.wire;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a failed response says, as one line of at most {@value #MAX_LENGTH} characters that never
 * holds an API key. The same cause gives the same line, as far as the server's words do.
 */
public final class ErrorBody {

  /** Longer lines are cut, with an ellipsis. */
  public static final int MAX_LENGTH = 200;

  /** Ends the line of a response that rejects what pins the output length. */
  public static final String PINNING_REMEDY = "; set ignoreEos=false (llm.ignoreEos)";

  private static final int MAX_RETRY_AFTER = 40;
  private static final String REDACTED = "***";

  /** Keys that we were not told of, e.g. one that a gateway holds. */
  private static final Pattern KEY_LIKE =
      Pattern.compile(
          "(?i)\\bbearer\\s+[\\w.~+/=*-]{6,}|\\b(?:sk|gsk|hf|nvapi|xai)[-_][\\w*.-]{8,}");

  private static final Pattern TITLE =
      Pattern.compile("<title[^>]*>(.*?)</title>", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

  private ErrorBody() {}

  /**
   * The line for a response whose status is not 2xx: {@code HTTP 429: <message>; retry after 20}. A
   * body that rejects {@code ignore_eos} or {@code min_tokens} adds what to set.
   *
   * @param retryAfter the header's value, seconds or a date; kept as it is
   * @param secrets texts that must not be shown, e.g. the API key
   */
  public static String message(
      int status,
      @Nullable String contentType,
      @Nullable String retryAfter,
      byte[] body,
      Collection<String> secrets) {
    String text = new String(body, StandardCharsets.UTF_8);
    String prefix = "HTTP " + status + ": ";
    String suffix = retry(retryAfter) + (rejectsPinning(status, text) ? PINNING_REMEDY : "");
    String said = redact(said(contentType, text, body), secrets);
    return prefix + cut(said, MAX_LENGTH - prefix.length() - suffix.length()) + suffix;
  }

  /** Any text of a server, e.g. {@link ChunkListener#error}, as such a line. */
  public static String line(String text, Collection<String> secrets) {
    return cut(redact(ServerMessage.oneLine(text), secrets), MAX_LENGTH);
  }

  private static String said(@Nullable String contentType, String text, byte[] body) {
    if (text.isBlank()) {
      return "empty body";
    }
    boolean html = contentType != null && contentType.toLowerCase(Locale.ROOT).contains("html");
    if (html || text.stripLeading().startsWith("<")) {
      Matcher title = TITLE.matcher(text);
      return title.find() && !title.group(1).isBlank()
          ? ServerMessage.oneLine(title.group(1))
          : "HTML page without a title";
    }
    @Nullable JsonNode root = ServerMessage.tree(body, 0, body.length);
    @Nullable String message = root == null ? null : ServerMessage.of(root);
    return ServerMessage.oneLine(message == null ? text : message);
  }

  private static String retry(@Nullable String retryAfter) {
    return retryAfter == null || retryAfter.isBlank()
        ? ""
        : "; retry after " + cut(ServerMessage.oneLine(retryAfter), MAX_RETRY_AFTER);
  }

  private static boolean rejectsPinning(int status, String text) {
    return (status == 400 || status == 422)
        && (text.contains("ignore_eos") || text.contains("min_tokens"));
  }

  /** Longest first: a secret that starts with another one must not leave its rest. */
  private static String redact(String text, Collection<String> secrets) {
    List<String> longestFirst =
        secrets.stream()
            .filter(secret -> !secret.isBlank())
            .sorted(Comparator.comparingInt(String::length).reversed())
            .toList();
    String redacted = text;
    for (String secret : longestFirst) {
      redacted = redacted.replace(secret, REDACTED);
    }
    return KEY_LIKE.matcher(redacted).replaceAll(REDACTED);
  }

  private static String cut(String text, int length) {
    if (text.length() <= length) {
      return text;
    }
    int end = length - 1;
    return text.substring(0, Character.isHighSurrogate(text.charAt(end - 1)) ? end - 1 : end) + "…";
  }
}
