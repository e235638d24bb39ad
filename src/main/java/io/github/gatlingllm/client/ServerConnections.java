package io.github.gatlingllm.client;

import io.github.gatlingllm.record.ClockOffset.DateChange;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * How one server treats the connections that its HTTP/1.1 answers leave open: whether it closes
 * them right after an answer without having said {@code Connection: close}; and what its clock
 * says. A server that closed most of the last ones gets a new connection for each request, until it
 * keeps most of them again. Thread-safe.
 */
public final class ServerConnections {

  /** A connection that is closed later than this after an answer was closed for being idle. */
  public static final long RIGHT_AFTER_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private static final int RECENT = 16;
  private static final int MOST = RECENT / 2;

  private final String address;
  private final ServerDates dates = new ServerDates();
  private final LongAdder kept = new LongAdder();
  private final LongAdder closed = new LongAdder();
  private final AtomicInteger unconfirmed = new AtomicInteger();
  private final AtomicBoolean said = new AtomicBoolean();

  /** A bit for each of the last {@value #RECENT} answers, 1 where its connection was closed. */
  private final AtomicInteger recent = new AtomicInteger();

  /**
   * @param address host and port
   */
  public ServerConnections(String address) {
    this.address = address;
  }

  /** Connections that served another request, or were still open a while after their answer. */
  public long kept() {
    return kept.sum();
  }

  /**
   * Connections that the server closed right after an answer, without having said so, and not after
   * its last one.
   */
  public long closed() {
    return closed.sum();
  }

  /** When the {@code Date} of its answers changed, by that clock of epoch time. */
  public List<DateChange> dateChanges(LongUnaryOperator clock) {
    return dates.changes(clock);
  }

  void answered(@Nullable String date, long sentNanos, long receivedNanos) {
    dates.answered(date, sentNanos, receivedNanos);
  }

  /**
   * Whether a kept-alive connection is not to be relied on; to be asked before each request. What
   * was closed after the last one counts for nothing: a server that goes away closes them all.
   */
  boolean closesMost() {
    for (int i = unconfirmed.getAndSet(0); i > 0; i--) {
      closed.increment();
      note(1);
    }
    boolean most = Integer.bitCount(recent.get()) >= MOST;
    if (most && said.compareAndSet(false, true)) {
      System.out.println(
          "LLM: "
              + address
              + " closes its connections after an answer without saying so (Connection: close), so"
              + " each request gets a new one; the time to connect is in connect_s and in TTFT");
    }
    return most;
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
