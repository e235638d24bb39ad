package io.github.gatlingllm.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.client.Api.AddedField;
import io.github.gatlingllm.client.Api.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Body of one POST to {@code /v1/chat/completions}, or to the path of another {@link Api}, which
 * translates it.
 *
 * <pre>{@code
 * GenerationRequest.of(Api.CHAT).model("m").message(Message.user("hi")).maxTokens(128).build()
 * }</pre>
 *
 * <p>Accessors return what is sent, extra fields included. Immutable.
 */
public final class GenerationRequest {

  private static final List<String> LIMITS =
      List.of(Api.MAX_TOKENS, Api.MAX_COMPLETION_TOKENS, "max_output_tokens");

  private final Api api;
  private final ObjectNode body;
  private final boolean stream;
  private final String prefix;
  private final ObjectNode fromBody;
  private final int promptChars;
  private @Nullable List<String> promptTexts;
  private final @Nullable Integer maxTokens;

  private GenerationRequest(Api api, ObjectNode body, String prefix, ObjectNode fromBody) {
    this.api = api;
    this.body = body;
    this.prefix = prefix;
    this.fromBody = fromBody;
    this.stream = body.path("stream").asBoolean(false);
    this.promptChars = promptNodes().stream().mapToInt(JsonText::codePoints).sum();
    this.maxTokens = limit(body);
  }

  /** A builder of a streamed request with usage; everything else is unset. */
  public static Builder of(Api api) {
    return new Builder(api);
  }

  public Api api() {
    return api;
  }

  public @Nullable String model() {
    return body.path("model").textValue();
  }

  public boolean stream() {
    return stream;
  }

  /** Limit on output tokens, under any of its names; null when none is sent. */
  public @Nullable Integer maxTokens() {
    return maxTokens;
  }

  /** Number of inputs that each have a result; 0 for an API that generates text. */
  public int inputs() {
    return api.inputs(body);
  }

  /** Number of results that a complete answer has; 0 for an API that generates text. */
  int results() {
    return api.results(body);
  }

  /** Whether a field of that name is sent, also within the options of a stream. */
  boolean has(String field) {
    return body.has(field) || body.path("stream_options").has(field);
  }

  /** Whether the user's own {@code body} has that field. */
  boolean isFromBody(String field) {
    return fromBody.has(field);
  }

  public boolean ignoreEos() {
    return body.path("ignore_eos").asBoolean(false);
  }

  public boolean hasTools() {
    return !body.path("tools").isEmpty();
  }

  public int n() {
    return Math.max(1, body.path("n").asInt(1));
  }

  public byte[] toJson() {
    return JsonText.bytes(body);
  }

  /** To be called before the load for a text that many requests send: it is escaped once. */
  public static void cacheEscaped(String text) {
    JsonText.cache(text);
  }

  /** The messages, or input items, as JSON; null when none are sent. */
  public @Nullable String messagesJson() {
    JsonNode messages = api.input(body);
    return messages.isMissingNode() ? null : messages.toString();
  }

  /** The prompt, or a JSON array of texts to embed; null when neither is sent. */
  public @Nullable String prompt() {
    JsonNode prompt = api.takesMessages() ? body.path("prompt") : api.input(body);
    return prompt.isContainerNode() ? prompt.toString() : prompt.textValue();
  }

  /** The text in front of the prompt, with which the first prompt text begins; empty for none. */
  public String prefix() {
    return prefix;
  }

  /** Characters (code points) of {@link #promptTexts()}. */
  public int promptChars() {
    return promptChars;
  }

  /** The prompt, or the texts of all messages in order, without images and tools. */
  public List<String> promptTexts() {
    List<String> texts = promptTexts;
    if (texts == null) {
      texts = promptNodes().stream().map(JsonNode::textValue).toList();
      promptTexts = texts;
    }
    return texts;
  }

  private static @Nullable Integer limit(ObjectNode body) {
    return LIMITS.stream()
        .map(body::path)
        .filter(JsonNode::isInt)
        .findFirst()
        .map(JsonNode::intValue)
        .orElse(null);
  }

  private List<JsonNode> promptNodes() {
    List<JsonNode> texts = new ArrayList<>(2);
    api.addTexts(body, texts);
    return texts;
  }

  /** Whether {@link #promptTexts} is the complete input: without images, sounds and files. */
  public boolean isTextOnly() {
    for (JsonNode message : api.input(body)) {
      for (JsonNode part : message.path("content")) {
        if (!part.path("text").isTextual()) {
          return false;
        }
      }
    }
    return true;
  }

  /** Builds a request; null leaves a field out. Raw JSON is checked when set. Not thread-safe. */
  public static final class Builder {

    private static final ObjectMapper JSON =
        new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    private final Api api;
    private final ObjectNode body = JsonNodeFactory.instance.objectNode();
    final ArrayNode messages = JsonNodeFactory.instance.arrayNode();
    @Nullable String prompt;
    List<String> inputs = List.of();
    String prefix = "";
    private boolean stream = true;
    private boolean includeUsage = true;
    private boolean eventTokens;
    private @Nullable Integer maxTokens;
    private String maxTokensField = Api.MAX_TOKENS;
    private boolean ignoreEos;
    private Set<AddedField> leftOut = Set.of();
    private final ObjectNode extra = JsonNodeFactory.instance.objectNode();

    private Builder(Api api) {
      this.api = api;
    }

    public Builder model(@Nullable String model) {
      if (model != null) {
        body.put("model", model);
      }
      return this;
    }

    public Builder message(Message message) {
      ObjectNode node = messages.addObject().put("role", message.role());
      if (message.parts() == null) {
        node.put("content", message.content());
      } else {
        node.set("content", parsed("message parts", message.parts(), ArrayNode.class));
      }
      if (message.toolCalls() != null) {
        node.set("tool_calls", parsed("tool calls", message.toolCalls(), ArrayNode.class));
      }
      if (message.toolCallId() != null) {
        node.put("tool_call_id", message.toolCallId());
      }
      return this;
    }

    public Builder messages(List<Message> added) {
      added.forEach(this::message);
      return this;
    }

    public Builder messagesJson(String array) {
      messages.addAll(parsed("messages", array, ArrayNode.class));
      return this;
    }

    /** The prompt, sent as the last message of {@code user} where the API takes messages. */
    public Builder prompt(@Nullable String text) {
      prompt = text;
      return this;
    }

    public Builder inputs(List<String> texts) {
      inputs = texts;
      return this;
    }

    public Builder prefix(String text) {
      prefix = text;
      return this;
    }

    public Builder stream(boolean streamed) {
      stream = streamed;
      return this;
    }

    public Builder includeUsage(boolean included, boolean inEvents) {
      includeUsage = included;
      eventTokens = inEvents;
      return this;
    }

    public Builder maxTokens(@Nullable Integer limit) {
      maxTokens = limit;
      return this;
    }

    /** The field that has the limit in a chat completion; the other APIs have one name for it. */
    public Builder maxTokensField(@Nullable String name) {
      maxTokensField = name == null ? Api.MAX_TOKENS : name;
      return this;
    }

    public Builder without(Set<AddedField> rejected) {
      leftOut = rejected;
      return this;
    }

    /** Pins the output length by {@code ignore_eos} and {@code min_tokens}. */
    public Builder ignoreEos(boolean ignored) {
      ignoreEos = ignored;
      return this;
    }

    /** A field of the API that is sent as it is: a number, text or boolean. */
    public Builder parameter(String name, Object value) {
      body.set(name, JSON.valueToTree(value));
      return this;
    }

    public Builder stop(List<String> texts) {
      return texts.isEmpty() ? this : parameter("stop", texts);
    }

    public Builder tools(@Nullable String array) {
      return json("tools", array, ArrayNode.class);
    }

    /** Any JSON value, such as {@code "auto"} with its quotes. */
    public Builder toolChoice(@Nullable String value) {
      return json("tool_choice", value, JsonNode.class);
    }

    public Builder responseFormat(@Nullable String object) {
      return json("response_format", object, ObjectNode.class);
    }

    private Builder json(String key, @Nullable String text, Class<? extends JsonNode> kind) {
      if (text != null) {
        body.set(key, parsed(key, text, kind));
      }
      return this;
    }

    /**
     * A JSON object whose fields are set last and replace those of the other methods; a null value
     * removes a field. Fields of a later object win.
     */
    public Builder extra(@Nullable String object) {
      if (object != null) {
        extra.setAll(parsed("body", object, ObjectNode.class));
      }
      return this;
    }

    public GenerationRequest build() {
      ObjectNode complete = JsonNodeFactory.instance.objectNode().setAll(body);
      api.addInput(complete, this);
      if (api.generates()) {
        addOutputOptions(complete);
      }
      api.translate(complete);
      leftOut.forEach(field -> field.leaveOut(api, complete));
      complete.setAll(extra);
      complete.properties().removeIf(f -> f.getValue().isNull() && extra.has(f.getKey()));
      api.check(complete);
      return new GenerationRequest(api, complete, prefix, extra);
    }

    private void addOutputOptions(ObjectNode complete) {
      complete.put("stream", stream);
      if (stream && includeUsage && api.hasStreamOptions()) {
        ObjectNode options = complete.putObject("stream_options").put("include_usage", true);
        if (eventTokens) {
          options.put("continuous_usage_stats", true);
        }
      }
      boolean isLimited =
          api.is(Api.Trait.REQUIRES_LIMIT) || !maxTokensField.equals(Api.NO_MAX_TOKENS);
      if (maxTokens != null && isLimited) {
        complete.put(api.is(Api.Trait.RENAMES_LIMIT) ? maxTokensField : Api.MAX_TOKENS, maxTokens);
      }
      if (ignoreEos && isLimited) {
        complete.put("ignore_eos", true);
        if (maxTokens != null) {
          complete.put("min_tokens", maxTokens);
        }
      }
    }

    private static <T extends JsonNode> T parsed(String what, String text, Class<T> kind) {
      try {
        JsonNode node = JSON.readTree(text);
        if (kind.isInstance(node) && !node.isMissingNode()) {
          return kind.cast(node);
        }
      } catch (JsonProcessingException malformed) {
        // Reported below, with the same message as JSON of the wrong kind.
      }
      String expected =
          kind == ArrayNode.class ? "array" : kind == ObjectNode.class ? "object" : "value";
      String shown = text.length() > 60 ? text.substring(0, 60) + "…" : text;
      throw new IllegalArgumentException(
          what + " '" + shown + "' is not understood; expected a JSON " + expected);
    }
  }
}
