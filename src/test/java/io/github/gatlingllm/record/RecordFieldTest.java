package io.github.gatlingllm.record;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.gatlingllm.docs.ReferencePage;
import io.github.gatlingllm.record.GeneratorSecond.GeneratorField;
import io.github.gatlingllm.record.RecordFile.RecordCsv;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.simpleflatmapper.lightningcsv.CsvParser;

class RecordFieldTest {
  @Test
  void everyFieldHasAMeaning() {
    assertThat(RecordField.values()).allMatch(field -> !field.meaning().isBlank());
    assertThat(GeneratorField.values()).allMatch(field -> !field.meaning().isBlank());
  }

  @Test
  void everyFieldRoundTrips() throws IOException {
    RandomRecords random = new RandomRecords(5);
    for (int i = 0; i < 2_000; i++) {
      RequestRecord record = random.any();
      byte[] line = RecordCodec.write(record);
      RequestRecord read = RecordCodec.read(line, 0, line.length);
      assertThat(RecordCodec.write(read)).isEqualTo(line);
      assertThat(new String(line, UTF_8))
          .as("one line for every reader")
          .endsWith("}\n")
          .doesNotContainPattern("[\\x00-\\x09\\x0b-\\x1f\\x7f\\x85\\u2028\\u2029]|\n.");
      for (RecordField field : RecordField.values()) {
        assertThat(field.get(read)).as("%s", field).isEqualTo(field.get(record));
      }
    }
  }

  @Test
  void pageIsWrittenFromTheCatalogue() throws IOException {
    ReferencePage.of("records.md").mustBe(page());
  }

  private static String page() {
    return """
    # Fields of a record

    `llm/requests.jsonl` has one JSON object per request of every phase (warm-up excepted), appended \
    as it ends; it is whole, or cut at its last line after a crash. The keys stand in this order, \
    and every key is in every line: null or `[]` where nothing applies. Seconds are decimal numbers \
    with nine decimals. Readers accept any order and skip keys that they do not know.

    """
        + table(field -> !field.isText())
        + """

        The setting `recordText=true` adds what was said, `messages` or `prompt`:

        """
        + table(RecordField::isText)
        + """

        `llm/requests.csv` (setting `csv`) has a column for each field with a ✓: UTF-8, RFC 4180, a \
        header and a row per record. An absent value is an empty cell, an empty text is `""`; lists \
        of texts are joined by `|`.

        ## The load generator itself

        `llm/generator.jsonl` has one JSON object per second while the run is on, its warm-up \
        included: how the load generator itself fared, which the check `generator` judges. Every \
        key is in every line, null or `[]` where the system does not tell. Values are of the \
        interval, or at its end. In a joined run the lines of all injectors follow one another.

        """
        + ReferencePage.table(
            List.of("Key", "Type", "Unit", "Meaning"),
            Arrays.stream(GeneratorField.values())
                .map(
                    field ->
                        List.of(
                            "`" + field + "`",
                            field.type().name(),
                            field.type().unit(),
                            field.meaning()))
                .toList())
        + """

        ## What the server says of itself

        `llm/server.jsonl` (setting `metricsUrl`) has one JSON object per page of metrics and second, \
        from before the first request to after the last; there is no file where no page answered. \
        `unix_ns` is when the page was asked for, on the run's clock; `target` the target that it is \
        about, null where it is about all; `url`; `source` whose names it has (`vllm`, `sglang`, `tgi`, \
        `llama.cpp`, `tensorrt-llm`, `triton`, `dynamo`, `llm-d`, `dcgm`, `node`, several joined by \
        `+`); `took_ms`; `error` why there are no values, else null; `reset` whether a counter went \
        back since the line before, as after a restart; `names` the server's own names, each in the first \
        line of its endpoint that has it; `values` (counters since the server's start), and \
        `histograms` `{count, sum, le[], counts[]}`: values up to each bound, with `le` only where it \
        differs from the line before. Keys of `values` and `histograms`, the same for all servers; \
        several series of a page (models, replicas, GPUs) are one number, as the last column but one \
        says:

        """
        + ReferencePage.table(
            List.of("Key", "Kind", "Unit", "Series", "Meaning"),
            Arrays.stream(EngineMetric.values())
                .map(
                    metric ->
                        List.of(
                            "`" + metric + "`",
                            metric.kind().name().toLowerCase(Locale.ROOT),
                            metric.unit(),
                            metric.series().name().toLowerCase(Locale.ROOT),
                            metric.meaning()))
                .toList())
        + """

        Written from `RecordField`, `GeneratorField` and `EngineMetric` by `RecordFieldTest`.
        """;
  }

  private static String table(Predicate<RecordField> which) {
    List<List<String>> rows =
        Arrays.stream(RecordField.values())
            .filter(which)
            .map(
                field ->
                    List.of(
                        "`" + field + "`",
                        field.type().name(),
                        field.type().unit(),
                        field.meaning(),
                        field.isColumn() ? "✓" : ""))
            .toList();
    return ReferencePage.table(List.of("Key", "Type", "Unit", "Meaning", "CSV"), rows);
  }

  private static final ObjectMapper JSON =
      JsonMapper.builder().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();

  private static final List<String> NOT_FLAT =
      List.of("event_offsets_us", "event_tokens", "event_choices", "server", "rate_limits");

  @TempDir Path folder;

  @Test
  void everySingleValuedFieldIsAColumnWithTheSameValue() throws IOException {
    RandomRecords random = new RandomRecords(11);
    List<RequestRecord> records = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      records.add(random.any());
    }
    List<List<String>> rows = rows(write(records));

    assertThat(rows).hasSize(records.size() + 1);
    for (int i = 0; i < records.size(); i++) {
      JsonNode json = JSON.readTree(RecordCodec.write(records.get(i)));
      List<String> names = new ArrayList<>();
      List<String> cells = new ArrayList<>();
      for (var field : json.properties()) {
        boolean isText =
            List.of("messages", "prompt", "answer", "reasoning").contains(field.getKey());
        if (!NOT_FLAT.contains(field.getKey()) && !isText) {
          names.add(field.getKey());
          String cell = PrintableText.of(cell(field.getValue()));
          // a spreadsheet would take it for a formula
          cells.add(
              field.getValue().isNumber() || !cell.matches("(?s)[=+@\\t\\r\\n-].*")
                  ? cell
                  : "'" + cell);
        }
      }
      assertThat(rows.get(0)).isEqualTo(names);
      assertThat(rows.get(i + 1)).isEqualTo(cells);
    }
  }

  private static String cell(JsonNode value) {
    if (value.isArray()) {
      List<String> texts = new ArrayList<>();
      value.forEach(text -> texts.add(text.textValue()));
      return String.join("|", texts);
    }
    return value.isNull()
        ? ""
        : value.isFloatingPointNumber()
            ? value.decimalValue().setScale(9).toPlainString()
            : value.asText();
  }

  @Test
  void absentIsEmptyAndAnEmptyTextIsQuoted() throws IOException {
    String line =
        """
        {"request_id":"","run_id":"r","injector":" i","request_index":0,"scenario":"s","name":"n",
        "user_id":1,"target":"t","endpoint":"e","model":null,"api":"chat","stage":"",
        "phase":"measure","start_unix_ns":1,"ttft_s":0.012345678,"verdict":"timeout",
        "error":"said \\"no, thanks\\"\\r\\n"}
        """;
    byte[] json = line.getBytes(UTF_8);

    String csv = write(List.of(RecordCodec.read(json, 0, json.length)));

    assertThat(csv).startsWith("request_id,run_id,injector,trial,request_index,").endsWith("\r\n");
    assertThat(csv.lines().skip(1).findFirst().orElseThrow())
        .startsWith("\"\",r,\" i\",,0,s,n,,1,,t,e,,chat,\"\",measure,1,,,,,,0.012345678,,");
    assertThat(csv).contains(",timeout,\"said \"\"no, thanks\"\"\\u000d\n\",,,true,0.000000000,,");
  }

  @Test
  void tableWithoutRecordsHasItsHeader() throws IOException {
    assertThat(write(List.of())).startsWith("request_id,run_id,").hasLineCount(1);
  }

  @Test
  void incompleteTableIsDeleted() throws IOException {
    Path file = folder.resolve("requests.csv");
    try (RecordCsv csv = RecordCsv.create(file)) {
      csv.accept(new RandomRecords(1).any());
    }

    assertThat(folder).isEmptyDirectory();
  }

  private String write(List<RequestRecord> records) throws IOException {
    Path file = folder.resolve("requests.csv");
    try (RecordCsv csv = RecordCsv.create(file)) {
      records.forEach(csv);
      csv.finish();
    }
    assertThat(folder).isDirectoryContaining(file::equals);
    return Files.readString(file, UTF_8);
  }

  private static List<List<String>> rows(String csv) throws IOException {
    List<List<String>> rows = new ArrayList<>();
    CsvParser.iterator(csv).forEachRemaining(row -> rows.add(List.of(row)));
    return rows;
  }
}
