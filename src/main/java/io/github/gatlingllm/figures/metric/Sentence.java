package io.github.gatlingllm.figures.metric;

import static java.util.Map.entry;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.github.gatlingllm.record.RunFiles;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Something to tell a user: an id and values. Its words are a row of {@code facts.txt}, whose head
 * describes its form. Of the rows of an id the first whose condition holds makes the text; the last
 * has no condition. A file in which a text uses a value that its id does not have, or an id has a
 * value that no row of it uses, is refused by {@link #checked}: in tests, as that costs more than a
 * start may.
 *
 * @param id the rows that it has in the file
 * @param place what the sentence is about, if it begins with that; else it begins with a capital
 * @param values by the names that the file gives them: numbers, texts, lists, and other sentences
 */
public record Sentence(
    String id,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) @Nullable String place,
    Map<String, @Nullable Object> values) {

  /** A field of a text: {@code {share percent}}; with a capital its text begins with one. */
  private static final Pattern FIELD = Pattern.compile("\\{(\\w+)(?: ([^}]+))?}");

  private static final String WHEN = "(!?\\w[\\w!=>,./ %]*)\\?";

  /** An optional part: {@code [, and {more} more]}, {@code [rows=1? is| are]}. */
  private static final Pattern OPTION =
      Pattern.compile("\\[(?:" + WHEN + ")?([^\\[\\]|]*)(?:\\|([^\\[\\]]*))?]");

  private static final Pattern OPTIONAL = Pattern.compile("\\[" + WHEN);

  private static final Pattern HEAD = Pattern.compile("([\\w.]*)(?:\\(([\\w ,]*)\\))?");
  private static final Pattern CONDITION = Pattern.compile("(!?)(\\w+)(?:([=>])([^,]+))?");

  private static final Map<String, Function<Object, String>> FORMS =
      Map.ofEntries(
          entry("percent", value -> NumberText.percent(number(value))),
          entry("share", value -> NumberText.plain(100 * number(value)) + " %"),
          entry("ms", value -> NumberText.ms(number(value))),
          entry("time", value -> NumberText.plainMs(number(value))),
          entry("clock", value -> NumberText.clock(number(value))),
          entry("load", value -> NumberText.load(number(value))),
          entry("plain", value -> NumberText.plain(number(value))),
          entry("abs", value -> NumberText.count(Math.abs(Math.round(number(value))))),
          entry("times", value -> NumberText.times(number(value))),
          entry("some", value -> NumberText.some(texts(value))),
          entry("and", value -> String.join(" and ", texts(value))));

  /** Values that a condition does not hold for, beside null. */
  private static final List<Object> ABSENT = List.of(false, "", List.of(), 0, 0L);

  private static final String COUNTED = "(s)";

  private static final Pattern NO_BRACKET = Pattern.compile("[^\\[\\]{}]*");

  private record Row(String when, String text) {

    boolean isWellFormed() {
      String plain = text;
      while (OPTION.matcher(plain).find()) {
        plain = OPTION.matcher(plain).replaceAll("$2$3");
      }
      return FIELD
              .matcher(text)
              .results()
              .map(field -> field.group(2))
              .allMatch(form -> form == null || form.endsWith(COUNTED) || FORMS.containsKey(form))
          && NO_BRACKET.matcher(FIELD.matcher(plain).replaceAll("")).matches();
    }
  }

  private record Rows(List<String> names, List<Row> rows) {

    /** Whether texts use the values that there are, and one is for whatever they are. */
    boolean isComplete() {
      return used().equals(Set.copyOf(names))
          && rows.get(rows.size() - 1).when.isEmpty()
          && rows.stream().allMatch(Row::isWellFormed);
    }

    private Set<String> used() {
      Set<String> used = new HashSet<>();
      for (Row row : rows) {
        FIELD.matcher(row.text).results().map(field -> name(field.group(1))).forEach(used::add);
        Stream.concat(
                Stream.of(row.when),
                OPTIONAL.matcher(row.text).results().map(option -> option.group(1)))
            .flatMap(when -> CONDITION.matcher(when).results())
            .forEach(condition -> used.add(condition.group(2)));
      }
      return used;
    }
  }

  private static final Map<String, Rows> ALL =
      parse(RunFiles.resource(Sentence.class, "facts.txt"));

  /**
   * A sentence of the file.
   *
   * @param values in the order of the names behind its id in the file
   */
  public static Sentence of(String id, @Nullable Object... values) {
    List<String> names = rows(id).names;
    if (names.size() != values.length) {
      throw new IllegalArgumentException(
          "%s has the values %s, but got %s".formatted(id, names, Arrays.toString(values)));
    }
    Map<String, @Nullable Object> all = new LinkedHashMap<>();
    for (int i = 0; i < values.length; i++) {
      all.put(names.get(i), values[i]);
    }
    return new Sentence(id, null, Collections.unmodifiableMap(all));
  }

  /** A sentence all of whose values are absent. */
  public static Sentence withoutValues(String id) {
    return of(id, new Object[rows(id).names.size()]);
  }

  public static String text(String id, @Nullable Object... values) {
    return of(id, values).text();
  }

  /** The texts of sentences, with a space between them; empty ones are left out. */
  public static String text(List<Sentence> sentences) {
    return sentences.stream()
        .map(Sentence::text)
        .filter(text -> !text.isEmpty())
        .collect(Collectors.joining(" "));
  }

  /** The same about a place, e.g. {@code c=8: the KV cache was full}; empty for none. */
  public Sentence at(String where) {
    return new Sentence(id, where, values);
  }

  @JsonProperty
  public String text() {
    String text = words();
    return place == null ? text : place.isEmpty() ? NumberText.capital(text) : place + ": " + text;
  }

  /** Without words: {@code c=8: kv_cache_full.found[0.97]}. */
  @Override
  public String toString() {
    return (place == null || place.isEmpty() ? "" : place + ": ") + id + values.values();
  }

  static Set<String> ids() {
    return ALL.keySet();
  }

  private static Rows rows(String id) {
    Rows rows = ALL.get(id);
    if (rows == null) {
      throw new IllegalArgumentException("facts.txt has no row for " + id);
    }
    return rows;
  }

  private String words() {
    return rows(id).rows.stream()
        .filter(row -> holds(row.when, values))
        .findFirst()
        .map(row -> filled(row.text, values))
        .orElseThrow(() -> new IllegalArgumentException("no row of facts.txt is for " + this));
  }

  static String filled(String text, Map<String, @Nullable Object> values) {
    String rest = text;
    // The innermost options first.
    for (Matcher option = OPTION.matcher(rest); option.find(); option = OPTION.matcher(rest)) {
      String when = option.group(1);
      boolean holds = when == null ? hasAll(option.group(2), values) : holds(when, values);
      String part = holds ? option.group(2) : Objects.requireNonNullElse(option.group(3), "");
      rest = rest.substring(0, option.start()) + part + rest.substring(option.end());
    }
    return FIELD
        .matcher(rest)
        .replaceAll(
            field -> Matcher.quoteReplacement(value(field.group(1), field.group(2), values)));
  }

  private static boolean hasAll(String part, Map<String, @Nullable Object> values) {
    return FIELD
        .matcher(part)
        .results()
        .allMatch(field -> isThere(values.get(name(field.group(1)))));
  }

  /** Whether a value is more than null, false, an empty text or list, or a count of 0. */
  private static boolean isThere(@Nullable Object value) {
    return value != null && ABSENT.stream().noneMatch(value::equals);
  }

  /** Conditions such as {@code !other}, {@code rows=1/2}, {@code share>0.5}, all of them. */
  private static boolean holds(String when, Map<String, @Nullable Object> values) {
    return CONDITION
        .matcher(when)
        .results()
        .allMatch(
            of -> {
              Object value = values.get(of.group(2));
              String than = of.group(4);
              boolean holds =
                  than == null
                      ? isThere(value)
                      : of.group(3).equals("=")
                          ? List.of(than.split("/", -1)).contains(String.valueOf(value))
                          : value != null && number(value) > Double.parseDouble(than);
              return holds == of.group(1).isEmpty();
            });
  }

  private static String name(String field) {
    return Character.toLowerCase(field.charAt(0)) + field.substring(1);
  }

  private static String value(
      String field, @Nullable String form, Map<String, @Nullable Object> values) {
    Object value = values.get(name(field));
    String text =
        value == null
            ? NumberText.ABSENT
            : form == null
                ? textOf(value)
                : form.endsWith(COUNTED)
                    ? NumberText.counted(
                        (long) number(value), form.substring(0, form.length() - COUNTED.length()))
                    : Objects.requireNonNull(FORMS.get(form), form).apply(value);
    return name(field).equals(field) ? text : NumberText.capital(text);
  }

  private static String textOf(Object value) {
    return value instanceof Double number
        ? NumberText.number(number)
        : value instanceof Long || value instanceof Integer
            ? NumberText.count(((Number) value).longValue())
            : value instanceof List<?>
                ? String.join(", ", texts(value))
                : value instanceof Sentence sentence ? sentence.text() : value.toString();
  }

  private static List<String> texts(Object value) {
    return ((List<?>) value).stream().map(Sentence::textOf).toList();
  }

  private static double number(Object value) {
    return ((Number) value).doubleValue();
  }

  /** Throws for a row that is malformed, or whose values are not those that it uses. */
  static Map<String, Rows> checked(String text) {
    Map<String, Rows> all = parse(text);
    all.forEach((of, rows) -> require(rows.isComplete(), of + rows));
    return all;
  }

  private static Map<String, Rows> parse(String text) {
    Map<String, Rows> all = new LinkedHashMap<>();
    String owner = "";
    String id = "";
    for (String line : text.lines().toList()) {
      if (line.isBlank() || line.startsWith("#")) {
        continue;
      }
      String[] columns = line.split("\\|", 3);
      Matcher head = HEAD.matcher(columns[0].strip());
      require(columns.length == 3 && head.matches(), line);
      if (!head.group(1).isEmpty()) {
        boolean isPart = head.group(1).startsWith(".");
        owner = isPart ? owner : head.group(1);
        id = isPart ? owner + head.group(1) : owner;
        List<String> names =
            head.group(2) == null ? List.of() : List.of(head.group(2).strip().split(", *"));
        require(all.put(id, new Rows(names, new ArrayList<>())) == null, line);
      }
      Objects.requireNonNull(all.get(id)).rows.add(new Row(columns[1].strip(), columns[2].strip()));
    }
    return all;
  }

  private static void require(boolean isSo, String row) {
    if (!isSo) {
      throw new IllegalStateException("facts.txt: " + row);
    }
  }
}
