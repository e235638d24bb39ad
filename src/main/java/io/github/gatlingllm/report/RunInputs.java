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
import java.util.Comparator;
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

  /** How many levels below a given folder runs are searched. */
  private static final int MAX_DEPTH = 8;

  /** The name of the file that completes an upload, as in keys of objects. */
  private static final String INFO = "llm/run.json";

  private final List<String> places;
  private final @Nullable Path cache;
  private final List<Path> runs = new ArrayList<>();
  private final List<Path> downloads = new ArrayList<>();

  private RunInputs(List<String> places, @Nullable Path cache) {
    this.places = List.copyOf(places);
    this.cache = cache;
  }

  /**
   * Finds and downloads the runs of these folders and places, to a temporary folder if {@code
   * cache} is null. Messages of exceptions are one line.
   */
  static RunInputs open(List<String> places, @Nullable Path cache, Consumer<String> log)
      throws IOException {
    RunInputs inputs = new RunInputs(places, cache);
    try {
      for (String place : places) {
        if (S3Location.isS3Url(place)) {
          inputs.download(S3Location.parse(place), log);
        } else {
          List<Path> found = runsIn(Path.of(place));
          inputs.runs.addAll(found.isEmpty() ? List.of(Path.of(place)) : found);
        }
      }
      return inputs;
    } catch (IOException | RuntimeException e) {
      inputs.close();
      throw e;
    }
  }

  /**
   * Waits at most that long until these places contain the ended runs of {@code expected}
   * injectors, or as many as the runs say; returns their number, null if not known.
   */
  static @Nullable Integer await(
      List<String> places, Duration timeout, @Nullable Integer expected, Consumer<String> log)
      throws IOException {
    return new RunPoller(places, log, System::nanoTime, TimeUnit.SECONDS::sleep)
        .await(timeout, expected);
  }

  /** The folders of the runs, in the order of the places. */
  List<Path> runs() {
    return List.copyOf(runs);
  }

  /** The folder of the only run. */
  Path one() throws IOException {
    if (runs.size() > 1) {
      throw new IOException(
          "%s contains %s runs; expected one".formatted(String.join(" ", places), runs.size()));
    }
    return runs.get(0);
  }

  /** Whether a run was downloaded, so that files written to its folder may be lost. */
  boolean isCopy(Path run) {
    return downloads.stream().anyMatch(run::startsWith);
  }

  private void download(S3Location place, Consumer<String> log) throws IOException {
    Path folder =
        cache == null
            ? Files.createTempDirectory("gatling-llm-")
            : cache.resolve(place.bucket()).resolve(place.prefix());
    downloads.add(folder);
    Path below = cache == null ? folder.resolve(place.name()) : folder;
    Map<Path, StoredObject> files = new LinkedHashMap<>();
    List<Path> complete = new ArrayList<>();
    place
        .runs()
        .forEach(
            (name, records) -> {
              if (records.containsKey(INFO)) {
                Path run = below.resolve(name);
                complete.add(run);
                records.forEach((file, object) -> files.put(run.resolve(file), object));
              } else if (!records.containsKey(InjectorEnd.FILE)) {
                log.accept(
                    (name.isEmpty() ? place : place.at(name))
                        + " is ignored: it has no llm/run.json, so its upload is not complete");
              }
            });
    if (complete.isEmpty()) {
      throw new IOException(place + " contains no run: no llm/run.json is below it");
    }
    place.download(files);
    runs.addAll(complete);
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

  private static boolean isEmpty(List<String> places) throws IOException {
    for (String place : places) {
      if (S3Location.isS3Url(place) || !runsIn(Path.of(place)).isEmpty()) {
        return false; // what a bucket lacks is said when it is read
      }
    }
    return true;
  }

  private static List<Path> below(Path folder, Predicate<Path> sought) throws IOException {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> all = Files.walk(folder, MAX_DEPTH + 2)) {
      return all.filter(sought).sorted().toList();
    } catch (UncheckedIOException e) {
      throw Objects.requireNonNull(e.getCause());
    }
  }

  private static boolean isRun(Path folder) {
    RunFiles files = new RunFiles(folder);
    return Files.isRegularFile(files.requests()) || Files.isRegularFile(files.info());
  }

  /** Deletes temporary downloads. */
  @Override
  public void close() throws IOException {
    for (Path folder : cache == null ? downloads : List.<Path>of()) {
      try (Stream<Path> all = Files.walk(folder)) {
        for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(each);
        }
      }
    }
  }

  /**
   * Waits until the ended runs of all injectors are there: in object storage, their {@code
   * run.json}.
   */
  record RunPoller(
      List<String> places,
      Consumer<String> log,
      LongSupplier nanoTime,
      Sleep sleep,
      Map<StoredObject, RunInfo> read,
      Map<StoredObject, InjectorEnd> readEnds,
      Map<Path, Silence> silences) {

    private static final long EVERY_SECONDS = 5;

    /** A run writes a line per second; one that wrote none for 2 min has lost its process. */
    private static final int MOST_SILENT_LOOKS = 24;

    private static final class Silence {
      private long bytes = -1;
      private int looks;
    }

    /** Sleeps; replaced in tests. */
    interface Sleep {
      void seconds(long count) throws InterruptedException;
    }

    /**
     * The number of ended runs, the indexes of their shares, injectors that ended without one by
     * their index, and the number of injectors, null if not known.
     */
    private record EndedRuns(
        int ended, Set<Integer> shares, Map<Integer, String> without, @Nullable Integer all) {

      static EndedRuns of(Found found, @Nullable Integer expected) {
        List<InjectorShare> shares =
            found.ended.stream().map(RunInfo::share).filter(Objects::nonNull).toList();
        Set<Integer> indexes =
            shares.stream()
                .map(InjectorShare::index)
                .collect(Collectors.toCollection(TreeSet::new));
        Map<Integer, String> without = new TreeMap<>(found.without);
        without.keySet().removeAll(indexes);
        Integer count = shares.isEmpty() ? found.count : (Integer) shares.get(0).count();
        return new EndedRuns(
            found.ended.size(), indexes, without, expected == null ? count : expected);
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
        return ended + (all == null ? "" : " of " + all) + " runs are there" + missing;
      }
    }

    RunPoller(List<String> places, Consumer<String> log, LongSupplier nanoTime, Sleep sleep) {
      this(places, log, nanoTime, sleep, new HashMap<>(), new HashMap<>(), new HashMap<>());
    }

    /** What the places contain: ended runs, and why injectors have none. */
    private static final class Found {
      private final List<RunInfo> ended = new ArrayList<>();
      private final Map<Integer, String> without = new HashMap<>();
      private @Nullable Integer count;

      void add(InjectorEnd end) {
        count = end.share().count();
        without.put(end.share().index(), " (ended with exit code " + end.exitCode() + ")");
      }

      /** A run whose process is gone ends as interrupted, with the records that it has. */
      void add(RunInfo run, boolean isSilent) {
        InjectorShare share = run.share();
        if (run.state() != RunInfo.State.RUNNING) {
          ended.add(run);
        } else if (isSilent && share != null) {
          count = share.count();
          without.putIfAbsent(share.index(), " (silent for 2 min)");
        } else if (isSilent) {
          ended.add(run);
        }
      }
    }

    /** See {@link RunInputs#await}. */
    @Nullable Integer await(Duration timeout, @Nullable Integer expected) throws IOException {
      long start = nanoTime.getAsLong();
      EndedRuns ended = EndedRuns.of(look(), expected);
      String reported = "";
      while (!ended.isAll()) {
        if (ended.ended() > 0 && ended.all() == null) {
          throw new IllegalArgumentException(
              "the runs do not say how many injectors there are; name their number by --expect"
                  + " <n>");
        }
        boolean isOver = nanoTime.getAsLong() - start >= timeout.toNanos();
        if (isOver || !reported.equals(ended.toString())) {
          reported = ended.toString();
          log.accept((isOver ? "the time to wait is over: " : "waiting: ") + reported);
        }
        if (isOver) {
          return ended.all();
        }
        try {
          sleep.seconds(EVERY_SECONDS);
          ended = EndedRuns.of(look(), expected);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          throw new InterruptedIOException("interrupted while waiting for runs");
        } catch (IOException e) {
          log.accept("waiting: " + e.getMessage());
        }
      }
      log.accept(ended.toString());
      if (ended.ended() == 0 && RunInputs.isEmpty(places)) {
        throw new IOException("no injector left a run; see what each printed");
      }
      return ended.all();
    }

    private Found look() throws IOException {
      Found found = new Found();
      for (String place : places) {
        if (S3Location.isS3Url(place)) {
          S3Location prefix = S3Location.parse(place);
          for (Map<String, StoredObject> records : prefix.runs().values()) {
            if (records.containsKey(INFO)) {
              found.add(
                  read(prefix, records.get(INFO), read, file -> RunInfo.read(file).orElseThrow()),
                  false);
            } else if (records.containsKey(InjectorEnd.FILE)) {
              found.add(read(prefix, records.get(InjectorEnd.FILE), readEnds, InjectorEnd::read));
            }
          }
        } else {
          for (Path end : below(Path.of(place), each -> each.endsWith(InjectorEnd.FILE))) {
            found.add(InjectorEnd.read(end));
          }
          for (Path run : RunInputs.runsIn(Path.of(place))) {
            RunInfo info = RunInfo.read(new RunFiles(run).info()).orElse(null);
            if (info != null) {
              found.add(info, isSilent(run));
            }
          }
        }
      }
      return found;
    }

    private boolean isSilent(Path run) {
      long bytes = new RunFiles(run).generator().toFile().length();
      Silence silence = silences.computeIfAbsent(run, r -> new Silence());
      silence.looks = silence.bytes == bytes ? silence.looks + 1 : 0;
      silence.bytes = bytes;
      return silence.looks >= MOST_SILENT_LOOKS;
    }

    @FunctionalInterface
    private interface FileReader<T> {
      T read(Path file) throws IOException;
    }

    private static <T> T read(
        S3Location place, StoredObject object, Map<StoredObject, T> known, FileReader<T> reader)
        throws IOException {
      T before = known.get(object);
      if (before != null) {
        return before;
      }
      Path file = Files.createTempFile("gatling-llm-", ".json");
      try {
        place.download(Map.of(file, object));
        T found = reader.read(file);
        known.put(object, found);
        return found;
      } catch (IOException e) {
        String at = new S3Location(place.bucket(), object.key()).toString();
        throw new IOException(String.valueOf(e.getMessage()).replace(file.toString(), at), e);
      } finally {
        Files.deleteIfExists(file);
      }
    }
  }
}
