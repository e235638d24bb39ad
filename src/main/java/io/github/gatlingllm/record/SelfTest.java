package io.github.gatlingllm.record;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * How exact the load generator was on a machine at rising load, held against an engine that noted
 * when it wrote each token. It is kept in a file of the user and, by runs that quote it, as {@code
 * self_test} in {@code run.json}.
 *
 * @param schema {@value #SCHEMA}
 * @param measuredUnixNanos when it was measured; epoch time
 * @param machine what it ran on
 * @param versions by component, as in {@link RunInfo}
 * @param clockUncertaintyMs how far errors may be off because two processes had two clocks; 0 where
 *     they have one
 * @param boundMs the largest p99 of an error at which a level counts towards the ceiling
 * @param levels in order of load
 * @param ceiling the highest load within the bound; null where not even the first level was
 * @param differs in what the run that quotes it differs from it; it says nothing about that run
 *     unless this is empty
 */
@JsonPropertyOrder("schema")
public record SelfTest(
    String schema,
    @JsonProperty("measured_unix_ns") long measuredUnixNanos,
    Machine machine,
    Map<String, String> versions,
    double clockUncertaintyMs,
    double boundMs,
    List<Level> levels,
    @Nullable Ceiling ceiling,
    List<String> differs) {

  /** The name in {@code config} by which a run says that it is one: where its engine listens. */
  public static final String ENGINE = "selfTest engine";

  /** The version of the file's format. */
  public static final String SCHEMA = "gatling-llm/self-test/1";

  /**
   * What a measurement depends on besides versions.
   *
   * @param processor its model
   * @param processors that the JVM may use
   * @param memoryMib of the machine, or of its container
   * @param jvm its name
   * @param jvmOptions that it was started with, without system properties
   */
  public record Machine(
      String processor, int processors, long memoryMib, String jvm, List<String> jvmOptions) {
    public Machine {
      processor = Objects.requireNonNullElse(processor, "");
      jvm = Objects.requireNonNullElse(jvm, "");
      jvmOptions = jvmOptions == null ? List.of() : List.copyOf(jvmOptions);
    }
  }

  /**
   * Errors at one load.
   *
   * @param streams in flight at once
   * @param requests whose errors these are
   * @param eventsPerS token events that the engine wrote per second
   * @param requestsPerS answers that it completed per second
   * @param ttftErrorMs first token: recorded instant − instant of its write
   * @param itlErrorMs |recorded gap − gap between the writes|, of all gaps
   * @param engineLateP99Ms how late the engine was by its own timetable, p99; in no error
   */
  public record Level(
      int streams,
      long requests,
      double eventsPerS,
      double requestsPerS,
      Errors ttftErrorMs,
      Errors itlErrorMs,
      double engineLateP99Ms) {
    public Level {
      ttftErrorMs = Objects.requireNonNullElse(ttftErrorMs, Errors.NONE);
      itlErrorMs = Objects.requireNonNullElse(itlErrorMs, Errors.NONE);
    }

    /** Whether both errors are at most that at p99. */
    public boolean isWithin(double boundMs) {
      return ttftErrorMs.p99 <= boundMs && itlErrorMs.p99 <= boundMs;
    }
  }

  /** Errors in milliseconds; percentiles by nearest rank. */
  public record Errors(double p50, double p99, double max) {
    static final Errors NONE = new Errors(0, 0, 0);
  }

  /**
   * The load up to which all levels are within the bound.
   *
   * @param exceeded whether a higher level was measured and was not; else the ceiling is higher
   */
  public record Ceiling(int streams, double eventsPerS, double requestsPerS, boolean exceeded) {}

  public SelfTest {
    machine = machine == null ? new Machine("", 0, 0, "", List.of()) : machine;
    versions =
        versions == null ? Map.of() : Collections.unmodifiableMap(new LinkedHashMap<>(versions));
    levels = levels == null ? List.of() : List.copyOf(levels);
    differs = differs == null ? List.of() : List.copyOf(differs);
  }

  /** What these levels say, measured at that instant. */
  public static SelfTest of(
      long measuredUnixNanos,
      Machine machine,
      Map<String, String> versions,
      double clockUncertaintyMs,
      double boundMs,
      List<Level> levels) {
    int within = 0;
    while (within < levels.size() && levels.get(within).isWithin(boundMs)) {
      within++;
    }
    Level highest = within == 0 ? null : levels.get(within - 1);
    Ceiling ceiling =
        highest == null
            ? null
            : new Ceiling(
                highest.streams, highest.eventsPerS, highest.requestsPerS, within < levels.size());
    return new SelfTest(
        SCHEMA,
        measuredUnixNanos,
        machine,
        versions,
        clockUncertaintyMs,
        boundMs,
        levels,
        ceiling,
        List.of());
  }

  /** Whether it holds for the run that quotes it. */
  public boolean applies() {
    return differs.isEmpty();
  }

  /** The same as a run on that machine, of these versions, quotes it. */
  public SelfTest quotedBy(Machine here, Map<String, String> runVersions) {
    List<String> changed = new ArrayList<>();
    differ(changed, "processor", machine.processor.equals(here.processor));
    differ(changed, "number of processors", machine.processors == here.processors);
    // The kernel takes its own share of memory, which changes from boot to boot.
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
    return ByName.with(this, "differs", changed);
  }

  private static void differ(List<String> changed, String what, boolean same) {
    if (!same) {
      changed.add(what);
    }
  }

  /**
   * The lightest level with at least that many streams and that many events per second; empty where
   * none was measured at such a load. A level that comes within 2 % of a rate covers it: what is
   * planned as one rate never comes out as exactly that.
   */
  public Optional<Level> covering(double streams, double eventsPerS) {
    return levels.stream()
        .filter(level -> level.streams >= streams && level.eventsPerS * 1.02 >= eventsPerS)
        .findFirst();
  }

  /** Writes a file beside it and moves that into place; missing directories are made. */
  public void write(Path file) throws IOException {
    RunInfoFile.write(this, file);
  }

  /**
   * The self-test in that file; empty if there is no such file.
   *
   * @throws IOException if it is none of this version of the format; the message is one line
   */
  public static Optional<SelfTest> read(Path file) throws IOException {
    return RunInfoFile.read(file, SelfTest.class, SCHEMA, SelfTest::schema);
  }
}
