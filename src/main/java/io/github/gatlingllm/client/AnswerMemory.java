package io.github.gatlingllm.client;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What one answer may hold in memory while it comes, and all answers of the process together, so
 * that no server can end a run with an OutOfMemoryError. What goes beyond is {@link TooLarge}.
 *
 * <p>Only arrays of more than {@value #FREE} bytes are counted: hardly any answer has one. An
 * answer belongs to one thread; the sum is shared by all.
 */
final class AnswerMemory {

  /** Arrays up to this many bytes are not counted. */
  static final int FREE = 64 * 1024;

  /** One answer, all its texts, its line and its body together: 64 MiB. */
  static final long MOST_OF_ONE = 64L << 20;

  private static final Sum OF_ALL = new Sum(Runtime.getRuntime().maxMemory() / 4);

  private final Sum sum;
  private long held;

  /** What all answers hold together, in bytes. */
  static final class Sum {
    private final long most;
    private final AtomicLong held = new AtomicLong();

    Sum(long most) {
      this.most = most;
    }
  }

  /** More came than is kept. The message is constant per cause and names the bound. */
  public static final class TooLarge extends RuntimeException {
    public TooLarge(String message) {
      super(message, null, false, false);
    }
  }

  /** Of an answer that shares the memory of this process: a quarter of the heap for all. */
  public AnswerMemory() {
    this(OF_ALL);
  }

  AnswerMemory(Sum sum) {
    this.sum = sum;
  }

  /**
   * An array takes the place of another one.
   *
   * @throws TooLarge if it must not be made
   */
  void replace(int before, int after) {
    long more = counted(after) - counted(before);
    if (more == 0) {
      return;
    }
    if (held + more > MOST_OF_ONE) {
      throw new TooLarge("answer holds more than " + MOST_OF_ONE / (1 << 20) + " MiB");
    }
    if (sum.held.addAndGet(more) > sum.most && more > 0) {
      sum.held.addAndGet(-more);
      throw new TooLarge(
          "answers under way hold more than "
              + sum.most / (1 << 20)
              + " MiB together, a quarter of the heap: raise -Xmx");
    }
    held += more;
  }

  private static long counted(int bytes) {
    return bytes > FREE ? bytes : 0;
  }

  /** Nothing more comes: what it holds counts for the others no more. */
  public void release() {
    if (held != 0) {
      sum.held.addAndGet(-held);
      held = 0;
    }
  }
}
