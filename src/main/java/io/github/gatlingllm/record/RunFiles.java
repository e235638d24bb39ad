package io.github.gatlingllm.record;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Paths of the files of a run, in its folder with Gatling's {@code index.html}. */
public record RunFiles(Path run) {

  public Path folder() {
    return run.resolve("llm");
  }

  public Path requests() {
    return folder().resolve("requests.jsonl");
  }

  /** Name of the setting that exports results, in {@link RunInfo#config}. */
  public static final String EXPORT = "export";

  /** The formats of other load generators that results are exported in. */
  public static final List<String> EXPORTS = List.of("benchmark-report", "vllm", "aiperf");

  private static final Pattern EXPORTED =
      Pattern.compile("(benchmark-report|vllm-bench|aiperf)-.*\\.(yaml|jsonl?)");

  /** The results in {@link #EXPORTS}, by name. */
  public List<Path> exported() throws IOException {
    try (Stream<Path> all = Files.list(folder())) {
      return all.filter(file -> EXPORTED.matcher(file.getFileName().toString()).matches())
          .sorted()
          .toList();
    }
  }

  private static final int MAX_JSON_BYTES = 16 << 20;

  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .build();

  /** The space for a short run and its pages, so that a disk that is full is noticed. */
  private static final int PROBE_BYTES = 3 << 20;

  /** Checks that the records can be read; the message of an exception is one line. */
  public void requireRequests() throws IOException {
    if (!Files.isRegularFile(requests())) {
      throw missing(requests());
    }
    if (!Files.isReadable(requests())) {
      throw new AccessDeniedException(requests().toString());
    }
  }

  public RunInfo requireInfo() throws IOException {
    return RunInfo.read(info()).orElseThrow(() -> missing(info()));
  }

  private static NoSuchFileException missing(Path file) {
    return new NoSuchFileException(
        file.toString(), null, "not there; expected the directory of a recorded run");
  }

  public static String reason(IOException failure) {
    if (failure instanceof FileSystemException file && file.getReason() != null) {
      return file.getReason();
    }
    if (failure instanceof NoSuchFileException) {
      return "no such file or folder";
    }
    if (failure instanceof AccessDeniedException) {
      return "no permission";
    }
    if (failure instanceof FileAlreadyExistsException) {
      return "a file of that name exists";
    }
    boolean isNamed = failure instanceof FileSystemException;
    return isNamed || failure.getMessage() == null
        ? "the file system refuses it"
        : failure.getMessage();
  }

  /** The message of a failure, with its reason where the JDK names only the file. */
  public static String message(Throwable failure) {
    if (failure instanceof UncheckedIOException unchecked) {
      return message(Objects.requireNonNull(unchecked.getCause()));
    }
    return failure instanceof FileSystemException file && file.getReason() == null
        ? file.getFile() + ": " + reason(file)
        : String.valueOf(failure.getMessage());
  }

  /**
   * Creates a folder, and writes and deletes a file in it.
   *
   * @throws IOException if that fails; the message is one line
   */
  public static void requireWritable(Path folder) throws IOException {
    try {
      Files.createDirectories(folder);
      Path probe = Files.createTempFile(folder, "write-test-", ".tmp");
      try {
        Files.write(probe, new byte[PROBE_BYTES]);
      } finally {
        Files.deleteIfExists(probe);
      }
    } catch (AccessDeniedException e) {
      throw new IOException(
          "no permission for user %s: chown the folder (on Kubernetes by an init container, as hostPath, NFS and many CSI drivers ignore fsGroup)"
              .formatted(user()),
          e);
    } catch (IOException e) {
      throw new IOException(reason(e), e);
    }
  }

  /** The number of the user where the system reports it, as a container may have no names. */
  private static String user() {
    try {
      return Files.getAttribute(Path.of("/proc/self"), "unix:uid").toString();
    } catch (IOException | RuntimeException e) {
      return System.getProperty("user.name");
    }
  }

  /** Opens a regular file; another one, such as a pipe, might never end. */
  static InputStream open(Path file) throws IOException {
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw new FileSystemException(file.toString(), null, "not a file");
    }
    return Files.newInputStream(file);
  }

  /** The text of a resource beside a class. */
  public static String resource(Class<?> of, String name) {
    try (InputStream in = of.getResourceAsStream(name)) {
      return new String(Objects.requireNonNull(in, name).readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static void delete(Path folder) throws IOException {
    List<Path> all;
    try (Stream<Path> paths = Files.walk(folder)) {
      all = paths.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path path : all) {
      Files.delete(path);
    }
  }

  public Path csv() {
    return folder().resolve("requests.csv");
  }

  /** One line per planned arrival. */
  public Path arrivals() {
    return folder().resolve("arrivals.jsonl");
  }

  /** One line per second: health of the load generator. */
  public Path generator() {
    return folder().resolve("generator.jsonl");
  }

  /** The server's own metrics, one line per page and second. */
  public Path server() {
    return folder().resolve("server.jsonl");
  }

  public Path info() {
    return folder().resolve("run.json");
  }

  /** The files that reports are made from; some may not exist. */
  public List<Path> records() {
    return List.of(requests(), arrivals(), generator(), server(), info());
  }

  public Path summaryJson() {
    return folder().resolve("summary.json");
  }

  /** The main figures as Markdown, for issues and chats. */
  public Path summaryMarkdown() {
    return folder().resolve("summary.md");
  }

  /** One test case per assertion, for CI servers. */
  public Path junit() {
    return folder().resolve("junit.xml");
  }

  public Path page() {
    return run.resolve("llm.html");
  }

  public static void write(Path file, String text) throws IOException {
    write(file, text.getBytes(UTF_8));
  }

  public static void write(Path file, byte[] content) throws IOException {
    write(file, out -> out.write(content));
  }

  /**
   * Replaces a file atomically, so that readers never see a part of one: writes to a file beside
   * it, and moves that into its place. A symbolic link there is replaced, never followed: in a
   * folder of another origin it may point anywhere.
   */
  public static void write(Path file, Content content) throws IOException {
    Path draft = draftOf(file);
    try {
      try (OutputStream out = new BufferedOutputStream(create(draft), 1 << 16)) {
        content.to(out);
      }
      move(draft, file);
    } finally {
      Files.deleteIfExists(draft);
    }
  }

  static Path draftOf(Path file) {
    return file.resolveSibling(file.getFileName() + ".part");
  }

  static OutputStream create(Path draft) throws IOException {
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

  /** Reads a file of that schema; empty if it does not exist. Messages are one line. */
  static <T> Optional<T> readJson(Path file, Class<T> type, String schema) throws IOException {
    try (InputStream in = open(file)) {
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

  /** What is written to a file. */
  @FunctionalInterface
  public interface Content {
    void to(OutputStream out) throws IOException;
  }
}
