package io.github.gatlingllm.client;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits the memory that one answer, and all answers of the process together, use while they
 * arrive, so that no server can end a run with an OutOfMemoryError. Only arrays of more than
 * {@value #UNCOUNTED} bytes are counted, which few answers need.
 */
final class AnswerMemory {

  static final int UNCOUNTED = 64 * 1024;

  /** Limit of one answer, with all its texts, its current line and its body: 64 MiB. */
  static final long MAX_PER_ANSWER = 64L << 20;

  private static final Total PROCESS = new Total(Runtime.getRuntime().maxMemory() / 4);

  private final Total total;
  private long held;

  static final class Total {
    private final long limit;
    private final AtomicLong held = new AtomicLong();

    Total(long limit) {
      this.limit = limit;
    }
  }

  /** An answer exceeds a limit. The message is constant per cause and names the limit. */
  static final class TooLarge extends RuntimeException {
    TooLarge(String message) {
      super(message, null, false, false);
    }
  }

  AnswerMemory() {
    this(PROCESS);
  }

  AnswerMemory(Total total) {
    this.total = total;
  }

  void replace(int before, int after) {
    long more = counted(after) - counted(before);
    if (more == 0) {
      return;
    }
    if (held + more > MAX_PER_ANSWER) {
      throw new TooLarge("answer holds more than " + MAX_PER_ANSWER / (1 << 20) + " MiB");
    }
    if (total.held.addAndGet(more) > total.limit && more > 0) {
      total.held.addAndGet(-more);
      throw new TooLarge(
          "answers under way hold more than "
              + total.limit / (1 << 20)
              + " MiB together, a quarter of the heap: raise -Xmx");
    }
    held += more;
  }

  private static long counted(int bytes) {
    return bytes > UNCOUNTED ? bytes : 0;
  }

  void release() {
    if (held != 0) {
      total.held.addAndGet(-held);
      held = 0;
    }
  }
}
