package io.github.gatlingllm.report;

import java.nio.file.Path;
import java.util.List;

/** What runs are called beside each other: by their directories' names where those differ. */
final class RunNames {

  private RunNames() {}

  static List<String> of(List<Path> runs) {
    List<String> names = runs.stream().map(run -> last(run)).toList();
    return names.stream().distinct().count() == names.size()
        ? names
        : runs.stream().map(Path::toString).toList();
  }

  private static String last(Path run) {
    Path name = run.toAbsolutePath().normalize().getFileName();
    return name == null ? run.toString() : name.toString();
  }
}
