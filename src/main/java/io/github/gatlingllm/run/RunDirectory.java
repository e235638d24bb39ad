package io.github.gatlingllm.run;

import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.StartCommand;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The directory to which Gatling writes this run, found by reflection, open files, the command line
 * or a search, as Gatling has no API for it; one of our own where it writes no {@code
 * simulation.log}.
 */
record RunDirectory(String simulation, String id, Path path) {

  private static final Path DEFAULT_ROOT = Path.of("results");
  private static final DateTimeFormatter TIME_OF_ID =
      DateTimeFormatter.ofPattern("yyyyMMddHHmmssSSS", Locale.ROOT);
  static final String LOG = "simulation.log";
  private static final int DEPTH = 6;
  private static final int SEARCH_DEPTH = 5;
  private static final String LAUNCHER = "io.gatling.app.Gatling";

  /** Finds the directory of this run, or creates one and prints its path. */
  static RunDirectory of(Object statsEngine) {
    Object runMessage = find(statsEngine).orElse(null);
    if (runMessage == null) {
      RunDirectory own = own(command(), LocalDateTime.now(ZoneOffset.UTC));
      PrintableText.print(
          "LLM: Gatling writes no simulation.log here; records and report go to " + own.path);
      return own;
    }
    String id = text(runMessage, "runId");
    return new RunDirectory(
        text(runMessage, "simulationClassName"), id, directory(id).toAbsolutePath());
  }

  /** A new directory in the results folder, or in the folder for temporary files if that fails. */
  static RunDirectory own(String[] command, LocalDateTime now) {
    String simulation = value(command, "-s", "--simulation").orElse("Simulation");
    String id =
        simulation.substring(simulation.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT)
            + "-"
            + now.format(TIME_OF_ID);
    Path path = root(command).orElse(DEFAULT_ROOT).resolve(id).toAbsolutePath();
    try {
      Files.createDirectories(path);
    } catch (IOException e) {
      path = Path.of(System.getProperty("java.io.tmpdir")).resolve(id).toAbsolutePath();
    }
    return new RunDirectory(simulation, id, path);
  }

  /** As {@link #checkRoot(Path)}; returns whether this process was given Gatling's arguments. */
  static boolean checkRoot() {
    String[] command = command();
    boolean isGatling =
        command[0].equals(LAUNCHER) || value(command, "-s", "--simulation").isPresent();
    if (isGatling) {
      checkRoot(root(command).orElse(DEFAULT_ROOT));
    }
    return isGatling;
  }

  /**
   * Creates the results folder, and writes and deletes a file in it.
   *
   * @throws IllegalArgumentException if that fails; the message is one line
   */
  static void checkRoot(Path root) {
    try {
      RunFiles.requireWritable(root);
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "results folder %s cannot be written: %s; name another one with %s"
              .formatted(root.toAbsolutePath(), e.getMessage(), StartCommand.resultsOption()),
          e);
    }
  }

  private static String text(Object runMessage, String accessor) {
    try {
      return (String) runMessage.getClass().getMethod(accessor).invoke(runMessage);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("Gatling's RunMessage has no " + accessor, e);
    }
  }

  /** Searches private fields of Gatling's objects for a {@code RunMessage}, breadth first. */
  private static Optional<Object> find(Object root) {
    record Step(Object object, int depth) {}
    Deque<Step> open = new ArrayDeque<>(List.of(new Step(root, 0)));
    while (!open.isEmpty()) {
      Step step = open.poll();
      if (step.object.getClass().getSimpleName().equals("RunMessage")) {
        return Optional.of(step.object);
      }
      if (step.depth < DEPTH) {
        parts(step.object).forEach(part -> open.add(new Step(part, step.depth + 1)));
      }
    }
    return Optional.empty();
  }

  private static List<Object> parts(Object object) {
    if (object instanceof scala.collection.Iterable<?> many) {
      return List.copyOf(scala.jdk.javaapi.CollectionConverters.asJavaCollection(many));
    }
    if (!object.getClass().getName().startsWith("io.gatling.core")) {
      return List.of();
    }
    return Arrays.stream(object.getClass().getDeclaredFields())
        .filter(field -> mayContainRunMessage(field.getType()))
        .map(field -> value(field, object))
        .flatMap(Optional::stream)
        .toList();
  }

  private static boolean mayContainRunMessage(Class<?> type) {
    return type.getName().startsWith("io.gatling.core.stats")
        || type.getName().startsWith("io.gatling.core.actor")
        || scala.collection.Iterable.class.isAssignableFrom(type);
  }

  private static Optional<Object> value(Field field, Object object) {
    try {
      field.setAccessible(true);
      return Optional.ofNullable(field.get(object));
    } catch (ReflectiveOperationException | RuntimeException e) {
      return Optional.empty();
    }
  }

  private static Path directory(String id) {
    return opened(Path.of("/proc/self/fd"), id)
        .or(() -> root(command()).map(root -> root.resolve(id)))
        .or(() -> searched(Path.of(""), id))
        .orElse(DEFAULT_ROOT.resolve(id));
  }

  private static String[] command() {
    return System.getProperty("sun.java.command", "").split(" ", -1);
  }

  static Optional<Path> opened(Path links, String id) {
    try (Stream<Path> all = Files.list(links)) {
      return all.map(RunDirectory::target)
          .flatMap(Optional::stream)
          .filter(file -> file.endsWith(Path.of(id, LOG)))
          .map(Path::getParent)
          .findFirst();
    } catch (IOException | UncheckedIOException e) {
      return Optional.empty();
    }
  }

  private static Optional<Path> target(Path link) {
    try {
      return Optional.of(Files.readSymbolicLink(link));
    } catch (IOException e) {
      return Optional.empty(); // the file was closed meanwhile
    }
  }

  /** Searches for the run below a folder, deep enough for Maven, Gradle and sbt. */
  static Optional<Path> searched(Path folder, String id) {
    try (Stream<Path> all =
        Files.find(folder, SEARCH_DEPTH, (path, a) -> path.endsWith(Path.of(id, LOG)))) {
      return all.map(Path::getParent).findFirst();
    } catch (IOException | UncheckedIOException e) {
      return Optional.empty();
    }
  }

  static Optional<Path> root(String[] arguments) {
    return value(arguments, "-rf", "--results-folder").map(Path::of);
  }

  /** The value of an option; joins the parts of a value that was split at spaces. */
  private static Optional<String> value(String[] arguments, String option, String longOption) {
    for (int i = 0; i + 1 < arguments.length; i++) {
      if (arguments[i].equals(option) || arguments[i].equals(longOption)) {
        StringBuilder value = new StringBuilder(arguments[i + 1]);
        for (int j = i + 2; j < arguments.length && !arguments[j].startsWith("-"); j++) {
          value.append(' ').append(arguments[j]);
        }
        return Optional.of(value.toString());
      }
    }
    return Optional.empty();
  }
}
