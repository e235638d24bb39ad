package io.github.gatlingllm.engine;

import com.sun.management.OperatingSystemMXBean;
import io.github.gatlingllm.record.ProcessSetting;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.SelfTest;
import io.github.gatlingllm.record.SelfTest.JvmOptions;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.RuntimeMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The error of the load generator: this run's as a self-test, else the last of this machine. */
public record SelfTestResults(Path file, SelfTest.Machine machine) {

  /** System property that sets another file; {@code LLM_SELF_TEST_FILE} in the environment. */
  public static final String FILE_PROPERTY = "llm.selfTestFile";

  /** Planned time from a request to its first token, of the engine that a self-test measures. */
  public static final Duration TTFT = Duration.ofMillis(100);

  /** Planned time between two tokens of that engine. */
  public static final Duration ITL = Duration.ofMillis(20);

  private static volatile @Nullable EngineProcess engine;

  /** Largest p99 of an error that counts as small: half of {@link #ITL}. */
  private static final double BOUND_MS = 10;

  public static SelfTestResults ofUser() {
    String named = new ProcessSetting(FILE_PROPERTY).text();
    return new SelfTestResults(file(named, System.getProperty("user.home")), machineHere());
  }

  /**
   * Starts the engine of a self-test, in a separate process; returns its base URL.
   *
   * @throws IOException with a message of one line, if it cannot be started
   */
  public static String startEngine() throws IOException {
    EngineProcess started = EngineProcess.start();
    engine = started;
    return started.baseUrl();
  }

  /**
   * Runs a simulation that is a self-test, in a JVM like this one, and returns its exit code.
   *
   * @param results the folder of all results
   * @throws IOException with a message of one line, if it cannot be started
   */
  public static int run(String simulation, Path results) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(EngineProcess.JAVA);
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    new TreeMap<>(System.getProperties())
        .forEach(
            (name, value) -> {
              if (name.toString().startsWith("llm.") && !name.equals("llm.apiKey")) {
                command.add("-D" + name + "=" + value); // a program may have set it
              }
            });
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), "io.gatling.app.Gatling"));
    command.addAll(List.of("-s", simulation, "-rf", results.toString()));
    Process process = new ProcessBuilder(command).inheritIO().start();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> end(process), "stop-self-test"));
    return process.onExit().join().exitValue();
  }

  /** Waits for its report. */
  private static void end(Process process) {
    process.destroy();
    process.onExit().join();
  }

  static Path file(@Nullable String named, String home) {
    return named == null ? Path.of(home, ".gatling-llm", "self-test.json") : Path.of(named);
  }

  /**
   * The timing error at the end of a run; null if it is unknown. A failure only prints a line.
   *
   * @param unixNanos converts a value of {@link System#nanoTime()} to epoch time, as in the records
   * @param console prints a line on the console
   */
  public @Nullable SelfTest atEndOf(
      RunInfo run, RunFiles files, LongUnaryOperator unixNanos, Consumer<String> console) {
    try {
      return SelfTest.isLoadOf(run)
          ? measured(run, files, unixNanos, console)
          : SelfTest.read(file).map(known -> known.quotedBy(machine, run.versions())).orElse(null);
    } catch (IOException | RuntimeException e) {
      console.accept("LLM self-test: " + e.getMessage());
      return null;
    }
  }

  private @Nullable SelfTest measured(
      RunInfo run, RunFiles files, LongUnaryOperator unixNanos, Consumer<String> console)
      throws IOException {
    EngineProcess measured = engine;
    if (measured == null) {
      throw new IOException("its engine does not run in this process");
    }
    List<EmbeddedEngine.GroundTruth> answers =
        measured.stop(unixNanos, EngineProcess.STOP_PATIENCE);
    if (run.state() != RunInfo.State.COMPLETE) {
      console.accept("LLM self-test: it was interrupted; its result is not stored");
      return null;
    }
    DeliveryErrors errors = new DeliveryErrors(answers, TTFT.toNanos(), ITL.toNanos());
    ReadReport read = RecordFile.read(files.requests(), errors::add);
    SelfTest result =
        SelfTest.of(
            Objects.requireNonNull(run.endUnixNanos()),
            machine,
            run.versions(),
            BOUND_MS,
            errors.levels(run.stages()));
    if (result.levels().isEmpty()) {
      throw new IOException("no request was measured (" + read.records() + " records)");
    }
    store(result, console);
    return result;
  }

  private void store(SelfTest result, Consumer<String> console) {
    try {
      result.write(file);
      console.accept(
          "LLM self-test: result written to " + file + "; reports of later runs quote it");
    } catch (IOException e) {
      console.accept(
          "LLM self-test: cannot be stored ("
              + e
              + "), and reports of later runs cannot quote it; set another file with "
              + FILE_PROPERTY);
    }
  }

  public static SelfTest.Machine machineHere() {
    RuntimeMXBean jvm = ManagementFactory.getRuntimeMXBean();
    return new SelfTest.Machine(
        processor(Path.of("/proc/cpuinfo"), System.getenv("PROCESSOR_IDENTIFIER")),
        Runtime.getRuntime().availableProcessors(),
        memoryMib(),
        jvm.getVmName() + " " + jvm.getVmVersion(),
        jvm.getInputArguments().stream()
            .filter(option -> !option.startsWith("-D") && !option.startsWith("--add-"))
            .distinct()
            .sorted()
            .toList(),
        JvmOptions.hasOptimizingCompiler());
  }

  static String processor(Path cpuinfo, @Nullable String identifier) {
    try (Stream<String> lines = Files.lines(cpuinfo, StandardCharsets.ISO_8859_1)) {
      return lines
          .filter(line -> line.startsWith("model name"))
          .findFirst()
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .orElse(System.getProperty("os.arch"));
    } catch (IOException e) {
      return Objects.requireNonNullElse(identifier, System.getProperty("os.arch"));
    }
  }

  private static long memoryMib() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system
        ? system.getTotalMemorySize() >> 20
        : 0;
  }
}
