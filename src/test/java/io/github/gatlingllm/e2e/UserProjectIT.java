package io.github.gatlingllm.e2e;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.JavaCommand.Ended;
import io.github.gatlingllm.testing.MavenProject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.unbescape.html.HtmlEscape;

/** A user's project as in Gatling's documentation, with our jar: builds, runs, reports. */
class UserProjectIT {

  private static final Path SIMULATIONS = Path.of("src", "test", "resources", "user-project");
  private static final Path EXAMPLES = Path.of("src", "gatling", "java");

  private static final String PACKAGE = "target/load-test-1-shaded.jar";

  private static final String MISS =
      "Global: count of complete requests is 0.0 : false (actual : 2.0)";

  @TempDir static Path folder;

  private static MavenProject project;
  @AutoClose private static EmbeddedEngine engine;

  @BeforeAll
  static void write() throws Exception {
    engine = EmbeddedEngine.builder().fixed(ofMillis(5), ofMillis(1)).start();
    project = MavenProject.in(folder);
    try (Stream<Path> all = Files.list(SIMULATIONS)) {
      for (Path each : all.toList()) {
        project.with(each.getFileName().toString(), Files.readString(each));
      }
    }
    for (String name : List.of("examples/AgentSimulation.java", "examples/Server.java")) {
      String program = Files.readString(EXAMPLES.resolve(name));
      project.with(name, program.replace(".disableIgnoreEos()", ""));
    }
  }

  @Test
  void verifyRunsAllSimulationsAndFailsOnAMissedAssertion() throws Exception {
    Ended outcome =
        project.maven(
            "verify",
            "-Dgatling.runMultipleSimulations=true",
            "-Dgatling.continueOnAssertionFailure=true",
            "-DbaseUrl=" + engine.baseUrl(),
            "-Dendpoint=" + engine.baseUrl(),
            "-Dmodel=embedded",
            "-Dseconds=1");

    assertThat(outcome.code()).as(outcome.output()).isEqualTo(1);
    assertThat(outcome.lines())
        .filteredOn(line -> line.matches("Simulation \\S+ started\\.\\.\\."))
        .as("the user's, and no other")
        .containsExactlyInAnyOrder(
            "Simulation FirstSimulation started...",
            "Simulation GateSimulation started...",
            "Simulation JourneySimulation started...",
            "Simulation examples.AgentSimulation started...");
    assertThat(outcome.output())
        .containsSubsequence(MISS, "BUILD FAILURE", "Gatling simulation assertions failed !")
        .doesNotContain(Benchmark.class.getName());

    assertThat(summary("firstsimulation").at("/counts/ok").asInt()).isPositive();
    JsonNode agent = summary("agentsimulation").path("counts");
    assertThat(agent.path("ok")).isEqualTo(agent.path("ended"));
    assertThat(agent.path("ok").asInt()).as("each plan has its round").isPositive().isEven();
    assertThat(summary("journeysimulation").at("/counts/ok").asInt())
        .as("of the LLM, without those of http")
        .isEqualTo(4);
  }

  @Test
  void olderGatlingAndToleratedMiss() throws Exception {
    Ended outcome =
        project.maven(
            "gatling:test",
            "-Dgatling.simulationClass=GateSimulation",
            "-Dgatling.version=" + MavenProject.property("gatling.older.version"),
            "-Dgatling.failOnError=false",
            "-DbaseUrl=" + engine.baseUrl());

    assertThat(outcome.code()).as(outcome.output()).isZero();
    assertThat(outcome.output())
        .containsSubsequence(MISS, "failOnError was set to false", "BUILD SUCCESS")
        .contains("LLM report generated");
    // The page of a run without an SLO prints the command that sets one.
    Path page = run("target/gatling", "gatesimulation").resolve("llm.html");
    Matcher advice = Pattern.compile("<code>(mvn .*?)</code>").matcher(Files.readString(page));
    assertThat(advice.find()).isTrue();
    String command = HtmlEscape.unescapeHtml(advice.group(1));
    Ended advised = project.run(Map.of(), List.of("sh", "-c", command + " -Dllm.dryRun=true"));
    assertThat(advised.code()).as(advised.output()).isZero();
    assertThat(advised.output()).contains("SLO            ttft<200ms,tpot<50ms; ", "Dry run: ");
  }

  /**
   * In the newest JVM of this machine. The package for Gatling Enterprise runs as on a load
   * generator: the package and Gatling's own class path, started by another program than Gatling's.
   */
  @Test
  void benchmarkEnterprisePackageAndOwnMain() throws Exception {
    Path java = newestJava();
    Path classPath = folder.resolve("class-path.txt");
    Ended benchmark =
        project.maven(
            Map.of("JAVA_HOME", java.toString()),
            "test-compile",
            "gatling:enterprisePackage",
            "org.apache.maven.plugins:maven-dependency-plugin:%s:build-classpath"
                .formatted(MavenProject.property("dependency-plugin.version")),
            "-Dmdep.outputFile=" + classPath,
            "gatling:test",
            "-Dgatling.simulationClass=" + Benchmark.class.getName(),
            "-Dllm.dryRun=true");

    assertThat(benchmark.code()).as(benchmark.output()).isZero();
    assertThat(benchmark.output()).contains("Dry run: nothing was sent");
    assertThat(packagedSimulations()).contains("FirstSimulation").doesNotContain("Benchmark");

    Ended main =
        project.run(
            Map.of(),
            List.of(
                java.resolve("bin/java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "--add-opens=java.base/java.lang=ALL-UNNAMED",
                "-cp",
                PACKAGE + ":" + gatlings(Files.readString(classPath).strip()),
                "-DbaseUrl=" + engine.baseUrl(),
                "Main",
                "-s",
                "JourneySimulation",
                "-rf",
                "own-results"));

    assertThat(main.code()).as(main.output()).isZero();
    assertThat(summary("own-results", "journeysimulation").at("/counts/ok").asInt()).isEqualTo(4);
    assertThat(
            Files.readString(
                run("own-results", "journeysimulation").resolve("simulation.log"), ISO_8859_1))
        .as("the groups that Gatling's own reports show")
        .contains("ask TTFT", "ask SLO");
  }

  /**
   * Dependencies that the package does not contain: Gatling and its own dependencies, which
   * Enterprise provides.
   */
  private static String gatlings(String classPath) throws IOException {
    List<String> left = new ArrayList<>();
    try (JarFile packaged = new JarFile(project.folder().resolve(PACKAGE).toFile())) {
      for (String each : classPath.split(":", -1)) {
        try (JarFile jar = new JarFile(each)) {
          boolean isPackaged =
              jar.stream()
                  .map(JarEntry::getName)
                  .filter(name -> name.endsWith(".class") && !name.endsWith("-info.class"))
                  .anyMatch(name -> packaged.getEntry(name) != null);
          if (!isPackaged) {
            left.add(each);
          }
        }
      }
    }
    assertThat(left).noneMatch(jar -> jar.contains("gatling-llm")).hasSizeGreaterThan(50);
    return String.join(":", left);
  }

  private static JsonNode summary(String simulation) throws IOException {
    return summary("target/gatling", simulation);
  }

  private static JsonNode summary(String results, String simulation) throws IOException {
    Path run = run(results, simulation);
    assertThat(run.resolve("llm.html")).isNotEmptyFile();
    return new ObjectMapper().readTree(run.resolve("llm/summary.json").toFile());
  }

  private static Path run(String results, String simulation) throws IOException {
    try (Stream<Path> runs = Files.list(project.folder().resolve(results))) {
      return runs.filter(path -> path.getFileName().toString().startsWith(simulation + "-"))
          .max(Comparator.naturalOrder())
          .orElseThrow();
    }
  }

  private static String packagedSimulations() throws IOException {
    try (JarFile jar = new JarFile(project.folder().resolve(PACKAGE).toFile())) {
      return jar.getManifest().getMainAttributes().getValue("Gatling-Simulations");
    }
  }

  private static Path newestJava() throws IOException {
    Path installed = Path.of("/usr/lib/jvm");
    if (!Files.isDirectory(installed)) {
      return Path.of(System.getProperty("java.home"));
    }
    try (Stream<Path> all = Files.list(installed)) {
      return all.filter(home -> Files.isExecutable(home.resolve("bin/javac")))
          .max((a, b) -> Integer.compare(version(a), version(b)))
          .orElse(Path.of(System.getProperty("java.home")));
    }
  }

  private static int version(Path home) {
    String digits = Objects.toString(home.getFileName()).replaceAll("\\D*(\\d+).*", "$1");
    return digits.matches("\\d{1,3}") ? Integer.parseInt(digits) : 0;
  }
}
