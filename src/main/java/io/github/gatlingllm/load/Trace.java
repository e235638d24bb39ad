package io.github.gatlingllm.load;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.load.Arrivals.Lengths;
import java.io.Serializable;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoField;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Arrival times and token counts of recorded requests, in 8 to 16 bytes each. */
@SuppressWarnings("ArrayRecordComponent") // compared by nobody
record Trace(String name, long[] offsets, int[] lengths) implements Serializable {
  private static final int ABSENT = -1;

  static Trace read(String file) {
    return new TraceReader(DataFile.of(file)).read();
  }

  int size() {
    return offsets.length;
  }

  long offsetNanos(int index) {
    return offsets[index];
  }

  @Nullable Lengths lengths(int index) {
    return lengths.length == 0
        ? null
        : new Lengths(present(lengths[2 * index]), present(lengths[2 * index + 1]));
  }

  /** Up to one mean gap after the last arrival, so that number ÷ length is the rate. */
  long lengthNanos() {
    long last = offsets[offsets.length - 1];
    return last == 0 ? 1_000_000_000L : last + Math.max(1, last / (offsets.length - 1));
  }

  private static @Nullable Integer present(int length) {
    return length == ABSENT ? null : (Integer) length;
  }

  @Override
  public String toString() {
    return name + " (" + NumberText.counted(size(), "arrival") + ")";
  }

  /**
   * Reads recorded traffic: CSV with a header, or JSON objects. Columns are found by their names,
   * ignoring case, spaces and underscores. A time stamp is a number of seconds (of milliseconds in
   * objects with {@code input_length}, as Mooncake writes), or a date-time, UTC without an offset.
   * Time stamps must ascend: a file in which time goes back may hold several recordings.
   */
  private static final class TraceReader {
    private static final List<String> TIME = List.of("timestamp");
    private static final List<String> INPUT =
        List.of("inputtokens", "inputlength", "contexttokens", "requesttokens", "prompttokens");
    private static final List<String> OUTPUT =
        List.of(
            "outputtokens",
            "outputlength",
            "generatedtokens",
            "responsetokens",
            "completiontokens");

    private static final DateTimeFormatter DATE_TIME =
        new DateTimeFormatterBuilder()
            .parseCaseInsensitive()
            .append(DateTimeFormatter.ISO_LOCAL_DATE)
            .appendPattern("['T'][ ]")
            .append(DateTimeFormatter.ISO_LOCAL_TIME)
            .optionalStart()
            .appendOffsetId()
            .optionalEnd()
            .parseDefaulting(ChronoField.OFFSET_SECONDS, 0)
            .toFormatter(Locale.ROOT);

    private final DataFile file;
    private final LongStream.Builder offsets = LongStream.builder();
    private final IntStream.Builder lengths = IntStream.builder();
    private @Nullable List<String> header;
    private boolean hasLengths;
    private int size;
    private long firstNanos;
    private long lastNanos = Long.MIN_VALUE;

    TraceReader(DataFile file) {
      this.file = file;
    }

    Trace read() {
      if (file.isJson()) {
        file.entries((entry, start, length) -> object(entry));
      } else {
        file.rows(this::row);
      }
      if (size == 0) {
        throw new IllegalArgumentException(file.name() + ": has no arrival; expected one or more");
      }
      return new Trace(
          file.name(),
          offsets.build().toArray(),
          hasLengths ? lengths.build().toArray() : new int[0]);
    }

    private void row(List<String> cells) {
      if (header == null) {
        header = cells.stream().map(TraceReader::plain).toList();
        if (Collections.disjoint(header, TIME)) {
          throw new IllegalArgumentException("expected a header with a column named timestamp");
        }
        return;
      }
      add(
          nanos(Objects.requireNonNullElse(cell(header, cells, TIME), ""), 9),
          length(cell(header, cells, INPUT)),
          length(cell(header, cells, OUTPUT)));
    }

    private void object(JsonNode object) {
      String time = null;
      String input = null;
      String output = null;
      boolean millis = false;
      for (var field : object.properties()) {
        String name = plain(field.getKey());
        String value = field.getValue().isNull() ? null : field.getValue().asText();
        millis |= name.equals("inputlength");
        time = TIME.contains(name) ? value : time;
        input = INPUT.contains(name) ? value : input;
        output = OUTPUT.contains(name) ? value : output;
      }
      if (time == null) {
        throw new IllegalArgumentException("expected a \"timestamp\"");
      }
      add(nanos(time, millis ? 6 : 9), length(input), length(output));
    }

    private void add(long nanos, @Nullable Integer input, @Nullable Integer output) {
      if (nanos < lastNanos) {
        throw new IllegalArgumentException(
            "is " + (lastNanos - nanos) / 1e9 + " s before the line above; sort the file");
      }
      lastNanos = nanos;
      firstNanos = size++ == 0 ? nanos : firstNanos;
      offsets.add(nanos - firstNanos);
      lengths.add(input == null ? ABSENT : input).add(output == null ? ABSENT : output);
      hasLengths |= input != null || output != null;
    }

    private long nanos(String text, int digits) {
      try {
        if (text.indexOf(':') < 0) {
          return new BigDecimal(text).movePointRight(digits).toBigInteger().longValueExact();
        }
        return ChronoUnit.NANOS.between(Instant.EPOCH, DATE_TIME.parse(text, Instant::from));
      } catch (ArithmeticException | NumberFormatException | DateTimeParseException e) {
        throw new IllegalArgumentException(
            "timestamp '" + clipped(text) + "'; expected seconds or 2023-11-16 18:15:46.6805900",
            e);
      }
    }

    private @Nullable Integer length(@Nullable String text) {
      if (text == null || text.isBlank()) {
        return null;
      }
      try {
        int length = new BigDecimal(text).intValueExact();
        if (length >= 0) {
          return length;
        }
      } catch (ArithmeticException | NumberFormatException e) {
        // Reported below, like negative numbers.
      }
      throw new IllegalArgumentException(
          "length '" + clipped(text) + "'; expected a whole number of tokens");
    }

    /** The cell of the first column with one of these names; null without one. */
    private static @Nullable String cell(
        List<String> header, List<String> cells, List<String> names) {
      for (int column = 0; column < Math.min(header.size(), cells.size()); column++) {
        if (names.contains(header.get(column))) {
          return cells.get(column).strip();
        }
      }
      return null;
    }

    private static String plain(String name) {
      return name.replaceAll("[^A-Za-z]", "").toLowerCase(Locale.ROOT);
    }

    private static String clipped(String text) {
      return text.length() <= 40 ? text : text.substring(0, 39) + "…";
    }
  }
}
