package io.github.gatlingllm.bench;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * One stream as the server wrote it, or as a client says that it came: a line of JSON in a file, so
 * that clients in other languages can write it too.
 *
 * @param id its {@code X-Request-Id}; empty where the client sent none
 * @param number the server's number of it; −1 where the client does not know it
 * @param startNanos on the monotonic clock of this machine: the request was read or sent; 0 where
 *     the client tells no instants
 * @param offsetNanos each token since then; a client that keeps no gaps tells the first only
 */
@SuppressWarnings("ArrayRecordComponent") // millions of primitive values
record TimedStream(String id, long number, long startNanos, long[] offsetNanos) {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Time of the last known token. */
  long endNanos() {
    return startNanos + offsetNanos[offsetNanos.length - 1];
  }

  static void write(Path file, List<TimedStream> streams) throws IOException {
    try (Writer out = Files.newBufferedWriter(file);
        JsonGenerator json = new JsonFactory().createGenerator(out)) {
      json.setRootValueSeparator(null);
      for (TimedStream stream : streams) {
        json.writeStartObject();
        json.writeStringField("id", stream.id);
        json.writeNumberField("number", stream.number);
        json.writeNumberField("start_ns", stream.startNanos);
        json.writeFieldName("offsets_ns");
        json.writeArray(stream.offsetNanos, 0, stream.offsetNanos.length);
        json.writeEndObject();
        json.writeRaw('\n');
      }
    }
  }

  static List<TimedStream> read(Path file) throws IOException {
    List<TimedStream> streams = new ArrayList<>();
    try (BufferedReader in = Files.newBufferedReader(file)) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        JsonNode json = JSON.readTree(line);
        JsonNode offsets = json.path("offsets_ns");
        long[] nanos = new long[offsets.size()];
        for (int i = 0; i < nanos.length; i++) {
          nanos[i] = offsets.get(i).longValue();
        }
        streams.add(
            new TimedStream(
                json.path("id").asText(""),
                json.path("number").asLong(-1),
                json.path("start_ns").asLong(0),
                nanos));
      }
    }
    return streams;
  }
}
