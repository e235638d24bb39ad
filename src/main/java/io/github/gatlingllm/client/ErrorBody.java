package io.github.gatlingllm.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.TextNode;
import io.github.gatlingllm.client.Api.AddedField;
import io.github.gatlingllm.figures.metric.Sentence;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The body of a failed request, or an event with an error, in the forms that servers use. */
final class ErrorBody {

  private static final ObjectMapper JSON = new ObjectMapper(ChunkParser.JSON.copy());

  private static final int MAX_RAW = 4096;

  /** A longer text is not an error object: its tree could be a hundred times as large. */
  private static final int MAX_JSON = 256 * 1024;

  private static final int MAX_RETRY_AFTER = 40;

  private static final Pattern TITLE =
      Pattern.compile("<title[^>]*>(.*?)</title>", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

  /** The request, as FastAPI repeats it beside the message. */
  private static final Pattern REPEATED = Pattern.compile("(?s)['\"]input['\"]: ?\\{.*");

  /** 429 and its names, at the beginning of a code or text. */
  private static final Pattern RATE_LIMIT =
      Pattern.compile(
          "429\\b|.*rate.?limit|too.?many.?requests|.*quota|resource.?(has been"
              + " )?exhausted|throttl",
          Pattern.CASE_INSENSITIVE);

  /**
   * What servers state of a prompt, alone or with its answer, that is longer than their context.
   */
  private static final Pattern CONTEXT =
      Pattern.compile(
          "context.?(length|size|window|limit)|maximum (model|input|sequence) len|max_model_len"
              + "|prompt is too long|input token count .*exceeds|`inputs` (tokens|must have less)",
          Pattern.CASE_INSENSITIVE);

  /** Codes and types without a meaning: absent ones, and those of any event with an error. */
  private static final Set<String> NO_KINDS =
      Set.of("", "null", "None", "error", "failed", "response.failed");

  private final String text;
  private final @Nullable JsonNode root;

  ErrorBody(byte[] buffer, int offset, int length) {
    this(new String(buffer, offset, length, StandardCharsets.UTF_8));
  }

  private ErrorBody(String text) {
    this.text = text;
    root = tree(text);
  }

  /**
   * The line for a response whose status is not 2xx: {@code HTTP 429: <message>; retry after 20}. A
   * body that rejects an {@link AddedField} adds the setting.
   */
  String responseLine(
      int status,
      @Nullable String contentType,
      @Nullable String retryAfter,
      Secrets secrets,
      GenerationRequest request) {
    String retry = retryAfter == null ? "" : secrets.line(retryAfter, MAX_RETRY_AFTER);
    boolean mayReject = status == 400 || status == 422;
    String remedy = mayReject ? AddedField.remedy(stated(), request) : "";
    int length = Secrets.MAX_LINE - Sentence.text("http", status, "", retry, remedy).length();
    String line = secrets.line(message(contentType), length);
    return Sentence.text("http", status, line, retry, remedy);
  }

  private String message(@Nullable String contentType) {
    if (text.isBlank()) {
      return Sentence.text("unread", "empty", null);
    }
    boolean html = contentType != null && contentType.toLowerCase(Locale.ROOT).contains("html");
    if (html || text.stripLeading().startsWith("<")) {
      Matcher title = TITLE.matcher(text);
      return title.find() && !title.group(1).isBlank()
          ? title.group(1)
          : Sentence.text("unread", "page", null);
    }
    return Objects.requireNonNullElse(message(root), text);
  }

  boolean isError() {
    if (root == null
        || Stream.of("/error", "/x_groq/error", "/response/error")
            .anyMatch(path -> isNotEmpty(root.at(path)))) {
      return true;
    }
    return !root.has("choices")
        && Stream.of(root.path("message"), root.path("detail"))
            .anyMatch(node -> !node.isObject() && isNotEmpty(node));
  }

  private static boolean isNotEmpty(JsonNode node) {
    return node.isTextual() ? !node.textValue().isEmpty() : !node.isEmpty();
  }

  /** The message in JSON of any known form, else the beginning of the data; one line. */
  String line() {
    @Nullable String message = message(root);
    return Secrets.oneLine(
        message == null
            ? text.substring(0, Math.min(text.length(), MAX_RAW))
            : details(root, message));
  }

  /** Whether code, type or status of the error, or the text of one without them, state 429. */
  boolean isRateLimit() {
    if (root == null) {
      return false;
    }
    List<String> kinds = kinds(root);
    return kinds.isEmpty()
        ? RATE_LIMIT.matcher(Objects.requireNonNullElse(message(root), "")).lookingAt()
        : kinds.stream().anyMatch(kind -> RATE_LIMIT.matcher(kind).lookingAt());
  }

  private static List<String> kinds(JsonNode root) {
    return Stream.of("/error", "/error/0", "/x_groq/error", "/response/error", "")
        .map(root::at)
        .flatMap(error -> Stream.of("code", "type", "status").map(error::path))
        .map(JsonNode::asText)
        .filter(kind -> !NO_KINDS.contains(kind))
        .distinct()
        .toList();
  }

  /** Whether a refusal, or an error in an answer, is about the context length. */
  static boolean isContextExceeded(String text) {
    return CONTEXT.matcher(new ErrorBody(text).stated()).find();
  }

  /** Code, type and the upstream's own words, as far as the message does not have them. */
  private static String details(JsonNode root, String message) {
    String kinds =
        kinds(root).stream()
            .filter(kind -> !message.contains(kind))
            .collect(Collectors.joining(" "));
    JsonNode raw = root.at("/error/metadata/raw");
    String cause = raw.isContainerNode() ? raw.toString() : raw.asText();
    String words = Objects.requireNonNullElse(message(tree(cause)), cause);
    return message
        + (kinds.isEmpty() ? "" : " (" + kinds + ")")
        + (words.isBlank() || message.contains(words) ? "" : ": " + words);
  }

  private static @Nullable String message(@Nullable JsonNode root) {
    return root == null
        ? null
        : Stream.of("/error", "/x_groq/error", "/response/error", "/message", "/detail")
            .map(path -> text(root.at(path)))
            .filter(Objects::nonNull)
            .findFirst()
            .orElse(null);
  }

  /** All that an error states, without the parts of the request that it repeats. */
  private String stated() {
    StringBuilder all = new StringBuilder();
    addStated(root == null ? TextNode.valueOf(text) : root, all);
    return all.toString();
  }

  private static void addStated(JsonNode node, StringBuilder all) {
    if (node.isValueNode()) {
      all.append(REPEATED.matcher(node.asText()).replaceFirst("")).append(' ');
    }
    if (node.isArray()) {
      node.forEach(element -> addStated(element, all));
    }
    node.properties().stream()
        .filter(field -> !field.getKey().equals("input"))
        .forEach(field -> addStated(field.getValue(), all));
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

  /** FastAPI names the rejected field beside the message. */
  private static String location(JsonNode path) {
    List<String> names = new ArrayList<>();
    path.forEach(name -> names.add(name.asText()));
    return names.isEmpty() ? "" : " (" + String.join(".", names) + ")";
  }
}
