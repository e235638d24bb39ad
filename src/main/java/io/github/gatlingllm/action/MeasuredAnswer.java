package io.github.gatlingllm.action;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gatling.commons.validation.Success;
import io.gatling.commons.validation.Validation;
import io.gatling.core.check.Check;
import io.gatling.core.check.CheckMaterializer;
import io.gatling.core.check.Extractor;
import io.gatling.core.check.FindExtractor;
import io.gatling.javaapi.core.CheckBuilder;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.core.internal.CoreCheckType;
import io.gatling.javaapi.core.internal.Expressions;
import io.github.gatlingllm.client.ReceivedAnswer;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import scala.Function1;
import scala.Option;

/**
 * The subject of checks: the measured request and its answer, whose texts are computed on demand.
 * Gatling's own checks are made on the text of the answer.
 */
public record MeasuredAnswer(
    RequestRecord.Timing timing,
    RequestRecord.Tokens tokens,
    RequestStatus requestStatus,
    @Nullable Integer httpStatus,
    ReceivedAnswer answer,
    Supplier<RequestRecord.Events> events) {

  /** The type of checks on the measured request. */
  public static final CheckBuilder.CheckType CHECK_TYPE = new CheckBuilder.CheckType() {};

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

  /**
   * A check of a value that may be absent.
   *
   * @param showsValue whether error messages contain the value: only for few different values, as
   *     reports group by message
   */
  public static <X> io.gatling.core.check.CheckBuilder.Find<Object, MeasuredAnswer, X> find(
      String name, boolean showsValue, Function<MeasuredAnswer, @Nullable X> extractor) {
    Extractor<MeasuredAnswer, X> find =
        new FindExtractor<>(
            name, response -> new Success<>(Option.apply(extractor.apply(response))));
    return new io.gatling.core.check.CheckBuilder$Find$Default<>(
        Expressions.toStaticValueExpression(find), showsValue);
  }

  static Check<MeasuredAnswer> check(
      CheckBuilder builder, @Nullable BiFunction<MeasuredAnswer, Session, Boolean> condition) {
    Check<MeasuredAnswer> check = check(builder);
    return condition == null
        ? check
        : check.checkIf(
            Expressions.javaBiFunctionToExpression(
                (answer, session) -> condition.apply(answer, session)));
  }

  private static Check<MeasuredAnswer> check(CheckBuilder check) {
    CheckBuilder.CheckType type = check.type();
    if (type == CHECK_TYPE) {
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

  @SuppressWarnings({"unchecked", "rawtypes"}) // the check's type and its materializer were matched
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
