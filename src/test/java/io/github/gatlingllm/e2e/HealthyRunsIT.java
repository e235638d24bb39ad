package io.github.gatlingllm.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.GatlingRun;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Healthy runs end without a warning. These runs are short and share the machine with other tests,
 * so checks that depend on the machine or need longer windows are not asserted.
 */
class HealthyRunsIT {
  private static final Set<String> OF_THE_MACHINE =
      Set.of(
          "generator",
          "start_lag",
          "arrivals",
          "silent_spans",
          "steady_state",
          "buffering",
          "coalesced_events",
          "engine_ttft");

  private static final Set<String> OF_SHORT_WINDOWS =
      Set.of("low_n", "window_length", "early_stopping");

  @Test
  void defaultBenchmark() throws Exception {
    GatlingRun run = GatlingRun.of(Benchmark.class).llm("concurrency=1,4,8 duration=0.7").succeed();
    assertThat(doubts(run)).as(run.output()).isEmpty();
    assertThat(run.check("cached_share").path("value").asDouble()).isZero();
    assertThat(run.summary().at("/workload/prompt_tokens/mean").asDouble()).isBetween(200.0, 320.0);
    assertThat(run.summary().at("/workload/prompt_tokens/std").asDouble()).isGreaterThan(50);
    assertThat(run.output()).containsPattern("\n> \\d\\d checks passed\n");
    List<ServerSample> samples = run.serverSamples();
    ServerSample last = samples.get(samples.size() - 1);
    assertThat(last.error()).as(run.output()).isNull();
    assertThat(
            last.value(EngineMetric.REQUESTS_FINISHED)
                - samples.get(0).value(EngineMetric.REQUESTS_FINISHED))
        .as("read after the last request")
        .isEqualTo(run.requests().size());
  }

  @Test
  void dialogsInAnOpenLoop() throws Exception {
    GatlingRun run =
        GatlingRun.of(Benchmark.class)
            .llm("scenario=D turns=3 maxTokens=8 rate=15 duration=1200ms seed=1 slo=ttft<20s")
            .succeed();
    assertThat(doubts(run)).as(run.output()).isEmpty();
    assertThat(run.check("cached_share").path("level").asText())
        .as("turns of a chat share what was said before")
        .isEqualTo("note");
  }

  private static List<String> doubts(GatlingRun run) throws IOException {
    List<String> doubts = new ArrayList<>();
    for (JsonNode check : run.summary().path("checks")) {
      String id = check.path("id").asText();
      boolean isRaised = Set.of("warning", "invalid").contains(check.path("level").asText());
      if (isRaised && !OF_THE_MACHINE.contains(id) && !OF_SHORT_WINDOWS.contains(id)) {
        doubts.add(id + ": " + check.path("message").asText());
      }
    }
    return doubts;
  }
}
