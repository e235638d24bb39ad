package io.github.gatlingllm.bench;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SequenceWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One stream as the server wrote it, or as a client states that it came: a line of JSON in a file,
 * so that clients in other languages can write it too.
 *
 * @param id its {@code X-Request-Id}; empty where the client sent none
 * @param number the server's number of it; −1 where the client does not know it
 * @param startNanos on the monotonic clock of this machine: the request was read or sent; 0 where
 *     the client tells no instants
 * @param offsetNanos each token since then; a client that keeps no gaps tells the first only
 */
@SuppressWarnings("ArrayRecordComponent") // millions of primitive values
record TimedStream(
    String id,
    long number,
    @JsonProperty("start_ns") long startNanos,
    @JsonProperty("offsets_ns") long[] offsetNanos) {

  private static final ObjectMapper JSON =
      new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

  @JsonCreator
  static TimedStream of(
      @JsonProperty("id") @Nullable String id,
      @JsonProperty("number") @Nullable Long number,
      @JsonProperty("start_ns") long startNanos,
      @JsonProperty("offsets_ns") long[] offsetNanos) {
    return new TimedStream(
        id == null ? "" : id, number == null ? -1 : number, startNanos, offsetNanos);
  }

  /** Time of the last known token. */
  long endNanos() {
    return startNanos + offsetNanos[offsetNanos.length - 1];
  }

  static void write(Path file, List<TimedStream> streams) throws IOException {
    try (SequenceWriter lines =
        JSON.writer().withRootValueSeparator("\n").writeValues(file.toFile())) {
      lines.writeAll(streams);
    }
  }

  static List<TimedStream> read(Path file) throws IOException {
    try (MappingIterator<TimedStream> lines =
        JSON.readerFor(TimedStream.class).readValues(file.toFile())) {
      return lines.readAll();
    }
  }
}
