package io.github.gatlingllm.load;

import io.github.gatlingllm.metric.NumberText;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * When requests arrived in recorded traffic, and how long they were. It takes 8 bytes per arrival,
 * and 8 more where the trace has lengths.
 */
public final class Trace implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final int ABSENT = -1;

  private final String name;
  private final long[] offsets;
  private final int[] lengths;

  private Trace(String name, long[] offsets, int[] lengths) {
    this.name = name;
    this.offsets = offsets;
    this.lengths = lengths;
  }

  /**
   * Reads a file of time stamps, or a resource of that name on the class path, see {@link
   * TraceFile}.
   *
   * @throws IllegalArgumentException in one line with file and line number, if it is no trace
   */
  public static Trace read(Path file) {
    return new TraceFile(file).read();
  }

  /** The file's name. */
  public String name() {
    return name;
  }

  /** Number of arrivals, 1 or more. */
  public int size() {
    return offsets.length;
  }

  /** The arrival's time since the first one, in nanoseconds. */
  public long offsetNanos(int index) {
    return offsets[index];
  }

  /** What the trace says of that arrival; null where it says nothing. */
  public @Nullable Lengths lengths(int index) {
    return lengths.length == 0
        ? null
        : new Lengths(present(lengths[2 * index]), present(lengths[2 * index + 1]));
  }

  /**
   * How long the traffic lasts: until one mean gap after its last arrival, so that number ÷ length
   * is its rate; 1 s where all is one instant.
   */
  public long lengthNanos() {
    long last = offsets[offsets.length - 1];
    return last == 0 ? 1_000_000_000L : last + Math.max(1, last / (offsets.length - 1));
  }

  private static @Nullable Integer present(int length) {
    return length == ABSENT ? null : (Integer) length;
  }

  @Override
  public String toString() {
    return name + " (" + NumberText.counted(size(), "arrival") + ")";
  }

  /**
   * How long a traced request was; requests that replay it may pin their lengths by it.
   *
   * @param input tokens of the prompt; null where the trace does not say
   * @param output generated tokens; null where the trace does not say
   */
  public record Lengths(@Nullable Integer input, @Nullable Integer output) {
    /** Session attribute of a replayed user: tokens of the prompt, an {@code Integer}. */
    public static final String INPUT_KEY = "inputTokens";

    /** Session attribute of a replayed user: tokens to generate, an {@code Integer}. */
    public static final String OUTPUT_KEY = "outputTokens";
  }

  /** Grows as a file is read. */
  static final class Builder {
    private final LongStream.Builder offsets = LongStream.builder();
    private final IntStream.Builder lengths = IntStream.builder();
    private boolean hasLengths;
    private int size;
    private long first;

    /** Adds the next line; instants ascend. */
    void add(long nanos, @Nullable Integer input, @Nullable Integer output) {
      first = size == 0 ? nanos : first;
      offsets.add(nanos - first);
      lengths.add(input == null ? ABSENT : input).add(output == null ? ABSENT : output);
      hasLengths |= input != null || output != null;
      size++;
    }

    int size() {
      return size;
    }

    Trace build(String name) {
      int[] all = hasLengths ? lengths.build().toArray() : new int[0];
      return new Trace(name, offsets.build().toArray(), all);
    }
  }
}
