package io.github.gatlingllm.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.ScriptedServer;
import java.nio.file.Files;
import java.util.List;
import java.util.Objects;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Test;

class ServerMetricsIT {

  private static final String KEY = "sk-secret-of-the-target";

  @Test
  void engineAndClientCountTheSame() throws Exception {
    try (EmbeddedEngine engine = EmbeddedEngine.builder().model("small").start();
        ScriptedServer gpus =
            ScriptedServer.start(
                exchange -> exchange.respond(200, "text/plain", "nv_gpu_power_usage 250.5\n"),
                exchange -> exchange.respond(500, "text/plain", "none"));
        GatlingRun run =
            GatlingRun.of(Benchmark.class)
                .set("llm.endpoint", "vLLM=" + engine.baseUrl())
                .set("llm.apiKey", KEY)
                .set("llm.metricsUrl", "auto," + gpus.baseUrl() + "/gpus?token=" + KEY)
                .llm("concurrency=6 duration=0.8 fill=0 stabilize=0 promptTokens=40 maxTokens=60")
                .succeed()) {
      assertThat(run.output())
          .contains("LLM server metrics: reading vllm from " + metricsOf(engine));
      List<ServerSample> samples = run.serverSamples();
      List<ServerSample> ofEngine =
          samples.stream().filter(each -> each.source().equals("vllm")).toList();
      assertThat(ofEngine).as(run.output()).hasSizeGreaterThan(2);
      ServerSample first = ofEngine.get(0);
      ServerSample last = ofEngine.get(ofEngine.size() - 1);
      List<RequestRecord> requests = run.requests();

      assertThat(ofEngine)
          .allSatisfy(
              each -> {
                assertThat(each.error()).isNull();
                assertThat(each.reset()).isFalse();
                assertThat(each.target()).isEqualTo("vLLM");
                assertThat(each.url()).isEqualTo(metricsOf(engine));
              });
      assertThat(first.unixNanos()).isLessThan(requests.get(0).timing().startUnixNanos());
      assertThat(last.unixNanos())
          .isGreaterThan(max(requests, record -> record.timing().closedUnixNanos()));
      assertThat(difference(first, last, EngineMetric.REQUESTS_FINISHED))
          .isEqualTo(requests.size());
      assertThat(difference(first, last, EngineMetric.PROMPT_TOKENS))
          .isEqualTo(sum(requests, record -> record.tokens().promptTokens()));
      assertThat(difference(first, last, EngineMetric.GENERATION_TOKENS))
          .isEqualTo(sum(requests, record -> record.tokens().outputTokens()));
      assertThat(difference(first, last, EngineMetric.PREFIX_CACHE_QUERIES))
          .isEqualTo(difference(first, last, EngineMetric.PROMPT_TOKENS));
      assertThat(difference(first, last, EngineMetric.PREFIX_CACHE_HITS))
          .isEqualTo(sum(requests, record -> record.tokens().cachedTokens()));
      assertThat(count(first, last, EngineMetric.ENGINE_TTFT_S)).isEqualTo(requests.size());
      assertThat(count(first, last, EngineMetric.ENGINE_QUEUE_S)).isEqualTo(requests.size());
      assertThat(count(first, last, EngineMetric.ENGINE_E2E_S)).isEqualTo(requests.size());
      assertThat(ofEngine)
          .anySatisfy(each -> assertThat(each.value(EngineMetric.REQUESTS_RUNNING)).isPositive());
      assertThat(last.value(EngineMetric.REQUESTS_RUNNING)).isZero();

      List<ServerSample> ofGpus =
          samples.stream().filter(each -> each.source().equals("triton")).toList();
      assertThat(ofGpus.get(0).value(EngineMetric.GPU_POWER_W)).isEqualTo(250.5, within(1e-9));
      assertThat(ofGpus.get(1).error()).isEqualTo("HTTP 500");
      assertThat(run.lines().stream().filter(line -> line.contains("cannot read"))).hasSize(1);
      assertThat(gpus.requests())
          .allSatisfy(request -> assertThat(request.headers().toString()).doesNotContain(KEY));
      assertThat(run.output() + Files.readString(run.files().server())).doesNotContain(KEY);
    }
  }

  private static String metricsOf(EmbeddedEngine engine) {
    return engine.baseUrl().replace("/v1", "/metrics");
  }

  private static long difference(ServerSample first, ServerSample last, EngineMetric metric) {
    return Math.round(
        Objects.requireNonNull(last.value(metric)) - Objects.requireNonNull(first.value(metric)));
  }

  private static long count(ServerSample first, ServerSample last, EngineMetric metric) {
    return last.histograms().get(metric).count() - first.histograms().get(metric).count();
  }

  private static long sum(List<RequestRecord> all, ToLongFunction<RequestRecord> of) {
    return all.stream().mapToLong(of).sum();
  }

  private static long max(List<RequestRecord> all, ToLongFunction<RequestRecord> of) {
    return all.stream().mapToLong(of).max().orElse(0);
  }
}
