package io.github.gatlingllm.record;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PlainLineTest {

  private static final String ODD = "0123456789-.eE\"\\,:{}[] ntfals\n\u00e9";

  private final RandomRecords records = new RandomRecords(5);

  @Test
  void readsMostRecordsAsWritten() throws IOException {
    PlainLine plain = new PlainLine();
    for (int i = 0; i < 300; i++) {
      byte[] line = RecordCodec.write(records.answer(i));
      RequestRecord record = plain.read(line, 0, line.length);
      assertThat(record).usingRecursiveComparison().isEqualTo(jackson(line));
      assertThat(plain.next()).isEqualTo(line.length);
    }
  }

  /** A line that is whole to the eye of one reader and not of the other would be a lost record. */
  @Test
  void readsTheSameAsTheJsonParser() throws IOException {
    Random random = new Random(9);
    int read = 0;
    for (int i = 0; i < 40_000; i++) {
      byte[] line = RecordCodec.write(i % 2 == 0 ? records.answer(i % 7) : records.any());
      int changes = random.nextInt(3);
      for (int change = 0; change < changes; change++) {
        line[random.nextInt(line.length - 1)] = (byte) ODD.charAt(random.nextInt(ODD.length()));
      }
      RequestRecord record = new PlainLine().read(line, 0, line.length);
      if (record != null) {
        read++;
        assertThat(RecordCodec.write(record))
            .as(() -> new String(line, ISO_8859_1))
            .isEqualTo(RecordCodec.write(jackson(line)));
      }
    }
    assertThat(read).isGreaterThan(4_000);
  }

  @Test
  void refusesAnIncompleteLine() {
    byte[] line = RecordCodec.write(records.answer(3));
    for (int to = 0; to < line.length; to++) {
      assertThat(new PlainLine().read(line, 0, to)).isNull();
    }
  }

  private static RequestRecord jackson(byte[] line) throws IOException {
    return RecordCodec.read(line, 0, line.length - 1);
  }
}
