package io.github.gatlingllm.storage;

import io.github.gatlingllm.record.InjectorShare;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.storage.Bucket.Stored;
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
final class RunWait {

  private static final long EVERY_SECONDS = 5;

  private final List<String> places;
  private final Consumer<String> say;
  private final LongSupplier nanoTime;
  private final Pause pause;

  /** By object and version, so that each is read once. */
  private final Map<Stored, RunInfo> read = new HashMap<>();

  /** Sleeps; replaced in tests. */
  interface Pause {
    void seconds(long count) throws InterruptedException;
  }

  /**
   * The ended runs.
   *
   * @param ended number of ended runs
   * @param shares their shares of the load test, by index
   * @param all number of injectors; null if not known
   */
  private record Seen(int ended, SortedSet<Integer> shares, @Nullable Integer all) {

    static Seen of(List<RunInfo> runs, @Nullable Integer expected) {
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
      return new Seen(ended.size(), shares, all);
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

  RunWait(List<String> places, Consumer<String> say, LongSupplier nanoTime, Pause pause) {
    this.places = List.copyOf(places);
    this.say = say;
    this.nanoTime = nanoTime;
    this.pause = pause;
  }

  /** See {@link RunInputs#await}. */
  @Nullable Integer await(Duration atMost, @Nullable Integer expected) throws IOException {
    long start = nanoTime.getAsLong();
    Seen seen = Seen.of(look(), expected);
    String reported = "";
    while (!seen.isAll()) {
      if (seen.ended() > 0 && seen.all() == null) {
        throw new IllegalArgumentException(
            "the runs do not say how many injectors there are; name their number by --expect <n>");
      }
      boolean isOver = nanoTime.getAsLong() - start >= atMost.toNanos();
      if (isOver || !reported.equals(seen.toString())) {
        reported = seen.toString();
        say.accept((isOver ? "the time to wait is over: " : "waiting: ") + reported);
      }
      if (isOver) {
        return seen.all();
      }
      pause();
      try {
        seen = Seen.of(look(), expected);
      } catch (IOException e) {
        say.accept("waiting: " + e.getMessage());
      }
    }
    say.accept(seen.toString());
    return seen.all();
  }

  private void pause() throws InterruptedIOException {
    try {
      pause.seconds(EVERY_SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while waiting for runs");
    }
  }

  private List<RunInfo> look() throws IOException {
    List<RunInfo> runs = new ArrayList<>();
    for (String place : places) {
      if (Archive.isMeant(place)) {
        throw new IllegalArgumentException(
            place + " is an archive; --wait looks into folders and s3://bucket/prefix");
      }
      if (S3Location.isMeant(place)) {
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
    try (Bucket bucket = place.open()) {
      for (Stored object : bucket.list(place.below())) {
        Path path = Downloads.pathOf(place, object);
        if (path != null && path.endsWith(new RunFiles(Path.of("")).info())) {
          RunInfo known = read.get(object);
          RunInfo info = known == null ? read(bucket, place, object) : known;
          read.put(object, info);
          runs.add(info);
        }
      }
    }
  }

  private static RunInfo read(Bucket bucket, S3Location place, Stored object) throws IOException {
    S3Location at = new S3Location(place.bucket(), object.key());
    Path file = Files.createTempFile("gatling-llm-", ".json");
    try {
      bucket.append(object, file);
      if (Files.size(file) < object.size()) {
        throw new IOException(at + ": the connection broke");
      }
      return RunInfo.read(file).orElseThrow();
    } catch (IOException e) {
      String message = String.valueOf(e.getMessage());
      throw new IOException(message.replace(file.toString(), at.toString()), e);
    } finally {
      Files.delete(file);
    }
  }
}
