package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ByteSearchTest {

  /** All byte values next to those looked for: the eight-byte step must not confuse any. */
  @Test
  void sameAsOneByteAtATime() {
    Random random = new Random(1);
    byte[] near = {'\n', '\r', '"', '\\', 9, 11, 12, 14, 0, '!', '#', '[', ']', 'x', -1, -128, 127};
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = new byte[random.nextInt(40)];
      for (int j = 0; j < bytes.length; j++) {
        int sparse = random.nextInt(6);
        bytes[j] = sparse == 0 ? near[random.nextInt(near.length)] : (byte) random.nextInt(256);
      }
      int from = random.nextInt(bytes.length + 1);
      int to = from + random.nextInt(bytes.length - from + 1);
      assertThat(ByteSearch.lineEnd(bytes, from, to)).isEqualTo(first(bytes, from, to, "\n\r"));
      assertThat(ByteSearch.quoteOrBackslash(bytes, from, to))
          .isEqualTo(first(bytes, from, to, "\"\\"));
    }
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "abc', 3",
        "', 0",
        "abc, -1",
        "``, -1",
        "a\\'b', 4",
        "a\\\\', 3",
        "a\\', -1",
        "a\\, -1",
        "long text before the escape \\' and after', 40"
      })
  void closingQuote(String text, int index) {
    byte[] bytes = text.replace('\'', '"').getBytes(US_ASCII);
    assertThat(ByteSearch.closingQuote(bytes, 0, bytes.length)).isEqualTo(index);
  }

  private static int first(byte[] bytes, int from, int to, String wanted) {
    for (int i = from; i < to; i++) {
      if (wanted.indexOf((char) bytes[i]) >= 0) {
        return i;
      }
    }
    return to;
  }
}
