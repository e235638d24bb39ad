package io.github.gatlingllm.record;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RequestRecord.RecordedText;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RecordFileTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  private static final ObjectReader EXACT =
      JSON.reader().with(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

  private final RandomRecords records = new RandomRecords(7);

  @Test
  void everyKeyIsInEveryLineInTheOrderOfTheContract() throws IOException {
    List<String> expected =
        Arrays.stream(RecordField.values())
            .filter(field -> !field.isText())
            .map(RecordField::key)
            .toList();
    for (int i = 0; i < 200; i++) {
      RequestRecord record = withText(records.any(), null);
      assertThat(keys(JSON.readTree(RecordFile.line(record)))).isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0.000000000",
    "1, 0.000000001",
    "-1, -0.000000001",
    "999999999, 0.999999999",
    "1000000000, 1.000000000",
    "-1500000000, -1.500000000",
    "3600123456789, 3600.123456789",
    "9223372036854775807, 9223372036.854775807",
    "-9223372036854775808, -9223372036.854775808"
  })
  void secondsHaveNineDecimalsAndNoExponent(long nanos, String written) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (JsonGenerator json = JsonLines.generator(new JsonFactory(), out)) {
      FieldType.SECONDS.write(json, nanos);
    }
    assertThat(out.toString(UTF_8)).isEqualTo(written);
    assertThat(seconds(written)).isEqualTo(nanos);
  }

  @Test
  void secondsOfOtherWritersAreRead() throws IOException {
    assertThat(seconds("2")).isEqualTo(2_000_000_000L);
    assertThat(seconds("0.25")).isEqualTo(250_000_000L);
    assertThat(seconds("1.5e-3")).isEqualTo(1_500_000L);
    assertThat(seconds("0.12345678949")).isEqualTo(123_456_789L);
    assertThat(seconds("1795255200.5")).isEqualTo(1_795_255_200_500_000_000L);
    assertThat(seconds("null")).isNull();
  }

  @Test
  void unknownKeysAndAnyOrderAreAccepted() throws IOException {
    RequestRecord record = records.any();
    ObjectNode json = (ObjectNode) JSON.readTree(RecordFile.line(record));
    List<String> keys = new ArrayList<>(keys(json));
    ObjectNode shuffled = JSON.createObjectNode();
    shuffled.putObject("future").putArray("list").add(1).addObject().put("deep", true);
    for (int i = keys.size() - 1; i >= 0; i--) {
      shuffled.set(keys.get(i), json.get(keys.get(i)));
    }
    assertThat(withText(read(shuffled), null))
        .usingRecursiveComparison()
        .isEqualTo(withText(record, null));
  }

  /** Until 0.1 the status was {@code verdict}, and {@code status} the number of HTTP. */
  @Test
  void keysOfOlderVersionsAreRead() throws IOException {
    for (int i = 0; i < 200; i++) {
      RequestRecord record = withText(records.any(), null);
      JsonNode json = EXACT.readTree(RecordFile.line(record));
      ObjectNode old = JSON.createObjectNode();
      ObjectNode backwards = JSON.createObjectNode();
      for (String key : keys(json)) {
        old.set(before(key), json.get(key));
      }
      List<String> keys = keys(old);
      Collections.reverse(keys);
      keys.forEach(key -> backwards.set(key, old.get(key)));
      for (ObjectNode line : List.of(old, backwards)) {
        assertThat(line.has("http_status")).isFalse();
        assertThat(read(line)).usingRecursiveComparison().isEqualTo(record);
      }
    }
  }

  private static String before(String key) {
    return switch (key) {
      case "status" -> "verdict";
      case "http_status" -> "status";
      default -> key;
    };
  }

  @Test
  void serverNumbersThatAreNotFiniteAreLeftOut() throws IOException {
    RequestRecord odd =
        Recorded.at(0).server(Map.of("queue_s", Double.NaN, "prefill_s", 0.0005)).record();
    byte[] line = RecordFile.line(odd);
    assertThat(new String(line, UTF_8)).contains("\"server\":{\"prefill_s\":0.00050}");
    assertThat(RecordFile.record(line).server().timings())
        .containsExactly(Map.entry("prefill_s", 0.0005));
  }

  @Test
  void unpairedSurrogatesBecomeTheReplacementCharacter() throws IOException {
    RequestRecord record =
        withText(records.answer(2), new RecordedText(null, "a\ud83d", "\ude00b\ud83d\ude00", null));
    byte[] line = RecordFile.line(record);
    assertThat(RecordFile.record(line).text())
        .isEqualTo(new RecordedText(null, "a\ufffd", "\ufffdb\ud83d\ude00", null));
  }

  @Test
  void messagesAreEmbeddedAsJsonOnOneLine() throws IOException {
    RequestRecord record =
        withText(
            records.answer(2),
            new RecordedText(
                "[\n  {\"role\":\"user\",\r\n\"content\":\"hi\\n😀\"}]", null, "a\nb", null));
    byte[] line = RecordFile.line(record);
    JsonNode json = JSON.readTree(line);
    assertThat(new String(line, UTF_8).indexOf('\n'))
        .isEqualTo(new String(line, UTF_8).length() - 1);
    assertThat(json.at("/messages/0/content").textValue()).isEqualTo("hi\n😀");
    assertThat(json.get("answer").textValue()).isEqualTo("a\nb");
    assertThat(json.get("reasoning").isNull()).isTrue();
    assertThat(json.has("prompt")).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''|not a JSON object",
        "[1]|not a JSON object",
        "{}|no status",
        "{\"status\":\"complete\"}|no request_id",
        "{\"status\":\"fine\"}|status 'fine' is unknown; expected one of [complete, ",
        "{\"user_id\":\"7\"}|not valid JSON in user_id: ",
        "{\"name\":7}|name is VALUE_NUMBER_INT; expected a text",
        "{\"ttft_s\":true}|not valid JSON in ttft_s: ",
        "{\"ttft_s\":1e99}|ttft_s is 1E+99; expected seconds",
        "{\"event_offsets_us\":[1,null]}|not valid JSON in event_offsets_us: ",
        "{\"name\":\"x|not valid JSON in name: Unexpected end-of-input",
        "{}{}|more than one JSON object"
      })
  void whatIsNoRecordIsNamed(String text, String message) {
    byte[] line = text.getBytes(UTF_8);
    assertThatIOException()
        .isThrownBy(() -> RecordFile.record(line))
        .withMessageStartingWith(message);
  }

  private static Long seconds(String number) throws IOException {
    try (JsonParser json = JSON.createParser(number.getBytes(UTF_8))) {
      json.nextToken();
      return json.currentToken() == JsonToken.VALUE_NULL ? null : FieldType.SECONDS.read(json);
    }
  }

  private static RequestRecord read(JsonNode json) throws IOException {
    byte[] line = JSON.writeValueAsBytes(json);
    return RecordFile.record(line);
  }

  private static List<String> keys(JsonNode json) {
    List<String> keys = new ArrayList<>();
    for (Iterator<String> names = json.fieldNames(); names.hasNext(); ) {
      keys.add(names.next());
    }
    return keys;
  }

  private static RequestRecord withText(RequestRecord record, RecordedText text) {
    return Components.with(record, "text", text);
  }

  private final List<RequestRecord> read = new ArrayList<>();

  @Test
  void fileCutAtAnyByteOfItsLastRecordKeepsTheOthers() throws IOException {
    List<RequestRecord> written = List.of(records.any(), records.any(), records.any());
    byte[] complete = lines(written);
    int kept = lines(written.subList(0, 2)).length;
    for (int cut = kept; cut <= complete.length; cut++) {
      read.clear();
      ReadReport report = read(Arrays.copyOf(complete, cut));
      boolean lastIsComplete = cut >= complete.length - 1;
      assertThat(report)
          .isEqualTo(
              lastIsComplete
                  ? ReadReport.of(3)
                  : new ReadReport(2, cut - kept, 0, Collections.emptySortedMap()));
      assertThat(lines(read)).isEqualTo(lines(written.subList(0, lastIsComplete ? 3 : 2)));
    }
  }

  @Test
  void damagedLineIsReportedAndSkipped() throws IOException {
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    file.write(RecordFile.line(records.any()));
    file.write("{\"request_id\":\"x\",\"na\n\n \r\n".getBytes(UTF_8));
    file.write(RecordFile.line(records.any()));
    for (int i = 0; i < 10; i++) {
      file.write("[]\n".getBytes(UTF_8));
    }

    ReadReport report = read(file.toByteArray());

    assertThat(report.records()).isEqualTo(2);
    assertThat(report.badLines()).isEqualTo(11);
    assertThat(report.firstBadLines()).hasSize(5);
    assertThat(report.firstBadLines().get(2L)).startsWith("not valid JSON");
    assertThat(report.firstBadLines()).containsEntry(6L, "not a JSON object");
  }

  @Test
  void endlessLineTakesBoundedMemory() throws IOException {
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    file.write(RecordFile.line(records.answer(20)));
    file.write("x".repeat(20_000).getBytes(UTF_8));
    byte[] endless = file.toByteArray();
    file.write('\n');
    file.write(RecordFile.line(records.answer(20)));

    ReadReport report = RecordFile.read(in(file.toByteArray()), 64, 4_096, read::add);
    assertThat(report.records()).isEqualTo(2);
    assertThat(report.firstBadLines())
        .containsExactly(Map.entry(2L, "a line of 20000 bytes; expected at most 4096"));

    assertThat(RecordFile.read(in(endless), 64, 4_096, read::add))
        .isEqualTo(new ReadReport(1, 20_000, 0, Collections.emptySortedMap()));
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
      lines.write(RecordFile.line(record));
    }
    return lines.toByteArray();
  }
}
