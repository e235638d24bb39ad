package io.github.gatlingllm.record;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Writes and reads {@code llm/run.json}. A file may come from anywhere: its size, counts and
 * numbers are bounded, and a file that lacks a required value is refused.
 */
final class RunInfoFile {

  private static final int MAX_BYTES = 16 << 20;
  private static final int MAX_ENTRIES = 1_000;
  private static final int MAX_LEVELS = 400;
  private static final int LONGEST_TEXT = 20_000;
  private static final double LARGEST = 4e18;
  private static final long LONGEST_RUN = TimeUnit.DAYS.toNanos(31);

  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .build();

  private RunInfoFile() {}

  static void write(Object value, Path json) throws IOException {
    Path file = json.toAbsolutePath();
    Files.createDirectories(file.getParent());
    AtomicFile.write(file, JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(value));
  }

  static Optional<RunInfo> read(Path runJson) throws IOException {
    Optional<RunInfo> info = read(runJson, RunInfo.class, RunInfo.SCHEMA, RunInfo::schema);
    try {
      info.ifPresent(
          run -> {
            check("", run);
            checkTimes(run);
          });
    } catch (IllegalArgumentException e) {
      throw new IOException(runJson + " " + e.getMessage(), e);
    }
    return info;
  }

  /** Reads a file of that schema; empty if it does not exist. */
  static <T> Optional<T> read(Path file, Class<T> type, String schema, Function<T, String> schemaOf)
      throws IOException {
    try {
      T value = JSON.readValue(bytes(file), type);
      String found = value == null ? null : schemaOf.apply(value);
      if (!schema.equals(found)) {
        throw new IOException(file + " has schema '" + found + "'; expected " + schema);
      }
      return Optional.of(value);
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (JsonProcessingException e) {
      String why = e.getOriginalMessage().replaceAll("\\s+", " ");
      throw new IOException(file + " is not understood: " + why, e);
    } catch (IllegalArgumentException e) {
      throw new IOException(file + " " + e.getMessage(), e);
    }
  }

  private static byte[] bytes(Path runJson) throws IOException {
    if (Files.exists(runJson) && !Files.isRegularFile(runJson)) {
      throw new IllegalArgumentException("is not a file");
    }
    try (InputStream in = Files.newInputStream(runJson)) {
      byte[] bytes = in.readNBytes(MAX_BYTES + 1);
      if (bytes.length > MAX_BYTES) {
        throw new IllegalArgumentException("is larger than " + (MAX_BYTES >> 20) + " MiB");
      }
      return bytes;
    }
  }

  /** Refuses a missing value, a value that is too large, and too many values. */
  private static void check(String name, Object value) {
    if (value instanceof Record part) {
      for (RecordComponent component : part.getClass().getRecordComponents()) {
        String inside = (name.isEmpty() ? "" : name + ".") + key(component.getName());
        Object found = valueOf(component, part);
        if (found != null) {
          check(inside, found);
        } else if (!component.getAnnotatedType().isAnnotationPresent(Nullable.class)) {
          throw new IllegalArgumentException("has no " + inside);
        }
      }
    } else if (value instanceof Map<?, ?> entries) {
      refuseMore(name, entries.size());
      entries.forEach((key, of) -> checkEntry(name, key, of));
    } else if (value instanceof Collection<?> elements) {
      refuseMore(name, elements.size());
      elements.forEach(element -> checkEntry(name, name, element));
    } else if (value instanceof CharSequence text) {
      if (text.length() > LONGEST_TEXT) {
        throw new IllegalArgumentException(
            "has a %s of %s characters; expected at most %s"
                .formatted(name, text.length(), LONGEST_TEXT));
      }
    } else if (value instanceof Number number && !(Math.abs(number.doubleValue()) <= LARGEST)) {
      throw new IllegalArgumentException("has " + name + " " + number);
    }
  }

  private static void checkEntry(String name, @Nullable Object key, @Nullable Object element) {
    if (key == null || element == null) {
      throw new IllegalArgumentException("has an entry without value in " + name);
    }
    check(name, key);
    check(name, element);
  }

  private static void refuseMore(String name, int entries) {
    int most = name.equals("stages") ? MAX_LEVELS : MAX_ENTRIES;
    if (entries > most) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT, "has %,d entries in %s; expected at most %,d", entries, name, most));
    }
  }

  private static void checkTimes(RunInfo info) {
    long from = info.startUnixNanos();
    Long end = info.endUnixNanos();
    if (from < 0 || (end != null && (end < from || end - from > LONGEST_RUN))) {
      throw new IllegalArgumentException(
          "says that the run was from %s to %s; expected at most 31 days".formatted(from, end));
    }
    for (LevelInfo stage : info.stages()) {
      for (LevelInfo.PhaseWindow window : stage.phases()) {
        Long until = window.endUnixNanos();
        if (until != null && Math.abs(until - window.startUnixNanos()) > LONGEST_RUN) {
          throw new IllegalArgumentException(
              "says that %s of level %s was from %s to %s; expected at most 31 days"
                  .formatted(window.phase(), stage.label(), window.startUnixNanos(), until));
        }
      }
    }
  }

  private static @Nullable Object valueOf(RecordComponent component, Record of) {
    try {
      return component.getAccessor().invoke(of);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("records of ours can be read: " + component, e);
    }
  }

  private static String key(String component) {
    return PropertyNamingStrategies.SnakeCaseStrategy.INSTANCE.translate(component);
  }
}
