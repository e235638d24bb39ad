package io.github.gatlingllm.record;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Collects records as lines and writes whole lines only, one write per batch. A failed write costs
 * its records, is said once, and is followed by further tries: a disk may have room again.
 *
 * <p>One thread writes; any may read the counts.
 */
final class LineWriter {

  private static final int BATCH = 1 << 18;
  private static final byte[] LINE_END = {'\n'};

  private final WritableByteChannel channel;
  private final Consumer<String> complaints;
  private final Lines lines = new Lines();
  private final AtomicLong written = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private int waiting;
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

  LineWriter(WritableByteChannel channel, Consumer<String> complaints) {
    this.channel = channel;
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
    try {
      channel.close();
    } catch (IOException e) {
      complain("The file of records could not be closed: " + e.getMessage());
    }
  }

  private void write(ByteBuffer bytes) throws IOException {
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
    complain(
        "Records cannot be written ("
            + why.getMessage()
            + "): the report will miss them; free the disk, later ones are still tried");
  }

  private void complain(String what) {
    if (!complained) {
      complained = true;
      complaints.accept(what);
    }
  }
}
