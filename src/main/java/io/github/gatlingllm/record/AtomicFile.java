package io.github.gatlingllm.record;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * Replaces files atomically, so that readers never see a part of one. A symbolic link in the place
 * of a file is replaced, never followed: in a folder that somebody else packed it may point
 * anywhere.
 */
public final class AtomicFile {

  private static final int MAX_JSON_BYTES = 16 << 20;

  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .build();

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

  /** Writes a Java record as JSON, with keys in snake case; creates missing directories. */
  static void writeJson(Object value, Path file) throws IOException {
    Files.createDirectories(file.toAbsolutePath().getParent());
    write(file.toAbsolutePath(), JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(value));
  }

  /**
   * Reads a file of that schema; empty if it does not exist. Unknown keys are skipped.
   *
   * @throws IOException with a one-line message
   */
  static <T> Optional<T> readJson(Path file, Class<T> type, String schema) throws IOException {
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw new IOException(file + " is not a file");
    }
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(MAX_JSON_BYTES + 1);
      if (bytes.length > MAX_JSON_BYTES) {
        throw new IOException(file + " is larger than " + (MAX_JSON_BYTES >> 20) + " MiB");
      }
      String found = JSON.readTree(bytes).path("schema").asText();
      if (!schema.equals(found)) {
        throw new IOException(file + " has schema '" + found + "'; expected " + schema);
      }
      return Optional.of(JSON.readValue(bytes, type));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (JsonProcessingException e) {
      String why = e.getOriginalMessage().replaceAll("\\s+", " ");
      throw new IOException(file + " is not understood: " + why, e);
    }
  }
}
