package io.github.gatlingllm.load;

import io.github.gatlingllm.figures.metric.NumberText;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Arrival times and token counts of recorded requests. Takes 8 bytes per arrival, and 8 more if the
 * trace has token counts.
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
   * @throws IllegalArgumentException with file and line number in one line, if it is not a trace
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
  long offsetNanos(int index) {
    return offsets[index];
  }

  /** Token counts of the request of that arrival; null if the trace has none. */
  public @Nullable Lengths lengths(int index) {
    return lengths.length == 0
        ? null
        : new Lengths(present(lengths[2 * index]), present(lengths[2 * index + 1]));
  }

  /**
   * Length of the traffic: up to one mean gap after its last arrival, so that number ÷ length is
   * the rate; 1 s if all arrivals have one instant.
   */
  long lengthNanos() {
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
   * Token counts of a recorded request, which a replayed request may use for its prompt and answer.
   *
   * @param input prompt tokens; null if not recorded
   * @param output generated tokens; null if not recorded
   */
  public record Lengths(@Nullable Integer input, @Nullable Integer output) {
    /** Session attribute of a replayed user: tokens of the prompt, an {@code Integer}. */
    public static final String INPUT_KEY = "inputTokens";

    /** Session attribute of a replayed user: tokens to generate, an {@code Integer}. */
    public static final String OUTPUT_KEY = "outputTokens";
  }

  /** Collects the arrivals of a file. */
  static final class Builder {
    private final LongStream.Builder offsets = LongStream.builder();
    private final IntStream.Builder lengths = IntStream.builder();
    private boolean hasLengths;
    private int size;
    private long first;

    /** Adds the next arrival; instants ascend. */
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
