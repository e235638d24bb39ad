package io.github.gatlingllm.storage;

import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.storage.ObjectStore.StoredObject;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Waits until folders or object storage have the ended runs of all injectors of a load test. In
 * object storage the upload of a run is complete when its {@code run.json} exists. Polls every 5 s.
 */
final class RunPoller {

  private static final long EVERY_SECONDS = 5;

  private final List<String> places;
  private final Consumer<String> log;
  private final LongSupplier nanoTime;
  private final Sleep sleep;

  /** By object and version, so that each is read once. */
  private final Map<StoredObject, RunInfo> read = new HashMap<>();

  /** Sleeps; replaced in tests. */
  interface Sleep {
    void seconds(long count) throws InterruptedException;
  }

  /**
   * The number of ended runs, the indexes of their shares, and the number of injectors, null if not
   * known.
   */
  private record EndedRuns(int ended, SortedSet<Integer> shares, @Nullable Integer all) {

    static EndedRuns of(List<RunInfo> runs, @Nullable Integer expected) {
      List<RunInfo> ended =
          runs.stream().filter(run -> run.state() != RunInfo.State.RUNNING).toList();
      SortedSet<Integer> shares = new TreeSet<>();
      Integer all = expected;
      for (RunInfo run : ended) {
        InjectorShare share = run.share();
        if (share != null) {
          shares.add(share.index());
          all = all == null ? (Integer) share.count() : all;
        }
      }
      return new EndedRuns(ended.size(), shares, all);
    }

    boolean isAll() {
      return all != null && (shares.isEmpty() ? ended : shares.size()) >= all;
    }

    @Override
    public String toString() {
      String missing =
          all == null || shares.isEmpty() || isAll()
              ? ""
              : IntStream.rangeClosed(1, all)
                  .filter(index -> !shares.contains(index))
                  .mapToObj(index -> index + "/" + all)
                  .collect(Collectors.joining(", ", ", not ", ""));
      return ended + (all == null ? "" : " of " + all) + " runs are there" + missing;
    }
  }

  RunPoller(List<String> places, Consumer<String> log, LongSupplier nanoTime, Sleep sleep) {
    this.places = List.copyOf(places);
    this.log = log;
    this.nanoTime = nanoTime;
    this.sleep = sleep;
  }

  /** See {@link RunInputs#await}. */
  @Nullable Integer await(Duration timeout, @Nullable Integer expected) throws IOException {
    long start = nanoTime.getAsLong();
    EndedRuns ended = EndedRuns.of(look(), expected);
    String reported = "";
    while (!ended.isAll()) {
      if (ended.ended() > 0 && ended.all() == null) {
        throw new IllegalArgumentException(
            "the runs do not say how many injectors there are; name their number by --expect <n>");
      }
      boolean isOver = nanoTime.getAsLong() - start >= timeout.toNanos();
      if (isOver || !reported.equals(ended.toString())) {
        reported = ended.toString();
        log.accept((isOver ? "the time to wait is over: " : "waiting: ") + reported);
      }
      if (isOver) {
        return ended.all();
      }
      pause();
      try {
        ended = EndedRuns.of(look(), expected);
      } catch (IOException e) {
        log.accept("waiting: " + e.getMessage());
      }
    }
    log.accept(ended.toString());
    return ended.all();
  }

  private void pause() throws InterruptedIOException {
    try {
      sleep.seconds(EVERY_SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while waiting for runs");
    }
  }

  private List<RunInfo> look() throws IOException {
    List<RunInfo> runs = new ArrayList<>();
    for (String place : places) {
      if (S3Location.isS3Url(place)) {
        lookInto(S3Location.parse(place), runs);
      } else {
        for (Path run : RunInputs.runsIn(Path.of(place))) {
          RunInfo.read(new RunFiles(run).info()).ifPresent(runs::add);
        }
      }
    }
    return runs;
  }

  private void lookInto(S3Location place, List<RunInfo> runs) throws IOException {
    try (ObjectStore store = place.open()) {
      for (Map<String, StoredObject> records : store.runs().values()) {
        StoredObject object = records.get(RunInputs.INFO);
        if (object != null) {
          RunInfo known = read.get(object);
          RunInfo info = known == null ? read(store, place, object) : known;
          read.put(object, info);
          runs.add(info);
        }
      }
    }
  }

  private static RunInfo read(ObjectStore store, S3Location place, StoredObject object)
      throws IOException {
    Path folder = Files.createTempDirectory("gatling-llm-");
    Path file = folder.resolve("run.json");
    try {
      store.download(Map.of(file, object));
      return RunInfo.read(file).orElseThrow();
    } catch (IOException e) {
      String at = new S3Location(place.bucket(), object.key()).toString();
      throw new IOException(String.valueOf(e.getMessage()).replace(file.toString(), at), e);
    } finally {
      Files.deleteIfExists(file);
      Files.delete(folder);
    }
  }
}
