package io.github.gatlingllm.engine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * Translates requests of the {@code responses} and {@code messages} APIs into a chat request, so
 * that the engine reads one form.
 */
final class ChatForm {

  private ChatForm() {}

  /**
   * Translates a request of OpenAI's {@code responses}.
   *
   * @throws Refusal 400 where input is missing
   */
  static JsonNode ofResponses(ObjectNode request) throws Refusal {
    ObjectNode chat = request.deepCopy();
    ArrayNode messages = chat.putArray("messages");
    if (request.path("instructions").isTextual()) {
      message(messages, "system", request.path("instructions"));
    }
    JsonNode input = request.path("input");
    if (input.isTextual()) {
      message(messages, "user", input);
    } else if (!input.isArray() || input.isEmpty()) {
      throw Refusal.badRequest("input", "input is missing; expected a text or an array of items");
    }
    for (JsonNode item : input) {
      switch (item.path("type").asText("message")) {
        case "function_call" ->
            call(
                message(messages, "assistant", JsonNodeFactory.instance.nullNode()),
                item.path("call_id").asText(),
                item.path("name").asText(),
                item.path("arguments").asText());
        case "function_call_output" ->
            message(messages, "tool", item.path("output"))
                .set("tool_call_id", item.path("call_id"));
        default -> message(messages, item.path("role").asText(), parts(item.path("content")));
      }
    }
    chat.set("max_tokens", request.path("max_output_tokens"));
    ArrayNode tools = chat.putArray("tools");
    request.path("tools").forEach(tool -> tools.addObject().set("function", tool));
    JsonNode choice = request.path("tool_choice");
    if (choice.isObject()) {
      chat.putObject("tool_choice").putObject("function").set("name", choice.path("name"));
    }
    format(chat, request.at("/text/format"));
    return chat;
  }

  /**
   * Translates a request of Anthropic's {@code messages}.
   *
   * @throws Refusal 400 where {@code max_tokens} is missing
   */
  static JsonNode ofMessages(ObjectNode request) throws Refusal {
    if (!request.path("max_tokens").isInt()) {
      throw Refusal.badRequest("max_tokens", "max_tokens: Field required");
    }
    ObjectNode chat = request.deepCopy();
    ArrayNode messages = chat.putArray("messages");
    if (request.has("system")) {
      message(messages, "system", parts(request.path("system")));
    }
    for (JsonNode message : request.path("messages")) {
      blocks(messages, message.path("role").asText(), message.path("content"));
    }
    chat.set("stop", request.path("stop_sequences"));
    ArrayNode tools = chat.putArray("tools");
    for (JsonNode tool : request.path("tools")) {
      tools
          .addObject()
          .putObject("function")
          .<ObjectNode>set("name", tool.path("name"))
          .set("parameters", tool.path("input_schema"));
    }
    JsonNode choice = request.path("tool_choice");
    switch (choice.path("type").asText()) {
      case "any" -> chat.put("tool_choice", "required");
      case "tool" ->
          chat.putObject("tool_choice").putObject("function").set("name", choice.path("name"));
      default -> chat.put("tool_choice", "auto");
    }
    format(chat, request.at("/output_config/format"));
    return chat;
  }

  /** Adds a message with its tool calls; each tool result in it becomes a message of its own. */
  private static void blocks(ArrayNode messages, String role, JsonNode content) {
    if (content.isTextual()) {
      message(messages, role, content);
      return;
    }
    ArrayNode contents = JsonNodeFactory.instance.arrayNode();
    ArrayNode calls = JsonNodeFactory.instance.arrayNode();
    for (JsonNode block : content) {
      switch (block.path("type").asText()) {
        case "tool_result" ->
            message(messages, "tool", parts(block.path("content")))
                .set("tool_call_id", block.path("tool_use_id"));
        case "tool_use" -> calls.add(block);
        default -> contents.add(block);
      }
    }
    if (contents.isEmpty() && calls.isEmpty()) {
      return;
    }
    ObjectNode message =
        message(
            messages,
            role,
            contents.isEmpty() ? JsonNodeFactory.instance.nullNode() : parts(contents));
    for (JsonNode use : calls) {
      call(
          message,
          use.path("id").asText(),
          use.path("name").asText(),
          use.path("input").toString());
    }
  }

  private static ObjectNode message(ArrayNode messages, String role, JsonNode content) {
    ObjectNode message = messages.addObject().put("role", role);
    message.set("content", content);
    return message;
  }

  private static void call(ObjectNode message, String id, String name, String arguments) {
    message
        .withArrayProperty("tool_calls")
        .addObject()
        .put("id", id)
        .putObject("function")
        .put("name", name)
        .put("arguments", arguments);
  }

  /** Texts and images with the field names of chat. */
  private static JsonNode parts(JsonNode content) {
    if (!content.isArray()) {
      return content;
    }
    ArrayNode parts = JsonNodeFactory.instance.arrayNode();
    for (JsonNode part : content) {
      if (part.path("type").asText().contains("image")) {
        JsonNode url = part.has("source") ? part.path("source") : part.path("image_url");
        parts
            .addObject()
            .put("type", "image_url")
            .putObject("image_url")
            .put("url", url.isTextual() ? url.textValue() : url.toString());
      } else {
        parts.addObject().put("type", "text").set("text", part.path("text"));
      }
    }
    return parts;
  }

  /** The response format; unlike chat, these APIs keep the schema beside its type. */
  private static void format(ObjectNode chat, JsonNode format) {
    if (format.isObject()) {
      ObjectNode translated = chat.putObject("response_format");
      translated.set("type", format.path("type"));
      translated.putObject("json_schema").set("schema", format.path("schema"));
    }
  }
}
