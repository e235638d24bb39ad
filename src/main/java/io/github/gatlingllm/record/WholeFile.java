package io.github.gatlingllm.record;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * Writes files whole or not at all, in place of what is there. A link at their place is replaced,
 * never followed: in a folder that somebody else packed it may lead anywhere.
 */
public final class WholeFile {

  private WholeFile() {}

  /** Writes a text as UTF-8. */
  public static void write(Path file, String text) throws IOException {
    write(file, text.getBytes(UTF_8));
  }

  /** Writes beside the file, and moves that into its place. */
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

  /** Where the content is gathered, beside the file. */
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
