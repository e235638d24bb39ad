package io.github.gatlingllm.simulations;

import static io.github.gatlingllm.javaapi.LlmDsl.llm;
import static io.github.gatlingllm.javaapi.LlmDsl.slo;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.LlmProtocol;
import io.github.gatlingllm.action.LlmRequest.WeightedModel;
import io.github.gatlingllm.javaapi.LlmDsl;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.load.LoadPlan;
import io.github.gatlingllm.load.StopRule;
import io.github.gatlingllm.record.Objectives.Assertion.Scope;
import io.github.gatlingllm.record.RunInfo.ReportOptions;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.run.Observers.LevelHooks.Hook;
import io.github.gatlingllm.workload.PromptPrefix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Settings of a simulation whose load and protocol are in code. */
final class SimulationSettingsTest {

  private static final LlmProtocolBuilder IN_CODE =
      llm.baseUrl("http://a:8000/v1").model("small").apiKey("sk-in-code").warmUp(0);

  @TempDir private Path folder;
  private final Map<String, String> environment = new HashMap<>();

  private SimulationSettings of(String... settings) {
    Map<String, String> properties =
        List.of(settings).stream()
            .map(each -> each.split("=", 2))
            .collect(Collectors.toMap(each -> "llm." + each[0], each -> each[1]));
    return new SimulationSettings(new Settings(properties, environment, folder.resolve(".env")));
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
    assertThat(other.baseUrls).containsExactly("http://b:9000/v1");
    assertThat(other.target).isEqualTo("b");
    assertThat(other.model.constant()).isEqualTo("large");
    assertThat(other.apiKey.constant()).isEqualTo("sk-other");
    assertThat(with("endpoint=http://b/v1+http://c/v1").baseUrls)
        .containsExactly("http://b/v1", "http://c/v1");
    assertThat(with("model=large=3,small=1").models)
        .containsExactly(new WeightedModel("large", 3), new WeightedModel("small", 1));
    assertThat(other.notes).containsEntry("model", "large").containsEntry("apiKey", "***");

    assertThatThrownBy(() -> of("model=large").applyTo(IN_CODE.protocol(), false))
        .isInstanceOf(InvalidSimulation.class)
        .hasMessageStartingWith("llm.model=large: ");
    assertThatThrownBy(() -> with("endpoint=http://b/v1,http://c/v1"))
        .hasMessageStartingWith("llm.endpoint=");
  }

  @Test
  void metricsPagesBelongToTheTargetByItsNewName() {
    String page = "http://b:9400/metrics";
    assertThat(with("endpoint=b=http://b:9000/v1", "metricsUrl=b=" + page).metricsUrls)
        .containsExactly(page);
    assertThatThrownBy(() -> with("endpoint=b=http://b:9000/v1", "metricsUrl=a=" + page))
        .isInstanceOf(InvalidSimulation.class)
        .hasMessageContaining("'a' is no target");
  }

  /** A file that lies around redirects no load, and completes what is not said. */
  @Test
  void theEnvFileCompletesTheTargetOnly() throws IOException {
    Files.writeString(
        folder.resolve(".env"), "ENDPOINT=http://b:9000/v1\nAPI_KEY=sk-of-file\nMODEL=large\n");
    assertThat(with().baseUrls).containsExactly("http://a:8000/v1");
    assertThat(with().model.constant()).isEqualTo("small");
    assertThat(with().apiKey.constant()).isEqualTo("sk-in-code");
    LlmProtocol bare = llm.baseUrl("http://a:8000/v1").protocol();
    assertThat(of().applyTo(bare, true).apiKey.constant()).isEqualTo("sk-of-file");
    assertThat(of().applyTo(bare, false).apiKey).as("of which of them?").isNull();
  }

  @Test
  void aFileOfSettingsRedirectsAndCompletes() throws IOException {
    Path file = Files.writeString(folder.resolve("a.conf"), "model = large, timeout = 7");
    LlmProtocol set = with("config=" + file);
    assertThat(set.model.constant()).isEqualTo("large");
    assertThat(set.requestTimeout).hasSeconds(7);
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

  @Test
  void everyPartOfAProtocolCanBeSet() {
    LlmProtocol set =
        with(
            "timeout=7",
            "idleTimeout=3",
            "waitReady=5m",
            "beforeLevel=POST:/reset,GET:http://b/x",
            "maxInFlight=5",
            "abandon=12.5%@2s-5s",
            "conversationHeader=x-session-id",
            "maxTokensField=max_completion_tokens",
            "maxRequestsPerMinute=60",
            "maxTokensPerMinute=600",
            "gpus=2",
            "costPerHour=3.5",
            "readingSpeed=9",
            "connections=perUser",
            "verifyTls=true",
            "jvmWarmUp=false",
            "recordText=true",
            "recordTokens=false",
            "csv=true",
            "tokenizer=chars4",
            "warmup=3",
            "stream=false",
            "ignoreEos=false",
            "body={\"top_k\":4}",
            "metricsUrl=none",
            "seed=42",
            "uniquePrompts=true",
            "header.X-Tenant=acme");
    assertThat(set.requestTimeout).hasSeconds(7);
    assertThat(set.beforeLevel)
        .containsExactly(new Hook("POST", "/reset"), new Hook("GET", "http://b/x"));
    assertThat(set.waitReady).hasMinutes(5);
    assertThat(set.idleTimeout).hasSeconds(3);
    assertThat(set.maxInFlight).isEqualTo(5);
    assertThat(set.conversationHeader).isEqualTo("x-session-id");
    assertThat(set.maxTokensField).isEqualTo("max_completion_tokens");
    assertThat(set.abandonment).hasToString("12.5%@2s-5s");
    assertThat(set.maxRequestsPerMinute).isEqualTo(60);
    assertThat(set.maxTokensPerMinute).isEqualTo(600);
    assertThat(set.gpus).isEqualTo(2);
    assertThat(set.costPerHour).isEqualTo(3.5);
    assertThat(set.report.readingSpeed()).isEqualTo(9);
    assertThat(set.shareConnections).isFalse();
    assertThat(set.verifyTls).isTrue();
    assertThat(set.warmUpJvm).isFalse();
    assertThat(set.recordText).isTrue();
    assertThat(set.recordTokens).isFalse();
    assertThat(set.report.csv()).isTrue();
    assertThat(set.tokenizer.name()).isEqualTo("chars4");
    assertThat(set.warmUpRequests).isEqualTo(3);
    assertThat(set.streaming).isFalse();
    assertThat(set.pinning).isEqualTo(LlmProtocol.Pinning.NEVER);
    assertThat(set.extraBody).isEqualTo("{\"top_k\":4}");
    assertThat(set.metricsUrls).isEmpty();
    assertThat(set.seed).isEqualTo(42);
    assertThat(set.prefix).isEqualTo(new PromptPrefix.Unique(42));
    assertThat(set.headers).containsOnlyKeys("X-Tenant");
    assertThat(set.notes).containsEntry("timeout", "7").containsEntry("header.X-Tenant", "***");
    assertThat(with("verifyTls=false").verifyTls).isFalse();
    assertThat(with("sharedPrefix=2x16").prefix)
        .isInstanceOfSatisfying(
            PromptPrefix.Shared.class,
            shared -> {
              assertThat(shared.groups()).isEqualTo(2);
              assertThat(shared.tokens()).isEqualTo(16);
            });
  }

  @Test
  void aSettingTakesBackWhatCodeSays() {
    LlmProtocol inCode =
        IN_CODE
            .csv()
            .recordText()
            .disableRecordTokens()
            .disableFailBuild()
            .disableFailOnInvalid()
            .disableJvmWarmUp()
            .disableStreaming()
            .uniquePrompts()
            .protocol();
    LlmProtocol set =
        of(
                "csv=false",
                "recordText=false",
                "recordTokens=true",
                "failBuild=true",
                "failOnInvalid=true",
                "jvmWarmUp=true",
                "stream=true",
                "uniquePrompts=false")
            .applyTo(inCode, true);
    assertThat(set.report).isEqualTo(new ReportOptions(false, true, true));
    assertThat(set.recordText).isFalse();
    assertThat(set.recordTokens).isTrue();
    assertThat(set.warmUpJvm).isTrue();
    assertThat(set.streaming).isTrue();
    assertThat(set.prefix).isEqualTo(PromptPrefix.NONE);
  }

  @Test
  void objectivesAndGatesCompleteThoseInCode() {
    LlmProtocol judged = IN_CODE.slo(slo().ttft(200)).slo("long", slo().ttft(900)).protocol();
    LlmProtocol stricter = of("sloPercentile=95", "sloRule=requests").applyTo(judged, true);
    assertThat(stricter.slo.toString()).isEqualTo("ttft<200ms");
    assertThat(stricter.slo.percentile()).isEqualTo(95);
    assertThat(stricter.slo.rule()).isEqualTo(Slo.Rule.REQUESTS);

    LlmProtocol other =
        of("slo=tpot<50ms,short:e2e<1s", "assert=ttft.p99<1s,c=8:errors<1%,ask:goodput>=95%")
            .applyTo(judged, true);
    assertThat(other.slo.toString()).isEqualTo("tpot<50ms");
    assertThat(other.sloByName).containsOnlyKeys("long", "short");
    assertThat(other.assertions)
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
    assertThat(with().notes).doesNotContainKey("concurrency");
  }

  /** The page lists the settings that only Benchmark reads. */
  @Test
  void everySettingIsForAllSimulationsOrForBenchmarkOnly() throws IOException {
    String page = Files.readString(Path.of("docs/settings.md"));
    String list = page.substring(page.indexOf("These are Benchmark's alone"));
    List<String> onPage =
        Pattern.compile("`([\\w.]+)`")
            .matcher(list.substring(0, list.indexOf(". With `selfTest")))
            .results()
            .map(found -> found.group(1))
            .toList();
    assertThat(Setting.all().stream().filter(each -> !SimulationSettings.isForAll(each)))
        .extracting(each -> each.name)
        .containsExactlyElementsOf(onPage);
  }
}
