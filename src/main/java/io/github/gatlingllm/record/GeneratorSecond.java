package io.github.gatlingllm.record;

import static io.github.gatlingllm.record.FieldType.INTEGERS;
import static io.github.gatlingllm.record.FieldType.LONG;
import static io.github.gatlingllm.record.FieldType.SECONDS;
import static io.github.gatlingllm.record.FieldType.TEXT;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Health of the load generator in about a second: a line of {@code llm/generator.jsonl}. */
@SuppressWarnings("EnumOrdinal") // an array of values, one per field
public final class GeneratorSecond {

  /** The delays, in milliseconds, that {@link GeneratorField#LATEST_LOOP_US} counts time above. */
  public static final List<Integer> LATE_MS = List.of(1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000);

  /** A start later than that many milliseconds is late: counted here, warned of by a check. */
  public static final int LATE_START_MS = 20;

  private static final JsonFactory JSON = new JsonFactory();
  private static final GeneratorField[] ALL = GeneratorField.values();
  private static final FieldTable<GeneratorField> FIELDS =
      new FieldTable<>(ALL, GeneratorField::type, Map.of());

  private final @Nullable Object[] values = new @Nullable Object[ALL.length];

  /**
   * The catalogue of the fields of {@code generator.jsonl}, in their order: their type. The key is
   * the name in lower case, its ending the unit, and {@code docs/records.md} has the meaning. A new
   * field is an entry here, the line of code that measures it, and its meaning.
   */
  @SuppressWarnings("ImmutableEnumChecker") // types have no state
  public enum GeneratorField implements RunInfo.Keyed {
    INJECTOR(TEXT),
    START_UNIX_NS(LONG),
    LENGTH_S(SECONDS),
    LOOP_LAG_P50_US(INTEGERS),
    LOOP_LAG_P99_US(INTEGERS),
    LOOP_LAG_MAX_US(INTEGERS),
    LATEST_LOOP_US(INTEGERS),
    GC_PAUSES(LONG),
    GC_PAUSE_S(SECONDS),
    GC_PAUSE_MAX_S(SECONDS),
    COMPILER_S(SECONDS),
    CPUS(LONG),
    PROCESS_CPU_S(SECONDS),
    MACHINE_USER_S(SECONDS),
    MACHINE_SYSTEM_S(SECONDS),
    MACHINE_IDLE_S(SECONDS),
    MACHINE_STEAL_S(SECONDS),
    CPU_PRESSURE_S(SECONDS),
    THROTTLED_S(SECONDS),
    HEAP_USED_BYTES(LONG),
    DIRECT_BYTES(LONG),
    OPEN_FILES(LONG),
    IN_FLIGHT(LONG),
    LATE_STARTS(LONG),
    EVENTS(LONG),
    COALESCED_EVENTS(LONG),
    RECORDS_QUEUED(LONG),
    RECORDS_DROPPED(LONG);

    private final FieldType<?> type;

    GeneratorField(FieldType<?> type) {
      this.type = type;
    }

    FieldType<?> type() {
      return type;
    }
  }

  /** Sets a value: of the type of its field, or null if the system does not report it. */
  public GeneratorSecond with(GeneratorField field, @Nullable Object value) {
    values[field.ordinal()] = value;
    return this;
  }

  public boolean has(GeneratorField field) {
    return values[field.ordinal()] != null;
  }

  public @Nullable String injector() {
    return (String) values[GeneratorField.INJECTOR.ordinal()];
  }

  public long number(GeneratorField field) {
    return has(field) ? (Long) values[field.ordinal()] : 0;
  }

  public int[] numbers(GeneratorField field) {
    return has(field) ? (int[]) values[field.ordinal()] : new int[0];
  }

  public int largest(GeneratorField field) {
    return Math.max(0, Arrays.stream(numbers(field)).max().orElse(0));
  }

  public void append(Path file) throws IOException {
    try (JsonLines lines = JsonLines.appendTo(file)) {
      lines.json().writeStartObject();
      for (GeneratorField field : ALL) {
        FIELDS.write(field, values[field.ordinal()], lines.json());
      }
      lines.json().writeEndObject();
      lines.end();
    }
  }

  /** Passes every line to {@code sink}; returns what is wrong where reading stopped, else null. */
  public static @Nullable String read(Path file, Consumer<GeneratorSecond> sink)
      throws IOException {
    long line = 1;
    try (InputStream in = RunFiles.open(file);
        JsonParser json = JSON.createParser(in)) {
      for (; json.nextToken() != null; line++) {
        GeneratorSecond second = new GeneratorSecond();
        var unused = FIELDS.read(json, second.values);
        if (!second.has(GeneratorField.START_UNIX_NS)
            || second.number(GeneratorField.LENGTH_S) <= 0) {
          throw new IllegalArgumentException(
              "no %s, or no %s"
                  .formatted(GeneratorField.START_UNIX_NS.key(), GeneratorField.LENGTH_S.key()));
        }
        sink.accept(second);
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
}
