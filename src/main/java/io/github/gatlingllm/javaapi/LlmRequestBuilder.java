package io.github.gatlingllm.javaapi;

import io.gatling.javaapi.core.ActionBuilder;
import io.gatling.javaapi.core.CheckBuilder;
import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.Dynamic.Draft;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.LlmRequest;
import io.github.gatlingllm.action.MeasuredAnswer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The parameters that all requests have in common. A parameter that is not set is taken from the
 * protocol; one that is not set there either is not sent.
 */
public abstract sealed class LlmRequestBuilder<T extends LlmRequestBuilder<T>>
    implements ActionBuilder
    permits GenerationRequestBuilder, EmbeddingRequestBuilder, RerankRequestBuilder {

  final LlmRequest request;

  LlmRequestBuilder(LlmRequest request) {
    this.request = request;
  }

  abstract T with(LlmRequest changed);

  final T edit(Consumer<LlmRequest> change) {
    return with(request.with(change));
  }

  static List<Dynamic<String>> texts(String text, String... more) {
    return Stream.concat(Stream.of(text), Arrays.stream(more)).map(Dynamic::text).toList();
  }

  @Override
  public final io.gatling.core.action.builder.ActionBuilder asScala() {
    return request.toActionBuilder();
  }

  /** The model to request, in place of the protocol's; a Gatling EL String. */
  public final T model(String model) {
    return edit(draft -> draft.model = Dynamic.text(model));
  }

  public final T model(Function<Session, String> model) {
    return edit(draft -> draft.model = Dynamic.of(model));
  }

  /**
   * A JSON object that is merged into the request and overrides its other fields; a Gatling EL
   * String.
   */
  public final T body(String json) {
    return edit(draft -> draft.extraBody = Dynamic.text(json));
  }

  public final T body(Function<Session, String> json) {
    return edit(draft -> draft.extraBody = Dynamic.of(json));
  }

  /** As {@link LlmProtocolBuilder#header(String, String)}, in place of a header of the protocol. */
  public final T header(String name, String value) {
    return edit(
        draft -> draft.headers = Draft.andHeader(draft.headers, name, Dynamic.secret(value)));
  }

  public final T header(String name, Function<Session, String> value) {
    return edit(draft -> draft.headers = Draft.andHeader(draft.headers, name, Dynamic.of(value)));
  }

  /** Several headers, as {@link #header(String, String)}. */
  public final T headers(Map<String, String> headers) {
    return edit(draft -> draft.headers = Draft.andHeaders(draft.headers, headers));
  }

  /** The API key of this request, in place of the protocol's; a Gatling EL String. */
  public final T apiKey(String key) {
    return edit(draft -> draft.apiKey = Dynamic.secret(key));
  }

  public final T apiKey(Function<Session, String> key) {
    return edit(draft -> draft.apiKey = Dynamic.of(key));
  }

  /** Longest time of this request, from connecting to the last byte, in place of the protocol's. */
  public final T requestTimeout(Duration timeout) {
    return edit(
        draft -> draft.requestTimeout = InvalidSimulation.above0("requestTimeout", timeout));
  }

  public final T requestTimeout(long seconds) {
    return requestTimeout(Duration.ofSeconds(seconds));
  }

  /**
   * Objectives of all requests with this name, in place of the protocol's. The name must not be
   * computed from the session. An assertion on goodput also needs an SLO of the protocol.
   */
  public final T slo(SloBuilder objectives) {
    return edit(draft -> draft.slo = objectives.build());
  }

  /** As {@link #slo(SloBuilder)}, as text: {@code slo("ttft<200ms")}. */
  public final T slo(String objectives) {
    return slo(LlmDsl.slo(objectives));
  }

  final T parameter(String name, Dynamic<?> value) {
    return edit(draft -> draft.parameters = Draft.and(draft.parameters, name, value));
  }

  /**
   * Leaves the request out of all statistics and records. Its checks still run, and a failure still
   * marks the user's session as failed.
   */
  public final T silent() {
    return edit(draft -> draft.isSilent = true);
  }

  /**
   * Adds checks. Gatling's {@code bodyString}, {@code bodyLength}, {@code substring}, {@code
   * regex}, {@code jsonPath} and {@code jmesPath} apply to the generated text, those of {@link
   * LlmDsl} to the measured request.
   */
  public final T check(CheckBuilder... checks) {
    return check(Arrays.asList(checks));
  }

  public final T check(List<CheckBuilder> checks) {
    return check(checks, null);
  }

  private T check(
      List<CheckBuilder> checks, @Nullable BiFunction<MeasuredAnswer, Session, Boolean> condition) {
    return with(request.checking(checks, condition));
  }

  /** Adds checks that are done only if the condition is true; a Gatling EL String. */
  public final CheckCondition<T> checkIf(String condition) {
    return checkIf(Dynamic.el(condition, Boolean.class));
  }

  public final CheckCondition<T> checkIf(Function<Session, Boolean> condition) {
    return checkIf(Dynamic.of(condition));
  }

  private CheckCondition<T> checkIf(Dynamic<Boolean> condition) {
    return new CheckCondition<>(this, (answer, session) -> condition.resolve(session.asScala()));
  }

  public final CheckCondition<T> checkIf(BiFunction<LlmResponse, Session, Boolean> condition) {
    return new CheckCondition<>(
        this, (answer, session) -> condition.apply(new LlmResponse(answer), session));
  }

  /** A condition that still needs its checks. */
  public static final class CheckCondition<T extends LlmRequestBuilder<T>> {
    private final LlmRequestBuilder<T> builder;
    private final BiFunction<MeasuredAnswer, Session, Boolean> condition;

    CheckCondition(
        LlmRequestBuilder<T> builder, BiFunction<MeasuredAnswer, Session, Boolean> condition) {
      this.builder = builder;
      this.condition = condition;
    }

    /** The checks to do if the condition is true. */
    public T then(CheckBuilder... checks) {
      return then(Arrays.asList(checks));
    }

    public T then(List<CheckBuilder> checks) {
      return builder.check(checks, condition);
    }
  }
}
