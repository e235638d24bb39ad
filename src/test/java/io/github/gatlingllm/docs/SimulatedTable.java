package io.github.gatlingllm.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;

/**
 * A table of error rates in {@code docs/metrics.md} that a test measures by simulation. With {@code
 * -Dgatlingllm.docs.write=true} the test, which has the tag nightly, takes many runs and writes the
 * table; without, it takes few, with the same seeds, and holds them to the same bounds.
 *
 * @param test the class that stands before and after the table in the page
 */
public record SimulatedTable(Class<?> test) {

  private static final ReferencePage PAGE = ReferencePage.of("metrics.md");

  public static int runs(int few, int many) {
    return PAGE.write() ? many : few;
  }

  /** Share of runs by which a rate from few runs may be worse by chance: two standard errors. */
  public static double chance(double rate, int runs) {
    return PAGE.write() ? 0 : 2 * Math.sqrt(rate * (1 - rate) / runs);
  }

  /** Writes the table where that was asked for, else fails if its header or first cells differ. */
  public void hasRows(List<String> header, List<List<String>> rows) throws IOException {
    if (PAGE.write()) {
      String page = page();
      int from = page.indexOf(begin()) + begin().length();
      Files.writeString(
          PAGE.file(),
          page.substring(0, from)
              + ReferencePage.table(header, rows)
              + page.substring(page.indexOf(end())));
    }
    assertThat(page()).contains(begin() + ReferencePage.table(header, List.of()));
    assertThat(rows())
        .extracting(row -> row.get(0))
        .isEqualTo(rows.stream().map(row -> row.get(0)).toList());
  }

  public List<List<String>> rows() throws IOException {
    String page = page();
    return page.substring(page.indexOf(begin()) + begin().length(), page.indexOf(end()))
        .lines()
        .skip(2)
        .map(line -> List.of(line.split(" \\| ", -1)))
        .toList();
  }

  private String page() throws IOException {
    String page = Files.readString(PAGE.file()).replace("\r\n", "\n");
    assertThat(page).contains(begin()).contains(end());
    return page;
  }

  private String begin() {
    return "<!-- simulated by " + test.getSimpleName() + " -->\n\n";
  }

  private String end() {
    return "\n<!-- end of " + test.getSimpleName() + " -->";
  }
}
