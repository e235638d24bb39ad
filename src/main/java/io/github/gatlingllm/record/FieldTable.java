package io.github.gatlingllm.record;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.io.SerializedString;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Writes and reads lines of JSON whose keys are a catalogue of fields, in its order. */
@SuppressWarnings("EnumOrdinal") // an array of values, one per field
final class FieldTable<F extends Enum<F> & RunInfo.Keyed> {

  private final F[] fields;
  private final FieldType<?>[] types;
  private final SerializedString[] keys;
  private final Map<String, F> byKey = new HashMap<>();

  /** A text whose key was that of {@link #former} in older versions, which is not a text. */
  private @Nullable F reused;

  private @Nullable F former;

  /**
   * @param formerKeys fields by the keys that they had in older versions, which are read as well
   */
  FieldTable(F[] fields, Function<F, FieldType<?>> type, Map<String, F> formerKeys) {
    this.fields = fields;
    types = Arrays.stream(fields).map(type).toArray(FieldType<?>[]::new);
    keys = new SerializedString[fields.length];
    for (F field : fields) {
      keys[field.ordinal()] = new SerializedString(field.key());
      byKey.put(field.key(), field);
    }
    formerKeys.forEach(
        (key, field) -> {
          F today = byKey.putIfAbsent(key, field);
          if (today != null) {
            reused = today;
            former = field;
          }
        });
  }

  void write(F field, @Nullable Object value, JsonGenerator json) throws IOException {
    json.writeFieldName(keys[field.ordinal()]);
    types[field.ordinal()].write(json, value);
  }

  /** Reads an object; returns the highest position of a field in the line, -1 without one. */
  int read(JsonParser json, @Nullable Object[] values) throws IOException {
    if (json.currentToken() != JsonToken.START_OBJECT) {
      throw new IllegalArgumentException("not a JSON object");
    }
    int highest = -1;
    int likely = 0;
    while (true) {
      F field = fields[likely];
      if (!json.nextFieldName(keys[likely])) {
        if (json.currentToken() != JsonToken.FIELD_NAME) {
          return highest;
        }
        field = byKey.get(json.currentName());
      }
      if (field == null) {
        json.nextToken();
        json.skipChildren();
        continue;
      }
      int index = read(field, json, values);
      highest = Math.max(highest, index);
      likely = (index + 1) % fields.length;
    }
  }

  private int read(F named, JsonParser json, @Nullable Object[] values) throws IOException {
    try {
      JsonToken token = json.nextToken();
      F field = named != reused || token == JsonToken.VALUE_STRING ? named : requireNonNull(former);
      int index = field.ordinal();
      values[index] = token == JsonToken.VALUE_NULL ? null : types[index].read(json);
      return index;
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          "not valid JSON in " + named.key() + ": " + e.getOriginalMessage(), e);
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new IllegalArgumentException(named.key() + " " + e.getMessage(), e);
    }
  }
}
