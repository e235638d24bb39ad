package io.github.gatlingllm.load;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.CsvRows;
import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;

/**
 * A UTF-8 file of a workload, found by its name in the file system, else on the class path, as
 * Gatling's resources are, or downloaded from its address ({@link Download}). Messages name the
 * file and the line of a mistake.
 *
 * @param path its content, unpacked
 * @param original the file as it was found
 */
public record DataFile(String name, Path path, Path original) {

  private static final int MIB = 1 << 20;

  /** Longest text of JSON: larger than Jackson's own limit, as a text may be a complete book. */
  private static final int MAX_TEXT = 64 * MIB;

  /** Largest file that is read into memory. */
  private static final long MAX_IN_MEMORY = 512L * MIB;

  private static final Pattern JSON_NAME =
      Pattern.compile(".*\\.(json|jsonl|ndjson)(\\.gz)?", Pattern.CASE_INSENSITIVE);

  private static final long MAX_UNPACKED = 16_384L * MIB;

  private static final ObjectMapper JSON =
      new ObjectMapper(
          JsonFactory.builder()
              .streamReadConstraints(
                  StreamReadConstraints.builder().maxStringLength(MAX_TEXT).build())
              .build());

  /** The folder of downloads, and of what else a later run can use again. */
  public static Path cache() {
    return Download.cache();
  }

  /** The file, or a copy that is deleted at the end if it is in a jar or compressed. */
  public static DataFile of(String location) {
    return of(location, System.getenv());
  }

  /** A file of a model on Hugging Face's Hub; {@code revision} is null for the newest. */
  public static DataFile ofModel(
      String model, @Nullable String revision, String file, Map<String, String> environment) {
    String at = Hub.of(environment).model(model, revision == null ? Hub.MAIN : revision, file);
    return of(at, environment);
  }

  /** The JSON files of a folder by their names, else the one file that is found by the name. */
  public static List<DataFile> all(String location) {
    Path folder = Download.isOne(location) ? null : folder(location);
    if (folder == null) {
      return List.of(of(location));
    }
    try (Stream<Path> files = Files.list(folder)) {
      List<DataFile> all =
          files
              .filter(Files::isRegularFile)
              .filter(file -> JSON_NAME.matcher(file.getFileName().toString()).matches())
              .filter(file -> !file.getFileName().toString().startsWith("."))
              .sorted()
              .map(file -> of(file.toString()))
              .toList();
      if (all.isEmpty()) {
        throw new IllegalArgumentException(
            "folder '%s' has no file; expected *.json, *.jsonl, *.ndjson or these with .gz"
                .formatted(location));
      }
      return all;
    } catch (IOException e) {
      throw unreadable(location, e);
    }
  }

  private static @Nullable Path folder(String location) {
    try {
      Path path = Path.of(location);
      return Files.isDirectory(path) ? path : null;
    } catch (InvalidPathException e) {
      return null; // it may still be the name of a resource
    }
  }

  private static DataFile of(String location, Map<String, String> environment) {
    try {
      Path file = found(location, environment);
      String name =
          Download.isOne(location)
              ? file.getFileName().toString()
              : location.substring(location.lastIndexOf('/') + 1);
      Path content = name.toLowerCase(Locale.ROOT).endsWith(".gz") ? unpacked(name, file) : file;
      KnownForm.requireText(name, content);
      return new DataFile(name, content, file);
    } catch (ZipException e) {
      throw new IllegalArgumentException(
          location + " is not a gzip file (" + e.getMessage() + "); unpack it or drop the .gz", e);
    } catch (IOException e) {
      throw unreadable(location, e);
    }
  }

  private static Path found(String location, Map<String, String> environment) throws IOException {
    if (Download.isOne(location)) {
      return Download.file(location, Download.cache(), Hub.of(environment));
    }
    try {
      Path path = Path.of(location);
      if (Files.isRegularFile(path)) {
        return path;
      }
      if (Files.isDirectory(path)) {
        throw new IllegalArgumentException("'" + location + "' is a directory; expected a file");
      }
      if (Files.exists(path)) {
        throw new IllegalArgumentException(
            "'" + location + "' is a device or a pipe; write its content to a file");
      }
    } catch (InvalidPathException e) {
      // It may still be the name of a resource.
    }
    ClassLoader loader =
        Objects.requireNonNullElse(
            Thread.currentThread().getContextClassLoader(), DataFile.class.getClassLoader());
    URL resource = loader.getResource(location);
    if (resource == null) {
      throw new IllegalArgumentException(
          location + ": no such file, neither in the file system nor on the class path");
    }
    if (resource.getProtocol().equals("file")) {
      try {
        return Path.of(resource.toURI());
      } catch (URISyntaxException e) {
        throw new IOException(e.getMessage(), e);
      }
    }
    try (InputStream in = resource.openStream()) {
      return copied(in);
    }
  }

  private static Path unpacked(String location, Path file) throws IOException {
    try (InputStream in = new GZIPInputStream(Files.newInputStream(file), 1 << 16)) {
      return copied(in);
    } catch (EOFException e) {
      throw new IOException(location + " ends before its gzip data does", e);
    }
  }

  private static Path copied(InputStream in) throws IOException {
    Path copy = Files.createTempFile("gatling-llm-", ".data");
    copy.toFile().deleteOnExit();
    try (OutputStream out = Files.newOutputStream(copy)) {
      byte[] part = new byte[1 << 16];
      long total = 0;
      for (int n = in.read(part); n >= 0; n = in.read(part)) {
        total += n;
        requireMax(MAX_UNPACKED, total, "unpacked");
        out.write(part, 0, n);
      }
    }
    return copy;
  }

  private static void requireMax(long limit, long length, String what) throws IOException {
    if (length > limit) {
      throw new IOException(
          "it is longer than %s MB %s; split it".formatted(NumberText.count(limit / MIB), what));
    }
  }

  private static IllegalArgumentException unreadable(String name, IOException cause) {
    return new IllegalArgumentException(
        name + " cannot be read (" + cause.getMessage() + "); expected a readable file", cause);
  }

  /** Opens its text, without the byte order mark that spreadsheets write. */
  private BufferedReader open() throws IOException {
    BufferedReader text = Files.newBufferedReader(path);
    text.mark(1);
    if (text.read() != '\ufeff') {
      text.reset();
    }
    return text;
  }

  /** The SHA-256 of the file as it was found, in hexadecimal digits. */
  public String sha256() {
    return reading(() -> Download.sha256(original));
  }

  /** The SHA-256 of a text in UTF-8, in hexadecimal digits. */
  public static String sha256(String text) {
    return HexFormat.of().formatHex(Download.digest().digest(text.getBytes(UTF_8)));
  }

  private interface Reading<T> {
    T read() throws IOException;
  }

  private <T> T reading(Reading<T> reading) {
    try {
      return reading.read();
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException(name + " is not UTF-8 text; save it as UTF-8", e);
    } catch (IOException e) {
      throw unreadable(name, e);
    }
  }

  private IllegalArgumentException bad(int line, String what) {
    return new IllegalArgumentException(name + ":" + line + ": " + what);
  }

  /** This file, if it may be read into memory; larger ones can only be visited. */
  public DataFile held() {
    return reading(
        () -> {
          requireMax(MAX_IN_MEMORY, Files.size(path), "in memory");
          return this;
        });
  }

  public byte[] bytes() {
    held();
    return reading(() -> Files.readAllBytes(path));
  }

  /** All lines that are not blank. */
  public List<String> lines() {
    held();
    return reading(
        () -> {
          List<String> lines = new ArrayList<>();
          try (BufferedReader text = open()) {
            for (String line = text.readLine(); line != null; line = text.readLine()) {
              lines.add(line);
            }
          }
          lines.removeIf(String::isBlank);
          return lines;
        });
  }

  /** Visits the rows of CSV by RFC 4180: commas, double quotes, line breaks inside quotes. */
  public void rows(Consumer<List<String>> visitor) {
    reading(
        () -> {
          try (BufferedReader text = open()) {
            CsvRows.visit(name, text, MAX_TEXT, (cells, line) -> visitRow(line, cells, visitor));
            return name;
          }
        });
  }

  public boolean isNamedJson() {
    return JSON_NAME.matcher(name).matches();
  }

  public boolean isCsv() {
    return name.toLowerCase(Locale.ROOT).matches(".*\\.csv(\\.gz)?");
  }

  /**
   * Visits the rows of CSV as cells by the names in the first row, in lower case.
   *
   * @param required one of these names
   * @param mayLackNames whether a single column may begin with a value
   */
  public void cells(String required, boolean mayLackNames, Consumer<Map<String, String>> visitor) {
    List<String> names = new ArrayList<>();
    rows(
        row -> {
          if (names.isEmpty()) {
            row.forEach(name -> names.add(name.strip().toLowerCase(Locale.ROOT)));
            if (names.contains(required)) {
              return;
            }
            if (!mayLackNames || row.size() > 1) {
              throw new IllegalArgumentException(
                  "expected a column named "
                      + required
                      + (mayLackNames ? ", or a single column" : ""));
            }
            names.set(0, required);
          }
          if (row.size() != names.size()) {
            throw new IllegalArgumentException(
                "has " + row.size() + " columns, the first row has " + names.size());
          }
          Map<String, String> cells = new HashMap<>();
          for (int i = 0; i < row.size(); i++) {
            cells.putIfAbsent(names.get(i), row.get(i));
          }
          visitor.accept(cells);
        });
  }

  private void visitRow(int line, List<String> cells, Consumer<List<String>> visitor) {
    try {
      visitor.accept(cells);
    } catch (IllegalArgumentException e) {
      throw bad(line, String.valueOf(e.getMessage()));
    }
  }

  /** Receives the next entry with its position in bytes; throws for another format. */
  @FunctionalInterface
  public interface EntryVisitor {
    void visit(JsonNode entry, long start, int length);

    /**
     * The array of an entry whose elements come one by one, before the entry, which then lacks it:
     * so it may be longer than memory; null for none.
     */
    default @Nullable String parts() {
      return null;
    }

    /** Receives the next element of that array. */
    default void visitPart(JsonNode part) {}
  }

  public boolean isJson() {
    return reading(
        () -> {
          try (JsonParser parser = JSON.createParser(path.toFile())) {
            JsonToken first = parser.nextToken();
            return first == JsonToken.START_OBJECT || first == JsonToken.START_ARRAY;
          } catch (JsonProcessingException e) {
            return false;
          }
        });
  }

  /**
   * Visits the entries of a JSON array or of JSON lines of any size, one at a time.
   *
   * @param reader the setting, which a file of another form is refused for
   */
  public void entries(String reader, EntryVisitor visitor) {
    reading(
        () -> {
          try (JsonParser parser = JSON.createParser(path.toFile())) {
            visitEntries(parser, reader, visitor);
            return name;
          }
        });
  }

  private void visitEntries(JsonParser parser, String reader, EntryVisitor visitor)
      throws IOException {
    long number = 1;
    int[] line = {1};
    JsonNode entry = JSON.missingNode();
    try {
      boolean array = parser.nextToken() == JsonToken.START_ARRAY;
      if (array) {
        parser.nextToken();
      }
      while (parser.currentToken() != null && parser.currentToken() != JsonToken.END_ARRAY) {
        line[0] = parser.currentTokenLocation().getLineNr();
        long start = parser.currentTokenLocation().getByteOffset();
        entry = JSON.missingNode();
        entry = read(parser, visitor, line);
        long length = parser.currentLocation().getByteOffset() - start;
        if (length > Integer.MAX_VALUE - 8) {
          throw new IllegalArgumentException("is longer than 2 GB; split it");
        }
        visitor.visit(entry, start, (int) length);
        number++;
        parser.nextToken();
      }
      if (array && parser.nextToken() != null) {
        line[0] = parser.currentTokenLocation().getLineNr();
        throw new IllegalArgumentException("the array has ended; expected nothing after it");
      }
    } catch (StreamConstraintsException e) {
      throw bad(
          line[0],
          "entry %s: a text, number or nesting in it exceeds the limits (%s MB per text); split it"
              .formatted(number, NumberText.count(MAX_TEXT / MIB)));
    } catch (JsonProcessingException e) {
      int at = e.getLocation() == null ? line[0] : e.getLocation().getLineNr();
      String what = "not valid JSON (" + first(e.getOriginalMessage()) + "); mend or remove it";
      throw bad(at, "entry " + number + ": " + what);
    } catch (IllegalArgumentException e) {
      String what = KnownForm.mistake(entry, reader, String.valueOf(e.getMessage()));
      throw bad(line[0], "entry " + number + ": " + what);
    }
  }

  private static JsonNode read(JsonParser parser, EntryVisitor visitor, int[] line)
      throws IOException {
    String parts = visitor.parts();
    if (parts == null || parser.currentToken() != JsonToken.START_OBJECT) {
      return JSON.readTree(parser);
    }
    int first = line[0];
    ObjectNode entry = JSON.createObjectNode();
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String name = parser.currentName();
      if (parser.nextToken() != JsonToken.START_ARRAY || !name.equals(parts)) {
        entry.set(name, JSON.<JsonNode>readTree(parser));
        continue;
      }
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        line[0] = parser.currentTokenLocation().getLineNr();
        visitor.visitPart(JSON.readTree(parser));
      }
      entry.putArray(name);
    }
    line[0] = first;
    return entry;
  }

  /** A value as a message quotes it. */
  public static String clipped(Object value) {
    String text = value.toString();
    return text.length() <= 40 ? text : text.substring(0, 39) + "…";
  }

  /** The first line of Jackson's message, without its own position of the error. */
  private static String first(String message) {
    String line = message.lines().findFirst().orElse("").replaceFirst(" \\(start marker.*", "");
    return line.length() <= 80 ? line : line.substring(0, 79) + "…";
  }

  /** A mistake of the entry that begins at this position. */
  public IllegalArgumentException bad(long start, String what) {
    return reading(
        () -> {
          try (InputStream bytes = new BufferedInputStream(Files.newInputStream(path))) {
            int line = 1;
            for (long at = 0; at < start; at++) {
              line += bytes.read() == '\n' ? 1 : 0;
            }
            return bad(line, what);
          }
        });
  }

  public JsonNode entry(long start, int length) {
    try (FileChannel file = FileChannel.open(path)) {
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
}
