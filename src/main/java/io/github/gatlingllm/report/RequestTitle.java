package io.github.gatlingllm.report;

import java.util.regex.Pattern;

/**
 * The title that Gatling gives to the page of a request: its groups and its name, joined by {@code
 * " / "}, escaped with named entities. Which name a character beyond ASCII has is left open.
 */
final class RequestTitle {

  private RequestTitle() {}

  /** Finds the title of a page of that request in any groups. */
  static Pattern of(String requestName) {
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
