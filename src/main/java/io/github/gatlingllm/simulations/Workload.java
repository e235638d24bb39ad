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
  Stream<Prompts.Miss> misses();

  /** How many prompts of given lengths were made. */
  long made();

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

    @Override
    public Stream<Prompts.Miss> misses() {
      return Stream.empty();
    }

    @Override
    public long made() {
      return 0;
    }
  }

  /**
   * Known scenarios, each under the whole load, one after the other.
   *
   * @param list at least one, none twice
   */
  record Scenarios(List<WorkloadScenario.Ready> list) implements Workload {
    public Scenarios {
      list = List.copyOf(list);
    }

    @Override
    public String name() {
      return list.stream().map(s -> s.scenario().name()).collect(Collectors.joining(","));
    }

    @Override
    public Stream<Prompts.Miss> misses() {
      return list.stream().flatMap(ready -> ready.misses().stream());
    }

    @Override
    public long made() {
      return list.stream().mapToLong(ready -> ready.prompts().made().size()).sum();
    }

    @Override
    public int scenarios() {
      return list.size();
    }

    @Override
    public boolean dialogs() {
      return list.stream().anyMatch(ready -> ready.scenario().dialog());
    }
  }

  /**
   * Known scenarios in one population, drawn by weight.
   *
   * @param shares at least one, none twice
   */
  record Mix(List<Share> shares) implements Workload {

    /** A scenario; its share is weight ÷ the sum of all. */
    public record Share(WorkloadScenario.Ready ready, double weight) {}

    public Mix {
      shares = List.copyOf(shares);
    }

    /** The scenarios, without their weights. */
    public Scenarios scenarioList() {
      return new Scenarios(shares.stream().map(Share::ready).toList());
    }

    @Override
    public String name() {
      return "mix of " + scenarioList().name();
    }

    @Override
    public boolean dialogs() {
      return scenarioList().dialogs();
    }

    @Override
    public Stream<Prompts.Miss> misses() {
      return scenarioList().misses();
    }

    @Override
    public long made() {
      return scenarioList().made();
    }
  }
}
