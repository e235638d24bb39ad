package io.github.gatlingllm.action;

import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.workload.Tokenizer;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Counts tokens on one background thread, never on an event loop: prompts while their requests are
 * in flight, all answers of servers that do not report token counts, and a sample of the other
 * answers. Only the writing of records waits for counts, so the thread pauses before it waits for
 * more work: waking it for every request would cost more than counting, and on a single processor
 * delay the event loop.
 *
 * <p>Memory is bounded: while {@value #MAX_WAITING} texts or records wait, further ones are not
 * counted, which is reported at the end of the run. Thread-safe.
 */
final class TokenCounting {

  private static final int MAX_WAITING = 1 << 14;
  private static final long POLL_MILLIS = 5;

  /** Sample of answers that the server counted too: those of the first requests, then 1 in 16. */
  private static final int FIRST = 200;

  private static final int ONE_IN = 16;

  /** With more texts waiting, samples are not counted: counts that a record needs have priority. */
  private static final int FEW_WAITING = 2_048;

  /** Additional time in {@link #close} for passing on counts that were just finished. */
  private static final Duration FINISHING = Duration.ofMillis(200);

  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Thread thread = new Thread(this::run, "llm-tokenizer");
  private final BlockingQueue<Runnable> tasks;

  /** Used by the thread only. */
  private final Map<Tokenizer, CountedTexts> counted = new HashMap<>();

  /** Of prompts with a known target. */
  final SeenPrompts seen = new SeenPrompts();

  private final Set<PendingCount<?>> pending = ConcurrentHashMap.newKeySet();
  private final Set<String> failing = ConcurrentHashMap.newKeySet();
  private final AtomicLong uncounted = new AtomicLong();
  private volatile boolean closed;

  TokenCounting() {
    this(MAX_WAITING);
  }

  TokenCounting(int maxWaiting) {
    tasks = new LinkedBlockingQueue<>(maxWaiting);
    thread.setDaemon(true);
    thread.start();
  }

  final class PromptCount {
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

    /** Also counts whether the same prompt was sent to that target before. */
    PromptCount sentTo(String label) {
      target = label;
      return this;
    }

    void start() {
      if (!known) {
        var unused = tasks.offer(this::count);
      }
    }

    boolean isKnown() {
      return known;
    }

    /** Null without text, without time to count it, or if the tokenizer failed. */
    @Nullable Integer tokens() {
      return known ? tokens : null;
    }

    /** Counts it now. To be called on the thread, within {@link #countLater}. */
    void count() {
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
          PrintableText.print(
              "LLM: %s cannot count a prompt (%s); its tokens are not in the records"
                  .formatted(tokenizer.name(), e));
        }
      }
      known = true;
    }
  }

  /** A consumer of a count, called exactly once: with the count, or without it when time is up. */
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

    /** Called on the thread; time may be up while it counts. */
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

    /** Removes itself from the pending ones last, so that {@link #close} waits until it is done. */
    private boolean finish(T value) {
      boolean first = taken.compareAndSet(false, true);
      if (first) {
        try {
          then.accept(value);
        } finally {
          pending.remove(this);
        }
      }
      return first;
    }
  }

  /** Whether to count an answer that the server counted too: a sample, while few texts wait. */
  boolean isSampled(long requestIndex) {
    return (requestIndex < FIRST || requestIndex % ONE_IN == 0) && tasks.size() < FEW_WAITING;
  }

  PromptCount prompt(Tokenizer tokenizer, List<String> texts) {
    return new PromptCount(tokenizer, texts);
  }

  /** Like {@link #countLater}, but wakes the thread, for a caller that waits. */
  <T> void countNow(Supplier<T> counted, Supplier<T> uncountedValue, Consumer<T> then) {
    countLater(counted, uncountedValue, then);
    LockSupport.unpark(thread);
  }

  /** Counts on the thread and passes on the result; without time or room the other value. */
  <T> void countLater(Supplier<T> counted, Supplier<T> uncountedValue, Consumer<T> then) {
    PendingCount<T> task = new PendingCount<>(counted, uncountedValue, then);
    pending.add(task);
    if (closed || !tasks.offer(task::count) || closed) {
      task.giveUp();
    }
  }

  private void run() {
    while (!closed || !tasks.isEmpty()) {
      if (tasks.isEmpty()) {
        LockSupport.parkNanos(this, PAUSE_NANOS);
      }
      try {
        tasks.take().run();
      } catch (RuntimeException | Error | InterruptedException e) {
        thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
      }
    }
  }

  /** Waits for pending counts, and counts nothing afterwards. */
  void close(Duration atMost) {
    LockSupport.unpark(thread);
    await(atMost);
    closed = true;
    var unused = tasks.offer(() -> {}); // ends its wait
    LockSupport.unpark(thread);
    pending.forEach(PendingCount::giveUp);
    await(FINISHING);
    long lost = uncounted.getAndSet(0);
    if (lost > 0) {
      PrintableText.print(
          "LLM: the tokens of "
              + lost
              + (lost == 1 ? " request" : " requests")
              + " were not counted; the tokenizer was too slow");
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

  /** An LRU cache of counts of pooled prompts and earlier messages. Not thread-safe. */
  static final class CountedTexts {

    /** At most 32 MiB of 16-bit characters. */
    private static final int MAX_CHARS = 1 << 24;

    /** About 8 MiB in addition to the characters, for many short prompts. */
    private static final int MAX_TEXTS = 1 << 16;

    private final Tokenizer tokenizer;
    private final int maxChars;
    private final int maxTexts;
    private final Map<String, Integer> counts = new LinkedHashMap<>(16, 0.75f, true);
    private long chars;

    CountedTexts(Tokenizer tokenizer) {
      this(tokenizer, MAX_CHARS, MAX_TEXTS);
    }

    CountedTexts(Tokenizer tokenizer, int maxChars, int maxTexts) {
      this.tokenizer = tokenizer;
      this.maxChars = maxChars;
      this.maxTexts = maxTexts;
    }

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
      while ((chars > maxChars || counts.size() > maxTexts) && oldest.hasNext()) {
        chars -= oldest.next().getKey().length();
        oldest.remove();
      }
      return count;
    }
  }
}
