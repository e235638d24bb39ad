package io.github.gatlingllm.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/**
 * Measures precision and speed on this machine, which tests cannot assert. {@code bench/run} starts
 * it; see {@code bench/README.md}. Close other programs first.
 */
@Command(
    name = "bench/run",
    mixinStandardHelpOptions = true,
    description = {
      "Measures how exact and how cheap load generators are on this machine.",
      "Exit code 3 where --seconds ended it before all rounds were done: the same command goes on."
    })
public final class Bench implements Callable<Integer> {

  private static final int GOES_ON = 3;
  private static final Path PAGE = Path.of("docs", "performance.md");

  @Parameters(
      arity = "0..*",
      paramLabel = "WHAT",
      description =
          "paced-64, paced-256, step-1024, sustained-2048 (accuracy: all four), short, unique,"
              + " long-prompts, saturated, flood (cost: all five), shared. Default: accuracy and"
              + " cost.")
  private List<String> what = List.of("accuracy", "cost");

  @Option(names = "--clients", split = ",", description = "Default: ${DEFAULT-VALUE}.")
  private List<String> clients = List.of("ours", "netty");

  @Option(names = "--rounds", description = "Of each client, in turn. Default: ${DEFAULT-VALUE}.")
  private int rounds = 3;

  @Option(names = "--again", description = "Forgets the rounds that were measured before.")
  private boolean again;

  @Option(names = "--seconds", description = "Begins no round after so long.")
  private long seconds = Integer.MAX_VALUE;

  @Option(
      names = "--jvm",
      description = "JVM options of our client instead of the jar's, in one argument.")
  private @Nullable String jvm;

  @Option(
      names = "--before",
      paramLabel = "FOLDER",
      description =
          "Another build of our client, with classes and test-classes, such as a copy of target: it"
              + " is the client 'before'.")
  private @Nullable Path before;

  @Option(
      names = "--before-jvm",
      description = "JVM options of that build instead of the jar's, in one argument.")
  private @Nullable String beforeJvm;

  @Option(
      names = "--server-core",
      description = "For taskset -c; '' for any. Default: '${DEFAULT-VALUE}'.")
  private String serverCore = hasTaskset() ? "0" : "";

  @Option(
      names = "--client-core",
      description = "For taskset -c; '' for any. Default: '${DEFAULT-VALUE}'.")
  private String clientCore = hasTaskset() ? "1" : "";

  @Option(names = "--results", description = "Folder. Default: ${DEFAULT-VALUE}.")
  private Path results = Path.of("target", "bench", "results");

  @Option(names = "--write", description = "Writes the tables into docs/performance.md.")
  private boolean write;

  private final long begun = System.nanoTime();

  public static void main(String[] args) {
    System.exit(new CommandLine(new Bench()).execute(args));
  }

  @CommandLine.Spec private CommandLine.Model.CommandSpec spec;

  @Override
  public Integer call() throws Exception {
    if (!isKnown()) {
      throw new ParameterException(spec.commandLine(), "Cannot measure " + what + ", " + clients);
    }
    List<BenchScenario> scenarios =
        Stream.of(BenchScenario.values())
            .filter(each -> isAsked(each.label(), each.costOnly() ? "cost" : "accuracy"))
            .toList();
    boolean complete = scenarios.isEmpty() || compare(scenarios);
    if (what.contains(SharedMachine.NAME)) {
      SharedMachine.measure();
    }
    return complete ? 0 : GOES_ON;
  }

  private boolean isAsked(String name, String group) {
    return what.contains(name) || what.contains(group);
  }

  /** Whether all scenarios and clients of the command exist. */
  boolean isKnown() {
    Set<String> names = new HashSet<>(Set.of("accuracy", "cost", SharedMachine.NAME));
    Stream.of(BenchScenario.values()).map(BenchScenario::label).forEach(names::add);
    return names.containsAll(what) && clients.stream().allMatch(name -> client(name) != null);
  }

  /** Runs all clients, round by round; returns whether all rounds are complete. */
  @SuppressWarnings("try") // closing may be interrupted
  private boolean compare(List<BenchScenario> scenarios) throws IOException, InterruptedException {
    BenchResults kept = new BenchResults(results);
    List<BenchClient> turns = new ArrayList<>();
    clients.stream().map(this::client).filter(Objects::nonNull).forEach(turns::add);
    boolean complete = true;
    try (BenchRound bench =
        new BenchRound(new Processors(serverCore, clientCore), Path.of("target", "bench"))) {
      for (BenchScenario scenario : scenarios) {
        for (int round = 1; round <= rounds; round++) {
          for (BenchClient client : turns) {
            if (!again && kept.has(scenario.label(), client.label(), round)) {
              continue;
            }
            if (System.nanoTime() - begun > TimeUnit.SECONDS.toNanos(seconds)) {
              complete = false;
              continue;
            }
            Map<String, Double> figures = bench.measure(scenario, client);
            kept.keep(scenario.label(), client.label(), round, figures);
            System.out.println(
                scenario.label() + " " + client.label() + " " + round + " " + figures);
          }
          Collections.reverse(turns); // a client may do worse because of its place in a round
        }
        say(scenario, kept);
      }
    }
    return complete;
  }

  private void say(BenchScenario scenario, BenchResults kept) throws IOException {
    Map<String, Map<String, Double>> medians = new LinkedHashMap<>();
    for (String client : kept.clients(scenario.label())) {
      medians.put(client, kept.medians(scenario.label(), client));
    }
    String table = BenchTable.of(scenario, medians);
    System.out.println("\n" + scenario.title + "\n\n" + table);
    if (write) {
      BenchTable.write(PAGE, scenario.label(), "\n" + table + "\n");
      BenchTable.write(PAGE, "machine", "\n" + Processors.machine() + "\n\n");
    }
  }

  private @Nullable BenchClient client(String name) {
    return switch (name) {
      case "ours" -> new BenchClient.Ours(name, options(jvm));
      case "before" ->
          before == null ? null : BenchClient.Ours.built(name, options(beforeJvm), before);
      case "netty" -> new BenchClient.Netty(name, false);
      case "gatling-sse" -> new BenchClient.PlainGatling();
      default -> {
        BenchClient.Peer peer = new BenchClient.Peer(name);
        yield peer.isKnown() ? peer : null;
      }
    };
  }

  private static List<String> options(@Nullable String said) {
    return said == null ? Jvm.ofJar() : Jvm.ofRun(List.of(said.split(" +", -1)));
  }

  private static boolean hasTaskset() {
    return Files.isExecutable(Path.of("/usr/bin/taskset"))
        && Runtime.getRuntime().availableProcessors() > 1;
  }
}
