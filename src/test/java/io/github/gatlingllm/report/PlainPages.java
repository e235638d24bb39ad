package io.github.gatlingllm.report;

import io.github.gatlingllm.testing.GatlingRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Pages that Gatling itself wrote, made once per test run in a JVM of their own. */
final class PlainPages {

  private static @Nullable Path pages;

  private PlainPages() {}

  /** The directory of a finished run; not to be written to. */
  static synchronized Path pages() throws IOException, InterruptedException {
    if (pages == null) {
      GatlingRun run = GatlingRun.of(PlainHttpSimulation.class).reports().succeed();
      pages = run.directory();
    }
    return pages;
  }

  /** A copy of the run under {@code to}, free to be changed. */
  static Path copy(Path to) throws IOException, InterruptedException {
    Path from = pages();
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.sorted(Comparator.naturalOrder()).toList()) {
        Path copied = to.resolve(from.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(copied);
        } else {
          Files.copy(file, copied);
        }
      }
    }
    return to;
  }
}
