package io.github.gatlingllm.wire;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a server says is wrong, in the forms that servers use. A cold path: builds a tree. */
final class ServerMessage {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Of data that is no message only the beginning is of use. */
  private static final int MAX_RAW = 4096;

  private ServerMessage() {}

  /** The message in JSON of any of the known forms, else the data's beginning; one line. */
  static String in(byte[] buffer, int offset, int length) {
    @Nullable JsonNode root = tree(buffer, offset, length);
    @Nullable String message = root == null ? null : of(root);
    return message != null
        ? oneLine(message)
        : oneLine(new String(buffer, offset, Math.min(length, MAX_RAW), StandardCharsets.UTF_8));
  }

  /**
   * The first of {@code error.message}, {@code error} as text, {@code x_groq.error}, {@code
   * message}, {@code detail} as text, FastAPI's {@code detail[].msg}; null when there is none.
   */
  static @Nullable String of(JsonNode root) {
    for (String key : new String[] {"error", "x_groq", "message", "detail"}) {
      @Nullable String found =
          text(key.equals("x_groq") ? root.at("/x_groq/error") : root.path(key));
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  static @Nullable JsonNode tree(byte[] buffer, int offset, int length) {
    try {
      return JSON.readTree(buffer, offset, length);
    } catch (JacksonException notJson) {
      return null;
    } catch (IOException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** White space and control characters become single spaces. */
  static String oneLine(String text) {
    return text.replaceAll("[\\s\\p{Cntrl}]+", " ").strip();
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
