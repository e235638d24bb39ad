package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.ofMillis;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.gatling.javaapi.core.*;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.javaapi.ClosedLoop;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.GatlingRun;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class TargetsIT {
  @AutoClose
  private final EmbeddedEngine slow =
      EmbeddedEngine.builder().model("small").fixed(ofMillis(60), ofMillis(6)).start();

  @AutoClose
  private final EmbeddedEngine fast =
      EmbeddedEngine.builder().model("large").fixed(ofMillis(10), ofMillis(1)).start();

  @Test
  void targetsOneAfterTheOtherHaveTheSamePlan() throws Exception {
    GatlingRun run =
        GatlingRun.of(TargetsSimulation.class)
            .set("slow", slow.baseUrl())
            .set("fast", fast.baseUrl())
            .succeed();
    assertThat(run.info().stages())
        .extracting(stage -> stage.target() + " " + stage.label())
        .containsExactly("slow c=1", "slow c=2", "slow c=4", "fast c=1", "fast c=2", "fast c=4");
    List<RequestRecord> first = of(run, "slow");
    List<RequestRecord> second = of(run, "fast");
    assertThat(first).hasSize((int) slow.requestsReceived());
    assertThat(second).hasSize((int) fast.requestsReceived());
    assertThat(run.requests())
        .hasSize(first.size() + second.size())
        .allSatisfy(
            record -> {
              assertThat(record.identity().scenario()).isEqualTo("Chat");
              assertThat(record.outcome().ok()).isTrue();
            });
    assertThat(first.stream().mapToLong(TargetsIT::closed).max().orElseThrow())
        .as("the second target begins when the first is done")
        .isLessThan(second.stream().mapToLong(TargetsIT::start).min().orElseThrow());
    JsonNode targets = run.summary().path("targets");
    assertThat(targets).extracting(t -> t.path("label").asText()).containsExactly("slow", "fast");
    assertThat(targets)
        .as("each target's own")
        .extracting(t -> t.at("/metrics/ttft_ms/count").asLong())
        .containsExactly(measured(first), measured(second));
    assertThat(targets.get(0).at("/metrics/ttft_ms/min").asDouble()).isGreaterThanOrEqualTo(60);
    assertThat(targets.get(1).at("/metrics/ttft_ms/min").asDouble()).isGreaterThanOrEqualTo(10);
    assertThat(targets.get(0).at("/knee/target").asText()).isEqualTo("slow");
    assertThat(targets.get(1).at("/knee/target").asText()).isEqualTo("fast");
    assertThat(targets)
        .extracting(t -> t.at("/goodput/share").asDouble())
        .containsExactly(1.0, 0.0);
    assertThat(run.summary().at("/slo/text").asText())
        .isEqualTo("slow: ttft<60s (90 %); fast: ttft<5ms (99 %)");
    assertThat(run.info().objectives().of("slow").global().percentile()).isEqualTo(90);
    assertThat(run.output())
        .doesNotContain("has another SLO")
        .contains("goodput of fast:", "ttft<5ms");
    assertThat(Files.readString(run.files().summaryMarkdown())).contains("| slow: ttft |");
    assertThat(run.check("same_model").path("level").asText())
        .as("no model was named")
        .isEqualTo("warning");
    assertThat(run.output()).contains("---- Operating points ---");
    assertThat(Files.readString(run.files().summaryMarkdown()))
        .contains("### Operating points", "| slow ", "c=4 of slow");
    assertThat(Files.readString(run.files().page())).contains("By target");
  }

  @Test
  void benchmarkSendsTheSameToEachTarget() throws Exception {
    GatlingRun run =
        GatlingRun.of(Benchmark.class)
            .set("llm.endpoint", slow.baseUrl() + "," + fast.baseUrl())
            .llm(
                "model=small,large concurrency=2 requests=40 mix=C:1,B1:3 maxTokens=8 seed=5"
                    + " recordText=true uniquePrompts=false interleave=true")
            .succeed();
    String a = slow.baseUrl().replaceAll("https?://|/v1", "");
    String b = fast.baseUrl().replaceAll("https?://|/v1", "");
    List<RequestRecord> first = of(run, a);
    List<RequestRecord> second = of(run, b);
    assertThat(first).hasSize(40).allMatch(r -> "small".equals(r.identity().model()));
    assertThat(second).hasSize(40).allMatch(r -> "large".equals(r.identity().model()));
    assertThat(prompts(first)).hasSizeGreaterThan(5).isEqualTo(prompts(second));
    // 30 of 40 are B1 on average; 3 standard deviations are 8.
    assertThat(first.stream().filter(r -> r.identity().name().equals("B1")).count())
        .isBetween(22L, 38L)
        .isEqualTo(second.stream().filter(r -> r.identity().name().equals("B1")).count());
    assertThat(second.stream().mapToLong(TargetsIT::start).min().orElseThrow())
        .as("side by side")
        .isLessThan(first.stream().mapToLong(TargetsIT::closed).max().orElseThrow());
    assertThat(run.info().stages()).extracting(LevelInfo::target).containsExactlyInAnyOrder(a, b);
    assertThat(run.info().config())
        .containsEntry("endpoint", slow.baseUrl() + "," + fast.baseUrl())
        .containsEntry("model", "small,large");
    assertThat(run.check("same_model").path("level").asText()).isEqualTo("warning");
  }

  private static long measured(List<RequestRecord> records) {
    return records.stream().filter(r -> r.identity().phase() == Phase.MEASURE).count();
  }

  private static List<RequestRecord> of(GatlingRun run, String target) throws Exception {
    return run.requests().stream().filter(r -> r.identity().target().equals(target)).toList();
  }

  private static List<String> prompts(List<RequestRecord> records) {
    List<String> prompts = new ArrayList<>();
    records.forEach(r -> prompts.add(String.valueOf(requireNonNull(r.text()).messages())));
    prompts.sort(null);
    return prompts;
  }

  private static long start(RequestRecord record) {
    return record.timing().startUnixNanos();
  }

  private static long closed(RequestRecord record) {
    return requireNonNull(record.timing().closedUnixNanos());
  }

  /** The second target overrides URL and SLO of the common protocol, the first one nothing. */
  public static final class TargetsSimulation extends Simulation {

    private final ScenarioBuilder chat =
        scenario("Chat").exec(llm("ask").chat().user("hi").maxTokens(8));

    private final ClosedLoop load =
        closedLoop(1, 2, 4).fill(0).stabilize(0).measure(ofMillis(400)).disableCooldown();

    private static final LlmProtocolBuilder COMMON =
        llm.baseUrl(System.getProperty("slow")).slo(slo().ttft(60_000).percentile(90));

    {
      setUp(
              oneAfterTheOther(
                  load.target("slow", llm).inject(chat),
                  load.target("fast", llm.baseUrl(System.getProperty("fast")).slo("ttft<5ms"))
                      .inject(chat)))
          .protocols(COMMON);
    }
  }
}
