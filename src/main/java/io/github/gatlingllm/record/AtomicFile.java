package io.github.gatlingllm.record;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * Replaces files atomically. A symbolic link in the place of a file is replaced, never followed: in
 * a folder that somebody else packed it may point anywhere.
 */
public final class AtomicFile {

  private AtomicFile() {}

  /** Writes a text as UTF-8. */
  public static void write(Path file, String text) throws IOException {
    write(file, text.getBytes(UTF_8));
  }

  /** Writes to a file beside it, and moves that into its place. */
  public static void write(Path file, byte[] content) throws IOException {
    Path draft = draftOf(file);
    try {
      try (OutputStream out = open(draft)) {
        out.write(content);
      }
      move(draft, file);
    } finally {
      Files.deleteIfExists(draft);
    }
  }

  /** The file beside it that is written first. */
  static Path draftOf(Path file) {
    return file.resolveSibling(file.getFileName() + ".part");
  }

  static OutputStream open(Path draft) throws IOException {
    Files.deleteIfExists(draft);
    return Files.newOutputStream(draft, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
  }

  static void move(Path draft, Path file) throws IOException {
    Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
