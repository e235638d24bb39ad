package io.github.gatlingllm.bench;

import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.engine.GroundTruth;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * An embedded engine with a fixed timetable in a process of its own, as servers are, and what it
 * did for each request.
 *
 * <p>It may have threads that do nothing but take processor time, as the processes of an inference
 * server do that poll each other.
 */
final class EngineProcess implements AutoCloseable {

  private static volatile long turns;

  private final Process process;
  private final Path truths;
  private final String baseUrl;

  private EngineProcess(Process process, Path truths, String baseUrl) {
    this.process = process;
    this.truths = truths;
    this.baseUrl = baseUrl;
  }

  /**
   * Starts one.
   *
   * @param launcher what its command begins with, e.g. {@code taskset -c 0}; may be empty
   * @param ttft first token after the request was read
   * @param itl each further one after the one before
   * @param busyThreads how many take processor time all the while
   */
  static EngineProcess start(List<String> launcher, Duration ttft, Duration itl, int busyThreads)
      throws IOException {
    Path truths = Files.createTempFile("ground-truth", ".txt");
    List<String> command = new ArrayList<>(launcher);
    command.addAll(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Xmn512m",
            "-cp",
            System.getProperty("java.class.path"),
            EngineProcess.class.getName(),
            Long.toString(ttft.toNanos()),
            Long.toString(itl.toNanos()),
            Integer.toString(busyThreads),
            truths.toString()));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    BufferedReader out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    String baseUrl = out.readLine();
    if (baseUrl == null) {
      throw new IOException("the engine did not start: " + command);
    }
    return new EngineProcess(process, truths, baseUrl);
  }

  /** Where it listens. */
  String baseUrl() {
    return baseUrl;
  }

  /**
   * Ends it.
   *
   * @return when each request had been read, and when each of its tokens was sent, by request id;
   *     nanoseconds of its own clock
   */
  Map<String, long[]> end() throws IOException, InterruptedException {
    close();
    Map<String, long[]> byId = new HashMap<>();
    for (String line : Files.readAllLines(truths)) {
      String[] fields = line.split(" ", -1);
      byId.put(
          fields[0], Arrays.stream(fields, 1, fields.length).mapToLong(Long::parseLong).toArray());
    }
    return byId;
  }

  @Override
  public void close() throws IOException, InterruptedException {
    process.getOutputStream().close();
    process.waitFor();
  }

  /** The process: serves until its standard input ends. */
  public static void main(String[] args) throws IOException {
    EmbeddedEngine engine =
        EmbeddedEngine.builder()
            .fixed(
                Duration.ofNanos(Long.parseLong(args[0])),
                Duration.ofNanos(Long.parseLong(args[1])))
            .recordGroundTruth()
            .start();
    MeasuredTimes.warm(engine);
    System.out.println(engine.baseUrl());
    for (int i = 0; i < Integer.parseInt(args[2]); i++) {
      Thread busy = new Thread(EngineProcess::spin);
      busy.setDaemon(true);
      busy.start();
    }
    while (System.in.read() >= 0) {
      // Whoever started it ends it so.
    }
    List<String> lines = new ArrayList<>();
    for (GroundTruth truth : engine.groundTruth()) {
      StringBuilder line =
          new StringBuilder(truth.requestId()).append(' ').append(truth.receivedNanos());
      for (long at : truth.tokenNanos()) {
        line.append(' ').append(at);
      }
      lines.add(line.toString());
    }
    Files.write(Path.of(args[3]), lines);
    engine.close();
  }

  private static void spin() {
    while (true) {
      turns = turns + 1;
    }
  }
}
