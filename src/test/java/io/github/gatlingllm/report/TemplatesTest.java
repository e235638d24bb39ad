package io.github.gatlingllm.report;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.Runs;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.report.RunText.NamedText;
import io.github.gatlingllm.report.Table.Column;
import io.pebbletemplates.pebble.error.PebbleException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
  void dividersInValuesDivideNoRow() {
    Map<String, Object> values = new HashMap<>();
    List.of("requests", "load", "tokens", "prefixes", "pooled")
        .forEach(name -> values.put(name, name.equals("requests") ? 0L : ""));
    values.put("summary", DemoRun.sweep().figures().summary());
    values.put("hosts", "a|b;");
    assertThat(RunText.facts("head", values)).contains(new NamedText("Endpoint", "a|b;"));
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

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          ask            | ask                                    | true
          ask            | Chat / ask                             | true
          ask            | task                                   | false
          ask            | Chat / ask / more                      | false
          a.c            | abc                                    | false
          <b>"é" & c     | &lt;b&gt;&quot;&eacute;&quot; &amp; c  | true
          日本           | 日本                                   | true
          """)
  void requestIsFoundByTheTitleOfItsPage(
      String name, String title, boolean isFound, @TempDir Path pages) throws IOException {
    String before = "<title>Gatling Stats - " + title + "</title>é";
    String after = "<div class=\"schema geant\"><hr>";
    Path page = Files.writeString(pages.resolve("req_1.html"), before + after, UTF_8);
    Files.createFile(pages.resolve("index.html"));
    RunInfo run = Runs.run(1, Runs.stage(1, 0, 1_000));
    List<String> messages =
        GatlingPages.insert(pages, Runs.summary(run, Recorded.at(0).name(name).tokens(1, 20)));

    assertThat(messages).hasSize(2).allMatch(line -> line.startsWith("LLM tab "));
    String text = Files.readString(page, UTF_8);
    assertThat(text).startsWith(before).endsWith(after);
    String piece = text.substring(before.length(), text.length() - after.length());
    assertThat(piece.contains("llm.html#" + Row.anchor(name))).isEqualTo(isFound);
    assertThat(piece)
        .as("in any encoding")
        .isEqualTo(new String(piece.getBytes(US_ASCII), US_ASCII));
  }
}
