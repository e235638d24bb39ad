package io.github.gatlingllm.record;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Health of the load generator in an interval of about a second: a value or null for each {@link
 * GeneratorField}. It is a line of {@code llm/generator.jsonl}. Reading takes bounded memory and
 * stops at a line that is damaged or cut off. Not thread-safe.
 */
public final class GeneratorSecond {

  private static final Map<String, GeneratorField<?>> BY_KEY =
      GeneratorField.ALL.stream()
          .collect(Collectors.toUnmodifiableMap(GeneratorField::toString, field -> field));

  private static final JsonFactory JSON = new JsonFactory();

  private final @Nullable Object[] values = new @Nullable Object[GeneratorField.ALL.size()];

  /** Sets a value; null if the system does not report it. */
  public <T> GeneratorSecond with(GeneratorField<T> field, @Nullable T value) {
    values[field.index()] = value;
    return this;
  }

  /** The value of a field; null if there is none. */
  @SuppressWarnings("unchecked") // a value has the type of its field
  public <T> @Nullable T get(GeneratorField<T> field) {
    return (T) values[field.index()];
  }

  /** The value of a field; 0 if there is none. */
  public long number(GeneratorField<Long> field) {
    Long value = get(field);
    return value == null ? 0 : value;
  }

  /** The largest value of a field; 0 if there is none. */
  public int largest(GeneratorField<int[]> field) {
    int[] all = get(field);
    int largest = 0;
    for (int value : all == null ? new int[0] : all) {
      largest = Math.max(largest, value);
    }
    return largest;
  }

  /** Appends it to that file, which is created if it does not exist. */
  public void append(Path file) throws IOException {
    JsonLines.append(
        file,
        json -> {
          json.writeStartObject();
          for (GeneratorField<?> field : GeneratorField.ALL) {
            write(field, json);
          }
          json.writeEndObject();
        });
  }

  private <T> void write(GeneratorField<T> field, JsonGenerator json) throws IOException {
    json.writeFieldName(field.toString());
    field.type().write(json, get(field));
  }

  /**
   * Passes every line to {@code sink}, in the order of the file; none if the file does not exist.
   *
   * @return what is wrong with the line at which reading stopped; null if it read the whole file
   * @throws IOException if the file cannot be read
   */
  public static @Nullable String read(Path file, Consumer<GeneratorSecond> sink)
      throws IOException {
    long line = 1;
    try (InputStream in = Files.newInputStream(file);
        JsonParser json = JSON.createParser(in)) {
      for (JsonToken token = json.nextToken(); token != null; ) {
        if (token != JsonToken.START_OBJECT) {
          throw new IllegalArgumentException("not a JSON object");
        }
        sink.accept(second(json));
        line++;
        token = json.nextToken();
      }
    } catch (NoSuchFileException e) {
      return null;
    } catch (JsonProcessingException e) {
      return "line " + line + ": not valid JSON";
    } catch (IllegalArgumentException e) {
      return "line " + line + ": " + e.getMessage();
    }
    return null;
  }

  private static GeneratorSecond second(JsonParser json) throws IOException {
    GeneratorSecond second = new GeneratorSecond();
    for (String key = json.nextFieldName(); key != null; key = json.nextFieldName()) {
      GeneratorField<?> field = BY_KEY.get(key);
      json.nextToken();
      if (field == null) {
        json.skipChildren();
      } else {
        read(field, second, json);
      }
    }
    if (json.currentToken() != JsonToken.END_OBJECT) {
      throw new IllegalArgumentException("it is cut off");
    }
    if (second.get(GeneratorField.START) == null || second.number(GeneratorField.LENGTH) <= 0) {
      throw new IllegalArgumentException(
          "no " + GeneratorField.START + ", or no " + GeneratorField.LENGTH);
    }
    return second;
  }

  private static <T> void read(GeneratorField<T> field, GeneratorSecond second, JsonParser json)
      throws IOException {
    try {
      second.with(field, field.type().read(json));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(field + " " + e.getMessage(), e);
    }
  }
}
