package io.github.gatlingllm.record;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
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
  private final ByteArrayOutputStream lines = new ByteArrayOutputStream(BATCH + 1024);
  private final JsonGenerator json;

  private ArrivalFile(OutputStream out) throws IOException {
    this.out = out;
    this.json = RecordCodec.generator(lines);
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
    json.writeStartObject();
    write("scenario", FieldType.TEXT, line.scenario());
    write("target", FieldType.TEXT, line.target());
    write("stage", FieldType.TEXT, line.stage());
    write("index", FieldType.LONG, line.index());
    write("scheduled_offset_s", FieldType.SECONDS, line.offsetNanos());
    write("scheduled_unix_ns", FieldType.LONG, line.unixNanos());
    write("input_tokens", FieldType.INTEGER, line.inputTokens());
    write("output_tokens", FieldType.INTEGER, line.outputTokens());
    json.writeEndObject();
    json.writeRaw('\n');
    json.flush();
    if (lines.size() >= BATCH) {
      flush();
    }
  }

  private <T> void write(String key, FieldType<T> type, @Nullable T value) throws IOException {
    json.writeFieldName(key);
    type.write(json, value);
  }

  private void flush() throws IOException {
    lines.writeTo(out);
    lines.reset();
  }

  @Override
  public void close() throws IOException {
    try (out;
        json) {
      flush();
    }
  }
}
