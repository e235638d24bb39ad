package io.github.gatlingllm.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.RequestSamples.Exemplar;
import io.github.gatlingllm.figures.level.RequestSamples.RecordedText;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.report.Table.Column;
import io.pebbletemplates.pebble.error.PebbleException;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

class TemplatesTest {

  private static final String HOSTILE = "\"><script>'&<i>";
  private static final String ESCAPED = "&quot;&gt;&lt;script&gt;&#39;&amp;&lt;i&gt;";

  @Test
  void textAndAttributesAreEscaped() {
    Table table = Table.of(HOSTILE, List.of(HOSTILE), Column.name(HOSTILE, text -> text));

    assertThat(plain(Map.of("note", HOSTILE, "tables", List.of(table))))
        .contains("<p class=\"note\">" + ESCAPED + "</p>")
        .contains("aria-label=\"" + ESCAPED + "\"")
        .contains("<th scope=\"col\">" + ESCAPED + "</th>")
        .contains("<th scope=\"row\">" + ESCAPED + "</th>")
        .doesNotContain(HOSTILE, "<script");
  }

  @Test
  void promptsAndAnswersAreEscaped() {
    RunFigures run = DemoRun.sweep().single().figures();
    Exemplar request = run.series().requestSamples().exemplars().slowest().get(0);
    RecordedText text = new RecordedText(HOSTILE, request, HOSTILE, HOSTILE, HOSTILE);
    Map<String, Object> values = Map.of("summary", run.summary(), "texts", List.of(text));

    assertThat(Templates.fill("texts", Map.of("values", values)))
        .contains("<h3>" + ESCAPED + ": ")
        .contains("<dd tabindex=\"0\">" + ESCAPED + "</dd>")
        .doesNotContain(HOSTILE, "<script");
  }

  /** A name with the characters that divide a row stays whole. */
  @Test
  void dividersInValuesDivideNoRow() {
    List<RequestRecord> records =
        Stream.of("a|b;", "c")
            .map(target -> Recorded.at(0).target(target).closed(100))
            .map(request -> request.failed(RequestStatus.HTTP_ERROR, "HTTP 500").record())
            .toList();
    Summary summary =
        Recorded.figures(Recorded.run(1, Recorded.stage(1, 0, 1_000)), records).summary();
    assertThat(Templates.rows("failures", 2, Map.of("summary", summary)).get(0))
        .singleElement(InstanceOfAssertFactories.STRING)
        .contains("a|b;");
  }

  @Test
  void missingTemplateValueIsAnError() {
    assertThatThrownBy(() -> plain(Map.of("note", "")))
        .isInstanceOf(PebbleException.class)
        .hasMessageContaining("tables");
  }

  @Test
  void controlCharactersThatHtmlForbidsAreReplaced() {
    assertThat(Templates.escape("a\u0000b\u0007c\nd")).isEqualTo("a\uFFFDb\uFFFDc\nd");
  }

  @Test
  void jsonInAScriptCannotEndTheScriptOrBreakALine() {
    assertThat(Templates.inScript("{\"a\":\"</script><!--\u2028\u2029\"}"))
        .isEqualTo("{\"a\":\"\\u003c/script\\u003e\\u003c!--\\u2028\\u2029\"}");
  }

  private static String plain(Map<String, Object> values) {
    return Templates.fill("plain", Map.of("values", values));
  }
}
