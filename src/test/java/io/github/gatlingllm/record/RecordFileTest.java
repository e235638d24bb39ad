package io.github.gatlingllm.record;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RecordFile.ReadReport.BadLine;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecordFileTest {

  private final RandomRecords records = new RandomRecords(11);
  private final List<RequestRecord> read = new ArrayList<>();

  @Test
  void fileCutAtAnyByteOfItsLastRecordKeepsTheOthers() throws IOException {
    List<RequestRecord> written = List.of(records.any(), records.any(), records.any());
    byte[] whole = lines(written);
    int kept = lines(written.subList(0, 2)).length;
    for (int cut = kept; cut <= whole.length; cut++) {
      read.clear();
      ReadReport report = read(Arrays.copyOf(whole, cut));
      boolean lastIsWhole = cut >= whole.length - 1;
      assertThat(report)
          .isEqualTo(
              lastIsWhole
                  ? new ReadReport(3, 0, 0, List.of())
                  : new ReadReport(2, cut - kept, 0, List.of()));
      assertThat(lines(read)).isEqualTo(lines(written.subList(0, lastIsWhole ? 3 : 2)));
    }
  }

  @Test
  void damagedLineIsReportedAndSkipped() throws IOException {
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    file.write(RecordCodec.write(records.any()));
    file.write("{\"request_id\":\"x\",\"na\n\n \r\n".getBytes(UTF_8));
    file.write(RecordCodec.write(records.any()));
    for (int i = 0; i < 10; i++) {
      file.write("[]\n".getBytes(UTF_8));
    }

    ReadReport report = read(file.toByteArray());

    assertThat(report.records()).isEqualTo(2);
    assertThat(report.badLines()).isEqualTo(11);
    assertThat(report.firstBadLines()).hasSize(5);
    assertThat(report.firstBadLines().get(0).number()).isEqualTo(2);
    assertThat(report.firstBadLines().get(0).reason()).startsWith("not valid JSON");
    assertThat(report.firstBadLines().get(1)).isEqualTo(new BadLine(6, "not a JSON object"));
  }

  @Test
  void endlessLineTakesBoundedMemory() throws IOException {
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    file.write(RecordCodec.write(records.answer(20)));
    file.write("x".repeat(20_000).getBytes(UTF_8));
    byte[] endless = file.toByteArray();
    file.write('\n');
    file.write(RecordCodec.write(records.answer(20)));

    ReadReport report = RecordFile.read(in(file.toByteArray()), 64, 4_096, read::add);
    assertThat(report.records()).isEqualTo(2);
    assertThat(report.firstBadLines())
        .containsExactly(new BadLine(2, "a line of 20000 bytes; expected at most 4096"));

    assertThat(RecordFile.read(in(endless), 64, 4_096, read::add))
        .isEqualTo(new ReadReport(1, 20_000, 0, List.of()));
  }

  @Test
  void missingFileIsReported(@TempDir Path directory) {
    assertThatExceptionOfType(NoSuchFileException.class)
        .isThrownBy(() -> RecordFile.read(directory.resolve("requests.jsonl"), read::add))
        .withMessageEndingWith(
            "requests.jsonl: no such file; expected the requests.jsonl of a run");
  }

  private ReadReport read(byte[] file) throws IOException {
    return RecordFile.read(in(file), 1 << 16, 1 << 20, read::add);
  }

  private static ByteArrayInputStream in(byte[] file) {
    return new ByteArrayInputStream(file);
  }

  private static byte[] lines(List<RequestRecord> records) throws IOException {
    ByteArrayOutputStream lines = new ByteArrayOutputStream();
    for (RequestRecord record : records) {
      lines.write(RecordCodec.write(record));
    }
    return lines.toByteArray();
  }
}
