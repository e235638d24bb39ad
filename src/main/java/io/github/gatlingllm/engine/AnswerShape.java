package io.github.gatlingllm.engine;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The required form of an answer: free text, JSON, or a tool call with JSON as arguments. The JSON
 * is always {@link #JSON}, whatever the schema.
 *
 * @param tool name of the tool to call; null for none
 */
record AnswerShape(boolean isJson, @Nullable String tool) {
  static final AnswerShape FREE_TEXT = new AnswerShape(false, null);

  static final String JSON = "{\"answer\":\"The cat sat on the mat\",\"score\":0.5}";

  /**
   * The form that a chat request requires by {@code tool_choice}, else by {@code response_format}.
   * A tool is called only if {@code tool_choice} is {@code required}, which calls the first one, or
   * names a tool: an engine with seeded answers cannot choose by itself.
   *
   * @throws Refusal 400 if either is invalid
   */
  static AnswerShape of(CompletionRequest.Parameters parameters) throws Refusal {
    String tool = called(parameters.value("tool_choice"), tools(parameters.value("tools")));
    return tool != null
        ? new AnswerShape(true, tool)
        : new AnswerShape(isJson(parameters.value("response_format")), null);
  }

  private static List<String> tools(JsonNode tools) throws Refusal {
    if (!tools.isMissingNode() && !tools.isNull() && !tools.isArray()) {
      throw Refusal.badRequest("tools", "tools are wrong; expected an array of functions");
    }
    List<String> names = new ArrayList<>();
    for (JsonNode tool : tools) {
      String name = tool.at("/function/name").asText();
      if (name.isEmpty()) {
        throw Refusal.badRequest("tools", "A tool has no function.name; expected a function");
      }
      names.add(name);
    }
    return names;
  }

  private static @Nullable String called(JsonNode choice, List<String> tools) throws Refusal {
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
        .filter(tool -> required || tool.equals(named))
        .findFirst()
        .orElseThrow(
            () ->
                Refusal.badRequest(
                    "tool_choice", "tool_choice calls a function that is not among the tools"));
  }

  private static boolean isJson(JsonNode format) throws Refusal {
    String type = format.path("type").asText();
    if (format.isMissingNode() || format.isNull() || type.equals("text")) {
      return false;
    }
    if (type.equals("json_object")
        || (type.equals("json_schema") && format.at("/json_schema/schema").isObject())) {
      return true;
    }
    throw Refusal.badRequest(
        "response_format",
        "response_format is wrong; expected type text, json_object, or json_schema with a schema");
  }
}
