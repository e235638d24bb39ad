package io.github.gatlingllm.record;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.core.JsonEncoding;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.SerializableString;
import com.fasterxml.jackson.core.io.CharacterEscapes;
import com.fasterxml.jackson.core.io.SerializedString;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdScalarSerializer;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Appends JSON values to a file, one per line, in batches of 64 KiB that end with a line, and
 * splits such files into lines. Control characters and Unicode line ends are escaped, so that a
 * value stays on one line for every reader; unpaired surrogates are written as U+FFFD.
 */
final class JsonLines implements Closeable {

  private static final int BATCH = 1 << 16;
  private static final int MAX_LINE_BYTES = 1 << 20;

  /** Keys in snake case, decimals in digits; unknown keys are skipped. */
  private static final ObjectMapper VALUES =
      JsonMapper.builder()
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
          .enable(DeserializationFeature.READ_UNKNOWN_ENUM_VALUES_AS_NULL)
          .addModule(new SimpleModule().addSerializer(String.class, new PairedText()))
          .build();

  private final OutputStream out;
  private final ByteArrayOutputStream lines = new ByteArrayOutputStream(BATCH + 1024);
  private final JsonGenerator json;

  private JsonLines(OutputStream out) throws IOException {
    this.out = out;
    this.json = generator(VALUES.getFactory(), lines).setCodec(VALUES);
  }

  @FunctionalInterface
  interface LineReader {

    /**
     * A line without its line feed. If it is too long, {@code skipped} bytes at its beginning are
     * not in the buffer; the last one, empty in a complete file, may be cut.
     */
    void line(byte[] buffer, int from, int length, long skipped, boolean isLast) throws IOException;
  }

  /** Splits a file into lines in bounded memory; lines longer than {@code longest} are skipped. */
  static void read(InputStream in, int initialSize, int longest, LineReader reader)
      throws IOException {
    byte[] buffer = new byte[initialSize];
    int size = 0;
    long skipped = 0;
    for (int count = in.read(buffer);
        count >= 0;
        count = in.read(buffer, size, buffer.length - size)) {
      int start = 0;
      int end = size + count;
      for (int i = size; i < end; i++) {
        if (buffer[i] == '\n') {
          reader.line(buffer, start, i - start, skipped, false);
          skipped = 0;
          start = i + 1;
        }
      }
      size = end - start;
      System.arraycopy(buffer, start, buffer, 0, size);
      if (size >= longest) {
        skipped += size;
        size = 0;
      } else if (size == buffer.length) {
        buffer = Arrays.copyOf(buffer, size * 2);
      }
    }
    reader.line(buffer, 0, size, skipped, true);
  }

  /** Passes every value to {@code sink}; returns the number of damaged lines, which are skipped. */
  static <T> long values(Path file, Class<T> type, Consumer<T> sink) throws IOException {
    ObjectReader values = VALUES.readerFor(type);
    long[] damaged = {0};
    try (InputStream in = RunFiles.open(file)) {
      read(
          in,
          1 << 16,
          MAX_LINE_BYTES,
          (buffer, from, length, skipped, isLast) -> {
            if (skipped > 0) {
              damaged[0]++;
            } else if (length > 0) {
              T value;
              try {
                value = requireNonNull(values.readValue(buffer, from, length));
              } catch (JsonProcessingException | RuntimeException damage) {
                damaged[0]++;
                return;
              }
              sink.accept(value);
            }
          });
    } catch (NoSuchFileException e) {
      return 0;
    }
    return damaged[0];
  }

  /** Appends to that file, which is created if it does not exist. */
  static JsonLines appendTo(Path file) throws IOException {
    return new JsonLines(
        Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND));
  }

  /** Appends a Java record, with keys in snake case. */
  void add(Object value) throws IOException {
    json.writePOJO(value);
    end();
  }

  /** Where the value of a line is written, before its {@link #end}. */
  JsonGenerator json() {
    return json;
  }

  void end() throws IOException {
    json.writeRaw('\n');
    json.flush();
    if (lines.size() >= BATCH) {
      flush();
    }
  }

  private void flush() throws IOException {
    lines.writeTo(out);
    lines.reset();
  }

  @Override
  public void close() throws IOException {
    try (out;
        json) {
      flush();
    }
  }

  /** A generator that writes a JSON value on one line, and does not close the stream. */
  static JsonGenerator generator(JsonFactory factory, OutputStream out) throws IOException {
    return factory
        .createGenerator(out, JsonEncoding.UTF8)
        .disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET)
        .enable(JsonGenerator.Feature.WRITE_BIGDECIMAL_AS_PLAIN)
        .setCharacterEscapes(OneLine.ESCAPES);
  }

  /** Replaces unpaired surrogates, which the generator refuses. */
  private static final class PairedText extends StdScalarSerializer<String> {

    private static final long serialVersionUID = 1;

    PairedText() {
      super(String.class);
    }

    @Override
    public void serialize(String text, JsonGenerator json, SerializerProvider provider)
        throws IOException {
      json.writeString(FieldType.paired(text));
    }
  }

  /** Escapes control characters and everything that a reader may take for a line end. */
  private static final class OneLine extends CharacterEscapes {

    private static final long serialVersionUID = 1;
    static final OneLine ESCAPES = new OneLine();

    private static final SerializableString NEXT_LINE = new SerializedString("\\u0085");
    private static final SerializableString LINE_SEPARATOR = new SerializedString("\\u2028");
    private static final SerializableString PARAGRAPH_SEPARATOR = new SerializedString("\\u2029");

    private final int[] ascii = standardAsciiEscapesForJSON();

    OneLine() {
      ascii[0x7f] = ESCAPE_STANDARD;
    }

    @Override
    public int[] getEscapeCodesForAscii() {
      return ascii;
    }

    @Override
    public @Nullable SerializableString getEscapeSequence(int c) {
      return switch (c) {
        case 0x85 -> NEXT_LINE;
        case 0x2028 -> LINE_SEPARATOR;
        case 0x2029 -> PARAGRAPH_SEPARATOR;
        default -> null;
      };
    }
  }
}
