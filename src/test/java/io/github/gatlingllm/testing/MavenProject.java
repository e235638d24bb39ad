package io.github.gatlingllm.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.testing.JavaCommand.Ended;
import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A user's Maven project: {@code examples/java} with more simulations, and our jar installed in a
 * local repository. Maven runs offline, with the artifacts of our own build.
 */
public final class MavenProject {

  /** Compiler output needs no bytecode verification: half a second of CPU per run. */
  private static final String UNVERIFIED =
      ",-XX:+UnlockDiagnosticVMOptions,-XX:-BytecodeVerificationRemote";

  private static final Path EXAMPLE = Path.of("examples", "java");

  private static final Path REPOSITORY = Path.of("target", "repository");

  private final Path folder;

  private MavenProject(Path folder) {
    this.folder = folder;
  }

  public static MavenProject in(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(EXAMPLE)) {
      for (Path each : all.filter(Files::isRegularFile).toList()) {
        copy(each, folder.resolve(EXAMPLE.relativize(each)));
      }
    }
    install();
    return new MavenProject(folder);
  }

  public MavenProject with(String path, String source) throws IOException {
    Path file = folder.resolve("src/test/java").resolve(path);
    Files.createDirectories(file.getParent());
    Files.writeString(file, source);
    return this;
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(to.getParent());
    Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING);
  }

  /** One JVM at a time, because several write such projects concurrently. */
  private static void install() throws IOException {
    Path repository = Files.createDirectories(REPOSITORY);
    try (FileChannel file =
            FileChannel.open(
                repository.resolve(".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock lock = file.lock()) {
      assertThat(lock.isValid()).isTrue();
      install(repository);
    }
  }

  /** Installs like {@code mvn install}, beside links to the repository of this build. */
  private static void install(Path ours) throws IOException {
    Path theirs =
        Path.of(
            System.getProperty(
                "maven.repo.local", System.getProperty("user.home") + "/.m2/repository"));
    for (String part : List.of("io", "github", "gatlingllm")) {
      link(theirs, ours, part);
      ours = Files.createDirectories(ours.resolve(part));
      theirs = theirs.resolve(part);
    }
    String version = property("version");
    String name = "gatling-llm-" + version;
    Path artifact = ours.resolve("gatling-llm").resolve(version);
    replace(jar(), artifact.resolve(name + ".jar"));
    replace(Path.of("pom.xml"), artifact.resolve(name + ".pom"));
  }

  /** Our jar, as {@code mvn package} makes it. */
  static Path jar() throws IOException {
    Path jar = Path.of("target", "gatling-llm-" + property("version") + ".jar");
    assertThat(jar).as("made by mvn package").exists();
    return jar;
  }

  /** Atomically, because Maven of another project may be reading it. */
  private static void replace(Path from, Path to) throws IOException {
    if (!Files.exists(to) || Files.mismatch(from, to) >= 0) {
      Path copied = Path.of(to + ".new");
      copy(from, copied);
      Files.move(copied, to, StandardCopyOption.ATOMIC_MOVE);
    }
  }

  /** Links all but one of the folders of a repository. */
  private static void link(Path from, Path to, String except) throws IOException {
    if (Files.isDirectory(from)) {
      try (Stream<Path> all = Files.list(from)) {
        for (Path each : all.filter(path -> !path.endsWith(except)).toList()) {
          Path link = to.resolve(each.getFileName());
          if (!Files.exists(link)) {
            Files.createSymbolicLink(link, each.toRealPath());
          }
        }
      }
    }
  }

  /** A property, or another element, of our own {@code pom.xml}; the first one of that name. */
  public static String property(String name) throws IOException {
    Matcher found =
        Pattern.compile("<" + Pattern.quote(name) + ">([^<]*)</")
            .matcher(Files.readString(Path.of("pom.xml")));
    assertThat(found.find()).as("<%s> in pom.xml", name).isTrue();
    return found.group(1);
  }

  public Path folder() {
    return folder;
  }

  public Ended maven(String... arguments) throws IOException, InterruptedException {
    return maven(Map.of(), arguments);
  }

  public Ended maven(Map<String, String> variables, String... arguments)
      throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of(
                executable(),
                "-B",
                "-o",
                "-Dmaven.repo.local=" + REPOSITORY.toAbsolutePath(),
                "-Dgatling.jvmArgs=-XX:TieredStopAtLevel=1,"
                    + property("gatling.jvmArgs")
                    + UNVERIFIED));
    command.addAll(List.of(arguments));
    Map<String, String> environment = new HashMap<>(variables);
    environment.put("MAVEN_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC");
    return run(environment, command);
  }

  public Ended run(Map<String, String> variables, List<String> command)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    GatlingRun.removeForeign(builder.environment());
    // A busy machine makes a run invalid; what tests look at does not depend on that.
    builder.environment().put("LLM_FAIL_ON_INVALID", "false");
    builder.environment().put("LLM_JVM_WARM_UP", "false");
    builder.environment().putAll(variables);
    return JavaCommand.run(builder);
  }

  /** Maven on the path, else the wrapper that started this build. */
  private static String executable() {
    boolean onPath =
        Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "mvn")));
    return onPath ? "mvn" : Path.of("mvnw").toAbsolutePath().toString();
  }
}
