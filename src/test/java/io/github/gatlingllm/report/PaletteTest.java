package io.github.gatlingllm.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The colours of {@code report.css} against its backgrounds, by the formula of WCAG 2.2. */
class PaletteTest {

  private final String css = Templates.resource("report.css");

  @Test
  void seriesContrastWithTheCardInBothThemes() {
    for (int n = 1; n <= 6; n++) {
      assertContrast("series-" + n, 3);
    }
    assertContrast("limit", 3);
  }

  @Test
  void textIsReadableInBothThemes() {
    for (String name : List.of("ink", "soft", "link", "ok", "warning", "invalid")) {
      assertContrast(name, 4.5);
    }
  }

  @Test
  void paleColourIsDetected() {
    assertThat(contrast("#b0d22f", "#ffffff")).isLessThan(3);
    assertThat(contrast("#000000", "#ffffff")).isEqualTo(21);
  }

  private void assertContrast(String name, double least) {
    for (String background : List.of("card", "paper")) {
      for (int theme = 1; theme <= 2; theme++) {
        assertThat(contrast(color(name, theme), color(background, theme)))
            .as("--" + name + " on --" + background + ", theme " + theme)
            .isGreaterThanOrEqualTo(least);
      }
    }
  }

  private String color(String name, int theme) {
    Matcher found =
        Pattern.compile("--" + name + ": light-dark\\((#\\w{6}), (#\\w{6})\\)").matcher(css);
    assertThat(found.find()).as("--" + name).isTrue();
    return found.group(theme);
  }

  private static double contrast(String a, String b) {
    double lighter = Math.max(luminance(a), luminance(b));
    double darker = Math.min(luminance(a), luminance(b));
    return (lighter + 0.05) / (darker + 0.05);
  }

  private static double luminance(String color) {
    return 0.2126 * channel(color, 1) + 0.7152 * channel(color, 3) + 0.0722 * channel(color, 5);
  }

  private static double channel(String color, int at) {
    double value = Integer.parseInt(color, at, at + 2, 16) / 255.0;
    return value <= 0.04045 ? value / 12.92 : Math.pow((value + 0.055) / 1.055, 2.4);
  }
}
