package io.github.gatlingllm.figures.merge;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.function.LongUnaryOperator;

/**
 * Copies lines of JSON and converts the number after one key to another clock. Inside a string of
 * the line the key's quotes are escaped, so that it is not mistaken for the key.
 */
final class CorrectedInstants extends FilterOutputStream {

  /** Digits that always fit into a {@code long}. */
  private static final int MAX_DIGITS = 18;

  private final byte[] key;
  private final LongUnaryOperator clock;
  private int matched;
  private int digits;
  private long number;

  /**
   * @param key e.g. {@code start_unix_ns}
   * @param clock converts an instant
   */
  CorrectedInstants(OutputStream out, String key, LongUnaryOperator clock) {
    super(out);
    this.key = ('"' + key + "\":").getBytes(US_ASCII);
    this.clock = clock;
  }

  @Override
  public void write(int next) throws IOException {
    if (matched == key.length) {
      if (next >= '0' && next <= '9' && digits <= MAX_DIGITS) {
        number = number * 10 + (next - '0');
        digits++;
        return;
      }
      if (next == ' ' && digits == 0) {
        out.write(next);
        return;
      }
      writeNumber();
    }
    matched = next == key[matched] ? matched + 1 : next == key[0] ? 1 : 0;
    out.write(next);
  }

  @Override
  public void write(byte[] bytes, int from, int length) throws IOException {
    for (int i = from; i < from + length; i++) {
      write(bytes[i]);
    }
  }

  private void writeNumber() throws IOException {
    if (digits > 0) {
      out.write(Long.toString(clock.applyAsLong(number)).getBytes(US_ASCII));
    }
    matched = 0;
    digits = 0;
    number = 0;
  }
}
