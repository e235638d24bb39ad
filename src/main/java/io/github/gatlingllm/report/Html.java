package io.github.gatlingllm.report;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * A piece of HTML being written. Text and attribute values are always escaped; only {@link #raw}
 * takes markup, and only markup of ours.
 *
 * <pre>{@code
 * new Html().open("p", "class", "note").text(anything).close()
 * }</pre>
 */
final class Html {

  private final StringBuilder out = new StringBuilder();
  private final Deque<String> open = new ArrayDeque<>();

  /** Opens an element; {@code attributes} are names and values in turn. */
  Html open(String tag, String... attributes) {
    single(tag, attributes);
    open.push(tag);
    return this;
  }

  /** An element without content or end tag, e.g. {@code meta}. */
  Html single(String tag, String... attributes) {
    out.append('<').append(tag);
    for (int i = 0; i < attributes.length; i += 2) {
      out.append(' ').append(attributes[i]);
      if (!attributes[i + 1].isEmpty()) {
        out.append("=\"").append(escape(attributes[i + 1])).append('"');
      }
    }
    out.append('>');
    return this;
  }

  /** Closes the innermost open element. */
  Html close() {
    String tag = open.pop();
    out.append("</").append(tag).append('>');
    if (isBlock(tag)) {
      out.append('\n');
    }
    return this;
  }

  /** An element that holds only text. */
  Html element(String tag, String text, String... attributes) {
    return open(tag, attributes).text(text).close();
  }

  /** Text, escaped. */
  Html text(String text) {
    out.append(escape(text));
    return this;
  }

  /** Another piece, as it is. */
  Html add(Html piece) {
    out.append(piece);
    return this;
  }

  /** Markup, a style sheet or a script of ours, as it is. */
  Html raw(String markup) {
    out.append(markup);
    return this;
  }

  /** Escapes text for content and for quoted attribute values. */
  static String escape(String text) {
    StringBuilder escaped = new StringBuilder(text.length() + 16);
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '&' -> escaped.append("&amp;");
        case '<' -> escaped.append("&lt;");
        case '>' -> escaped.append("&gt;");
        case '"' -> escaped.append("&quot;");
        case '\'' -> escaped.append("&#39;");
        default -> {
          boolean forbidden = Character.isISOControl(c) && c != '\n' && c != '\t';
          escaped.append(forbidden ? '\uFFFD' : c);
        }
      }
    }
    return escaped.toString();
  }

  private static boolean isBlock(String tag) {
    return switch (tag) {
      case "div",
          "p",
          "tr",
          "table",
          "section",
          "h1",
          "h2",
          "h3",
          "li",
          "ul",
          "dl",
          "script",
          "style",
          "figure",
          "details" ->
          true;
      default -> false;
    };
  }

  @Override
  public String toString() {
    return out.toString();
  }
}
