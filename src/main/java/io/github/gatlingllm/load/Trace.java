package io.github.gatlingllm.load;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.load.Arrivals.StampUnit;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoField;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * The arrivals of recorded requests and their token counts, in 8 to 16 bytes each.
 *
 * @param stamps the unit of time stamps and what states it, in words; empty for date-times
 * @param leftOut rows that were no requests, each reason a line
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record Trace(
    String name,
    long[] recorded,
    int[] recordedLengths,
    String stamps,
    List<String> leftOut,
    double speed)
    implements Arrivals {

  private static final int ABSENT = -1;
  private static final double MAX_DAYS = 366;

  public Trace {
    if (!(speed > 0 && speed <= 1e6)) {
      throw new IllegalArgumentException(
          "Speed " + speed + " is not valid; expected a factor above 0, at most 1,000,000");
    }
    if (length(recorded) / speed > MAX_DAYS * 86_400e9) {
      throw new IllegalArgumentException(
          name + " lasts more than a year; raise its speed, or set its unit (@1s, @1ms)");
    }
  }

  /**
   * A file, or a resource of that name on the class path, with the {@linkplain StampUnit unit} of
   * its time stamps after it or none.
   */
  public static Trace read(String location, double speed) {
    return new TraceReader(DataFile.of(StampUnit.file(location)), StampUnit.after(location))
        .read(speed);
  }

  public int size() {
    return recorded.length;
  }

  @Override
  public LongStream offsets() {
    return LongStream.iterate(0, index -> index + 1)
        .map(
            index ->
                index / size() * lengthNanos()
                    + Math.round(recorded[(int) (index % size())] / speed));
  }

  @Override
  public @Nullable Lengths lengths(int index) {
    int first = 2 * (index % size());
    return recordedLengths.length == 0
        ? null
        : new Lengths(present(recordedLengths[first]), present(recordedLengths[first + 1]));
  }

  /** Whether it has lengths of prompts, and not only those of answers. */
  public boolean hasInputs() {
    return IntStream.range(0, recordedLengths.length / 2)
        .anyMatch(index -> recordedLengths[2 * index] != ABSENT);
  }

  @Override
  public long lengthNanos() {
    return Math.max(1, Math.round(length(recorded) / speed));
  }

  /** Up to one mean gap after the last arrival, so that number ÷ length is the rate. */
  private static long length(long[] recorded) {
    long last = recorded[recorded.length - 1];
    return last == 0 ? 1_000_000_000L : last + Math.max(1, last / (recorded.length - 1));
  }

  @Override
  public Trace with(Gaps gaps) {
    return this;
  }

  private static @Nullable Integer present(int length) {
    return length == ABSENT ? null : (Integer) length;
  }

  @Override
  public String toString() {
    return "replay of "
        + name
        + " ("
        + NumberText.counted(size(), "arrival")
        + (stamps.isEmpty() ? "" : ", " + stamps)
        + leftOut.stream().map(line -> "; " + line).collect(Collectors.joining())
        + ")"
        + (speed == 1 ? "" : ", " + NumberText.plain(speed) + " times as fast");
  }

  /**
   * Reads recorded traffic: CSV with a header, or JSON objects. Columns are found by their names,
   * ignoring case, spaces and underscores. A time stamp is a date-time, UTC without an offset, or a
   * number of seconds, of milliseconds where there is an {@code input_length}, as Mooncake writes,
   * unless all of them together look otherwise ({@link Arrivals.Seen}). Time stamps must ascend: a
   * file in which time goes back may hold several recordings. Rows without tokens are requests that
   * failed, and are left out.
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

    /** Tokens of a prompt, more than any model takes. */
    private static final int MAX_LENGTH = 1_000_000;

    /** Digits of a number before and after its point, which bound the work to convert it. */
    private static final int MAX_DIGITS = 20;

    private final DataFile file;
    private final @Nullable StampUnit set;
    private final DoubleStream.Builder stamps = DoubleStream.builder();
    private final Arrivals.Seen seen = new Arrivals.Seen();
    private final IntStream.Builder lengths = IntStream.builder();
    private final Map<String, Integer> leftOut = new LinkedHashMap<>();
    private @Nullable List<String> header;
    private boolean hasLengths;
    private boolean isMooncake;
    private boolean isDated;
    private int rows;
    private int size;
    private @Nullable BigDecimal first;
    private double last;

    TraceReader(DataFile file, @Nullable StampUnit set) {
      this.file = file;
      this.set = set;
    }

    Trace read(double speed) {
      if (file.isJson()) {
        file.entries("arrival=trace", (entry, start, length) -> object(entry));
      } else {
        file.rows(this::row);
      }
      List<String> skipped =
          leftOut.entrySet().stream()
              .map(each -> "skipped %s of %s: %s".formatted(each.getValue(), rows, each.getKey()))
              .toList();
      if (size == 0) {
        throw new IllegalArgumentException(
            file.name()
                + ": has no arrival; expected one or more"
                + (skipped.isEmpty() ? "" : " (" + String.join("; ", skipped) + ")"));
      }
      StampUnit found = isDated ? StampUnit.S : seen.unit(isMooncake ? StampUnit.MS : StampUnit.S);
      StampUnit unit = set == null || isDated ? found : set;
      String other = unit == StampUnit.S ? "@1ms" : "@1s";
      String words = "time stamps in " + unit + (set == null ? "; else add " + other : ", as set");
      return new Trace(
          file.name(),
          stamps.build().mapToLong(stamp -> Math.round(stamp * unit.nanos)).toArray(),
          hasLengths ? lengths.build().toArray() : new int[0],
          isDated || size == 1 ? "" : words,
          skipped,
          speed);
    }

    private void row(List<String> cells) {
      if (header == null) {
        header = cells.stream().map(TraceReader::plain).toList();
        isMooncake = header.contains("inputlength");
        if (Collections.disjoint(header, TIME)) {
          throw new IllegalArgumentException("expected a header with a column named timestamp");
        }
        return;
      }
      add(
          time(Objects.requireNonNullElse(cell(header, cells, TIME), "")),
          length(cell(header, cells, INPUT)),
          length(cell(header, cells, OUTPUT)));
    }

    private void object(JsonNode object) {
      String time = null;
      String input = null;
      String output = null;
      for (var field : object.properties()) {
        String name = plain(field.getKey());
        String value = field.getValue().isNull() ? null : field.getValue().asText();
        isMooncake |= name.equals("inputlength");
        time = TIME.contains(name) ? value : time;
        input = INPUT.contains(name) ? value : input;
        output = OUTPUT.contains(name) ? value : output;
      }
      if (time == null) {
        throw new IllegalArgumentException("expected a \"timestamp\"");
      }
      add(time(time), length(input), length(output));
    }

    private void add(BigDecimal time, @Nullable Integer input, @Nullable Integer output) {
      rows++;
      boolean isEmpty = input != null && input == 0;
      if (isEmpty || (output != null && output == 0)) {
        leftOut.merge(isEmpty ? "no input tokens" : "no output tokens", 1, Integer::sum);
        return;
      }
      first = first == null ? time : first;
      double stamp = time.subtract(first).doubleValue();
      if (stamp < last) {
        throw new IllegalArgumentException(
            "is %s before the line above; sort the file".formatted(NumberText.plain(last - stamp)));
      }
      last = stamp;
      size++;
      stamps.add(stamp);
      seen.add(time.doubleValue());
      lengths.add(input == null ? ABSENT : input).add(output == null ? ABSENT : output);
      hasLengths |= input != null || output != null;
    }

    private BigDecimal time(String text) {
      try {
        if (text.indexOf(':') >= 0) {
          isDated = true;
          Instant at = DATE_TIME.parse(text, Instant::from);
          return BigDecimal.valueOf(ChronoUnit.NANOS.between(Instant.EPOCH, at), 9);
        }
        BigDecimal number = new BigDecimal(text);
        if (number.scale() <= MAX_DIGITS && number.precision() - number.scale() <= MAX_DIGITS) {
          return number;
        }
      } catch (ArithmeticException | NumberFormatException | DateTimeParseException e) {
        // Reported below, like numbers that are too large.
      }
      throw new IllegalArgumentException(
          "timestamp '"
              + DataFile.clipped(text)
              + "'; expected seconds or 2023-11-16 18:15:46.6805900");
    }

    private @Nullable Integer length(@Nullable String text) {
      if (text == null || text.isBlank()) {
        return null;
      }
      try {
        int length = new BigDecimal(text).intValueExact();
        if (length >= 0 && length <= MAX_LENGTH) {
          return length;
        }
      } catch (ArithmeticException | NumberFormatException e) {
        // Reported below, like numbers out of range.
      }
      throw new IllegalArgumentException(
          "length '"
              + DataFile.clipped(text)
              + "'; expected an integer number of tokens, at most 1,000,000");
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
  }
}
