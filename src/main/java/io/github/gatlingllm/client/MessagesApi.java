package io.github.gatlingllm.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Anthropic messages: messages in, content blocks out, streamed as typed events. */
final class MessagesApi extends Api {

  private static final ObjectMapper JSON =
      new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  private static final Pattern DATA_URL = Pattern.compile("data:([^;,]+);base64,(.*)");

  MessagesApi() {
    super(
        "messages",
        "/messages",
        "messages",
        "message_stop",
        Trait.MESSAGES,
        Trait.REQUIRES_LIMIT,
        Trait.IGNORES_PINNING);
  }

  @Override
  public Map<String, String> headers() {
    return Map.of("anthropic-version", "2023-06-01", "x-api-key", "");
  }

  @Override
  public String provider() {
    return "anthropic";
  }

  @Override
  void check(ObjectNode body) {
    if (!body.path(MAX_TOKENS).isInt()) {
      throw new IllegalArgumentException(
          "messages request has no maxTokens, which that API requires; set maxTokens");
    }
    super.check(body);
  }

  @Override
  void translate(ObjectNode body) {
    ArrayNode system = JsonNodeFactory.instance.arrayNode();
    ArrayNode messages = JsonNodeFactory.instance.arrayNode();
    for (JsonNode message : body.path("messages")) {
      if (message.path("role").asText().equals("system")) {
        blocks(message.path("content")).forEach(system::add);
      } else {
        add(messages, message);
      }
    }
    body.set("messages", messages);
    if (!system.isEmpty()) {
      body.set("system", system.size() == 1 ? system.get(0).path("text") : system);
    }
    rename(body, "stop", "stop_sequences");
    if (body.path("tools") instanceof ArrayNode tools) {
      ArrayNode translated = body.putArray("tools");
      tools.forEach(tool -> translated.add(messagesTool(tool)));
    }
    JsonNode choice = body.path("tool_choice");
    if (choice.isTextual()) {
      String word = choice.asText();
      body.putObject("tool_choice").put("type", word.equals("required") ? "any" : word);
    } else if (choice.path("function").isObject()) {
      body.putObject("tool_choice").put("type", "tool").set("name", choice.at("/function/name"));
    }
    if (body.remove("response_format") instanceof ObjectNode format) {
      ObjectNode translated = body.putObject("output_config").putObject("format");
      translated.set("type", format.path("type"));
      translated.set("schema", format.at("/json_schema/schema"));
    }
  }

  private static void add(ArrayNode messages, JsonNode message) {
    if (message.has("tool_call_id")) {
      ArrayNode last =
          messages.path(messages.size() - 1).path("content") instanceof ArrayNode content
                  && content.path(0).path("type").asText().equals("tool_result")
              ? content
              : messages.addObject().put("role", "user").putArray("content");
      last.addObject()
          .put("type", "tool_result")
          .put("tool_use_id", message.path("tool_call_id").asText())
          .put("content", text(message.path("content")));
      return;
    }
    ObjectNode translated = messages.addObject();
    translated.set("role", message.path("role"));
    if (message.path("content").isTextual() && !message.has("tool_calls")) {
      translated.set("content", message.path("content"));
      return;
    }
    ArrayNode content = translated.putArray("content");
    blocks(message.path("content")).forEach(content::add);
    for (JsonNode call : message.path("tool_calls")) {
      content
          .addObject()
          .put("type", "tool_use")
          .put("id", call.path("id").asText())
          .put("name", call.at("/function/name").asText())
          .set("input", arguments(call.at("/function/arguments").asText()));
    }
  }

  /** Content as blocks; a text that is not empty becomes one block. */
  private static ArrayNode blocks(JsonNode content) {
    ArrayNode blocks = JsonNodeFactory.instance.arrayNode();
    if (content.isTextual() && !content.asText().isEmpty()) {
      blocks.addObject().put("type", "text").set("text", content);
    }
    for (JsonNode part : content) {
      if (part.path("type").asText().equals("image_url")) {
        blocks
            .addObject()
            .put("type", "image")
            .set("source", source(part.at("/image_url/url").asText()));
      } else {
        blocks.add(part);
      }
    }
    return blocks;
  }

  private static ObjectNode source(String url) {
    ObjectNode source = JsonNodeFactory.instance.objectNode();
    Matcher data = DATA_URL.matcher(url);
    return data.matches()
        ? source.put("type", "base64").put("media_type", data.group(1)).put("data", data.group(2))
        : source.put("type", "url").put("url", url);
  }

  private static JsonNode messagesTool(JsonNode tool) {
    if (!(tool.path("function") instanceof ObjectNode function)) {
      return tool;
    }
    ObjectNode translated = function.deepCopy();
    JsonNode schema = translated.remove("parameters");
    return translated.set(
        "input_schema",
        schema == null ? JsonNodeFactory.instance.objectNode().put("type", "object") : schema);
  }

  /** Arguments as a JSON object; empty where the model wrote none, as the API takes no text. */
  private static JsonNode arguments(String text) {
    JsonNode parsed = parsed(text);
    return parsed.isObject() ? parsed : JsonNodeFactory.instance.objectNode();
  }

  static JsonNode parsed(String text) {
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException notJson) {
      return MissingNode.getInstance();
    }
  }

  static String text(JsonNode content) {
    return content.isTextual() ? content.asText() : content.toString();
  }

  static void rename(ObjectNode body, String before, String after) {
    JsonNode value = body.remove(before);
    if (value != null) {
      body.set(after, value);
    }
  }
}
