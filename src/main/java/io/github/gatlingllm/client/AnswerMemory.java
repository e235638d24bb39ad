package io.github.gatlingllm.client;

import io.github.gatlingllm.figures.metric.Sentence;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits the memory that one answer, and all answers of the process together, use while they
 * arrive, so that no server can end a run with an OutOfMemoryError. Only arrays of more than
 * {@value #UNCOUNTED} bytes are counted, which few answers need.
 */
final class AnswerMemory {

  static final int UNCOUNTED = 64 * 1024;

  /** Limit of one answer, with all its texts, its current line and its body: 64 MiB. */
  private static final long MAX_PER_ANSWER = 64L << 20;

  private static final long MIB = 1 << 20;

  private static final long MAX_OF_ALL = Runtime.getRuntime().maxMemory() / 4;
  private static final AtomicLong ALL = new AtomicLong();

  private final AtomicLong all;
  private final long maxOfAll;
  private long used;

  /** An answer exceeds a limit. The message is constant per cause and names the limit. */
  static final class TooLarge extends RuntimeException {
    TooLarge(String what, long max) {
      super(Sentence.text("too_large", what, max), null, false, false);
    }
  }

  AnswerMemory() {
    this(ALL, MAX_OF_ALL);
  }

  /**
   * @param all bytes of all answers together
   */
  AnswerMemory(AtomicLong all, long maxOfAll) {
    this.all = all;
    this.maxOfAll = maxOfAll;
  }

  void replace(int before, int after) {
    long more = counted(after) - counted(before);
    if (more == 0) {
      return;
    }
    if (used + more > MAX_PER_ANSWER) {
      throw new TooLarge("answer", MAX_PER_ANSWER / MIB);
    }
    if (all.addAndGet(more) > maxOfAll && more > 0) {
      all.addAndGet(-more);
      throw new TooLarge("answers", maxOfAll / MIB);
    }
    used += more;
  }

  private static long counted(int bytes) {
    return bytes > UNCOUNTED ? bytes : 0;
  }

  void release() {
    if (used != 0) {
      all.addAndGet(-used);
      used = 0;
    }
  }
}
