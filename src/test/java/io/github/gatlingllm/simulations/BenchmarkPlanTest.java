package io.github.gatlingllm.simulations;

import static io.github.gatlingllm.javaapi.LlmDsl.llm;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.LlmProtocol;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.Phases;
import io.github.gatlingllm.record.Assertion;
import io.github.gatlingllm.simulations.BenchmarkPlan.Connections;
import io.github.gatlingllm.workload.PromptPool;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.Prompts;
import io.github.gatlingllm.workload.Tokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

final class BenchmarkPlanTest {

  private static final String KEY = "sk-very-secret";

  private static final String TRACE = "src/test/resources/traces/azure.csv";

  @TempDir private Path folder;

  @Test
  void nothingSetIsASweepOfTheEmbeddedEngine() {
    BenchmarkPlan settings = read(Map.of());
    assertThat(settings.embedded()).isTrue();
    assertThat(settings.api()).isEqualTo(Api.CHAT);
    assertThat(settings.load().levels())
        .extracting(LoadLevel::label)
        .containsExactly("c=1", "c=2", "c=4", "c=8", "c=16", "c=32", "c=64");
    assertThat(settings.load().words().kind()).isEqualTo("closed loop");
    Phases phases = Phases.DEFAULT.withMeasure(Duration.ofSeconds(7).toNanos());
    assertThat(settings.load().levels())
        .extracting(LoadLevel::phases)
        .containsOnly(phases, phases.withFill(0));
    assertThat(settings.load().words().phases()).as("of more than one user").isEqualTo(phases);
    assertThat(settings.get(Setting.WARMUP)).isEqualTo(1);
    assertThat(settings.workload().name()).isEqualTo("built-in");
    assertThat(settings.workload().made()).isEqualTo(1_000);
    assertThat(settings.prefix()).isInstanceOf(PromptPrefix.Unique.class);
    assertThat(settings.get(Setting.STREAM)).isTrue();
    assertThat(settings.get(Setting.MAX_TOKENS)).isEqualTo(16);
    assertThat(settings.get(Setting.IGNORE_EOS)).isTrue();
    assertThat(settings.get(Setting.TEMPERATURE)).isNull();
    assertThat(settings.get(Setting.TOP_P)).isNull();
    assertThat(settings.get(Setting.BODY)).isEmpty();
    assertThat(settings.settings().headers()).isEmpty();
    assertThat(settings.get(Setting.TIMEOUT)).isEqualTo(Duration.ofMinutes(10));
    assertThat(settings.get(Setting.IDLE_TIMEOUT)).isEqualTo(Duration.ofMinutes(2));
    assertThat(settings.get(Setting.MAX_IN_FLIGHT)).isNull();
    assertThat(settings.get(Setting.VERIFY_TLS)).isTrue();
    assertThat(settings.get(Setting.CONNECTIONS)).isEqualTo(Connections.SHARED);
    assertThat(settings.get(Setting.INTERLEAVE)).isFalse();
    assertThat(settings.slo().isEmpty()).isTrue();
    assertThat(settings.seed()).isEqualTo(4711);
    assertThat(settings.get(Setting.RECORD_TEXT)).isFalse();
    assertThat(settings.get(Setting.RECORD_TOKENS)).isTrue();
    assertThat(settings.get(Setting.CSV)).isFalse();
    assertThat(settings.get(Setting.INDEX_BLOCK)).isTrue();
    assertThat(settings.get(Setting.FAIL_BUILD)).isTrue();
    assertThat(settings.get(Setting.DRY_RUN)).isFalse();
    assertThat(settings.config()).isEmpty();
    assertThat(settings.settings().warnings()).isEmpty();
  }

  @Test
  void aSelfTestIsASweepOfItsOwn() {
    BenchmarkPlan plan = read(Map.of("selfTest", "true", "concurrency", "1,4"));
    assertThat(plan.embedded()).isTrue();
    assertThat(labels(plan)).isEqualTo("c=1 c=4");
    assertThat(plan.get(Setting.MAX_TOKENS)).isEqualTo(50);
    assertThat(plan.slo().toString()).isEqualTo("e2e<1620ms");
    assertThat(plan.load().words().phases().fillNanos()).isEqualTo(1_080_000_000L);
    assertThat(plan.load().words().stopWhen()).hasToString("[slo<50%, errorsInARow>100]");
    assertThat(labels(read(Map.of("selfTest", "true")))).startsWith("c=1 c=16").endsWith("c=4096");
  }

  @Test
  void aSelfTestRefusesSettingsOfItsLoad() {
    assertThatThrownBy(() -> read(Map.of("selfTest", "true", "rate", "5")))
        .hasMessage(
            "llm.selfTest=true: cannot be set together with llm.rate (a self-test has its own"
                + " load)");
  }

  @Test
  void aSelfTestRefusesAnInjectorOfTheEnvironment() {
    Settings settings =
        new Settings(
            Map.of("llm.selfTest", "true"), Map.of("LLM_INJECTOR", "1/2"), folder.resolve(".env"));
    assertThatThrownBy(() -> BenchmarkPlan.of(settings, () -> 1))
        .hasMessage(
            "llm.injector=1/2 (LLM_INJECTOR in the environment): cannot be set together with"
                + " llm.selfTest (a self-test runs in one process)");
  }

  @Test
  void aSelfTestIgnoresTheEndpointOfTheEnvironment() {
    Settings settings =
        new Settings(
            Map.of("llm.selfTest", "true"),
            Map.of("LLM_ENDPOINT", "http://a/v1", "LLM_API_KEY", KEY, "LLM_DURATION", "2"),
            folder.resolve(".env"));
    BenchmarkPlan plan = BenchmarkPlan.of(settings, () -> 1);
    assertThat(plan.embedded()).isTrue();
    assertThat(plan.config())
        .doesNotContainKeys("endpoint", "apiKey")
        .containsEntry("duration", "2");
    assertThat(settings.warnings()).isEmpty();
  }

  @Test
  void anEndpointIsMeasuredAtConcurrency8For30Seconds() {
    BenchmarkPlan settings = read(Map.of("endpoint", "http://a/v1"));
    assertThat(settings.targets())
        .containsExactly(
            new Target(
                null, new EndpointSpec("http://a/v1/chat/completions", Api.CHAT), null, null));
    assertThat(settings.load().levels()).containsExactly(new LoadLevel.Closed(8, Phases.DEFAULT));
  }

  static Stream<Arguments> goodValues() {
    return Stream.of(
        good("api", "completions", BenchmarkPlan::api, Api.COMPLETIONS),
        good("api", "embeddings", BenchmarkPlan::api, Api.EMBEDDINGS),
        good("endpoint", "http://a/v1/responses", BenchmarkPlan::api, Api.RESPONSES),
        good("stream", "false", s -> s.get(Setting.STREAM), false),
        good("stream", "TRUE", s -> s.get(Setting.STREAM), true),
        good("concurrency", "3", s -> labels(s), "c=3"),
        good("concurrency", "1, 4,2", s -> labels(s), "c=1 c=4 c=2"),
        good("rate", "0.5,16,2.50", s -> labels(s), "r=0.5 r=16 r=2.5"),
        good("rate", "4", s -> s.load().words().kind(), "open loop, poisson arrivals"),
        good("duration", "2.5", BenchmarkPlanTest::measured, Duration.ofMillis(2500)),
        good("duration", "500ms", BenchmarkPlanTest::measured, Duration.ofMillis(500)),
        good("duration", "30s", BenchmarkPlanTest::measured, Duration.ofSeconds(30)),
        good("duration", "2m", BenchmarkPlanTest::measured, Duration.ofMinutes(2)),
        good("duration", "1h", BenchmarkPlanTest::measured, Duration.ofHours(1)),
        good("requests", "200", s -> s.load().words().phases().requests(), 200),
        good("fill", "auto", s -> s.load().words().phases().fillNanos(), null),
        good("fill", "2", s -> s.load().words().phases().fillNanos(), 2_000_000_000L),
        good("stabilize", "auto", s -> s.load().words().phases().stabilizeNanos(), null),
        good("stabilize", "500ms", s -> s.load().words().phases().stabilizeNanos(), 500_000_000L),
        good("cooldown", "false", s -> s.load().words().phases().cooldown(), false),
        good("warmup", "0", s -> s.get(Setting.WARMUP), 0),
        good("drain", "0", s -> s.load().words().phases().drainNanos(), 0L),
        good("maxTokens", "16", s -> s.get(Setting.MAX_TOKENS), 16),
        good("ignoreEos", "false", s -> s.get(Setting.IGNORE_EOS), false),
        good("prompt", "Hi, you", s -> prompts(s).pick(1).text(), "Hi, you"),
        good("temperature", "0", s -> s.get(Setting.TEMPERATURE), 0.0),
        good("temperature", "0.7", s -> s.get(Setting.TEMPERATURE), 0.7),
        good("topP", "1", s -> s.get(Setting.TOP_P), 1.0),
        good("body", "{\"top_k\":40}", s -> s.get(Setting.BODY).toString(), "{\"top_k\":40}"),
        good("header.X-A", "b", s -> s.settings().headers(), Map.of("X-A", "b")),
        good("timeout", "1.5", s -> s.get(Setting.TIMEOUT), Duration.ofMillis(1500)),
        good("idleTimeout", "5s", s -> s.get(Setting.IDLE_TIMEOUT), Duration.ofSeconds(5)),
        good("slo", "ttft<200ms,e2e<10s", s -> s.slo().toString(), "ttft<200ms,e2e<10s"),
        good("slo", "ttft<200ms", s -> s.slo().all().percentile(), 99.0),
        good("seed", "-42", BenchmarkPlan::seed, -42L),
        good("maxInFlight", "64", s -> s.get(Setting.MAX_IN_FLIGHT), 64),
        good("recordText", "true", s -> s.get(Setting.RECORD_TEXT), true),
        good("recordTokens", "false", s -> s.get(Setting.RECORD_TOKENS), false),
        good("verifyTls", "false", s -> s.get(Setting.VERIFY_TLS), false),
        good("connections", "perUser", s -> s.get(Setting.CONNECTIONS), Connections.PER_USER),
        good("csv", "true", s -> s.get(Setting.CSV), true),
        good("indexBlock", "false", s -> s.get(Setting.INDEX_BLOCK), false),
        good("failBuild", "false", s -> s.get(Setting.FAIL_BUILD), false),
        good("failOnInvalid", "true", s -> s.get(Setting.FAIL_ON_INVALID), true),
        good("stopWhen", "never", s -> s.load().words().stopWhen(), List.of()),
        good("dryRun", "true", s -> s.get(Setting.DRY_RUN), true));
  }

  @ParameterizedTest
  @MethodSource("goodValues")
  void readsEverySetting(
      String name, String value, Function<BenchmarkPlan, Object> part, Object expected) {
    assertThat(part.apply(read(Map.of(name, value)))).isEqualTo(expected);
  }

  private static Prompts prompts(BenchmarkPlan settings) {
    return ((Workload.Pool) settings.workload()).prompts();
  }

  static Stream<Arguments> badValues() {
    String whole = "expected a whole number ≥ 1";
    String flag = "expected true or false";
    String seconds = "expected more than 0 seconds, or a number with a unit such as 500ms, 30s, 2m";
    String sweep = whole + " or a comma list such as 1,2,4";
    String rates = "expected requests per second > 0 or a comma list such as 1,2,4";
    return Stream.of(
        arguments(
            "endpoint",
            "a:8000",
            "expected http(s)://host[:port]/v1, or the same with /chat/completions,"
                + " /completions, /responses, /messages or /embeddings"),
        arguments("endpoint", "http://a/v1,", "expected a comma list without empty parts"),
        arguments(
            "api",
            "generate",
            "expected one of auto, chat, completions, responses, embeddings, messages"),
        arguments("stream", "yes", flag),
        arguments("concurrency", "abc", sweep),
        arguments("concurrency", "0", sweep),
        arguments("concurrency", "1,,2", "expected a comma list without empty parts"),
        arguments("concurrency", "99999999999", sweep),
        arguments("concurrency", "2,4,2", "expected each level once"),
        arguments("rate", "0", rates),
        arguments("rate", "-1", rates),
        arguments("rate", "NaN", rates),
        arguments("rate", "1e999", rates),
        arguments(
            "rate",
            "0:60s,10:",
            "expected a curve of <rate>:<duration> such as 0:60s,10:120s,50:60s or"
                + " steps:10:60s,50:60s"),
        arguments("rate", "0:60s", "offers no request; expected a rate > 0 somewhere"),
        arguments(
            "arrival",
            "trace:none.csv@2.0",
            "none.csv: no such file, nor on the class path; expected a trace of time stamps, CSV or"
                + " JSONL"),
        arguments("arrival", "poisson", "only open loops have arrivals; set llm.rate too"),
        arguments("duration", "0", seconds),
        arguments("duration", "-3", seconds),
        arguments("duration", "3 days", seconds),
        arguments("duration", "999999999h", seconds),
        arguments("requests", "0", whole),
        arguments("warmup", "-1", "expected a whole number ≥ 0"),
        arguments(
            "drain",
            "x",
            "expected 0 or more seconds, or a number with a unit such as 500ms, 30s, 2m"),
        arguments("maxInFlight", "0", whole),
        arguments("interleave", "both", flag),
        arguments("maxTokens", "0", whole),
        arguments("ignoreEos", "1", flag),
        arguments("prompts", "none.txt", "no such file; expected a path to a readable file"),
        arguments("prompts", "a\0b", "expected a path to a readable file"),
        arguments("temperature", "-0.1", "expected a number ≥ 0"),
        arguments("temperature", "warm", "expected a number ≥ 0"),
        arguments("topP", "0", "expected a number > 0 and ≤ 1"),
        arguments("topP", "1.1", "expected a number > 0 and ≤ 1"),
        arguments("body", "[1]", "expected a JSON object such as {\"top_k\":40}"),
        arguments("body", "{", "expected a JSON object such as {\"top_k\":40}"),
        arguments("body", "{\"stream\":false}", "expected no \"stream\"; use llm.stream"),
        arguments("timeout", "0", seconds),
        arguments("idleTimeout", "0s", seconds),
        arguments(
            "slo",
            "fast",
            "SLO 'fast' is not understood; expected <measure><limit> such as ttft<200ms, measures:"
                + " ttft ttfo tpot itl e2e stall, units: us ms s m h; or a preset such as"
                + " mlperf-llama2-70b-interactive"),
        arguments(
            "slo",
            "ttft<200ms,tftt<1s",
            "SLO 'tftt<1s' has no known measure: 'tftt'; expected one of ttft ttfo tpot itl e2e"
                + " stall"),
        arguments(
            "slo", "ttft>200ms", "SLO 'ttft>200ms' has '>'; a limit is an upper one: < or <="),
        arguments(
            "slo",
            "tpot<50ms,ttft<200",
            "SLO 'ttft<200' has no known limit: '200'; expected a number and us, ms, s, m or h"),
        arguments(
            "slo",
            "ttft<1.2.3s",
            "SLO 'ttft<1.2.3s' has no known limit: '1.2.3s'; expected a number and us, ms, s, m or"
                + " h"),
        arguments("slo", "D:ttft<1s", "no request and no target is called 'D'; expected chat"),
        arguments(
            "assert",
            "ttft.p99<200ms,tftt.p99<1",
            "no figure is called 'tftt.p99'; near it: ttft.p99, ttst.p99, tpot.p99, ttfo.p99"),
        arguments("assert", "goodput>=95%", "has no SLO to judge; set llm.slo too"),
        arguments("assert", "ttft.p99<200ms,", "expected a comma list without empty parts"),
        arguments(
            "assert",
            "c=3:ttft.p99<200ms",
            "no load level is called 'c=3'; expected c=1, c=2, c=4, c=8, c=16, c=32, c=64, chat"),
        arguments("sloPercentile", "95", "has no effect alone; set llm.slo too"),
        arguments("sloRule", "requests", "has no effect alone; set llm.slo too"),
        arguments("sloRule", "all", "expected one of percentiles, requests"),
        arguments("sloPercentile", "101", "expected a percentage > 0 and ≤ 100"),
        arguments("seed", "lucky", "expected a whole number of at most 64 bits"),
        arguments("recordText", "on", flag),
        arguments("recordTokens", "off", flag),
        arguments("verifyTls", "0", flag),
        arguments("connections", "many", "expected one of shared, perUser"),
        arguments("csv", "yes", flag),
        arguments("indexBlock", "no", flag),
        arguments("failBuild", "no", flag),
        arguments("dryRun", "no", flag));
  }

  @Test
  void readsAssertionsInOrder() {
    Map<String, String> settings =
        Map.of(
            "assert",
            "ttft.p99<200ms, goodput>=20/s,c=8:errors=0,valid",
            "slo",
            "ttft<1s",
            "failBuild",
            "false");
    assertThat(read(settings).get(Setting.ASSERT))
        .extracting(Assertion::scope, Assertion::name, Assertion::figure)
        .containsExactly(
            tuple(Assertion.Scope.GLOBAL, null, "ttft.p99"),
            tuple(Assertion.Scope.GLOBAL, null, "goodput.requests_per_s"),
            tuple(Assertion.Scope.STAGE, "c=8", "errors.count"),
            tuple(Assertion.Scope.RUN, null, "invalid_checks.count"));
    assertThat(read(settings).get(Setting.FAIL_BUILD)).isFalse();
    assertThat(read(Map.of()).get(Setting.ASSERT)).isEmpty();
    Map<String, String> search =
        Map.of("search", "maxGoodput", "slo", "ttft<1s", "assert", "r=3:errors=0");
    assertThat(read(search).get(Setting.ASSERT)).as("a search finds its stages itself").hasSize(1);
  }

  @ParameterizedTest
  @MethodSource("badValues")
  void refusesInOneLineWithNameValueAndWhatIsAllowed(String name, String value, String message) {
    assertThatThrownBy(() -> read(Map.of(name, value)))
        .isInstanceOf(InvalidSimulation.class)
        .hasMessage("llm." + name + "=" + value + ": " + message);
  }

  static Stream<Arguments> contradictions() {
    String arrivals =
        "expected poisson, constant, gamma:<cv> with a cv > 0 and ≤ 100, or trace:<file>[@<speed>]";
    return Stream.of(
        arguments(
            Map.of("concurrency", "2", "rate", "3"),
            "llm.concurrency=2: cannot be set together with llm.rate (the load is either a closed"
                + " or an open loop)"),
        arguments(
            Map.of("endpoint", "x=http://a/v1,x=http://b/v1"),
            "llm.endpoint=x=http://a/v1,x=http://b/v1: expected each name once"),
        arguments(
            Map.of("endpoint", "http://a/v1", "model", "x|"),
            "llm.model=x|: expected names such as llama-8b|llama-70b"),
        arguments(
            Map.of("stopWhen", "slo<50%"),
            "llm.stopWhen=slo<50%: has no SLO to judge; set llm.slo too"),
        arguments(
            Map.of("stopWhen", "errors>10%,slow"),
            "llm.stopWhen=errors>10%,slow: expected rules such as"
                + " slo<50%,errors>10%,errors>50,errorsInARow>100,overSaturated, or never"),
        arguments(
            Map.of("trials", "3", "rate", "2"),
            "llm.trials=3: cannot be set together with llm.rate (trials are bounded by their"
                + " count)"),
        arguments(Map.of("search", "knee"), "llm.search=knee: expected maxGoodput"),
        arguments(
            Map.of("search", "maxGoodput"),
            "llm.search=maxGoodput: has no SLO to hold; set llm.slo too"),
        arguments(
            Map.of("search", "maxGoodput", "slo", "ttft<1s", "rate", "1,2"),
            "llm.search=maxGoodput: expected one llm.rate at most, where it starts"),
        arguments(
            Map.of("search", "maxGoodput", "slo", "ttft<1s", "concurrency", "2"),
            "llm.search=maxGoodput: cannot be set together with llm.concurrency (it searches rates;"
                + " start it with llm.rate)"),
        arguments(
            Map.of("measure", "2", "duration", "3"),
            "llm.measure=2: cannot be set together with llm.duration (two names of the same"
                + " setting)"),
        arguments(
            Map.of("requests", "2", "cooldown", "true"),
            "llm.cooldown=true: cannot be set together with llm.requests (exactly that many"
                + " requests are sent)"),
        arguments(
            Map.of("stabilize", "soon"),
            "llm.stabilize=soon: expected auto, 0 or more seconds, or a number with a unit such as"
                + " 500ms, 30s, 2m"),
        arguments(
            Map.of("rate", "2", "fill", "3"),
            "llm.fill=3: only closed loops fill; use llm.stabilize with rates"),
        arguments(
            Map.of("dataset", "openai:a", "prompt", "b"),
            "llm.dataset=openai:a: cannot be set together with llm.prompt (each defines the"
                + " prompts)"),
        arguments(
            Map.of("dataset", "openai:a", "prompts", "b"),
            "llm.dataset=openai:a: cannot be set together with llm.prompts (each defines the"
                + " prompts)"),
        arguments(
            Map.of("dataset", "chats.json"),
            "llm.dataset=chats.json: expected <format>:<file>, e.g. sharegpt:chats.json"),
        arguments(
            Map.of("dataset", "alpaca:a.json"),
            "llm.dataset=alpaca:a.json: 'alpaca' is no dataset format; expected one of sharegpt,"
                + " oasst, longbench, mooncake, openai"),
        arguments(
            Map.of("dataset", "openai:datasets/sharegpt.json"),
            "llm.dataset=openai:datasets/sharegpt.json: sharegpt.json:2: entry 1: expected an"
                + " object with a list \"messages\", or with it in \"body\""),
        arguments(
            Map.of("prompt", "a", "prompts", "b"),
            "llm.prompt=a: cannot be set together with llm.prompts (prompts are either one text or"
                + " a file)"),
        arguments(Map.of("rate", "1", "arrival", "gamma:0"), "llm.arrival=gamma:0: " + arrivals),
        arguments(
            Map.of("rate", "1:9s", "duration", "3"),
            "llm.rate=1:9s: cannot be set together with llm.duration (a curve has its own"
                + " duration)"),
        arguments(
            Map.of("rate", "1", "arrival", "trace:" + TRACE),
            "llm.arrival=trace:"
                + TRACE
                + ": cannot be set together with llm.rate (a trace has its own rate)"),
        arguments(Map.of("rate", "1", "arrival", "bursts"), "llm.arrival=bursts: " + arrivals),
        arguments(
            Map.of("endpoint", "http://a/v1/completions", "api", "chat"),
            "llm.endpoint=http://a/v1/completions: the path is of llm.api=completions, but"
                + " llm.api=chat was set; remove llm.api"),
        arguments(
            Map.of("endpoint", "http://u:" + KEY + "@a/v1"),
            "llm.endpoint=http://***@a/v1: expected no credentials in the URL; use LLM_API_KEY"),
        arguments(
            Map.of("endpoint", "http://a/v1", "model", "x,y"),
            "llm.model=x,y: 2 values for 1 endpoint; expected one, or one for each" + " endpoint"),
        arguments(
            Map.of("endpoint", "http://a/v1,http://b/v1,http://c/v1", "model", "x,y"),
            "llm.model=x,y: 2 values for 3 endpoints; expected one, or one for each" + " endpoint"),
        arguments(
            Map.of("tokenizer", "gpt-4"),
            "llm.tokenizer=gpt-4: tokenizer 'gpt-4' is unknown; expected auto, chars4,"
                + " tiktoken:<encoding> or hf:<tokenizer.json>"),
        arguments(
            Map.of("tokenizer", "auto,chars4"),
            "llm.tokenizer=auto,chars4: 2 values for 1 target; expected one, or one for each"
                + " target"),
        arguments(
            Map.of("endpoint", "http://a/v1", "apiKey", KEY + "," + KEY),
            "llm.apiKey (LLM_API_KEY in the environment): 2 values for 1 endpoint; expected one,"
                + " or one for each endpoint"),
        arguments(
            Map.of("endpoint", "http://a/v1", "apiKey", KEY + " x"),
            "llm.apiKey (LLM_API_KEY in the environment): expected visible ASCII without spaces"));
  }

  @ParameterizedTest
  @MethodSource("contradictions")
  void refusesContradictions(Map<String, String> settings, String message) {
    assertThatThrownBy(() -> read(settings))
        .isInstanceOf(InvalidSimulation.class)
        .hasMessage(message)
        .hasMessageNotContaining(KEY);
  }

  @Test
  void valuesAreOneForAllEndpointsOrOneForEach() {
    BenchmarkPlan settings =
        read(
            Map.of(
                "endpoint", "http://a:1/v1, http://b:2/v1/completions",
                "model", "x,y",
                "apiKey", KEY,
                "interleave", "true"));
    assertThat(settings.targets())
        .containsExactly(
            new Target(
                null, new EndpointSpec("http://a:1/v1/chat/completions", Api.CHAT), "x", KEY),
            new Target(
                null, new EndpointSpec("http://b:2/v1/completions", Api.COMPLETIONS), "y", KEY));
    assertThat(settings.labels()).containsExactly("a:1", "b:2");
    assertThat(settings.get(Setting.INTERLEAVE)).isTrue();
    assertThat(read(Map.of("endpoint", "http://a/v1,http://b/v1", "model", "m")).targets())
        .extracting(Target::model)
        .containsExactly("m", "m");
  }

  @Test
  void warnsAboutWhatHasNoEffect() {
    assertThat(read(Map.of("endpoint", "http://a/v1", "interleave", "true")).settings().warnings())
        .containsExactly(
            "llm.interleave has no effect: it needs several endpoints in llm.endpoint");
    assertThat(read(Map.of("model", "x")).settings().warnings())
        .containsExactly("llm.model has no effect: no llm.endpoint, the embedded engine answers");
    assertThat(read(Map.of("endpoint", "http://a")).settings().warnings())
        .containsExactly(
            "llm.endpoint has no path: posting to http://a/chat/completions; most servers expect"
                + " /v1");
    assertThat(read(Map.of("requests", "4")).settings().warnings())
        .containsExactly("llm.requests=4 is below a level's concurrency: never reached");
  }

  @Test
  void everyTargetMayHaveItsOwnTokenizer() {
    assertThat(read(Map.of()).tokenizers())
        .as("the embedded engine's own")
        .extracting(Tokenizer::name)
        .containsExactly("chars4");
    assertThat(read(Map.of("tokenizer", "auto")).tokenizers())
        .extracting(Tokenizer::name)
        .containsExactly("tiktoken:cl100k_base");
    assertThat(read(Map.of("tokenizer", "chars4")).tokenizers())
        .extracting(Tokenizer::name)
        .containsExactly("chars4");
    String file = "hf:src/test/resources/tokenizers/bpe.tokenizer.json";
    assertThat(
            read(Map.of("endpoint", "http://a/v1,http://b/v1", "tokenizer", file + ", auto"))
                .tokenizers())
        .extracting(Tokenizer::name)
        .containsExactly(file, "tiktoken:cl100k_base");
    List<Tokenizer> shared =
        read(Map.of("endpoint", "http://a/v1,http://b/v1", "tokenizer", file)).tokenizers();
    assertThat(shared).hasSize(2);
    assertThat(shared.get(0)).as("one file is read once").isSameAs(shared.get(1));
  }

  @Test
  void theKeyIsOnlyInTheTarget() {
    BenchmarkPlan settings =
        read(Map.of("endpoint", "http://a/v1", "model", "m", "apiKey", KEY, "slo", "ttft<1s"));
    assertThat(settings.targets().get(0).apiKey()).isEqualTo(KEY);
    assertThat(settings.toString()).contains("http://a/v1").doesNotContain(KEY);
    assertThat(settings.config()).containsEntry("apiKey", "***").containsEntry("model", "m");
    assertThat(DryRun.text(settings)).doesNotContain(KEY);
  }

  @Test
  void readsPromptsFromAFileAndNamesItsBadLine() throws IOException {
    Path file = Files.writeString(folder.resolve("p.jsonl"), "\"one\"\n");
    assertThat(((PromptPool) prompts(read(Map.of("prompts", file.toString()))).source()).texts())
        .containsExactly("one");
    Files.writeString(file, "\"one\"\n2\n");
    assertThatThrownBy(() -> read(Map.of("prompts", file.toString())))
        .hasMessageStartingWith("llm.prompts=")
        .hasMessageEndingWith(
            ": p.jsonl:2: entry 2: expected a text, or an object with a \"prompt\" text");
  }

  private static Arguments good(
      String name, String value, Function<BenchmarkPlan, Object> part, Object expected) {
    return arguments(name, value, part, expected);
  }

  private static Duration measured(BenchmarkPlan plan) {
    return Duration.ofNanos(plan.load().words().phases().measureNanos());
  }

  @Test
  void objectivesAndGatesNameRequestsTargetsAndLevels() {
    BenchmarkPlan plan =
        read(
            Map.of(
                "endpoint", "vLLM=http://a:1/v1,b=http://b:2/v1",
                "scenario", "B1,D",
                "concurrency", "8",
                "slo", "ttft<1s,D:ttft<2s,vLLM:e2e<1m",
                "assert",
                    "D:errors=0,vLLM:errors<1%,vLLM:c=8:ttft.p99<1s,b:D:errors=0,c=8:errors=0"));
    assertThat(plan.slo()).hasToString("ttft<1s,D:ttft<2s,vLLM:e2e<60s");
    assertThat(plan.slo().of("b")).hasToString("ttft<1s");
    assertThat(plan.slo().of("vLLM")).hasToString("e2e<60s");
    assertThat(plan.assertions())
        .extracting(gate -> gate.target() + " " + gate.scope().key() + " " + gate.name())
        .containsExactly(
            "null request D",
            "vLLM global null",
            "vLLM stage c=8",
            "b request D",
            "null stage c=8");
    LlmProtocol protocol =
        (LlmProtocol)
            Benchmark.protocol(
                    plan, "vLLM", Tokenizer.parse("chars4"), llm.baseUrl("http://localhost/v1"))
                .protocol();
    assertThat(protocol.slo).hasToString("e2e<60s");
    assertThat(protocol.sloByName).containsOnlyKeys("D");
    assertThat(protocol.assertions).hasSize(4);
  }

  @Test
  void targetsHaveNamesAndEndpointsSeveralModels() {
    BenchmarkPlan plan =
        read(
            Map.of(
                "endpoint", "vLLM=http://a:1/v1, http://b:2/v1",
                "model", "small|large,other",
                "tokenizer", "chars4,tiktoken:r50k_base"));
    assertThat(plan.labels()).containsExactly("vLLM small", "vLLM large", "b:2 other");
    assertThat(plan.targets()).extracting(Target::model).containsExactly("small", "large", "other");
    assertThat(plan.tokenizers())
        .extracting(Tokenizer::name)
        .containsExactly("chars4", "chars4", "tiktoken:r50k_base");
    assertThat(read(Map.of("endpoint", "prod=http://a:1/v1")).labels()).containsExactly("prod");
  }

  @Test
  void theJvmIsWarmedUpUnlessSwitchedOff() {
    assertThat(protocol(read(Map.of())))
        .extracting(protocol -> protocol.warmUpRequests, protocol -> protocol.warmUpJvm)
        .containsExactly(1, true);
    assertThat(protocol(read(Map.of("jvmWarmUp", "false"))))
        .extracting(protocol -> protocol.warmUpRequests, protocol -> protocol.warmUpJvm)
        .containsExactly(1, false);
  }

  private static LlmProtocol protocol(BenchmarkPlan plan) {
    return (LlmProtocol)
        Benchmark.protocol(plan, "", Tokenizer.parse("chars4"), llm.baseUrl("http://localhost/v1"))
            .protocol();
  }

  private static String labels(BenchmarkPlan settings) {
    return String.join(" ", settings.load().levels().stream().map(LoadLevel::label).toList());
  }

  private BenchmarkPlan read(Map<String, String> settings) {
    Map<String, String> properties = new HashMap<>();
    settings.forEach(
        (name, value) -> {
          if (!name.equals("apiKey")) {
            properties.put("llm." + name, value);
          }
        });
    Map<String, String> environment =
        settings.containsKey("apiKey") ? Map.of("LLM_API_KEY", settings.get("apiKey")) : Map.of();
    return BenchmarkPlan.of(
        new Settings(properties, environment, folder.resolve(".env")), () -> 4711);
  }
}
