package io.github.gatlingllm.report;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A page of somebody else's with pieces of ours between comments. Taking our pieces out gives the
 * original back, character by character; text is read as ISO-8859-1 and our pieces are plain ASCII,
 * so the bytes come back too, whatever the encoding of the page.
 *
 * <pre>
 *   …original…&lt;!-- gatling-llm:begin menu --&gt;ours&lt;!-- gatling-llm:end --&gt;…original…
 * </pre>
 */
final class MarkedPage {

  private static final String BEGIN = "<!-- gatling-llm:begin ";
  private static final String END = "<!-- gatling-llm:end -->";

  private final List<String> missing = new ArrayList<>();
  private String text;

  /** Starts from the original: earlier pieces of ours are taken out. */
  MarkedPage(String text) {
    StringBuilder original = new StringBuilder(text.length());
    int from = 0;
    for (int begin = text.indexOf(BEGIN); begin >= 0; begin = text.indexOf(BEGIN, from)) {
      int end = text.indexOf(END, begin);
      if (end < 0) {
        break;
      }
      original.append(text, from, begin);
      from = end + END.length();
    }
    this.text = original.append(text, from, text.length()).toString();
  }

  /** Puts a piece before the first place where {@code anchor} stands. */
  MarkedPage before(Pattern anchor, String piece, String html) {
    return insert(anchor, piece, html, true);
  }

  /** Puts a piece after the first place where {@code anchor} stands. */
  MarkedPage after(Pattern anchor, String piece, String html) {
    return insert(anchor, piece, html, false);
  }

  private MarkedPage insert(Pattern anchor, String piece, String html, boolean before) {
    var place = anchor.matcher(text);
    if (place.find()) {
      int at = before ? place.start() : place.end();
      text =
          text.substring(0, at) + BEGIN + piece + " -->" + ascii(html) + END + text.substring(at);
    } else {
      missing.add(piece);
    }
    return this;
  }

  /** The pieces that found no place. */
  List<String> missing() {
    return List.copyOf(missing);
  }

  @Override
  public String toString() {
    return text;
  }

  private static String ascii(String html) {
    StringBuilder ascii = new StringBuilder();
    html.codePoints()
        .forEach(
            c -> {
              if (c < 128) {
                ascii.append((char) c);
              } else {
                ascii.append("&#").append(c).append(';');
              }
            });
    return ascii.toString();
  }

  /**
   * Finds the title that Gatling gives to the page of that request in any groups: its groups and
   * its name, joined by {@code " / "}, escaped with named entities. Which name a character beyond
   * ASCII has is left open.
   */
  static Pattern title(String requestName) {
    StringBuilder title = new StringBuilder("<title>Gatling Stats - (?:[^<\\n]* / )?");
    requestName
        .codePoints()
        .forEach(
            c -> {
              switch (c) {
                case '&' -> title.append("&amp;");
                case '<' -> title.append("&lt;");
                case '>' -> title.append("&gt;");
                case '"' -> title.append("(?:\"|&quot;)");
                case '\'' -> title.append("(?:'|&#39;|&apos;)");
                default ->
                    title.append(
                        c < 128
                            ? Pattern.quote(Character.toString(c))
                            : "(?:&\\w+;|[^\\x00-\\x7f]+)");
              }
            });
    return Pattern.compile(title + "</title>");
  }
}
