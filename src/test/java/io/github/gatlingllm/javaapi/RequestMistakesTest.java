package io.github.gatlingllm.javaapi;

import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.md5;
import static io.github.gatlingllm.javaapi.LlmDsl.conversation;
import static io.github.gatlingllm.javaapi.LlmDsl.llm;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gatling.javaapi.core.ActionBuilder;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.LlmProtocol;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Mistakes that would fail every request: a line when the simulation is built. */
class RequestMistakesTest {

  private static final String URL = "http://localhost:8000/v1";
  private static final String NO_NAME = ": not a Gatling EL String: attribute name is missing";
  private static final String NO_NUMBER =
      ": expected a whole number, or a Gatling EL String that gives one";

  private static ChatRequestBuilder ask() {
    return llm("ask").chat().user("Hello");
  }

  static Stream<Arguments> mistakes() {
    return Stream.of(
        // EL
        request(() -> ask().maxTokens("many"), "maxTokens(\"many\")" + NO_NUMBER),
        request(() -> ask().maxTokens("#{"), "maxTokens(\"#{\")" + NO_NAME),
        request(() -> llm("ask #{").chat().user("Hi"), "llm(\"ask #{\")" + NO_NAME),
        request(
            () -> llm("ask").chat().user("Hi #{name"),
            "user(\"Hi #{name\"): not a Gatling EL String: '}' expected but end of"
                + " source found"),
        request(() -> llm("ask").chat().messages("#{"), "messages(\"#{\")" + NO_NAME),
        request(() -> ask().header("X-Key", "s3cret #{"), "header(…)" + NO_NAME),
        request(() -> llm(session -> "ask").chat().user("#{}"), "user(\"#{}\")" + NO_NAME),
        // JSON
        request(
            () -> ask().body("{\"a\": 1"),
            "llm(\"ask\"): body '{\"a\": 1' is not understood; expected a JSON object"),
        request(
            () -> ask().tools("{}"),
            "llm(\"ask\"): tools '{}' is not understood; expected a JSON array"),
        request(
            () -> ask().responseFormat("json"),
            "llm(\"ask\"): response_format 'json' is not understood; expected a JSON object"),
        // What the protocol or the rest of the simulation shows
        mistake(
            () -> llm("ask").messages().user("Hi").request.validateIn(protocol()),
            "llm(\"ask\"): messages() needs maxTokens; set it: .maxTokens(256)"),
        mistake(
            () -> llm("ask").chat().history("none").user("Hi").request.validateIn(protocol()),
            "llm(\"ask\"): no conversation is called 'none'; start it:"
                + " .exec(conversation(\"none\"))"),
        // Checks
        request(
            () -> ask().check(md5().is("0")),
            "llm(\"ask\"): llm requests have no check Md5; use bodyString, bodyLength, substring,"
                + " regex, jsonPath, jmesPath, or the checks of LlmDsl, such as httpStatus()"),
        // Names of headers
        mistake(
            () -> ask().header("X Key", "1"),
            "header(\"X Key\", …): expected a header name, e.g. X-Tenant"),
        // Protocol and conversation
        mistake(
            () -> llm.baseUrl(System.getenv("NOT_SET_ANYWHERE")),
            "baseUrl(null): expected something like http://localhost:8000/v1; is the environment"
                + " variable or property set that it comes from?"),
        mistake(
            () ->
                llm("ask").chat().user("Hi").header("X-Tenant", System.getenv("NOT_SET_ANYWHERE")),
            "header(null): expected a text or a Gatling EL String; is the environment variable or"
                + " property set that it comes from?"),
        mistake(() -> llm.baseUrl(URL).model("#{").protocol(), "model(\"#{\")" + NO_NAME),
        mistake(() -> llm.baseUrl(URL).apiKey("sk-123456 #{").protocol(), "apiKey(…)" + NO_NAME),
        mistake(
            () -> exec(conversation("h").dialog("dialog")),
            "dialog(\"dialog\"): expected a Dialog, or a Gatling EL String that" + " gives one"));
  }

  @ParameterizedTest
  @MethodSource("mistakes")
  void areOneLine(ThrowingCallable mistake, String line) {
    assertThatThrownBy(mistake).isInstanceOf(InvalidSimulation.class).hasMessage(line);
  }

  static Stream<ActionBuilder> requests() {
    return Stream.of(
        ask().maxTokens("#{most}").temperature("#{heat}").stream("#{streamed}").seed("7"),
        ask().maxTokens("128").stream("false").topP("0.5").seed(" 2 "),
        ask().body("{\"top_k\": #{k}").toolChoice("\"auto\"").tools("[#{tools}]"),
        llm("ask").chat().messages("[{\"role\": \"user\", \"content\": \"Hi\"}]"),
        llm("ask").chat().messages("#{messages}"),
        llm("ask #{n}").chat().user("It costs $5 {really}"));
  }

  @ParameterizedTest
  @MethodSource("requests")
  void valuesOfTheSessionAreNotCheckedBeforeTheRun(ActionBuilder request) {
    assertThat(exec(request)).isNotNull();
  }

  @Test
  void whatIsCompleteIsAccepted() {
    exec(conversation("begun"));
    Stream.of(
            llm("ask").messages().user("Hi").maxTokens(1),
            llm("ask").messages().user("Hi").body("{\"max_tokens\": 1}"),
            llm("ask").chat().history("begun").user("Hi"))
        .forEach(each -> each.request.validateIn(protocol()));
    llm("ask").messages().user("Hi").request.validateIn(llm.body("{\"max_tokens\":1}").protocol());
  }

  /** Parameters before the first message give the same request. */
  @Test
  void orderOfMessagesAndParametersIsFree() {
    assertThat(
            llm("ask").chat().model("x").maxTokens(5).tools("[]").slo("ttft<1s").user("Hi").request)
        .usingRecursiveComparison()
        .isEqualTo(
            llm("ask")
                .chat()
                .user("Hi")
                .model("x")
                .maxTokens(5)
                .tools("[]")
                .slo("ttft<1s")
                .request);
    assertThat(exec(llm("c").completion().model("x").temperature(0).prompt("Hi"))).isNotNull();
    assertThat(exec(llm("e").embeddings().model("x").header("X-A", "b").input("Hi"))).isNotNull();
  }

  private static LlmProtocol protocol() {
    return llm.baseUrl(URL).protocol();
  }

  @Test
  void headerNamesAreCaseInsensitive() {
    assertThat(
            ask()
                .header("x-tenant", "a")
                .header("X-B", "1")
                .header("X-Tenant", "c")
                .request
                .headers)
        .containsOnlyKeys("X-B", "X-Tenant");
    assertThat(
            llm.baseUrl(URL)
                .headers(Map.of("AUTHORIZATION", "a"))
                .header("Authorization", "b")
                .protocol()
                .headers)
        .containsOnlyKeys("Authorization");
  }

  private static Arguments request(Supplier<ActionBuilder> request, String line) {
    return mistake(() -> exec(request.get()), line);
  }

  private static Arguments mistake(ThrowingCallable mistake, String line) {
    return Arguments.of(mistake, line);
  }
}
