package io.github.gatlingllm.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.engine.EmbeddedEngine.GroundTruth;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.netty.util.internal.logging.JdkLoggerFactory;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * An embedded engine in a process of its own, with the same Java and class path. It answers with
 * fixed times and notes when it wrote each token. It ends when {@link #stop} asks for these times,
 * and by itself when this process has ended for whatever reason, because its standard input is a
 * pipe from this process. Both processes read the same clock, as {@code System.nanoTime()} counts
 * from the start of the system.
 */
public final class EngineProcess {

  /** Planned time from a request to its first token. */
  public static final Duration TTFT = Duration.ofMillis(100);

  /** Planned time between two tokens. */
  public static final Duration ITL = Duration.ofMillis(20);

  private static final Duration START_PATIENCE = Duration.ofSeconds(60);

  /** The run must end even if the engine hangs. */
  private static final Duration STOP_PATIENCE = Duration.ofSeconds(30);

  private static final int STOP = 's';
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration WARM_UP = Duration.ofSeconds(2);
  private static final int WARM_STREAMS = 64;

  /** A compiler and a collector that need little CPU, and memory for some minutes of times. */
  private static final List<String> JVM_OPTIONS =
      List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xms256m", "-Xmx512m");

  private final Process process;
  private final String baseUrl;
  private final int controlPort;

  private EngineProcess(Process process, String baseUrl, int controlPort) {
    this.process = process;
    this.baseUrl = baseUrl;
    this.controlPort = controlPort;
  }

  /**
   * Starts the process and waits until it has warmed up.
   *
   * @throws IOException with a message of one line, if it cannot be started
   */
  public static EngineProcess start() throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(JVM_OPTIONS);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(EngineProcess.class.getName());
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    BufferedReader output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
    String[] addresses = firstLine(process, output).split(" ", -1);
    return new EngineProcess(process, addresses[0], Integer.parseInt(addresses[1]));
  }

  private static String firstLine(Process process, BufferedReader output) throws IOException {
    try {
      String line =
          CompletableFuture.supplyAsync(() -> output.lines().findFirst().orElse(""))
              .get(START_PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
      if (line.startsWith("http")) {
        return line;
      }
      throw notStarted(process, "it ended at once; its messages above name the cause");
    } catch (TimeoutException e) {
      throw notStarted(process, "it is not ready after " + START_PATIENCE.toSeconds() + " s");
    } catch (ExecutionException e) {
      throw notStarted(process, String.valueOf(e.getCause()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw notStarted(process, "the start was interrupted");
    }
  }

  private static IOException notStarted(Process process, String why) {
    process.destroyForcibly();
    return new IOException("The engine of the self-test cannot be started: " + why);
  }

  public String baseUrl() {
    return baseUrl;
  }

  /** The port of 127.0.0.1 for {@link #stop}. */
  public int controlPort() {
    return controlPort;
  }

  Process process() {
    return process;
  }

  /** When the engine had read a request, and when it wrote each token of the answer. */
  @SuppressWarnings("ArrayRecordComponent") // not modified; a copy per access would be expensive
  record Written(String requestId, long receivedNanos, long[] tokenNanos) {

    private Written at(LongUnaryOperator clock) {
      long[] tokens = Arrays.stream(tokenNanos).map(clock).toArray();
      return new Written(requestId, clock.applyAsLong(receivedNanos), tokens);
    }
  }

  /** Stops an engine; returns all answers with at least one token, in times of {@code clock}. */
  static List<Written> stop(int controlPort, LongUnaryOperator clock) throws IOException {
    return stop(controlPort, clock, STOP_PATIENCE);
  }

  static List<Written> stop(int controlPort, LongUnaryOperator clock, Duration patience)
      throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), controlPort)) {
      socket.setSoTimeout((int) patience.toMillis());
      socket.getOutputStream().write(STOP);
      Written[] answers = JSON.readValue(socket.getInputStream(), Written[].class);
      return Arrays.stream(answers).map(answer -> answer.at(clock)).toList();
    }
  }

  /** Waits for {@link #stop} and answers it. */
  static void serve(ServerSocket control, Supplier<List<GroundTruth>> truths) {
    while (true) {
      try (Socket socket = control.accept()) {
        if (socket.getInputStream().read() == STOP) {
          JSON.writeValue(socket.getOutputStream(), written(truths.get()));
          return;
        }
      } catch (IOException e) {
        // Another client than ours, or one that is gone; wait for the next one.
      }
    }
  }

  private static List<Written> written(List<GroundTruth> truths) {
    return truths.stream()
        .filter(truth -> truth.firstTokenNanos() != null)
        .map(each -> new Written(each.requestId(), each.receivedNanos(), each.tokenNanos()))
        .toList();
  }

  /** The entry point of the process: serves until its standard input is closed. */
  public static void main(String[] arguments) throws IOException {
    PrintStream toParent = System.out;
    System.setOut(System.err);
    // The unconfigured logging library of the class path would print Netty's debug messages.
    InternalLoggerFactory.setDefaultFactory(JdkLoggerFactory.INSTANCE);
    warmUp();
    EmbeddedEngine engine = engine(TTFT, ITL).start();
    ServerSocket control = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    Runnable serving =
        () -> {
          serve(control, engine::groundTruth);
          Runtime.getRuntime().halt(0);
        };
    new Thread(serving, "control").start();
    toParent.println(engine.baseUrl() + " " + control.getLocalPort());
    while (System.in.read() >= 0) {
      // Input is ignored; its end matters.
    }
    Runtime.getRuntime().halt(0);
  }

  private static EmbeddedEngineBuilder engine(Duration ttft, Duration itl) {
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
