package io.github.gatlingllm.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.netty.util.internal.logging.JdkLoggerFactory;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongUnaryOperator;
import java.util.stream.Stream;

/**
 * An embedded engine in a separate process, with the same Java and class path. It answers with
 * fixed times and notes when it wrote each token. Its standard input and output are pipes from and
 * to this process: the address of the engine comes first, and the noted times when {@link #stop}
 * requests them; it ends by itself when this process has ended for whatever reason. Both processes
 * read the same clock, as {@code System.nanoTime()} counts from the start of the system.
 */
final class EngineProcess {

  static final String JAVA = Path.of(System.getProperty("java.home"), "bin", "java").toString();

  private static final Duration START_PATIENCE = Duration.ofSeconds(60);

  /** The run must end even if the engine hangs. */
  static final Duration STOP_PATIENCE = Duration.ofSeconds(30);

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration WARM_UP = Duration.ofSeconds(2);
  private static final int WARM_STREAMS = 64;

  /** A compiler and a collector that need little CPU, and memory for some minutes of times. */
  private static final List<String> JVM_OPTIONS =
      List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xms256m", "-Xmx512m");

  private final Process process;
  private final BufferedReader output;
  private final String baseUrl;

  /** Waits until the engine has written its address, which it does when it has warmed up. */
  EngineProcess(Process process) throws IOException {
    this.process = process;
    output = process.inputReader(UTF_8);
    baseUrl = within(START_PATIENCE, output::readLine);
    if (baseUrl == null) {
      throw new IOException("it ended immediately; its messages above name the cause");
    }
  }

  static EngineProcess start() throws IOException {
    List<String> command = new ArrayList<>();
    command.add(JAVA);
    command.addAll(JVM_OPTIONS);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(EngineProcess.class.getName());
    try {
      return new EngineProcess(
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
    } catch (IOException e) {
      throw new IOException("The engine of the self-test cannot be started: " + e.getMessage(), e);
    }
  }

  /** What the engine answers in this time; without an answer it is killed. */
  private <T> T within(Duration patience, Callable<T> answer) throws IOException {
    FutureTask<T> reading = new FutureTask<>(answer);
    Thread reader = new Thread(reading, "self-test-engine");
    reader.setDaemon(true);
    reader.start();
    try {
      return reading.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      process.destroyForcibly();
      throw new IOException("the engine does not answer within " + patience.toSeconds() + " s", e);
    } catch (ExecutionException e) {
      process.destroyForcibly();
      throw new IOException(e.getCause());
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while the engine answers", e);
    }
  }

  String baseUrl() {
    return baseUrl;
  }

  Process process() {
    return process;
  }

  /** Stops the engine; returns all answers with at least one token, in times of {@code clock}. */
  List<GroundTruth> stop(LongUnaryOperator clock, Duration patience) throws IOException {
    GroundTruth[] answers =
        within(
            patience,
            () -> {
              process.outputWriter(UTF_8).append("stop\n").flush();
              return JSON.readValue(output, GroundTruth[].class);
            });
    return Arrays.stream(answers).map(answer -> answer.at(clock)).toList();
  }

  static void write(List<GroundTruth> truths, PrintStream out) throws IOException {
    JSON.writeValue(out, truths.stream().filter(truth -> truth.firstTokenNanos() != null).toList());
  }

  /** The entry point of the process: serves until its standard input has a line, or is closed. */
  public static void main(String[] arguments) throws IOException {
    PrintStream toParent = System.out;
    System.setOut(System.err);
    // The unconfigured logging library of the class path would print Netty's debug messages.
    InternalLoggerFactory.setDefaultFactory(JdkLoggerFactory.INSTANCE);
    warmUp();
    EmbeddedEngine engine = engine(SelfTestResults.TTFT, SelfTestResults.ITL).start();
    toParent.println(engine.baseUrl());
    if (System.in.read() >= 0) {
      write(engine.groundTruth(), toParent);
    }
    Runtime.getRuntime().halt(0);
  }

  private static EmbeddedEngine.EngineBuilder engine(Duration ttft, Duration itl) {
    return EmbeddedEngine.builder().fixed(ttft, itl).prefixCaching(false).recordGroundTruth();
  }

  /** Class loading and JIT compilation would take CPU time from the client later. */
  private static void warmUp() {
    long end = System.nanoTime() + WARM_UP.toNanos();
    try (EmbeddedEngine engine = engine(Duration.ofMillis(1), Duration.ofNanos(100_000)).start()) {
      HttpClient client = HttpClient.newHttpClient();
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(engine.baseUrl() + "/chat/completions"))
              .POST(
                  HttpRequest.BodyPublishers.ofString(
                      "{\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}],"
                          + "\"stream\":true,\"ignore_eos\":true,\"max_tokens\":50}"))
              .build();
      while (System.nanoTime() < end) {
        Stream.generate(() -> client.sendAsync(request, HttpResponse.BodyHandlers.discarding()))
            .limit(WARM_STREAMS)
            .toList()
            .forEach(CompletableFuture::join);
      }
    }
  }
}
