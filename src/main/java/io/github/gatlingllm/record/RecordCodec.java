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
import org.jspecify.annotations.Nullable;

/**
 * A {@link RequestRecord} as one line of {@code llm/requests.jsonl}, and back: the fields of {@link
 * RecordField} in their order.
 *
 * <p>A record stays on one line, as {@link JsonLines} does it. Stateless.
 */
public final class RecordCodec {

  private static final Map<String, RecordField<?>> BY_KEY =
      RecordField.ALL.stream()
          .collect(Collectors.toUnmodifiableMap(RecordField::toString, field -> field));

  private static final JsonFactory JSON =
      JsonFactory.builder()
          .disable(JsonFactory.Feature.CHARSET_DETECTION)
          .enable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
          .build();

  private RecordCodec() {}

  /** The record as one line of UTF-8, line feed included. */
  public static byte[] write(RequestRecord record) {
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
   * The record in one line. Unknown keys and any order of keys are accepted, and so are files
   * without the keys that are not in every version of the format.
   *
   * @param line holds the line as UTF-8, without its line feed
   * @throws IOException if it is no record; the message is one line and says why
   */
  public static RequestRecord read(byte[] line, int offset, int length) throws IOException {
    try (JsonParser json = JSON.createParser(line, offset, length)) {
      return RequestRecord.of(values(json));
    } catch (JsonProcessingException e) {
      throw new IOException("not valid JSON: " + oneLine(e.getOriginalMessage()), e);
    } catch (IllegalArgumentException e) {
      throw new IOException(oneLine(String.valueOf(e.getMessage())), e);
    }
  }

  private static Values values(JsonParser json) throws IOException {
    if (json.nextToken() != JsonToken.START_OBJECT) {
      throw new IllegalArgumentException("not a JSON object");
    }
    Values values = new Values();
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

  /** What a line says, by field. */
  static final class Values {

    private static final Object NULL = new Object();

    private final @Nullable Object[] values = new @Nullable Object[RecordField.ALL.size()];

    void read(RecordField<?> field, JsonParser json) throws IOException {
      try {
        set(field.index(), field.type().read(json));
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(field + " " + e.getMessage(), e);
      }
    }

    void set(int field, @Nullable Object value) {
      values[field] = value == null ? NULL : value;
    }

    /** Whether the line says anything of it, be it null. */
    boolean has(RecordField<?> field) {
      return values[field.index()] != null;
    }

    @SuppressWarnings("unchecked") // a value is read by the type of its field
    <T> @Nullable T get(RecordField<T> field) {
      Object value = values[field.index()];
      return value == NULL ? null : (T) value;
    }

    <T> T get(RecordField<T> field, T absent) {
      T value = get(field);
      return value == null ? absent : value;
    }

    <T> T required(RecordField<T> field) {
      T value = get(field);
      if (value == null) {
        throw new IllegalArgumentException("no " + field);
      }
      return value;
    }
  }

  static String oneLine(String message) {
    String flat = message.replaceAll("\\s+", " ");
    return flat.length() <= 160 ? flat : flat.substring(0, 160) + "…";
  }
}
