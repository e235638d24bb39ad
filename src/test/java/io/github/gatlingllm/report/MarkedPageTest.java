package io.github.gatlingllm.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.report.GatlingPages.MarkedPage;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MarkedPageTest {

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
    String page = "<title>Gatling Stats - " + title + "</title>";

    assertThat(MarkedPage.title(name).matcher(page).find()).isEqualTo(found);
  }
}
