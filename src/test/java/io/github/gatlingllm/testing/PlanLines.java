package io.github.gatlingllm.testing;

import io.gatling.javaapi.core.Simulation;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Lines that a simulation printed: {@code > <kind> <label> <number>…}. */
public record PlanLines(List<String> all) {

  public PlanLines(List<String> all) {
    this.all =
        all.stream().filter(line -> line.startsWith("> ")).map(line -> line.substring(2)).toList();
  }

  /** Of a run with these settings, which succeeds. */
  public static PlanLines of(Class<? extends Simulation> simulation, Map<String, ?> properties)
      throws IOException, InterruptedException {
    return new PlanLines(GatlingRun.of(simulation).set(properties).succeed().lines());
  }

  /** The labels of all lines of a kind. */
  public List<String> of(String what) {
    return all.stream()
        .map(line -> Arrays.asList(line.split(" ", -1)))
        .filter(words -> words.get(0).equals(what))
        .map(words -> words.get(1))
        .toList();
  }

  /** The words of the first line of a kind with that label. */
  public List<String> words(String what, String label) {
    return all.stream()
        .filter(line -> line.startsWith(what + " " + label + " "))
        .map(line -> Arrays.asList(line.split(" ", -1)))
        .findFirst()
        .orElseThrow();
  }

  /** All numbers of a kind, ascending. */
  public List<Long> numbers(String what, String label) {
    return all.stream()
        .filter(line -> line.startsWith(what + " " + label + " "))
        .map(line -> Long.valueOf(line.split(" ", -1)[2]))
        .sorted()
        .toList();
  }
}
