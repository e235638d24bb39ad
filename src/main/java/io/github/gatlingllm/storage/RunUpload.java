package io.github.gatlingllm.storage;

import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.storage.Bucket.Stored;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Uploads the recorded files of a run and its report to object storage, to {@code
 * <prefix>/<run>-<injector>/}, without the injector for a merged run. {@code run.json} is uploaded
 * after the other recorded files, so that its presence means that they are complete; the report
 * follows later. Gatling's own pages and its {@code simulation.log} are not uploaded. Files that
 * exist there with the same content are skipped.
 */
public final class RunUpload implements AutoCloseable {

  /** Size of the parts of a large file; S3 requires at least 5 MiB, and at most 10,000 parts. */
  private static final long PART = 8 << 20;

  private static final int MAX_PARTS = 10_000;

  /** Concurrent parts, each of which is in memory. */
  private static final int THREADS = 4;

  private final Bucket bucket;
  private final S3Location place;
  private final RunFiles files;
  private final Map<String, Stored> existing;
  private final ExecutorService threads =
      Executors.newFixedThreadPool(
          THREADS,
          task -> {
            Thread thread = new Thread(task, "llm-upload");
            thread.setDaemon(true);
            return thread;
          });

  private RunUpload(Bucket bucket, S3Location place, RunFiles files) throws IOException {
    this.bucket = bucket;
    this.place = place;
    this.files = files;
    existing = existing();
  }

  /**
   * Checks that uploads can work, as far as possible without writing.
   *
   * @param prefix where runs will be uploaded
   * @throws IOException with a one-line message, if they cannot
   */
  public static void check(S3Location prefix) throws IOException {
    try (Bucket bucket = prefix.open()) {
      bucket.reach(prefix.below());
    } catch (Bucket.Denied e) {
      // The credentials may permit writing only.
    }
  }

  /**
   * Starts an upload.
   *
   * @param prefix where runs are uploaded
   * @param info gives the name of the run
   * @throws IOException with a one-line message, if the place cannot be opened
   */
  public static RunUpload open(S3Location prefix, RunFiles files, RunInfo info) throws IOException {
    boolean isJoined = info.injector().contains(",");
    String name =
        (isJoined ? info.id() : info.id() + "-" + info.injector())
            .replaceAll("[^A-Za-z0-9._-]+", "-");
    Bucket bucket = prefix.open();
    try {
      return new RunUpload(bucket, prefix.at(name), files);
    } catch (IOException e) {
      bucket.close();
      throw e;
    }
  }

  /** Where the run is uploaded. */
  public S3Location place() {
    return place;
  }

  private Map<String, Stored> existing() throws IOException {
    try {
      return bucket.list(place.below()).stream()
          .collect(Collectors.toMap(Stored::key, Function.identity()));
    } catch (Bucket.Denied e) {
      return Map.of();
    }
  }

  /**
   * Uploads the recorded files.
   *
   * @throws IOException with a one-line message, if that fails
   */
  public void records() throws IOException {
    send(RecordedFiles.of(files));
  }

  /**
   * Uploads the report.
   *
   * @throws IOException with a one-line message, if that fails
   */
  public void report() throws IOException {
    send(
        List.of(
            files.page(),
            files.summaryJson(),
            files.summaryMarkdown(),
            files.junit(),
            files.csv()));
  }

  private void send(List<Path> all) throws IOException {
    for (Path file : all) {
      if (Files.isRegularFile(file)) {
        String name = files.run().relativize(file).toString().replace('\\', '/');
        send(file, place.at(name).prefix());
      }
    }
  }

  private void send(Path file, String key) throws IOException {
    try (FileChannel content = FileChannel.open(file)) {
      long size = content.size();
      long part = Math.max(PART, (size + MAX_PARTS - 1) / MAX_PARTS);
      int count = (int) ((size + part - 1) / part);
      Stored before = existing.get(key);
      if (before != null && before.size() == size && isSame(before, content, part, count)) {
        return;
      }
      if (count <= 1) {
        bucket.put(read(content, 0, size), key);
      } else {
        bucket.put(key, count, number -> read(content, number, part), threads);
      }
    }
  }

  private static byte[] read(FileChannel content, int number, long part) throws IOException {
    long from = number * part;
    ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(part, content.size() - from));
    while (bytes.hasRemaining() && content.read(bytes, from + bytes.position()) >= 0) {
      // Read until the buffer is full.
    }
    return bytes.array();
  }

  /**
   * Whether the ETag is the MD5 of the content, or of the MD5s of its parts. Some servers have
   * other ETags, with encryption for instance; then the file is uploaded again.
   */
  private static boolean isSame(Stored object, FileChannel content, long part, int count)
      throws IOException {
    MessageDigest all = md5();
    for (int number = 0; number < count; number++) {
      byte[] bytes = read(content, number, part);
      all.update(count == 1 ? bytes : md5().digest(bytes));
    }
    String etag = HexFormat.of().formatHex(all.digest()) + (count > 1 ? "-" + count : "");
    return object.etag().equals('"' + etag + '"');
  }

  private static MessageDigest md5() {
    try {
      return MessageDigest.getInstance("MD5");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("MD5 is a part of every JDK", e);
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
    bucket.close();
  }
}
