package io.github.gatlingllm.workload;

import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Counts tokens on one thread of its own, so that no event loop ever does: prompts while their
 * requests are in flight, answers of servers that do not count them, and of the others a sample.
 * Only the writing of records waits for it, and so the thread looks for work by itself: waking it
 * for every request would cost more than counting does, on one processor also the time of what is
 * being read.
 *
 * <p>Memory is bounded: beyond {@value #MOST_WAITING} texts or records that wait, nothing is
 * counted until there is room, and that is said at the end. Thread-safe.
 */
public final class TokenCounting {

  private static final int MOST_WAITING = 1 << 14;
  private static final long POLL_MILLIS = 5;

  /** Sample of the answers that the server counted: all of the first requests, then 1 in 16. */
  private static final int FIRST = 200;

  private static final int ONE_IN = 16;

  /** With more waiting, samples are not counted: counts that a record needs come first. */
  private static final int FEW_WAITING = 2_048;

  /** Time for handing over what was just counted, after the wait. */
  private static final Duration FINISHING = Duration.ofMillis(200);

  /** How often the thread looks for work, and after how many times in vain it wants to be woken. */
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private static final int LOOKS_IN_VAIN = 20;

  private final Thread thread = new Thread(this::run, "llm-tokenizer");
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private volatile boolean asleep;

  /** Used by the thread alone. */
  private final Map<Tokenizer, CountedTexts> counted = new HashMap<>();

  private final SeenPrompts seen = new SeenPrompts();
  private final Set<PendingCount<?>> pending = ConcurrentHashMap.newKeySet();
  private final Set<String> failing = ConcurrentHashMap.newKeySet();
  private final AtomicInteger waiting = new AtomicInteger();
  private final AtomicLong uncounted = new AtomicLong();
  private final int mostWaiting;
  private volatile boolean closed;

  public TokenCounting() {
    this(MOST_WAITING);
  }

  TokenCounting(int mostWaiting) {
    this.mostWaiting = mostWaiting;
    thread.setDaemon(true);
    thread.start();
  }

  /** The tokens of a prompt, once they are counted. */
  public final class PromptCount {
    private final Tokenizer tokenizer;
    private final List<String> texts;
    private @Nullable String target;
    private volatile boolean known;
    private @Nullable Integer tokens;

    private PromptCount(Tokenizer tokenizer, List<String> texts) {
      this.tokenizer = tokenizer;
      this.texts = texts;
      this.known = texts.isEmpty();
    }

    /** Notes too whether that target was sent the same prompt before. */
    public PromptCount sentTo(String label) {
      target = label;
      return this;
    }

    /** Counts it on the thread, as soon as that has time. */
    public void start() {
      if (!known) {
        offer(this::count);
      }
    }

    /** Whether there is nothing to wait for. */
    public boolean isKnown() {
      return known;
    }

    /** Null where there was no text, or no time to count it, or the tokenizer failed. */
    public @Nullable Integer tokens() {
      return known ? tokens : null;
    }

    /** Counts it now; call on the thread, from {@link #countLater}. */
    public void count() {
      if (known) {
        return;
      }
      if (target != null) {
        seen.add(target, texts);
      }
      try {
        tokens = counted.computeIfAbsent(tokenizer, CountedTexts::new).count(texts);
      } catch (RuntimeException e) {
        if (failing.add(tokenizer.name())) {
          System.out.println(
              "LLM: %s cannot count a prompt (%s); it stays uncounted"
                  .formatted(tokenizer.name(), e));
        }
      }
      known = true;
    }
  }

  /** A consumer of a count: called exactly once, without the count when time is up. */
  private final class PendingCount<T> {
    private final Supplier<T> counted;
    private final Supplier<T> uncountedValue;
    private final Consumer<T> then;
    private final AtomicBoolean taken = new AtomicBoolean();

    PendingCount(Supplier<T> counted, Supplier<T> uncountedValue, Consumer<T> then) {
      this.counted = counted;
      this.uncountedValue = uncountedValue;
      this.then = then;
    }

    /** On the thread: time may be up while it counts. */
    void count() {
      if (!taken.get()) {
        finish(counted.get());
      }
    }

    void giveUp() {
      if (!taken.get() && finish(uncountedValue.get())) {
        uncounted.incrementAndGet();
      }
    }

    /** Removed from the pending ones last, so that {@link #close} sees nothing half done. */
    private boolean finish(T value) {
      boolean first = taken.compareAndSet(false, true);
      if (first) {
        then.accept(value);
        pending.remove(this);
      }
      return first;
    }
  }

  /**
   * Whether an answer that the server counted is to be counted too, to compare: a sample, and only
   * while the thread has time.
   *
   * @param requestIndex position of its request in the run, from 0
   */
  public boolean isSampled(long requestIndex) {
    return (requestIndex < FIRST || requestIndex % ONE_IN == 0) && waiting.get() < FEW_WAITING;
  }

  /** How many prompts were looked at, of those whose target is known. */
  public long seenPrompts() {
    return seen.counted();
  }

  /** How many of these went to the same target before. */
  public long repeatedPrompts() {
    return seen.repeated();
  }

  /** The count of a prompt, not begun yet. */
  public PromptCount prompt(Tokenizer tokenizer, List<String> texts) {
    return new PromptCount(tokenizer, texts);
  }

  /** As {@link #countLater}, at once: somebody waits for it. */
  public <T> void countNow(Supplier<T> counted, Supplier<T> uncountedValue, Consumer<T> then) {
    countLater(counted, uncountedValue, then);
    LockSupport.unpark(thread);
  }

  /**
   * Counts on the thread and goes on with the result there; or with what there is without, on any
   * thread, if there is no time or room for counting. Goes on exactly once.
   */
  public <T> void countLater(Supplier<T> counted, Supplier<T> uncountedValue, Consumer<T> then) {
    PendingCount<T> task = new PendingCount<>(counted, uncountedValue, then);
    pending.add(task);
    if (!offer(task::count) || closed) {
      task.giveUp();
    }
  }

  private boolean offer(Runnable task) {
    if (waiting.incrementAndGet() > mostWaiting || closed) {
      waiting.decrementAndGet();
      return false;
    }
    tasks.add(task);
    if (asleep) {
      LockSupport.unpark(thread);
    }
    return true;
  }

  private void run() {
    int inVain = 0;
    while (!closed || !tasks.isEmpty()) {
      Runnable task = tasks.poll();
      if (task != null) {
        inVain = 0;
        waiting.decrementAndGet();
        run(task);
      } else if (inVain++ < LOOKS_IN_VAIN) {
        LockSupport.parkNanos(this, LOOK_NANOS);
      } else {
        asleep = true;
        if (tasks.isEmpty() && !closed) {
          LockSupport.park(this);
        }
        asleep = false;
      }
    }
  }

  private void run(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
    }
  }

  /**
   * Waits until nothing is pending any more, and counts nothing afterwards.
   *
   * @param atMost longest wait; then the rest is finished without counts
   */
  public void close(Duration atMost) {
    LockSupport.unpark(thread);
    await(atMost);
    closed = true;
    LockSupport.unpark(thread);
    pending.forEach(PendingCount::giveUp);
    await(FINISHING);
    long lost = uncounted.getAndSet(0);
    if (lost > 0) {
      System.out.println(
          "LLM: the tokens of " + lost + " requests were not counted; the tokenizer was too slow");
    }
  }

  private void await(Duration atMost) {
    long start = System.nanoTime();
    try {
      while (!pending.isEmpty() && System.nanoTime() - start < atMost.toNanos()) {
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Remembers how many tokens texts have: prompts of a pool, and all but the newest messages of a
   * conversation, are tokenized once. The texts that were asked for longest ago are forgotten when
   * there are too many of them, or of their characters. Not thread-safe.
   */
  static final class CountedTexts {

    /** At most 32 MiB, where every text is written in 16-bit characters. */
    private static final int MOST_CHARS = 1 << 24;

    /** About 8 MiB beside their characters: prompts that never come again may be short. */
    private static final int MOST_TEXTS = 1 << 16;

    private final Tokenizer tokenizer;
    private final int mostChars;
    private final int mostTexts;
    private final Map<String, Integer> counts = new LinkedHashMap<>(16, 0.75f, true);
    private long chars;

    CountedTexts(Tokenizer tokenizer) {
      this(tokenizer, MOST_CHARS, MOST_TEXTS);
    }

    CountedTexts(Tokenizer tokenizer, int mostChars, int mostTexts) {
      this.tokenizer = tokenizer;
      this.mostChars = mostChars;
      this.mostTexts = mostTexts;
    }

    /** Tokens of all these texts, each counted by itself. */
    int count(List<String> texts) {
      int sum = 0;
      for (String text : texts) {
        sum += count(text);
      }
      return sum;
    }

    private int count(String text) {
      Integer known = counts.get(text);
      if (known != null) {
        return known;
      }
      int count = tokenizer.count(text);
      counts.put(text, count);
      chars += text.length();
      var oldest = counts.entrySet().iterator();
      while ((chars > mostChars || counts.size() > mostTexts) && oldest.hasNext()) {
        chars -= oldest.next().getKey().length();
        oldest.remove();
      }
      return count;
    }
  }
}
