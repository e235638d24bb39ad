package io.github.gatlingllm.simulations.cli;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/** A simulation in a file of Java source, compiled with the other sources of its folder. */
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
    ByteArrayOutputStream messages = new ByteArrayOutputStream();
    int failure =
        compiler.run(
            null,
            messages,
            messages,
            "-d",
            folder.toString(),
            "-cp",
            System.getProperty("java.class.path"),
            "-sourcepath",
            Objects.requireNonNull(source.toAbsolutePath().getParent()).toString(),
            "-proc:none",
            "-nowarn",
            "-encoding",
            "UTF-8",
            source.toString());
    if (failure != 0) {
      throw new IllegalArgumentException(messages.toString(Charset.defaultCharset()).strip());
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
