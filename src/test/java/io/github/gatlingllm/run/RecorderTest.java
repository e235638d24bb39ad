package io.github.gatlingllm.run;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import io.github.gatlingllm.record.RandomRecords;
import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RequestRecord;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class RecorderTest {

  private static final Duration LONG = Duration.ofSeconds(60);

  private final RandomRecords records = new RandomRecords(3);
  private final Disk disk = new Disk();
  private final AtomicLong clock = new AtomicLong();
  private final List<RequestRecord> observed = Collections.synchronizedList(new ArrayList<>());
  private final List<String> complaints = Collections.synchronizedList(new ArrayList<>());
  private final WriteFailures failures = new WriteFailures(Path.of("run"), complaints::add);

  @Test
  void recordsAreWrittenInOrder(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("llm").resolve("requests.jsonl");
    Recorder recorder = Recorder.open(file, observed::add, failures);
    List<RequestRecord> written = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      written.add(records.any());
      assertThat(recorder.record(written.get(i))).isTrue();
    }
    assertThat(recorder.close(LONG)).isTrue();

    List<RequestRecord> read = new ArrayList<>();
    assertThat(RecordFile.read(file, read::add)).isEqualTo(ReadReport.of(1_000));
    assertThat(read.stream().map(RecorderTest::line))
        .containsExactlyElementsOf(written.stream().map(RecorderTest::line).toList());
    assertThat(observed).isEqualTo(written);
    assertThat(List.of(recorder.recorded(), recorder.dropped(), recorder.failed()))
        .containsExactly(1_000L, 0L, 0L);
  }

  @Test
  void hangingDiskLosesNothingWhileTheQueueHasRoom() throws IOException {
    disk.hang();
    Recorder recorder = recorder(20_000, observed::add);
    for (int i = 0; i < 20_000; i++) {
      assertThat(recorder.record(records.answer(20))).isTrue();
    }
    assertThat(recorder.recorded()).isZero();
    disk.resume();
    assertThat(recorder.close(LONG)).isTrue();

    assertThat(List.of(recorder.recorded(), recorder.dropped(), recorder.failed()))
        .containsExactly(20_000L, 0L, 0L);
    assertThat(disk.read().records()).isEqualTo(20_000);
    assertThat(disk.writes).allSatisfy(write -> assertThat(write).startsWith("{").endsWith("}\n"));
  }

  @Test
  void fullQueueDropsAndCountsWithoutBlocking() throws IOException {
    CountDownLatch hold = new CountDownLatch(1);
    Recorder recorder = recorder(10, record -> await(hold));
    int taken = 0;
    for (int i = 0; i < 100; i++) {
      taken += recorder.record(records.answer(1)) ? 1 : 0;
    }
    assertThat(taken).isEqualTo(10);
    assertThat(recorder.dropped()).isEqualTo(90);
    hold.countDown();
    assertThat(recorder.close(LONG)).isTrue();
    assertThat(recorder.recorded()).isEqualTo(10);
  }

  @Test
  void oldestRecordIsWrittenWithinASecond() throws IOException {
    CountDownLatch hold = new CountDownLatch(1);
    Recorder recorder =
        recorder(
            100,
            record -> {
              await(hold);
              clock.addAndGet(400_000_000L);
            });
    for (int i = 0; i < 9; i++) {
      recorder.record(records.answer(1));
    }
    hold.countDown();
    assertThat(recorder.close(LONG)).isTrue();
    assertThat(disk.writes).hasSize(3).allSatisfy(write -> assertThat(write.lines()).hasSize(3));
  }

  @Test
  void tasksRunAfterTheRecordsBefore() {
    Recorder recorder = recorder(10, observed::add);
    List<Integer> before = Collections.synchronizedList(new ArrayList<>());
    for (int i = 0; i < 3; i++) {
      recorder.record(records.answer(1));
      recorder.then(() -> before.add(observed.size()));
    }
    recorder.then(
        () -> {
          throw new IllegalStateException("broken");
        });
    assertThat(recorder.close(LONG)).isTrue();
    recorder.then(() -> before.add(observed.size()));
    assertThat(before).containsExactly(1, 2, 3, 3);
    assertThat(List.of(recorder.recorded(), recorder.dropped())).containsExactly(3L, 0L);
    assertThat(complaints).hasSize(1);
  }

  @Test
  void recordsAfterClosingAreDropped() {
    Recorder recorder = recorder(10, observed::add);
    assertThat(recorder.record(records.answer(1))).isTrue();
    assertThat(recorder.close(Duration.ofSeconds(2))).isTrue();
    assertThat(recorder.record(records.answer(1))).isFalse();
    assertThat(recorder.close(Duration.ofSeconds(2))).isTrue();
    assertThat(recorder.recorded()).isOne();
    assertThat(recorder.dropped()).as("what came too late").isOne();
    assertThat(disk.closed).isTrue();
  }

  @Test
  void recordsNotWrittenInTimeAreCountedImmediately() {
    CountDownLatch hold = new CountDownLatch(1);
    Recorder recorder = recorder(10, record -> await(hold));
    for (int i = 0; i < 10; i++) {
      recorder.record(records.answer(1));
    }
    assertThat(recorder.close(Duration.ofMillis(1))).isFalse();
    long dropped = recorder.dropped();
    assertThat(dropped).as("known immediately").isGreaterThanOrEqualTo(9);
    hold.countDown();
    assertThat(recorder.close(LONG)).isFalse();
    assertThat(recorder.dropped()).isEqualTo(dropped);
    assertThat(recorder.recorded() + dropped).isEqualTo(10);
  }

  @Test
  void fullDiskIsReportedOnceAndTriedAgain() throws IOException {
    Recorder recorder = recorder(20, observed::add);
    batch(recorder, 2);
    disk.room.set(3_000);
    batch(recorder, 5);
    disk.room.set(0);
    batch(recorder, 1);
    disk.room.set(Long.MAX_VALUE);
    batch(recorder, 2);
    assertThat(recorder.close(LONG)).isTrue();

    assertThat(complaints)
        .singleElement()
        .asString()
        .startsWith("LLM: requests.jsonl cannot be written (No space left on device): ");
    ReadReport report = disk.read();
    assertThat(report.records()).isEqualTo(recorder.recorded());
    assertThat(report.badLines()).isOne();
    assertThat(recorder.recorded() + recorder.failed()).isEqualTo(10);
    assertThat(recorder.recorded()).isBetween(5L, 7L);
  }

  /** Records that are written, or not, before it returns. */
  private void batch(Recorder recorder, int count) {
    long before = recorder.recorded() + recorder.failed();
    for (int i = 0; i < count; i++) {
      recorder.record(records.answer(20));
    }
    while (recorder.recorded() + recorder.failed() < before + count) {
      Thread.onSpinWait();
    }
  }

  @Test
  void recordThatCannotBeEncodedLosesOnlyItself() throws IOException {
    RequestRecord good = records.answer(1);
    @SuppressWarnings("NullAway")
    RequestRecord broken =
        new RequestRecord(
            good.identity(),
            good.timing(),
            good.events(),
            good.tokens(),
            null,
            good.server(),
            null,
            null);
    Recorder recorder = recorder(10, observed::add);
    recorder.record(good);
    recorder.record(broken);
    recorder.record(good);
    assertThat(recorder.close(LONG)).isTrue();
    assertThat(recorder.recorded()).isEqualTo(2);
    assertThat(recorder.failed()).isOne();
    assertThat(disk.read()).isEqualTo(ReadReport.of(2));
    assertThat(complaints).hasSize(1);
  }

  @Test
  void exceptionOfTheObserverIsReportedOnce() {
    Recorder recorder =
        recorder(
            10,
            record -> {
              throw new StackOverflowError("deep");
            });
    recorder.record(records.answer(1));
    recorder.record(records.answer(1));
    assertThat(recorder.close(LONG)).isTrue();
    assertThat(recorder.recorded()).isEqualTo(2);
    assertThat(complaints)
        .singleElement()
        .asString()
        .startsWith("LLM: live figures fail (java.lang.StackOverflowError: deep): ");
  }

  @Test
  void anotherRunsFileIsNotTouched(@TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("requests.jsonl"), "kept");
    assertThatIOException()
        .isThrownBy(() -> Recorder.open(file, observed::add, failures))
        .withMessageEndingWith("is in the way; expected a new run directory: move it away");
    assertThat(file).hasContent("kept");
  }

  @Test
  void unwritableDirectoryIsReportedInOneLine(@TempDir Path directory) throws IOException {
    Path noDirectory = Files.writeString(directory.resolve("run"), "");
    assertThatIOException()
        .isThrownBy(
            () -> Recorder.open(noDirectory.resolve("llm/requests.jsonl"), observed::add, failures))
        .withMessageStartingWith("Cannot record to ")
        .withMessageEndingWith("; make its directory writable");
  }

  private static String line(RequestRecord record) {
    return new String(RecordFile.line(record), UTF_8);
  }

  private Recorder recorder(int capacity, Consumer<RequestRecord> observer) {
    return new Recorder(disk, null, capacity, clock::get, observer, failures);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A disk that hangs, fills up, and remembers every write. */
  private static final class Disk implements WritableByteChannel {
    private final List<String> writes = Collections.synchronizedList(new ArrayList<>());
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private volatile CountDownLatch hanging = new CountDownLatch(0);
    private volatile boolean closed;
    private final AtomicLong room = new AtomicLong(Long.MAX_VALUE);

    void hang() {
      hanging = new CountDownLatch(1);
    }

    void resume() {
      hanging.countDown();
    }

    ReadReport read() throws IOException {
      Path file = Files.createTempFile("requests", ".jsonl");
      try {
        return RecordFile.read(Files.write(file, bytes.toByteArray()), record -> {});
      } finally {
        Files.delete(file);
      }
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
      await(hanging);
      if (room.get() == 0) {
        throw new IOException("No space left on device");
      }
      byte[] taken = new byte[(int) Math.min(room.get(), source.remaining())];
      source.get(taken);
      room.addAndGet(-taken.length);
      bytes.write(taken);
      writes.add(new String(taken, UTF_8));
      return taken.length;
    }

    @Override
    public boolean isOpen() {
      return !closed;
    }

    @Override
    public void close() {
      closed = true;
    }
  }
}
