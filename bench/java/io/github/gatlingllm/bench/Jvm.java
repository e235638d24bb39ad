package io.github.gatlingllm.bench;

import io.gatling.app.Gatling;
import io.gatling.javaapi.core.Simulation;
import io.github.gatlingllm.record.SelfTest.JvmOptions;
import io.github.gatlingllm.testing.JavaCommand;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Starts JVMs for the benchmarks. */
final class Jvm {

  /** Options that Gatling's Maven plugin sets; of two conflicting options the last one counts. */
  private static final List<String> GATLING =
      List.of(
          "-Xmx1G",
          "-XX:+HeapDumpOnOutOfMemoryError",
          "-XX:MaxInlineLevel=20",
          "-XX:MaxTrivialSize=12",
          "--add-opens=java.base/java.lang=ALL-UNNAMED",
          "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED");

  private Jvm() {}

  /** Gatling's own options and these. */
  static List<String> ofRun(List<String> options) {
    List<String> all = new ArrayList<>(GATLING);
    all.addAll(options);
    return all;
  }

  /** Options of the POM, for other clients: their compilers are those of the JVM. */
  static List<String> ofPom() {
    return ofRun(JvmOptions.OF_RUNS);
  }

  /** Options of a run of ours that the jar starts on this machine. */
  static List<String> ofJar() {
    return ofRun(JvmOptions.ofRunsHere());
  }

  /** Command that runs a simulation with these system properties, without Gatling's pages. */
  static List<String> gatling(
      List<String> options,
      Class<? extends Simulation> simulation,
      Path folder,
      Map<String, ?> properties) {
    List<String> all = new ArrayList<>(options);
    all.add("-Djava.util.prefs.userRoot=" + folder.toAbsolutePath());
    properties.forEach((name, value) -> all.add("-D" + name + "=" + value));
    return JavaCommand.of(all, Gatling.class, "-nr", "-s", simulation.getName(), "-rf", folder);
  }
}
