package io.github.gatlingllm.engine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.client.Api;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A parsed request for generated text. Sampling parameters (temperature, top_p, penalties, …) are
 * accepted and have no effect, as answers are drawn from a seed; nor has a stop string.
 *
 * @param maxTokens null where the context length is the only limit
 * @param minTokens tokens before which the answer's own length does not end it
 * @param priority lower leaves the queue first
 * @param isJson whether the answer is {@link #JSON}, as its text or the arguments of a call
 * @param tool the function that the answer calls; null for none
 * @param ignoreEos whether only {@code maxTokens} or the context ends the answer
 */
record CompletionRequest(
    Api api,
    @Nullable String model,
    Prompt prompt,
    @Nullable Integer maxTokens,
    int minTokens,
    boolean ignoreEos,
    boolean stream,
    boolean includeUsage,
    int choices,
    boolean isJson,
    @Nullable String tool,
    @Nullable Integer seed,
    int priority) {
  static final String JSON = "{\"answer\":\"The cat sat on the mat\",\"score\":0.5}";

  private static final int MAX_CHOICES = 128;
  private static final List<String> LIMITS =
      List.of("max_completion_tokens", "max_output_tokens", "max_tokens");

  /** Where the APIs name the format of an answer. */
  private static final List<String> FORMATS =
      List.of("/response_format", "/text/format", "/output_config/format");

  static CompletionRequest parse(Api api, byte[] body, ObjectMapper mapper) throws Refusal {
    ObjectNode json = object(body, mapper);
    Parameters parameters = new Parameters(json);
    int choices = parameters.integerOr("n", 1, 1);
    if (choices > MAX_CHOICES) {
      throw Refusal.badRequest("n", "n is " + choices + "; expected 1 to " + MAX_CHOICES);
    }
    if (choices > 1 && api.terminalEvent() != null) {
      throw Refusal.badRequest("n", "n is " + choices + "; this API gives one answer, omit n");
    }
    Prompt prompt =
        api.takesMessages() ? Prompt.ofMessages(json) : Prompt.ofText(parameters.value("prompt"));
    String tool = api.takesMessages() ? called(json) : null;
    boolean isJson = tool != null || (api.takesMessages() && requiresJson(json));
    Integer maxTokens = null;
    for (String name : LIMITS) {
      maxTokens = maxTokens == null ? parameters.integer(name, 1) : maxTokens;
    }
    if (api.is(Api.Trait.REQUIRES_LIMIT) && maxTokens == null) {
      throw Refusal.badRequest("max_tokens", "max_tokens: Field required");
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
    return new CompletionRequest(
        api,
        parameters.text("model"),
        prompt,
        maxTokens,
        minTokens,
        parameters.flag("ignore_eos"),
        stream,
        new Parameters(streamOptions).flag("include_usage"),
        choices,
        isJson,
        tool,
        parameters.integer("seed", Integer.MIN_VALUE),
        parameters.integerOr("priority", 0, Integer.MIN_VALUE));
  }

  static ObjectNode object(byte[] body, ObjectMapper mapper) throws Refusal {
    try {
      if (mapper.readTree(body) instanceof ObjectNode json) {
        return json;
      }
    } catch (IOException e) {
      throw Refusal.badRequest(null, "Invalid JSON in the body; expected one JSON object");
    }
    throw Refusal.badRequest(null, "The body is not a JSON object; expected one JSON object");
  }

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
              "an integer" + bound);
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
  }

  private static List<String> tools(JsonNode tools) throws Refusal {
    List<String> names = new ArrayList<>();
    for (JsonNode tool : tools) {
      String name = nameOf(tool);
      if (name.isEmpty()) {
        throw Refusal.badRequest("tools", "A tool has no name; expected a function with one");
      }
      names.add(name);
    }
    return names;
  }

  /** Chat has it in {@code function}, the other APIs beside the type. */
  private static String nameOf(JsonNode tool) {
    return tool.path("function").path("name").asText(tool.path("name").asText());
  }

  /**
   * The function that {@code tool_choice} requires. {@code required} calls the first tool: an
   * engine with seeded answers cannot choose by itself.
   */
  private static @Nullable String called(JsonNode request) throws Refusal {
    JsonNode choice = request.path("tool_choice");
    List<String> tools = tools(request.path("tools"));
    String named = nameOf(choice);
    String word = choice.path("type").asText(choice.asText(""));
    boolean any = named.isEmpty() && (word.equals("required") || word.equals("any"));
    if (!any && named.isEmpty()) {
      if (choice.isNull() || List.of("", "auto", "none").contains(word)) {
        return null;
      }
      throw Refusal.badRequest(
          "tool_choice", "tool_choice is wrong; expected none, auto, required or a function");
    }
    return tools.stream()
        .filter(tool -> any || tool.equals(named))
        .findFirst()
        .orElseThrow(
            () ->
                Refusal.badRequest(
                    "tool_choice", "tool_choice calls a function that is not among the tools"));
  }

  private static boolean requiresJson(JsonNode request) throws Refusal {
    for (String place : FORMATS) {
      JsonNode format = request.at(place);
      String type = format.path("type").asText("text");
      boolean hasSchema = format.has("schema") || format.path("json_schema").has("schema");
      if (type.equals("json_object") || (type.equals("json_schema") && hasSchema)) {
        return true;
      }
      if (!type.equals("text")) {
        throw Refusal.badRequest(
            "response_format",
            "response_format is wrong; expected type text, json_object, or json_schema with a"
                + " schema");
      }
    }
    return false;
  }
}
