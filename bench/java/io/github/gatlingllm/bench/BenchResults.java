package io.github.gatlingllm.bench;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Figures of rounds, one file per round, so that an interrupted measurement can continue.
 *
 * @param folder of the files
 */
record BenchResults(Path folder) {

  private static final ObjectMapper JSON = new ObjectMapper();

  boolean has(String scenario, String client, int round) {
    return Files.exists(file(scenario, client, round));
  }

  void keep(String scenario, String client, int round, Map<String, Double> figures)
      throws IOException {
    Files.createDirectories(folder);
    Files.writeString(
        file(scenario, client, round),
        JSON.writerWithDefaultPrettyPrinter().writeValueAsString(figures));
  }

  private Path file(String scenario, String client, int round) {
    return folder.resolve(scenario + "." + client + "." + round + ".json");
  }

  /** Clients with rounds: ours first, then bare Netty, then by name. */
  List<String> clients(String scenario) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(file -> file.getFileName().toString().split("\\.", -1))
          .filter(name -> name[0].equals(scenario) && name[2].equals("1"))
          .map(name -> name[1])
          .sorted(
              Comparator.comparing((String client) -> !client.startsWith("ours"))
                  .thenComparing(client -> !client.equals("netty"))
                  .thenComparing(client -> client))
          .toList();
    }
  }

  /** Median of each figure over all rounds; empty if there are none. */
  Map<String, Double> medians(String scenario, String client) throws IOException {
    Map<String, List<Double>> all = new LinkedHashMap<>();
    for (int round = 1; has(scenario, client, round); round++) {
      Map<String, Double> figures =
          JSON.readValue(file(scenario, client, round).toFile(), new TypeReference<>() {});
      figures.forEach(
          (name, value) -> all.computeIfAbsent(name, key -> new ArrayList<>()).add(value));
    }
    Map<String, Double> medians = new LinkedHashMap<>();
    all.forEach((name, values) -> medians.put(name, median(values)));
    return medians;
  }

  /** Median; for an even number the mean of the two middle values. */
  static double median(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    int half = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(half)
        : (sorted.get(half - 1) + sorted.get(half)) / 2;
  }
}
