package io.github.gatlingllm.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.figures.metric.Sentence;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One API: where its requests are posted and what is in them, and how its answers are read. What a
 * subclass does not change is as in chat. Stateless. A new one is a subclass, its row in {@link
 * #ALL}, its rows in the embedded engine's {@code answers.txt} and its method in the DSL.
 */
@SuppressWarnings("ClassInitializationDeadlock") // subclasses are only created here
public class Api {

  /** OpenAI chat completions: messages in, a message out. */
  public static final Api CHAT =
      new Api("chat", "/chat/completions", "messages", null, Trait.MESSAGES, Trait.RENAMES_LIMIT);

  /** OpenAI completions: a prompt in, its continuation out. */
  public static final Api COMPLETIONS =
      new Api("completions", "/completions", "prompt", null) {

        @Override
        public String requestName() {
          return "completion";
        }

        @Override
        public String operation() {
          return "text_completion";
        }

        @Override
        void addInput(ObjectNode body, GenerationRequest.Builder from) {
          body.set("prompt", from.prompt == null ? null : JsonText.of(from.prefix, from.prompt));
        }
      };

  public static final Api RESPONSES = new ResponsesApi();
  public static final Api MESSAGES = new MessagesApi();
  public static final Api EMBEDDINGS = ResultsApi.embeddings();
  public static final Api RERANK = ResultsApi.rerank();

  public static final List<Api> ALL =
      List.of(CHAT, COMPLETIONS, RESPONSES, MESSAGES, EMBEDDINGS, RERANK);

  public static final String MAX_TOKENS = "max_tokens";

  /** The name of the same field for hosted reasoning models. */
  public static final String MAX_COMPLETION_TOKENS = "max_completion_tokens";

  /** In place of such a name: no limit is sent. */
  public static final String NO_MAX_TOKENS = "none";

  public static final List<String> MAX_TOKENS_FIELDS =
      List.of("auto", MAX_TOKENS, MAX_COMPLETION_TOKENS, NO_MAX_TOKENS);

  private final String key;
  private final String path;
  final String inputField;
  private final @Nullable String terminalEvent;
  private final Set<Trait> traits;

  /** What distinguishes APIs. */
  public enum Trait {
    MESSAGES,
    RESULTS,
    /** Each of its inputs is compared with a query. */
    QUERY,
    /** A request without a limit on output tokens is rejected. */
    REQUIRES_LIMIT,
    /** The limit has one of several names. */
    RENAMES_LIMIT,
    /** Servers, vLLM among others, take no notice of a pinned length. */
    IGNORES_PINNING
  }

  Api(String key, String path, String inputField, @Nullable String terminalEvent, Trait... traits) {
    this.key = key;
    this.path = path;
    this.inputField = inputField;
    this.terminalEvent = terminalEvent;
    this.traits = Set.of(traits);
  }

  /** The API of that key, which is one of those below. */
  public static Api of(String key) {
    return ALL.stream().filter(api -> api.key.equals(key)).findFirst().orElseThrow();
  }

  /** The API whose {@link #path} the given path ends with; null for none. */
  public static @Nullable Api ofPath(String path) {
    for (Api api : ALL) {
      if (path.endsWith(api.path)) {
        return api;
      }
    }
    return null;
  }

  /** The name used in settings and files: {@code chat}, {@code completions}, … */
  public final String key() {
    return key;
  }

  /** Path below a base URL that ends in {@code /v1}. */
  public final String path() {
    return path;
  }

  /** The dialect that is spoken at a URL. */
  public Api at(String url) {
    return this;
  }

  /** What its requests are called where a ready-made load has one kind of them. */
  public String requestName() {
    return key;
  }

  /** Whether a request has a list of messages, and so can have dialogs, images and tools. */
  public final boolean takesMessages() {
    return is(Trait.MESSAGES);
  }

  /** Whether answers are generated token by token; else each has a result for each input. */
  public final boolean generates() {
    return !is(Trait.RESULTS);
  }

  public final boolean is(Trait trait) {
    return traits.contains(trait);
  }

  /** Type of the event that ends a complete stream; null for APIs without typed events. */
  public final @Nullable String terminalEvent() {
    return terminalEvent;
  }

  /** Whether a stream takes options, by which usage is requested. */
  public final boolean hasStreamOptions() {
    return generates() && terminalEvent == null;
  }

  /** Its headers; one without a value has the API key. */
  public Map<String, String> headers() {
    return Map.of();
  }

  /** Whose format it is, a value of {@code gen_ai.provider.name}. */
  public String provider() {
    return "openai";
  }

  /** A value of {@code gen_ai.operation.name}. */
  public String operation() {
    return takesMessages() ? "chat" : key;
  }

  /** Adds the input, which here are messages; the prompt is the last one. */
  void addInput(ObjectNode body, GenerationRequest.Builder from) {
    ArrayNode all = body.putArray("messages").addAll(from.messages);
    if (from.prompt != null) {
      all.addObject().put("role", "user").put("content", from.prompt);
    }
    if (!from.prefix.isEmpty() && all.path(0) instanceof ObjectNode first) {
      all.set(0, prefixed(first, from.prefix));
    }
  }

  private static ObjectNode prefixed(ObjectNode message, String prefix) {
    ObjectNode longer = message.deepCopy();
    if (longer.path("content") instanceof ArrayNode parts) {
      parts.insertObject(0).put("type", "text").put("text", prefix);
    } else {
      longer.set("content", JsonText.of(prefix, message.path("content").asText("")));
    }
    return longer;
  }

  /** Changes the fields of a chat completion into those of this API. */
  void translate(ObjectNode body) {}

  /** Refuses a request that lacks what it needs. */
  void check(ObjectNode body) {
    JsonNode input = body.path(inputField);
    if (!input.isTextual() && input.isEmpty()) {
      throw new IllegalArgumentException(
          "%s request has no %s; set %s"
              .formatted(
                  key, inputField, takesMessages() ? "a prompt or messages" : "its " + inputField));
    }
  }

  /** The input of the model, as it is recorded. */
  JsonNode input(ObjectNode body) {
    return body.path(inputField);
  }

  /** Adds the texts that the model reads, without images and tools. */
  void addTexts(ObjectNode body, List<JsonNode> texts) {
    addTexts(body.path("prompt"), texts);
    addTexts(body.path("system"), texts);
    for (JsonNode message : input(body)) {
      addTexts(message.path("content"), texts);
    }
  }

  static void addTexts(JsonNode content, List<JsonNode> all) {
    if (content.isTextual()) {
      all.add(content);
      return;
    }
    for (JsonNode part : content) {
      JsonNode text = part.isTextual() ? part : part.path("text");
      if (text.isTextual()) {
        all.add(text);
      }
    }
  }

  /** Number of inputs that the answer has a result for each of; 0 if it generates. */
  int inputs(ObjectNode body) {
    return 0;
  }

  /** Number of results that a complete answer has. */
  int results(ObjectNode body) {
    return inputs(body);
  }

  /** Reads the events, or the body, of one answer. */
  ChunkParser parser(ChunkListener listener) {
    return terminalEvent == null ? new CompletionParser(listener) : new TypedEventParser(listener);
  }

  @Override
  public final String toString() {
    return key;
  }

  /**
   * One chat message of a request.
   *
   * @param role such as {@code system}, {@code user}, {@code assistant}, {@code tool}
   * @param content the text; null for an assistant message that only calls tools
   * @param parts content as a JSON array of parts, instead of the text
   * @param toolCalls the calls of an assistant message as a JSON array
   * @param toolCallId id of the call that a {@code tool} message answers
   */
  public record Message(
      String role,
      @Nullable String content,
      @Nullable String parts,
      @Nullable String toolCalls,
      @Nullable String toolCallId) {

    public static Message of(String role, String content) {
      return new Message(role, content, null, null, null);
    }

    public static Message system(String content) {
      return of("system", content);
    }

    public static Message user(String content) {
      return of("user", content);
    }

    public static Message assistant(String content) {
      return of("assistant", content);
    }

    public static Message parts(String role, String parts) {
      return new Message(role, null, parts, null, null);
    }

    public static Message toolCalls(@Nullable String content, String toolCalls) {
      return new Message("assistant", content, null, toolCalls, null);
    }

    /** An assistant message that may call functions, as the next request has to repeat it. */
    public static Message answer(String content, List<FunctionCall> calls) {
      if (calls.isEmpty()) {
        return assistant(content);
      }
      ArrayNode array = JsonNodeFactory.instance.arrayNode();
      for (FunctionCall call : calls) {
        array
            .addObject()
            .put("id", call.id())
            .put("type", "function")
            .putObject("function")
            .put("name", call.name())
            .put("arguments", call.arguments());
      }
      return toolCalls(content.isBlank() ? null : content, array.toString());
    }

    /** Whether it states or calls anything: APIs reject messages that do not. */
    public boolean isFilled() {
      return toolCalls != null || parts != null || (content != null && !content.isBlank());
    }

    public static Message tool(String toolCallId, String content) {
      return new Message("tool", content, null, null, toolCallId);
    }
  }

  /**
   * A call of a function by the model; the id is made up where the server sent none, and the
   * arguments of a function without parameters may be left out.
   */
  public record FunctionCall(String id, String name, String arguments) {

    public FunctionCall {
      arguments = arguments.isBlank() ? "{}" : arguments;
    }

    /** Whether APIs take it back: they reject arguments that are cut off. */
    boolean isComplete() {
      return !name.isBlank() && MessagesApi.parsed(arguments).isObject();
    }
  }

  /**
   * The fields that this client adds to requests, and that a server may reject. One row each: the
   * setting that states up front that the server does not take it, and its names. A field within
   * another one comes before it, as an error that rejects it names both.
   */
  @SuppressWarnings("ImmutableEnumChecker") // names are a List.of
  public enum AddedField {
    CONTINUOUS_USAGE("eventTokens", "none", "continuous_usage_stats"),
    USAGE("includeUsage", "false", "stream_options", "include_usage"),
    PINNING("ignoreEos", "false", "ignore_eos", "min_tokens"),
    LIMIT_NAME("maxTokensField", MAX_COMPLETION_TOKENS, MAX_TOKENS),
    LIMIT("maxTokensField", NO_MAX_TOKENS, MAX_COMPLETION_TOKENS, MAX_TOKENS, "max_output_tokens");

    /** Without these an answer does not have a given length. */
    public static final Set<AddedField> OF_LENGTH = Set.of(PINNING, LIMIT);

    private static final List<AddedField> ROWS = List.of(values());

    /** A limit is also named by an error about its value, which states none of this. */
    private static final Pattern REJECTED =
        Pattern.compile(
            "(?i)(unsupported|unrecogni[sz]ed|unknown|unexpected|extra)[ _](\\w+"
                + " )?(param|arg|field|input|name|key|propert)|extra_forbidden|additional"
                + " ?propert|not (supported|permitted|allowed|recogni[sz]ed)|does not support"
                + " param|instead");

    private final String setting;
    private final String value;
    private final List<String> names;
    private final Pattern pattern;

    AddedField(String setting, String value, String... names) {
      this.setting = setting;
      this.value = value;
      this.names = List.of(names);
      pattern = Pattern.compile("\\b(" + String.join("|", names) + ")\\b");
    }

    /** The row that the error of a request rejects, as its remedy states; null for none. */
    public static @Nullable AddedField rejectedBy(String error) {
      return ROWS.stream().filter(row -> error.endsWith(row.remedy())).findFirst().orElse(null);
    }

    /**
     * What helps against the rejection of a field, for the end of an error; empty where it names no
     * field that the client adds.
     *
     * @param stated what the server states, without parts of the request that it repeats
     */
    static String remedy(String stated, GenerationRequest request) {
      for (AddedField row : ROWS) {
        boolean isLimit = row == LIMIT_NAME || row == LIMIT;
        Matcher named = row.pattern.matcher(stated);
        while ((!isLimit || REJECTED.matcher(stated).find()) && named.find()) {
          if (request.isFromBody(named.group())) {
            return Sentence.text("rejected.remedy", named.group(), null, null);
          }
          if (row.isIn(request)) {
            return row.remedy();
          }
        }
      }
      return "";
    }

    String remedy() {
      return Sentence.text("rejected.remedy", null, setting, value);
    }

    private boolean isIn(GenerationRequest request) {
      return switch (this) {
        case LIMIT_NAME -> request.api().is(Trait.RENAMES_LIMIT) && request.has(MAX_TOKENS);
        case LIMIT -> !request.api().is(Trait.REQUIRES_LIMIT) && request.maxTokens() != null;
        default -> names.stream().anyMatch(request::has);
      };
    }

    /** Takes it out of a request, except for a limit that the API requires. */
    void leaveOut(Api api, ObjectNode body) {
      if ((this == LIMIT && api.is(Trait.REQUIRES_LIMIT))
          || (this == LIMIT_NAME && !api.is(Trait.RENAMES_LIMIT))) {
        return;
      }
      if (this == LIMIT_NAME) {
        JsonNode limit = body.remove(MAX_TOKENS);
        body.setAll(limit == null ? Map.of() : Map.of(MAX_COMPLETION_TOKENS, limit));
        return;
      }
      body.remove(names);
      if (body.path("stream_options") instanceof ObjectNode options) {
        options.remove(names);
      }
      if (this == LIMIT) {
        PINNING.leaveOut(api, body); // or an answer would not end
      }
    }

    public String setting() {
      return setting;
    }

    /** The value of its setting in the records of a run, once a server has rejected it. */
    public String recorded() {
      return value + ", the server rejects " + (this == PINNING ? "it" : names.get(0));
    }

    /** For the console: that a target rejects it, what follows, and the setting. */
    public String line(String target) {
      List<String> shown = names.subList(0, shown());
      return Sentence.text(
          "rejected", target, shown, name().toLowerCase(Locale.ROOT), setting, value);
    }

    private int shown() {
      return this == PINNING ? names.size() : 1;
    }
  }
}
