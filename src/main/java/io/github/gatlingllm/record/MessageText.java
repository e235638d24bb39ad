package io.github.gatlingllm.record;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;

/** Chat messages as readable text. */
final class MessageText {

  private static final ObjectMapper JSON = new ObjectMapper();

  private MessageText() {}

  /**
   * A paragraph per message, prefixed with its role; text that is not JSON is returned unchanged.
   */
  static String of(String messages) {
    try {
      JsonNode all = JSON.readTree(messages);
      if (!all.isArray()) {
        return messages;
      }
      List<String> paragraphs = new ArrayList<>();
      all.forEach(one -> paragraphs.add(one.path("role").asText("?") + ": " + content(one)));
      return String.join("\n\n", paragraphs);
    } catch (JsonProcessingException e) {
      return messages;
    }
  }

  private static String content(JsonNode message) {
    JsonNode content = message.path("content");
    if (content.isTextual()) {
      return content.textValue();
    }
    List<String> parts = new ArrayList<>();
    for (JsonNode part : content) {
      String type = part.path("type").asText("?");
      parts.add(type.equals("text") ? part.path("text").asText() : "[" + type + "]");
    }
    for (JsonNode call : message.path("tool_calls")) {
      JsonNode function = call.path("function");
      String arguments = function.path("arguments").asText();
      parts.add("[calls " + function.path("name").asText() + "(" + arguments + ")]");
    }
    return String.join("\n", parts);
  }
}
