package io.github.gatlingllm.store;

import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.store.Bucket.Stored;
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
 * The folders of runs that are named by folders, archives and places in object storage. An archive
 * is unpacked into a folder that goes when this is closed. Objects are downloaded into one that
 * stays until {@link #forget()}: where the work fails, the next try goes on where it stopped.
 */
public final class RunInputs implements AutoCloseable {

  /** How deep runs may lie in a folder that is named for them. */
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
   * Finds them.
   *
   * @param places each a run's folder or one that holds several; a {@code .tar.gz}, {@code .tgz} or
   *     {@code .zip} of such; or {@code s3://bucket/prefix}, with one run or several below it, or
   *     an archive
   * @param cache where to unpack and to download; null for the system's folders for that
   * @param say takes lines for the console
   * @throws IOException in one line, where one cannot be read or holds no run
   * @throws IllegalArgumentException in one line, for what is no such place
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
   * Waits until the runs of all injectors have ended and lie in these places, or the time is over.
   *
   * @param places folders, or {@code s3://bucket/prefix}
   * @param expected how many injectors there are; null where their runs say it
   * @param say takes lines for the console
   * @return how many there are; null where nobody said it
   * @throws IOException in one line, where a place cannot be looked into from the first
   * @throws IllegalArgumentException in one line, where it is no such place, or nobody says how
   *     many there are
   */
  public static @Nullable Integer await(
      List<String> places, Duration atMost, @Nullable Integer expected, Consumer<String> say)
      throws IOException {
    return new RunWait(places, say, System::nanoTime, TimeUnit.SECONDS::sleep)
        .await(atMost, expected);
  }

  /** Their folders, in the order in which they were named. */
  public List<Path> runs() {
    return List.copyOf(runs);
  }

  /**
   * The folder of the only one.
   *
   * @throws IOException in one line, where there are several
   */
  public Path one() throws IOException {
    if (runs.size() > 1) {
      throw new IOException(
          "%s holds %s runs; expected one".formatted(String.join(" ", places), runs.size()));
    }
    return runs.get(0);
  }

  /** Whether one is not where it was named: what is written into it is lost. */
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

  /** The user's own folder for such things, else a new one that is as good but for resuming. */
  private Path cache() throws IOException {
    if (cache != null) {
      return cache;
    }
    String named = System.getenv("XDG_CACHE_HOME");
    Path home = Path.of(Objects.requireNonNullElse(System.getProperty("user.home"), ""));
    Path usual = named == null || named.isBlank() ? home.resolve(".cache") : Path.of(named);
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
   * Copies what a run has recorded.
   *
   * @param out folder of the copy; must not hold a run
   * @return that folder
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

  /** The folder itself where it is a run's, else the runs below it, by name. */
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

  /** The work is done: what was downloaded for it may go too, with {@link #close()}. */
  public void forget() throws IOException {
    for (Downloads each : downloads) {
      each.forget();
    }
  }

  /** Removes what was unpacked. */
  @Override
  public void close() throws IOException {
    for (Downloads each : downloads) {
      each.close();
    }
    for (Path folder : temporary) {
      delete(folder);
    }
  }

  /** A folder and all in it; links in it are not followed. */
  static void delete(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    }
  }
}
