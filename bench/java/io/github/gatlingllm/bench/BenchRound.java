package io.github.gatlingllm.bench;

import io.github.gatlingllm.testing.JavaCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Runs one client under one load at a time, against a server that stays up. With {@code taskset}
 * server and client each have a processor; this process runs on the server's.
 */
@SuppressWarnings("try") // closing may be interrupted
final class BenchRound implements AutoCloseable {

  private static final int MAX_SECONDS = 280;

  /** Little compilation, and no garbage collection while tokens are due. */
  private static final List<String> SERVER_JVM =
      List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xms1200m", "-Xmn600m", "-Xmx3g");

  private final Processors processors;
  private final Path folder;
  private final Process server;
  private final PrintStream toServer;
  private final BufferedReader fromServer;
  private final int port;

  BenchRound(Processors processors, Path folder) throws IOException, InterruptedException {
    this.processors = processors;
    this.folder = folder;
    processors.pinThisProcess();
    server =
        new ProcessBuilder(processors.onServer(JavaCommand.of(SERVER_JVM, BenchServer.class)))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    toServer = new PrintStream(server.getOutputStream(), true, StandardCharsets.UTF_8);
    fromServer =
        new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8));
    port = Integer.parseInt(line());
    warm();
  }

  /** Warms up the server, which would be late while it loads classes. */
  private void warm() throws IOException, InterruptedException {
    var unused = measure(BenchScenario.SHORT, new BenchClient.Netty("warm-up", true));
  }

  /** Runs one client under one load; returns its figures. */
  Map<String, Double> measure(BenchScenario scenario, BenchClient client)
      throws IOException, InterruptedException {
    Path work = folder.resolve(client.label());
    delete(work);
    Files.createDirectories(work);
    say(scenario.begin());
    Path output = work.resolve("output.txt");
    Process process =
        new ProcessBuilder(processors.onClient(client.command(scenario, port, work)))
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    CpuMeter cpu = new CpuMeter(process.toHandle());
    try {
      if (!process.waitFor(MAX_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new IOException(client.label() + " failed; see " + output);
      }
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
      cpu.close();
    }
    Path truth = work.resolve("server.jsonl");
    say("end " + truth);
    return figures(scenario, client, client.read(work), TimedStream.read(truth), cpu);
  }

  private static Map<String, Double> figures(
      BenchScenario scenario,
      BenchClient client,
      List<TimedStream> said,
      List<TimedStream> served,
      CpuMeter cpu) {
    Comparison comparison = Comparison.of(said, served);
    // What went ahead of the load is not in it: the last requests are.
    int requests = scenario.requests(client.isPeer());
    List<TimedStream> load =
        served.stream()
            .sorted(Comparator.comparingLong(TimedStream::startNanos))
            .skip(Math.max(0, served.size() - requests))
            .toList();
    long begin = load.get(0).startNanos();
    long half = load.get(load.size() / 2).startNanos();
    long end = load.stream().mapToLong(TimedStream::endNanos).max().orElseThrow();
    double used = cpu.until(end) - cpu.until(begin);
    double usedWarm = cpu.until(end) - cpu.until(half);
    Map<String, Double> figures = new LinkedHashMap<>();
    figures.put("streams", (double) comparison.ttft().length);
    figures.put("missing", (double) requests - comparison.ttft().length);
    figures.put("ttft_p50_ms", Comparison.millis(comparison.ttft(), 0.5));
    figures.put("ttft_p99_ms", Comparison.millis(comparison.ttft(), 0.99));
    figures.put("itl_p50_ms", Comparison.millis(comparison.itl(), 0.5));
    figures.put("itl_p99_ms", Comparison.millis(comparison.itl(), 0.99));
    figures.put("late_p50_ms", Comparison.millis(comparison.late(), 0.5));
    figures.put("late_p99_ms", Comparison.millis(comparison.late(), 0.99));
    figures.put("late_at_end_p99_ms", Comparison.millis(comparison.lateAtEnd(), 0.99));
    figures.put("cpu_us_per_event", used / 1e3 / ((double) load.size() * scenario.tokens));
    figures.put("cpu_us_per_request", used / 1e3 / load.size());
    figures.put("cpu_us_per_request_warm", usedWarm / 1e3 / (load.size() - load.size() / 2));
    figures.put(
        "events_per_cpu_s_warm",
        (load.size() - load.size() / 2) * (double) scenario.tokens / (usedWarm / 1e9));
    figures.put("requests_per_s_warm", (load.size() - load.size() / 2) / ((end - half) / 1e9));
    figures.put("cpu_share", used / (end - begin));
    figures.put("compiler_ms", cpu.between(begin, end, CpuMeter.Part.COMPILER) / 1e6);
    figures.put("collector_ms", cpu.between(begin, end, CpuMeter.Part.COLLECTOR) / 1e6);
    figures.put("process_cpu_s", cpu.total() / 1e9);
    return figures;
  }

  private String say(String command) throws IOException {
    toServer.println(command);
    return line();
  }

  private String line() throws IOException {
    String line = fromServer.readLine();
    if (line == null) {
      throw new IOException("the server has ended");
    }
    return line;
  }

  private static void delete(Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (Stream<Path> all = Files.walk(folder)) {
        for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(each);
        }
      }
    }
  }

  @Override
  public void close() throws InterruptedException {
    toServer.close();
    server.waitFor();
  }
}
