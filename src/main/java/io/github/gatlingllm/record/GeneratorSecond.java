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
  private static final FieldTable<GeneratorField> FIELDS = new FieldTable<>(ALL);

  private final @Nullable Object[] values = new @Nullable Object[ALL.length];

  /**
   * The catalogue of the fields of {@code generator.jsonl} and {@code docs/records.md}, in their
   * order: type, unit and meaning in Markdown; the key is the name in lower case. A new field is an
   * entry here, and the line of code that measures it.
   */
  @SuppressWarnings("ImmutableEnumChecker") // types have no state
  public enum GeneratorField implements FieldTable.Field {
    INJECTOR(TEXT, "the load generator"),
    START_UNIX_NS(LONG.in("ns since 1970"), "when the interval began, on the run's clock"),
    LENGTH_S(
        SECONDS,
        "of the interval: 1 s, less where a measure window begins or ends, more where the"
            + " thread that measures was late itself"),
    LOOP_LAG_P50_US(
        INTEGERS.in("µs"),
        "per event loop, the median: how late a heartbeat ran that is due every 50 ms; events"
            + " that are ready meanwhile are read as late"),
    LOOP_LAG_P99_US(INTEGERS.in("µs"), "as `loop_lag_p50_us`, the 99th percentile"),
    LOOP_LAG_MAX_US(
        INTEGERS.in("µs"),
        "as `loop_lag_p50_us`, the largest; of a loop that hangs, its delay so far"),
    LATEST_LOOP_US(
        INTEGERS.in("µs"),
        "of the event loop with the largest delay: time of the interval in which it was more"
            + " than 1, 2, 5, 10, 20, 50, 100, 200, 500, 1,000 ms late"),
    GC_PAUSES(LONG, "garbage collections that ended in the interval"),
    GC_PAUSE_S(SECONDS, "time for which these paused the JVM"),
    GC_PAUSE_MAX_S(SECONDS, "the longest of them"),
    COMPILER_S(
        SECONDS,
        "time of the JVM's compiler threads, counted when a compilation ends: may exceed the"
            + " interval"),
    CPUS(LONG, "processors that the process may use"),
    PROCESS_CPU_S(SECONDS, "CPU time of the process, all its threads"),
    MACHINE_USER_S(
        SECONDS,
        "CPU time of the machine, all its processors and programs: in user mode, and all that"
            + " was not idle if the system reports no more"),
    MACHINE_SYSTEM_S(SECONDS, "in the kernel, interrupts included"),
    MACHINE_IDLE_S(SECONDS, "idle, waits for disks included"),
    MACHINE_STEAL_S(SECONDS, "taken by the hypervisor while there was work"),
    CPU_PRESSURE_S(
        SECONDS,
        "time in which some task of the machine waited for a processor; null before Linux"
            + " 4.20"),
    THROTTLED_S(
        SECONDS,
        "time for which tasks of the container were paused because its CPU limit was reached;"
            + " null without a limit"),
    HEAP_USED_BYTES(LONG.in("bytes"), "of the Java heap, garbage included"),
    DIRECT_BYTES(LONG.in("bytes"), "memory of buffers outside the heap"),
    OPEN_FILES(LONG, "open sockets and files of the process"),
    IN_FLIGHT(LONG, "requests admitted and not ended"),
    LATE_STARTS(
        LONG,
        "requests recorded in the interval that started more than "
            + LATE_START_MS
            + " ms after their planned arrival"),
    EVENTS(LONG, "token events of the requests recorded in the interval"),
    COALESCED_EVENTS(LONG, "of these, read together with the one before of their stream"),
    RECORDS_QUEUED(LONG, "records in the queue to be written"),
    RECORDS_DROPPED(LONG, "records lost since the start of the run");

    private final FieldType<?> type;
    private final String meaning;

    GeneratorField(FieldType<?> type, String meaning) {
      this.type = type;
      this.meaning = meaning;
    }

    @Override
    public FieldType<?> type() {
      return type;
    }

    String meaning() {
      return meaning;
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
    JsonLines.append(
        file,
        json -> {
          json.writeStartObject();
          for (GeneratorField field : ALL) {
            FIELDS.write(field, values[field.ordinal()], json);
          }
          json.writeEndObject();
        });
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
