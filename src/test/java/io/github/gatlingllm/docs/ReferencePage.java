package io.github.gatlingllm.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A page of {@code docs/} whose tables are written from a catalogue. Its test fails while file and
 * catalogue differ; with {@code -Dgatlingllm.docs.write=true} it writes the file instead.
 *
 * <pre>
 * ReferencePage.of("metrics.md").mustHave(List.of(list));
 * </pre>
 *
 * @param file below the project's directory
 * @param write whether the file is to be written
 */
public record ReferencePage(Path file, boolean write) {

  /** Characters of a line of a page. */
  static final int WIDTH = 120;

  private static final String SWITCH = "gatlingllm.docs.write";
  private static final String BEGIN = "<!-- generated -->\n\n";
  private static final String END = "\n<!-- /generated -->";
  private static final Pattern PLACE =
      Pattern.compile(Pattern.quote(BEGIN) + "(.*?)" + Pattern.quote(END), Pattern.DOTALL);

  /** Stays in one line, unless it is long. */
  private static final Pattern CODE = Pattern.compile("`[^`]*`");

  private static final int LONG_CODE = 82;

  /** With what would be markup at the start of a line. */
  private static final Pattern WORD =
      Pattern.compile("[^ ]+(?: (?:[-+*=#]+|[>|][^ ]*|\\d+[.)])(?= |$))*");

  public static ReferencePage of(String name) {
    return at(Path.of("docs", name));
  }

  public static ReferencePage at(Path file) {
    return new ReferencePage(file, Boolean.getBoolean(SWITCH));
  }

  /**
   * Fails where the file is not this text, or writes it where that was asked for.
   *
   * @param text the complete page, lines end with a line feed
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
   * Fails where the marked places of the page, in their order, do not have these texts, or writes
   * them. The rest of the page is written by hand.
   */
  public void mustHave(List<String> texts) throws IOException {
    String page = Files.readString(file).replace("\r\n", "\n");
    Matcher found = PLACE.matcher(page);
    assertThat(found.results().count()).as("places in %s", file).isEqualTo(texts.size());
    Iterator<String> each = texts.iterator();
    mustBe(found.replaceAll(old -> Matcher.quoteReplacement(BEGIN + each.next() + END)));
  }

  /** The texts of the marked places, for what is written by hand within them. */
  public List<String> places() throws IOException {
    return PLACE
        .matcher(Files.readString(file).replace("\r\n", "\n"))
        .results()
        .map(place -> place.group(1))
        .toList();
  }

  /** An item of a list, with a line end, in lines of at most {@value #WIDTH} characters. */
  public static String item(String text) {
    return wrapped("- ", "  ", text);
  }

  /** A paragraph, with a line end. */
  public static String paragraph(String text) {
    return wrapped("", "", text);
  }

  private static String wrapped(String first, String indent, String text) {
    StringBuilder lines = new StringBuilder();
    StringBuilder line = new StringBuilder(first);
    String space = "";
    String glued =
        CODE.matcher(text.strip().replaceAll("\\s+", " "))
            .replaceAll(code -> Matcher.quoteReplacement(unbroken(code.group())));
    for (String each : WORD.matcher(glued).results().map(MatchResult::group).toList()) {
      String word = each.replace('\0', ' ');
      if (line.length() + space.length() + word.length() > WIDTH) {
        lines.append(line).append('\n');
        line.setLength(0);
        line.append(indent);
        space = "";
      }
      line.append(space).append(word);
      space = " ";
    }
    return lines.append(line).append('\n').toString();
  }

  private static String unbroken(String code) {
    return code.length() > LONG_CODE ? code : code.replace(' ', '\0');
  }

  /** A Markdown table: a header, and a row per list; {@code |} inside a cell is escaped. */
  public static String table(List<String> header, List<List<String>> rows) {
    StringBuilder table = new StringBuilder(row(header));
    table.append("---|".repeat(header.size() - 1)).append("---\n");
    rows.forEach(cells -> table.append(row(cells)));
    return table.toString();
  }

  private static String row(List<String> cells) {
    return cells.stream()
        .map(cell -> cell.replace("|", "\\|").replace("\n", " "))
        .collect(Collectors.joining(" | "))
        .stripTrailing()
        .concat("\n");
  }
}
