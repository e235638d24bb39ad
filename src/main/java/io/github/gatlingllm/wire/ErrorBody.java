package io.github.gatlingllm.wire;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a server says is wrong, in the forms that servers use, as one line of at most {@value
 * #MAX_LENGTH} characters that never holds an API key. The same cause gives the same line, as far
 * as the server's words do. Builds a tree: only for what has failed.
 */
public final class ErrorBody {

  /** Longer lines are cut, with an ellipsis. */
  public static final int MAX_LENGTH = 200;

  /** Ends the line of a response that rejects what pins the output length. */
  public static final String PINNING_REMEDY = "; set ignoreEos=false (llm.ignoreEos)";

  private static final ObjectMapper JSON = new ObjectMapper(DocumentReader.JSON.copy());

  /** Of data that is no message only the beginning is of use. */
  private static final int MAX_RAW = 4096;

  /** A longer text is no error object: its tree could be a hundred times as large. */
  private static final int MAX_JSON = 256 * 1024;

  private static final int MAX_RETRY_AFTER = 40;

  /** Keys that we were not told of, e.g. one that a gateway holds. */
  private static final Pattern KEY_LIKE =
      Pattern.compile(
          "(?i)\\bbearer\\s+[\\w.~+/=*-]{6,}|\\b(?:sk|gsk|hf|nvapi|xai)[-_][\\w*.-]{8,}");

  /** Of {@link #KEY_LIKE}; reasons to finish are shorter. */
  private static final int SHORTEST_KEY = "hf_12345678".length();

  private static final Pattern TITLE =
      Pattern.compile("<title[^>]*>(.*?)</title>", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

  private static final Pattern NOT_SHOWN = Pattern.compile("[\\s\\p{Cc}\\p{Cf}\\u2028\\u2029]+");

  private ErrorBody() {}

  /**
   * The line for a response whose status is not 2xx: {@code HTTP 429: <message>; retry after 20}. A
   * body that rejects {@code ignore_eos} or {@code min_tokens} adds what to set.
   *
   * @param retryAfter the header's value, seconds or a date; kept as it is
   * @param secrets must not be shown
   */
  public static String message(
      int status,
      @Nullable String contentType,
      @Nullable String retryAfter,
      byte[] body,
      Secrets secrets) {
    String text = new String(body, StandardCharsets.UTF_8);
    String prefix = "HTTP " + status + ": ";
    String suffix = retry(retryAfter) + (rejectsPinning(status, text) ? PINNING_REMEDY : "");
    String said = withoutSecrets(said(contentType, text), secrets);
    return prefix + cut(said, MAX_LENGTH - prefix.length() - suffix.length()) + suffix;
  }

  /** Any text of a server, e.g. {@link ChunkParser.Listener#error}, as such a line. */
  public static String line(String text, Secrets secrets) {
    return cut(withoutSecrets(oneLine(text), secrets), MAX_LENGTH);
  }

  private static String said(@Nullable String contentType, String text) {
    if (text.isBlank()) {
      return "empty body";
    }
    boolean html = contentType != null && contentType.toLowerCase(Locale.ROOT).contains("html");
    if (html || text.stripLeading().startsWith("<")) {
      Matcher title = TITLE.matcher(text);
      return title.find() && !title.group(1).isBlank()
          ? oneLine(title.group(1))
          : "HTML page without a title";
    }
    @Nullable String message = message(text);
    return oneLine(message == null ? text : message);
  }

  private static String retry(@Nullable String retryAfter) {
    return retryAfter == null || retryAfter.isBlank()
        ? ""
        : "; retry after " + cut(oneLine(retryAfter), MAX_RETRY_AFTER);
  }

  private static boolean rejectsPinning(int status, String text) {
    return (status == 400 || status == 422)
        && (text.contains("ignore_eos") || text.contains("min_tokens"));
  }

  /** A text of a server, or of a request, without secrets and without what looks like a key. */
  public static String withoutSecrets(String text, Secrets secrets) {
    String known = secrets.redact(text);
    return known.length() < SHORTEST_KEY
        ? known
        : KEY_LIKE.matcher(known).replaceAll(Secrets.REDACTED);
  }

  private static String cut(String text, int length) {
    if (text.length() <= length) {
      return text;
    }
    int end = length - 1;
    return text.substring(0, Character.isHighSurrogate(text.charAt(end - 1)) ? end - 1 : end) + "…";
  }

  /**
   * Whether a JSON object reports an error in place of an answer: {@code error} or {@code
   * x_groq.error} or {@code response.error} says something, or {@code message} or {@code detail}
   * does and there are no choices. True also where it nests too deep to be looked at.
   */
  static boolean isError(byte[] buffer, int offset, int length) {
    @Nullable JsonNode root = tree(new String(buffer, offset, length, StandardCharsets.UTF_8));
    if (root == null
        || Stream.of("/error", "/x_groq/error", "/response/error")
            .anyMatch(path -> isSaid(root.at(path)))) {
      return true;
    }
    return !root.has("choices")
        && Stream.of(root.path("message"), root.path("detail"))
            .anyMatch(said -> !said.isObject() && isSaid(said));
  }

  private static boolean isSaid(JsonNode node) {
    return node.isTextual() ? !node.textValue().isEmpty() : !node.isEmpty();
  }

  /** The message in JSON of any of the known forms, else the data's beginning; one line. */
  static String reported(byte[] buffer, int offset, int length) {
    String text = new String(buffer, offset, length, StandardCharsets.UTF_8);
    @Nullable String message = message(text);
    return oneLine(message == null ? text.substring(0, Math.min(text.length(), MAX_RAW)) : message);
  }

  /**
   * The first of {@code error.message}, {@code error} as text, {@code x_groq.error}, {@code
   * response.error}, {@code message}, {@code detail} as text, FastAPI's {@code detail[].msg}; null
   * when there is none.
   */
  private static @Nullable String message(String json) {
    @Nullable JsonNode root = tree(json);
    return root == null
        ? null
        : Stream.of("/error", "/x_groq/error", "/response/error", "/message", "/detail")
            .map(path -> text(root.at(path)))
            .filter(Objects::nonNull)
            .findFirst()
            .orElse(null);
  }

  private static @Nullable JsonNode tree(String json) {
    if (json.length() > MAX_JSON) {
      return null;
    }
    try {
      return JSON.readTree(json);
    } catch (JsonProcessingException notJson) {
      return null;
    }
  }

  /** Whether all of it is visible ASCII, as with a reason to finish: one of each answer. */
  private static boolean isAWord(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) <= ' ' || text.charAt(i) >= 0x7f) {
        return false;
      }
    }
    return true;
  }

  /** White space, and control characters of any kind, become single spaces. */
  private static String oneLine(String text) {
    if (isAWord(text)) {
      return text;
    }
    return NOT_SHOWN.matcher(text).replaceAll(" ").strip();
  }

  private static @Nullable String text(JsonNode node) {
    if (node.isTextual()) {
      return node.textValue().isBlank() ? null : node.textValue();
    }
    if (node.isArray()) {
      return node.isEmpty() ? null : text(node.get(0));
    }
    if (!node.isObject()) {
      return null;
    }
    for (String key : new String[] {"message", "msg", "detail", "error"}) {
      @Nullable String found = text(node.path(key));
      if (found != null) {
        return key.equals("msg") ? found + location(node.path("loc")) : found;
      }
    }
    return node.isEmpty() ? null : node.toString();
  }

  /** FastAPI names the rejected field apart from the message. */
  private static String location(JsonNode path) {
    List<String> names = new ArrayList<>();
    path.forEach(name -> names.add(name.asText()));
    return names.isEmpty() ? "" : " (" + String.join(".", names) + ")";
  }
}
