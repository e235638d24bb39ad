package io.github.gatlingllm.run;

import io.github.gatlingllm.record.RecordFile;
import io.github.gatlingllm.record.RequestRecord;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Appends records to {@code llm/requests.jsonl} on its own thread, so that no event loop waits for
 * a disk: when the queue is empty, and at the latest one second after the oldest record. A {@code
 * kill -9} loses at most that second and cuts at most the last line. Thread-safe.
 */
final class Recorder {

  /** 16 seconds of 2,000 requests per second while a disk hangs. */
  private static final int CAPACITY = 1 << 15;

  private static final long MAX_BATCH_AGE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** The thread polls: an event loop that wakes it would spend more than writing a record costs. */
  private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private final LineWriter file;
  private final int capacity;
  private final LongSupplier nanoClock;
  private final Consumer<RequestRecord> observer;
  private final WriteFailures failures;

  /** Records, and tasks between them. */
  private final Queue<Object> queue = new ConcurrentLinkedQueue<>();

  private final AtomicInteger waiting = new AtomicInteger();
  private final AtomicLong dropped = new AtomicLong();
  private final Thread thread;
  private volatile boolean accepting = true;
  private volatile boolean abandoned;
  private boolean hasObserverFailed;

  Recorder(
      WritableByteChannel channel,
      @Nullable Path path,
      int capacity,
      LongSupplier nanoClock,
      Consumer<RequestRecord> observer,
      WriteFailures failures) {
    this.file = new LineWriter(channel, path, failures);
    this.capacity = capacity;
    this.nanoClock = nanoClock;
    this.observer = observer;
    this.failures = failures;
    this.thread = new Thread(this::run, "llm-recorder");
    thread.setDaemon(true);
    thread.start();
  }

  static Recorder open(Path requestsJsonl, Consumer<RequestRecord> observer, WriteFailures failures)
      throws IOException {
    return new Recorder(
        create(requestsJsonl), requestsJsonl, CAPACITY, System::nanoTime, observer, failures);
  }

  private static WritableByteChannel create(Path file) throws IOException {
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      return FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    } catch (FileAlreadyExistsException e) {
      throw new IOException(
          e.getFile() + " is in the way; expected a new run directory: move it away", e);
    } catch (IOException e) {
      throw new IOException(
          "Cannot record to " + file + " (" + e + "); make its directory writable", e);
    }
  }

  /** Queues the record, never blocks; false if it is dropped, as the queue is full or closed. */
  boolean record(RequestRecord record) {
    // Count before reading `accepting`: the thread ends only when it sees a count of 0.
    if (waiting.incrementAndGet() <= capacity && accepting) {
      queue.add(record);
      return true;
    }
    waiting.decrementAndGet();
    dropped.incrementAndGet();
    return false;
  }

  /** Runs a short task on the thread after the records so far; now if all are written. */
  void then(Runnable task) {
    if (waiting.getAndIncrement() > 0 || accepting) {
      queue.add(task);
      LockSupport.unpark(thread);
      return;
    }
    waiting.decrementAndGet();
    task.run();
  }

  int waiting() {
    return waiting.get();
  }

  long recorded() {
    return file.written();
  }

  /** Records lost because the queue was full, or closed, or could not be written in time. */
  long dropped() {
    return dropped.get();
  }

  /** Records lost because they could not be written, or because their file was deleted. */
  long failed() {
    return file.failed();
  }

  /** Writes queued records, at most that long; returns whether none was dropped. */
  boolean close(Duration max) {
    accepting = false;
    LockSupport.unpark(thread);
    try {
      TimeUnit.NANOSECONDS.timedJoin(thread, Math.max(1, max.toNanos()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    abandoned |= thread.isAlive();
    boolean isComplete = !abandoned && queue.isEmpty(); // a thread that died leaves records queued
    dropQueued();
    return isComplete;
  }

  private void dropQueued() {
    for (Object next = queue.poll(); next != null; next = queue.poll()) {
      dropped.addAndGet(next instanceof RequestRecord ? 1 : 0);
    }
  }

  private void run() {
    long oldest = 0;
    while (!abandoned && (accepting || waiting.get() > 0)) {
      Object next = queue.poll();
      if (next == null) {
        file.flush();
        LockSupport.parkNanos(this, IDLE_NANOS);
        continue;
      }
      if (next instanceof RequestRecord record) {
        if (file.isEmpty()) {
          oldest = nanoClock.getAsLong();
        }
        file.append(record);
      }
      observe(next);
      if (file.isFull() || nanoClock.getAsLong() - oldest >= MAX_BATCH_AGE_NANOS) {
        file.flush();
      }
      waiting.decrementAndGet();
    }
    file.flush();
    file.close();
    dropQueued();
  }

  private void observe(Object next) {
    try {
      if (next instanceof RequestRecord record) {
        observer.accept(record);
      } else {
        ((Runnable) next).run();
      }
    } catch (Throwable e) {
      if (!hasObserverFailed) {
        hasObserverFailed = true;
        failures.print(
            ("LLM: live figures fail (%s): stop rules and searches may not act; records and report"
                    + " are not affected")
                .formatted(e));
      }
    }
  }

  /**
   * Writes complete lines, one write per batch. A failed write loses its batch, and later ones are
   * still tried: a disk may have room again. One thread writes; any thread may read the counts.
   */
  private static final class LineWriter {

    private static final String FILE = "requests.jsonl";
    private static final int BATCH = 1 << 18;
    private static final byte[] LINE_END = {'\n'};

    private final WritableByteChannel channel;
    private final @Nullable Path path;
    private final WriteFailures failures;
    private final ByteArrayOutputStream lines = new ByteArrayOutputStream(2 * BATCH);
    private final AtomicLong written = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private int waiting;
    private long lookedNanos = System.nanoTime() - MAX_BATCH_AGE_NANOS;
    private boolean torn;
    private boolean hasPrintedUnencoded;

    LineWriter(WritableByteChannel channel, @Nullable Path path, WriteFailures failures) {
      this.channel = channel;
      this.path = path;
      this.failures = failures;
    }

    long written() {
      return written.get();
    }

    long failed() {
      return failed.get();
    }

    boolean isEmpty() {
      return waiting == 0;
    }

    boolean isFull() {
      return lines.size() >= BATCH;
    }

    void append(RequestRecord record) {
      try {
        lines.writeBytes(RecordFile.line(record));
        waiting++;
      } catch (RuntimeException e) {
        failed.incrementAndGet();
        if (!hasPrintedUnencoded) {
          hasPrintedUnencoded = true;
          failures.print("LLM: a record could not be encoded and is lost: " + e);
        }
      }
    }

    void flush() {
      if (waiting == 0) {
        return;
      }
      ByteBuffer batch = ByteBuffer.wrap(lines.toByteArray());
      try {
        if (torn) {
          write(ByteBuffer.wrap(LINE_END));
          torn = false;
        }
        write(batch);
        written.addAndGet(waiting);
      } catch (IOException e) {
        lost(batch, e);
      }
      lines.reset();
      waiting = 0;
    }

    void close() {
      if (isDeleted()) {
        deleted();
      }
      try {
        channel.close();
      } catch (IOException e) {
        failures.add(FILE, e);
      }
    }

    /** Writes to a deleted file succeed, and their data is lost. */
    private boolean isDeleted() {
      return path != null && !Files.exists(path);
    }

    /** Checks once a second that the file still exists. */
    private void write(ByteBuffer bytes) throws IOException {
      long now = System.nanoTime();
      if (now - lookedNanos >= MAX_BATCH_AGE_NANOS) {
        if (isDeleted()) {
          throw new NoSuchFileException(String.valueOf(path));
        }
        lookedNanos = now;
      }
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    }

    private void lost(ByteBuffer batch, IOException why) {
      int cut = batch.position();
      torn |= cut > 0 && batch.get(cut - 1) != '\n';
      int lost = 0;
      while (batch.hasRemaining()) {
        lost += batch.get() == '\n' ? 1 : 0;
      }
      written.addAndGet(waiting - lost);
      failed.addAndGet(lost);
      if (why instanceof NoSuchFileException) {
        deleted();
        return;
      }
      failures.add(FILE, why);
    }

    private void deleted() {
      failed.addAndGet(written.getAndSet(0));
      failures.add(FILE, new NoSuchFileException(FILE));
    }
  }
}
