package io.github.gatlingllm.action;

import static io.github.gatlingllm.javaapi.LlmDsl.llm;
import static io.github.gatlingllm.javaapi.LlmDsl.slo;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.github.gatlingllm.javaapi.LlmDsl;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.StopRule;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Objectives.Scope;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.settings.SettingValue.WeightedModel;
import io.github.gatlingllm.simulations.CheckedSettings;
import io.github.gatlingllm.workload.PromptPrefix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Settings of a simulation whose load and protocol are in code. */
final class SimulationSettingsTest {

  private static final LlmProtocolBuilder IN_CODE =
      llm.baseUrl("http://a:8000/v1").model("small").apiKey("sk-in-code").warmUp(0);

  @TempDir private Path folder;
  private final Map<String, String> environment = new HashMap<>();

  private SimulationSettings of(String... settings) {
    return new SimulationSettings(
        CheckedSettings.settings(CheckedSettings.named(settings), environment, folder));
  }

  private LlmProtocol with(String... settings) {
    return of(settings).applyTo(IN_CODE.protocol(), true);
  }

  @Test
  void withoutSettingsTheProtocolIsTheSame() {
    LlmProtocol inCode = IN_CODE.protocol();
    assertThat(of().applyTo(inCode, false)).isSameAs(inCode);
  }

  @Test
  void theTargetIsReplacedWhereItIsTheOnlyOne() {
    LlmProtocol other = with("endpoint=b=http://b:9000/v1", "model=large", "apiKey=sk-other");
    assertThat(other.baseUrls()).containsExactly("http://b:9000/v1");
    assertThat(other.target()).isEqualTo("b");
    assertThat(other.model().constant()).isEqualTo("large");
    assertThat(other.apiKey().constant()).isEqualTo("sk-other");
    assertThat(with("endpoint=http://b/v1+http://c/v1").baseUrls())
        .containsExactly("http://b/v1", "http://c/v1");
    assertThat(with("model=large=3,small=1").models())
        .containsExactly(new WeightedModel("large", 3), new WeightedModel("small", 1));
    assertThat(other.notes()).containsEntry("model", "large").containsEntry("apiKey", "***");
    assertThat(with("header.X-Tenant=acme").notes()).containsEntry("header.X-Tenant", "***");

    assertThatThrownBy(() -> of("model=large").applyTo(IN_CODE.protocol(), false))
        .isInstanceOf(InvalidSimulation.class)
        .hasMessageStartingWith("llm.model=large: ");
    assertThatThrownBy(() -> with("endpoint=http://b/v1,http://c/v1"))
        .hasMessageStartingWith("llm.endpoint=");
    assertThatThrownBy(() -> with("tokenizer=server"))
        .isInstanceOf(InvalidSimulation.class)
        .hasMessageStartingWith("llm.tokenizer=server ");
  }

  @Test
  void metricsPagesBelongToTheTargetByItsNewName() {
    String page = "http://b:9400/metrics";
    assertThat(with("endpoint=b=http://b:9000/v1", "metricsUrl=b=" + page).metricsUrls())
        .containsExactly(page);
    assertThat(with("endpoint=b=http://b:9000/v1", "metricsUrl=prefill=" + page).metricsUrls())
        .containsExactly("prefill=" + page);
    assertThat(with("endpoint=decode=http://b:9000/v1", "metricsUrl=decode=" + page).metricsUrls())
        .as("the name of a target comes first")
        .containsExactly(page);
    assertThatThrownBy(() -> with("endpoint=b=http://b:9000/v1", "metricsUrl=a=" + page))
        .isInstanceOf(InvalidSimulation.class)
        .hasMessageContaining("'a' is not a target");
  }

  /** A file that lies around redirects no load, and completes what code does not set. */
  @Test
  void theEnvFileCompletesTheTargetOnly() throws IOException {
    Files.writeString(
        folder.resolve(".env"), "ENDPOINT=http://b:9000/v1\nAPI_KEY=sk-of-file\nMODEL=large\n");
    assertThat(with().baseUrls()).containsExactly("http://a:8000/v1");
    assertThat(with().model().constant()).isEqualTo("small");
    assertThat(with().apiKey().constant()).isEqualTo("sk-in-code");
    LlmProtocol bare = llm.baseUrl("http://a:8000/v1").protocol();
    assertThat(of().applyTo(bare, true).apiKey().constant()).isEqualTo("sk-of-file");
    assertThat(of().applyTo(bare, false).apiKey()).as("of which of them?").isNull();
  }

  @Test
  void aFileOfSettingsRedirectsAndCompletes() throws IOException {
    Path file = Files.writeString(folder.resolve("a.conf"), "model = large, timeout = 7");
    LlmProtocol set = with("config=" + file);
    assertThat(set.model().constant()).isEqualTo("large");
    assertThat(set.get(Setting.TIMEOUT)).hasSeconds(7);
    Files.writeString(file, "concurrency = 4");
    assertThatThrownBy(() -> of("config=" + file).begin(() -> folder))
        .isInstanceOf(InvalidSimulation.class)
        .hasMessageStartingWith("llm.concurrency=4 (" + file + ":1): ");
  }

  @Test
  void levelsInCodeAreRepeated() {
    LoadPlan.Sweep plan = LlmDsl.closedLoop(1, 2).plan();
    assertThat(((LoadPlan.Sweep) of("repeats=3").applyTo(plan)).levels()).hasSize(6);
    LoadPlan.Sweep repeated = LlmDsl.closedLoop(1, 2).repeats(3).plan();
    assertThat(of("repeats=1").applyTo(repeated)).isEqualTo(plan);
    assertThat(of("timeout=9").applyTo(repeated)).isEqualTo(repeated);
    assertThat(((LoadPlan.Sweep) of("repeats=1", "stopWhen=errors>5%").applyTo(repeated)).rules())
        .as("repeats in code do not count")
        .contains(StopRule.errorsAbove(5));
    assertThatThrownBy(() -> of("repeats=3", "stopWhen=errors>5%").applyTo(plan))
        .isInstanceOf(InvalidSimulation.class)
        .hasMessageStartingWith("llm.repeats=3: ");
  }

  /** What code can set, each the opposite of its default. */
  private static final LlmProtocolBuilder OPPOSITE =
      IN_CODE
          .csv()
          .recordText()
          .disableRecordTokens()
          .disableFailBuild()
          .disableFailOnInvalid()
          .disableJvmWarmUp()
          .disableStreaming()
          .uniquePrompts();

  /** A value of each setting of a protocol, and what it needs beside it. */
  static Stream<String> values() {
    return Pattern.compile("\\s*[|]\\s*")
        .splitAsStream(
            """
            timeout=7 | idleTimeout=3 | waitReady=5m |
            beforeLevel=POST:/reset,GET:http://b/x,POST:/start@running>64 |
            afterLevel=POST:/stop?a=b@c=8 | answers=check | maxInFlight=5 | abandon=12.5%@2s-5s |
            conversationHeader=x-session-id | maxTokensField=max_tokens |
            maxRequestsPerMinute=60 | maxTokensPerMinute=600 | gpus=2 | costPerHour=3.5 |
            readingSpeed=9 | connections=perUser | verifyTls=true | verifyTls=false |
            jvmWarmUp=false | jvmWarmUp=true | recordText=true | recordText=false |
            recordTokens=false | recordTokens=true | trace=true | traceShare=2.5% trace=true |
            csv=true | csv=false | export=vllm | failBuild=true | failOnInvalid=true |
            tokenizer=chars4 | warmup=3 | stream=false | stream=true | includeUsage=false |
            eventTokens=server | ignoreEos=false | body={"top_k":4} | seed=42 | sessionGapCap=5s |
            sessionSpeed=2 | sessionStart=25-75% | sessionAnswers=server | engineVersion=0.11.0 |
            uniquePrompts=true | uniquePrompts=false | sharedPrefix=2x16
            """
                .strip());
  }

  @ParameterizedTest
  @MethodSource("values")
  void everySettingOfAProtocolCanBeSet(String values) {
    String[] each = values.split(" ", -1);
    Setting<?> row = Setting.named(values.split("=", 2)[0]);
    String expected =
        String.valueOf(
            CheckedSettings.settings(CheckedSettings.named(each), environment, folder).get(row));
    assertThat(List.of(IN_CODE, OPPOSITE))
        .extracting(code -> String.valueOf(code.protocol().get(row)))
        .isNotEqualTo(List.of(expected, expected));
    for (LlmProtocolBuilder inCode : List.of(IN_CODE, OPPOSITE)) {
      LlmProtocol set = of(each).applyTo(inCode.protocol(), true);
      assertThat(String.valueOf(set.get(row))).isEqualTo(expected);
      assertThat(set.notes()).containsKey(row.name);
    }
  }

  @Test
  void everySettingOfAProtocolHasAValue() {
    assertThat(
            Setting.all().stream()
                .filter(row -> row.scope == Setting.SettingScope.PROTOCOL)
                .filter(row -> !row.is(Setting.SettingTrait.MERGED))
                .map(row -> row.name))
        .isSubsetOf(values().map(value -> value.split("=", 2)[0]).toList());
  }

  @Test
  void valuesDecideWhatIsSent() {
    assertThat(with("ignoreEos=false").pinsOutput()).isFalse();
    assertThat(with("body={\"top_k\":4}").extraBody()).isEqualTo("{\"top_k\":4}");
    assertThat(with("metricsUrl=none").metricsUrls()).isEmpty();
    assertThat(with("uniquePrompts=true", "seed=42").prefix())
        .isEqualTo(new PromptPrefix.Unique(42));
    assertThat(with("sharedPrefix=2x16", "seed=4").prefix())
        .isEqualTo(new PromptPrefix.Shared(2, 16, 4));
    assertThat(with("header.X-Tenant=acme").headers()).containsOnlyKeys("X-Tenant");
  }

  @Test
  void codeTracesAShareAndExports() {
    LlmProtocol traced = IN_CODE.trace(0.025).export("vllm", "aiperf").protocol();
    assertThat(traced.get(Setting.TRACE)).isTrue();
    assertThat(traced.get(Setting.TRACE_SHARE)).isEqualTo(0.025);
    assertThat(traced.get(Setting.EXPORT)).containsExactly("vllm", "aiperf");
  }

  @Test
  void objectivesAndGatesCompleteThoseInCode() {
    LlmProtocol judged = IN_CODE.slo(slo().ttft(200)).slo("long", slo().ttft(900)).protocol();
    LlmProtocol tiered =
        IN_CODE
            .sloTier("gold", slo().ttft(200))
            .sloTier("silver", slo().ttft(500).percentile(90))
            .protocol();
    assertThat(tiered.slo().toString()).isEqualTo("ttft<200ms");
    LlmProtocol silver = of("sloTier=silver", "assert=gold:c=8:goodput>=95%").applyTo(tiered, true);
    assertThat(silver.get(Setting.SLO).toString()).isEqualTo("silver:ttft<500ms;gold:ttft<200ms");
    assertThat(silver.slo().percentile()).isEqualTo(90);
    assertThat(silver.assertions())
        .extracting(Assertion::tier, Assertion::scope, Assertion::name)
        .containsExactly(tuple("gold", Scope.STAGE, "c=8"));
    assertThat(of("slo=a:ttft<1s;b:ttft<2s").applyTo(tiered, true).get(Setting.SLO).tiers())
        .containsOnlyKeys("a", "b");
    assertThat(of("slo=ttft<1s").applyTo(tiered, true).get(Setting.SLO).tiers()).isEmpty();
    LlmProtocol stricter = of("sloPercentile=95", "sloRule=requests").applyTo(judged, true);
    assertThat(stricter.slo().toString()).isEqualTo("ttft<200ms");
    assertThat(stricter.slo().percentile()).isEqualTo(95);
    assertThat(stricter.slo().rule()).isEqualTo(Slo.Rule.REQUESTS);

    LlmProtocol other =
        of("slo=tpot<50ms,short:e2e<1s", "assert=ttft.p99<1s,c=8:errors<1%,ask:goodput>=95%")
            .applyTo(judged, true);
    assertThat(other.slo().toString()).isEqualTo("tpot<50ms");
    assertThat(other.sloByName()).containsOnlyKeys("long", "short");
    assertThat(other.assertions())
        .extracting(gate -> gate.scope() + " " + gate.name())
        .containsExactly(Scope.GLOBAL + " null", Scope.STAGE + " c=8", Scope.REQUEST + " ask");

    assertThatThrownBy(() -> with("assert=goodput>=95%").complete())
        .as("no SLO, in code or set")
        .isInstanceOf(InvalidSimulation.class);
  }

  @ParameterizedTest
  @CsvSource({
    "concurrency=4, llm.concurrency=4: ",
    "maxTokens=9, llm.maxTokens=9: ",
    "beforeLevel=/reset, llm.beforeLevel=/reset: ",
    "beforeLevel=POST:reset, llm.beforeLevel=POST:reset: ",
    "beforeLevel=POST:/a@running>x, 'llm.beforeLevel=POST:/a@running>x: ''@running>x'' is not a"
        + " condition; expected a number'",
    "afterLevel=POST:/a@running>, 'llm.afterLevel=POST:/a@running>: ''@running>'' is not a '",
    "afterLevel=POST:/a@running<8, 'llm.afterLevel=POST:/a@running<8: ''@running<8'' is not a '",
    "concurency=4, llm.concurency is not a setting; did you mean llm.concurrency?",
    "slo=ttft<, 'llm.slo=ttft<: '",
  })
  void whatHasNoEffectEndsTheRun(String setting, String line) {
    assertThatThrownBy(() -> of(setting).begin(() -> folder))
        .isInstanceOf(InvalidSimulation.class)
        .hasMessageStartingWith(line.stripTrailing());
  }

  /** Other programs use such names too. */
  @Test
  void variablesWithoutEffectEndNoRun() {
    environment.put("LLM_CONCURRENCY", "4");
    environment.put("LLM_CONCURENCY", "4");
    of().begin(() -> folder);
    assertThat(with().notes()).doesNotContainKey("concurrency");
  }
}
