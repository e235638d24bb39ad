package io.github.gatlingllm.bench;

import io.gatling.app.Gatling;
import io.gatling.javaapi.core.Simulation;
import io.github.gatlingllm.record.JvmOptions;
import io.github.gatlingllm.testing.JavaCommand;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** How JVMs are started here. */
final class Jvm {

  /** What Gatling's Maven plugin sets by itself; of two that differ the last counts. */
  private static final List<String> GATLING =
      List.of(
          "-Xmx1G",
          "-XX:+HeapDumpOnOutOfMemoryError",
          "-XX:MaxInlineLevel=20",
          "-XX:MaxTrivialSize=12",
          "--add-opens=java.base/java.lang=ALL-UNNAMED",
          "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED");

  private Jvm() {}

  /** What a run of ours has that the Maven plugin starts: its own options, and those. */
  static List<String> ofRun(List<String> options) {
    List<String> all = new ArrayList<>(GATLING);
    all.addAll(options);
    return all;
  }

  /** What the POM adds. */
  static List<String> recommended() {
    return ofRun(JvmOptions.RECOMMENDED);
  }

  /** A command that runs a simulation with these system properties, without Gatling's pages. */
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
