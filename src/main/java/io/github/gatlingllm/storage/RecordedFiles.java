package io.github.gatlingllm.storage;

import io.github.gatlingllm.record.RunFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Selects the files of a run's records by their names in archives and object stores, and maps them
 * to paths. The names are untrusted: those that lead out of the folder are refused.
 */
final class RecordedFiles {

  /** Most levels of folders. */
  static final int DEEPEST = 32;

  private static final int LONGEST = 4_096;

  private static final RunFiles ANY = new RunFiles(Path.of(""));

  /** The name of the folder of records in a run's folder. */
  private static final String FOLDER = ANY.folder().toString();

  /** Names of the files that reports are made from. */
  private static final Set<String> NAMES =
      of(ANY).stream()
          .map(file -> file.getFileName().toString())
          .collect(Collectors.toUnmodifiableSet());

  private RecordedFiles() {}

  /** The files that a run records, which may not all exist; {@code run.json} is the last one. */
  static List<Path> of(RunFiles run) {
    return List.of(run.requests(), run.arrivals(), run.generator(), run.server(), run.info());
  }

  /**
   * The relative path of a file of records, e.g. {@code <run>/llm/requests.jsonl}.
   *
   * @param name with slashes
   * @return null for any other file
   * @throws IOException with a short message, for a name that leads out of the folder
   */
  static @Nullable Path path(String name) throws IOException {
    List<String> parts = new ArrayList<>();
    for (String part : name.replace('\\', '/').split("/", -1)) {
      if (part.equals("..") || part.indexOf('\0') >= 0) {
        throw new IOException("'" + start(name) + "' leads out of it");
      }
      if (!part.isEmpty() && !part.equals(".")) {
        parts.add(part);
      }
    }
    int last = parts.size() - 1;
    if (last < 1 || !parts.get(last - 1).equals(FOLDER) || !NAMES.contains(parts.get(last))) {
      return null;
    }
    if (name.startsWith("/") || name.contains(":") || name.contains("\\")) {
      throw new IOException("'" + start(name) + "' is no name of a file in a folder");
    }
    if (parts.size() > DEEPEST || name.length() > LONGEST) {
      throw new IOException(
          "'" + start(name) + "' is too long; expected at most 32 folders and 4096 characters");
    }
    return Path.of(String.join("/", parts));
  }

  private static String start(String name) {
    return name.length() <= 80 ? name : name.substring(0, 80) + "…";
  }
}
