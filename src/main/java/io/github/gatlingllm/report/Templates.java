package io.github.gatlingllm.report;

import io.pebbletemplates.pebble.PebbleEngine;
import io.pebbletemplates.pebble.loader.ClasspathLoader;
import java.io.IOException;
import java.io.InputStream;
import java.io.Reader;
import java.io.StringReader;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * The templates ({@code *.peb}), style sheets, scripts and licences that lie in our jar beside this
 * class. What a template is filled with is always escaped; only {@code raw} takes markup, and only
 * files of ours.
 */
final class Templates {

  private static final PebbleEngine ENGINE = engine();

  private Templates() {}

  private static PebbleEngine engine() {
    return new PebbleEngine.Builder()
        .loader(new QuietLoader())
        .strictVariables(true)
        .addEscapingStrategy("html", Templates::escape)
        .build();
  }

  /** Pebble's own loader logs each template that it reads. */
  private static final class QuietLoader extends ClasspathLoader {
    @Override
    public Reader getReader(String template) {
      return new StringReader(resource(template + ".peb"));
    }
  }

  /** The template, filled in. */
  static String fill(String template, Map<String, Object> values) {
    StringWriter out = new StringWriter();
    try {
      ENGINE.getTemplate(template).evaluate(out, values);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot fill template " + template + ".peb", e);
    }
    return out.toString();
  }

  /**
   * Text for content and for quoted attribute values; what HTML forbids, or turns text around, is
   * replaced.
   */
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
          boolean isForbidden =
              (Character.isISOControl(c) && c != '\n' && c != '\t') || ConsoleBlock.turnsText(c);
          escaped.append(isForbidden ? '\uFFFD' : c);
        }
      }
    }
    return escaped.toString();
  }

  /** JSON for a script element: it cannot end the element, start a comment, or break a line. */
  static String inScript(String json) {
    return json.replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029");
  }

  /** A file that lies beside this class, as it is. */
  static String resource(String name) {
    try (InputStream in = Templates.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException(
            "Report resource "
                + name
                + " is not in the jar; expected it beside the report classes;"
                + " rebuild gatling-llm");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot read report resource " + name, e);
    }
  }
}
