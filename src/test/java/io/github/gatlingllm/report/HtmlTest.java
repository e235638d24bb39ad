package io.github.gatlingllm.report;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HtmlTest {

  @Test
  void textAndAttributesAreEscaped() {
    Html html = new Html().element("b", "<i>&\"'", "title", "\"><script>'");

    assertThat(html)
        .hasToString("<b title=\"&quot;&gt;&lt;script&gt;&#39;\">&lt;i&gt;&amp;&quot;&#39;</b>");
  }

  @Test
  void elementsCloseInTheOrderInWhichTheyWereOpened() {
    assertThat(new Html().open("em").open("b", "hidden", "").text("x").close().close())
        .hasToString("<em><b hidden>x</b></em>");
  }

  @Test
  void controlCharactersThatHtmlForbidsAreReplaced() {
    assertThat(Html.escape("a\u0000b\u0007c\nd")).isEqualTo("a\uFFFDb\uFFFDc\nd");
  }

  @Test
  void jsonInAScriptCannotEndItNorBreakALine() {
    assertThat(ChartData.inScript("{\"a\":\"</script><!--\u2028\u2029\"}"))
        .isEqualTo("{\"a\":\"\\u003c/script\\u003e\\u003c!--\\u2028\\u2029\"}");
  }
}
