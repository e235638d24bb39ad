package io.github.gatlingllm.action;

import io.github.gatlingllm.client.GenerationRequest;
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
 * Counts tokens on one background thread, never on an event loop: all prompts and answers of
 * servers that do not report token counts, prompts while their requests are in flight, and a sample
 * of the others. A prompt that differs from an earlier one only in its prefix is not counted again.
 * Only the writing of records waits for counts, so the thread pauses before it waits for more work:
 * waking it for every request would cost more than counting, and on a single processor delay the
 * event loop.
 *
 * <p>Memory is bounded: while texts and records of {@value #MAX_WAITING} bytes wait, further ones
 * are not counted, which is reported at the end of the run. Thread-safe.
 */
final class TokenCounting {

  private static final long MAX_WAITING = 16 << 20;

  /** About the size of a record without its texts. */
  private static final int TASK_BYTES = 1_024;

  private static final long POLL_MILLIS = 5;

  /** Sample of what the server counted too: the first requests, then 1 in 16. */
  private static final int FIRST = 200;

  private static final int ONE_IN = 16;

  /** Divisor of the limit above which no samples are counted: a record's needs have priority. */
  private static final int FEW_WAITING = 8;

  /** Additional time in {@link #close} for passing on counts that were just finished. */
  private static final Duration FINISHING = Duration.ofMillis(200);

  /** At most 32 MiB of 16-bit characters. */
  private static final int MAX_CHARS = 1 << 24;

  /** About 8 MiB in addition to the characters, for many short prompts. */
  private static final int MAX_TEXTS = 1 << 16;

  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private final Thread thread = new Thread(this::run, "llm-tokenizer");
  private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
  private final AtomicLong waitingBytes = new AtomicLong();
  private final long maxWaiting;
  private final int maxChars;
  private final int maxTexts;

  /** Used by the thread only. */
  private final Map<Tokenizer, CountedTexts> counted = new HashMap<>();

  private final Set<PendingCount<?>> pending = ConcurrentHashMap.newKeySet();
  private final Set<String> failing = ConcurrentHashMap.newKeySet();
  private final AtomicLong uncounted = new AtomicLong();
  private volatile boolean isClosed;

  TokenCounting() {
    this(MAX_WAITING, MAX_CHARS, MAX_TEXTS);
  }

  /**
   * @param maxChars of all texts whose counts are retained
   * @param maxTexts number of these texts
   */
  TokenCounting(long maxWaiting, int maxChars, int maxTexts) {
    this.maxWaiting = maxWaiting;
    this.maxChars = maxChars;
    this.maxTexts = maxTexts;
    thread.setDaemon(true);
    thread.start();
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

  /** Whether to count what the server counted too: of a sample, while few texts wait. */
  boolean isSampled(long requestIndex) {
    return (requestIndex < FIRST || requestIndex % ONE_IN == 0)
        && waitingBytes.get() < maxWaiting / FEW_WAITING;
  }

  /** The tokens of a prompt; null if the tokenizer failed. To be called on the thread. */
  @Nullable Integer prompt(Tokenizer tokenizer, GenerationRequest body) {
    try {
      return counted
          .computeIfAbsent(tokenizer, each -> new CountedTexts(each, maxChars, maxTexts))
          .count(body.prefix(), body.promptTexts());
    } catch (Tokenizer.Uncounted e) {
      return null; // no request to a server during the load
    } catch (RuntimeException e) {
      if (failing.add(tokenizer.name())) {
        PrintableText.print(
            "LLM: %s cannot count a prompt (%s); its tokens are not in the records"
                .formatted(tokenizer.name(), e));
      }
      return null;
    }
  }

  /** Does that on the thread; false without room for the texts. */
  boolean offer(Runnable task, int textBytes) {
    int bytes = TASK_BYTES + textBytes;
    if (waitingBytes.addAndGet(bytes) > maxWaiting) {
      waitingBytes.addAndGet(-bytes);
      return false;
    }
    return tasks.offer(
        () -> {
          waitingBytes.addAndGet(-bytes);
          task.run();
        });
  }

  /** Like {@link #countLater}, but wakes the thread, for a caller that waits. */
  <T> void countNow(
      int textBytes, Supplier<T> counted, Supplier<T> uncountedValue, Consumer<T> then) {
    countLater(textBytes, counted, uncountedValue, then);
    LockSupport.unpark(thread);
  }

  /** Counts on the thread and passes on the result; without time or room the other value. */
  <T> void countLater(
      int textBytes, Supplier<T> counted, Supplier<T> uncountedValue, Consumer<T> then) {
    PendingCount<T> task = new PendingCount<>(counted, uncountedValue, then);
    pending.add(task);
    if (isClosed || !offer(task::count, textBytes) || isClosed) {
      task.giveUp();
    }
  }

  private void run() {
    while (!isClosed || !tasks.isEmpty()) {
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

  /** Counts nothing after what is pending; returns the requests whose tokens were not counted. */
  long close(Duration max) {
    LockSupport.unpark(thread);
    await(max);
    isClosed = true;
    var unused = tasks.offer(() -> {}); // ends its wait
    LockSupport.unpark(thread);
    pending.forEach(PendingCount::giveUp);
    await(FINISHING);
    return uncounted.getAndSet(0);
  }

  private void await(Duration max) {
    long start = System.nanoTime();
    try {
      while (!pending.isEmpty() && System.nanoTime() - start < max.toNanos()) {
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** An LRU cache of counts of pooled prompts and earlier messages. Not thread-safe. */
  private static final class CountedTexts {

    /** Prefixes up to this length differ from request to request, and are not cached. */
    private static final int NONCE_CHARS = 64;

    private final Tokenizer tokenizer;
    private final int maxChars;
    private final int maxTexts;
    private final Map<Text, Integer> counts = new LinkedHashMap<>(16, 0.75f, true);
    private long chars;

    CountedTexts(Tokenizer tokenizer, int maxChars, int maxTexts) {
      this.tokenizer = tokenizer;
      this.maxChars = maxChars;
      this.maxTexts = maxTexts;
    }

    /** Tokens of all texts; those that begin with the prefix need no new count for a new prefix. */
    int count(String prefix, List<String> texts) {
      int sum = 0;
      for (String text : texts) {
        boolean isPrefixed =
            !prefix.isEmpty() && text.length() > prefix.length() && text.startsWith(prefix);
        sum += isPrefixed ? afterPrefix(prefix, text) : counted(new Text(text, false), text, 0);
      }
      return sum;
    }

    private int afterPrefix(String prefix, String text) {
      int first =
          prefix.length() > NONCE_CHARS
              ? counted(new Text(prefix, false), prefix, 0)
              : tokenizer.count(prefix);
      return first + counted(new Text(text.substring(prefix.length()), true), text, first);
    }

    /** The tokens of {@code complete} less those before, if the text was not counted earlier. */
    private int counted(Text text, String complete, int before) {
      Integer known = counts.get(text);
      if (known != null) {
        return known;
      }
      int count = tokenizer.count(complete) - before;
      counts.put(text, count);
      chars += text.chars().length();
      var oldest = counts.entrySet().iterator();
      while ((chars > maxChars || counts.size() > maxTexts) && oldest.hasNext()) {
        chars -= oldest.next().getKey().chars().length();
        oldest.remove();
      }
      return count;
    }

    /** A text, or what follows a prefix: there its tokens may begin differently. */
    private record Text(String chars, boolean isAfterPrefix) {}
  }
}
