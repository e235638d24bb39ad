package io.github.gatlingllm.simulations.cli;

import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.simulations.Benchmark;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The classes of a run, loaded and linked, in a file of the user: with it a start takes half the
 * CPU time. A short run in a separate process makes it, because a JVM that cannot write the file
 * ends with an error. From Java 25 on it is the JVM's ahead-of-time cache, which needs no archive
 * of the JVM's own classes, as not every runtime has one.
 *
 * @param jar the load generator
 * @param file of this jar and this JVM; empty where the JVM cannot make it; null without a jar
 */
record ClassCache(Path jar, @Nullable Path file) {

  /** Of an image, whose users may have no home. */
  static final String FOLDER = "gatlingllm.classes";

  /** The first Java version that makes an ahead-of-time cache in one step. */
  private static final int AHEAD_OF_TIME = 25;

  private static final boolean IS_AHEAD_OF_TIME = Runtime.version().feature() >= AHEAD_OF_TIME;
  private static final String USE = IS_AHEAD_OF_TIME ? "-XX:AOTCache=" : "-XX:SharedArchiveFile=";
  private static final String MAKE =
      IS_AHEAD_OF_TIME ? "-XX:AOTCacheOutput=" : "-XX:ArchiveClassesAtExit=";

  /** Otherwise a JVM that cannot use a cache prints so on the console. */
  private static final List<String> SILENT =
      IS_AHEAD_OF_TIME ? List.of("-Xlog:aot*=off", "-Xlog:cds*=off") : List.of("-Xlog:cds*=off");

  private static final Map<String, String> SHORT_RUN =
      Map.of(
          "concurrency", "2",
          "requests", "8",
          "maxTokens", "4",
          "jvmWarmUp", "false",
          "failOnInvalid", "false");

  /** Variables whose properties could be settings, too. */
  private static final Set<String> OPTIONS_OF_JVMS =
      Set.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS");

  private static final long MAX_SECONDS = 60;
  private static final long MIN_FREE_BYTES = 512L << 20;

  static ClassCache of(String classPath) {
    Path jar = Path.of(classPath.split(File.pathSeparator, -1)[0]).toAbsolutePath();
    String home = Path.of(System.getProperty("user.home"), ".gatling-llm", "classes").toString();
    try {
      if (jar.toString().endsWith(".jar") && Files.isRegularFile(jar)) {
        String name =
            "%s-%08x%s"
                .formatted(
                    prefix(jar),
                    Objects.hash(
                        Files.size(jar),
                        Files.getLastModifiedTime(jar)
                            .to(TimeUnit.SECONDS), // as layers of images have it
                        Runtime.version()),
                    IS_AHEAD_OF_TIME ? ".aot" : ".jsa");
        return new ClassCache(jar, Path.of(System.getProperty(FOLDER, home), name));
      }
    } catch (IOException e) {
      // As without a jar.
    }
    return new ClassCache(jar, null);
  }

  private static String prefix(Path jar) {
    return "%08x".formatted(Objects.hash(jar.toString(), System.getProperty("java.home")));
  }

  /** Options of a JVM that uses it. A JVM ignores a file that does not fit. */
  List<String> use() {
    if (file == null || !Files.isReadable(file) || file.toFile().length() == 0) {
      return List.of();
    }
    List<String> options = new ArrayList<>(SILENT);
    options.add(USE + file);
    return options;
  }

  /** Several processes may do so at the same time. Nothing else depends on its success. */
  void makeIfMissing() throws InterruptedException {
    if (file == null || Files.exists(file)) {
      return;
    }
    try {
      Path folder = Files.createDirectories(file.getParent());
      if (Files.getFileStore(folder).getUsableSpace() < MIN_FREE_BYTES) {
        return;
      }
      Path work = Files.createTempDirectory(folder, prefix(jar));
      try {
        Path made = work.resolve("classes");
        PrintableText.print("LLM: prepares faster starts, once for this jar and this Java");
        if (!succeeds(shortRun(work, made))) {
          Files.deleteIfExists(made); // it may be cut off by a full disk
        }
        if (Files.notExists(made)) { // an empty one, so that later runs do not try again
          Files.createFile(made);
        }
        Files.move(made, file, StandardCopyOption.ATOMIC_MOVE);
        deleteOthers(folder);
      } finally {
        RunFiles.delete(work);
      }
    } catch (IOException e) {
      // The next start takes as long as this one.
    }
  }

  private ProcessBuilder shortRun(Path work, Path made) throws IOException {
    List<String> command =
        new BenchmarkProcess(SHORT_RUN, work.toString(), List.of(), Benchmark.class.getName(), "")
            .command(work);
    command.addAll(1, SILENT);
    command.add(1, MAKE + made);
    command.set(command.indexOf("-cp") + 1, jar.toString());
    ProcessBuilder builder = new ProcessBuilder(command).directory(work.toFile());
    builder.environment().keySet().removeIf(BenchmarkProcess::isSetting);
    builder.environment().keySet().removeAll(OPTIONS_OF_JVMS);
    return builder.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD);
  }

  private static boolean succeeds(ProcessBuilder builder) throws IOException, InterruptedException {
    Process java = builder.start();
    Runtime.getRuntime().addShutdownHook(new Thread(java::destroyForcibly, "stop-short-run"));
    try {
      return java.waitFor(MAX_SECONDS, TimeUnit.SECONDS) && java.exitValue() == 0;
    } finally {
      java.destroyForcibly();
    }
  }

  /**
   * Those of the jar that was in this place before, and the remains of a process that was killed.
   */
  private void deleteOthers(Path folder) throws IOException {
    try (Stream<Path> all = Files.list(folder)) {
      for (Path other : all.filter(each -> !each.equals(file)).toList()) {
        if (other.getFileName().toString().startsWith(prefix(jar))) {
          RunFiles.delete(other);
        }
      }
    }
  }
}
