package io.github.gatlingllm.simulations.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.StartCommand;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.simulations.Benchmark.LocalServer;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The command {@code probe}: what a server is and has. It starts a benchmark that ends after its
 * first request, so that all settings of a target mean the same as in a run.
 */
record ProbeCommand(
    BenchmarkProcess benchmark,
    boolean asJson,
    Map<Integer, String> ports,
    Consumer<String> out,
    Consumer<String> error) {

  private static final String USAGE =
      """
      Usage: gatling-llm probe [--endpoint <url>] [--json] [--<setting> <value> …]

      Says in ten lines what a server is and has, by one streamed request and its pages, and the command to go on with.
      Without --endpoint it looks at the ports that %s have on this machine.
      Settings of the target and of the request are those of the benchmark: --model, --api-key, --api, --timeout [30s], …
        --json                   prints JSON\
      """;

  /** The engines that have these ports by default. */
  private static final Map<Integer, String> PORTS =
      Map.of(
          11_434,
          "Ollama",
          8_080,
          "llama.cpp",
          1_234,
          "LM Studio",
          8_000,
          "vLLM",
          30_000,
          "SGLang");

  private static final String ENDPOINT = "endpoint";

  /** How the lines of a server's failures begin, one for each of its URLs. */
  private static final String FAILURE = "LLM request to ";

  /** Settings of a run, or of one injector of several. */
  private static final String OF_RUNS =
      "LLM_(UPLOAD|LIVE|OTLP|OTLP_TRACES|INJECTOR|START_AT)|JOB_COMPLETION_INDEX";

  static int run(List<String> arguments) {
    return run(arguments, PORTS, PrintableText::print, PrintableText::printError);
  }

  static int run(
      List<String> arguments,
      Map<Integer, String> ports,
      Consumer<String> out,
      Consumer<String> error) {
    try {
      BenchmarkProcess typed = BenchmarkProcess.of(arguments);
      boolean asJson = "true".equals(typed.settings().remove("json"));
      if (typed.settings().containsKey("help")) {
        out.accept(USAGE.formatted(named(ports)));
        return 0;
      }
      ProbeCommand command = new ProbeCommand(typed, asJson, new TreeMap<>(ports), out, error);
      if (command.setting(ENDPOINT) == null) {
        return command.lookAround();
      }
      String facts = command.facts();
      if (facts == null) {
        return 1;
      }
      out.accept(facts);
      return 0;
    } catch (IllegalArgumentException | IOException e) {
      error.accept(String.valueOf(e.getMessage()));
      return 1;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 1;
    }
  }

  private static String named(Map<Integer, String> ports) {
    return new TreeMap<>(ports)
        .entrySet().stream()
            .map(port -> port.getValue() + " (" + port.getKey() + ")")
            .collect(Collectors.joining(", "));
  }

  /** Of the command line, else of a file or the environment. */
  private @Nullable String setting(String name) {
    String typed = benchmark.settings().get(name);
    return typed == null ? Benchmark.setting(name, benchmark.settings()) : typed;
  }

  /** What the server has told; null with a line of why not. */
  private @Nullable String facts() throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory("probe");
    try {
      Path facts = folder.resolve(asJson ? "facts.json" : "facts.txt");
      Path output = folder.resolve("output.txt");
      List<String> command = new ArrayList<>(benchmark.command(folder));
      command.add(1, "-D" + StartCommand.PROBE + "=" + facts);
      command.set(command.size() - 1, folder.toString()); // the results, of which there are none
      ProcessBuilder builder =
          benchmark.process(command).redirectErrorStream(true).redirectOutput(output.toFile());
      builder.environment().keySet().removeIf(name -> name.matches(OF_RUNS));
      Process run = builder.start();
      Thread end = new Thread(run::destroy, "stop-probe");
      Runtime.getRuntime().addShutdownHook(end);
      int code = run.waitFor();
      Runtime.getRuntime().removeShutdownHook(end);
      if (code == 0 && Files.exists(facts)) {
        return Files.readString(facts);
      }
      List<String> lines = Files.readString(output, Charset.defaultCharset()).lines().toList();
      List<String> failed = lines.stream().filter(line -> line.startsWith(FAILURE)).toList();
      (failed.isEmpty() ? lines.subList(Math.max(0, lines.size() - 1), lines.size()) : failed)
          .forEach(error);
      return null;
    } finally {
      RunFiles.delete(folder);
    }
  }

  /**
   * The servers of this machine; the only one is probed, unless a key or a header is set, of
   * whatever host.
   */
  private int lookAround() throws IOException, InterruptedException {
    List<LocalServer> servers = Benchmark.localServers(ports);
    List<LocalServer> usable = servers.stream().filter(each -> each.refusal() == null).toList();
    boolean hasKey = setting("apiKey") != null || Benchmark.hasHeaders(benchmark.settings());
    boolean isProbed = usable.size() == 1 && !hasKey;
    String facts = null;
    if (isProbed) {
      benchmark.settings().put(ENDPOINT, usable.get(0).endpoint());
      facts = facts();
    }
    if (asJson) {
      out.accept(json(servers, usable, facts));
    } else {
      servers.forEach(each -> out.accept(line(each)));
      if (facts != null) {
        out.accept(facts);
      } else if (!isProbed) {
        usable.forEach(each -> out.accept("next: probe --endpoint " + each.endpoint()));
      }
    }
    if (usable.isEmpty()) {
      error.accept(
          "No LLM server is found on 127.0.0.1 at the ports of "
              + named(ports)
              + "; give its URL: --endpoint http://<host>:<port>/v1");
    }
    return usable.isEmpty() || (isProbed && facts == null) ? 1 : 0;
  }

  private static String line(LocalServer server) {
    return "%-30s port of %s; %s"
        .formatted(
            server.endpoint(),
            server.usual(),
            server.refusal() == null
                ? "models: " + String.join(", ", server.models())
                : "no models: " + server.refusal());
  }

  private static String json(
      List<LocalServer> servers, List<LocalServer> usable, @Nullable String facts)
      throws IOException {
    ObjectMapper mapper = new ObjectMapper();
    ArrayNode all = mapper.createArrayNode();
    for (LocalServer server : servers) {
      ObjectNode one = mapper.valueToTree(server);
      all.add(one);
      if (facts != null && usable.contains(server)) {
        one.set("facts", mapper.readTree(facts));
      }
    }
    return all.toPrettyString();
  }
}
