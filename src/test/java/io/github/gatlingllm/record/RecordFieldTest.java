package io.github.gatlingllm.record;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.docs.ReferencePage;
import io.github.gatlingllm.record.GeneratorSecond.GeneratorField;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

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
}
