package io.github.gatlingllm.report;

import io.github.gatlingllm.record.InjectorRun.InjectorEnd;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.storage.S3Location;
import io.github.gatlingllm.storage.S3Location.StoredObject;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The folders of runs, given as folders and places in object storage. Objects are downloaded to a
 * temporary folder that {@link #close} deletes, or to a given one that stays, so that a later
 * attempt downloads only what is missing.
 */
final class RunInputs implements AutoCloseable {

  private static final int MAX_DEPTH = 8;

  /** The name of the file that completes an upload, as in keys of objects. */
  private static final String INFO = "llm/run.json";

  private final List<String> places;
  private final @Nullable Path cache;
  private final Consumer<String> log;
  private final Map<S3Location, Path> downloads = new HashMap<>();
  private List<Path> runs = List.of();
  private @Nullable Path excluded;

  /** Downloads to a temporary folder if {@code cache} is null; first when {@link #runs} does. */
  RunInputs(List<String> places, @Nullable Path cache, Consumer<String> log) {
    this.places = List.copyOf(places);
    this.cache = cache;
    this.log = log;
  }

  /** Excludes the run in a folder, which may lie below a place. */
  RunInputs without(Path folder) {
    excluded = folder.toAbsolutePath().normalize();
    return this;
  }

  private List<Path> runsBelow(Path folder, Predicate<Path> condition) throws IOException {
    return below(folder, condition).stream()
        .filter(run -> excluded == null || !run.toAbsolutePath().normalize().equals(excluded))
        .toList();
  }

  /** Finds and downloads the runs at the first call. Messages of exceptions are one line. */
  List<Path> runs() throws IOException {
    if (runs.isEmpty()) {
      runs = found();
    }
    return runs;
  }

  private List<Path> found() throws IOException {
    List<Path> all = new ArrayList<>();
    for (String place : places) {
      if (S3Location.isS3Url(place)) {
        all.addAll(completeRuns(S3Location.parse(place)));
      } else {
        Path folder = Path.of(place);
        List<Path> inFolder = isRun(folder) ? List.of() : runsBelow(folder, RunInputs::isRun);
        all.addAll(inFolder.isEmpty() ? List.of(folder) : inFolder);
      }
    }
    return List.copyOf(all);
  }

  private List<Path> completeRuns(S3Location place) throws IOException {
    List<Path> complete = new ArrayList<>();
    Map<String, Map<String, StoredObject>> found = download(place);
    found.forEach(
        (name, records) -> {
          if (records.containsKey(INFO)) {
            complete.add(folderOf(place, name));
          } else if (!records.containsKey(InjectorEnd.FILE)) {
            log.accept(
                (name.isEmpty() ? place : place.at(name))
                    + " is ignored: it has no llm/run.json, so its upload is not complete");
          }
        });
    if (complete.isEmpty()) {
      throw new IOException(place + " contains no run: no llm/run.json is below it");
    }
    return complete;
  }

  /** The recorded files of each run by their names; what is new of complete runs is downloaded. */
  private Map<String, Map<String, StoredObject>> download(S3Location place) throws IOException {
    if (!downloads.containsKey(place)) {
      downloads.put(
          place,
          cache == null
              ? Files.createTempDirectory("gatling-llm-")
              : cache.resolve(place.bucket()).resolve(place.prefix()));
    }
    Map<String, Map<String, StoredObject>> found = place.runs();
    Map<Path, StoredObject> files = new LinkedHashMap<>();
    found.forEach(
        (name, records) -> {
          if (hasEnded(records)) {
            Path run = folderOf(place, name);
            records.forEach((file, object) -> files.put(run.resolve(file), object));
          }
        });
    place.download(files);
    return found;
  }

  private static boolean hasEnded(Map<String, StoredObject> records) {
    return records.containsKey(INFO) || records.containsKey(InjectorEnd.FILE);
  }

  private Path folderOf(S3Location place, String run) {
    Path folder = Objects.requireNonNull(downloads.get(place));
    return (cache == null ? folder.resolve(place.name()) : folder).resolve(run);
  }

  /** A message with places in object storage instead of the folders of their downloads. */
  private String named(String message) {
    String named = message;
    for (S3Location place : downloads.keySet()) {
      named = named.replace(folderOf(place, "").toString(), place.toString());
    }
    return named;
  }

  Path one() throws IOException {
    if (runs().size() > 1) {
      throw new IOException(
          "%s contains %s runs; expected one".formatted(String.join(" ", places), runs.size()));
    }
    return runs.get(0);
  }

  /** Refuses a run that was downloaded, as files written to its folder may be lost. */
  void requireFolder(Path run, String what) throws IOException {
    for (S3Location place : downloads.keySet()) {
      if (run.startsWith(Objects.requireNonNull(downloads.get(place)))) {
        throw new IOException(
            "%s is not a folder; name a folder for the %s with --out <dir>".formatted(place, what));
      }
    }
  }

  /** Copies the recorded files of a run to a folder that contains none; returns that folder. */
  Path copy(Path run, Path out) throws IOException {
    RunFiles to = new RunFiles(out);
    if (Files.exists(to.requests())) {
      throw new IOException(out + " contains a run; name a folder for --out that contains none");
    }
    new RunFiles(run).requireRequests();
    Files.createDirectories(to.folder());
    for (Path file : new RunFiles(run).records()) {
      if (Files.isRegularFile(file)) {
        Files.copy(file, to.folder().resolve(file.getFileName()));
      }
    }
    return out;
  }

  /** The folder itself if it is a run's, otherwise the folders of runs below it, by name. */
  static List<Path> runsIn(Path folder) throws IOException {
    return isRun(folder) ? List.of(folder) : below(folder, RunInputs::isRun);
  }

  private static List<Path> below(Path folder, Predicate<Path> condition) throws IOException {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> all = Files.walk(folder, MAX_DEPTH + 2)) {
      return all.filter(condition).sorted().toList();
    } catch (UncheckedIOException e) {
      throw Objects.requireNonNull(e.getCause());
    }
  }

  private static boolean isRun(Path folder) {
    RunFiles files = new RunFiles(folder);
    return Files.isRegularFile(files.requests()) || Files.isRegularFile(files.info());
  }

  @Override
  public void close() throws IOException {
    for (Path folder : cache == null ? downloads.values() : List.<Path>of()) {
      RunFiles.delete(folder);
    }
  }

  // ---- waiting

  private static final long EVERY_SECONDS = 5;

  /** A run writes a line per second; one that wrote none for 2 min has lost its process. */
  private static final int MAX_SILENT_LOOKS = 24;

  private static final class Silence {
    private long bytes;
    private int looks = -1;

    void look(long found) {
      looks = bytes == found ? looks + 1 : 0;
      bytes = found;
    }

    boolean hasGrown() {
      return looks == 0 && bytes > 0;
    }
  }

  /** Ended runs, and why injectors have none, by their index. */
  private static final class Found {
    private int ended;
    private int growing;
    private final Set<Integer> shares = new TreeSet<>();
    private final Map<Integer, String> without = new TreeMap<>();
    private @Nullable Integer all;

    /** {@code all} is the number of injectors; null if not known. */
    Found(@Nullable Integer all) {
      this.all = all;
    }

    /** A run whose process has ended, ends as interrupted, with the records that it has. */
    void add(RunInfo run, Silence silence) {
      boolean isRunning = run.state() == RunInfo.State.RUNNING;
      boolean isSilent = silence.looks >= MAX_SILENT_LOOKS;
      growing += isRunning && silence.hasGrown() ? 1 : 0;
      if (isRunning && isSilent && run.share() != null) {
        addWithout(run.share(), " (silent for 2 min)");
      } else if (!isRunning || isSilent) {
        ended++;
        if (run.share() != null) {
          shares.add(share(run.share()));
        }
      }
    }

    void addWithout(InjectorShare share, String why) {
      without.putIfAbsent(share(share), why);
    }

    private int share(InjectorShare share) {
      all = all == null ? (Integer) share.count() : all;
      return share.index();
    }

    boolean isAll() {
      return all != null && (shares.isEmpty() ? ended : shares.size()) + without.size() >= all;
    }

    @Override
    public String toString() {
      String missing =
          all == null || ((shares.isEmpty() || isAll()) && without.isEmpty())
              ? ""
              : IntStream.rangeClosed(1, all)
                  .filter(index -> !shares.contains(index))
                  .mapToObj(index -> index + "/" + all + without.getOrDefault(index, ""))
                  .collect(Collectors.joining(", ", ", not ", ""));
      return ended
          + (all == null ? "" : " of " + all)
          + " runs are there"
          + missing
          + (growing == 0 ? "" : "; still written: " + growing);
    }
  }

  static void sleep(long seconds) {
    try {
      TimeUnit.SECONDS.sleep(seconds);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UncheckedIOException(
          new InterruptedIOException("interrupted while waiting for runs"));
    }
  }

  /**
   * Waits for the ended runs of {@code expected} injectors, or of the number that the runs contain:
   * as long as one is written, and at most that long after it; downloads them meanwhile. Returns
   * their number, null if not known.
   *
   * @param sleep for a number of seconds
   */
  @Nullable Integer await(
      Duration timeout, @Nullable Integer expected, LongSupplier nanoTime, LongConsumer sleep)
      throws IOException {
    Map<Path, Silence> silences = new HashMap<>();
    long since = nanoTime.getAsLong();
    Found found = look(expected, silences);
    String reported = "";
    while (!found.isAll()) {
      if (found.ended > 0 && found.all == null) {
        throw new IllegalArgumentException(
            "the runs do not contain the number of injectors; set it with --expect <n>");
      }
      long now = nanoTime.getAsLong();
      since = found.growing > 0 ? now : since;
      boolean isOver = found.growing == 0 && now - since >= timeout.toNanos();
      if (isOver || !reported.equals(found.toString())) {
        reported = found.toString();
        log.accept((isOver ? "the time to wait is over: " : "waiting: ") + reported);
      }
      if (isOver) {
        return found.all;
      }
      sleep.accept(EVERY_SECONDS);
      try {
        found = look(expected, silences);
      } catch (IOException e) {
        log.accept("waiting: " + e.getMessage());
      }
    }
    log.accept(found.toString());
    if (silences.isEmpty()) {
      throw new IOException("no injector wrote a run; read the output of each");
    }
    return found.all;
  }

  private Found look(@Nullable Integer expected, Map<Path, Silence> silences) throws IOException {
    Found found = new Found(expected);
    for (String place : places) {
      for (Path folder : ended(place)) {
        look(folder, found, silences);
      }
    }
    found.without.keySet().removeAll(found.shares);
    return found;
  }

  private void look(Path folder, Found found, Map<Path, Silence> silences) throws IOException {
    try {
      RunInfo run = RunInfo.read(new RunFiles(folder).info()).orElse(null);
      if (run == null) {
        InjectorEnd end = InjectorEnd.read(folder.resolve(InjectorEnd.FILE));
        found.addWithout(end.share(), " (ended with exit code " + end.exitCode() + ")");
      } else {
        Silence silence = silences.computeIfAbsent(folder, each -> new Silence());
        silence.look(new RunFiles(folder).generator().toFile().length());
        found.add(run, silence);
      }
    } catch (IOException e) {
      throw new IOException(named(String.valueOf(e.getMessage())), e);
    }
  }

  /** The folders of the runs in a place, and of injectors that ended without one. */
  private List<Path> ended(String place) throws IOException {
    if (!S3Location.isS3Url(place)) {
      return runsBelow(
          Path.of(place),
          each -> Files.exists(each.resolve(INFO)) || Files.exists(each.resolve(InjectorEnd.FILE)));
    }
    S3Location prefix = S3Location.parse(place);
    return download(prefix).entrySet().stream()
        .filter(run -> hasEnded(run.getValue()))
        .map(run -> folderOf(prefix, run.getKey()))
        .toList();
  }
}
