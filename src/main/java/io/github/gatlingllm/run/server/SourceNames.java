package io.github.gatlingllm.run.server;

import static io.github.gatlingllm.record.ServerSample.EngineMetric.*;

import io.github.gatlingllm.record.ServerSample.EngineMetric;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The names that servers, GPU exporters and hosts give the metrics of {@link EngineMetric}, as a
 * table: source, metric, names. Alternatives are separated by {@code |}, newer versions first; the
 * first one on the page is used. {@code a + b} is a sum, used if the page has both; {@code
 * name{label=value}} selects the series with that label; {@code # name} is the number of series; a
 * factor converts to the metric's unit. Histograms are listed by base name.
 *
 * <p>If a page has a metric from several sources, the first source in the table is used.
 */
final class SourceNames {

  private static final List<Entry> TABLE = new ArrayList<>();

  private static final double PERCENT = 0.01;
  private static final double MEBIBYTE = 1 << 20;
  private static final double MILLI = 0.001;

  record Term(String name, String label, String value) {

    static Term parse(String text) {
      int brace = text.indexOf('{');
      if (brace < 0) {
        return new Term(text, "", "");
      }
      int equals = text.indexOf('=');
      return new Term(
          text.substring(0, brace),
          text.substring(brace + 1, equals),
          text.substring(equals + 1, text.length() - 1));
    }
  }

  record Choice(List<Term> terms, boolean isCount) {

    static Choice parse(String text) {
      boolean isCount = text.startsWith("# ");
      String names = isCount ? text.substring(2) : text;
      return new Choice(Arrays.stream(names.split(" \\+ ", -1)).map(Term::parse).toList(), isCount);
    }
  }

  record Entry(String source, EngineMetric metric, List<Choice> choices, double factor) {}

  static {
    // vLLM 0.6 to 0.32: vllm/v1/metrics/loggers.py
    row("vllm", REQUESTS_RUNNING, "vllm:num_requests_running");
    row("vllm", REQUESTS_WAITING, "vllm:num_requests_waiting");
    row("vllm", KV_CACHE_USE, "vllm:kv_cache_usage_perc | vllm:gpu_cache_usage_perc");
    row("vllm", PREFIX_CACHE_HIT_RATE, "vllm:gpu_prefix_cache_hit_rate");
    row(
        "vllm",
        PREFIX_CACHE_QUERIES,
        "vllm:prefix_cache_queries_total | vllm:gpu_prefix_cache_queries_total");
    row(
        "vllm",
        PREFIX_CACHE_HITS,
        "vllm:prefix_cache_hits_total | vllm:gpu_prefix_cache_hits_total");
    row("vllm", PREEMPTIONS, "vllm:num_preemptions_total");
    row("vllm", PROMPT_TOKENS, "vllm:prompt_tokens_total");
    row("vllm", GENERATION_TOKENS, "vllm:generation_tokens_total");
    row("vllm", REQUESTS_FINISHED, "vllm:request_success_total");
    row("vllm", ENGINE_TTFT_S, "vllm:time_to_first_token_seconds");
    row(
        "vllm",
        ENGINE_ITL_S,
        "vllm:inter_token_latency_seconds | vllm:time_per_output_token_seconds");
    row("vllm", ENGINE_TPOT_S, "vllm:request_time_per_output_token_seconds");
    row("vllm", ENGINE_E2E_S, "vllm:e2e_request_latency_seconds");
    row("vllm", ENGINE_QUEUE_S, "vllm:request_queue_time_seconds");
    row("vllm", ENGINE_PREFILL_S, "vllm:request_prefill_time_seconds");
    row("vllm", ENGINE_DECODE_S, "vllm:request_decode_time_seconds");

    // SGLang 0.4 and 0.5: python/sglang/srt/metrics/collector.py
    row("sglang", REQUESTS_RUNNING, "sglang:num_running_reqs");
    row("sglang", REQUESTS_WAITING, "sglang:num_queue_reqs");
    row("sglang", KV_CACHE_USE, "sglang:token_usage");
    row("sglang", PREFIX_CACHE_HIT_RATE, "sglang:cache_hit_rate");
    row("sglang", PREFIX_CACHE_QUERIES, "sglang:prompt_tokens_total");
    row("sglang", PREFIX_CACHE_HITS, "sglang:cached_tokens_total");
    row("sglang", PREEMPTIONS, "sglang:num_retracted_requests_total");
    row("sglang", PROMPT_TOKENS, "sglang:prompt_tokens_total");
    row("sglang", GENERATION_TOKENS, "sglang:generation_tokens_total");
    row("sglang", REQUESTS_FINISHED, "sglang:num_requests_total");
    row("sglang", ENGINE_TTFT_S, "sglang:time_to_first_token_seconds");
    row(
        "sglang",
        ENGINE_ITL_S,
        "sglang:inter_token_latency_seconds | sglang:time_per_output_token_seconds");
    row("sglang", ENGINE_E2E_S, "sglang:e2e_request_latency_seconds");
    row("sglang", ENGINE_QUEUE_S, "sglang:queue_time_seconds");

    // Text Generation Inference 2 and 3: docs/source/reference/metrics.md
    row("tgi", REQUESTS_RUNNING, "tgi_batch_current_size");
    row("tgi", REQUESTS_WAITING, "tgi_queue_size");
    row("tgi", PROMPT_TOKENS, "tgi_request_input_length_sum");
    row("tgi", GENERATION_TOKENS, "tgi_request_generated_tokens_sum");
    row(
        "tgi",
        REQUESTS_FINISHED,
        "tgi_request_success + tgi_request_failure | tgi_request_success");
    row("tgi", ENGINE_TPOT_S, "tgi_request_mean_time_per_token_duration");
    row("tgi", ENGINE_E2E_S, "tgi_request_duration");
    row("tgi", ENGINE_QUEUE_S, "tgi_request_queue_duration");

    // llama.cpp's server: tools/server
    row("llama.cpp", REQUESTS_RUNNING, "llamacpp:requests_processing");
    row("llama.cpp", REQUESTS_WAITING, "llamacpp:requests_deferred");
    row("llama.cpp", KV_CACHE_USE, "llamacpp:kv_cache_usage_ratio");
    row(
        "llama.cpp",
        PREFIX_CACHE_QUERIES,
        "llamacpp:prompt_tokens_total + llamacpp:prompt_tokens_cached_total");
    row("llama.cpp", PREFIX_CACHE_HITS, "llamacpp:prompt_tokens_cached_total");
    row(
        "llama.cpp",
        PROMPT_TOKENS,
        "llamacpp:prompt_tokens_total + llamacpp:prompt_tokens_cached_total");
    row("llama.cpp", GENERATION_TOKENS, "llamacpp:tokens_predicted_total");

    // TensorRT-LLM 1: tensorrt_llm/metrics/collector.py, at /prometheus/metrics
    row("tensorrt-llm", REQUESTS_RUNNING, "trtllm_num_requests_running");
    row("tensorrt-llm", REQUESTS_WAITING, "trtllm_num_requests_waiting");
    row("tensorrt-llm", KV_CACHE_USE, "trtllm_kv_cache_utilization");
    row("tensorrt-llm", PREFIX_CACHE_HIT_RATE, "trtllm_kv_cache_hit_rate");
    row("tensorrt-llm", PREFIX_CACHE_QUERIES, "trtllm_prompt_tokens_total");
    row("tensorrt-llm", PREFIX_CACHE_HITS, "trtllm_prompt_cached_tokens_total");
    row("tensorrt-llm", PROMPT_TOKENS, "trtllm_prompt_tokens_total");
    row("tensorrt-llm", GENERATION_TOKENS, "trtllm_generation_tokens_total");
    row("tensorrt-llm", REQUESTS_FINISHED, "trtllm_request_success_total");
    row("tensorrt-llm", ENGINE_TTFT_S, "trtllm_time_to_first_token_seconds");
    row("tensorrt-llm", ENGINE_TPOT_S, "trtllm_time_per_output_token_seconds");
    row("tensorrt-llm", ENGINE_E2E_S, "trtllm_e2e_request_latency_seconds");
    row("tensorrt-llm", ENGINE_QUEUE_S, "trtllm_request_queue_time_seconds");
    row("tensorrt-llm", ENGINE_PREFILL_S, "trtllm_request_prefill_time_seconds");
    row("tensorrt-llm", ENGINE_DECODE_S, "trtllm_request_decode_time_seconds");

    // Triton 2 with its TensorRT-LLM backend
    row("triton", REQUESTS_RUNNING, "nv_trt_llm_request_metrics{request_type=scheduled}");
    row("triton", REQUESTS_WAITING, "nv_trt_llm_request_metrics{request_type=waiting}");
    row("triton", KV_CACHE_USE, "nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=fraction}");
    row("triton", GPU_UTILIZATION, "nv_gpu_utilization");
    row("triton", GPU_MEMORY_USED_BYTES, "nv_gpu_memory_used_bytes");
    row("triton", GPU_MEMORY_TOTAL_BYTES, "nv_gpu_memory_total_bytes");
    row("triton", GPU_POWER_W, "nv_gpu_power_usage");
    row("triton", GPU_ENERGY_J, "nv_energy_consumption");
    row("triton", GPUS, "# nv_gpu_power_usage | # nv_gpu_utilization");

    // NVIDIA Dynamo: the frontend's names
    row("dynamo", REQUESTS_RUNNING, "dynamo_frontend_inflight_requests");
    row("dynamo", REQUESTS_WAITING, "dynamo_frontend_queued_requests");
    row(
        "dynamo",
        KV_CACHE_USE,
        "dynamo_component_gpu_cache_usage_percent"
            + " | dynamo_component_kvstats_gpu_cache_usage_percent");
    row("dynamo", PREFIX_CACHE_QUERIES, "dynamo_frontend_input_sequence_tokens_sum");
    row("dynamo", PREFIX_CACHE_HITS, "dynamo_frontend_cached_tokens_sum");
    row("dynamo", PROMPT_TOKENS, "dynamo_frontend_input_sequence_tokens_sum");
    row(
        "dynamo",
        GENERATION_TOKENS,
        "dynamo_frontend_output_tokens_total | dynamo_frontend_output_sequence_tokens_sum");
    row("dynamo", REQUESTS_FINISHED, "dynamo_frontend_requests_total");
    row("dynamo", ENGINE_TTFT_S, "dynamo_frontend_time_to_first_token_seconds");
    row("dynamo", ENGINE_ITL_S, "dynamo_frontend_inter_token_latency_seconds");
    row("dynamo", ENGINE_E2E_S, "dynamo_frontend_request_duration_seconds");

    // llm-d's router, and the Gateway API inference extension that it comes from
    row("llm-d", REQUESTS_RUNNING, llmD("request_running", "running_requests"));
    row(
        "llm-d",
        REQUESTS_WAITING,
        "llm_d_epp_per_endpoint_queue_size | inference_pool_per_pod_queue_size");
    row(
        "llm-d",
        KV_CACHE_USE,
        "llm_d_epp_average_kv_cache_utilization | inference_pool_average_kv_cache_utilization");
    row("llm-d", PREFIX_CACHE_QUERIES, llmD("request_input_tokens_sum", "input_tokens_sum"));
    row("llm-d", PREFIX_CACHE_HITS, llmD("request_cached_tokens_sum", "prompt_cached_tokens_sum"));
    row("llm-d", PROMPT_TOKENS, llmD("request_input_tokens_sum", "input_tokens_sum"));
    row("llm-d", GENERATION_TOKENS, llmD("request_output_tokens_sum", "output_tokens_sum"));
    row(
        "llm-d",
        REQUESTS_FINISHED,
        llmD("request_duration_seconds_count", "request_duration_seconds_count"));
    row("llm-d", ENGINE_TTFT_S, "llm_d_epp_request_ttft_seconds");
    row("llm-d", ENGINE_ITL_S, "llm_d_epp_request_streaming_itl_seconds");
    row("llm-d", ENGINE_TPOT_S, "llm_d_epp_request_streaming_tpot_seconds");
    row("llm-d", ENGINE_E2E_S, llmD("request_duration_seconds", "request_duration_seconds"));

    // NVIDIA's dcgm-exporter 3 and 4: etc/default-counters.csv
    row("dcgm", GPU_UTILIZATION, "DCGM_FI_DEV_GPU_UTIL", PERCENT);
    row("dcgm", GPU_MEMORY_USED_BYTES, "DCGM_FI_DEV_FB_USED", MEBIBYTE);
    row(
        "dcgm",
        GPU_MEMORY_TOTAL_BYTES,
        "DCGM_FI_DEV_FB_TOTAL"
            + " | DCGM_FI_DEV_FB_USED + DCGM_FI_DEV_FB_FREE + DCGM_FI_DEV_FB_RESERVED"
            + " | DCGM_FI_DEV_FB_USED + DCGM_FI_DEV_FB_FREE",
        MEBIBYTE);
    row("dcgm", GPU_POWER_W, "DCGM_FI_DEV_POWER_USAGE");
    row("dcgm", GPU_ENERGY_J, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", MILLI);
    row("dcgm", GPUS, "# DCGM_FI_DEV_POWER_USAGE | # DCGM_FI_DEV_GPU_UTIL");

    // Prometheus' node_exporter 1; CPU use is computed from two readings
    row("node", NODE_MEMORY_AVAILABLE_BYTES, "node_memory_MemAvailable_bytes");
  }

  /** CPU seconds of the host since its start, by mode. */
  static final String NODE_CPU = "node_cpu_seconds_total";

  static final String NODE = "node";

  static final List<Entry> ALL = Collections.unmodifiableList(TABLE);

  private static final Set<String> WANTED = wanted();

  private SourceNames() {}

  private static String llmD(String now, String before) {
    return "llm_d_epp_%s | inference_objective_%s | inference_model_%s"
        .formatted(now, before, before);
  }

  private static void row(String source, EngineMetric metric, String names) {
    row(source, metric, names, 1);
  }

  private static void row(String source, EngineMetric metric, String names, double factor) {
    List<Choice> choices = Arrays.stream(names.split(" \\| ", -1)).map(Choice::parse).toList();
    TABLE.add(new Entry(source, metric, choices, factor));
  }

  private static Set<String> wanted() {
    Set<String> names = new HashSet<>(Set.of(NODE_CPU));
    for (Entry entry : ALL) {
      for (Choice choice : entry.choices()) {
        for (Term term : choice.terms()) {
          String name = plain(term.name());
          if (entry.metric().kind() == EngineMetric.Kind.HISTOGRAM) {
            names.addAll(List.of(name + "_bucket", name + "_sum", name + "_count"));
          } else {
            names.add(name);
          }
        }
      }
    }
    return Collections.unmodifiableSet(names);
  }

  /** The name with underscores for colons, as some collectors write it. */
  static String plain(String name) {
    return name.replace(':', '_');
  }

  static boolean isWanted(String name) {
    return WANTED.contains(plain(name));
  }
}
