package io.github.gatlingllm.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** OpenAI responses: items in, items out, streamed as typed events. */
final class ResponsesApi extends Api {

  ResponsesApi() {
    super("responses", "/responses", "input", "response.completed", Trait.MESSAGES);
  }

  @Override
  void translate(ObjectNode body) {
    ArrayNode items = JsonNodeFactory.instance.arrayNode();
    for (JsonNode message : body.path("messages")) {
      if (message.has("tool_call_id")) {
        items
            .addObject()
            .put("type", "function_call_output")
            .put("call_id", message.path("tool_call_id").asText())
            .put("output", MessagesApi.text(message.path("content")));
        continue;
      }
      if (isNotEmpty(message.path("content"))) {
        ObjectNode item = items.addObject();
        item.set("role", message.path("role"));
        item.set("content", responsesContent(message.path("content")));
      }
      for (JsonNode call : message.path("tool_calls")) {
        items
            .addObject()
            .put("type", "function_call")
            .put("call_id", call.path("id").asText())
            .put("name", call.at("/function/name").asText())
            .put("arguments", call.at("/function/arguments").asText());
      }
    }
    body.remove("messages");
    body.set("input", items);
    MessagesApi.rename(body, "max_tokens", "max_output_tokens");
    if (body.path("tools") instanceof ArrayNode tools) {
      ArrayNode flat = body.putArray("tools");
      tools.forEach(tool -> flat.add(flattened(tool)));
    }
    if (body.path("tool_choice").isObject()) {
      body.set("tool_choice", flattened(body.path("tool_choice")));
    }
    if (body.remove("response_format") instanceof ObjectNode format) {
      ObjectNode translated = body.putObject("text").putObject("format");
      translated.set("type", format.path("type"));
      if (format.path("json_schema") instanceof ObjectNode schema) {
        translated.setAll(schema);
      }
    }
  }

  private static JsonNode responsesContent(JsonNode content) {
    if (!content.isArray()) {
      return content;
    }
    ArrayNode parts = JsonNodeFactory.instance.arrayNode();
    for (JsonNode part : content) {
      switch (part.path("type").asText()) {
        case "text" -> parts.addObject().put("type", "input_text").set("text", part.path("text"));
        case "image_url" ->
            parts
                .addObject()
                .put("type", "input_image")
                .set("image_url", part.at("/image_url/url"));
        default -> parts.add(part);
      }
    }
    return parts;
  }

  /** The fields of {@code function} moved beside {@code type}. */
  private static JsonNode flattened(JsonNode tool) {
    if (!(tool.path("function") instanceof ObjectNode function)) {
      return tool;
    }
    ObjectNode flat = JsonNodeFactory.instance.objectNode();
    flat.set("type", tool.path("type"));
    return flat.setAll(function);
  }

  private static boolean isNotEmpty(JsonNode content) {
    return content.isTextual() ? !content.asText().isEmpty() : !content.isEmpty();
  }
}
