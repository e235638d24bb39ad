package io.github.gatlingllm.storage;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.storage.Bucket.Stored;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Downloads the objects of a place to a folder that outlives the process. A later process resumes
 * an incomplete download if the object has not changed.
 *
 * <pre>
 *   requests.jsonl        the complete object
 *   requests.jsonl.part   an incomplete download
 *   requests.jsonl.etag   the version of the object
 * </pre>
 */
final class Downloads implements AutoCloseable {

  /** How often in a row a connection may break without a byte received. */
  private static final int MAX_FAILURES = 3;

  private static final int MAX_CHANGES = 3;

  private final Bucket bucket;
  private final S3Location place;
  private final Path folder;
  private final FileChannel lock;

  private Downloads(Bucket bucket, S3Location place, Path folder, FileChannel lock) {
    this.bucket = bucket;
    this.place = place;
    this.folder = folder;
    this.lock = lock;
  }

  /**
   * Opens the folder of a place.
   *
   * @param cache contains the folders of all places
   * @throws IOException with a one-line message, if the place cannot be opened, or another process
   *     downloads it
   */
  static Downloads open(S3Location place, Path cache) throws IOException {
    Bucket bucket = place.open();
    String id = UUID.nameUUIDFromBytes((bucket.at() + " " + place).getBytes(UTF_8)).toString();
    Path folder = Files.createDirectories(cache.resolve(id).resolve(place.name()));
    FileChannel lock =
        FileChannel.open(
            cache.resolve(id + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    try {
      if (lock.tryLock() != null) {
        return new Downloads(bucket, place, folder, lock);
      }
    } catch (OverlappingFileLockException e) {
      // This process downloads it.
    }
    lock.close();
    bucket.close();
    throw new IOException(
        place + " is being downloaded by another process; name a folder of your own by --cache");
  }

  /** The folder of the downloads. */
  Path folder() {
    return folder;
  }

  /** Downloads the object whose key is the place itself. */
  Path object() throws IOException {
    Stored object =
        bucket.find(place.prefix()).orElseThrow(() -> new IOException("there is no " + place));
    return get(object, Path.of(place.name()));
  }

  /**
   * The runs below the place whose upload is complete: their folders, files and objects.
   *
   * @param say receives a line for each run whose upload is not complete
   */
  SortedMap<Path, SortedMap<Path, Stored>> runs(Consumer<String> say) throws IOException {
    SortedMap<Path, SortedMap<Path, Stored>> runs = new TreeMap<>();
    for (Stored object : bucket.list(place.below())) {
      Path file = pathOf(place, object);
      if (file != null) {
        Path run = folder.resolve(file).getParent().getParent();
        runs.computeIfAbsent(run, r -> new TreeMap<>()).put(file, object);
      }
    }
    List<Path> incomplete = new ArrayList<>();
    runs.forEach(
        (run, files) -> {
          if (!files.containsKey(folder.relativize(new RunFiles(run).info()))) {
            incomplete.add(run);
            say.accept(
                "%s is left out: it has no llm/run.json, so its upload has not ended"
                    .formatted(folder.equals(run) ? place : place.at(folder.relativize(run) + "")));
          }
        });
    runs.keySet().removeAll(incomplete);
    return runs;
  }

  /** The path of a file of records, relative to the place; null for any other object. */
  static @Nullable Path pathOf(S3Location place, Stored object) throws IOException {
    try {
      return RecordedFiles.path(object.key().substring(place.below().length()));
    } catch (IOException e) {
      throw new IOException(place + ": the key " + e.getMessage(), e);
    }
  }

  /**
   * Downloads the missing rest of an object.
   *
   * @param relative path of its file
   */
  Path get(Stored listed, Path relative) throws IOException {
    Path file = folder.resolve(relative);
    Path part = file.resolveSibling(file.getFileName() + ".part");
    Files.createDirectories(file.getParent());
    Stored object = listed;
    int changes = 0;
    int failures = 0;
    while (!isComplete(object, file, part)) {
      long before = Files.size(part);
      try {
        if (before < object.size()) {
          bucket.append(object, part);
        }
      } catch (Bucket.Changed changed) {
        if (++changes > MAX_CHANGES) {
          throw changed;
        }
        object = bucket.find(object.key()).orElseThrow(() -> changed);
        continue;
      }
      long now = Files.size(part);
      if (now == object.size()) {
        return Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
      }
      failures = now > before ? 0 : failures + 1;
      if (failures == MAX_FAILURES || now > object.size()) {
        throw new IOException(
            String.format(
                Locale.ROOT,
                "%s: the connection broke, %,d of %,d bytes of %s are here; the same command goes"
                    + " on",
                place,
                now,
                object.size(),
                object.key()));
      }
    }
    return file;
  }

  /** Whether that version is downloaded; if not, makes sure that there is a file to append to. */
  private static boolean isComplete(Stored object, Path file, Path part) throws IOException {
    Path version = file.resolveSibling(file.getFileName() + ".etag");
    if (!Files.exists(version) || !Files.readString(version).equals(object.etag())) {
      Files.deleteIfExists(file);
      Files.deleteIfExists(part);
      Files.writeString(version, object.etag());
    }
    if (Files.exists(file)) {
      return true;
    }
    Files.write(part, new byte[0], StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    return false;
  }

  /** Deletes all downloads of the place. */
  void delete() throws IOException {
    RunInputs.delete(folder.getParent());
  }

  @Override
  public void close() throws IOException {
    bucket.close();
    lock.close();
  }
}
