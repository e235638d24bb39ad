package io.github.gatlingllm.action;

import static org.assertj.core.api.Assertions.assertThat;

import io.gatling.javaapi.core.Simulation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Runs a simulation in a JVM of its own, as users do; it never leaves the machine. */
final class GatlingProcess {
  private GatlingProcess() {}

  /** The lines that it printed. */
  static List<String> run(
      Class<? extends Simulation> simulation, Map<String, ?> properties, int maxSeconds)
      throws IOException, InterruptedException {
    Path folder = Path.of("target", "it-" + simulation.getSimpleName());
    Files.createDirectories(folder);
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            "-Dgatling.http.warmUpUrl=",
            "-Dgatling.data.enableAnalytics=false",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            // Gatling asks for its newest version over HTTPS.
            "-Dhttps.proxyHost=127.0.0.1",
            "-Dhttps.proxyPort=1",
            "-Djava.util.prefs.userRoot=" + folder.toAbsolutePath()));
    properties.forEach((name, value) -> command.add("-D" + name + "=" + value));
    command.addAll(
        List.of(
            "io.gatling.app.Gatling", "-s", simulation.getName(), "-rf", folder.toString(), "-nr"));
    Path output = folder.resolve("output.txt");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertThat(process.waitFor(maxSeconds, TimeUnit.SECONDS)).as("ended in time").isTrue();
      List<String> lines = Files.readAllLines(output);
      assertThat(process.exitValue()).as(String.join("\n", lines)).isZero();
      return lines;
    } finally {
      process.destroyForcibly();
    }
  }
}
