package io.github.gatlingllm.engine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.client.Api;
import java.io.IOException;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A parsed request for generated text. Sampling parameters (temperature, top_p, penalties, …) are
 * accepted and have no effect, as answers are drawn from a seed.
 *
 * @param api form of the response
 * @param model null where the request names none
 * @param prompt size and identity of the prompt
 * @param maxTokens null where the context length is the only limit
 * @param minTokens tokens before which neither a stop string nor the answer's own length ends it
 * @param ignoreEos whether only {@code maxTokens}, the context or a stop string ends the answer
 * @param includeUsage whether a usage chunk ends the stream
 * @param continuousUsage whether every chunk carries usage, as with vLLM's {@code
 *     continuous_usage_stats}
 * @param choices number of answers to the prompt, the parameter {@code n}; ≥ 1
 * @param shape required form of each answer; free text for completions
 * @param seed null where the request has none
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

  /**
   * Parses a request.
   *
   * @throws Refusal 400 where the body is not JSON, or a parameter is missing or wrong
   */
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

    /** The raw value; a missing node where the parameter is absent. */
    JsonNode value(String name) {
      return json.path(name);
    }

    /** The value, checked; null where the parameter is absent. */
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

    /** One text or an array of them; empty texts are dropped. */
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
}
