package io.github.gatlingllm.simulations;

import static io.github.gatlingllm.javaapi.LlmDsl.llm;
import static io.github.gatlingllm.simulations.CheckedSettings.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.LlmProtocol;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.LoadLevel.Phases;
import io.github.gatlingllm.record.Objectives;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.settings.TargetSpec;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.Prompts;
import io.github.gatlingllm.workload.Tokenizer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

final class BenchmarkPlanTest {

  private static final String KEY = "sk-very-secret";

  private static final String TRACE = "src/test/resources/traces/azure.csv";

  /** The plan that is printed, with all other defaults, is in {@code SettingEffectsTest}. */
  @Test
  void nothingSetHasNoWarningsAndNoFillOfOneUser() {
    BenchmarkPlan settings = read("");
    Phases phases = Phases.DEFAULT.withMeasure(Duration.ofSeconds(12).toNanos());
    assertThat(settings.loadText().levels())
        .extracting(LoadLevel::phases)
        .containsOnly(phases, phases.withFill(0));
    assertThat(settings.loadText().phases()).as("of more than one user").isEqualTo(phases);
    assertThat(settings.config())
        .as("lengths, as every figure depends on them")
        .isEqualTo(Map.of("promptTokens", "64-448", "maxTokens", "lognormal:16:8"));
    assertThat(settings.settings().warnings()).isEmpty();
  }

  @Test
  void aSelfTestIsASweepOfItsOwn() {
    BenchmarkPlan plan = read("selfTest=true ; concurrency=1,4");
    assertThat(plan.isEmbedded()).isTrue();
    assertThat(labels(plan)).isEqualTo("c=1 c=4");
    assertThat(plan.outputs()).containsExactly(LengthDistribution.exactly(50));
    assertThat(plan.slo().toString()).isEqualTo("e2e<1620ms");
    assertThat(plan.loadText().phases().fillNanos()).isEqualTo(1_080_000_000L);
    assertThat(plan.loadText().stopWhen()).hasToString("[slo<50%, errorsInARow>100]");
    assertThat(labels(read("selfTest=true"))).startsWith("c=1 c=16").endsWith("c=4096");
  }

  @Test
  void aSelfTestRefusesAnInjectorOfTheEnvironment() {
    assertThatThrownBy(
            () -> CheckedSettings.plan(named("selfTest=true"), Map.of("LLM_INJECTOR", "1/2")))
        .hasMessage(
            "llm.injector=1/2 (LLM_INJECTOR in the environment): cannot be set together with"
                + " llm.selfTest (a self-test runs in one process)");
  }

  @Test
  void aSelfTestIgnoresTheEndpointOfTheEnvironment() {
    BenchmarkPlan plan =
        CheckedSettings.plan(
            named("selfTest=true"),
            Map.of("LLM_ENDPOINT", "http://a/v1", "LLM_API_KEY", KEY, "LLM_DURATION", "2"));
    assertThat(plan.isEmbedded()).isTrue();
    assertThat(plan.config())
        .doesNotContainKeys("endpoint", "apiKey")
        .containsEntry("duration", "2");
    assertThat(plan.settings().warnings()).isEmpty();
  }

  @Test
  void anEndpointIsMeasuredAtConcurrency8For30Seconds() {
    BenchmarkPlan settings = read("endpoint=http://a/v1");
    assertThat(settings.targets())
        .containsExactly(
            new TargetSpec(null, List.of("http://a/v1/chat/completions"), Api.CHAT, null, null));
    assertThat(settings.loadText().levels())
        .containsExactly(new LoadLevel.Closed(8, Phases.DEFAULT));
  }

  static Stream<Arguments> goodValues() {
    return Stream.of(
        arguments("endpoint=http://a/v1/responses", of(BenchmarkPlan::api), Api.RESPONSES),
        arguments("stream=false", of(s -> s.get(Setting.STREAM)), false),
        arguments("concurrency=1, 4,2", of(BenchmarkPlanTest::labels), "c=1 c=4 c=2"),
        arguments("rate=0.5,16,2.50", of(BenchmarkPlanTest::labels), "r=0.5 r=16 r=2.5"),
        arguments("duration=2.5", of(BenchmarkPlanTest::measured), Duration.ofMillis(2500)),
        arguments("duration=500ms", of(BenchmarkPlanTest::measured), Duration.ofMillis(500)),
        arguments("duration=1h", of(BenchmarkPlanTest::measured), Duration.ofHours(1)),
        arguments("stabilize=auto", of(s -> s.loadText().phases().stabilizeNanos()), null),
        arguments("warmup=0", of(s -> s.get(Setting.WARMUP)), 0),
        arguments("prompt=Hi, you", of(s -> prompts(s).pick(1).text()), "Hi, you"),
        arguments("header.X-A=b", of(s -> s.settings().headers()), Map.of("X-A", "b")),
        arguments("seed=-42", of(BenchmarkPlan::seed), -42L));
  }

  private static Function<BenchmarkPlan, Object> of(Function<BenchmarkPlan, Object> part) {
    return part;
  }

  @ParameterizedTest
  @MethodSource("goodValues")
  void readsValues(String setting, Function<BenchmarkPlan, Object> part, Object expected) {
    assertThat(part.apply(read(settings(setting)))).isEqualTo(expected);
  }

  private static Prompts prompts(BenchmarkPlan settings) {
    return settings.workload().pools().get(0).prompts();
  }

  static Stream<String> badValues() {
    String values =
        """
        endpoint=a:8000 ; endpoint=http://a/v1, ; api=generate ; stream=yes ; concurrency=abc
        concurrency=0 ; concurrency=1,,2 ; concurrency=99999999999 ; concurrency=2,4,2
        concurrency=1000000000 ; rate=0 ; rate=-1 ; rate=NaN ; rate=1e999 ; rate=0:60s,10: ; rate=0:60s ; arrival=trace:none.csv@2.0
        arrival=poisson ; duration=0 ; duration=-3 ; duration=3 days ; duration=999999999h
        requests=0 ; warmup=-1 ; drain=x ; maxInFlight=0 ; interleave=both ; maxTokens=0
        maxTokens=9-5 ; maxTokens=128: ; maxTokens=0:5 ; maxTokens=lognormal:128 ; maxTokens=1000001
        maxTokens=weighted:16=0 ; maxTokens=256|32 ; lengths=256 ; lengths=prefill ; lengths=256,128,1:60
        lengths=256,0:60 ; lengths=0,9:60 ; lengths=256,128:0 ; lengths=256,128:-1 ; lengths=256,128:NaN
        lengths=256,128:x ; lengths=256,128:60;4096,512 ; lengths=256,128:60; ; lengths=256|9|9,128:60
        ignoreEos=1 ; prompts=none.txt ; temperature=-0.1 ; temperature=warm ; topP=0 ; topP=1.1
        body=[1] ; body={ ; body={"stream":false} ; timeout=0 ; idleTimeout=0s ; slo=fast
        slo=ttft<200ms,tftt<1s ; slo=ttft>200ms ; slo=tpot<50ms,ttft<200 ; slo=ttft<1.2.3s
        slo=ttft<1s;silver:ttft<2s ; slo=gold:ttft<1s;gold:ttft<2s ; slo=gold:ttft<1s; ; slo=gold:;b:ttft<2s
        slo=gold:ttft<1s;;b:ttft<2s ; slo=go ld:ttft<1s;b:ttft<2s ; slo=c=8:ttft<1s;b:ttft<2s ; slo=gold:fast;b:ttft<2s
        slo=:ttft<1s;b:ttft<2s ; slo=chat:ttft<1s;b:ttft<2s ; sloTier=gold
        slo=D:ttft<1s ; assert=ttft.p99<200ms,tftt.p99<1 ; assert=goodput>=95%
        assert=ttft.p99<200ms, ; assert=c=3:ttft.p99<200ms ; sloPercentile=95 ; sloRule=requests
        sloRule=all ; sloPercentile=101 ; seed=lucky ; recordText=on ; recordTokens=off
        abandon=10% ; abandon=0%@2s ; abandon=101%@2s ; abandon=10%@5s-2s ; abandon=5%@0s
        model=base=0 ; model=a=1,a=2 ; model=a|b=1 ; endpoint=http://a/v1+b/v1 ; endpoint=http://a+b
        endpoint=http://a/v1+http://a/v1/ ; conversationHeader=x session ; conversationHeader=x:
        endpoint=http://a/v1+http://b/v1/completions ; endpoint=http://a/v1+ftp://b/v1
        verifyTls=0 ; connections=many ; csv=yes ; failBuild=no ; dryRun=no
        """;
    return Stream.of(values.strip().split("\\s+;\\s+|\n", -1));
  }

  @Test
  void readsAssertionsInOrder() {
    BenchmarkPlan plan =
        read(
            "assert=ttft.p99<200ms, goodput>=20/s,c=16:errors=0,valid ; slo=ttft<1s"
                + " ; failBuild=false");
    assertThat(plan.get(Setting.ASSERT))
        .extracting(Assertion::scope, Assertion::name, Assertion::figure)
        .containsExactly(
            tuple(Objectives.Scope.GLOBAL, null, "ttft.p99"),
            tuple(Objectives.Scope.GLOBAL, null, "goodput.requests_per_s"),
            tuple(Objectives.Scope.STAGE, "c=16", "errors.count"),
            tuple(Objectives.Scope.RUN, null, "invalid_checks.count"));
    assertThat(plan.get(Setting.FAIL_BUILD)).isFalse();
    assertThat(read("").get(Setting.ASSERT)).isEmpty();
    assertThat(read("search=maxGoodput ; slo=ttft<1s ; assert=r=3:errors=0").get(Setting.ASSERT))
        .as("a search finds its stages itself")
        .hasSize(1);
  }

  @Test
  void readsTiers() {
    BenchmarkPlan plan =
        read(
            "slo=gold:ttft<200ms,tpot<30ms;silver:ttft<500ms;batch:e2e<60s ; sloPercentile=95"
                + " ; assert=goodput>=95%,gold:goodput>=90%,batch:c=4:goodput>=20/s");
    assertThat(plan.slo().toString())
        .isEqualTo("gold:ttft<200ms,tpot<30ms;silver:ttft<500ms;batch:e2e<60s");
    assertThat(plan.slo().tiers().values()).extracting(Slo::percentile).containsOnly(95.0);
    assertThat(plan.slo().all()).isEqualTo(plan.slo().tiers().get("gold"));
    assertThat(plan.assertions())
        .extracting(Assertion::tier, Assertion::scope, Assertion::name)
        .containsExactly(
            tuple(null, Objectives.Scope.GLOBAL, null),
            tuple("gold", Objectives.Scope.GLOBAL, null),
            tuple("batch", Objectives.Scope.STAGE, "c=4"));
    BenchmarkPlan silver = read("sloTier=b ; slo=a:ttft<1s;b:ttft<2s;c:ttft<3s");
    assertThat(silver.slo().tiers().keySet()).containsExactly("b", "a", "c");
    assertThat(silver.slo().all().toString()).isEqualTo("ttft<2s");
  }

  @ParameterizedTest
  @MethodSource("badValues")
  void refusesInOneLineWithNameAndValue(String setting) {
    int equals = setting.indexOf('=');
    assertThatThrownBy(
            () -> read(Map.of(setting.substring(0, equals), setting.substring(equals + 1))))
        .isInstanceOf(InvalidSimulation.class)
        .hasMessageStartingWith("llm." + setting + ": ")
        .hasMessageMatching("[^\n]{10,200}");
  }

  /** Settings; the one that the message begins with; another that it names. */
  static Stream<Arguments> contradictions() {
    String rows =
        """
        concurrency=2 ; rate=3 | llm.concurrency | llm.rate
        selfTest=true ; rate=5 | llm.selfTest=true | llm.rate (a self-test has its own load)
        endpoint=x=http://a/v1,x=http://b/v1 | llm.endpoint |
        stopWhen=slo<50% | llm.stopWhen | llm.slo
        stopWhen=errors>10%,slow | llm.stopWhen |
        trials=3 ; rate=2 | llm.trials | llm.rate
        repeats=0 | llm.repeats |
        repeats=auto:3%:e2e | llm.repeats |
        repeats=3 ; trials=2 | llm.repeats | llm.trials
        repeats=3 ; search=maxGoodput ; slo=ttft<1s | llm.repeats | llm.search
        repeats=3 ; rate=1:9s | llm.rate | llm.repeats
        repeats=3 ; arrival=trace:src/test/resources/traces/azure.csv | llm.repeats |
        repeats=3 ; stopWhen=errors>10% | llm.repeats |
        search=knee | llm.search |
        search=maxGoodput | llm.search | llm.slo
        search=maxGoodput ; slo=ttft<1s ; rate=1,2 | llm.search |
        search=maxGoodput ; slo=ttft<1s ; concurrency=2 | llm.search | llm.concurrency
        slo=a:ttft<1s;b:ttft<2s ; assert=a:ttft.p99<1s | llm.assert | goodput
        slo=a:ttft<1s;b:ttft<2s ; assert=d:goodput>=5% | llm.assert |
        slo=a:ttft<1s;b:ttft<2s ; sloTier=gold | llm.sloTier | a, b
        search=maxUsers ; slo=ttft<1s ; rate=2 | llm.search | llm.rate
        search=maxUsers ; slo=ttft<1s ; concurrency=1,2 | llm.search | llm.concurrency
        requests=2 ; cooldown=true | llm.cooldown | llm.requests
        stabilize=soon | llm.stabilize |
        rate=2 ; fill=3 | llm.fill |
        dataset=openai:a ; prompt=b | llm.dataset | llm.prompt
        dataset=openai:a ; prompts=b | llm.dataset | llm.prompts
        dataset=chats.json | llm.dataset |
        dataset=alpaca:a.json | llm.dataset |
        dataset=openai:datasets/sharegpt.json | llm.dataset |
        prompt=a ; prompts=b | llm.prompt | llm.prompts
        rate=1 ; arrival=gamma:0 | llm.arrival |
        rate=1:9s ; duration=3 | llm.rate | llm.duration
        rate=1 ; arrival=bursts | llm.arrival |
        endpoint=http://a/v1/completions ; api=chat | llm.endpoint |
        endpoint=http://a/v1 ; model=x,y | llm.model |
        endpoint=http://a/v1 ; model=base=50,lora | llm.model | =50
        endpoint=http://a/v1,http://b/v1,http://c/v1 ; model=x,y | llm.model |
        tokenizer=gpt-4 | llm.tokenizer |
        tokenizer=auto,chars4 | llm.tokenizer |
        """;
    return Stream.concat(
        rows.strip()
            .lines()
            .map(row -> row.split("\\s*\\|\\s*", -1))
            .map(row -> arguments(settings(row[0]), row[1].strip(), row[2].strip())),
        Stream.of(
            arguments(Map.of("endpoint", "http://a/v1", "model", "x|"), "llm.model", ""),
            arguments(Map.of("rate", "1", "arrival", "trace:" + TRACE), "llm.arrival", "llm.rate"),
            arguments(Map.of("endpoint", "http://u:" + KEY + "@a/v1"), "llm.endpoint", "API_KEY"),
            arguments(
                Map.of("endpoint", "http://a/v1", "apiKey", KEY + "," + KEY), "llm.apiKey", "2"),
            arguments(
                Map.of("endpoint", "http://a/v1", "apiKey", KEY + " x"), "llm.apiKey", "ASCII")));
  }

  private static Map<String, String> settings(String row) {
    return named(row.strip().split("\\s;\\s", -1));
  }

  @ParameterizedTest
  @MethodSource("contradictions")
  void refusesContradictions(Map<String, String> settings, String setting, String named) {
    assertThatThrownBy(() -> read(settings))
        .isInstanceOf(InvalidSimulation.class)
        .hasMessageStartingWith(setting)
        .hasMessageContaining(named)
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
            new TargetSpec(null, List.of("http://a:1/v1/chat/completions"), Api.CHAT, "x", KEY),
            new TargetSpec(null, List.of("http://b:2/v1/completions"), Api.COMPLETIONS, "y", KEY));
    assertThat(settings.labels()).containsExactly("a:1", "b:2");
    assertThat(read("endpoint=x=http://a/v1 + https://b/v1%2Bc,http://d/v1").targets())
        .extracting(TargetSpec::name, TargetSpec::urls)
        .containsExactly(
            tuple(
                "x", List.of("http://a/v1/chat/completions", "https://b/v1%2Bc/chat/completions")),
            tuple(null, List.of("http://d/v1/chat/completions")));
    assertThat(settings.get(Setting.INTERLEAVE)).isTrue();
    assertThat(read("endpoint=http://a/v1,http://b/v1 ; model=m").targets())
        .extracting(TargetSpec::model)
        .containsExactly("m", "m");
  }

  @Test
  void warnsAboutWhatHasNoEffect() {
    assertThat(read("endpoint=http://a/v1 ; interleave=true").settings().warnings())
        .containsExactly(
            "llm.interleave has no effect: it needs several endpoints in llm.endpoint");
    assertThat(read("model=x").settings().warnings())
        .containsExactly("llm.model has no effect: no llm.endpoint, the embedded engine answers");
    assertThat(read("endpoint=http://a").settings().warnings())
        .containsExactly(
            "llm.endpoint has no path: posting to http://a/chat/completions; most servers expect"
                + " /v1");
    assertThat(read("requests=4").settings().warnings())
        .containsExactly("llm.requests=4 is below a level's concurrency: never reached");
  }

  @Test
  void theKeyIsOnlyInTheTarget() {
    BenchmarkPlan settings =
        read(Map.of("endpoint", "http://a/v1", "model", "m", "apiKey", KEY, "slo", "ttft<1s"));
    assertThat(settings.targets().get(0).apiKey()).isEqualTo(KEY);
    assertThat(settings.toString()).contains("http://a/v1").doesNotContain(KEY);
    assertThat(settings.config()).containsEntry("apiKey", "***").containsEntry("model", "m");
    assertThat(BenchmarkText.of(settings)).doesNotContain(KEY);
  }

  private static Duration measured(BenchmarkPlan plan) {
    return Duration.ofNanos(plan.loadText().phases().measureNanos());
  }

  @Test
  void objectivesAndGatesNameRequestsTargetsAndLevels() {
    BenchmarkPlan plan =
        read(
            "endpoint=vLLM=http://a:1/v1,b=http://b:2/v1 ; scenario=B1,D ; concurrency=8 ;"
                + " slo=ttft<1s,D:ttft<2s,vLLM:e2e<1m ;"
                + " assert=D:errors=0,vLLM:errors<1%,vLLM:c=8:ttft.p99<1s,b:D:errors=0,c=8:errors=0");
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
        Benchmark.protocol(
                plan,
                "vLLM",
                ModelTokenizers.set(Tokenizer.parse("chars4")),
                llm.baseUrl("http://localhost/v1"))
            .protocol();
    assertThat(protocol.slo()).hasToString("e2e<60s");
    assertThat(protocol.sloByName()).containsOnlyKeys("D");
    assertThat(protocol.assertions()).hasSize(4);
  }

  @Test
  void targetsHaveNamesAndEndpointsSeveralModels() {
    BenchmarkPlan plan =
        read(
            "endpoint=vLLM=http://a:1/v1, http://b:2/v1 ; model=small|large,other"
                + " ; tokenizer=chars4,tiktoken:r50k_base");
    assertThat(plan.labels()).containsExactly("vLLM small", "vLLM large", "b:2 other");
    assertThat(plan.targets())
        .extracting(TargetSpec::model)
        .containsExactly("small", "large", "other");
    assertThat(plan.tokenizers())
        .extracting(Tokenizer::name)
        .containsExactly("chars4", "chars4", "tiktoken:r50k_base");
    assertThat(read("endpoint=prod=http://a:1/v1").labels()).containsExactly("prod");
  }

  private static String labels(BenchmarkPlan settings) {
    return String.join(" ", settings.loadText().levels().stream().map(LoadLevel::label).toList());
  }

  private static BenchmarkPlan read(String row) {
    return read(settings(row));
  }

  private static BenchmarkPlan read(Map<String, String> settings) {
    Map<String, String> properties = new HashMap<>(settings);
    String key = properties.remove("apiKey");
    return CheckedSettings.plan(properties, key == null ? Map.of() : Map.of("LLM_API_KEY", key));
  }
}
