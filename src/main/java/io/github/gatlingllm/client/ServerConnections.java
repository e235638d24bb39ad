package io.github.gatlingllm.client;

import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.PrintableText;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts how often one server closes HTTP/1.1 connections right after a response without having
 * sent {@code Connection: close}. A server that closed at least half of the last 16 connections
 * gets a new connection for each request, until it keeps more than half of them again. Thread-safe.
 */
public final class ServerConnections {

  /** A connection closed later than this after a response was closed because it was idle. */
  public static final long RIGHT_AFTER_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private static final int RECENT = 16;
  private static final int HALF = RECENT / 2;

  private final String address;
  private final LongAdder kept = new LongAdder();
  private final LongAdder closed = new LongAdder();
  private final AtomicInteger unconfirmed = new AtomicInteger();
  private final AtomicBoolean warned = new AtomicBoolean();
  private final AtomicBoolean closedRightAfter = new AtomicBoolean();

  /** One bit for each of the last {@value #RECENT} responses; 1 where the connection was closed. */
  private final AtomicInteger recent = new AtomicInteger();

  public ServerConnections(String address) {
    this.address = address;
  }

  /** Why a connection failed; the text is constant per cause. */
  public static String reasonOf(Throwable failure) {
    return ConnectionFailure.reason(failure);
  }

  public String address() {
    return address;
  }

  /** Connections that carried another request, or stayed open for a while after a response. */
  public long kept() {
    return kept.sum();
  }

  /** Connections closed right after a response without announcing it, except after its last one. */
  public long closed() {
    return closed.sum();
  }

  /** Whether a connection was closed right after a response, announced or not, by either side. */
  public boolean hasClosedRightAfter() {
    return closedRightAfter.get();
  }

  void wasClosedRightAfter() {
    closedRightAfter.set(true);
  }

  /**
   * Whether each request needs a new connection; call before each request. Connections closed after
   * the last request are not counted, because a server that shuts down closes all of them.
   */
  boolean needsNewConnections() {
    for (int i = unconfirmed.getAndSet(0); i > 0; i--) {
      closed.increment();
      note(1);
    }
    boolean isNeeded = Integer.bitCount(recent.get()) >= HALF;
    if (isNeeded && warned.compareAndSet(false, true)) {
      PrintableText.print(Sentence.text("closes_connections", address));
    }
    return isNeeded;
  }

  void wasKept() {
    kept.increment();
    note(0);
  }

  void wasClosed() {
    unconfirmed.incrementAndGet();
  }

  private void note(int bit) {
    int bits;
    do {
      bits = recent.get();
    } while (!recent.compareAndSet(bits, (bits << 1 | bit) & ((1 << RECENT) - 1)));
  }
}
