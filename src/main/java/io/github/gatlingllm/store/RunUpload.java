package io.github.gatlingllm.store;

import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.store.Bucket.Stored;
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
 * Puts what a run has recorded, and its report, into object storage: {@code
 * <prefix>/<run>-<injector>/}, without the injector for a joined run. {@code run.json} comes after
 * the other records, so that where it is all of them are; the report follows when it is made.
 * Gatling's own pages and its {@code simulation.log} stay where they are. What is there already,
 * byte for byte, is not sent again.
 */
public final class RunUpload implements AutoCloseable {

  /** A part of a large file; S3 takes at least 5 MiB, and 10,000 of them. */
  private static final long PART = 8 << 20;

  private static final int MOST_PARTS = 10_000;

  /** Parts under way at once, each in memory. */
  private static final int THREADS = 4;

  private final Bucket bucket;
  private final S3Location place;
  private final RunFiles files;
  private final Map<String, Stored> there;
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
    there = there();
  }

  /**
   * Looks whether runs can be put there, as far as that can be known without doing it.
   *
   * @param prefix below which they are to lie
   * @throws IOException in one line, where they cannot
   */
  public static void check(S3Location prefix) throws IOException {
    try (Bucket bucket = prefix.open()) {
      bucket.reach(prefix.below());
    } catch (Bucket.Denied e) {
      // Who may write need not be allowed to read.
    }
  }

  /**
   * Begins an upload.
   *
   * @param prefix below which the run is to lie
   * @param info what the run is called
   * @throws IOException in one line, where the place cannot be opened
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

  /** Where the run lies then. */
  public S3Location place() {
    return place;
  }

  private Map<String, Stored> there() throws IOException {
    try {
      return bucket.list(place.below()).stream()
          .collect(Collectors.toMap(Stored::key, Function.identity()));
    } catch (Bucket.Denied e) {
      return Map.of();
    }
  }

  /**
   * Sends what the run has recorded.
   *
   * @throws IOException in one line, where that fails; the files stay as they are
   */
  public void records() throws IOException {
    send(RecordedFiles.of(files));
  }

  /**
   * Sends what was made of the records.
   *
   * @throws IOException in one line, where that fails; the files stay as they are
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
      long part = Math.max(PART, (size + MOST_PARTS - 1) / MOST_PARTS);
      int count = (int) ((size + part - 1) / part);
      Stored before = there.get(key);
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
      // Until it is whole.
    }
    return bytes.array();
  }

  /**
   * Servers name an object after its content: the MD5 of it, or of those of its parts. Where one
   * does not (encryption), the object is sent again.
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
      throw new IllegalStateException("every Java has MD5", e);
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
    bucket.close();
  }
}
