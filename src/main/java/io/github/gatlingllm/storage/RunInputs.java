package io.github.gatlingllm.storage;

import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.storage.Bucket.Stored;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The folders of runs, given as folders, archives and places in object storage. Archives are
 * unpacked to a folder that {@link #close} deletes. Objects are downloaded to a folder that stays
 * until {@link #deleteDownloads}, so that a second attempt resumes.
 */
public final class RunInputs implements AutoCloseable {

  /** How many levels below a given folder runs are searched. */
  private static final int DEEPEST = 8;

  private final List<String> places;
  private final @Nullable Path cache;
  private final Consumer<String> say;
  private final List<Path> runs = new ArrayList<>();
  private final List<Path> temporary = new ArrayList<>();
  private final List<Downloads> downloads = new ArrayList<>();

  private RunInputs(List<String> places, @Nullable Path cache, Consumer<String> say) {
    this.places = List.copyOf(places);
    this.cache = cache;
    this.say = say;
  }

  /**
   * Finds, unpacks and downloads the runs.
   *
   * @param places each the folder of a run or of several runs; a {@code .tar.gz}, {@code .tgz} or
   *     {@code .zip} of such a folder; or {@code s3://bucket/prefix} with runs below it, or of an
   *     archive
   * @param cache folder for unpacked archives and downloads; null for the system's own
   * @param say receives lines for the console
   * @throws IOException with a one-line message, if a place cannot be read or has no run
   * @throws IllegalArgumentException with a one-line message, if a text is not a place
   */
  public static RunInputs open(List<String> places, @Nullable Path cache, Consumer<String> say)
      throws IOException {
    RunInputs inputs = new RunInputs(places, cache, say);
    boolean isOpen = false;
    try {
      for (String place : places) {
        inputs.add(place);
      }
      isOpen = true;
      return inputs;
    } finally {
      if (!isOpen) {
        inputs.close();
      }
    }
  }

  /**
   * Waits until these places have the ended runs of all injectors, at most for that time.
   *
   * @param places folders, or {@code s3://bucket/prefix}
   * @param expected number of injectors; null to take it from their runs
   * @param say receives lines for the console
   * @return number of injectors; null if not known
   * @throws IOException with a one-line message, if a place cannot be read at the first attempt
   * @throws IllegalArgumentException with a one-line message, if a text is not a place, or the
   *     number of injectors is not known
   */
  public static @Nullable Integer await(
      List<String> places, Duration atMost, @Nullable Integer expected, Consumer<String> say)
      throws IOException {
    return new RunWait(places, say, System::nanoTime, TimeUnit.SECONDS::sleep)
        .await(atMost, expected);
  }

  /** The folders of the runs, in the order of the places. */
  public List<Path> runs() {
    return List.copyOf(runs);
  }

  /**
   * The folder of the only run.
   *
   * @throws IOException with a one-line message, if there are several
   */
  public Path one() throws IOException {
    if (runs.size() > 1) {
      throw new IOException(
          "%s holds %s runs; expected one".formatted(String.join(" ", places), runs.size()));
    }
    return runs.get(0);
  }

  /** Whether a folder is a temporary copy, so that files written to it are lost. */
  public boolean isCopy(Path run) {
    return Stream.concat(temporary.stream(), downloads.stream().map(Downloads::folder))
        .anyMatch(run::startsWith);
  }

  private void add(String place) throws IOException {
    if (S3Location.isMeant(place)) {
      download(S3Location.parse(place));
    } else if (Archive.isMeant(place) && Files.isRegularFile(Path.of(place))) {
      unpack(Path.of(place), place);
    } else {
      Path folder = Path.of(place);
      List<Path> found = runsIn(folder);
      runs.addAll(found.isEmpty() ? List.of(folder) : found);
    }
  }

  private void unpack(Path archive, String place) throws IOException {
    if (cache != null) {
      Files.createDirectories(cache);
    }
    Path above =
        cache == null
            ? Files.createTempDirectory("gatling-llm-")
            : Files.createTempDirectory(cache, "archive-");
    temporary.add(above);
    Path folder = Files.createDirectory(above.resolve(Archive.stem(archive)));
    Archive.unpack(archive, folder);
    List<Path> found = runsIn(folder, RecordedFiles.DEEPEST);
    if (found.isEmpty()) {
      throw new IOException(
          place + " holds no run: neither llm/requests.jsonl nor llm/run.json is in it");
    }
    runs.addAll(found);
  }

  private void download(S3Location place) throws IOException {
    Downloads objects = Downloads.open(place, cache());
    downloads.add(objects);
    if (Archive.isMeant(place.prefix())) {
      unpack(objects.object(), place.toString());
      return;
    }
    SortedMap<Path, SortedMap<Path, Stored>> found = objects.runs(say);
    if (found.isEmpty()) {
      throw new IOException(place + " holds no run: no llm/run.json is below it");
    }
    for (Map.Entry<Path, SortedMap<Path, Stored>> run : found.entrySet()) {
      for (Map.Entry<Path, Stored> file : run.getValue().entrySet()) {
        objects.get(file.getValue(), file.getKey());
      }
      runs.add(run.getKey());
    }
  }

  /** The user's cache folder; if it cannot be created, a temporary one, without resuming. */
  private Path cache() throws IOException {
    if (cache != null) {
      return cache;
    }
    String configured = System.getenv("XDG_CACHE_HOME");
    Path home = Path.of(Objects.requireNonNullElse(System.getProperty("user.home"), ""));
    Path usual =
        configured == null || configured.isBlank() ? home.resolve(".cache") : Path.of(configured);
    try {
      if (usual.isAbsolute()) {
        return Files.createDirectories(usual.resolve("gatling-llm"));
      }
    } catch (IOException e) {
      // A container without a home.
    }
    Path other = Files.createTempDirectory("gatling-llm-");
    temporary.add(other);
    return other;
  }

  /**
   * Copies the recorded files of a run.
   *
   * @param out target folder; must not hold a run
   * @return the target folder
   */
  public Path copy(Path run, Path out) throws IOException {
    RunFiles to = new RunFiles(out);
    if (Files.exists(to.requests())) {
      throw new IOException(out + " holds a run; name a folder for --out that holds none");
    }
    Files.createDirectories(to.folder());
    for (Path file : RecordedFiles.of(new RunFiles(run))) {
      if (Files.isRegularFile(file)) {
        Files.copy(file, to.folder().resolve(file.getFileName()));
      }
    }
    return out;
  }

  /** The folder itself if it is a run's, otherwise the folders of runs below it, by name. */
  static List<Path> runsIn(Path folder) throws IOException {
    return runsIn(folder, DEEPEST);
  }

  private static List<Path> runsIn(Path folder, int deepest) throws IOException {
    if (isRun(folder)) {
      return List.of(folder);
    }
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> below = Files.find(folder, deepest, (path, is) -> is.isDirectory())) {
      return below.filter(RunInputs::isRun).sorted().toList();
    } catch (UncheckedIOException e) {
      throw Objects.requireNonNull(e.getCause());
    }
  }

  private static boolean isRun(Path folder) {
    RunFiles files = new RunFiles(folder);
    return Files.isRegularFile(files.requests()) || Files.isRegularFile(files.info());
  }

  /** Deletes all downloads, once they are not needed for another attempt. */
  public void deleteDownloads() throws IOException {
    for (Downloads each : downloads) {
      each.delete();
    }
  }

  /** Deletes unpacked archives. */
  @Override
  public void close() throws IOException {
    for (Downloads each : downloads) {
      each.close();
    }
    for (Path folder : temporary) {
      delete(folder);
    }
  }

  /** Deletes a folder and its contents, without following links. */
  static void delete(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    }
  }
}
