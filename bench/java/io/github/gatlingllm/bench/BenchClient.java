package io.github.gatlingllm.bench;

import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.JavaCommand;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A load generator under measurement, in a separate process. */
interface BenchClient {

  /** Name on the command line and in the page. */
  String label();

  /** Whether it is so slow with short requests that it gets fewer of them. */
  default boolean isPeer() {
    return false;
  }

  /** Command that sends the load to that port, and writes its output to that folder. */
  List<String> command(BenchScenario scenario, int port, Path folder) throws IOException;

  /** The times that the client reports. */
  default List<TimedStream> read(Path folder) throws IOException {
    return TimedStream.read(folder.resolve("streams.jsonl"));
  }

  /** Ours: the ready-made benchmark as the Maven plugin starts it. */
  record Ours(String label, List<String> jvmOptions, String classPath) implements BenchClient {

    /** The build of this checkout. */
    Ours(String label, List<String> jvmOptions) {
      this(label, jvmOptions, JavaCommand.classPath());
    }

    /** Another build, in a folder like {@code target}, with the same dependencies. */
    static Ours built(String label, List<String> jvmOptions, Path target) {
      return new Ours(
          label,
          jvmOptions,
          String.join(
              File.pathSeparator,
              target.resolve("test-classes").toString(),
              target.resolve("classes").toString(),
              JavaCommand.classPath()));
    }

    @Override
    public List<String> command(BenchScenario scenario, int port, Path folder) {
      Map<String, Object> settings =
          new HashMap<>(
              Map.of(
                  "llm.endpoint",
                  "http://127.0.0.1:" + port + "/v1",
                  "llm.model",
                  "bench",
                  "llm.failOnInvalid",
                  false, // more streams than the machine reads are among what is measured
                  "llm.concurrency",
                  scenario.streams,
                  "llm.requests",
                  scenario.requests(false),
                  "llm.maxTokens",
                  scenario.tokens));
      if (scenario.promptTokens == 0) {
        settings.put("llm.prompt", scenario.prompt());
        settings.put("llm.uniquePrompts", false);
      } else {
        settings.put("llm.promptTokens", scenario.promptTokens);
      }
      List<String> command = Jvm.gatling(jvmOptions, Benchmark.class, folder, settings);
      command.set(command.indexOf("-cp") + 1, classPath);
      return command;
    }

    @Override
    public List<TimedStream> read(Path folder) throws IOException {
      List<TimedStream> streams = new ArrayList<>();
      try (Stream<Path> runs = Files.list(folder)) {
        Path run =
            runs.filter(each -> Files.exists(each.resolve("simulation.log")))
                .findFirst()
                .orElseThrow();
        var unused =
            RecordFile.read(new RunFiles(run).requests(), record -> streams.add(stream(record)));
      }
      return streams;
    }

    private static TimedStream stream(RequestRecord record) {
      Long ttft = record.timing().ttftNanos();
      long[] offsets =
          Arrays.stream(record.events().offsetsMicros()).mapToLong(at -> 1_000L * at).toArray();
      if (ttft != null && offsets.length > 0) {
        offsets[0] = ttft;
      }
      return new TimedStream(record.identity().requestId(), -1, 0, offsets);
    }
  }

  /** Bare Netty. */
  record Netty(String label, boolean isPeer) implements BenchClient {

    @Override
    public List<String> command(BenchScenario scenario, int port, Path folder) {
      return JavaCommand.of(
          Jvm.ofPom(),
          NettyClient.class,
          port,
          scenario.streams,
          scenario.requests(isPeer),
          scenario.tokens,
          folder.resolve("streams.jsonl"),
          scenario.prompt());
    }
  }

  /** Plain Gatling. */
  record PlainGatling() implements BenchClient {

    @Override
    public String label() {
      return "gatling-sse";
    }

    @Override
    public boolean isPeer() {
      return true;
    }

    @Override
    public List<String> command(BenchScenario scenario, int port, Path folder) {
      return Jvm.gatling(
          Jvm.ofPom(),
          PlainSseSimulation.class,
          folder,
          Map.of(
              "baseUrl",
              "http://127.0.0.1:" + port,
              "streams",
              scenario.streams,
              "turns",
              scenario.requests(true) / scenario.streams,
              "tokens",
              scenario.tokens,
              "file",
              folder.resolve("streams.jsonl")));
    }
  }

  /** Another load generator, by the adapter of its name in {@code bench/peers}. */
  record Peer(String label) implements BenchClient {

    private static final Path ADAPTERS = Path.of("bench", "peers");
    private static final Path INSTALLED = Path.of("target", "bench", "peers");

    /** Whether there is an adapter. */
    boolean isKnown() {
      return Files.exists(ADAPTERS.resolve(label + ".py")) && !label.equals("common");
    }

    @Override
    public boolean isPeer() {
      return true;
    }

    @Override
    public List<String> command(BenchScenario scenario, int port, Path folder) throws IOException {
      Path python = INSTALLED.resolve(label).resolve("bin").resolve("python");
      if (!Files.exists(python)) {
        throw new IOException(label + " is not installed; run bench/install " + label);
      }
      return List.of(
          python.toString(),
          ADAPTERS.resolve(label + ".py").toString(),
          String.valueOf(port),
          String.valueOf(scenario.streams),
          String.valueOf(scenario.requests(true)),
          String.valueOf(scenario.tokens),
          folder.toString());
    }
  }
}
