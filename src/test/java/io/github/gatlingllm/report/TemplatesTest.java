package io.github.gatlingllm.report;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.report.GatlingPages.MarkedPage;
import io.github.gatlingllm.report.RunText.NamedText;
import io.github.gatlingllm.report.Table.Column;
import io.pebbletemplates.pebble.error.PebbleException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
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

  private static final Pattern ANCHOR = Pattern.compile("<hr>");
  private static final String PAGE = "é<p>a<hr>b<hr>c";

  private static final String PIECE = "<b>– &lt;!-- gatling-llm:end --&gt;</b>";

  @Test
  void pieceIsInsertedAtTheFirstAnchorInAscii() {
    assertThat(new MarkedPage(PAGE).before(ANCHOR, "menu", PIECE))
        .hasToString(
            "é<p>a<!-- gatling-llm:begin menu --><b>&#8211; &lt;!-- gatling-llm:end --&gt;</b>"
                + "<!-- gatling-llm:end --><hr>b<hr>c");
  }

  @Test
  void readingAMarkedPageGivesTheOriginal() {
    String marked =
        new MarkedPage(PAGE).before(ANCHOR, "menu", PIECE).after(ANCHOR, "tab", PIECE).toString();

    assertThat(new MarkedPage(marked)).hasToString(PAGE);
  }

  @Test
  void pieceWithoutAnchorIsNamed() {
    MarkedPage page = new MarkedPage("<p>").after(ANCHOR, "tab", PIECE);

    assertThat(page.missing()).containsExactly("tab");
    assertThat(page).hasToString("<p>");
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
  void requestIsFoundByTheTitleOfItsPage(String name, String title, boolean found) {
    byte[] page = ("<title>Gatling Stats - " + title + "</title>").getBytes(UTF_8);

    assertThat(
            (" / " + new MarkedPage(new String(page, ISO_8859_1)).title()).endsWith(" / " + name))
        .isEqualTo(found);
  }
}
