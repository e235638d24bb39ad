package io.github.gatlingllm.simulations;

import io.github.gatlingllm.workload.Dataset;
import io.github.gatlingllm.workload.Prompts;
import io.github.gatlingllm.workload.WorkloadScenario;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What is asked. Its prompts are made. */
sealed interface Workload {

  /** For people, in a few words. */
  String name();

  /** Lengths that could not be met; empty in the ordinary case. */
  default Stream<Prompts.Miss> misses() {
    return Stream.empty();
  }

  /** How many prompts of given lengths were made. */
  default long made() {
    return 0;
  }

  /** How many scenarios run one after the other. */
  default int scenarios() {
    return 1;
  }

  /** Whether conversations are held, each of several requests. */
  default boolean dialogs() {
    return false;
  }

  /** Prompts of one source. */
  record Pool(Prompts prompts) implements Workload {
    @Override
    public String name() {
      return prompts.source().origin();
    }

    @Override
    public Stream<Prompts.Miss> misses() {
      return prompts.misses().stream();
    }

    @Override
    public long made() {
      return prompts.made().size();
    }
  }

  /**
   * Recorded dialogs, a request each: everything up to the last user message.
   *
   * @param lengths whether each answer is as long as the recorded one, where that is known
   */
  record Recorded(Dataset dataset, boolean lengths) implements Workload {
    @Override
    public String name() {
      return dataset.name();
    }
  }

  /**
   * Known scenarios: each under the whole load, one after the other, or mixed in one population.
   *
   * @param shares at least one, no scenario twice
   * @param mixed whether they are drawn by weight
   */
  record Known(List<Share> shares, boolean mixed) implements Workload {

    /** A scenario; its share of a mix is weight ÷ the sum of all. */
    record Share(WorkloadScenario.Ready ready, double weight) {}

    public Known {
      shares = List.copyOf(shares);
    }

    /** The scenarios, without their weights. */
    List<WorkloadScenario.Ready> list() {
      return shares.stream().map(Share::ready).toList();
    }

    /** The names of the scenarios. */
    String names() {
      return list().stream().map(s -> s.scenario().name()).collect(Collectors.joining(","));
    }

    @Override
    public String name() {
      return (mixed ? "mix of " : "") + names();
    }

    @Override
    public Stream<Prompts.Miss> misses() {
      return list().stream().flatMap(ready -> ready.misses().stream());
    }

    @Override
    public long made() {
      return list().stream().mapToLong(ready -> ready.prompts().made().size()).sum();
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
