package io.github.gatlingllm.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Pages that Gatling itself wrote, made once per test run in a JVM of their own. */
final class GatlingRun {

  private static final Path RESULTS = Path.of("target", "gatling-pages");

  private GatlingRun() {}

  /** The directory of a finished run; not to be written to. */
  static synchronized Path pages() throws IOException, InterruptedException {
    if (!Files.isDirectory(RESULTS)) {
      run();
    }
    try (Stream<Path> runs = Files.list(RESULTS)) {
      return runs.filter(run -> Files.exists(run.resolve("index.html"))).findFirst().orElseThrow();
    }
  }

  /** A copy of the run under {@code to}, free to be changed. */
  static Path copy(Path to) throws IOException, InterruptedException {
    Path from = pages();
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.sorted(Comparator.naturalOrder()).toList()) {
        Path copied = to.resolve(from.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(copied);
        } else {
          Files.copy(file, copied);
        }
      }
    }
    return to;
  }

  private static void run() throws IOException, InterruptedException {
    Path log = Path.of("target", "gatling-pages.log");
    Process gatling =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--add-opens=java.base/java.lang=ALL-UNNAMED",
                    // Gatling asks the net for its latest release: let that end on this machine.
                    "-Dhttps.proxyHost=127.0.0.1",
                    "-Dhttps.proxyPort=9",
                    "-cp",
                    System.getProperty("java.class.path"),
                    "-Dgatling.data.enableAnalytics=false",
                    "-Dgatling.http.warmUpUrl=",
                    "io.gatling.app.Gatling",
                    "-s",
                    PlainHttpSimulation.class.getName(),
                    "-rf",
                    RESULTS.toString()))
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    assertThat(gatling.waitFor(120, TimeUnit.SECONDS)).as("Gatling ended").isTrue();
    assertThat(gatling.exitValue()).as(() -> "exit code of Gatling, see " + log).isZero();
  }
}
