package io.github.gatlingllm.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A Maven project of a user's, written for a test: our jar, the dependencies and plugin versions of
 * our own {@code pom.xml}, and simulations from source. It runs offline, from what our own build
 * has downloaded.
 */
public final class MavenProject {

  private static final int MAX_SECONDS = 300;

  private final Path folder;

  private MavenProject(Path folder) {
    this.folder = folder;
  }

  /**
   * Writes the project.
   *
   * @param simulations Java source by class name
   */
  public static MavenProject in(Path folder, Map<String, String> simulations) throws IOException {
    String ours = Files.readString(Path.of("pom.xml"));
    Files.writeString(
        folder.resolve("pom.xml"),
        """
        <project xmlns="http://maven.apache.org/POM/4.0.0">
          <modelVersion>4.0.0</modelVersion>
          <groupId>user</groupId>
          <artifactId>load-test</artifactId>
          <version>1</version>
          %s
          %s
          <dependencies>
            <dependency>
              <groupId>io.github.gatlingllm</groupId>
              <artifactId>gatling-llm</artifactId>
              <version>0</version>
              <scope>system</scope>
              <systemPath>%s</systemPath>
            </dependency>
            %s
          </dependencies>
          <build>
            <plugins>
              %s
              %s
              %s
            </plugins>
          </build>
        </project>
        """
            .formatted(
                element(ours, "properties")
                    .replaceAll("<gatling.simulationClass>.*?</gatling.simulationClass>", ""),
                element(ours, "dependencyManagement"),
                jar(),
                dependencies(ours),
                plugin(ours, "maven-resources-plugin"),
                plugin(ours, "maven-compiler-plugin"),
                plugin(ours, "gatling-maven-plugin")));
    Path sources = Files.createDirectories(folder.resolve("src/test/java"));
    for (Map.Entry<String, String> simulation : simulations.entrySet()) {
      Files.writeString(sources.resolve(simulation.getKey() + ".java"), simulation.getValue());
    }
    Files.createDirectories(folder.resolve("src/test/resources"));
    Files.copy(
        Path.of("src/gatling/resources/gatling.conf"),
        folder.resolve("src/test/resources/gatling.conf"));
    return new MavenProject(folder);
  }

  private static Path jar() throws IOException {
    try (Stream<Path> all = Files.list(Path.of("target"))) {
      return all.filter(
              p -> p.getFileName().toString().matches("gatling-llm-[^-]+(-SNAPSHOT)?\\.jar"))
          .findFirst()
          .orElseThrow(() -> new IllegalStateException("no jar in target; run mvn package"))
          .toAbsolutePath();
    }
  }

  /** A property of our own {@code pom.xml}. */
  public static String property(String name) throws IOException {
    return inside(Files.readString(Path.of("pom.xml")), name);
  }

  /** Without those that the user's project brings, with Gatling. */
  private static String dependencies(String ours) {
    return inside(ours.replace(element(ours, "dependencyManagement"), ""), "dependencies")
        .replaceAll(
            "(?s)<dependency>(?:(?!</dependency>).)*<scope>provided</scope>.*?</dependency>", "");
  }

  private static String element(String xml, String name) {
    Matcher found = Pattern.compile("(?s)<" + name + ">.*?</" + name + ">").matcher(xml);
    assertThat(found.find()).as("<%s> in pom.xml", name).isTrue();
    return found.group();
  }

  private static String inside(String xml, String name) {
    return element(xml, name).replaceAll("</?" + name + ">", "");
  }

  /** The same version, without our own configuration. */
  private static String plugin(String xml, String artifact) {
    Matcher found =
        Pattern.compile(
                "<groupId>([^<]+)</groupId>\\s*<artifactId>"
                    + artifact
                    + "</artifactId>\\s*"
                    + "<version>([^<]+)</version>")
            .matcher(xml);
    assertThat(found.find()).as("%s in pom.xml", artifact).isTrue();
    return "<plugin><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version></plugin>"
        .formatted(found.group(1), artifact, found.group(2));
  }

  /**
   * What Maven returned and said.
   *
   * @param lines without colours
   */
  public record Outcome(int exitCode, List<String> lines) {

    /** All lines in one. */
    public String output() {
      return String.join("\n", lines);
    }
  }

  /** Runs Maven in the project. */
  public Outcome run(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(maven(), "-B", "-o"));
    String repository = System.getProperty("maven.repo.local");
    if (repository != null) {
      command.add("-Dmaven.repo.local=" + repository);
    }
    command.addAll(List.of(arguments));
    Path output = folder.resolve("output.txt");
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.environment().put("MAVEN_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC");
    builder.environment().remove("GITHUB_STEP_SUMMARY");
    Process process = builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
    try {
      assertThat(process.waitFor(MAX_SECONDS, TimeUnit.SECONDS)).as("ended; %s", output).isTrue();
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
    return new Outcome(process.exitValue(), Files.readAllLines(output));
  }

  /** Maven on the path, else the wrapper that started this build. */
  private static String maven() {
    boolean onPath =
        Stream.of(System.getenv().getOrDefault("PATH", "").split(java.io.File.pathSeparator))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "mvn")));
    return onPath ? "mvn" : Path.of("mvnw").toAbsolutePath().toString();
  }
}
