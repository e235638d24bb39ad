package io.github.gatlingllm.record;

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
 * Appends records to {@code llm/requests.jsonl} from a thread of its own, so that no event loop
 * ever waits for a disk.
 *
 * <p>What was recorded is handed to the operating system as soon as nothing more is waiting, and at
 * the latest one second after its oldest record: {@code kill -9} costs at most that second and
 * leaves at most one cut line, the last. Memory is bounded by the queue; a record that finds it
 * full is dropped and counted.
 *
 * <p>{@link #record} may be called from any thread, and so may the counts.
 */
public final class Recorder {

  /** 16 seconds of 2,000 requests per second while a disk hangs. */
  private static final int CAPACITY = 1 << 15;

  private static final long OLDEST_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Waking up costs more than writing a record does, and no event loop is to do it. */
  private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private static final Duration FREEZE = Duration.ofSeconds(2);

  private final LineWriter file;
  private final int capacity;
  private final LongSupplier nanoClock;
  private final Consumer<RequestRecord> observer;
  private final Consumer<String> complaints;
  private final Queue<RequestRecord> queue = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waiting = new AtomicInteger();
  private final AtomicLong dropped = new AtomicLong();
  private final Thread thread;
  private volatile boolean accepting = true;
  private volatile boolean abandoned;
  private boolean observerFailed;

  Recorder(
      WritableByteChannel channel,
      @Nullable Path path,
      int capacity,
      LongSupplier nanoClock,
      Consumer<RequestRecord> observer,
      Consumer<String> complaints) {
    this.file = new LineWriter(channel, path, complaints);
    this.capacity = capacity;
    this.nanoClock = nanoClock;
    this.observer = observer;
    this.complaints = complaints;
    this.thread = new Thread(this::run, "llm-recorder");
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Starts to record into a new file; missing directories are made.
   *
   * @param observer sees every record, on the recorder's thread; whatever it throws is reported
   *     once and breaks nothing
   * @throws IOException in one line, if the file exists or cannot be made
   */
  public static Recorder open(Path requestsJsonl, Consumer<RequestRecord> observer)
      throws IOException {
    return new Recorder(
        create(requestsJsonl),
        requestsJsonl,
        CAPACITY,
        System::nanoTime,
        observer,
        complaint -> System.err.println("LLM: " + complaint));
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

  /**
   * Takes the record without ever waiting.
   *
   * @return false if it is lost: dropped because the queue is full, or too late
   */
  public boolean record(RequestRecord record) {
    // Counted before `accepting` is read: the thread ends only when it sees nobody counted.
    if (waiting.incrementAndGet() <= capacity && accepting) {
      queue.add(record);
      return true;
    }
    waiting.decrementAndGet();
    dropped.incrementAndGet();
    return false;
  }

  /** Records that wait for their turn. */
  public int waiting() {
    return waiting.get();
  }

  /** Records whose line is in the file. */
  public long recorded() {
    return file.written();
  }

  /**
   * Records lost because the queue was full, because there was no time left to drain it, or because
   * they came after the end.
   */
  public long dropped() {
    return dropped.get();
  }

  /** Records lost because they could not be written, or because their file was deleted. */
  public long failed() {
    return file.failed();
  }

  /**
   * Takes nothing more and writes what is waiting within two seconds: all the time there is after a
   * SIGTERM.
   *
   * @return whether all of it was written or tried
   */
  public boolean freeze() {
    return close(FREEZE);
  }

  /**
   * Takes nothing more, writes what is waiting, and closes the file. A second call waits again.
   *
   * @param atMost then the rest is dropped and counted
   * @return whether all of it was written or tried
   */
  public boolean close(Duration atMost) {
    accepting = false;
    LockSupport.unpark(thread);
    try {
      TimeUnit.NANOSECONDS.timedJoin(thread, Math.max(1, atMost.toNanos()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    abandoned = thread.isAlive();
    return !abandoned && queue.isEmpty();
  }

  private void run() {
    long oldest = 0;
    while (!abandoned && (accepting || waiting.get() > 0)) {
      RequestRecord record = queue.poll();
      if (record == null) {
        file.flush();
        LockSupport.parkNanos(this, IDLE_NANOS);
        continue;
      }
      if (file.isEmpty()) {
        oldest = nanoClock.getAsLong();
      }
      file.append(record);
      observe(record);
      if (file.isFull() || nanoClock.getAsLong() - oldest >= OLDEST_NANOS) {
        file.flush();
      }
      waiting.decrementAndGet();
    }
    file.flush();
    file.close();
    dropped.addAndGet(queue.size());
  }

  private void observe(RequestRecord record) {
    try {
      observer.accept(record);
    } catch (Throwable e) {
      if (!observerFailed) {
        observerFailed = true;
        complaints.accept("Live figures fail (" + e + "): records and report are not affected");
      }
    }
  }

  /**
   * Collects records as lines and writes whole lines only, one write per batch. A failed write
   * costs its records, is said once, and is followed by further tries: a disk may have room again.
   *
   * <p>One thread writes; any may read the counts.
   */
  static final class LineWriter {

    private static final int BATCH = 1 << 18;
    private static final byte[] LINE_END = {'\n'};

    private final WritableByteChannel channel;
    private final @Nullable Path path;
    private final Consumer<String> complaints;
    private final Lines lines = new Lines();
    private final AtomicLong written = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private int waiting;
    private long lookedNanos = System.nanoTime() - OLDEST_NANOS;
    private boolean torn;
    private boolean complained;

    /** Lines that wait to be written. */
    private static final class Lines extends ByteArrayOutputStream {

      Lines() {
        super(2 * BATCH);
      }

      /** A view that the next write invalidates. */
      ByteBuffer view() {
        return ByteBuffer.wrap(buf, 0, count);
      }

      void truncate(int size) {
        count = size;
      }
    }

    /**
     * @param path of the file that the channel writes to; null where it is none
     */
    LineWriter(WritableByteChannel channel, @Nullable Path path, Consumer<String> complaints) {
      this.channel = channel;
      this.path = path;
      this.complaints = complaints;
    }

    /** Records whose line is in the file as a whole. */
    long written() {
      return written.get();
    }

    /** Records that could not be made a line or not be written. */
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
      int before = lines.size();
      try {
        RecordCodec.append(record, lines);
        waiting++;
      } catch (RuntimeException e) {
        lines.truncate(before);
        failed.incrementAndGet();
        complain("A record could not be encoded and is lost: " + e);
      }
    }

    void flush() {
      if (waiting == 0) {
        return;
      }
      ByteBuffer batch = lines.view();
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
      lines.truncate(0);
      waiting = 0;
    }

    void close() {
      if (isDeleted()) {
        deleted();
      }
      try {
        channel.close();
      } catch (IOException e) {
        complain("The file of records could not be closed: " + e.getMessage());
      }
    }

    /** What is written to a file that was deleted is lost, though no write fails. */
    private boolean isDeleted() {
      return path != null && !Files.exists(path);
    }

    /** Looks once a second whether the file is still there. */
    private void write(ByteBuffer bytes) throws IOException {
      long now = System.nanoTime();
      if (now - lookedNanos >= OLDEST_NANOS) {
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
      complain(
          "Records cannot be written ("
              + why.getMessage()
              + "): the report will miss them; free the disk, later ones are still tried");
    }

    private void deleted() {
      failed.addAndGet(written.getAndSet(0));
      complain(
          "Records are lost ("
              + path
              + " was deleted while the run wrote to it): there will be no report; leave the"
              + " folder of results alone until the run has ended");
    }

    private void complain(String what) {
      if (!complained) {
        complained = true;
        complaints.accept(what);
      }
    }
  }
}
