package io.github.gatlingllm.record;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Converts a {@link RequestRecord} to one line of {@code llm/requests.jsonl} and back: the fields
 * of {@link RecordField} in their order. Characters that end a line are escaped as by {@link
 * JsonLines}. Stateless.
 */
final class RecordCodec {

  private static final Map<String, RecordField<?>> BY_KEY =
      RecordField.ALL.stream()
          .collect(Collectors.toUnmodifiableMap(RecordField::toString, field -> field));

  private static final JsonFactory JSON =
      JsonFactory.builder()
          .disable(JsonFactory.Feature.CHARSET_DETECTION)
          .enable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
          .build();

  private RecordCodec() {}

  /** The record as one line of UTF-8, with its line feed. */
  static byte[] write(RequestRecord record) {
    ByteArrayOutputStream line = new ByteArrayOutputStream(2_048);
    append(record, line);
    return line.toByteArray();
  }

  static void append(RequestRecord record, OutputStream lines) {
    try (JsonGenerator json = JsonLines.generator(JSON, lines)) {
      json.writeStartObject();
      for (RecordField<?> field : RecordField.ALL) {
        if (field.isIn(record)) {
          write(field, record, json);
        }
      }
      json.writeEndObject();
      json.writeRaw('\n');
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    }
  }

  private static <T> void write(RecordField<T> field, RequestRecord record, JsonGenerator json)
      throws IOException {
    json.writeFieldName(field.key());
    field.type().write(json, field.get(record));
  }

  /**
   * Parses a line. Keys may be in any order. Unknown keys are skipped, and keys that older versions
   * of the format lack may be missing.
   *
   * @param line holds the line as UTF-8, without its line feed
   * @throws IOException with a one-line message, if the line is not a record
   */
  static RequestRecord read(byte[] line, int offset, int length) throws IOException {
    try (JsonParser json = JSON.createParser(line, offset, length)) {
      return values(json).record();
    } catch (JsonProcessingException e) {
      throw new IOException("not valid JSON: " + oneLine(e.getOriginalMessage()), e);
    } catch (IllegalArgumentException e) {
      throw new IOException(oneLine(String.valueOf(e.getMessage())), e);
    }
  }

  private static RecordValues values(JsonParser json) throws IOException {
    if (json.nextToken() != JsonToken.START_OBJECT) {
      throw new IllegalArgumentException("not a JSON object");
    }
    RecordValues values = new RecordValues();
    int likely = 0;
    for (String key = json.nextFieldName(); key != null; key = json.nextFieldName()) {
      RecordField<?> field = RecordField.ALL.get(likely);
      if (!field.key().getValue().equals(key)) {
        field = BY_KEY.get(key);
      }
      json.nextToken();
      if (field == null) {
        json.skipChildren();
      } else {
        values.read(field, json);
        likely = (field.index() + 1) % RecordField.ALL.size();
      }
    }
    if (json.nextToken() != null) {
      throw new IllegalArgumentException("more than one JSON object");
    }
    return values;
  }

  static String oneLine(String message) {
    String flat = message.replaceAll("\\s+", " ");
    return flat.length() <= 160 ? flat : flat.substring(0, 160) + "…";
  }
}
