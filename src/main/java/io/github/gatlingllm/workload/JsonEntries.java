package io.github.gatlingllm.workload;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The entries of a JSON array or of JSON lines of any size, read one at a time by position. */
final class JsonEntries implements AutoCloseable {

  /** Without Jackson's limit of string lengths, as a text may be a whole book. */
  private static final ObjectMapper JSON =
      new ObjectMapper(
          JsonFactory.builder()
              .streamReadConstraints(
                  StreamReadConstraints.builder().maxStringLength(Integer.MAX_VALUE).build())
              .build());

  private final String name;
  private final FileChannel file;

  private JsonEntries(String name, FileChannel file) {
    this.name = name;
    this.file = file;
  }

  interface Visitor {
    /** Receives the next entry with its position in bytes; throws for another format. */
    void visit(JsonNode entry, long start, int length);
  }

  static JsonEntries open(String name, Path file) throws IOException {
    return new JsonEntries(name, FileChannel.open(file, StandardOpenOption.READ));
  }

  /** Visits all entries in order; throws with file and line for the first that is wrong. */
  static void visitAll(String name, Path path, Visitor visitor) throws IOException {
    long entries = 0;
    int line = 1;
    try (JsonParser parser = JSON.createParser(path.toFile())) {
      boolean array = parser.nextToken() == JsonToken.START_ARRAY;
      if (array) {
        parser.nextToken();
      }
      while (parser.currentToken() != null && parser.currentToken() != JsonToken.END_ARRAY) {
        line = parser.currentTokenLocation().getLineNr();
        long start = parser.currentTokenLocation().getByteOffset();
        JsonNode entry = JSON.readTree(parser);
        long length = parser.currentLocation().getByteOffset() - start;
        if (length > Integer.MAX_VALUE - 8) {
          throw bad(name, line, entries, "is longer than 2 GB; split it");
        }
        try {
          visitor.visit(entry, start, (int) length);
        } catch (IllegalArgumentException e) {
          throw bad(name, line, entries, String.valueOf(e.getMessage()));
        }
        entries++;
        parser.nextToken();
      }
      if (array && parser.nextToken() != null) {
        throw bad(
            name,
            parser.currentTokenLocation().getLineNr(),
            entries,
            "the array has ended; expected nothing after it");
      }
    } catch (JsonProcessingException e) {
      int at = e.getLocation() == null ? line : e.getLocation().getLineNr();
      throw bad(
          name,
          at,
          entries,
          "not valid JSON (" + first(e.getOriginalMessage()) + "); mend or remove it");
    }
  }

  private static IllegalArgumentException bad(String name, int line, long entry, String what) {
    return new IllegalArgumentException(name + ":" + line + ": entry " + (entry + 1) + ": " + what);
  }

  /** The first line of Jackson's message, without its own position of the error. */
  private static String first(String message) {
    String line = message.lines().findFirst().orElse("").replaceFirst(" \\(start marker.*", "");
    return line.length() <= 80 ? line : line.substring(0, 79) + "…";
  }

  JsonNode read(long start, int length) {
    try {
      ByteBuffer bytes = ByteBuffer.allocate(length);
      while (bytes.hasRemaining()) {
        if (file.read(bytes, start + bytes.position()) < 0) {
          throw new IOException("it is shorter now");
        }
      }
      return JSON.readTree(bytes.array());
    } catch (IOException e) {
      throw new IllegalStateException(
          name + " has changed since it was opened (" + first(String.valueOf(e.getMessage())) + ")",
          e);
    }
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
