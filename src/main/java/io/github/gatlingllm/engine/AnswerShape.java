package io.github.gatlingllm.engine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The required form of an answer: free text, JSON that matches a schema, or a tool call.
 *
 * @param schema JSON schema of the answer, or of the arguments of the tool; null for free text
 * @param tool name of the tool to call; null for none
 */
record AnswerShape(@Nullable JsonNode schema, @Nullable String tool) {
  static final AnswerShape FREE_TEXT = new AnswerShape(null, null);

  /**
   * The form that a chat request requires by {@code tool_choice}, else by {@code response_format}.
   * A tool is called only where {@code tool_choice} is {@code required}, which calls the first one,
   * or names a tool: an engine with seeded answers cannot choose by itself.
   *
   * @throws Refusal 400 where either is invalid, or the schema cannot be satisfied
   */
  static AnswerShape of(CompletionRequest.Parameters parameters) throws Refusal {
    List<AnswerShape> tools = tools(parameters.value("tools"));
    AnswerShape called = called(parameters.value("tool_choice"), tools);
    AnswerShape shape = called != null ? called : format(parameters.value("response_format"));
    if (shape.schema != null) {
      SchemaText.check(shape.schema, called == null ? "response_format" : "tools");
    }
    return shape;
  }

  private static List<AnswerShape> tools(JsonNode tools) throws Refusal {
    if (!tools.isMissingNode() && !tools.isNull() && !tools.isArray()) {
      throw Refusal.badRequest("tools", "tools are wrong; expected an array of functions");
    }
    List<AnswerShape> shapes = new ArrayList<>();
    for (JsonNode tool : tools) {
      JsonNode name = tool.at("/function/name");
      if (!name.isTextual() || name.textValue().isEmpty()) {
        throw Refusal.badRequest("tools", "A tool has no function.name; expected a function");
      }
      JsonNode schema = tool.at("/function/parameters");
      shapes.add(new AnswerShape(schema.isObject() ? schema : anyObject(), name.textValue()));
    }
    return shapes;
  }

  private static @Nullable AnswerShape called(JsonNode choice, List<AnswerShape> tools)
      throws Refusal {
    if (choice.isMissingNode()
        || choice.isNull()
        || choice.asText().equals("auto")
        || choice.asText().equals("none")) {
      return null;
    }
    boolean required = choice.asText().equals("required");
    String named = choice.at("/function/name").textValue();
    if (!required && named == null) {
      throw Refusal.badRequest(
          "tool_choice", "tool_choice is wrong; expected none, auto, required or a function");
    }
    return tools.stream()
        .filter(tool -> required || named.equals(tool.tool()))
        .findFirst()
        .orElseThrow(
            () ->
                Refusal.badRequest(
                    "tool_choice", "tool_choice calls a function that is not among the tools"));
  }

  private static AnswerShape format(JsonNode format) throws Refusal {
    String type = format.path("type").asText();
    if (format.isMissingNode() || format.isNull() || type.equals("text")) {
      return FREE_TEXT;
    }
    if (type.equals("json_object")) {
      return new AnswerShape(sample(), null);
    }
    JsonNode schema = format.at("/json_schema/schema");
    if (type.equals("json_schema") && schema.isObject()) {
      return new AnswerShape(schema, null);
    }
    throw Refusal.badRequest(
        "response_format",
        "response_format is wrong; expected type text, json_object, or json_schema with a schema");
  }

  private static ObjectNode anyObject() {
    return JsonNodeFactory.instance.objectNode().put("type", "object");
  }

  private static ObjectNode sample() {
    ObjectNode schema = anyObject();
    ObjectNode properties = schema.putObject("properties");
    properties.putObject("answer").put("type", "string");
    properties.putObject("score").put("type", "number");
    return schema;
  }
}
