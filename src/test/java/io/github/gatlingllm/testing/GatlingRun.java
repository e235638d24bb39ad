package io.github.gatlingllm.testing;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gatling.app.Gatling;
import io.gatling.javaapi.core.Simulation;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.SelfTest.JvmOptions;
import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.ServerSample.ServerFile;
import io.github.gatlingllm.simulations.Benchmark;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A simulation that runs in a separate JVM, as users run it: started by Gatling's main class,
 * bounded in time, never leaving this machine. What it left behind is read from its files.
 *
 * <pre>{@code
 * GatlingRun run = GatlingRun.of(ChatSimulation.class).set("baseUrl", engine.baseUrl()).run();
 * assertThat(run.exitCode()).isZero();
 * assertThat(run.requests()).hasSize(10);
 * }</pre>
 */
public final class GatlingRun implements AutoCloseable {

  public static final int ASSERTIONS_FAILED = 2;

  /** Limit for runs that hang; no run of a test takes nearly as long. */
  private static final int MAX_SECONDS = 300;

  private static final long POLL_MILLIS = 20;

  private static final Path FOLDER = Path.of("target", "gatling-it");

  /** Environment variables of the caller that would change the output or files of a run. */
  private static final Set<String> FOREIGN =
      Set.of(
          "CI",
          "TERM",
          "GITHUB_STEP_SUMMARY",
          "OPENAI_API_KEY",
          "JAVA_TOOL_OPTIONS",
          "JDK_JAVA_OPTIONS",
          "_JAVA_OPTIONS");

  private final Path results;
  private final Path output;
  private final Process process;

  /** Output as at a terminal, on build servers too, and no settings of the caller. */
  public static void removeForeign(Map<String, String> environment) {
    environment.keySet().removeIf(name -> FOREIGN.contains(name) || name.startsWith("LLM_"));
  }

  GatlingRun(Path results, Path output, Process process) {
    this.results = results;
    this.output = output;
    this.process = process;
  }

  /**
   * A run of this simulation, not yet started: without JVM warm-up, and other simulations than the
   * Benchmark without a warm-up request, so that tests count those of the load. Invalid runs do not
   * fail, because the machine may cause them.
   */
  public static Setup of(Class<? extends Simulation> simulation) {
    return new Setup(simulation);
  }

  /** A run of a simulation that reads the URL of its server from the property {@code baseUrl}. */
  public static Setup of(Class<? extends Simulation> simulation, String baseUrl) {
    return of(simulation).set("baseUrl", baseUrl);
  }

  /** A run of the Benchmark against a server, by its URL without {@code /v1}. */
  public static Setup benchmark(String serverUrl) {
    return of(Benchmark.class).set("llm.endpoint", serverUrl + "/v1");
  }

  static Path resultsOf(Class<? extends Simulation> simulation) throws IOException {
    return Files.createTempDirectory(
        Files.createDirectories(FOLDER), simulation.getSimpleName() + "-");
  }

  /** Options of a JVM with {@link #classPath()} that halve the time of its start. */
  public static List<String> fastStart() throws IOException, InterruptedException {
    Files.createDirectories(FOLDER);
    return SharedClasses.options(FOLDER, Setup::typicalRun);
  }

  public static String classPath() {
    return SharedClasses.classPath();
  }

  /** Short runs end before the optimising compiler pays. */
  private static final List<String> JVM =
      Stream.concat(Stream.of(JvmOptions.NO_OPTIMISING_COMPILER), JvmOptions.OF_RUNS.stream())
          .toList();

  public static final class Setup {
    final Class<? extends Simulation> simulation;
    final Map<String, String> properties =
        new TreeMap<>(Map.of("llm.jvmWarmUp", "false", "llm.failOnInvalid", "false"));
    private boolean hasReports;
    private List<String> launcher = List.of();
    private List<String> jvmOptions = JVM;
    private Class<?> main = Gatling.class;

    private Setup(Class<? extends Simulation> simulation) {
      this.simulation = simulation;
      if (simulation != Benchmark.class) {
        properties.put("llm.warmup", "0");
      }
    }

    public Setup set(String property, Object value) {
      properties.put(property, value.toString());
      return this;
    }

    public Setup set(Map<String, ?> more) {
      more.forEach(this::set);
      return this;
    }

    /** Settings without their prefix, as in {@code rate=5 requests=4}. */
    public Setup llm(String settings) {
      for (String setting : settings.split(" ", -1)) {
        String[] parts = setting.split("=", 2);
        set("llm." + parts[0], parts[1]);
      }
      return this;
    }

    /** With the first request to each target that a run has by default. */
    public Setup triesTargets() {
      properties.remove("llm.warmup");
      return this;
    }

    /** With Gatling's own pages, which take about a second. */
    public Setup reports() {
      hasReports = true;
      return this;
    }

    /** Uses these JVM options instead of those of our own runs and C1. */
    public Setup jvm(List<String> options) {
      jvmOptions = List.copyOf(options);
      return this;
    }

    /** Started by another command, which then runs Java, e.g. {@code taskset -c 1}. */
    public Setup launchedBy(String... command) {
      launcher = List.of(command);
      return this;
    }

    /** Started by a user's main class that calls Gatling, as from an IDE. */
    public Setup byOwnMain() {
      main = OwnMain.class;
      return this;
    }

    public GatlingRun run() throws IOException, InterruptedException {
      GatlingRun run = start();
      try {
        run.await();
        return run;
      } finally {
        run.close();
      }
    }

    /** Runs it until it ends, which is without an error. */
    public GatlingRun succeed() throws IOException, InterruptedException {
      GatlingRun run = run();
      assertThat(run.exitCode()).as(run.output()).isZero();
      return run;
    }

    /** Starts it; the caller closes it. */
    public GatlingRun start() throws IOException, InterruptedException {
      return start(fastStart());
    }

    private static void typicalRun(String jvmOption) throws IOException, InterruptedException {
      GatlingRun run =
          of(Benchmark.class).llm("concurrency=1 requests=4").start(List.of(jvmOption));
      try (run) {
        run.await();
      }
    }

    private GatlingRun start(List<String> moreJvmOptions) throws IOException {
      Path results = resultsOf(simulation);
      Path output = results.resolve("output.txt");
      ProcessBuilder builder =
          new ProcessBuilder(command(results, moreJvmOptions))
              .redirectErrorStream(true)
              .redirectOutput(output.toFile());
      removeForeign(builder.environment());
      return new GatlingRun(results, output, builder.start());
    }

    /** Java with its options and class path. */
    List<String> java(Path home, List<String> moreJvmOptions) {
      List<String> command = new ArrayList<>(launcher);
      command.add(JavaCommand.JAVA);
      command.addAll(jvmOptions);
      command.addAll(moreJvmOptions);
      command.addAll(
          List.of(
              "-cp",
              SharedClasses.classPath(),
              // Whatever the locale; the second is that of newer JVMs.
              "-Dfile.encoding=UTF-8",
              "-Dstdout.encoding=UTF-8",
              // The self-test of who runs the tests would be quoted.
              "-Duser.home=" + home.toAbsolutePath(),
              "-DDJL_CACHE_DIR=" + System.getProperty("DJL_CACHE_DIR", ""),
              "-Dgatling.http.warmUpUrl=",
              "-Dgatling.data.enableAnalytics=false",
              "--add-opens=java.base/java.lang=ALL-UNNAMED",
              // What our compiler made needs no verification: half a second of processor time per
              // run.
              "-XX:+UnlockDiagnosticVMOptions",
              "-XX:-BytecodeVerificationRemote",
              // Gatling asks for its newest version over HTTPS.
              "-Dhttps.proxyHost=127.0.0.1",
              "-Dhttps.proxyPort=1",
              "-Djava.util.prefs.userRoot=" + home.toAbsolutePath()));
      return command;
    }

    private List<String> command(Path results, List<String> moreJvmOptions) {
      List<String> command = java(results, moreJvmOptions);
      properties.forEach((name, value) -> command.add("-D" + name + "=" + value));
      List<String> forGatling =
          new ArrayList<>(List.of("-s", simulation.getName(), "-rf", results.toString()));
      if (!hasReports) {
        forGatling.add("-nr");
      }
      if (main == OwnMain.class) {
        command.add("-DownMain.arguments=" + String.join(" ", forGatling));
        forGatling.clear();
      }
      command.add(main.getName());
      command.addAll(forGatling);
      return command;
    }
  }

  /** A main class as users write it to start a simulation from an IDE, without arguments. */
  public static final class OwnMain {
    private OwnMain() {}

    public static void main(String[] args) {
      Gatling.main(System.getProperty("ownMain.arguments").split(" ", -1));
    }
  }

  public GatlingRun await() throws IOException, InterruptedException {
    assertThat(process.waitFor(MAX_SECONDS, TimeUnit.SECONDS))
        .as(() -> "ended within " + MAX_SECONDS + " s; see " + output)
        .isTrue();
    return this;
  }

  public void awaitRecords(int count) throws IOException, InterruptedException {
    await(count + " records", () -> lineCount() >= count);
  }

  private long lineCount() throws IOException {
    try (Stream<Path> all = Files.list(results)) {
      Path records =
          all.map(run -> new RunFiles(run).requests())
              .filter(Files::exists)
              .findFirst()
              .orElse(null);
      return records == null ? 0 : lineCount(records);
    }
  }

  /** How many lines a file has that may be written to. */
  public static long lineCount(Path file) throws IOException {
    return Files.readString(file, ISO_8859_1).chars().filter(letter -> letter == '\n').count();
  }

  public void awaitLine(String part) throws IOException, InterruptedException {
    await(part, () -> lines().stream().anyMatch(line -> line.contains(part)));
  }

  @FunctionalInterface
  public interface Condition {
    boolean holds() throws IOException;
  }

  public void await(String what, Condition condition) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(MAX_SECONDS);
    while (!condition.holds()) {
      // What came true at its very end did come true.
      assertThat(process.isAlive() || condition.holds())
          .as(() -> "still runs, for " + what + "; see " + output)
          .isTrue();
      assertThat(System.nanoTime()).as("in time: " + what).isLessThan(deadline);
      var unused = process.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  /** Asks it to end: SIGTERM. */
  public void terminate() {
    process.destroy();
  }

  /** Ends it immediately: SIGKILL. */
  public void kill() {
    process.destroyForcibly();
  }

  public Process process() {
    return process;
  }

  public int exitCode() {
    return process.exitValue();
  }

  /** All that it printed so far, of which the last character may not be complete. */
  public List<String> lines() throws IOException {
    return new String(Files.readAllBytes(output), UTF_8).lines().toList();
  }

  public String output() throws IOException {
    return String.join("\n", lines());
  }

  /** Gatling's own log of the run, of which only the texts can be read. */
  public String log() throws IOException {
    return Files.readString(directory().resolve("simulation.log"), ISO_8859_1);
  }

  public Path results() {
    return results;
  }

  /** A simulation that only asks for a self-test has no files of ours beside those of the test. */
  public Path directory() throws IOException {
    try (Stream<Path> all = Files.list(results)) {
      return all.filter(path -> Files.exists(path.resolve("simulation.log")))
          .max(Comparator.comparing(path -> Files.exists(new RunFiles(path).folder())))
          .orElseThrow();
    }
  }

  public RunFiles files() throws IOException {
    return new RunFiles(directory());
  }

  /** Its records, by start; all of them are complete. */
  public List<RequestRecord> requests() throws IOException {
    List<RequestRecord> records = new ArrayList<>();
    ReadReport report = RecordFile.read(files().requests(), records::add);
    assertThat(report.badLines()).as("damaged records").isZero();
    records.sort(Comparator.comparingLong(record -> record.identity().requestIndex()));
    return records;
  }

  public List<RequestRecord> requests(String name) throws IOException {
    return requests().stream().filter(r -> r.identity().name().equals(name)).toList();
  }

  public JsonNode summary() throws IOException {
    return new ObjectMapper().readTree(files().summaryJson().toFile());
  }

  public RunInfo info() throws IOException {
    return RunInfo.read(files().info()).orElseThrow();
  }

  public LevelInfo stage(String label) throws IOException {
    return info().stages().stream()
        .filter(stage -> stage.label().equals(label))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no load level " + label));
  }

  public JsonNode check(String id) throws IOException {
    return row("checks", "id", id);
  }

  /** The first entry of a list in its {@code summary.json} that has this value under a key. */
  public JsonNode row(String list, String key, String value) throws IOException {
    for (JsonNode row : summary().path(list)) {
      if (row.path(key).asText().equals(value)) {
        return row;
      }
    }
    throw new AssertionError("no " + key + " " + value + " in " + summary().path(list));
  }

  public List<ServerSample> serverSamples() throws IOException {
    List<ServerSample> samples = new ArrayList<>();
    assertThat(ServerFile.read(files().server(), samples::add)).isZero();
    return samples;
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
