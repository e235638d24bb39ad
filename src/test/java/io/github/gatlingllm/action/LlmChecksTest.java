package io.github.gatlingllm.action;

import static io.github.gatlingllm.javaapi.LlmDsl.answer;
import static io.github.gatlingllm.javaapi.LlmDsl.cachedTokens;
import static io.github.gatlingllm.javaapi.LlmDsl.e2e;
import static io.github.gatlingllm.javaapi.LlmDsl.finishReason;
import static io.github.gatlingllm.javaapi.LlmDsl.httpStatus;
import static io.github.gatlingllm.javaapi.LlmDsl.itl;
import static io.github.gatlingllm.javaapi.LlmDsl.outputTokens;
import static io.github.gatlingllm.javaapi.LlmDsl.promptTokens;
import static io.github.gatlingllm.javaapi.LlmDsl.queueWait;
import static io.github.gatlingllm.javaapi.LlmDsl.reasoning;
import static io.github.gatlingllm.javaapi.LlmDsl.requestStatus;
import static io.github.gatlingllm.javaapi.LlmDsl.toolCalls;
import static io.github.gatlingllm.javaapi.LlmDsl.tpot;
import static io.github.gatlingllm.javaapi.LlmDsl.ttfo;
import static io.github.gatlingllm.javaapi.LlmDsl.ttft;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import io.gatling.commons.validation.Success;
import io.gatling.core.check.Check$;
import io.gatling.javaapi.core.CheckBuilder;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.client.GenerationRequest;
import io.github.gatlingllm.client.ReceivedAnswer;
import io.github.gatlingllm.javaapi.LlmResponse;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.TokenSource;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.Timeline;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

class LlmChecksTest {

  private static final long MILLI = 1_000_000L;

  /** 3 ms of waiting, TTFT 200 ms, TTFO 250 ms, the last of 12 tokens after 750 ms. */
  private static final MeasuredAnswer ANSWERED =
      response(4, 200, 250, 295, 340, 385, 430, 475, 520, 565, 610, 655, 750);

  private static final MeasuredAnswer SILENT = response(null);

  static Stream<Arguments> checks() {
    return Stream.of(
        passes(ttft().lt(200.1)),
        fails(ttft().lt(200), "ttft.find.lessThan(200.0), failed"),
        passes(ttft().lte(200)),
        fails(ttft().lte(ofMillis(199)), "ttft.find.lessThanOrEqual(199.0), failed"),
        passes(ttft().gt(199.9)),
        fails(ttft().gt(ofMillis(200)), "ttft.find.greaterThan(200.0), failed"),
        passes(ttft().gte(200)),
        passes(ttft().gte(ofMillis(200))),
        passes(ttft().lt(ofMillis(201))),
        passes(ttft().is(200.0)),
        passes(ttfo().is(250.0)),
        passes(tpot().is(50.0)),
        passes(e2e().is(750.0)),
        passes(queueWait().is(3.0)),
        passes(itl().is(95.0)),
        passes(cachedTokens().is(4)),
        passes(httpStatus().is(200)),
        fails(httpStatus().is(201), "httpStatus.find.is(201), found 200"),
        passes(toolCalls().is(List.of(new LlmResponse.ToolCall("c", "f", "{}")))),
        passes(outputTokens().is(12)),
        passes(promptTokens().is(5)),
        passes(finishReason().is("length")),
        fails(finishReason().is("stop"), "finishReason.find.is(stop), found length"),
        passes(requestStatus().is(RequestStatus.COMPLETE)),
        passes(answer().is("Blue light.")),
        fails(answer().is("Red."), "answer.find.is(Red.), failed"),
        passes(reasoning().is("Hm.")));
  }

  @ParameterizedTest
  @MethodSource("checks")
  void checksMeasuredValues(CheckBuilder check, @Nullable String failure) {
    assertFailure(check, ANSWERED, failure);
  }

  static Stream<Arguments> checksOfNothing() {
    return Stream.of(
        fails(ttft().lt(1_000), "ttft.find.lessThan(1000.0), can't compare nothing and"),
        fails(tpot().gt(0), "tpot.find.greaterThan(0.0), can't compare nothing and"),
        fails(finishReason().exists(), "finishReason.find.exists, found nothing"),
        passes(reasoning().notExists()),
        fails(itl().lt(1_000), "itl.find.lessThan(1000.0), can't compare nothing and"),
        passes(cachedTokens().notExists()),
        passes(toolCalls().is(List.of())),
        passes(answer().is("")));
  }

  @ParameterizedTest
  @MethodSource("checksOfNothing")
  void absentValuesFailEveryComparison(CheckBuilder check, @Nullable String failure) {
    assertFailure(check, SILENT, failure);
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = '|',
      textBlock =
          """
          {"a":1}                    | true
          ` {"a":1} `                | true
          {"a":1} Hope this helps!   | false
          Here it is: {"a":1}        | false
          """)
  void textAroundJsonIsNoJson(String text, boolean isJson) {
    assertThat(MeasuredAnswer.tree(text) instanceof Success<?>).isEqualTo(isJson);
  }

  private static Arguments passes(CheckBuilder check) {
    return Arguments.of(check, null);
  }

  private static Arguments fails(CheckBuilder check, String message) {
    return Arguments.of(check, message);
  }

  private static void assertFailure(
      CheckBuilder check, MeasuredAnswer response, @Nullable String failure) {
    Option<io.gatling.commons.validation.Failure> failed =
        Check$.MODULE$
            .check(
                response,
                Sessions.with(new HashMap<>(Map.of())),
                CollectionConverters.asScala(List.of(MeasuredAnswer.check(check, null))).toList())
            ._2();
    if (failure == null) {
      assertThat(failed.isEmpty()).as(String.valueOf(failed)).isTrue();
    } else {
      assertThat(failed.isDefined()).isTrue();
      assertThat(failed.get().message()).startsWith(failure);
    }
  }

  /** Tokens at these milliseconds, the first of them reasoning. */
  private static MeasuredAnswer response(@Nullable Integer cached, long... tokenMs) {
    Timeline timeline = new Timeline(0, MILLI);
    timeline.admitted(3 * MILLI);
    int counted = 0;
    for (long ms : tokenMs) {
      timeline.tokens(0, (3 + ms) * MILLI, ms != tokenMs[0], ++counted);
    }
    return new MeasuredAnswer(
        timeline.timing(1, null, 12),
        new RequestRecord.Tokens(
            20,
            5,
            null,
            cached,
            null,
            12,
            12,
            null,
            null,
            12,
            false,
            TokenSource.USAGE,
            List.of(),
            null),
        RequestStatus.COMPLETE,
        200,
        received(cached != null),
        () -> timeline.events(true));
  }

  private static ReceivedAnswer received(boolean answered) {
    ReceivedAnswer received =
        new ReceivedAnswer(new Timeline(0, 0), GenerationRequest.of(Api.CHAT).prompt("Hi").build());
    if (answered) {
      byte[] body =
          """
          {"choices":[{"index":0,"finish_reason":"length","message":{"role":"assistant",
          "content":"Blue light.","reasoning_content":"Hm.","tool_calls":[{"id":"c",
          "type":"function","function":{"name":"f","arguments":"{}"}}]}}]}
          """
              .getBytes(StandardCharsets.UTF_8);
      received.body(body, body.length);
    }
    return received;
  }
}
