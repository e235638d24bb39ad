package io.github.gatlingllm.record;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A cursor over a line of JSON in the form in which {@link RecordCodec} writes it: no white space,
 * ASCII without escapes, decimals without exponents. At anything else it throws {@link NotPlain},
 * and a JSON parser reads the line instead, in twice the time. Not thread-safe.
 */
final class PlainLine {

  private static final int MAX_LABEL = 256;

  /** Of a long; larger numbers of so many digits become negative. */
  private static final int MAX_DIGITS = 19;

  /** Longer times do not fit into nanoseconds. */
  private static final long MAX_SECONDS = 9_000_000_000L;

  private static final byte[] NULL = "null".getBytes(ISO_8859_1);
  private static final byte[] TRUE = "true".getBytes(ISO_8859_1);
  private static final byte[] FALSE = "false".getBytes(ISO_8859_1);

  /** By length and some letters; a later label replaces an earlier one. */
  private final String[] labels = new String[256];

  private int[] integers = new int[256];
  private byte[] line = {};
  private int at;
  private int end;

  /** The line needs a JSON parser, if it is JSON at all. */
  static final class NotPlain extends Exception {

    private static final long serialVersionUID = 1;

    @SuppressWarnings("StaticAssignmentOfThrowable") // it has no stack trace
    private static final NotPlain HERE = new NotPlain();

    private NotPlain() {
      super("not plain", null, false, false);
    }
  }

  PlainLine() {
    Arrays.fill(labels, "");
  }

  /** Moves to the start of a line. */
  void begin(byte[] bytes, int offset, int length) {
    line = bytes;
    at = offset;
    end = offset + length;
  }

  static void require(boolean isPlain) throws NotPlain {
    if (!isPlain) {
      throw NotPlain.HERE;
    }
  }

  static <T> T required(@Nullable T value) throws NotPlain {
    if (value == null) {
      throw NotPlain.HERE;
    }
    return value;
  }

  boolean isOver() {
    return at == end;
  }

  /** Skips a character if it is next. */
  boolean skip(char character) {
    boolean isNext = at < end && line[at] == character;
    at += isNext ? 1 : 0;
    return isNext;
  }

  /** Skips a text if it is next. */
  boolean skip(byte[] text) {
    boolean isNext =
        end - at >= text.length && Arrays.equals(line, at, at + text.length, text, 0, text.length);
    at += isNext ? text.length : 0;
    return isNext;
  }

  boolean skipNull() {
    return skip(NULL);
  }

  /** Whether a comma and another value follow; otherwise the bracket must. */
  boolean hasNext(char bracket) throws NotPlain {
    boolean isLast = skip(bracket);
    require(isLast || skip(','));
    return !isLast;
  }

  /** Skips a text in quotes; returns its length. */
  private int skipText() throws NotPlain {
    require(skip('"'));
    int to = at;
    while (to < end && line[to] != '"' && line[to] != '\\' && line[to] >= ' ') {
      to++;
    }
    int length = to - at;
    at = to;
    require(skip('"'));
    return length;
  }

  String text() throws NotPlain {
    int length = skipText();
    return new String(line, at - 1 - length, length, ISO_8859_1);
  }

  /** A text that is the same in many lines, and is then one object. */
  String label() throws NotPlain {
    int length = skipText();
    int from = at - 1 - length;
    if (length == 0 || length > MAX_LABEL) {
      return new String(line, from, length, ISO_8859_1);
    }
    int letters = 31 * (31 * length + line[from]) + line[from + length / 2];
    int place = (31 * letters + line[from + length - 1]) % labels.length;
    if (!isEqual(labels[place], from, length)) {
      labels[place] = new String(line, from, length, ISO_8859_1);
    }
    return labels[place];
  }

  private boolean isEqual(String label, int from, int length) {
    boolean isEqual = label.length() == length;
    for (int i = 0; isEqual && i < length; i++) {
      isEqual = label.charAt(i) == line[from + i];
    }
    return isEqual;
  }

  List<String> labels() throws NotPlain {
    require(skip('['));
    List<String> all = new ArrayList<>(0);
    for (boolean more = !skip(']'); more; more = hasNext(']')) {
      all.add(label());
    }
    return all.isEmpty() ? List.of() : Collections.unmodifiableList(all);
  }

  boolean flag() throws NotPlain {
    boolean flag = skip(TRUE);
    require(flag || skip(FALSE));
    return flag;
  }

  long integer() throws NotPlain {
    boolean isNegative = skip('-');
    long number = whole();
    return isNegative ? -number : number;
  }

  int smallInteger() throws NotPlain {
    long number = integer();
    require(number == (int) number);
    return (int) number;
  }

  int[] integers() throws NotPlain {
    require(skip('['));
    int size = 0;
    for (boolean more = !skip(']'); more; more = hasNext(']')) {
      integers = size < integers.length ? integers : Arrays.copyOf(integers, size * 2);
      integers[size++] = smallInteger();
    }
    return Arrays.copyOf(integers, size);
  }

  /** Seconds with nine decimals, in nanoseconds. */
  long nanos() throws NotPlain {
    boolean isNegative = skip('-');
    long seconds = whole();
    require(seconds < MAX_SECONDS && skip('.'));
    int from = at;
    long nanos = seconds * 1_000_000_000L + digits();
    require(at - from == 9);
    return isNegative ? -nanos : nanos;
  }

  /** Numbers in the order of the line. */
  Map<String, Double> numbers() throws NotPlain {
    require(skip('{'));
    Map<String, Double> numbers = new LinkedHashMap<>();
    for (boolean more = !skip('}'); more; more = hasNext('}')) {
      String name = label();
      require(skip(':'));
      numbers.put(name, decimal());
    }
    return Collections.unmodifiableMap(numbers);
  }

  private double decimal() throws NotPlain {
    int from = at;
    var unused = whole();
    unused = skip('.') ? digits() : 0;
    return Double.parseDouble(new String(line, from, at - from, ISO_8859_1));
  }

  /** A number without a sign. */
  private long whole() throws NotPlain {
    int from = at;
    long number = digits();
    require(at - from == 1 || line[from] != '0');
    return number;
  }

  private long digits() throws NotPlain {
    long number = 0;
    int to = at;
    for (; to < end && line[to] >= '0' && line[to] <= '9'; to++) {
      number = 10 * number + line[to] - '0';
    }
    int count = to - at;
    require(count > 0 && count <= MAX_DIGITS && number >= 0);
    at = to;
    return number;
  }
}
