package io.github.gatlingllm.record;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;

/**
 * The accuracy of the load generator on a machine at rising load, measured against an engine that
 * recorded when it wrote each token. It is stored in a file of the user; runs quote it as {@code
 * self_test} in {@code run.json}.
 *
 * @param boundMs the largest p99 of both errors at which a level counts towards the ceiling
 * @param ceiling the highest load within the bound; null if the first level exceeds it
 * @param differs how the run that quotes it differs from it; the test applies to that run only if
 *     this is empty
 */
@JsonPropertyOrder("schema")
public record SelfTest(
    String schema,
    @JsonProperty("measured_unix_ns") long measuredUnixNanos,
    Machine machine,
    Map<String, String> versions,
    double boundMs,
    List<TestedLoad> levels,
    @Nullable Ceiling ceiling,
    List<String> differs) {

  /** The setting in {@code config} of a run that is a self-test: the address of its engine. */
  public static final String ENGINE = "selfTest engine";

  public static final String SCHEMA = "gatling-llm/self-test/1";

  /**
   * The machine, or its container, and JVM of a measurement.
   *
   * @param jvmOptions those of its command, without system properties
   * @param optimizingCompiler whether its JVM has C2, the optimizing compiler; null if not known
   */
  public record Machine(
      String processor,
      int processors,
      long memoryMib,
      String jvm,
      List<String> jvmOptions,
      @Nullable Boolean optimizingCompiler) {
    public Machine {
      processor = Objects.requireNonNullElse(processor, "");
      jvm = Objects.requireNonNullElse(jvm, "");
      jvmOptions = jvmOptions == null ? List.of() : List.copyOf(jvmOptions);
    }
  }

  /**
   * Errors at a load: streams in flight, token events written and answers completed per second.
   *
   * @param ttftErrorMs first token: recorded instant − instant of its write
   * @param itlErrorMs |recorded gap − gap between the writes|, of all gaps
   * @param engineLateP99Ms p99 of the engine's delay against its own timetable; not part of the
   *     errors
   */
  public record TestedLoad(
      int streams,
      long requests,
      double eventsPerS,
      double requestsPerS,
      Errors ttftErrorMs,
      Errors itlErrorMs,
      double engineLateP99Ms) {
    public TestedLoad {
      ttftErrorMs = Objects.requireNonNullElse(ttftErrorMs, Errors.NONE);
      itlErrorMs = Objects.requireNonNullElse(itlErrorMs, Errors.NONE);
    }

    public boolean isWithin(double boundMs) {
      return ttftErrorMs.p99 <= boundMs && itlErrorMs.p99 <= boundMs;
    }
  }

  /** Errors in milliseconds; percentiles by nearest rank. */
  public record Errors(double p50, double p99, double max) {
    static final Errors NONE = new Errors(0, 0, 0);
  }

  /** The highest load within the bound; {@code exceeded} if a higher level was not. */
  public record Ceiling(int streams, double eventsPerS, double requestsPerS, boolean exceeded) {}

  public SelfTest {
    machine = machine == null ? new Machine("", 0, 0, "", List.of(), null) : machine;
    versions = RunInfo.ordered(versions);
    levels = levels == null ? List.of() : List.copyOf(levels);
    differs = differs == null ? List.of() : List.copyOf(differs);
  }

  /** Whether it is the load of a self-test, whose SLO only ends the sweep. */
  public static boolean isLoadOf(RunInfo run) {
    return run.config().containsKey(ENGINE);
  }

  public static SelfTest of(
      long measuredUnixNanos,
      Machine machine,
      Map<String, String> versions,
      double boundMs,
      List<TestedLoad> levels) {
    List<TestedLoad> within = levels.stream().takeWhile(level -> level.isWithin(boundMs)).toList();
    boolean isExceeded = within.size() < levels.size();
    TestedLoad top = within.isEmpty() ? null : within.get(within.size() - 1);
    Ceiling ceiling =
        top == null ? null : new Ceiling(top.streams, top.eventsPerS, top.requestsPerS, isExceeded);
    return new SelfTest(
        SCHEMA, measuredUnixNanos, machine, versions, boundMs, levels, ceiling, List.of());
  }

  public boolean applies() {
    return differs.isEmpty();
  }

  /** The same self-test as quoted by a run on that machine with these versions. */
  public SelfTest quotedBy(Machine here, Map<String, String> runVersions) {
    List<String> changed = new ArrayList<>();
    differ(changed, "processor", machine.processor.equals(here.processor));
    differ(changed, "number of processors", machine.processors == here.processors);
    // The kernel reserves some memory; how much changes from boot to boot.
    differ(
        changed, "memory", Math.abs(machine.memoryMib - here.memoryMib) * 10 <= machine.memoryMib);
    differ(changed, "JVM", machine.jvm.equals(here.jvm));
    differ(changed, "JVM options", machine.jvmOptions.equals(here.jvmOptions));
    TreeSet<String> components = new TreeSet<>(versions.keySet());
    components.addAll(runVersions.keySet());
    components.forEach(
        name ->
            differ(
                changed,
                "version of " + name,
                Objects.equals(versions.get(name), runVersions.get(name))));
    return Components.with(this, "differs", changed);
  }

  private static void differ(List<String> changed, String what, boolean same) {
    if (!same) {
      changed.add(what);
    }
  }

  /**
   * The lightest level with at least that many streams and events per second; empty if there is
   * none. A level covers rates up to 2 % above its own, because achieved rates deviate from planned
   * ones.
   */
  public Optional<TestedLoad> covering(double streams, double eventsPerS) {
    return levels.stream()
        .filter(level -> level.streams >= streams && level.eventsPerS * 1.02 >= eventsPerS)
        .findFirst();
  }

  public void write(Path file) throws IOException {
    RunFiles.writeJson(this, file);
  }

  /** Reads a self-test; empty if the file does not exist. */
  public static Optional<SelfTest> read(Path file) throws IOException {
    return RunFiles.readJson(file, SelfTest.class, SCHEMA);
  }

  /** The options of the JVM that decide how much it disturbs its own measurements. */
  public static final class JvmOptions {

    /** Only compiler C1: C2 takes CPU from a server on the same machine while it compiles. */
    public static final String NO_OPTIMISING_COMPILER = "-XX:TieredStopAtLevel=1";

    /**
     * The options of our own runs, which a user's project need not have: a garbage collector
     * without separate threads; a heap of constant size with a young generation for 80 MB of new
     * objects, as all of it is soon resident, and in its other half the answers in flight through a
     * collection; no collections because of class metadata; and no statistics for {@code jstat},
     * for which a thread wakes 20 times a second.
     */
    public static final List<String> OF_RUNS =
        List.of(
            "-XX:+UseSerialGC",
            "-Xms1g",
            "-Xmx1g",
            "-Xmn160m",
            "-XX:SurvivorRatio=2",
            "-XX:MetaspaceSize=256m",
            "-XX:-UsePerfData");

    /**
     * C1 compiles what has run a tenth of the usual number of times: its code does not get better
     * by waiting, and the warm-up needs fewer requests.
     */
    private static final String COMPILE_EARLY = "-XX:CompileThresholdScaling=0.1";

    /** On so few processors C2 would still compile when the load begins. */
    private static final int FEW_PROCESSORS = 2;

    private static final String NO_C2 = "[{match: \"*.*\", c2: {Exclude: true}}]";

    private static volatile boolean isWithoutC2;

    private JvmOptions() {}

    /**
     * The options of a JVM that we start for a run on this machine, with an event loop per
     * processor instead of Netty's two. Where there are few, C2 is off, and there is one event
     * loop: of two, more answers were read late beside a server that occupies all processors.
     */
    public static List<String> ofRunsHere() {
      List<String> options = new ArrayList<>(OF_RUNS);
      int loops = hasFewProcessors() ? 1 : Runtime.getRuntime().availableProcessors();
      options.add("-Dio.netty.eventLoopThreads=" + loops);
      if (hasFewProcessors()) {
        options.addAll(List.of(NO_OPTIMISING_COMPILER, COMPILE_EARLY));
      }
      return List.copyOf(options);
    }

    private static boolean hasFewProcessors() {
      return Runtime.getRuntime().availableProcessors() <= FEW_PROCESSORS;
    }

    /**
     * Lets C1 do the work of C2 from now on where there are few processors; nothing happens where
     * the JVM cannot be told so. The option of the JVM is better where it can be set: with it C1
     * collects no profile for C2, which costs a fifth of the CPU until a method has run 5,000
     * times.
     */
    public static void spareProcessors() {
      if (!hasFewProcessors() || inEffect().contains(NO_OPTIMISING_COMPILER)) {
        return;
      }
      try {
        Path directives = Files.createTempFile("gatling-llm", ".json");
        try {
          Files.writeString(directives, NO_C2);
          Object answer =
              ManagementFactory.getPlatformMBeanServer()
                  .invoke(
                      new ObjectName("com.sun.management:type=DiagnosticCommand"),
                      "compilerDirectivesAdd",
                      new Object[] {new String[] {directives.toString()}},
                      new String[] {String[].class.getName()});
          isWithoutC2 = String.valueOf(answer).contains("1 compiler directives added");
        } finally {
          Files.deleteIfExists(directives);
        }
      } catch (JMException | IOException e) {
        // It stays on, and the check of JVM options sees it.
      }
    }

    /** Whether the optimizing compiler is on; null if the JVM does not report that. */
    public static @Nullable Boolean hasOptimizingCompiler() {
      List<String> options = inEffect();
      return options.isEmpty() ? null : (Boolean) !options.contains(NO_OPTIMISING_COMPILER);
    }

    /** The options in effect, set or by default; empty if the JVM does not report them. */
    public static List<String> inEffect() {
      HotSpotDiagnosticMXBean jvm =
          ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
      if (jvm == null) {
        return List.of();
      }
      List<String> options = new ArrayList<>();
      valueOf(jvm, "TieredStopAtLevel")
          .map(level -> isWithoutC2 ? NO_OPTIMISING_COMPILER : "-XX:TieredStopAtLevel=" + level)
          .ifPresent(options::add);
      Stream.of("Serial", "Parallel", "G1", "Z", "Shenandoah", "Epsilon")
          .map(collector -> "Use" + collector + "GC")
          .filter(flag -> valueOf(jvm, flag).filter("true"::equals).isPresent())
          .forEach(flag -> options.add("-XX:+" + flag));
      addSize(options, jvm, "-Xms", "InitialHeapSize");
      addSize(options, jvm, "-Xmx", "MaxHeapSize");
      addSize(options, jvm, "-Xmn", "NewSize");
      valueOf(jvm, "SurvivorRatio").map("-XX:SurvivorRatio="::concat).ifPresent(options::add);
      addSize(options, jvm, "-XX:MetaspaceSize=", "MetaspaceSize");
      valueOf(jvm, "UsePerfData")
          .filter("false"::equals)
          .ifPresent(off -> options.add("-XX:-UsePerfData"));
      return List.copyOf(options);
    }

    private static void addSize(
        List<String> options, HotSpotDiagnosticMXBean jvm, String option, String flag) {
      valueOf(jvm, flag)
          .ifPresent(bytes -> options.add(option + (Long.parseLong(bytes) >> 20) + "m"));
    }

    private static Optional<String> valueOf(HotSpotDiagnosticMXBean jvm, String flag) {
      try {
        return Optional.of(jvm.getVMOption(flag).getValue());
      } catch (IllegalArgumentException e) {
        return Optional.empty();
      }
    }
  }
}
