package io.github.gatlingllm.action;

import io.gatling.commons.stats.KO$;
import io.gatling.commons.stats.OK$;
import io.gatling.commons.stats.Status;
import io.gatling.core.session.GroupBlock;
import io.gatling.core.session.Session;
import io.gatling.core.stats.StatsEngine;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.Timing;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import scala.Option;

/**
 * Passes rows to Gatling's statistics in batches of {@value #MAX} or 20 ms, on the threads of its
 * actors: to wake such a thread for each row takes time from reading. Rows are passed on before
 * their user leaves; where Gatling stops a run by force, those of the last 20 ms are in our records
 * only. One per event loop, whose thread adds rows.
 */
final class StatsBatcher {

  private static final int MAX = 128;

  private static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private static final FastThreadLocal<StatsBatcher> OF_THREAD =
      new FastThreadLocal<>() {
        @Override
        protected StatsBatcher initialValue() {
          return new StatsBatcher();
        }
      };

  private final Queue<Runnable> rows = new ConcurrentLinkedQueue<>();
  private int waiting;
  private boolean isTimed;

  private StatsBatcher() {}

  /** Logs the row of a request, and its groups {@code <name> TTFT} and {@code <name> SLO}. */
  static Session log(RequestRecord record, Session session, LlmAction step) {
    Timing timing = record.timing();
    RequestRecord.RequestOutcome outcome = record.outcome();
    Long admitted = timing.admittedUnixNanos();
    long startMillis = millis(admitted == null ? timing.startUnixNanos() : admitted);
    long endMillis = startMillis + millis(Objects.requireNonNullElse(timing.closedNanos(), 0L));
    log(
        session.eventLoop(),
        step.actors,
        () -> {
          if (!step.target.run.isLoad()) {
            return;
          }
          String name = record.identity().name();
          StatsEngine statsEngine = step.statsEngine();
          statsEngine.logResponse(
              session.scenario(),
              session.groups(),
              name,
              startMillis,
              endMillis,
              status(outcome.ok()),
              Option.apply(outcome.httpStatus()).map(String::valueOf),
              Option.apply(outcome.error()).map(PrintableText::of));
          Long ttft = timing.ttftNanos();
          if (ttft != null) {
            group(statsEngine, session, name + " TTFT", startMillis, ttft, outcome.ok());
          }
          if (outcome.sloOk() != null) {
            long latency = Objects.requireNonNullElse(timing.latencyFromScheduleNanos(), 0L);
            group(statsEngine, session, name + " SLO", startMillis, latency, outcome.sloOk());
          }
        });
    return session.logGroupRequestTimings(startMillis, endMillis);
  }

  private static void group(
      StatsEngine statsEngine,
      Session session,
      String name,
      long startMillis,
      long durationNanos,
      boolean ok) {
    long millis = millis(durationNanos);
    @SuppressWarnings("unchecked") // a List appended to is a List
    scala.collection.immutable.List<String> path =
        (scala.collection.immutable.List<String>) session.groups().appended(name);
    statsEngine.logGroupEnd(
        session.scenario(),
        new GroupBlock(path, startMillis, (int) millis, status(ok)),
        startMillis + millis);
  }

  private static Status status(boolean ok) {
    return ok ? OK$.MODULE$ : KO$.MODULE$;
  }

  private static long millis(long nanos) {
    return Math.round(nanos / 1e6);
  }

  static void log(EventLoop eventLoop, Executor actors, Runnable row) {
    StatsBatcher batch = OF_THREAD.get();
    batch.rows.add(row);
    if (++batch.waiting >= MAX) {
      batch.handOver(actors);
    } else if (!batch.isTimed) {
      batch.isTimed = true;
      EventLoops.at(
          eventLoop,
          System.nanoTime() + LONGEST_NANOS,
          () -> {
            batch.isTimed = false;
            batch.handOver(actors);
          });
    }
  }

  /** Passes on the rows of this event loop: a user leaves, and with the last one the run ends. */
  static void userLeaves() {
    OF_THREAD.get().logAll();
  }

  private void handOver(Executor actors) {
    if (waiting > 0) {
      waiting = 0;
      try {
        actors.execute(this::logAll);
      } catch (RejectedExecutionException e) {
        logAll();
      }
    }
  }

  /** Returns when all rows are passed on, also those that another thread is at. */
  private synchronized void logAll() {
    for (Runnable row = rows.poll(); row != null; row = rows.poll()) {
      row.run();
    }
  }
}
