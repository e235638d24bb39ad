package io.github.gatlingllm.simulations;

import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.workload.Dataset;
import io.github.gatlingllm.workload.Dataset.SessionFile;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.Prompts;
import io.github.gatlingllm.workload.WorkloadScenario;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a benchmark: generated prompts, recorded dialogs or sessions, or known scenarios.
 *
 * @param pools several in a grid, one after the other, each with the full load
 * @param known one after the other, each with the full load, unless they are {@code mixed}
 */
record Workload(
    List<Pool> pools,
    @Nullable Dataset dataset,
    @Nullable SessionFile sessions,
    List<Share> known,
    boolean mixed) {

  /**
   * Generated prompts.
   *
   * @param pair the name of its pair of lengths; empty outside a grid
   * @param drawn the names of pairs of lengths that are drawn by weight, by the index of the draw
   */
  record Pool(
      String pair,
      Prompts prompts,
      LengthDistribution outputs,
      @Nullable LongFunction<String> drawn) {}

  /** A scenario; its share of a mix is its weight ÷ the sum of all weights. */
  record Share(WorkloadScenario.Ready ready, double weight) {}

  private Stream<Prompts> prompts() {
    return Stream.concat(
        pools.stream().map(Pool::prompts), known.stream().map(share -> share.ready().prompts()));
  }

  /** Prompts that could not get their exact length; usually none. */
  Stream<String> misses() {
    return prompts().flatMap(each -> each.misses().stream());
  }

  /** The datasets by the setting that names them. */
  Map<Setting<?>, Dataset> datasets() {
    Map<Setting<?>, Dataset> datasets = new LinkedHashMap<>();
    if (dataset != null) {
      datasets.put(Setting.DATASET, dataset);
    }
    for (Share share : known) {
      Dataset own = share.ready().dataset();
      if (own != null) {
        datasets.put(WorkloadReader.DATASETS.get(share.ready().scenario()), own);
      }
    }
    return datasets;
  }

  /** Whether prompts of a file have lengths of their answers. */
  boolean hasOutputs() {
    return pools.stream().anyMatch(pool -> pool.prompts().hasOutputs());
  }

  long made() {
    return prompts().mapToLong(each -> each.made().size()).sum();
  }

  /** The maximum number of prompts that are generated for each of this number of pools. */
  static int maxMade(int pools) {
    return Math.max(1, Prompts.MAX_MADE / pools);
  }

  /** Number of scenarios that run one after the other. */
  int scenarios() {
    return mixed ? 1 : Math.max(1, known.size() + pools.size());
  }

  boolean dialogs() {
    return known.stream().anyMatch(share -> share.ready().scenario().dialog());
  }
}
