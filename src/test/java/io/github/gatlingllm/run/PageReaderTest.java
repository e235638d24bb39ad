package io.github.gatlingllm.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.record.ServerSample.Histogram;
import io.github.gatlingllm.testing.Reading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Pages of each server in the format that it publishes; files are named after server and version.
 * Expected values are sums by hand.
 */
class PageReaderTest {

  private static final Path PAGES = Path.of("src/test/resources/recorded/metrics");

  private static ServerSample read(String page) throws IOException {
    return read(new PageReader(), Files.readString(PAGES.resolve(page + ".txt")));
  }

  private static ServerSample read(PageReader reader, String page) {
    return reader.read(page, Reading.at(1, Map.of()).sample());
  }

  /** Counters and gauges as numbers, histograms as count/sum. */
  private static String values(ServerSample reading) {
    Map<EngineMetric, String> all = new TreeMap<>();
    reading.values().forEach((metric, value) -> all.put(metric, number(value)));
    reading
        .histograms()
        .forEach((metric, of) -> all.put(metric, of.count() + "/" + number(of.sum())));
    return all.toString();
  }

  private static String number(double value) {
    return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "vllm-0.6; vllm; {requests_running=5, requests_waiting=2, kv_cache_use=0.125,"
            + " preemptions=1, prompt_tokens=7777, generation_tokens=333, requests_finished=4,"
            + " engine_itl_s=329/3.3}",
        "vllm-0.32; vllm; {requests_running=0, requests_waiting=0, kv_cache_use=0,"
            + " prefix_cache_queries=75914, prefix_cache_hits=0, preemptions=0,"
            + " prompt_tokens=75914, generation_tokens=2184, requests_finished=91,"
            + " engine_ttft_s=91/5.650412082672119, engine_itl_s=2093/18.837216857013118,"
            + " engine_tpot_s=91/0.819009428565788, engine_e2e_s=91/24.416390419006348,"
            + " engine_queue_s=91/0.0019177559806848876, engine_prefill_s=91/3.385053852973215,"
            + " engine_decode_s=91/18.837216857013118}",
        "vllm-0.32-speculative; vllm; {requests_running=4, generation_tokens=7400,"
            + " spec_drafts=2500, spec_draft_tokens=7500, spec_accepted_tokens=5250}",
        "llama.cpp-b11434; llama.cpp; {requests_running=0, requests_waiting=0,"
            + " prefix_cache_queries=26139, prefix_cache_hits=460, prompt_tokens=26139,"
            + " generation_tokens=2208}",
        "llama.cpp-b4000; llama.cpp; {requests_running=1, requests_waiting=2,"
            + " kv_cache_use=0.0234375, generation_tokens=64}",
        "sglang-0.5; sglang; {requests_running=12, requests_waiting=3, kv_cache_use=0.28,"
            + " prefix_cache_hit_rate=0.007507552643049313, prefix_cache_queries=8128902,"
            + " prefix_cache_hits=61000, preemptions=2, prompt_tokens=8128902,"
            + " generation_tokens=7557572, spec_acceptance_rate=0.6, spec_acceptance_length=2.8,"
            + " requests_finished=11228, engine_ttft_s=11228/2351861,"
            + " engine_itl_s=7546344/866964.5, engine_e2e_s=11228/3116093.850019932,"
            + " engine_queue_s=11228/190.5}",
        "tgi-3; tgi; {requests_running=4, requests_waiting=7, prompt_tokens=9211,"
            + " generation_tokens=8123, requests_finished=46, engine_tpot_s=44/0.88,"
            + " engine_e2e_s=44/88.25, engine_queue_s=44/4.4}",
        "tensorrt-llm-1; tensorrt-llm; {requests_running=6, requests_waiting=1,"
            + " kv_cache_use=0.015625, prefix_cache_hit_rate=0.25, prefix_cache_queries=4096,"
            + " prefix_cache_hits=1024, prompt_tokens=4096, generation_tokens=960,"
            + " spec_draft_tokens=900, spec_accepted_tokens=630, spec_acceptance_length=3.1,"
            + " requests_finished=15, engine_ttft_s=15/1.5, engine_tpot_s=15/0.3,"
            + " engine_e2e_s=15/15.6, engine_queue_s=15/0.002, engine_prefill_s=15/1.2,"
            + " engine_decode_s=15/14.1}",
        "triton-2.60; triton; {requests_running=5, requests_waiting=2, kv_cache_use=0.5,"
            + " gpu_utilization=0.8, gpu_memory_used_bytes=150000000000,"
            + " gpu_memory_total_bytes=171041619968, gpu_power_limit_w=1400, gpu_power_w=650.5,"
            + " gpu_energy_j=2900.25, gpus=2}",
        "dynamo-0.9; dynamo; {requests_running=12, requests_waiting=3, kv_cache_use=0.4,"
            + " prefix_cache_queries=900000, prefix_cache_hits=45000, prompt_tokens=900000,"
            + " generation_tokens=500000, requests_finished=6100, engine_ttft_s=1000/2000,"
            + " engine_itl_s=499000/4990, engine_e2e_s=6100/42000}",
        "llm-d-0.9; llm-d; {requests_running=8, requests_waiting=3, kv_cache_use=0.85,"
            + " prefix_cache_queries=234473000, prefix_cache_hits=136887000,"
            + " prompt_tokens=234473000, generation_tokens=2657740, requests_finished=3681,"
            + " engine_ttft_s=3681/42791.3, engine_itl_s=2735790/202523,"
            + " engine_tpot_s=3681/289.114, engine_e2e_s=3681/240330}",
        "gateway-api-inference-extension-1.0; llm-d; {requests_running=4, requests_waiting=3,"
            + " kv_cache_use=0.5, prefix_cache_queries=78300, prompt_tokens=78300,"
            + " generation_tokens=39150, requests_finished=783, engine_e2e_s=783/391.5}",
        "dcgm-exporter-4; dcgm; {gpu_utilization=0.74, gpu_memory_used_bytes=76546048000,"
            + " gpu_memory_total_bytes=167772160000, gpu_power_w=912.5, gpu_energy_j=5551900.58,"
            + " gpus=2}",
        "dcgm-exporter-4-two-gpus; dcgm; {gpu_utilization=0.85, gpu_memory_used_bytes=136314880000,"
            + " gpu_memory_total_bytes=171041619968, gpu_clock_mhz=1717.5, gpu_temperature_c=88,"
            + " gpu_temperature_limit_c=90, gpu_power_limit_w=1400, gpu_power_w=1152.75, gpus=2}",
        "amd-device-metrics-exporter-1; amd; {gpu_utilization=0.935,"
            + " gpu_memory_used_bytes=304087040000, gpu_memory_total_bytes=412283305984,"
            + " gpu_clock_mhz=2000, gpu_temperature_c=81, gpu_power_w=1499, gpus=2}",
        "vllm-nixl-offload; vllm; {kv_transfer_s=4/0.5, kv_transfer_bytes=4096,"
            + " kv_transfers_failed=1, kv_offloaded_bytes=70, kv_loaded_bytes=30}",
        "vllm-offload-by-type; vllm; {kv_offloaded_bytes=700, kv_loaded_bytes=300}",
        "sglang-disaggregated; sglang; {kv_transfer_s=2/6, kv_transfer_bytes=3145728,"
            + " kv_transfers_failed=2, kv_offloaded_tokens=80, kv_loaded_tokens=40}",
        "dynamo-kvbm; dynamo; {kv_offloaded_blocks=9, kv_loaded_blocks=4}",
        "node-exporter-1.9; node; {node_memory_available_bytes=12884901888}",
      })
  void pageIsParsed(String page, String source, String values) throws IOException {
    ServerSample reading = read(page);
    assertThat(reading.source()).isEqualTo(source);
    assertThat(values(reading)).isEqualTo(values);
    assertThat(reading.names())
        .containsKeys(reading.values().keySet().toArray(EngineMetric[]::new));
  }

  /**
   * Of routers and orchestrators, a line each; a Prometheus's own pages have times behind values.
   */
  @ParameterizedTest
  @CsvSource({
    "kubernetes, kube_deployment_status_replicas_ready, 3",
    "kubernetes, kube_statefulset_status_replicas_ready, 0",
    "kubernetes, kube_deployment_status_replicas_available, 2",
    "knative, kn_revision_pods_count, 4",
    "knative, autoscaler_actual_pods, 1",
    "ray, ray_serve_deployment_replica_healthy, 1",
    "llm-d, llm_d_epp_ready_endpoints, 5",
    "llm-d, inference_pool_ready_pods, 6",
    "sglang, smg_worker_pool_size, 7",
    "sglang, sgl_router_active_workers, 8",
    "vllm, vllm_router_active_workers, 9",
  })
  void replicasAreCounted(String source, String name, double replicas) throws IOException {
    String line =
        Files.readAllLines(PAGES.resolve("replicas.txt")).stream()
            .filter(each -> each.startsWith(name))
            .findFirst()
            .orElseThrow();
    ServerSample reading = read(new PageReader(), line + "\n");
    assertThat(reading.source()).isEqualTo(source);
    assertThat(reading.names()).containsExactly(Map.entry(EngineMetric.REPLICAS, name));
    assertThat(reading.values()).containsExactly(Map.entry(EngineMetric.REPLICAS, replicas));
  }

  /** The production stack's router has a series for each of them, 0 for one that is not healthy. */
  @Test
  void replicasOfSeveralSeriesAreAddedUp() {
    String page =
        """
        vllm:healthy_pods_total{server="a"} 1
        vllm:healthy_pods_total{server="b"} 0
        vllm:healthy_pods_total{server="c"} 1
        """;
    assertThat(read(new PageReader(), page).values())
        .containsExactly(Map.entry(EngineMetric.REPLICAS, 2.0));
  }

  /** Its latency is in ms, of which the metric makes seconds. */
  @Test
  void boundsAreInTheUnitOfTheMetric() throws IOException {
    assertThat(read("sglang-disaggregated").histograms().get(EngineMetric.KV_TRANSFER_S))
        .isEqualTo(new Histogram(2, 6, List.of(0.005, 5.0), List.of(1L, 2L)));
  }

  /** MIG instances have dedicated memory: 1,000 + 2,000 MiB. */
  @Test
  void eachGpuHasItsOwnValues() throws IOException {
    Map<String, Map<EngineMetric, Double>> gpus = read("dcgm-exporter-4-two-gpus").gpus();
    assertThat(gpus).containsOnlyKeys("node-1 GPU 0", "node-1 GPU 1");
    assertThat(gpus.get("node-1 GPU 1"))
        .containsOnly(
            Map.entry(EngineMetric.GPU_UTILIZATION, 0.71),
            Map.entry(EngineMetric.GPU_MEMORY_USED_BYTES, 60_000.0 * 1_048_576),
            Map.entry(EngineMetric.GPU_MEMORY_TOTAL_BYTES, 81_559.0 * 1_048_576),
            Map.entry(EngineMetric.GPU_CLOCK_MHZ, 1_455.0),
            Map.entry(EngineMetric.GPU_TEMPERATURE_C, 88.0),
            Map.entry(EngineMetric.GPU_TEMPERATURE_LIMIT_C, 90.0),
            Map.entry(EngineMetric.GPU_POWER_LIMIT_W, 700.0),
            Map.entry(EngineMetric.GPU_POWER_W, 512.25));
    assertThat(read("dcgm-exporter-4").gpus().get("node-1 GPU 1"))
        .containsEntry(EngineMetric.GPU_MEMORY_USED_BYTES, 3_000.0 * 1_048_576)
        .containsEntry(EngineMetric.GPU_UTILIZATION, 0.5);
    assertThat(read("amd-device-metrics-exporter-1").gpus().get("node-a GPU 1"))
        .containsEntry(EngineMetric.GPU_CLOCK_MHZ, 1_900.0)
        .containsEntry(EngineMetric.GPU_TEMPERATURE_C, 81.0);
    assertThat(read("triton-2.60").gpus()).containsOnlyKeys("GPU GPU-a", "GPU GPU-b");
    assertThat(read("vllm-0.6").gpus()).isEmpty();
  }

  /** A row has choices of terms that a server adds up: {@code key: a + b{label=x} | # c * 0.5}. */
  @Test
  void everyRowOfTheTableIsInATestPage() throws IOException {
    StringBuilder all = new StringBuilder();
    try (var pages = Files.list(PAGES)) {
      for (Path page : pages.toList()) {
        all.append(Files.readString(page));
      }
    }
    String table = RunFiles.resource(PageReader.class, "sources.txt");
    assertThat(table.replaceAll("\\n +\\|", " |").lines().filter(row -> row.startsWith("  ")))
        .hasSizeGreaterThan(100)
        .allMatch(
            row ->
                Stream.of(row.split(":\\s+| \\* ", -1)[1].split("\\s+\\| ", -1))
                    .anyMatch(
                        choice ->
                            Stream.of(choice.replace("# ", "").split(" \\+ ", -1))
                                .allMatch(term -> all.indexOf(term.split("\\{", -1)[0]) >= 0)));
  }

  @Test
  void originalNamesAreKept() throws IOException {
    assertThat(read("sglang-0.5").names())
        .containsEntry(EngineMetric.REQUESTS_RUNNING, "sglang:num_running_reqs")
        .containsEntry(EngineMetric.ENGINE_TTFT_S, "sglang:time_to_first_token_seconds");
    assertThat(read("tgi-3").names())
        .containsEntry(EngineMetric.REQUESTS_FINISHED, "tgi_request_success + tgi_request_failure");
    assertThat(read("triton-2.60").names())
        .containsEntry(
            EngineMetric.KV_CACHE_USE,
            "nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=fraction}");
    assertThat(read(new PageReader(), "vllm_num_requests_running 2\n").names())
        .as("as a collector replaces colons")
        .containsEntry(EngineMetric.REQUESTS_RUNNING, "vllm_num_requests_running");
  }

  @Test
  void histogramsKeepTheirBuckets() throws IOException {
    assertThat(read("sglang-0.5").histograms().get(EngineMetric.ENGINE_TTFT_S))
        .isEqualTo(
            new Histogram(
                11_228,
                2_351_861,
                List.of(0.1, 0.5, 1.0, 5.0),
                List.of(5L, 1_000L, 2_999L, 11_000L)));
  }

  private static Histogram ttft(String page) {
    return read(new PageReader(), page).histograms().get(EngineMetric.ENGINE_TTFT_S);
  }

  @Test
  void seriesOfAHistogramAreSummed() {
    String one = page("0", "le=\"1\"", 2);
    String two = page("1", "le=\"1\"", 3);
    assertThat(ttft(one + two)).isEqualTo(new Histogram(10, 4, List.of(1.0), List.of(5L)));
    assertThat(ttft(one + page("1", "le=\"2\"", 3)))
        .as("with other bounds")
        .isEqualTo(new Histogram(10, 4, List.of(), List.of()));
    assertThat(ttft(page("0", "le=\"1\"", 9)))
        .as("read while it was counted")
        .isEqualTo(new Histogram(9, 2, List.of(1.0), List.of(9L)));
  }

  private static String page(String engine, String bound, int count) {
    String name = "vllm:time_to_first_token_seconds";
    String of = "{engine=\"" + engine + "\"";
    return """
    %s_bucket%s,%s} %s
    %s_bucket%s,le="+Inf"} 5
    %s_sum%s} 2
    %s_count%s} 5
    """
        .formatted(name, of, bound, count, name, of, name, of, name, of);
  }

  @Test
  void invalidValuesAreIgnored() {
    ServerSample reading =
        read(
            new PageReader(),
            """
            vllm:num_requests_running 1
            vllm:num_requests_waiting NaN
            vllm:kv_cache_usage_perc +Inf
            vllm:prompt_tokens_total -1
            """);
    assertThat(reading.values()).containsOnlyKeys(EngineMetric.REQUESTS_RUNNING);
  }

  @Test
  void enginesOfOneServerAreSummed() {
    ServerSample reading =
        read(
            new PageReader(),
            """
            vllm:num_requests_running{engine="0"} 1
            vllm:num_requests_running{engine="1"} 2
            vllm:kv_cache_usage_perc{engine="0"} 0.25
            vllm:kv_cache_usage_perc{engine="1"} 0.5
            """);
    assertThat(values(reading)).isEqualTo("{requests_running=3, kv_cache_use=0.5}");
  }

  @Test
  void counterThatGoesBackIsAReset() {
    PageReader reader = new PageReader();
    assertThat(read(reader, "vllm:prompt_tokens_total 5\n").reset()).isFalse();
    assertThat(read(reader, "vllm:prompt_tokens_total 5\n").reset()).isFalse();
    assertThat(read(reader, "vllm:prompt_tokens_total 4\n").reset()).isTrue();
    assertThat(read(reader, "vllm:prompt_tokens_total 6\n").reset()).isFalse();
    assertThat(read(reader, "vllm:num_requests_running 6\n").reset()).as("series gone").isFalse();
  }

  @Test
  void cpuUseIsSinceThePreviousPage() {
    PageReader reader = new PageReader();
    String page =
        "node_cpu_seconds_total{mode=\"idle\"} %s\nnode_cpu_seconds_total{mode=\"user\"} %s\n";
    assertThat(read(reader, page.formatted(100, 50)).values()).isEmpty();
    assertThat(read(reader, page.formatted(101, 53)).values())
        .containsEntry(EngineMetric.NODE_CPU_USE, 0.75);
    assertThat(read(reader, page.formatted(1, 1)).values()).as("restarted").isEmpty();
  }

  @Test
  void openMetricsWithExemplarsIsRead() {
    ServerSample reading =
        read(
            new PageReader(),
            """
            # TYPE vllm:prompt_tokens counter
            # UNIT vllm:prompt_tokens tokens
            vllm:prompt_tokens_total{model_name="a\\"b\\\\\\n"} 17.0 1520879607.789 # {trace_id="K"} 1.0
            # EOF
            """);
    assertThat(values(reading)).isEqualTo("{prompt_tokens=17}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "{\"a\": 1}; not a metrics page: expected a name in line 1",
        "<html>; not a metrics page: expected a name in line 1",
        "vllm:num_requests_running{; not a metrics page: expected a number in line 1",
        "vllm:num_requests_running{b 1} 1; not a metrics page: expected a label in line 1",
        "vllm:num_requests_running{b=\"1\\} 1; not a metrics page: expected a number in line 1",
        "vllm:num_requests_running{b=\"1\" c=\"2\"} 1; not a metrics page: expected a label in line"
            + " 1",
        "vllm:num_requests_running; not a metrics page: expected a number in line 1",
        "vllm:num_requests_running 1f; not a metrics page: expected a number in line 1",
        "a 1; no metric of an engine, GPU or host",
        "''; no metric of an engine, GPU or host",
      })
  void invalidPageIsRefusedInOneLine(String page, String why) {
    assertThatThrownBy(() -> read(new PageReader(), page)).hasMessage(why);
  }
}
