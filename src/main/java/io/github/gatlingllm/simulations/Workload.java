package io.github.gatlingllm.simulations;

import io.github.gatlingllm.workload.Dataset;
import io.github.gatlingllm.workload.Prompts;
import io.github.gatlingllm.workload.Prompts.WorkloadScenario;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a benchmark: generated prompts, recorded dialogs, or known scenarios.
 *
 * @param known one after the other, each with the whole load, unless they are {@code mixed}
 */
record Workload(
    @Nullable Prompts pool, @Nullable Dataset dataset, List<Share> known, boolean mixed) {

  /** A scenario; its share of a mix is its weight ÷ the sum of all weights. */
  record Share(WorkloadScenario.Ready ready, double weight) {}

  private Stream<Prompts> prompts() {
    return Stream.concat(
        Optional.ofNullable(pool).stream(), known.stream().map(share -> share.ready().prompts()));
  }

  /** Prompts that could not get their exact length; usually none. */
  Stream<Prompts.Miss> misses() {
    return prompts().flatMap(each -> each.misses().stream());
  }

  /** The datasets by the setting that names them. */
  Map<SettingEntry<?>, Dataset> datasets() {
    Map<SettingEntry<?>, Dataset> datasets = new LinkedHashMap<>();
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

  long made() {
    return prompts().mapToLong(each -> each.made().size()).sum();
  }

  /** Number of scenarios that run one after the other. */
  int scenarios() {
    return mixed ? 1 : Math.max(1, known.size());
  }

  boolean dialogs() {
    return known.stream().anyMatch(share -> share.ready().scenario().dialog());
  }
}
