package io.github.gatlingllm.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * How scarce processors were, by Linux's own account: the share of time in which somebody who could
 * run had to wait for one ({@code some} of {@code /proc/pressure/cpu}). What a load generator does
 * within a millisecond cannot be judged while others take the processors from it.
 *
 * <p>Where the system does not tell, it says that processors were there.
 */
public final class CpuPressure implements AutoCloseable {

  private static final Path FILE = Path.of("/proc/pressure/cpu");
  private static final long EVERY_MILLIS = 100;

  /** Above what a run of ours brings about by itself on two processors. */
  private static final double MOST = 0.2;

  private final LongSupplier clock;
  private final TreeMap<Long, Long> waitedNanos = new TreeMap<>();
  private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();

  /** Watches from now on. */
  public CpuPressure(LongSupplier nanoClock) {
    clock = nanoClock;
    if (Files.isReadable(FILE)) {
      var unused = thread.scheduleAtFixedRate(this::read, 0, EVERY_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  private synchronized void read() {
    try {
      String text = Files.readString(FILE);
      String micros = text.substring(text.indexOf("total=") + 6, text.indexOf('\n'));
      waitedNanos.put(clock.getAsLong(), 1_000 * Long.parseLong(micros));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The share of that time, 0 to 1. */
  public synchronized double share(long fromNanos, long untilNanos) {
    Map.Entry<Long, Long> from = waitedNanos.floorEntry(fromNanos);
    Map.Entry<Long, Long> until = waitedNanos.ceilingEntry(untilNanos);
    return from == null || until == null
        ? 0
        : (double) (until.getValue() - from.getValue()) / (until.getKey() - from.getKey());
  }

  /**
   * Whether others took so much of the processors that a bound on fractions of 1 % says nothing.
   */
  public boolean isHigh(long fromNanos, long untilNanos) {
    return share(fromNanos, untilNanos) > MOST;
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
