package io.github.gatlingllm.engine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.client.Api;

/**
 * Translates requests of the {@code responses} and {@code messages} APIs into a chat request, so
 * that the engine reads one form.
 */
final class ChatForm {

  private ChatForm() {}

  static ObjectNode of(Api api, ObjectNode request) throws Refusal {
    return switch (api) {
      case RESPONSES -> ofResponses(request);
      case MESSAGES -> ofMessages(request);
      case CHAT, COMPLETIONS, EMBEDDINGS -> request;
    };
  }

  private static ObjectNode ofResponses(ObjectNode request) throws Refusal {
    JsonNode input = request.path("input");
    if (!input.isTextual() && (!input.isArray() || input.isEmpty())) {
      throw Refusal.badRequest("input", "input is missing; expected a text or an array of items");
    }
    ArrayNode messages = JsonNodeFactory.instance.arrayNode();
    if (request.path("instructions").isTextual()) {
      message(messages, "system", request.path("instructions"));
    }
    if (input.isTextual()) {
      message(messages, "user", input);
    }
    for (JsonNode item : input) {
      switch (item.path("type").asText("message")) {
        case "function_call" ->
            call(
                message(messages, "assistant", JsonNodeFactory.instance.nullNode()),
                item,
                item.path("arguments").asText());
        case "function_call_output" -> message(messages, "tool", item.path("output"));
        default -> message(messages, item.path("role").asText(), parts(item.path("content")));
      }
    }
    ObjectNode chat = chat(request, messages, request.at("/text/format"));
    chat.set("max_tokens", request.path("max_output_tokens"));
    request
        .path("tools")
        .forEach(tool -> chat.withArrayProperty("tools").addObject().set("function", tool));
    return chat;
  }

  private static ObjectNode ofMessages(ObjectNode request) throws Refusal {
    if (!request.path("max_tokens").isInt()) {
      throw Refusal.badRequest("max_tokens", "max_tokens: Field required");
    }
    ArrayNode messages = JsonNodeFactory.instance.arrayNode();
    if (request.has("system")) {
      message(messages, "system", parts(request.path("system")));
    }
    for (JsonNode message : request.path("messages")) {
      blocks(messages, message.path("role").asText(), message.path("content"));
    }
    ObjectNode chat = chat(request, messages, request.at("/output_config/format"));
    chat.set("stop", request.path("stop_sequences"));
    for (JsonNode tool : request.path("tools")) {
      chat.withArrayProperty("tools")
          .addObject()
          .putObject("function")
          .<ObjectNode>set("name", tool.path("name"))
          .set("parameters", tool.path("input_schema"));
    }
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
        case "tool_result" -> message(messages, "tool", parts(block.path("content")));
        case "tool_use" -> calls.add(block);
        default -> contents.add(block);
      }
    }
    if (!contents.isEmpty() || !calls.isEmpty()) {
      JsonNode parts = contents.isEmpty() ? JsonNodeFactory.instance.nullNode() : parts(contents);
      ObjectNode message = message(messages, role, parts);
      calls.forEach(use -> call(message, use, use.path("input").toString()));
    }
  }

  private static ObjectNode message(ArrayNode messages, String role, JsonNode content) {
    return messages.addObject().put("role", role).set("content", content);
  }

  private static void call(ObjectNode message, JsonNode call, String arguments) {
    message
        .withArrayProperty("tool_calls")
        .addObject()
        .putObject("function")
        .put("name", call.path("name").asText())
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

  /** The common part; unlike chat, these APIs keep names and schemas beside their type. */
  private static ObjectNode chat(ObjectNode request, ArrayNode messages, JsonNode format) {
    ObjectNode chat = request.deepCopy();
    chat.remove("tools");
    chat.set("messages", messages);
    JsonNode choice = request.path("tool_choice");
    if (choice.has("name")) {
      chat.putObject("tool_choice").putObject("function").set("name", choice.path("name"));
    } else if (choice.isObject()) {
      String type = choice.path("type").asText();
      chat.put("tool_choice", type.equals("any") ? "required" : type);
    }
    if (format.isObject()) {
      ObjectNode translated = chat.putObject("response_format");
      translated.set("type", format.path("type"));
      translated.putObject("json_schema").set("schema", format.path("schema"));
    }
    return chat;
  }
}
