package io.github.gatlingllm.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.JavaCommand;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Effect of the prompt settings on a prefix cache, by the engine's counters and by our records. */
class PrefixCacheIT {

  /** Only complete blocks are shared. */
  private static final int BLOCK = 16;

  private static final int REQUESTS = 20;

  /** Sequential requests, so that each one finds the blocks of all earlier ones. */
  private static final Map<String, String> ALWAYS =
      Map.of(
          "llm.concurrency", "1",
          "llm.maxTokens", "16",
          "llm.seed", "42",
          "llm.warmup", "0",
          "llm.tokenizer", "chars4");

  private record Asked(GatlingRun run, long hits, long queried) {

    List<Integer> cached() throws Exception {
      List<Integer> cached = new ArrayList<>();
      for (RequestRecord record : run.requests()) {
        assertThat(record.outcome().ok()).isTrue();
        cached.add(Objects.requireNonNull(record.tokens().cachedTokens()));
      }
      return cached;
    }

    JsonNode workload() throws Exception {
      return run.summary().path("workload");
    }
  }

  /** The engine's counters equal the sums over the records; the summary has their share. */
  private static Asked ask(Map<String, String> workload) throws Exception {
    try (EmbeddedEngine engine = EmbeddedEngine.builder().seed(1).start()) {
      GatlingRun run =
          GatlingRun.of(Benchmark.class)
              .set(ALWAYS)
              .set("llm.endpoint", engine.baseUrl())
              .set(workload)
              .succeed();
      Asked asked =
          new Asked(run, engine.load().prefixHitTokens(), engine.load().prefixQueriedTokens());
      assertThat(asked.cached().stream().mapToLong(Integer::longValue).sum())
          .isEqualTo(asked.hits());
      assertThat(asked.workload().path("cached_share").asDouble())
          .isCloseTo((double) asked.hits() / asked.queried(), within(1e-9));
      return asked;
    }
  }

  @Test
  void sharedPrefixIsPrefilledOncePerGroup() throws Exception {
    Asked groups =
        ask(
            Map.of(
                "llm.requests", "" + REQUESTS,
                "llm.promptTokens", "640",
                "llm.sharedPrefix", "4x512"));

    List<Integer> cached = groups.cached();
    assertThat(cached.stream().filter(tokens -> tokens < BLOCK)).as("the first of each").hasSize(4);
    assertThat(cached.stream().filter(tokens -> tokens >= BLOCK))
        .hasSize(REQUESTS - 4)
        .allMatch(tokens -> tokens >= 512 && tokens < 640);
    assertThat(groups.hits()).isGreaterThanOrEqualTo((REQUESTS - 4) * 512L);
  }

  @Test
  void scenariosHaveTheirDocumentedCacheHits() throws Exception {
    Asked all =
        ask(
            Map.of(
                "llm.scenario", "A1,A2,B1,B2,C,D", "llm.requests", "4", "llm.recordText", "true"));

    List<Integer> cached = all.cached();
    assertThat(cached.subList(0, 4)).as("A1").containsExactly(0, 48, 48, 48);
    assertThat(cached.subList(5, 8)).as("A2, after its first").containsOnly(2_496);
    assertThat(cached.subList(8, 12)).as("B1").allMatch(tokens -> tokens <= 32);
    assertThat(cached.subList(12, 16)).as("B2").allMatch(tokens -> tokens <= 64);
    assertThat(cached.subList(17, 20)).as("C, after its first").allMatch(t -> t >= 2_000);
    assertThat(all.run().summary().path("curves")).as("one curve each").hasSize(6);
    assertThat(Files.readString(all.run().files().page())).contains("Scenarios against load");
    assertDialogs(all, all.run().requests().subList(20, 40));
    assertThat(recomputed(all.run())).isEqualTo("40 requests agree");
    double ideal = all.run().summary().at("/throughput/ideal_cached_percent").asDouble();
    assertThat(Files.readString(all.run().files().summaryMarkdown()))
        .contains("a cache without limit " + NumberText.percent(ideal / 100));
    for (RequestRecord record : all.run().requests()) {
      assertThat(record.tokens().idealCachedTokens())
          .as(record.identity().requestId())
          .isGreaterThan(record.tokens().cachedTokens() - 2 * BLOCK); // 64 bytes and a block
    }
  }

  /** What the reference script states of the run. */
  private static String recomputed(GatlingRun run) throws Exception {
    List<String> command =
        List.of(
            "python3",
            "-B",
            "src/test/resources/reference/cache.py",
            run.files().folder().toString());
    JavaCommand.Ended python = JavaCommand.run(new ProcessBuilder(command));
    JavaCommand.require(python.code() != 127, "python3 is not installed");
    return python.output().strip();
  }

  /** Each turn of a dialog finds all earlier messages in the cache. */
  private static void assertDialogs(Asked asked, List<RequestRecord> records) throws Exception {
    assertThat(records).hasSize(4 * 5);
    for (int i = 0; i < records.size(); i++) {
      RequestRecord.Tokens now = records.get(i).tokens();
      int turn = i % 5;
      assertThat(records.get(i).identity().turn()).isEqualTo(turn + 1);
      assertThat(now.promptTokens()).isEqualTo(now.promptTokensLocal());
      assertThat(now.promptTokens()).isEqualTo(50 * (turn + 1) + 16 * turn);
      if (turn > 0) {
        RequestRecord.Tokens before = records.get(i - 1).tokens();
        // All but the last token of an answer of 16 is in the cache: nothing was computed from it.
        assertThat(now.cachedTokens())
            .isGreaterThan(Objects.requireNonNull(before.cachedTokens()))
            .isEqualTo((before.promptTokens() + 15) / BLOCK * BLOCK);
      }
    }
    JsonNode turns = asked.workload().path("by_turn");
    assertThat(turns).hasSize(5);
    for (int turn = 1; turn < 5; turn++) {
      assertThat(turns.get(turn).path("mean_prompt_tokens").asDouble())
          .isEqualTo(50 * (turn + 1) + 16 * turn);
      assertThat(turns.get(turn).path("cached_share").asDouble())
          .isGreaterThan(turns.get(turn - 1).path("cached_share").asDouble());
    }
    assertThat(Files.readString(asked.run().files().page()))
        .contains("by turn of the conversation");
  }
}
