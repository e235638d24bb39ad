package io.github.gatlingllm.record;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/**
 * Published limits that settings can name instead of objectives: the interactive scenarios of
 * MLPerf Inference. MLPerf judges them as the rule {@code percentiles} does: by the 99th percentile
 * of TTFT and of TPOT, measured from the instant at which a query was scheduled.
 *
 * <p>Source: MLCommons, <a
 * href="https://github.com/mlcommons/inference_policies/blob/ac93e89c0c9a8819eb0ad987768c2f6e22896714/inference_rules.adoc">MLPerf
 * Inference Rules</a>, table of benchmarks of the datacenter suite, as of July 2026. Only the
 * limits are taken from there. Model, dataset and lengths are those of the run, so its figures are
 * not MLPerf results.
 */
enum SloPreset {
  MLPERF_LLAMA3_1_8B_INTERACTIVE("ttft<500ms,tpot<30ms"),
  MLPERF_LLAMA2_70B_INTERACTIVE("ttft<450ms,tpot<40ms"),
  MLPERF_LLAMA3_1_405B_INTERACTIVE("ttft<4500ms,tpot<80ms"),
  MLPERF_DEEPSEEK_R1_INTERACTIVE("ttft<1500ms,tpot<15ms"),
  MLPERF_GPT_OSS_120B_INTERACTIVE("ttft<2s,tpot<20ms");

  private final String objectives;

  SloPreset(String objectives) {
    this.objectives = objectives;
  }

  /** Its objectives as written in settings. */
  String objectives() {
    return objectives;
  }

  /** The name used in settings, e.g. {@code mlperf-llama3.1-8b-interactive}. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-').replace("llama3-1", "llama3.1");
  }

  static Optional<SloPreset> named(String name) {
    return Arrays.stream(values()).filter(preset -> preset.toString().equals(name)).findFirst();
  }
}
