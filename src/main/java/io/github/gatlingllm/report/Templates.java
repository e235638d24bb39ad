package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.pebbletemplates.pebble.PebbleEngine;
import io.pebbletemplates.pebble.loader.ClasspathLoader;
import java.io.IOException;
import java.io.InputStream;
import java.io.Reader;
import java.io.StringReader;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.unbescape.html.HtmlEscape;

/** The resources of this package. Templates escape all values but files of this package. */
final class Templates {

  /** Templates of pages and files. */
  private static final PebbleEngine FILES = builder().build();

  /** Templates of rows, a line each. */
  private static final PebbleEngine ROWS =
      builder().newLineTrimming(false).defaultEscapingStrategy("line").build();

  /** Metrics by their names in templates of rows. */
  private static final Map<String, Map<String, ?>> METRICS =
      Map.of("m", byName(Metric.values()), "e", byName(EngineMetric.values()));

  /** What divides the texts of a row, and what stands for it in values until they are divided. */
  private static final String DIVIDERS = "|,;";

  private static final String STAND_INS = "\uE001\uE002\uE003";

  private static final Map<String, Map<String, String>> TEXTS = new ConcurrentHashMap<>();
  private static final Pattern PLACE = Pattern.compile("\\{(\\d)}");

  /** Control characters, and invisible ones that may change the direction of text. */
  private static final Pattern HIDDEN = Pattern.compile("[\\p{Cc}\\p{Cf}&&[^\n\t\u00AD\u200D]]");

  private Templates() {}

  private static PebbleEngine.Builder builder() {
    return new PebbleEngine.Builder()
        .loader(new QuietLoader())
        .strictVariables(true)
        .extension(new TextFilters())
        .addEscapingStrategy("html", Templates::escape)
        .addEscapingStrategy("md", Table::inline)
        .addEscapingStrategy(
            "line", text -> exchanged(text.replaceAll("\\s+", " "), DIVIDERS, STAND_INS));
  }

  private static <E extends Enum<E>> Map<String, E> byName(E[] values) {
    return Stream.of(values).collect(Collectors.toMap(Enum::name, Function.identity()));
  }

  /** Pebble's own loader logs each template that it reads. */
  private static final class QuietLoader extends ClasspathLoader {
    @Override
    public Reader getReader(String template) {
      return new StringReader(resource(template + ".peb"));
    }
  }

  static String fill(String template, Map<String, Object> values) {
    return filled(FILES, template, values);
  }

  /**
   * The rows of a filled template, with {@code columns} texts each, divided by bars. A list in a
   * row may end with a comma or semicolon, which is left out.
   */
  static List<List<String>> rows(String template, int columns, Map<String, Object> values) {
    Map<String, Object> all = new HashMap<>(values);
    all.putAll(METRICS);
    return filled(ROWS, template, all)
        .lines()
        .filter(line -> !line.isBlank())
        .map(line -> Stream.of(line.split("\\|", columns)).map(Templates::listed).toList())
        .toList();
  }

  private static String listed(String text) {
    return exchanged(text.strip().replaceFirst("[,;]$", ""), STAND_INS, DIVIDERS);
  }

  private static String exchanged(String text, String from, String to) {
    String exchanged = text;
    for (int i = 0; i < from.length(); i++) {
      exchanged = exchanged.replace(from.charAt(i), to.charAt(i));
    }
    return exchanged;
  }

  private static String filled(PebbleEngine engine, String template, Map<String, Object> values) {
    StringWriter out = new StringWriter();
    try {
      engine.getTemplate(template).evaluate(out, values);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot fill template " + template + ".peb", e);
    }
    return out.toString();
  }

  /**
   * Escapes text for HTML content and quoted attribute values. Replaces characters that HTML
   * forbids or that change the text direction.
   */
  static String escape(String text) {
    return HtmlEscape.escapeHtml4Xml(HIDDEN.matcher(text).replaceAll("\uFFFD"));
  }

  /** Escapes JSON for a script element: it cannot end the element, start a comment, or break. */
  static String inScript(String json) {
    return json.replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029");
  }

  /** The texts of a row in {@code charts.txt} or {@code sections.txt}. */
  static List<String> texts(String table, String key, Object... values) {
    String row = TEXTS.computeIfAbsent(table, Templates::rows).get(key);
    if (row == null) {
      throw new IllegalStateException(table + " has no row " + key);
    }
    return Arrays.stream(row.split("\\|", -1)).map(text -> filled(text.strip(), values)).toList();
  }

  private static Map<String, String> rows(String table) {
    return resource(table)
        .lines()
        .filter(line -> line.contains(" | "))
        .map(line -> line.split(" \\| ", 2))
        .collect(Collectors.toMap(row -> row[0], row -> row[1]));
  }

  private static String filled(String text, Object... values) {
    return PLACE
        .matcher(text)
        .replaceAll(at -> Matcher.quoteReplacement("" + values[Integer.parseInt(at.group(1))]));
  }

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
