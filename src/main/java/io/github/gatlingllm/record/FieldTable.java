package io.github.gatlingllm.record;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.io.SerializedString;
import io.github.gatlingllm.record.PlainLine.NotPlain;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes and reads lines of JSON whose keys are a catalogue of fields, in its order. */
final class FieldTable<F extends FieldTable.Field> {

  /** A constant of a catalogue, an enum. */
  interface Field {
    SerializedString key();

    FieldType<?> type();

    int ordinal();
  }

  private final F[] fields;
  private final Map<String, F> byKey = new HashMap<>();

  /** The key of each field with its quotes and its colon. */
  private final byte[][] keys;

  FieldTable(F[] fields) {
    this.fields = fields;
    keys = new byte[fields.length][];
    for (F field : fields) {
      byKey.put(field.toString(), field);
      keys[field.ordinal()] = ("\"" + field + "\":").getBytes(UTF_8);
    }
  }

  static void write(Field field, @Nullable Object value, JsonGenerator json) throws IOException {
    json.writeFieldName(field.key());
    field.type().write(json, value);
  }

  /** Reads an object; returns the highest position of a field in the line, -1 without one. */
  int read(JsonParser json, @Nullable Object[] values) throws IOException {
    if (json.currentToken() != JsonToken.START_OBJECT) {
      throw new IllegalArgumentException("not a JSON object");
    }
    int highest = -1;
    for (String key = json.nextFieldName(); key != null; key = json.nextFieldName()) {
      F field = byKey.get(key);
      if (field == null) {
        json.nextToken();
        json.skipChildren();
      } else {
        values[field.ordinal()] = value(field, json);
        highest = Math.max(highest, field.ordinal());
      }
    }
    return highest;
  }

  /** The same from a line that has no other fields, and these in their order. */
  int read(PlainLine line, @Nullable Object[] values) throws NotPlain {
    PlainLine.require(line.skip('{'));
    boolean more = true;
    int highest = -1;
    for (int i = 0; i < fields.length && more; i++) {
      if (line.skip(keys[i])) {
        values[i] = line.skipNull() ? null : fields[i].type().plain().read(line);
        more = line.hasNext('}');
        highest = i;
      }
    }
    PlainLine.require(!more && line.isOver());
    return highest;
  }

  private static @Nullable Object value(Field field, JsonParser json) throws IOException {
    try {
      return json.nextToken() == JsonToken.VALUE_NULL ? null : field.type().reader().read(json);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          "not valid JSON in " + field + ": " + e.getOriginalMessage(), e);
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new IllegalArgumentException(field + " " + e.getMessage(), e);
    }
  }
}
