package io.github.gatlingllm.javaapi;

import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.md5;
import static io.github.gatlingllm.javaapi.LlmDsl.closedLoop;
import static io.github.gatlingllm.javaapi.LlmDsl.conversation;
import static io.github.gatlingllm.javaapi.LlmDsl.finishReason;
import static io.github.gatlingllm.javaapi.LlmDsl.huggingFace;
import static io.github.gatlingllm.javaapi.LlmDsl.llm;
import static io.github.gatlingllm.javaapi.LlmDsl.openLoop;
import static io.github.gatlingllm.javaapi.LlmDsl.poissonUsersPerSec;
import static io.github.gatlingllm.javaapi.LlmDsl.slo;
import static io.github.gatlingllm.javaapi.LlmDsl.tiktoken;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gatling.javaapi.core.ActionBuilder;
import io.gatling.javaapi.core.CheckBuilder;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.core.exec.Executable;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.LlmProtocol;
import io.github.gatlingllm.docs.ReferencePage;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.settings.AgentX;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.Tokenizer;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The entire DSL: immutable, usable outside a run, and clear about mistakes. */
class LlmDslTest {

  private static final String URL = "http://localhost:8000/v1";
  private static final LlmAssertion.WithMetric<TimeCondition> TTFT = LlmDsl.llmGlobal().ttft();

  private static final String NO_NAME = ": not a Gatling EL String: attribute name is missing";
  private static final String NO_NUMBER =
      ": expected an integer, or a Gatling EL String that gives one";

  private static ChatRequestBuilder ask() {
    return llm("ask").chat().user("Hello");
  }

  /** They set what is the default already. */
  private static final Set<String> CHANGE_NOTHING = Set.of("shareConnections", "poisson");

  /** None of these needs a running Gatling: this class runs in none. */
  private static List<Object> builders() {
    return List.of(
        llm.baseUrl(URL),
        llm("ask").chat().user("#{prompt}"),
        llm("complete").completion().prompt("Once"),
        llm("embed").embeddings().input("Once"),
        llm("rank").rerank().query("Why?").documents("Once"),
        conversation("history"),
        slo(),
        closedLoop(1),
        openLoop(1).seed(1),
        LlmDsl.maxGoodput().seed(1),
        LlmDsl.batch(8),
        LlmDsl.dataset(LlmDsl.shareGpt("datasets/sharegpt.json")).seed(1),
        LlmDsl.shareGpt("datasets/sharegpt.json"),
        LlmDsl.image(2, 2),
        LlmDsl.prompts().text("Say hello."),
        LlmDsl.lengths().pair(256, 128),
        LlmDsl.dialog(),
        LlmDsl.mix(),
        poissonUsersPerSec(25));
  }

  static Stream<Arguments> changes() {
    return builders().stream()
        .flatMap(
            builder ->
                Arrays.stream(builder.getClass().getMethods())
                    .filter(method -> !Modifier.isStatic(method.getModifiers()))
                    .filter(method -> !method.isBridge())
                    .filter(method -> method.getReturnType().isInstance(builder))
                    .filter(method -> method.getReturnType() != Object.class)
                    .filter(method -> !method.getReturnType().isInterface())
                    .map(method -> Arguments.of(method, builder)));
  }

  @ParameterizedTest
  @MethodSource("changes")
  void methodsReturnANewOccurrenceAndLeaveTheOriginal(Method method, Object builder)
      throws Exception {
    String before = picture(builder);

    Stream<Class<?>> types = Arrays.stream(method.getParameterTypes());
    Object changed = method.invoke(builder, types.map(type -> argument(method, type)).toArray());

    assertThat(changed).isNotSameAs(builder).hasSameClassAs(builder);
    assertThat(picture(builder)).as("the original").isEqualTo(before);
    if (!CHANGE_NOTHING.contains(method.getName())) {
      assertThat(picture(changed)).as("the new occurrence").isNotEqualTo(before);
    }
  }

  @Test
  void buildersHaveMethodsToChange() {
    assertThat(changes().map(change -> change.get()[1].getClass()).distinct())
        .hasSize(builders().size());
    assertThat(changes().count()).isGreaterThan(100);
  }

  private static List<Class<?>> api() throws Exception {
    List<Class<?>> types = new ArrayList<>();
    Path ours = Path.of(LlmDsl.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    String name = LlmDsl.class.getPackageName();
    try (Stream<Path> files = Files.list(ours.resolve(name.replace('.', '/')))) {
      for (Path file : files.toList()) {
        String simple = file.getFileName().toString().replace(".class", "");
        Class<?> type = Class.forName(name + "." + simple);
        if (Modifier.isPublic(type.getModifiers())) {
          types.add(type);
        }
      }
    }
    return types;
  }

  /** What programs of users call. A line that goes or changes is one that no longer compiles. */
  @Test
  void methodsAreThoseOfTheirList() throws Exception {
    ReferencePage.at(Path.of("src/test/resources/io/github/gatlingllm/javaapi/methods.txt"))
        .mustBe(
            api().stream()
                .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
                .filter(method -> Modifier.isPublic(method.getModifiers()) && !method.isBridge())
                .map(method -> method.toGenericString().replaceAll("[a-z.]+[.](?=[A-Z])", ""))
                .sorted()
                .collect(Collectors.joining("\n", "", "\n")));
  }

  static Stream<Arguments> mistakes() {
    return Stream.of(
        mistake(() -> llm.baseUrl("ftp://host/v1"), "'ftp://host/v1' is not a base URL"),
        mistake(() -> llm.baseUrl("http:// x"), "'http:// x' is not a base URL"),
        mistake(() -> llm.baseUrl(""), "'' is not a base URL"),
        mistake(
            () -> llm.baseUrl("http://my_vllm:8000/v1"), "has an underscore, which URLs do not"),
        mistake(() -> llm.baseUrl(URL, "nowhere"), "'nowhere' is not a base URL"),
        mistake(
            () -> llm("ask").chat().user("hi").requestTimeout(0),
            "requestTimeout(PT0S): expected more than zero"),
        mistake(() -> llm.idleTimeout(-1), "idleTimeout(PT-1S): expected more than zero"),
        mistake(() -> llm.trace(2), "trace(2.0): expected a percentage above 0 % and up to 100 %"),
        mistake(() -> llm.trace(Double.NaN), "trace(NaN): "),
        mistake(() -> llm.export("vllm", "pdf"), "export(vllm,pdf): "),
        mistake(() -> conversation("h").contextLimit(0), "contextLimit(0): expected 1 token"),
        mistake(
            () -> LlmDsl.dataset(LlmDsl.shareGpt("none.json")),
            "dataset(sharegpt none.json): none.json: no such file, neither in the file system nor"),
        mistake(() -> LlmDsl.image("none.png"), "image(\"none.png\"): none.png: no such file"),
        mistake(
            () -> LlmDsl.image("datasets/openai.jsonl"),
            "image(\"datasets/openai.jsonl\"): expected .png, .jpg, .gif or .webp"),
        mistake(() -> LlmDsl.image(new byte[1], "cat"), "image(…, \"cat\"): expected a type such"),
        mistake(() -> LlmDsl.image(0, 9), "image(0, 9): expected 1 to 64000000 pixels"),
        mistake(() -> LlmDsl.image(9, 9).variants(0), "variants(0): expected 1 image or more"),
        mistake(() -> llm.body("[1]"), "body '[1]' is not understood; expected a JSON object"),
        mistake(
            () -> llm.sharedPrefix(0, 5), "sharedPrefix(0, 5): 0 shared prefixes of 5 tokens; exp"),
        mistake(() -> LlmDsl.prompts().tokens(0), "a length of 0 tokens; expected 1 to 1,000,000"),
        mistake(() -> LlmDsl.uniformTokens(9, 5), "lengths from 9 to 5; expected the shortest"),
        mistake(() -> LlmDsl.normalTokens(0, 5), "lengths of mean 0.0 and std 5.0; expected a"),
        mistake(
            () -> LlmDsl.prompts().file("none.txt"),
            "prompts().file(\"none.txt\"): none.txt: no such"),
        mistake(() -> LlmDsl.prompts().distinct(0), "distinct(0): expected 1 prompt or more"),
        mistake(() -> LlmDsl.ragAgent().turns(3), "C.turns(3): expected 1 turn or more, of a"),
        mistake(() -> LlmDsl.dialog().completion(a -> a).toChainBuilder(), "D.completion(): a dia"),
        mistake(() -> LlmDsl.mix().add(0, LlmDsl.dialog()), "mix().add(0.0): expected a number"),
        mistake(
            () -> LlmDsl.mix().add(Double.POSITIVE_INFINITY, LlmDsl.dialog()),
            "mix().add(Infinity): expected a number"),
        mistake(() -> LlmDsl.mix().toChainBuilder(), "mix() is empty; add workloads: mix().add("),
        mistake(
            () -> llm.abandonAfter(2, Duration.ofSeconds(1)), "abandonAfter(2.0, PT1S, PT1S): exp"),
        mistake(
            () -> llm("ask").chat().user("Hi").abandonAfter(Duration.ZERO),
            "abandonAfter(1.0, PT0S, PT0S): expected a share above 0"),
        mistake(
            () -> llm.conversationHeader("x session"),
            "conversationHeader(\"x session\"): expected a header name"),
        mistake(() -> llm.model("lora", 0), "model(\"lora\", 0.0): expected a name and a weight"),
        mistake(() -> llm.maxTokensField("tokens"), "maxTokensField(\"tokens\"): expected one of"),
        mistake(() -> slo().stall(-5), "slo().stall(PT-0.005S): expected more than zero"),
        mistake(() -> slo().percentile(101), "101"),
        mistake(() -> llm.slo(slo()), "slo() has no objective; add one: slo().ttft(200), or "),
        mistake(() -> llm.slo("C", slo().percentile(95)), "slo() has no objective"),
        mistake(() -> llm("ask").chat().user("Hi").slo("ttft<"), "SLO 'ttft<' is not understood"),
        mistake(() -> tiktoken("gpt2"), "encoding 'gpt2' is unknown; expected one of r50k_base, "),
        mistake(() -> huggingFace("no.json"), "hf:no.json is not a readable file; expected the "),
        mistake(() -> TTFT.percentile(0), "percentile(0.0): expected a number above"),
        mistake(() -> TTFT.percentile(101), "percentile(101.0): expected a number"),
        mistake(() -> TTFT.mean().between(2, 1), "two finite numbers, the smaller one first"),
        mistake(() -> TTFT.mean().lt(Double.NaN), "expected a finite number"),
        mistake(() -> TTFT.mean().in(), "expected one finite number or more"),
        mistake(() -> TTFT.mean().deviatesAround(2, 10), "expected a share of the mean, 0 to 1"),
        mistake(() -> llm.baseUrl("http://a:b@c/v1"), "baseUrl(…): expected no credentials"),
        mistake(() -> llm.warmUp(-1), "warmUp(-1): expected"),
        mistake(() -> llm.beforeLevel("/reset"), "'/reset' is not a request; expected"),
        mistake(() -> llm.answers("none.csv"), "answers(none.csv): none.csv: no such file"),
        mistake(() -> llm.gpus(0), "gpus(0.0): expected"),
        mistake(() -> llm.readingSpeed(0), "readingSpeed(0.0): expected"),
        mistake(() -> llm.maxInFlight(0), "maxInFlight(0): expected"),
        mistake(() -> llm.maxRequestsPerMinute(0), "maxRequestsPerMinute(0): expected"),
        mistake(() -> llm.maxTokensPerMinute(-5), "maxTokensPerMinute(-5): expected"),
        mistake(() -> llm.metricsUrl("here"), "metricsUrl(here): expected"),
        mistake(
            () -> llm.sloTier("a", slo().ttft(9)).sloTier("a", slo().ttft(8)),
            "tier 'a' is named twice"),
        // Load
        mistake(() -> poissonUsersPerSec(0), "Rate 0.0 is out of range; expected"),
        mistake(() -> poissonUsersPerSec(1).during(0), "during(PT0S): expected more than zero"),
        mistake(() -> LlmDsl.gammaUsersPerSec(-1), "Rate -1.0 is out of range; expected"),
        mistake(() -> LlmDsl.gammaUsersPerSec(1).cv(0), "cv(0.0) is not valid; expected above 0"),
        mistake(() -> LlmDsl.usersPerSec(t -> -1).during(1), "The rate curve is -1.0 at 0.0 s"),
        mistake(() -> LlmDsl.usersPerSec(t -> 1).gamma(-1), "cv(-1.0) is not valid"),
        mistake(() -> LlmDsl.replay("none.csv"), "none.csv: no such file"),
        mistake(() -> closedLoop(8, 0), "closedLoop(0) offers no load"),
        mistake(() -> closedLoop(), "The load plan has no level"),
        mistake(() -> closedLoop(1, 1), "Level c=1 occurs twice"),
        mistake(() -> closedLoop(8).stabilize(-1), "stabilize(-1 s) is not a duration"),
        mistake(() -> closedLoop(1).measure(0), "measure(0 s) measures nothing"),
        mistake(() -> closedLoop(1).requests(0), "requests(0)"),
        mistake(() -> closedLoop(1).stopWhen(), "stopWhen() has no rule"),
        mistake(() -> closedLoop(8).target(" ", llm), "target(\" \"): expected a name"),
        mistake(() -> LlmDsl.oneAfterTheOther(), "oneAfterTheOther(): expected at least one"),
        mistake(() -> openLoop(-1), "Rate -1.0 is out of range"),
        mistake(() -> openLoop(1).gamma(0), "cv(0.0) is not valid"),
        mistake(() -> openLoop(t -> -1, Duration.ofSeconds(1)), "The rate curve is -1.0 at 0.0 s"),
        mistake(() -> LlmDsl.batch(0), "batch(0).trials(1) offers no load"),
        mistake(() -> LlmDsl.batch(1).trials(0), "batch(1).trials(0) offers no load"),
        mistake(() -> LlmDsl.maxGoodput().precision(1), "precision(1.0) cannot be met"),
        mistake(() -> LlmDsl.sloBelow(101), "sloBelow(101.0) is not a percentage"),
        mistake(() -> LlmDsl.errorsAbove(101), "errorsAbove(101.0) is not a percentage"),
        mistake(() -> LlmDsl.errorCountAbove(-1), "errorCountAbove(-1) is always broken"),
        // EL
        request(() -> ask().temperature("hot"), "temperature(\"hot\"): expected"),
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
        // What is incomplete
        request(() -> llm("ask").chat().maxTokens(5), "llm(\"ask\"): expected a message; add one"),
        request(
            () -> llm("ask").chat().system("Be brief.").history("h"),
            "llm(\"ask\"): expected a mess"),
        request(() -> llm("c").completion(), "llm(\"c\"): expected a prompt; set it: .prompt("),
        request(() -> llm("e").embeddings(), "llm(\"e\"): expected a text; add one: .input("),
        request(() -> llm("r").rerank().documents("a"), "llm(\"r\"): expected a query; set it: .q"),
        request(() -> llm("r").rerank().query("a"), "llm(\"r\"): expected a text; add one: .doc"),
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
            "dialog(\"dialog\"): expected a Dialog, or a Gatling EL String that gives one"));
  }

  @ParameterizedTest
  @MethodSource("mistakes")
  void mistakesAreRefusedInOneLine(ThrowingCallable mistake, String message) {
    assertThatThrownBy(mistake)
        .isInstanceOf(InvalidSimulation.class)
        .satisfies(e -> assertThat(e.getMessage()).hasLineCount(1).hasSizeLessThanOrEqualTo(200))
        .hasMessageNotContainingAny("s3cret", "sk-123456")
        .hasMessageContaining(message);
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

  @Test
  void orderOfMessagesAndParametersIsFree() {
    ChatRequestBuilder userLast =
        llm("ask").chat().model("x").maxTokens(5).tools("[]").slo("ttft<1s").user("Hi");
    ChatRequestBuilder userFirst =
        llm("ask").chat().user("Hi").model("x").maxTokens(5).tools("[]").slo("ttft<1s");
    assertThat(userLast.request).usingRecursiveComparison().isEqualTo(userFirst.request);
    assertThat(exec(llm("c").completion().model("x").temperature(0).prompt("Hi"))).isNotNull();
    assertThat(exec(llm("e").embeddings().model("x").header("X-A", "b").input("Hi"))).isNotNull();
    assertThat(exec(llm("r").rerank().model("x").query("?").header("X-A", "b").documents("Hi")))
        .isNotNull();
  }

  private static LlmProtocol protocol() {
    return llm.baseUrl(URL).protocol();
  }

  @Test
  void headerNamesAreCaseInsensitive() {
    ChatRequestBuilder request = ask().header("x-tenant", "a").header("X-B", "1");
    assertThat(request.header("X-Tenant", "c").request.headers).containsOnlyKeys("X-B", "X-Tenant");
    LlmProtocolBuilder protocol = llm.baseUrl(URL).headers(Map.of("AUTHORIZATION", "a"));
    assertThat(protocol.header("Authorization", "b").protocol().headers())
        .containsOnlyKeys("Authorization");
  }

  @Test
  void aNullOrEmptyKeyIsNoKey() {
    assertThat(llm.baseUrl(URL).apiKey((String) null).protocol().apiKey()).isNull();
    assertThat(llm.baseUrl(URL).apiKey("").protocol().apiKey()).isNull();
    assertThat(llm.baseUrl(URL).apiKey("sk-1").protocol().apiKey()).isNotNull();
  }

  @Test
  void agentXIsByItsRules() {
    assertThat(AgentX.deviations(llm.agentX().protocol()::get, Map.of(), null)).isEmpty();
    assertThat(AgentX.isRequested(llm.agentX().protocol().notes())).isTrue();
    assertThat(
            AgentX.deviations(
                llm.agentX().sessionSpeed(2).serverAnswers().protocol()::get,
                Map.of("maxTokens", "9"),
                Duration.ofSeconds(60)))
        .containsExactly("sessionSpeed=2", "sessionAnswers=server", "duration=60s", "maxTokens=9");
  }

  @Test
  void aSlashAtTheEndOfTheUrlIsIgnored() {
    assertThat(llm.baseUrl(URL + "/").protocol().baseUrls()).containsExactly(URL);
  }

  private static Arguments request(Supplier<ActionBuilder> request, String line) {
    return mistake(() -> exec(request.get()), line);
  }

  private static Arguments mistake(ThrowingCallable call, String message) {
    return Arguments.of(call, message);
  }

  private static Object argument(Method method, Class<?> type) {
    Map<Class<?>, Object> values =
        Map.ofEntries(
            Map.entry(int.class, 2),
            Map.entry(long.class, 3L),
            Map.entry(double.class, 0.5),
            Map.entry(boolean.class, false),
            Map.entry(AutoCloseable.class, (AutoCloseable) () -> {}),
            Map.entry(Duration.class, Duration.ofSeconds(4)),
            Map.entry(Image.class, LlmDsl.image(2, 2)),
            Map.entry(Image[].class, new Image[0]),
            Map.entry(Tokenizer.class, Tokenizer.chars4()),
            Map.entry(Map.class, Map.of("X-Other", "value")),
            Map.entry(SloBuilder.class, slo().ttft(1)),
            Map.entry(LengthDistribution.class, LengthDistribution.exactly(7)),
            Map.entry(LengthsBuilder.class, LlmDsl.lengths().pair(256, 128)),
            Map.entry(Executable.class, conversation("history")),
            Map.entry(UnaryOperator.class, UnaryOperator.identity()),
            Map.entry(Slo.class, Slo.parse("ttft<1ms")),
            Map.entry(LlmAssertion[].class, new LlmAssertion[] {LlmDsl.llmValid()}),
            Map.entry(CheckBuilder[].class, new CheckBuilder[] {finishReason().is("stop")}),
            Map.entry(Function.class, (Function<Session, String>) session -> "x"),
            Map.entry(BiFunction.class, (BiFunction<Object, Session, Boolean>) (r, s) -> true));
    if (type == String[].class) {
      return Map.of(
              "beforeLevel",
              new String[] {"POST:/reset"},
              "afterLevel",
              new String[] {"POST:/stop@c=8"},
              "export",
              new String[] {"vllm"})
          .getOrDefault(method.getName(), new String[] {URL});
    }
    if (type == String.class) {
      return Map.of(
              "baseUrl",
              URL + "/other",
              "metricsUrl",
              URL + "/metrics",
              "body",
              "{\"a\":1}",
              "header",
              "x",
              "conversationHeader",
              "x",
              "maxTokensField",
              "max_completion_tokens",
              "sloTier",
              "gold",
              "answers",
              "check",
              "slo",
              "ttft<2s",
              "file",
              "src/gatling/resources/prompts.json")
          .getOrDefault(method.getName(), "#{x}");
    }
    if (type == List.class) {
      return switch (method.getName()) {
        case "check" -> List.of(finishReason().is("stop"));
        case "assertions" -> List.of(LlmDsl.llmValid());
        default -> List.of(URL + "/other");
      };
    }
    assertThat(values).as("a value for " + method).containsKey(type);
    return values.get(type);
  }

  /** All that an object of ours holds, as text; what cannot be looked into by its identity. */
  private static String picture(Object value) throws IllegalAccessException {
    if (value instanceof Map<?, ?> map) {
      return picture(new ArrayList<>(map.keySet())) + picture(new ArrayList<>(map.values()));
    }
    if (value instanceof List<?> list) {
      StringBuilder all = new StringBuilder("(");
      for (Object part : list) {
        all.append(picture(part)).append(' ');
      }
      return all + ")";
    }
    if (value == null
        || value instanceof Dynamic
        || value instanceof Enum
        || value instanceof Setting
        || !value.getClass().getName().startsWith("io.github.gatlingllm")) {
      return value instanceof double[] || value instanceof int[] || value == null
          ? "array or null"
          : value.toString();
    }
    StringBuilder all = new StringBuilder(value.getClass().getSimpleName()).append('{');
    for (Class<?> type = value.getClass(); type != Object.class; type = type.getSuperclass()) {
      for (Field field : type.getDeclaredFields()) {
        if (!Modifier.isStatic(field.getModifiers()) && !type.getName().startsWith("java.")) {
          field.setAccessible(true);
          all.append(field.getName()).append('=').append(picture(field.get(value))).append(' ');
        }
      }
    }
    return all.append('}').toString();
  }
}
