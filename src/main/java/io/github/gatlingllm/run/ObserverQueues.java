package io.github.gatlingllm.run;

import io.github.gatlingllm.record.RequestRecord;
import io.netty.util.internal.PlatformDependent;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * Passes the events of a run to its observers: a bounded queue and a thread for each, so that none
 * delays the recorder, an event loop, the end of the run or another observer. Thread-safe.
 */
final class ObserverQueues {

  /** 16 seconds of 2,000 requests per second. */
  static final int CAPACITY = 1 << 15;

  /**
   * Records before a thread is woken; each second wakes it too. To wake it for every record would
   * cost more than most observers need for one, and each time that a thread wakes it may take the
   * processor from a server on this machine.
   */
  private static final int WAKING_RECORDS = 1 << 12;

  private static final int MAX_BATCH = 1 << 10;

  /** Seconds in one event after which an observer counts as blocked. */
  private static final int BLOCKED_SECONDS = 3;

  private final Consumer<String> complaints;
  private final List<Lane> lanes = new CopyOnWriteArrayList<>();

  /** Number of records; of the recorder's thread. */
  private long passedOn;

  private final Object changes = new Object();
  private RunView view = RunView.OPENED;

  ObserverQueues(Consumer<String> complaints) {
    this.complaints = complaints;
  }

  void attach(List<RunObserver> observers) {
    observers.forEach(observer -> lanes.add(new Lane(observer)));
  }

  void change(Consumer<RunView> step) {
    synchronized (changes) { // so that all see the changes in the same order
      view = view.with(step);
      RunView now = view;
      lanes.forEach(lane -> lane.send(observer -> observer.tick(now)));
    }
  }

  /** Called on the recorder's thread. */
  void requestEnded(RequestRecord record) {
    boolean isWaking = ++passedOn % WAKING_RECORDS == 0;
    for (Lane lane : lanes) {
      lane.offer(record);
      if (isWaking) {
        LockSupport.unpark(lane.thread);
      }
    }
  }

  void secondPassed() {
    synchronized (changes) {
      view = view.with(next -> next.seconds++);
      RunView now = view;
      lanes.forEach(lane -> lane.tick(now));
    }
    lanes.forEach(Lane::watch); // not above, as a complaint waits for a console that is blocked
  }

  /**
   * Changes the view and waits for the observers, which receive that event, for each as long as its
   * patience.
   */
  void await(Consumer<RunView> step, BiConsumer<RunObserver, RunView> event) {
    long start = System.nanoTime();
    List<CountDownLatch> ends = new ArrayList<>();
    synchronized (changes) {
      view = view.with(step);
      RunView now = view;
      lanes.forEach(lane -> ends.add(lane.sendAwaited(observer -> event.accept(observer, now))));
    }
    for (int i = 0; i < ends.size(); i++) {
      lanes.get(i).await(ends.get(i), start);
    }
  }

  boolean isOutputLost() {
    return lanes.stream().anyMatch(lane -> lane.observer.isOutputLost());
  }

  void close() {
    lanes.forEach(Lane::close);
  }

  private final class Lane implements Runnable {
    private final RunObserver observer;

    /** Records, and events as functions of the observer. */
    private final Queue<Object> queue = PlatformDependent.newFixedMpscQueue(CAPACITY);

    private final List<RequestRecord> batch = new ArrayList<>();

    private final Thread thread;
    private final AtomicBoolean hasComplained = new AtomicBoolean();
    private final AtomicBoolean isTicking = new AtomicBoolean();

    // Numbers of events; written by the observer's thread only.
    private final AtomicLong begun = new AtomicLong();
    private final AtomicLong done = new AtomicLong();

    // Of the thread that calls watch.
    private long doneBefore;
    private int blockedSeconds;

    private volatile boolean isFull;
    private volatile boolean isOverdue;
    private volatile boolean isClosed;

    Lane(RunObserver observer) {
      this.observer = observer;
      thread = new Thread(this, "llm-" + observer.name().replace(' ', '-'));
      thread.setDaemon(true);
      thread.start();
    }

    boolean offer(Object event) {
      boolean fits = queue.offer(event);
      if (!fits) {
        isFull = true;
      }
      return fits;
    }

    void send(Consumer<RunObserver> event) {
      if (offer(event)) {
        LockSupport.unpark(thread);
      }
    }

    @Override
    public void run() {
      while (true) {
        Object event = queue.poll();
        if (event != null) {
          handle(event);
        } else if (isClosed) {
          return;
        } else {
          LockSupport.park(this);
        }
      }
    }

    @SuppressWarnings("unchecked") // what is not a record is an event of send
    private void handle(Object event) {
      begun.lazySet(begun.getPlain() + 1);
      try {
        if (event instanceof RequestRecord first) {
          observer.records(batch(first));
        } else {
          ((Consumer<RunObserver>) event).accept(observer);
        }
      } catch (Throwable e) {
        complain("failed (" + e + ")");
      }
      done.lazySet(begun.getPlain());
    }

    /** With the records behind it. */
    private List<RequestRecord> batch(RequestRecord first) {
      batch.clear();
      batch.add(first);
      while (batch.size() < MAX_BATCH && queue.peek() instanceof RequestRecord) {
        batch.add((RequestRecord) queue.remove());
      }
      return batch;
    }

    void tick(RunView now) {
      if (isTicking.compareAndSet(false, true)) {
        Consumer<RunObserver> tick =
            each -> {
              isTicking.set(false);
              each.tick(now);
            };
        if (!offer(tick)) {
          isTicking.set(false);
        }
        LockSupport.unpark(thread);
      }
    }

    void watch() {
      long handled = done.get();
      blockedSeconds = handled == doneBefore && begun.get() > handled ? blockedSeconds + 1 : 0;
      doneBefore = handled;
      if (isFull) {
        complain("cannot keep up, so events are dropped");
      } else if (blockedSeconds >= BLOCKED_SECONDS) {
        complain("has been blocked for " + blockedSeconds + " s");
      }
    }

    CountDownLatch sendAwaited(Consumer<RunObserver> event) {
      CountDownLatch end = new CountDownLatch(isOverdue ? 0 : 1);
      if (!isOverdue) {
        send(
            each -> {
              try {
                event.accept(each);
              } catch (Throwable e) {
                complain("failed (" + e + ")");
              }
              end.countDown();
            });
      }
      return end;
    }

    void await(CountDownLatch end, long startNanos) {
      try {
        long remaining = startNanos + observer.patience().toNanos() - System.nanoTime();
        if (!end.await(remaining, TimeUnit.NANOSECONDS)) {
          isOverdue = true;
          complain(isFull ? "cannot keep up, so events are dropped" : "does not return");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private void complain(String why) {
      if (hasComplained.compareAndSet(false, true)) {
        complaints.accept(
            "LLM %s: %s; its output is incomplete, the run and its records are not affected"
                .formatted(observer.name(), why));
      }
    }

    void close() {
      isClosed = true;
      LockSupport.unpark(thread);
    }
  }
}
