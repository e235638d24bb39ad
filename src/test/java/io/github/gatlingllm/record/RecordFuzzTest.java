package io.github.gatlingllm.record;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Records of another origin. Inputs that failed are in {@code RecordFuzzTestInputs}. */
class RecordFuzzTest {

  /** What is read can be written, and is then the same. */
  @FuzzTest
  void line(byte[] line) {
    RequestRecord record;
    try {
      record = RecordFile.record(line);
    } catch (IOException refused) {
      assertThat(refused.getMessage()).hasLineCount(1).hasSizeLessThan(300);
      return;
    }
    byte[] written = RecordFile.line(record);
    List<RequestRecord> again = new ArrayList<>();
    try {
      ReadReport report =
          RecordFile.read(new ByteArrayInputStream(written), 64, 1 << 20, again::add);
      assertThat(report).isEqualTo(ReadReport.of(1));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    assertThat(RecordFile.line(again.get(0))).isEqualTo(written);
  }

  /** Whatever the size of the buffer, the same lines are read and the same are refused. */
  @FuzzTest
  void file(byte[] file) throws IOException {
    List<RequestRecord> few = new ArrayList<>();
    List<RequestRecord> all = new ArrayList<>();
    ReadReport small = RecordFile.read(new ByteArrayInputStream(file), 16, 1 << 16, few::add);
    ReadReport large = RecordFile.read(new ByteArrayInputStream(file), 1 << 17, 1 << 16, all::add);
    assertThat(small).isEqualTo(large);
    assertThat(few).usingRecursiveComparison().isEqualTo(all);
  }
}
