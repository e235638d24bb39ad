package io.github.gatlingllm.action;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gatling.commons.validation.Success;
import io.gatling.commons.validation.Validation;
import io.gatling.core.action.builder.ActionBuilder;
import io.gatling.core.check.Check;
import io.gatling.core.check.CheckMaterializer;
import io.gatling.core.check.Extractor;
import io.gatling.core.check.FindExtractor;
import io.gatling.javaapi.core.CheckBuilder;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.core.internal.CoreCheckType;
import io.gatling.javaapi.core.internal.Expressions;
import io.github.gatlingllm.action.Dynamic.Draft;
import io.github.gatlingllm.action.LlmRequest.MeasuredAnswer;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.client.GenerationRequest;
import io.github.gatlingllm.client.ReceivedAnswer;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.settings.SettingValue.Abandonment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import scala.Function1;
import scala.Option;

/** An LLM request of a simulation; a parameter is null where not set. {@link #with} copies it. */
public final class LlmRequest extends Draft<LlmRequest> {

  /** The session attributes that conversations of this process are kept in. */
  private static final Set<String> CONVERSATIONS = ConcurrentHashMap.newKeySet();

  final Dynamic<String> name;
  final Api api;
  public List<MessagePart> messages = List.of();

  /** The prompt, or the query that documents are compared with. */
  public @Nullable Dynamic<String> prompt;

  /** The texts to embed, or the documents. */
  public List<Dynamic<String>> inputs = List.of();

  /** In place of {@link #inputs}. */
  public @Nullable Dynamic<List<String>> inputList;

  public @Nullable Dynamic<String> model;
  public @Nullable Dynamic<Integer> maxTokens;

  /** Further fields of the body by name: numbers, texts and booleans. */
  public Map<String, Dynamic<?>> parameters = Map.of();

  public List<Dynamic<String>> stop = List.of();
  public @Nullable Dynamic<Boolean> stream;
  public @Nullable Dynamic<String> tools;
  public @Nullable Dynamic<String> toolChoice;
  public @Nullable Dynamic<String> responseFormat;
  public @Nullable Dynamic<String> extraBody;
  public Map<String, Dynamic<String>> headers = Map.of();
  public @Nullable Dynamic<String> apiKey;
  public @Nullable Duration requestTimeout;
  public @Nullable Abandonment abandonment;
  public @Nullable Slo slo;
  public List<ConditionalCheck> checks = List.of();
  public boolean silent;

  public LlmRequest(Dynamic<String> name, Api api) {
    this.name = name;
    this.api = api;
  }

  public LlmRequest and(MessagePart message) {
    return with(draft -> draft.messages = Draft.and(draft.messages, message));
  }

  /** A copy with that conversation after the leading system messages and before all others. */
  public LlmRequest withHistory(String sessionKey) {
    List<MessagePart> more = new ArrayList<>(messages);
    int at = 0;
    while (at < more.size()
        && more.get(at) instanceof TextPart text
        && text.role().equals("system")) {
      at++;
    }
    more.add(at, new History(sessionKey));
    return with(draft -> draft.messages = List.copyOf(more));
  }

  public ActionBuilder toActionBuilder() {
    validate();
    return (context, next) -> LlmAction.build(this, context, next);
  }

  /** Sends that request for each turn of the recorded session that the user was fed. */
  public static ActionBuilder replaying(ActionBuilder request) {
    return SessionReplay.of(request);
  }

  /** A session attribute that the simulation starts a conversation in. */
  public static String conversation(String sessionKey) {
    CONVERSATIONS.add(sessionKey);
    return sessionKey;
  }

  private void validate() {
    try {
      validateJson();
      checks.forEach(conditional -> LlmChecks.build(conditional.check()));
    } catch (IllegalArgumentException e) {
      throw mistake(String.valueOf(e.getMessage()));
    }
  }

  /** Refuses what only the protocol, or the rest of the simulation, shows to be a mistake. */
  public void validateIn(LlmProtocol protocol) {
    if (api.is(Api.Trait.REQUIRES_LIMIT)
        && maxTokens == null
        && extraBody == null
        && protocol.extraBody() == null) {
      throw mistake(api.key() + "() needs maxTokens; set it: .maxTokens(256)");
    }
    for (MessagePart part : messages) {
      String key =
          part instanceof History history
              ? history.sessionKey()
              : part instanceof NextTurn next ? next.sessionKey() : null;
      if (key != null && !CONVERSATIONS.contains(key)) {
        throw mistake(
            "no conversation is called '%s'; start it: .exec(conversation(\"%s\"))"
                .formatted(key, key));
      }
    }
  }

  /** Whether its answers are streamed, as far as that is known without a user. */
  boolean isStreamed(LlmProtocol protocol) {
    Boolean own = stream == null ? null : stream.constant();
    return api.generates() && (own == null ? protocol.streaming() : own);
  }

  private InvalidSimulation mistake(String what) {
    String called = name.text() == null ? "…" : '"' + name.text() + '"';
    return InvalidSimulation.because("llm(" + called + "): " + what);
  }

  private void validateJson() {
    GenerationRequest.Builder body =
        GenerationRequest.of(api)
            .tools(constant(tools))
            .toolChoice(constant(toolChoice))
            .responseFormat(constant(responseFormat))
            .extra(constant(extraBody));
    for (MessagePart part : messages) {
      String text = part instanceof AllMessages all ? all.messages().text() : null;
      if (text != null && !text.contains("#{")) {
        body.messagesJson(text);
      }
    }
  }

  private static @Nullable String constant(@Nullable Dynamic<String> text) {
    return text == null ? null : text.constant();
  }

  public sealed interface MessagePart {}

  /** The conversation of this session key, and the next turn of the dialog that it replays. */
  public record NextTurn(String sessionKey) implements MessagePart {}

  record History(String sessionKey) implements MessagePart {}

  /** A list of messages: a list of maps, the JSON text of an array, or a recorded dialog. */
  public record AllMessages(Dynamic<Object> messages) implements MessagePart {}

  /** A message of a text, which may be empty, and of images by URL. */
  public record Illustrated(String role, Dynamic<String> text, List<Dynamic<String>> imageUrls)
      implements MessagePart {}

  public record ToolResults(Dynamic<Map<String, String>> byCallId) implements MessagePart {}

  public record ToolResult(Dynamic<String> callId, Dynamic<String> text) implements MessagePart {}

  public record TextPart(String role, Dynamic<String> text) implements MessagePart {}

  /** A check, and the condition on which it is made; null for none. */
  public record ConditionalCheck(
      CheckBuilder check, @Nullable BiFunction<MeasuredAnswer, Session, Boolean> condition) {}

  /** Checks on LLM responses: Gatling's own on the answer, and checks on the measured request. */
  public static final class LlmChecks {

    private static final ObjectMapper JSON =
        new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    private static final CheckMaterializer<?, ?, MeasuredAnswer, String> TEXT =
        new Materializer<>(response -> new Success<>(response.answer().text()));
    private static final CheckMaterializer<?, ?, MeasuredAnswer, Integer> LENGTH =
        new Materializer<>(response -> new Success<>(response.answer().text().length()));
    private static final CheckMaterializer<?, ?, MeasuredAnswer, JsonNode> TREE =
        new Materializer<>(response -> tree(response.answer().text()));
    private static final CheckMaterializer<?, ?, MeasuredAnswer, MeasuredAnswer> RESPONSE =
        new Materializer<>(Success::new);

    private LlmChecks() {}

    /**
     * A check of a value that may be absent.
     *
     * @param showsValue whether error messages contain the value: only for few different values, as
     *     reports group by message
     */
    public static <X> io.gatling.core.check.CheckBuilder.Find<Type, MeasuredAnswer, X> find(
        String name, boolean showsValue, Function<MeasuredAnswer, @Nullable X> extractor) {
      Extractor<MeasuredAnswer, X> find =
          new FindExtractor<>(
              name, response -> new Success<>(Option.apply(extractor.apply(response))));
      return new io.gatling.core.check.CheckBuilder$Find$Default<>(
          Expressions.toStaticValueExpression(find), showsValue);
    }

    static Check<MeasuredAnswer> build(ConditionalCheck conditional) {
      Check<MeasuredAnswer> check = build(conditional.check());
      return conditional.condition() == null
          ? check
          : check.checkIf(
              Expressions.javaBiFunctionToExpression(
                  (response, session) -> conditional.condition().apply(response, session)));
    }

    static Check<MeasuredAnswer> build(CheckBuilder check) {
      CheckBuilder.CheckType type = check.type();
      if (type == Type.RESPONSE) {
        return build(check, RESPONSE);
      }
      if (type instanceof CoreCheckType core) {
        switch (core) {
          case BodyString, Substring, Regex -> {
            return build(check, TEXT);
          }
          case BodyLength -> {
            return build(check, LENGTH);
          }
          case JsonPath, JmesPath -> {
            return build(check, TREE);
          }
          default -> {}
        }
      }
      throw new IllegalArgumentException(
          "llm requests have no check "
              + type
              + "; use bodyString, bodyLength, substring, regex, jsonPath, jmesPath, or the checks"
              + " of LlmDsl, such as httpStatus()");
    }

    @SuppressWarnings({
      "unchecked",
      "rawtypes"
    }) // the check's type and its materializer were matched
    private static Check<MeasuredAnswer> build(
        CheckBuilder check, CheckMaterializer<?, ?, MeasuredAnswer, ?> materializer) {
      return (Check<MeasuredAnswer>)
          ((io.gatling.core.check.CheckBuilder) check.asScala())
              .build((CheckMaterializer) materializer);
    }

    /** Parses an answer; text before or after the JSON is a failure. */
    static Validation<JsonNode> tree(String text) {
      try {
        return new Success<>(JSON.readTree(text));
      } catch (JsonProcessingException e) {
        return Dynamic.failure("the answer is not JSON");
      }
    }

    private static final class Materializer<P>
        extends CheckMaterializer<Object, Check<MeasuredAnswer>, MeasuredAnswer, P> {

      private final Function1<MeasuredAnswer, Validation<P>> preparer;

      Materializer(Function1<MeasuredAnswer, Validation<P>> preparer) {
        super(check -> check);
        this.preparer = preparer;
      }

      @Override
      public Function1<MeasuredAnswer, Validation<P>> preparer() {
        return preparer;
      }
    }
  }

  /** The subject of checks: the measured request and its answer; texts are computed on demand. */
  public record MeasuredAnswer(
      RequestRecord.Timing timing,
      RequestRecord.Tokens tokens,
      RequestStatus requestStatus,
      @Nullable Integer httpStatus,
      ReceivedAnswer answer,
      Supplier<RequestRecord.Events> events) {}

  public enum Type implements CheckBuilder.CheckType {
    RESPONSE
  }
}
