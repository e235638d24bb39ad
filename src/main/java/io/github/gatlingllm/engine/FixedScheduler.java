package io.github.gatlingllm.engine;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/** A fixed timetable: token k (from 0) is due at arrival + TTFT + k × ITL, whatever the load. */
final class FixedScheduler implements Scheduler {
  private final long ttftNanos;
  private final long itlNanos;
  private final List<Sequence> arrived = new ArrayList<>();
  private final PriorityQueue<Due> timetable =
      new PriorityQueue<>(Comparator.comparingLong(Due::atNanos));

  private record Due(Sequence sequence, long atNanos) {}

  FixedScheduler(long ttftNanos, long itlNanos) {
    this.ttftNanos = ttftNanos;
    this.itlNanos = itlNanos;
  }

  @Override
  public void add(Sequence sequence) {
    arrived.add(sequence);
  }

  @Override
  public void cancel(Sequence sequence) {
    arrived.remove(sequence);
    timetable.removeIf(due -> due.sequence() == sequence);
  }

  @Override
  public void advance(long nowNanos, List<Sequence> tokens) {
    for (Due due = timetable.peek();
        due != null && due.atNanos() - nowNanos <= 0;
        due = timetable.peek()) {
      timetable.remove();
      Sequence sequence = due.sequence();
      sequence.generate();
      tokens.add(sequence);
      if (!sequence.isFinished()) {
        timetable.add(new Due(sequence, due.atNanos() + itlNanos));
      }
    }
  }

  @Override
  public long plan(long nowNanos, List<Sequence> admitted) {
    for (Sequence sequence : arrived) {
      timetable.add(new Due(sequence, sequence.arrivedNanos + ttftNanos));
    }
    admitted.addAll(arrived);
    arrived.clear();
    Due next = timetable.peek();
    return next == null ? NEVER : next.atNanos();
  }

  @Override
  public EmbeddedEngine.EngineLoad load() {
    return new EmbeddedEngine.EngineLoad(timetable.size(), arrived.size(), 0, 0, 0);
  }
}
