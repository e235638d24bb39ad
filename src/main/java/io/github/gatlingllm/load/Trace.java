package io.github.gatlingllm.load;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.figures.metric.NumberText;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Serializable;
import java.math.BigDecimal;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoField;
import java.time.temporal.TemporalAccessor;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Arrival times and token counts of recorded requests, in 8 to 16 bytes each. */
public final class Trace implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final int ABSENT = -1;

  private final String name;
  private final long[] offsets;
  private final int[] lengths;

  private Trace(String name, long[] offsets, int[] lengths) {
    this.name = name;
    this.offsets = offsets;
    this.lengths = lengths;
  }

  public static Trace read(Path file) {
    return new TraceReader(file).read();
  }

  public String name() {
    return name;
  }

  public int size() {
    return offsets.length;
  }

  long offsetNanos(int index) {
    return offsets[index];
  }

  public @Nullable Lengths lengths(int index) {
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

  /** Token counts of a recorded request, for the prompt and answer of the replayed one. */
  public record Lengths(@Nullable Integer input, @Nullable Integer output) {
    /** Session attribute of a replayed user: tokens of the prompt, an {@code Integer}. */
    public static final String INPUT_KEY = "inputTokens";

    /** Session attribute of a replayed user: tokens to generate, an {@code Integer}. */
    public static final String OUTPUT_KEY = "outputTokens";
  }

  /**
   * Reads recorded traffic line by line. Columns are found by their names, ignoring case, spaces
   * and underscores:
   *
   * <ul>
   *   <li>CSV with a header, such as Azure's {@code TIMESTAMP,ContextTokens,GeneratedTokens} or
   *       BurstGPT's {@code Timestamp,Model,Request tokens,Response tokens,…};
   *   <li>JSONL, such as Mooncake's {@code {"timestamp": 27482, "input_length": …, "output_length":
   *       …}}.
   * </ul>
   *
   * <p>A time stamp is a number of seconds (of milliseconds in objects with {@code input_length},
   * as Mooncake writes), or a date-time such as {@code 2023-11-16 18:15:46.6805900}, UTC without an
   * offset. Time stamps must ascend: a file in which time goes back may hold several recordings.
   */
  private static final class TraceReader {
    private static final ObjectMapper JSON = new ObjectMapper();
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

    private final Path file;
    private final LongStream.Builder offsets = LongStream.builder();
    private final IntStream.Builder lengths = IntStream.builder();
    private boolean hasLengths;
    private int size;
    private long firstNanos;
    private int lineNumber;
    private long lastNanos = Long.MIN_VALUE;

    /** A file, or a resource of that name on the class path, as for Gatling's own resources. */
    TraceReader(Path file) {
      this.file = file;
    }

    Trace read() {
      URL resource = Files.isRegularFile(file) ? null : onClassPath();
      if (resource == null && !Files.isRegularFile(file)) {
        throw new IllegalArgumentException(
            file
                + ": no such file, nor on the class path; expected a trace of time stamps, CSV or"
                + " JSONL");
      }
      try (BufferedReader lines =
          resource == null
              ? Files.newBufferedReader(file)
              : new BufferedReader(
                  new InputStreamReader(
                      resource.openStream(), StandardCharsets.UTF_8.newDecoder()))) {
        String first = next(lines);
        if (first != null && first.startsWith("{")) {
          objects(first, lines);
        } else if (first != null) {
          rows(cells(first), lines);
        }
      } catch (IOException e) {
        throw new IllegalArgumentException(
            file + ": cannot be read as UTF-8 text (" + e.getMessage() + ")", e);
      }
      if (size == 0) {
        throw new IllegalArgumentException(
            file.getFileName() + ": has no arrival; expected one or more");
      }
      return new Trace(
          String.valueOf(file.getFileName()),
          offsets.build().toArray(),
          hasLengths ? lengths.build().toArray() : new int[0]);
    }

    private @Nullable URL onClassPath() {
      ClassLoader loader = Thread.currentThread().getContextClassLoader();
      String name = file.toString().replace('\\', '/');
      return loader == null ? ClassLoader.getSystemResource(name) : loader.getResource(name);
    }

    /** The next non-blank line, stripped; null at the end. */
    private @Nullable String next(BufferedReader lines) throws IOException {
      String line;
      do {
        line = lines.readLine();
        lineNumber++;
      } while (line != null && line.isBlank());
      // Spreadsheets write a byte order mark.
      return line == null ? null : (line.startsWith("\ufeff") ? line.substring(1) : line).strip();
    }

    private void rows(List<String> header, BufferedReader lines) throws IOException {
      List<String> names = header.stream().map(TraceReader::plain).toList();
      int time = column(names, TIME);
      int input = column(names, INPUT);
      int output = column(names, OUTPUT);
      if (time < 0) {
        throw bad("expected a header with a column named timestamp");
      }
      for (String line = next(lines); line != null; line = next(lines)) {
        List<String> cells = cells(line);
        add(
            nanos(Objects.requireNonNullElse(cell(cells, time), ""), 9),
            length(cell(cells, input)),
            length(cell(cells, output)));
      }
    }

    private void objects(String first, BufferedReader lines) throws IOException {
      for (String line = first; line != null; line = next(lines)) {
        JsonNode object;
        try {
          object = JSON.readTree(line);
        } catch (JsonProcessingException e) {
          throw bad("expected a JSON object per line");
        }
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
          throw bad("expected a \"timestamp\"");
        }
        add(nanos(time, millis ? 6 : 9), length(input), length(output));
      }
    }

    private void add(long nanos, @Nullable Integer input, @Nullable Integer output) {
      if (nanos < lastNanos) {
        throw bad("is " + (lastNanos - nanos) / 1e9 + " s before the line above; sort the file");
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
        TemporalAccessor time = DATE_TIME.parse(text);
        long seconds =
            LocalDateTime.from(time)
                .toEpochSecond(ZoneOffset.ofTotalSeconds(time.get(ChronoField.OFFSET_SECONDS)));
        return Math.addExact(
            Math.multiplyExact(seconds, 1_000_000_000L), time.get(ChronoField.NANO_OF_SECOND));
      } catch (ArithmeticException | NumberFormatException | DateTimeParseException e) {
        throw bad(
            "timestamp '" + clipped(text) + "'; expected seconds or 2023-11-16 18:15:46.6805900");
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
      throw bad("length '" + clipped(text) + "'; expected a whole number of tokens");
    }

    private IllegalArgumentException bad(String what) {
      return new IllegalArgumentException(file.getFileName() + ":" + lineNumber + ": " + what);
    }

    private static int column(List<String> names, List<String> wanted) {
      return names.stream()
          .filter(wanted::contains)
          .mapToInt(names::indexOf)
          .findFirst()
          .orElse(-1);
    }

    private static @Nullable String cell(List<String> cells, int column) {
      return column >= 0 && column < cells.size() ? cells.get(column) : null;
    }

    private static String plain(String name) {
      return name.replaceAll("[^A-Za-z]", "").toLowerCase(Locale.ROOT);
    }

    private static String clipped(String text) {
      return text.length() <= 40 ? text : text.substring(0, 39) + "…";
    }

    /** The cells of a line; commas inside double quotes do not separate. */
    private static List<String> cells(String line) {
      List<String> cells = new ArrayList<>();
      StringBuilder cell = new StringBuilder();
      boolean quoted = false;
      for (int i = 0; i < line.length(); i++) {
        char c = line.charAt(i);
        if (c == '"') {
          quoted = !quoted;
        } else if (c == ',' && !quoted) {
          cells.add(cell.toString().strip());
          cell.setLength(0);
        } else {
          cell.append(c);
        }
      }
      cells.add(cell.toString().strip());
      return cells;
    }
  }
}
