package io.github.gatlingllm.simulations.cli;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * A simulation in a file of Java source, e.g. from a ConfigMap of Kubernetes. It is compiled before
 * the run, with the class path of this process and the other sources of its folder.
 */
final class SimulationSource {

  private static final String ENDING = ".java";

  private SimulationSource() {}

  static boolean isSourceFile(String simulation) {
    return simulation.endsWith(ENDING);
  }

  static String compile(Path source, Path folder) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    if (compiler == null) {
      throw new IllegalArgumentException(
          "--simulation " + source + ": this JVM has no compiler; use a JDK, or give a class");
    }
    if (!Files.isReadable(source)) {
      throw new IllegalArgumentException("--simulation " + source + ": there is no such file");
    }
    List<String> options =
        List.of(
            "-d",
            folder.toString(),
            "-cp",
            System.getProperty("java.class.path"),
            "-sourcepath",
            Objects.requireNonNull(source.toAbsolutePath().getParent()).toString(),
            "-proc:none",
            "-nowarn",
            "-encoding",
            "UTF-8");
    StringWriter messages = new StringWriter();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, Locale.ROOT, null)) {
      boolean isCompiled =
          compiler
              .getTask(messages, files, null, options, null, files.getJavaFileObjects(source))
              .call();
      if (!isCompiled) {
        throw new IllegalArgumentException(messages.toString().strip());
      }
    }
    return className(source, folder);
  }

  private static String className(Path source, Path folder) throws IOException {
    String file = source.getFileName().toString().replace(ENDING, ".class");
    try (Stream<Path> classes = Files.walk(folder)) {
      return classes
          .filter(compiled -> compiled.endsWith(file))
          .map(compiled -> folder.relativize(compiled).toString())
          .map(path -> path.substring(0, path.length() - ".class".length()))
          .map(path -> path.replace(File.separatorChar, '.'))
          .findFirst()
          .orElseThrow(
              () ->
                  new IllegalArgumentException(
                      "--simulation " + source + " has no class of the file's name"));
    }
  }
}
