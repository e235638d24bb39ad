package io.github.gatlingllm.simulations;

import io.github.gatlingllm.workload.Dataset;
import io.github.gatlingllm.workload.Prompts;
import io.github.gatlingllm.workload.WorkloadScenario;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The requests of a benchmark, with generated prompts. */
sealed interface Workload {

  default Stream<Prompts> prompts() {
    return Stream.empty();
  }

  /** Prompts that could not get their exact length; usually none. */
  default Stream<Prompts.Miss> misses() {
    return prompts().flatMap(each -> each.misses().stream());
  }

  default long made() {
    return prompts().mapToLong(each -> each.made().size()).sum();
  }

  /** Number of scenarios that run one after the other. */
  default int scenarios() {
    return 1;
  }

  default boolean dialogs() {
    return false;
  }

  record Pool(Prompts all) implements Workload {
    @Override
    public Stream<Prompts> prompts() {
      return Stream.of(all);
    }
  }

  record Recorded(Dataset dataset, boolean lengths) implements Workload {}

  /** Known scenarios: one after the other, each with the whole load, or mixed in one population. */
  record Known(List<Share> shares, boolean mixed) implements Workload {

    /** A scenario; its share of a mix is its weight ÷ the sum of all weights. */
    record Share(WorkloadScenario.Ready ready, double weight) {}

    List<WorkloadScenario.Ready> list() {
      return shares.stream().map(Share::ready).toList();
    }

    String names() {
      return list().stream().map(s -> s.scenario().name()).collect(Collectors.joining(","));
    }

    @Override
    public Stream<Prompts> prompts() {
      return list().stream().map(WorkloadScenario.Ready::prompts);
    }

    @Override
    public int scenarios() {
      return mixed ? 1 : shares.size();
    }

    @Override
    public boolean dialogs() {
      return list().stream().anyMatch(ready -> ready.scenario().dialog());
    }
  }
}
