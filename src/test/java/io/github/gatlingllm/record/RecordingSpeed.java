package io.github.gatlingllm.record;

import io.github.gatlingllm.record.RecordFile.ReadReport;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures what recording costs on this machine: encoding and decoding on one core, then a run of
 * 2,000 requests per second with 20 to 500 events each. Run by hand: {@code java
 * io.github.gatlingllm.record.RecordingSpeed <directory>}.
 */
public final class RecordingSpeed {

  private static final int PER_SECOND = 2_000;
  private static final int SECONDS = 10;

  private RecordingSpeed() {}

  public static void main(String[] args) throws IOException {
    for (int tokens : new int[] {20, 500}) {
      codec(tokens);
    }
    run(Path.of(args[0]));
  }

  private static void codec(int tokens) throws IOException {
    RandomRecords random = new RandomRecords(1);
    List<RequestRecord> records = new ArrayList<>();
    for (int i = 0; i < 5_000; i++) {
      records.add(random.answer(tokens));
    }
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    for (RequestRecord record : records) {
      file.write(RecordCodec.write(record));
    }
    long bestWrite = Long.MAX_VALUE;
    long bestRead = Long.MAX_VALUE;
    ByteArrayOutputStream lines = new ByteArrayOutputStream(1 << 16);
    for (int round = 0; round < 30; round++) {
      long start = System.nanoTime();
      for (RequestRecord record : records) {
        lines.reset();
        RecordCodec.append(record, lines);
      }
      bestWrite = Math.min(bestWrite, System.nanoTime() - start);
      start = System.nanoTime();
      RecordFile.read(new ByteArrayInputStream(file.toByteArray()), 1 << 18, 1 << 20, record -> {});
      bestRead = Math.min(bestRead, System.nanoTime() - start);
    }
    System.out.printf(
        "%d tokens, %d bytes: write %,d records/s, read %,d records/s%n",
        tokens,
        file.size() / records.size(),
        records.size() * 1_000_000_000L / bestWrite,
        records.size() * 1_000_000_000L / bestRead);
  }

  private static void run(Path directory) throws IOException {
    RandomRecords random = new RandomRecords(2);
    List<RequestRecord> records = new ArrayList<>();
    for (int i = 0; i < PER_SECOND; i++) {
      records.add(random.answer(20 + i * 480 / PER_SECOND));
    }
    Path file = directory.resolve("requests.jsonl");
    Files.deleteIfExists(file);
    long writerNanos;
    Recorder recorder = Recorder.open(file, record -> {});
    long longest = 0;
    long start = System.nanoTime();
    for (int i = 0; i < PER_SECOND * SECONDS; i++) {
      while (System.nanoTime() - start < i * 1_000_000_000L / PER_SECOND) {
        LockSupport.parkNanos(100_000);
      }
      long before = System.nanoTime();
      recorder.record(records.get(i % PER_SECOND));
      longest = Math.max(longest, System.nanoTime() - before);
    }
    writerNanos = writerCpuNanos();
    long wall = System.nanoTime() - start;
    boolean drained = recorder.close(Duration.ofSeconds(10));
    ReadReport read = RecordFile.read(file, record -> {});
    System.out.printf(
        "%,d/s for %d s: recorded %,d, dropped %d, failed %d, drained %s, read %s, %,d MB,"
            + " writer %.1f %% of a core, longest record() %,d us%n",
        PER_SECOND,
        SECONDS,
        recorder.recorded(),
        recorder.dropped(),
        recorder.failed(),
        drained,
        read,
        Files.size(file) >> 20,
        100.0 * writerNanos / wall,
        longest / 1_000);
  }

  private static long writerCpuNanos() {
    var threads = ManagementFactory.getThreadMXBean();
    for (long id : threads.getAllThreadIds()) {
      if (threads.getThreadInfo(id).getThreadName().equals("llm-recorder")) {
        return threads.getThreadCpuTime(id);
      }
    }
    return -1;
  }
}
