package io.github.gatlingllm.action;

import static io.github.gatlingllm.javaapi.LlmDsl.chars4;
import static io.github.gatlingllm.javaapi.LlmDsl.llm;
import static org.assertj.core.api.Assertions.assertThat;

import io.gatling.core.config.GatlingConfiguration;
import io.gatling.core.config.SslConfiguration;
import io.github.gatlingllm.client.Api.AddedField;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunInfo.ReportOptions;
import io.github.gatlingllm.record.RunInfo.TargetFacts;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.net.ssl.SSLEngine;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TargetsTest {

  private static List<LlmProtocol> protocols(LlmProtocolBuilder... builders) {
    return Stream.of(builders).map(builder -> builder.protocol()).toList();
  }

  @Test
  void settingsOfOneProtocol() {
    assertThat(
            Targets.settings(
                protocols(
                    llm.baseUrl("http://a:1/v1")
                        .apiKey("sk-secret")
                        .maxInFlight(4)
                        .verifyTls()
                        .note("purpose", "test"))))
        .containsEntry("target", "a:1")
        .containsEntry("endpoint", "http://a:1/v1")
        .containsEntry("maxInFlight", "4")
        .containsEntry("verifyTls", "true")
        .containsEntry("ignoreEos", "true")
        .containsEntry("purpose", "test")
        .doesNotContainValue("sk-secret");
  }

  /** Or the command that a report shows is of another run. */
  @ParameterizedTest
  @CsvSource({
    "llm.maxTokens, 32, false",
    "llm.tokenizer, tiktoken:cl100k_base, false",
    "llm.assert, output_tokens_per_s>9, false",
    "llm.apiKey, x, true",
    "hub.token, x, true",
    "llm.body, '{\"user\":\"sk-secret\"}', true",
    "llm.metricsUrl, http://a/m?token=x, true",
  })
  void onlyKeysAreLeftOutOfTheCommand(String name, String value, boolean isSecret) {
    List<LlmProtocol> used = protocols(llm.baseUrl("http://a/v1").apiKey("sk-secret"));
    assertThat(Targets.isSecret(name, value, used)).isEqualTo(isSecret);
  }

  @Test
  void verifiedConnectionsUseTls12OrNewer() {
    SslConfiguration ssl = GatlingConfiguration.load().ssl();
    SSLEngine engine =
        Targets.tls(true, false, ssl).getSslContext().newEngine(UnpooledByteBufAllocator.DEFAULT);
    assertThat(Set.of(engine.getEnabledProtocols()))
        .contains("TLSv1.2", "TLSv1.3")
        .doesNotContain("TLSv1", "TLSv1.1", "SSLv3");
  }

  @Test
  void differentValuesOfSeveralProtocolsAreListed() {
    assertThat(
            Targets.settings(
                protocols(
                    llm.baseUrl("http://a/v1").target("A").idleTimeout(Duration.ofMillis(1_500)),
                    llm.baseUrl("http://b/v1").target("B").idleTimeout(7))))
        .doesNotContainKeys("maxInFlight", "verifyTls")
        .containsEntry("target", "A,B")
        .containsEntry("endpoint", "http://a/v1,http://b/v1")
        .containsEntry("idleTimeout", "1.5s,7s")
        .containsEntry("timeout", "600s")
        .containsEntry("connections", "shared")
        .containsEntry("tokenizer", "tiktoken:cl100k_base")
        .doesNotContainKey("tokenizer A");
  }

  @Test
  void factsAreWrittenByTarget() {
    List<LlmProtocol> protocols =
        protocols(
            llm.baseUrl("http://a/v1").tokenizer(chars4()).gpus(8).costPerHour(2.5),
            llm.baseUrl("http://b/v1").target("B").disableIgnoreEos().csv(),
            llm.baseUrl("http://c/v1").target("C").disableFailBuild());

    assertThat(Targets.settings(protocols))
        .containsEntry("ignoreEos", "true,false")
        .containsEntry("gpus", "8")
        .containsEntry("costPerHour", "2.5");
    assertThat(Targets.facts(protocols, Map.of("C", Set.of(AddedField.PINNING)), any -> null))
        .containsExactly(
            Map.entry("a", new TargetFacts(true, "chars4", 8.0, 2.5, null)),
            Map.entry("B", new TargetFacts(false, "tiktoken:cl100k_base", null, null, null)),
            Map.entry("C", new TargetFacts(false, "tiktoken:cl100k_base", null, null, null)));
    assertThat(Targets.report(protocols)).isEqualTo(new ReportOptions(true, false, null));
    assertThat(Targets.report(protocols.subList(0, 1))).isEqualTo(ReportOptions.DEFAULT);
  }

  /** Equal protocols share a gate and are written once. */
  @Test
  void protocolsOfTheSamePartsAreEqual() {
    LlmProtocolBuilder base = llm.baseUrl("http://a/v1").model("m").maxInFlight(2);
    List<LlmProtocol> protocols =
        protocols(
            base.target("A"),
            base.target("A"),
            base.target("B"),
            base.maxInFlight(3),
            base.seed(8));
    assertThat(protocols.get(0)).isEqualTo(protocols.get(1)).hasSameHashCodeAs(protocols.get(1));
    assertThat(protocols.subList(1, protocols.size())).doesNotHaveDuplicates();
  }

  /** Or the template of one target is taken off the prompts of another. */
  @ParameterizedTest
  @CsvSource({
    "A,     A:14,      14, -",
    "A A,   A:14,      14, -", // several protocols of one target
    "A B,   A:14,      14, -",
    "A B,   B:0,       -,  0",
    "A B,   A:14 B:20, 14, 20",
    "A B,   '',        -,  -",
  })
  void aTemplateIsThatOfItsTarget(String targets, String known, String ofA, String ofB) {
    Map<String, Integer> templates = new TreeMap<>();
    for (String each : known.isEmpty() ? new String[0] : known.split(" ", -1)) {
      templates.put(each.split(":", -1)[0], Integer.valueOf(each.split(":", -1)[1]));
    }
    List<LlmProtocol> used =
        Stream.of(targets.split(" ", -1))
            .map(name -> llm.baseUrl("http://a/v1").target(name).protocol())
            .toList();
    Map<String, TargetFacts> facts =
        Targets.facts(used, Map.of(), protocol -> templates.get(protocol.label()));
    assertThat(facts.get("A").templateTokens())
        .isEqualTo(ofA.equals("-") ? null : Integer.valueOf(ofA));
    if (targets.contains("B")) {
      assertThat(facts.get("B").templateTokens())
          .isEqualTo(ofB.equals("-") ? null : Integer.valueOf(ofB));
    } else {
      assertThat(Targets.templates(facts)).containsExactly(Map.entry(RunInfo.TEMPLATE, ofA));
    }
  }

  @Test
  void oneTargetIsPinnedWhereAllItsProtocolsAre() {
    List<LlmProtocol> protocols =
        protocols(
            llm.baseUrl("http://a/v1").ignoreEos(), llm.baseUrl("http://a/v1").disableIgnoreEos());
    assertThat(Targets.facts(protocols, Map.of(), any -> null).get("a").pinnedOutput()).isFalse();
  }

  @Test
  void differentTokenizersAreWrittenByTarget() {
    assertThat(
            Targets.settings(
                protocols(
                    llm.baseUrl("http://a/v1").tokenizer(chars4()).note("tokenizer", "chars4,auto"),
                    llm.baseUrl("http://b/v1").target("B"))))
        .containsEntry("tokenizer", "chars4,tiktoken:cl100k_base")
        .containsEntry("tokenizer a", "chars4")
        .containsEntry("tokenizer B", "tiktoken:cl100k_base");
  }
}
