package io.github.gatlingllm.record;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.gatlingllm.docs.ReferencePage;
import io.github.gatlingllm.record.GeneratorSecond.GeneratorField;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.simpleflatmapper.lightningcsv.CsvParser;

class RecordFieldTest {
  @Test
  void everyFieldRoundTrips() throws IOException {
    RandomRecords random = new RandomRecords(5);
    for (int i = 0; i < 2_000; i++) {
      RequestRecord record = random.any();
      byte[] line = RecordFile.line(record);
      RequestRecord read = RecordFile.record(line);
      assertThat(RecordFile.line(read)).isEqualTo(line);
      assertThat(new String(line, UTF_8))
          .as("one line for every reader")
          .endsWith("}\n")
          .doesNotContainPattern("[\\x00-\\x09\\x0b-\\x1f\\x7f\\x85\\u2028\\u2029]|\n.");
      for (RecordField field : RecordField.values()) {
        assertThat(field.get(read)).as("%s", field).isEqualTo(field.get(record));
      }
    }
  }

  /** Types that the page defines by the ending of a key. */
  private static final Pattern ENDINGS =
      Pattern.compile("_s decimal$|(_ns|_bytes|events|_tokens|_tokens_local) integer$");

  /** Units of the others, by the ending of a key. */
  private static final Map<String, String> UNITS =
      Map.of("_us", "µs", "_tokens", "tokens", "_chars", "characters");

  /** An item of the page: its key, and its meaning, which is written there. */
  private static final Pattern ITEM =
      Pattern.compile("- `(\\w+)\\*?`(?: \\([^)]*\\))?: (.*(?:\n  .*)*)\n");

  @Test
  void pageHasEachFieldOfTheCatalogueAndItsMeaning() throws IOException {
    ReferencePage page = ReferencePage.of("records.md");
    List<Map<String, String>> meanings =
        page.places().stream()
            .map(
                place ->
                    ITEM.matcher(place)
                        .results()
                        .collect(toMap(item -> item.group(1), item -> item.group(2))))
            .toList();
    page.mustHave(
        List.of(
            list(
                RecordField.values(), RecordField::type, meanings.get(0), field -> !field.isText()),
            list(RecordField.values(), RecordField::type, meanings.get(1), RecordField::isText),
            list(GeneratorField.values(), GeneratorField::type, meanings.get(2), field -> true),
            Arrays.stream(EngineMetric.values())
                .map(metric -> item(metric.toString(), " (" + metric.form() + ")", meanings.get(3)))
                .collect(joining())));
  }

  private static <F extends RunInfo.Keyed> String list(
      F[] fields,
      Function<F, FieldType<?>> type,
      Map<String, String> meanings,
      Predicate<F> which) {
    return Arrays.stream(fields)
        .filter(which)
        .map(field -> item(field.key(), form(field.key(), type.apply(field).name()), meanings))
        .collect(joining());
  }

  private static String item(String key, String form, Map<String, String> meanings) {
    assertThat(meanings).as("meanings in docs/records.md").containsKey(key);
    String marked = NOT_FLAT.contains(key) ? key + "*" : key;
    String meaning = meanings.get(key);
    boolean isClear = form.equals(" (true or false)") && meaning.startsWith("whether ");
    return ReferencePage.item("`" + marked + "`" + (isClear ? "" : form) + ": " + meaning);
  }

  /** Empty where the ending of the key has it. */
  private static String form(String key, String name) {
    if (name.equals("text") || ENDINGS.matcher(key + " " + name).find()) {
      return "";
    }
    String unit = UNITS.get(key.replaceAll("^.*(?=_)", ""));
    return " (" + name + (unit == null ? "" : ", " + unit) + ")";
  }

  private static final ObjectMapper JSON =
      JsonMapper.builder().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();

  private static final List<String> NOT_FLAT =
      List.of("event_offsets_us", "event_tokens", "event_choices", "server", "rate_limits");

  @TempDir Path folder;

  @Test
  void everySingleValuedFieldIsAColumnWithTheSameValue() throws IOException {
    RandomRecords random = new RandomRecords(11);
    List<RequestRecord> records = Stream.generate(random::any).limit(2_000).toList();
    List<List<String>> rows = rows(write(records));

    assertThat(rows).hasSize(records.size() + 1);
    for (int i = 0; i < records.size(); i++) {
      JsonNode json = JSON.readTree(RecordFile.line(records.get(i)));
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
        "phase":"measure","start_unix_ns":1,"ttft_s":0.012345678,"status":"timeout",
        "error":"said \\"no, thanks\\"\\r\\n"}
        """;
    byte[] json = line.getBytes(UTF_8);

    String csv = write(List.of(RecordFile.record(json)));

    assertThat(csv).startsWith("request_id,run_id,injector,trial,request_index,").endsWith("\r\n");
    assertThat(csv.lines().skip(1).findFirst().orElseThrow())
        .startsWith("\"\",r,\" i\",,0,s,n,,1,,,t,e,,chat,\"\",measure,1,,,,,,,0.012345678,,");
    assertThat(csv).contains(",timeout,\"said \"\"no, thanks\"\"\\u000d\n\",,,true,0.000000000,,");
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
