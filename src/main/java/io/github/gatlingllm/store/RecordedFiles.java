package io.github.gatlingllm.store;

import io.github.gatlingllm.record.RunFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Names of files as archives and object stores have them: which are those of a run's records, and
 * where they go on disk. Names may come from anywhere; none leads out of a folder.
 */
final class RecordedFiles {

  /** Of folders in each other. */
  static final int DEEPEST = 32;

  private static final int LONGEST = 4_096;

  private static final RunFiles ANY = new RunFiles(Path.of(""));

  /** The folder of records in a run's. */
  private static final String FOLDER = ANY.folder().toString();

  /** All that a report is made from. */
  private static final Set<String> NAMES =
      of(ANY).stream()
          .map(file -> file.getFileName().toString())
          .collect(Collectors.toUnmodifiableSet());

  private RecordedFiles() {}

  /** All that a run records, as far as it does; {@code run.json} last. */
  static List<Path> of(RunFiles run) {
    return List.of(run.requests(), run.arrivals(), run.generator(), run.server(), run.info());
  }

  /**
   * The path of such a file below a folder, {@code <run>/llm/requests.jsonl}.
   *
   * @param name with slashes
   * @return null for any other file
   * @throws IOException for a name that leads elsewhere, in a few words
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
      throw new IOException("'" + start(name) + "' lies more than 32 folders deep");
    }
    return Path.of(String.join("/", parts));
  }

  private static String start(String name) {
    return name.length() <= 80 ? name : name.substring(0, 80) + "…";
  }
}
