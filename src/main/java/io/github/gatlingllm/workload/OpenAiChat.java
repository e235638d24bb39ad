package io.github.gatlingllm.workload;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.wire.GenerationRequest.Message;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Chats in OpenAI's form, one per line: fine-tuning examples ({@code {"messages": […]}}) or lines
 * of its batch API ({@code {"custom_id": …, "body": {"messages": […]}}}). Content may be text or
 * parts, such as images.
 *
 * <p>Used are {@code messages} (with their {@code role}, {@code content}, {@code tool_calls} and
 * {@code tool_call_id}), {@code tools}, and {@code max_tokens} or {@code max_completion_tokens}.
 * Model, sampling and the like are those of the request under test.
 */
final class OpenAiChat implements DialogReader {

  @Override
  public Dialog dialog(List<JsonNode> entries, long key) {
    JsonNode entry = entries.get(0);
    JsonNode chat = entry.path("body").isObject() ? entry.path("body") : entry;
    if (!chat.path("messages").isArray()) {
      throw new IllegalArgumentException(
          "expected an object with a list \"messages\", or with it in \"body\"");
    }
    List<Message> messages = new ArrayList<>();
    for (JsonNode message : chat.path("messages")) {
      messages.add(message(message));
    }
    JsonNode limit = chat.has("max_tokens") ? chat : null;
    return new Dialog(
        messages,
        array(chat, "tools"),
        null,
        limit == null ? length(chat, "max_completion_tokens") : length(limit, "max_tokens"),
        null);
  }

  private static Message message(JsonNode message) {
    JsonNode content = message.path("content");
    boolean absent = content.isNull() || content.isMissingNode();
    if (!absent && !content.isTextual() && !content.isArray()) {
      throw new IllegalArgumentException("expected a text or a list of parts as \"content\"");
    }
    String toolCalls = array(message, "tool_calls");
    if (absent && toolCalls == null) {
      throw new IllegalArgumentException("a message has neither \"content\" nor \"tool_calls\"");
    }
    return new Message(
        DialogReader.text(message, "role"),
        content.textValue(),
        content.isArray() ? content.toString() : null,
        toolCalls,
        message.path("tool_call_id").textValue());
  }

  private static @Nullable String array(JsonNode object, String key) {
    JsonNode value = object.path(key);
    if (value.isMissingNode() || value.isNull()) {
      return null;
    }
    if (!value.isArray()) {
      throw new IllegalArgumentException("expected a list as \"" + key + "\"");
    }
    return value.toString();
  }

  private static @Nullable Integer length(JsonNode object, String key) {
    JsonNode value = object.path(key);
    if (value.isMissingNode() || value.isNull()) {
      return null;
    }
    if (!value.isInt() || value.intValue() < 1) {
      throw new IllegalArgumentException(
          "\"" + key + "\" is " + value + "; expected a whole number ≥ 1");
    }
    return value.intValue();
  }
}
