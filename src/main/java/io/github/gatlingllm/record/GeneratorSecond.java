package io.github.gatlingllm.record;

import static io.github.gatlingllm.record.FieldType.INTEGERS;
import static io.github.gatlingllm.record.FieldType.LONG;
import static io.github.gatlingllm.record.FieldType.SECONDS;
import static io.github.gatlingllm.record.FieldType.TEXT;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import io.github.gatlingllm.record.RunFiles.JsonLines;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
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

  /**
   * The catalogue of the fields of {@code generator.jsonl}: key, type, unit and meaning. The file
   * and {@code docs/records.md} have these fields in this order. Every line has every field; its
   * value is null or {@code []} if the system does not report it.
   *
   * <p>A new field is an entry here, and the line of code that measures it. Meanings are Markdown.
   *
   * @param <T> the type of its values; times are nanoseconds
   */
  public static final class GeneratorField<T> {

    private static final List<GeneratorField<?>> CATALOGUE = new ArrayList<>();
    private static final FieldType<int[]> MICROS = INTEGERS.in("µs");
    private static final FieldType<Long> BYTES = LONG.in("bytes");

    /** The delays, in milliseconds, that {@link #LATEST_LOOP} counts time above. */
    public static final List<Integer> LATE_MS = List.of(1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000);

    /** A start later than that many milliseconds is late: counted here, warned of by a check. */
    public static final int LATE_START_MS = 20;

    public static final GeneratorField<String> INJECTOR =
        new GeneratorField<>("injector", TEXT, "the load generator");

    public static final GeneratorField<Long> START =
        new GeneratorField<>(
            "start_unix_ns",
            LONG.in("ns since 1970"),
            "when the interval began, on the run's clock");

    public static final GeneratorField<Long> LENGTH =
        new GeneratorField<>(
            "length_s",
            SECONDS,
            "of the interval: 1 s, less where a measure window begins or ends, more where the"
                + " thread that measures was late itself");

    public static final GeneratorField<int[]> LAG_P50 =
        new GeneratorField<>(
            "loop_lag_p50_us",
            MICROS,
            "per event loop, the median: how late a heartbeat ran that is due every 20 ms; events"
                + " that are ready meanwhile are read as late");

    public static final GeneratorField<int[]> LAG_P99 =
        new GeneratorField<>(
            "loop_lag_p99_us", MICROS, "as `loop_lag_p50_us`, the 99th percentile");

    public static final GeneratorField<int[]> LAG_MAX =
        new GeneratorField<>(
            "loop_lag_max_us",
            MICROS,
            "as `loop_lag_p50_us`, the largest; of a loop that hangs, its delay so far");

    public static final GeneratorField<int[]> LATEST_LOOP =
        new GeneratorField<>(
            "latest_loop_us",
            MICROS,
            "of the event loop with the largest delay: time of the interval in which it was more"
                + " than 1, 2, 5, 10, 20, 50, 100, 200, 500, 1,000 ms late");

    public static final GeneratorField<Long> GC_PAUSES =
        new GeneratorField<>("gc_pauses", LONG, "garbage collections that ended in the interval");

    public static final GeneratorField<Long> GC_PAUSE =
        new GeneratorField<>("gc_pause_s", SECONDS, "time for which these paused the JVM");

    public static final GeneratorField<Long> GC_PAUSE_MAX =
        new GeneratorField<>("gc_pause_max_s", SECONDS, "the longest of them");

    public static final GeneratorField<Long> COMPILER =
        new GeneratorField<>(
            "compiler_s",
            SECONDS,
            "time of the JVM's compiler threads, counted when a compilation ends: may exceed the"
                + " interval");

    public static final GeneratorField<Long> CPUS =
        new GeneratorField<>("cpus", LONG, "processors that the process may use");

    public static final GeneratorField<Long> PROCESS_CPU =
        new GeneratorField<>("process_cpu_s", SECONDS, "CPU time of the process, all its threads");

    public static final GeneratorField<Long> MACHINE_USER =
        new GeneratorField<>(
            "machine_user_s",
            SECONDS,
            "CPU time of the machine, all its processors and programs: in user mode, and all that"
                + " was not idle if the system reports no more");

    public static final GeneratorField<Long> MACHINE_SYSTEM =
        new GeneratorField<>("machine_system_s", SECONDS, "in the kernel, interrupts included");

    public static final GeneratorField<Long> MACHINE_IDLE =
        new GeneratorField<>("machine_idle_s", SECONDS, "idle, waits for disks included");

    public static final GeneratorField<Long> MACHINE_STEAL =
        new GeneratorField<>(
            "machine_steal_s", SECONDS, "taken by the hypervisor while there was work");

    public static final GeneratorField<Long> CPU_PRESSURE =
        new GeneratorField<>(
            "cpu_pressure_s",
            SECONDS,
            "time in which some task of the machine waited for a processor; null before Linux"
                + " 4.20");

    public static final GeneratorField<Long> THROTTLED =
        new GeneratorField<>(
            "throttled_s",
            SECONDS,
            "time for which tasks of the container were paused because its CPU limit was reached;"
                + " null without a limit");

    public static final GeneratorField<Long> HEAP_USED =
        new GeneratorField<>("heap_used_bytes", BYTES, "of the Java heap, garbage included");

    public static final GeneratorField<Long> DIRECT =
        new GeneratorField<>("direct_bytes", BYTES, "memory of buffers outside the heap");

    public static final GeneratorField<Long> OPEN_FILES =
        new GeneratorField<>("open_files", LONG, "open sockets and files of the process");

    public static final GeneratorField<Long> IN_FLIGHT =
        new GeneratorField<>("in_flight", LONG, "requests admitted and not ended");

    public static final GeneratorField<Long> LATE_STARTS =
        new GeneratorField<>(
            "late_starts",
            LONG,
            "requests recorded in the interval that started more than "
                + LATE_START_MS
                + " ms after their planned arrival");

    public static final GeneratorField<Long> EVENTS =
        new GeneratorField<>(
            "events", LONG, "token events of the requests recorded in the interval");

    public static final GeneratorField<Long> COALESCED =
        new GeneratorField<>(
            "coalesced_events",
            LONG,
            "of these, read together with the one before of their stream");

    public static final GeneratorField<Long> QUEUED =
        new GeneratorField<>("records_queued", LONG, "records in the queue to be written");

    public static final GeneratorField<Long> DROPPED =
        new GeneratorField<>("records_dropped", LONG, "records lost since the start of the run");

    /** All fields, in the order of the file. */
    static final List<GeneratorField<?>> ALL = Collections.unmodifiableList(CATALOGUE);

    private final int index;
    private final String key;
    private final FieldType<T> type;
    private final String meaning;

    private GeneratorField(String key, FieldType<T> type, String meaning) {
      this.index = CATALOGUE.size();
      this.key = key;
      this.type = type;
      this.meaning = meaning;
      CATALOGUE.add(this);
    }

    int index() {
      return index;
    }

    FieldType<T> type() {
      return type;
    }

    String meaning() {
      return meaning;
    }

    @Override
    public String toString() {
      return key;
    }
  }
}
