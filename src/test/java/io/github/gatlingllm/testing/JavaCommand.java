package io.github.gatlingllm.testing;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Commands that start programs in separate JVMs, with the class path of this one. */
public final class JavaCommand {

  public static final String JAVA =
      Path.of(System.getProperty("java.home"), "bin", "java").toString();

  private JavaCommand() {}

  /** Class path of the tests, wherever Surefire put it. */
  public static String classPath() {
    return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
  }

  /** Our classes anew, on a class path that lacks all jars with this in their path. */
  public static URLClassLoader loaderWithout(String library) throws MalformedURLException {
    List<URL> rest = new ArrayList<>();
    for (String entry : classPath().split(File.pathSeparator, -1)) {
      if (!entry.contains(library)) {
        rest.add(Path.of(entry).toUri().toURL());
      }
    }
    return new URLClassLoader(rest.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
  }

  public static List<String> of(List<String> options, Class<?> main, Object... arguments) {
    List<String> command = new ArrayList<>(List.of(JAVA));
    command.addAll(options);
    command.addAll(List.of("-cp", classPath(), main.getName()));
    for (Object argument : arguments) {
      command.add(argument.toString());
    }
    return command;
  }

  /** A program that has ended, and what it printed. */
  public record Ended(int code, String output) {

    public List<String> lines() {
      return output.lines().toList();
    }

    /** Continuous integration has all programs; elsewhere a test without one is skipped. */
    public void require(String why) {
      JavaCommand.require(code == 0, why + output);
    }
  }

  /** Skips the test unless that holds; continuous integration skips nothing. */
  public static void require(boolean condition, String why) {
    if (Boolean.getBoolean("tests.skipNone")) {
      assertThat(condition).as(why).isTrue();
    }
    assumeTrue(condition, why);
  }

  /** Runs a program to its end, for five minutes at most; 127 if it is not installed. */
  public static Ended run(ProcessBuilder command) throws IOException, InterruptedException {
    Path output = Files.createTempFile("output", ".txt");
    Process process;
    try {
      process = command.redirectErrorStream(true).redirectOutput(output.toFile()).start();
    } catch (IOException e) {
      return new Ended(127, e.toString());
    }
    try {
      assertThat(process.waitFor(5, TimeUnit.MINUTES)).as("%s", command.command()).isTrue();
      return new Ended(process.exitValue(), new String(Files.readAllBytes(output), UTF_8));
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
      Files.delete(output);
    }
  }

  /** What a command prints, which succeeds. */
  public static String output(ProcessBuilder command) throws IOException, InterruptedException {
    Ended ended = run(command);
    assertThat(ended.code).as(ended.output).isZero();
    return ended.output;
  }

  /**
   * The output of a main class that runs simulations into a folder, with the jar that is installed
   * in place of our classes. Gatling's web page and newest version are not asked for.
   */
  public static List<String> runFromJar(Class<?> main, Path folder)
      throws IOException, InterruptedException {
    List<String> options =
        List.of(
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "-Dgatling.http.warmUpUrl=",
            "-Dgatling.data.enableAnalytics=false",
            "-Dhttps.proxyHost=127.0.0.1",
            "-Dhttps.proxyPort=1");
    List<String> command = of(options, main, folder);
    command.set(command.indexOf("-cp") + 1, MavenProject.jar() + ":" + classPath());
    ProcessBuilder builder = new ProcessBuilder(command);
    GatlingRun.removeForeign(builder.environment());
    return run(builder).lines();
  }
}
