package io.github.gatlingllm.engine;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Settings of the engine derived from published measurements. Each constant names its source, the
 * derivation, and how closely the engine reproduces the source; {@code EnginePresetTest} checks
 * that in virtual time. A preset is a model for trying out a load test, not a basis for buying
 * hardware.
 */
public enum EnginePreset {

  /**
   * Llama 3.3 70B Instruct, FP8, on 2 × H100 80 GB (TP 2) in NVIDIA NIM 1.8.0, prompts of 5,000 and
   * answers of 500 tokens.
   *
   * <p>Source: NVIDIA, <a href="https://docs.nvidia.com/nim/benchmarking/llm/1.0.0/performance">NIM
   * LLMs Benchmarking 1.0.0, Performance</a>, "Llama-3.3-70b-instruct Results, Version 1.8.0, 2 x
   * H100 80G, fp8 TP2, 5000 Input Tokens / 500 Output Tokens":
   *
   * <pre>
   * concurrency    TTFT ms   ITL ms   output tok/s
   *           1     406.77    18.58          51.67
   *           5     546.70    21.83         218.48
   *          25     688.69    38.75         623.40
   *          50     834.51    59.73         814.37
   *         100   7,996.25    92.91         917.26
   *         150  34,794.22    92.86         920.90
   * </pre>
   *
   * <p>Derived from it:
   *
   * <ul>
   *   <li>prefill: at concurrency 1, TTFT is prefill and one step: 5,000 ÷ (406.77 ms − 18.58 ms) =
   *       12,880 tokens/s
   *   <li>batch: ITL and throughput do not change above 100, so the batch is full: 920.9 tokens/s ×
   *       92.86 ms = 85.5 requests, 85
   *   <li>KV cache: 85 such requests hold 85 × 5,504 = 467,840 tokens at their end, in blocks of 16
   *   <li>decode step: at 100, prefill of 917.26 ÷ 500 = 1.835 prompts/s takes 1.835 × 5,000 ÷
   *       12,880 = 71.2 % of the time; the other 28.8 % of 92.91 ms are the decode step of a batch
   *       of 85: 26.74 ms. With 18.58 ms for one, step = 18.48 ms × (1 + 0.00526 × batch)
   * </ul>
   *
   * <p>Chosen: up to 8,192 prompt tokens per step, so that a prompt of 5,000 takes one step.
   * Reproduced: ITL of all rows within 3 %; output within 3 % up to 50 and within 10 % above; TTFT
   * within 1 % at concurrency 1, else within 35 %, as it depends on how requests overlap.
   */
  LLAMA_3_3_70B_2XH100(
      "llama-3.3-70b-2xh100",
      "llama-3.3-70b-instruct",
      12_880,
      Duration.ofNanos(18_480_000),
      0.005_26,
      85,
      467_840),

  /**
   * Llama 3.1 Nemotron Safety Guard 8B, BF16, on GH200 480 GB, in NVIDIA NIM 1.14.0, prompts and
   * answers of 1,000 tokens, up to 100 at once.
   *
   * <p>Source: NVIDIA, <a
   * href="https://docs.nvidia.com/nim/llama-3-1-nemotron-safety-guard-8b/performance.md">Llama 3.1
   * Nemotron Safety Guard 8B NIM Performance</a>, version 1.14.0, "GH200 480GB, BF16, 1000_1000":
   *
   * <pre>
   * concurrency   TTFT ms   throughput, tokens/s
   *           1     15.65                 165.83
   *         100    178.79               7,590.53
   * </pre>
   *
   * <p>Derived from it:
   *
   * <ul>
   *   <li>one step at concurrency 1: (1,000 ÷ 165.83/s − 15.65 ms) ÷ 999 = 6.02 ms
   *   <li>prefill: 1,000 ÷ (15.65 ms − 6.02 ms) = 104,000 tokens/s (faster than the arithmetic of
   *       the GPU suggests; perhaps the prompts of that run were cached in part)
   *   <li>decode step: at 100, E2E = 100 × 1,000 ÷ 7,590.53/s = 13.17 s, ITL = (13.17 s − 0.18 s) ÷
   *       999 = 13.01 ms; prefill takes 7.59 × 1,000 ÷ 104,000 = 7.3 % of it; so 12.06 ms for 100,
   *       and step = 5.96 ms × (1 + 0.01024 × batch)
   *   <li>batch and KV cache: 100 requests and 100 × 2,000 tokens, the limit of this derivation;
   *       the source's next row (250) has less throughput
   * </ul>
   *
   * <p>Reproduced: TTFT at concurrency 1 within 1 %, output of both rows within 3 %. Not
   * reproduced: TTFT at 100.
   */
  NEMOTRON_8B_GH200(
      "nemotron-8b-gh200",
      "llama-3.1-nemotron-safety-guard-8b",
      104_000,
      Duration.ofNanos(5_960_000),
      0.010_24,
      100,
      200_000);

  private static final int PREFILL_TOKENS_PER_STEP = 8_192;

  private final String key;
  private final String model;
  private final double prefillTokensPerSecond;
  private final Duration decodeStep;
  private final double growthPerRequest;
  private final int maxBatch;
  private final int kvTokens;

  EnginePreset(
      String key,
      String model,
      double prefillTokensPerSecond,
      Duration decodeStep,
      double growthPerRequest,
      int maxBatch,
      int kvTokens) {
    this.key = key;
    this.model = model;
    this.prefillTokensPerSecond = prefillTokensPerSecond;
    this.decodeStep = decodeStep;
    this.growthPerRequest = growthPerRequest;
    this.maxBatch = maxBatch;
    this.kvTokens = kvTokens;
  }

  /**
   * The preset with a name, such as {@code llama-3.3-70b-2xh100}.
   *
   * @throws IllegalArgumentException if there is none; the message lists all names
   */
  public static EnginePreset of(String name) {
    List<EnginePreset> all = List.of(values());
    return all.stream()
        .filter(preset -> preset.key.equalsIgnoreCase(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "'" + name + "' is no preset of an engine; expected one of " + names()));
  }

  /** All names, separated by commas. */
  public static String names() {
    return Arrays.stream(values()).map(EnginePreset::toString).collect(Collectors.joining(", "));
  }

  /** Name of the model. */
  public String model() {
    return model;
  }

  EmbeddedEngineBuilder on(EmbeddedEngineBuilder builder) {
    return builder
        .prefillTokensPerSecond(prefillTokensPerSecond)
        .decodeStep(decodeStep)
        .decodeGrowth(growthPerRequest, 0)
        .maxPrefillTokens(PREFILL_TOKENS_PER_STEP)
        .maxBatch(maxBatch)
        .kvTokens(kvTokens);
  }

  /** The name used in settings and on the command line. */
  @Override
  public String toString() {
    return key;
  }
}
