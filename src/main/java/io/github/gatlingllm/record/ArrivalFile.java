package io.github.gatlingllm.record;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * Writes planned arrivals, a JSON line each, in whole lines. It holds 64 KiB, however many there
 * are. Not thread-safe.
 */
public final class ArrivalFile implements AutoCloseable {
  private static final int BATCH = 1 << 16;

  private final OutputStream out;
  private final JsonLine lines = new JsonLine(BATCH + 1024);

  private ArrivalFile(OutputStream out) {
    this.out = out;
  }

  /** Appends to that file. */
  public static ArrivalFile open(Path file) throws IOException {
    return new ArrivalFile(
        Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND));
  }

  /**
   * A planned arrival.
   *
   * @param scenario name of the scenario
   * @param target of its requests
   * @param stage of its requests
   * @param index position in its schedule, from 0
   * @param offsetNanos since the start of its schedule
   * @param unixNanos since the epoch
   * @param inputTokens of a replayed request; null where none is known
   * @param outputTokens of a replayed request; null where none is known
   */
  public record Line(
      String scenario,
      String target,
      String stage,
      long index,
      long offsetNanos,
      long unixNanos,
      @Nullable Integer inputTokens,
      @Nullable Integer outputTokens) {}

  /** Adds a line. */
  public void append(Line line) throws IOException {
    lines.open();
    lines.key("scenario").text(line.scenario());
    lines.key("target").text(line.target());
    lines.key("stage").text(line.stage());
    lines.key("index").integer(line.index());
    lines.key("scheduled_offset_s").seconds(line.offsetNanos());
    lines.key("scheduled_unix_ns").integer(line.unixNanos());
    lines.key("input_tokens").integer(line.inputTokens());
    lines.key("output_tokens").integer(line.outputTokens());
    lines.close();
    lines.lineEnd();
    if (lines.size() >= BATCH) {
      flush();
    }
  }

  /** Writes what is waiting. */
  public void flush() throws IOException {
    out.write(lines.toBytes());
    lines.truncate(0);
  }

  @Override
  public void close() throws IOException {
    try (out) {
      flush();
    }
  }
}
