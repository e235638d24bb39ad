package io.github.gatlingllm.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A class data sharing archive of the jars, which halves the start time of runs of Gatling. The
 * first test that starts a run makes it, and makes it again when a jar has changed, as ours does in
 * each build; others wait for it, so that all runs have the same options. If it cannot be made,
 * JVMs start without it.
 */
final class SharedClasses {

  private static final List<String> FOLDERS = classPath(false);
  private static final List<String> JARS = classPath(true);

  /**
   * Classes to leave out: JDK 17 crashes on lambdas of Scala; proxies and event handlers have other
   * names each time.
   */
  private static final Pattern CANNOT_BE_SHARED =
      Pattern.compile("^@lambda-proxy|\\$Proxy\\d|/EventHandler\\d");

  private static final int MAX_SECONDS = 120;

  private SharedClasses() {}

  private static List<String> classPath(boolean jars) {
    return Stream.of(JavaCommand.classPath().split(File.pathSeparator))
        .filter(entry -> entry.endsWith(".jar") == jars)
        .toList();
  }

  /** The class path of this JVM, jars first: an archive is bound to it. */
  static String classPath() {
    return join(Stream.concat(JARS.stream(), FOLDERS.stream()).toList());
  }

  private static String join(List<String> entries) {
    return String.join(File.pathSeparator, entries);
  }

  /** A run that loads the classes of most runs. */
  @FunctionalInterface
  interface TypicalRun {
    void with(String jvmOption) throws IOException, InterruptedException;
  }

  /** Options of a JVM that starts with {@link #classPath()}. */
  static List<String> options(Path folder, TypicalRun run)
      throws IOException, InterruptedException {
    Path archive =
        folder.resolve(
            "classes-%s-%08x.jsa".formatted(System.getProperty("java.vm.version"), hashOfJars()));
    if (!Files.exists(archive)) {
      makeAlone(archive, run);
    }
    return Files.size(archive) == 0
        ? List.of()
        : List.of("-XX:SharedArchiveFile=" + archive.toAbsolutePath(), "-Xlog:cds=off");
  }

  /** Hash of the jars and their times, to which the JVM binds an archive. */
  private static int hashOfJars() throws IOException {
    int hash = 0;
    for (String jar : JARS) {
      hash = 31 * (31 * hash + jar.hashCode()) + Files.getLastModifiedTime(Path.of(jar)).hashCode();
    }
    return hash;
  }

  /** Makes it unless another JVM or thread has made it meanwhile. */
  private static synchronized void makeAlone(Path archive, TypicalRun run)
      throws IOException, InterruptedException {
    try (FileChannel file =
        FileChannel.open(
            Path.of(archive + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      file.lock(); // until it is closed
      if (!Files.exists(archive)) {
        removeOthers(archive);
        make(archive, run);
      }
    }
  }

  /** Deletes archives of earlier builds; a JVM that has one mapped keeps it. */
  private static void removeOthers(Path archive) throws IOException {
    try (Stream<Path> all = Files.list(archive.toAbsolutePath().getParent())) {
      for (Path other : all.filter(file -> file.toString().endsWith(".jsa")).toList()) {
        Files.delete(other);
      }
    }
  }

  /** Writes an empty file if the JVM cannot make an archive. */
  private static void make(Path archive, TypicalRun run) throws IOException, InterruptedException {
    Path classes = Path.of(archive + ".list");
    Path made = Path.of(archive + ".new");
    run.with("-XX:DumpLoadedClassList=" + classes);
    Files.write(
        classes,
        Files.readAllLines(classes, UTF_8).stream()
            .filter(line -> !CANNOT_BE_SHARED.matcher(line).find())
            .toList());
    Process dump =
        new ProcessBuilder(
                JavaCommand.JAVA,
                "-Xshare:dump",
                "-XX:TieredStopAtLevel=1",
                "-XX:SharedClassListFile=" + classes,
                "-XX:SharedArchiveFile=" + made,
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:-BytecodeVerificationRemote",
                "-XX:ErrorFile=" + archive + ".error",
                "-Xlog:disable",
                "-cp",
                join(JARS))
            .redirectErrorStream(true)
            .redirectOutput(Redirect.DISCARD)
            .start();
    boolean ended = dump.waitFor(MAX_SECONDS, TimeUnit.SECONDS);
    if (!ended || dump.exitValue() != 0) {
      dump.destroyForcibly();
      Files.write(made, new byte[0]);
    }
    Files.move(made, archive, StandardCopyOption.REPLACE_EXISTING);
  }
}
