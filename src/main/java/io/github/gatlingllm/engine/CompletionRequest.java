package io.github.gatlingllm.engine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.client.Api;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A parsed request for generated text. Sampling parameters (temperature, top_p, penalties, …) are
 * accepted and have no effect, as answers are drawn from a seed.
 *
 * @param maxTokens null where the context length is the only limit
 * @param minTokens tokens before which neither a stop string nor the answer's own length ends it
 * @param ignoreEos whether only {@code maxTokens}, the context or a stop string ends the answer
 * @param continuousUsage whether every chunk carries usage, as with vLLM
 */
record CompletionRequest(
    Api api,
    @Nullable String model,
    Prompt prompt,
    @Nullable Integer maxTokens,
    int minTokens,
    boolean ignoreEos,
    List<String> stop,
    boolean stream,
    boolean includeUsage,
    boolean continuousUsage,
    int choices,
    AnswerShape shape,
    @Nullable Integer seed) {
  private static final int MAX_CHOICES = 128;

  static CompletionRequest parse(Api api, byte[] body, ObjectMapper mapper) throws Refusal {
    Parameters parameters = new Parameters(ChatForm.of(api, object(body, mapper)));
    int choices = parameters.integerOr("n", 1, 1);
    if (choices > MAX_CHOICES) {
      throw Refusal.badRequest("n", "n is " + choices + "; expected 1 to " + MAX_CHOICES);
    }
    if (choices > 1 && api.terminalEvent() != null) {
      throw Refusal.badRequest("n", "n is " + choices + "; this API gives one answer, leave n out");
    }
    if (parameters.integerOr("best_of", choices, 1) != choices) {
      throw Refusal.badRequest("best_of", "best_of must equal n: this engine ranks no choices");
    }
    Prompt prompt =
        api.takesMessages()
            ? Prompt.ofChat(parameters.value("tools"), parameters.value("messages"))
            : Prompt.ofText(parameters.value("prompt"));
    AnswerShape shape = api.takesMessages() ? AnswerShape.of(parameters) : AnswerShape.FREE_TEXT;
    Integer maxTokens = parameters.integer("max_completion_tokens", 1);
    if (maxTokens == null) {
      maxTokens = parameters.integer("max_tokens", 1);
    }
    int minTokens = parameters.integerOr("min_tokens", 0, 0);
    if (maxTokens != null && minTokens > maxTokens) {
      throw Refusal.badRequest(
          "min_tokens", "min_tokens " + minTokens + " is above max_tokens " + maxTokens);
    }
    boolean stream = parameters.flag("stream");
    JsonNode streamOptions = parameters.value("stream_options");
    if (!stream && streamOptions.isObject()) {
      throw Refusal.badRequest("stream_options", "stream_options need stream: true");
    }
    Parameters options = new Parameters(streamOptions);
    boolean includeUsage = options.flag("include_usage");
    return new CompletionRequest(
        api,
        parameters.text("model"),
        prompt,
        maxTokens,
        minTokens,
        parameters.flag("ignore_eos"),
        parameters.texts("stop"),
        stream,
        includeUsage,
        includeUsage && options.flag("continuous_usage_stats"),
        choices,
        shape,
        parameters.integer("seed", Integer.MIN_VALUE));
  }

  static ObjectNode object(byte[] body, ObjectMapper mapper) throws Refusal {
    try {
      if (mapper.readTree(body) instanceof ObjectNode json) {
        return json;
      }
    } catch (IOException e) {
      throw Refusal.badRequest(null, "Invalid JSON in the body; expected one JSON object");
    }
    throw Refusal.badRequest(null, "The body is no JSON object; expected one JSON object");
  }

  /** Typed access to the parameters of a request; a JSON null counts as absent. */
  static final class Parameters {
    private final JsonNode json;

    Parameters(JsonNode json) {
      this.json = json;
    }

    JsonNode value(String name) {
      return json.path(name);
    }

    private @Nullable JsonNode read(String name, Predicate<JsonNode> form, String expected)
        throws Refusal {
      JsonNode value = value(name);
      if (value.isMissingNode() || value.isNull()) {
        return null;
      }
      if (!form.test(value)) {
        throw Refusal.badRequest(name, name + " is wrong; expected " + expected);
      }
      return value;
    }

    @Nullable Integer integer(String name, int min) throws Refusal {
      String bound = min == Integer.MIN_VALUE ? "" : " of at least " + min;
      JsonNode value =
          read(
              name,
              json -> json.isIntegralNumber() && json.canConvertToInt() && json.intValue() >= min,
              "a whole number" + bound);
      return value == null ? null : (Integer) value.intValue();
    }

    int integerOr(String name, int fallback, int min) throws Refusal {
      Integer value = integer(name, min);
      return value == null ? fallback : value;
    }

    boolean flag(String name) throws Refusal {
      JsonNode value = read(name, JsonNode::isBoolean, "true or false");
      return value != null && value.booleanValue();
    }

    @Nullable String text(String name) throws Refusal {
      JsonNode value = read(name, JsonNode::isTextual, "a text");
      return value == null ? null : value.textValue();
    }

    List<String> texts(String name) throws Refusal {
      JsonNode value =
          read(name, json -> json.isTextual() || areTexts(json), "a text or an array of texts");
      if (value == null) {
        return List.of();
      }
      Stream<JsonNode> each = value.isArray() ? value.valueStream() : Stream.of(value);
      return each.map(JsonNode::textValue).filter(text -> !text.isEmpty()).toList();
    }

    private static boolean areTexts(JsonNode json) {
      return json.isArray() && json.valueStream().allMatch(JsonNode::isTextual);
    }
  }

  /**
   * The required form of an answer: free text, JSON, or a tool call with JSON as arguments. The
   * JSON is always {@link #JSON}, whatever the schema.
   */
  record AnswerShape(boolean isJson, @Nullable String tool) {
    static final AnswerShape FREE_TEXT = new AnswerShape(false, null);

    static final String JSON = "{\"answer\":\"The cat sat on the mat\",\"score\":0.5}";

    /**
     * The form that a chat request requires by {@code tool_choice}, else by {@code
     * response_format}. {@code required} calls the first tool: an engine with seeded answers cannot
     * choose by itself.
     */
    static AnswerShape of(Parameters parameters) throws Refusal {
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
          "response_format is wrong; expected type text, json_object, or json_schema with a"
              + " schema");
    }
  }
}
