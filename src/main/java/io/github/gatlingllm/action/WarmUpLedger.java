package io.github.gatlingllm.action;

import io.github.gatlingllm.record.RecordCodec;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.stats.LiveStats;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Requests that only warm up: their records go the way of all records, as far as bytes and live
 * figures, and are then forgotten.
 */
final class WarmUpLedger implements Ledger {

  private final String runId;
  private final AtomicLong numbers = new AtomicLong();
  private final LiveStats live = new LiveStats(System::nanoTime);
  private final BlockingQueue<RequestRecord> ended = new LinkedBlockingQueue<>();

  WarmUpLedger(String runId) {
    this.runId = runId;
  }

  @Override
  public long next() {
    return numbers.getAndIncrement();
  }

  @Override
  public String requestId(long number) {
    return runId + "-warmup-" + number;
  }

  @Override
  public void started() {}

  @Override
  public void ended() {}

  @Override
  public void keep(RequestRecord record) {
    ended.add(record);
  }

  @Override
  public boolean inStatistics() {
    return false;
  }

  /** The next request that is over; null when none is in time. */
  @Nullable RequestRecord await(long nanos) throws InterruptedException {
    RequestRecord record = ended.poll(nanos, TimeUnit.NANOSECONDS);
    if (record != null) {
      RecordCodec.write(record);
      live.accept(record);
    }
    return record;
  }
}
