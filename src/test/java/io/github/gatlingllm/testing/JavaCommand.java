package io.github.gatlingllm.testing;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

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

  /** What a command prints, which succeeds. */
  public static String output(ProcessBuilder command) throws IOException, InterruptedException {
    Process process = command.redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    return said;
  }

  /**
   * The output of a main class that runs simulations into a folder, with the jar that is installed
   * in place of our classes. Gatling's web page and newest version are not asked for.
   */
  public static List<String> runFromJar(Class<?> main, Path folder)
      throws IOException, InterruptedException {
    Path output = folder.resolve("output.txt");
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
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    GatlingRun.removeForeign(builder.environment());
    Process java = builder.redirectOutput(output.toFile()).start();
    try {
      assertThat(java.waitFor(300, TimeUnit.SECONDS)).as("ended; %s", output).isTrue();
    } finally {
      java.destroyForcibly();
    }
    return Files.readAllLines(output);
  }
}
