package io.github.gatlingllm.record;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.record.RequestRecord.Text;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class RecordCodecTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  private final RandomRecords records = new RandomRecords(7);

  @Test
  void everyKeyIsInEveryLineInTheOrderOfTheContract() throws IOException {
    String keys =
        "request_id run_id injector trial request_index scenario name groups user_id"
            + " turn target endpoint model api stage phase start_unix_ns scheduled_offset_s"
            + " queue_wait_s connect_s ttfb_s first_event_s ttft_s ttft_from_schedule_s ttfo_s"
            + " latency_s latency_from_schedule_s closed_s tpot_s event_offsets_us"
            + " event_tokens prompt_chars prompt_tokens prompt_tokens_local cached_tokens"
            + " max_tokens output_tokens output_tokens_local reasoning_tokens estimated"
            + " token_source finish_reason status ok verdict error slo_ok slo_missed server"
            + " streamed start_lag_s gate_wait_s streamed_tokens event_choices events"
            + " coalesced_events late_events done first_event_tokens stall_s tpot_estimated"
            + " resent refused_counts server_names rate_limits retry_after_s pacing_wait_s"
            + " inputs";
    List<String> expected = List.of(keys.split(" "));
    for (int i = 0; i < 200; i++) {
      RequestRecord record = withText(records.any(), null);
      assertThat(keys(JSON.readTree(RecordCodec.write(record)))).isEqualTo(expected);
    }
  }

  @Test
  void anyJsonLibraryReadsTheSameValues() throws IOException {
    for (int i = 0; i < 500; i++) {
      RequestRecord record = records.any();
      JsonNode json = JSON.readTree(RecordCodec.write(record));
      assertThat(json.get("name").textValue()).isEqualTo(record.identity().name());
      assertThat(json.get("user_id").longValue()).isEqualTo(record.identity().userId());
      assertThat(json.get("start_unix_ns").longValue()).isEqualTo(record.timing().startUnixNanos());
      assertThat(json.get("start_lag_s").doubleValue())
          .isEqualTo(record.timing().startLagNanos() / 1e9);
      assertThat(JSON.convertValue(json.get("event_offsets_us"), int[].class))
          .isEqualTo(record.events().offsetsMicros());
    }
  }

  @TestFactory
  Stream<DynamicTest> secondsHaveNineDecimalsAndNoExponent() {
    return Map.of(
            0L,
            "0.000000000",
            1L,
            "0.000000001",
            -1L,
            "-0.000000001",
            999_999_999L,
            "0.999999999",
            1_000_000_000L,
            "1.000000000",
            -1_500_000_000L,
            "-1.500000000",
            3_600_123_456_789L,
            "3600.123456789",
            Long.MAX_VALUE,
            "9223372036.854775807",
            Long.MIN_VALUE,
            "-9223372036.854775808")
        .entrySet()
        .stream()
        .map(
            row ->
                DynamicTest.dynamicTest(
                    row.getValue(),
                    () -> {
                      ByteArrayOutputStream written = new ByteArrayOutputStream();
                      try (JsonGenerator json = JsonLines.generator(new JsonFactory(), written)) {
                        FieldType.SECONDS.write(json, row.getKey());
                      }
                      assertThat(written.toString(UTF_8)).isEqualTo(row.getValue());
                      assertThat(seconds(row.getValue())).isEqualTo(row.getKey());
                    }));
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
    ObjectNode json = (ObjectNode) JSON.readTree(RecordCodec.write(record));
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

  @Test
  void lineWithoutKeysOfLaterVersionsIsRead() throws IOException {
    RequestRecord record = records.answer(20);
    ObjectNode json = (ObjectNode) JSON.readTree(RecordCodec.write(record));
    json.put("queue_wait_s", 0.125);
    json.remove(
        List.of(
            "streamed",
            "start_lag_s",
            "gate_wait_s",
            "streamed_tokens",
            "event_choices",
            "events",
            "coalesced_events",
            "late_events",
            "done",
            "first_event_tokens",
            "stall_s"));
    RequestRecord old = read(json);
    assertThat(old.timing().queueWaitNanos()).isEqualTo(125_000_000L);
    assertThat(old.events().count()).isEqualTo(20);
    assertThat(old.identity().streamed()).isTrue();
    assertThat(old.events().longestGapNanos()).isNull();
    assertThat(old.timing().latencyNanos()).isEqualTo(record.timing().latencyNanos());
  }

  /** 5 events, N = 100: 980 ms ÷ (100 − 1) then, 980 ms ÷ (100 − 100 ÷ 5) now. */
  @Test
  void tpotOfOlderFilesTakesAnEvenShareForTheFirstEvent() throws IOException {
    ObjectNode json = (ObjectNode) JSON.readTree(RecordCodec.write(records.answer(5)));
    json.put("tpot_s", 0.980 / 99).put("streamed_tokens", 100).put("events", 5);
    json.putNull("first_event_tokens").putArray("event_choices");
    assertThat(read(json).timing().tpotNanos()).isEqualTo(980e6 / 99, within(1.0));
    json.remove("tpot_estimated");
    assertThat(read(json).timing().tpotNanos()).isEqualTo(980e6 / 80, within(1.0));
    json.put("first_event_tokens", 1);
    assertThat(read(json).timing().tpotNanos()).isEqualTo(980e6 / 99, within(1.0));
  }

  @Test
  void serverNumbersThatAreNotFiniteAreLeftOut() throws IOException {
    RequestRecord record = records.answer(2);
    RequestRecord odd =
        new RequestRecord(
            record.identity(),
            record.timing(),
            record.events(),
            record.tokens(),
            record.outcome(),
            new ServerReport(
                Map.of("queue_s", Double.NaN, "prefill_s", 0.0005), List.of(), Map.of(), null),
            null);
    byte[] line = RecordCodec.write(odd);
    assertThat(new String(line, UTF_8)).contains("\"server\":{\"prefill_s\":0.00050}");
    assertThat(RecordCodec.read(line, 0, line.length).server().timings())
        .containsExactly(Map.entry("prefill_s", 0.0005));
  }

  @Test
  void unpairedSurrogatesBecomeTheReplacementCharacter() throws IOException {
    RequestRecord record =
        withText(records.answer(2), new Text(null, "a\ud83d", "\ude00b\ud83d\ude00", null));
    byte[] line = RecordCodec.write(record);
    assertThat(RecordCodec.read(line, 0, line.length).text())
        .isEqualTo(new Text(null, "a\ufffd", "\ufffdb\ud83d\ude00", null));
  }

  @Test
  void messagesAreEmbeddedAsJsonOnOneLine() throws IOException {
    RequestRecord record =
        withText(
            records.answer(2),
            new Text("[\n  {\"role\":\"user\",\r\n\"content\":\"hi\\n😀\"}]", null, "a\nb", null));
    byte[] line = RecordCodec.write(record);
    JsonNode json = JSON.readTree(line);
    assertThat(new String(line, UTF_8).indexOf('\n'))
        .isEqualTo(new String(line, UTF_8).length() - 1);
    assertThat(json.at("/messages/0/content").textValue()).isEqualTo("hi\n😀");
    assertThat(json.get("answer").textValue()).isEqualTo("a\nb");
    assertThat(json.get("reasoning").isNull()).isTrue();
    assertThat(json.has("prompt")).isFalse();
  }

  @TestFactory
  Stream<DynamicTest> whatIsNoRecordIsNamed() {
    return Map.of(
            "", "not a JSON object",
            "[1]", "not a JSON object",
            "{}", "no verdict",
            "{\"verdict\":\"complete\"}", "no request_id",
            "{\"verdict\":\"fine\"}", "verdict 'fine' is unknown; expected one of [complete, ",
            "{\"user_id\":\"7\"}", "user_id is a text; expected an integer",
            "{\"ttft_s\":true}", "ttft_s is true; expected seconds",
            "{\"event_offsets_us\":[1,null]}", "event_offsets_us is null; expected integers",
            "{\"name\":\"x", "not valid JSON: Unexpected end-of-input",
            "{}{}", "more than one JSON object")
        .entrySet()
        .stream()
        .map(
            row ->
                DynamicTest.dynamicTest(
                    row.getKey() + " -> " + row.getValue(),
                    () ->
                        assertThatIOException()
                            .isThrownBy(
                                () -> {
                                  byte[] line = row.getKey().getBytes(UTF_8);
                                  RecordCodec.read(line, 0, line.length);
                                })
                            .withMessageStartingWith(row.getValue())));
  }

  private static Long seconds(String number) throws IOException {
    try (JsonParser json = JSON.createParser(number.getBytes(UTF_8))) {
      json.nextToken();
      return FieldType.SECONDS.read(json);
    }
  }

  private static RequestRecord read(JsonNode json) throws IOException {
    byte[] line = JSON.writeValueAsBytes(json);
    return RecordCodec.read(line, 0, line.length);
  }

  private static List<String> keys(JsonNode json) {
    List<String> keys = new ArrayList<>();
    for (Iterator<String> names = json.fieldNames(); names.hasNext(); ) {
      keys.add(names.next());
    }
    return keys;
  }

  private static RequestRecord withText(RequestRecord record, Text text) {
    return new RequestRecord(
        record.identity(),
        record.timing(),
        record.events(),
        record.tokens(),
        record.outcome(),
        record.server(),
        text);
  }
}
