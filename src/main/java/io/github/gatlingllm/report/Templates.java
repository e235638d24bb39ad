package io.github.gatlingllm.report;

import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.pebbletemplates.pebble.PebbleEngine;
import io.pebbletemplates.pebble.extension.AbstractExtension;
import io.pebbletemplates.pebble.extension.Filter;
import io.pebbletemplates.pebble.loader.ClasspathLoader;
import io.pebbletemplates.pebble.template.EvaluationContext;
import io.pebbletemplates.pebble.template.PebbleTemplate;
import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.unbescape.html.HtmlEscape;

/** The resources of this package. Templates escape all values but files of this package. */
final class Templates {

  private static final PebbleEngine FILES = builder().build();

  /** Templates of rows, a line each. */
  private static final PebbleEngine ROWS =
      builder().newLineTrimming(false).defaultEscapingStrategy("line").build();

  private static final Map<String, Map<String, ?>> METRICS =
      Map.of("m", byName(Metric.values()), "e", byName(EngineMetric.values()));

  /** What divides the texts of a row, and what stands for it in values until they are divided. */
  private static final String DIVIDERS = "|,;";

  private static final String STAND_INS = "\uE001\uE002\uE003";

  private static final Map<String, Map<String, String>> TEXTS = new ConcurrentHashMap<>();
  private static final Pattern PLACE = Pattern.compile("\\{(\\d)}");

  /**
   * Control characters, invisible ones that may change the direction of text, and no characters.
   */
  private static final Pattern HIDDEN =
      Pattern.compile("[\\p{Cc}\\p{Cf}&&[^\n\t\u00AD\u200D]]|[\uFFFE\uFFFF]");

  private Templates() {}

  private static PebbleEngine.Builder builder() {
    return new PebbleEngine.Builder()
        .loader(new QuietLoader())
        .strictVariables(true)
        .defaultLocale(Locale.ROOT)
        .extension(new TextFilters())
        .addEscapingStrategy("html", Templates::escape)
        .addEscapingStrategy("xml", text -> escape(PrintableText.of(text)))
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
   * row may end with a comma or semicolon, which is omitted.
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
      throw new UncheckedIOException(e);
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

  static List<String> texts(String table, String key, Object... values) {
    String row =
        Objects.requireNonNull(TEXTS.computeIfAbsent(table, Templates::rows).get(key), key);
    return Arrays.stream(row.split("\\|", -1)).map(text -> filled(text.strip(), values)).toList();
  }

  /** The texts on the lines below a row that are indented. */
  static Stream<String> below(String table, String key) {
    return resource(table)
        .lines()
        .dropWhile(line -> !line.startsWith(key + " | "))
        .skip(1)
        .takeWhile(line -> line.startsWith("  "))
        .flatMap(line -> Stream.of(line.strip().split("; ", -1)));
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
    return RunFiles.resource(Templates.class, name);
  }

  /** The forms of {@link NumberText} as filters of templates, e.g. {@code {{ mean | ms }}}. */
  private static final class TextFilters extends AbstractExtension {

    private static final DateTimeFormatter DATE =
        DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss 'UTC'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    @Override
    public Map<String, Filter> getFilters() {
      return Map.ofEntries(
          number("number", NumberText::with),
          number(
              "count",
              (n, unit) -> n == null ? NumberText.ABSENT : NumberText.count(Math.round(n))),
          number("percent", (share, unit) -> NumberText.percent(share)),
          number("plain", (n, unit) -> NumberText.plain(n)),
          number("ms", (ms, unit) -> NumberText.ms(ms)),
          number("plainMs", (ms, unit) -> NumberText.plainMs(ms)),
          number("clock", (seconds, unit) -> NumberText.clock(seconds)),
          number("duration", (seconds, unit) -> NumberText.duration(seconds)),
          number("instant", (ns, unit) -> DATE.format(Instant.ofEpochSecond((long) (ns / 1e9)))),
          Map.entry("names", new Form((map, unit) -> names((Map<?, ?>) map))),
          Map.entry("sortedNames", new Form((map, unit) -> names(new TreeMap<>((Map<?, ?>) map)))),
          Map.entry("tokens", new Form((of, unit) -> RunText.lengths((Distribution) of))),
          Map.entry("lengths", new Form((of, name) -> RunText.lengths((Summary) of, name))));
    }

    private static String names(Map<?, ?> map) {
      return map.keySet().stream().map(String::valueOf).collect(Collectors.joining(", "));
    }

    private static Map.Entry<String, Filter> number(
        String name, BiFunction<@Nullable Double, String, String> form) {
      return Map.entry(
          name,
          new Form(
              (n, unit) ->
                  form.apply(n == null ? null : (Double) ((Number) n).doubleValue(), unit)));
    }

    private record Form(BiFunction<@Nullable Object, String, String> of) implements Filter {

      @Override
      public List<String> getArgumentNames() {
        return List.of("unit");
      }

      @Override
      public Object apply(
          @Nullable Object input,
          Map<String, Object> arguments,
          PebbleTemplate template,
          EvaluationContext context,
          int line) {
        return of.apply(input, (String) arguments.getOrDefault("unit", ""));
      }
    }
  }
}
