package io.github.gatlingllm.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A page of {@code docs/} whose tables are written from a catalogue. Its test fails while file and
 * catalogue differ; with {@code -Dgatlingllm.docs.write=true} it writes the file instead.
 *
 * <pre>
 * ReferencePage.of("metrics.md").mustHave(header, List.of(rows));
 * </pre>
 *
 * @param file below the project's directory
 * @param write whether the file is to be written
 */
public record ReferencePage(Path file, boolean write) {

  private static final String SWITCH = "gatlingllm.docs.write";

  public static ReferencePage of(String name) {
    return at(Path.of("docs", name));
  }

  public static ReferencePage at(Path file) {
    return new ReferencePage(file, Boolean.getBoolean(SWITCH));
  }

  /**
   * Fails where the file is not this text, or writes it where that was asked for.
   *
   * @param text the whole page, lines end with a line feed
   */
  public void mustBe(String text) throws IOException {
    if (write) {
      Files.writeString(file, text);
    }
    assertThat(file).as("%s; write it with -D%s=true", file, SWITCH).exists();
    assertThat(Files.readString(file).replace("\r\n", "\n"))
        .as("%s differs from its catalogue; write it again with -D%s=true", file, SWITCH)
        .isEqualTo(text);
  }

  /**
   * Fails where the page's tables with that header are not these, in this order, or writes them.
   * The rest of the page is written by hand.
   */
  public void mustHave(List<String> header, List<List<List<String>>> tables) throws IOException {
    String page = Files.readString(file).replace("\r\n", "\n");
    Matcher found =
        Pattern.compile("(?m)^" + Pattern.quote(table(header, List.of())) + "(\\|.*\n)*")
            .matcher(page);
    assertThat(found.results().count()).as("tables in %s", file).isEqualTo(tables.size());
    Iterator<List<List<String>>> rows = tables.iterator();
    mustBe(found.replaceAll(old -> Matcher.quoteReplacement(table(header, rows.next()))));
  }

  /** A Markdown table: a header, and a row per list; {@code |} inside a cell is escaped. */
  public static String table(List<String> header, List<List<String>> rows) {
    StringBuilder table = new StringBuilder(row(header));
    table.append("|---".repeat(header.size())).append("|\n");
    rows.forEach(cells -> table.append(row(cells)));
    return table.toString();
  }

  private static String row(List<String> cells) {
    return cells.stream()
        .map(cell -> cell.replace("|", "\\|").replace("\n", " "))
        .collect(Collectors.joining(" | ", "| ", " |\n"));
  }
}
