package io.github.gatlingllm.figures.level;

import io.github.gatlingllm.figures.metric.NumberText;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A table of sentences about a subject, each with an id, a condition and a text. The first row
 * whose condition holds makes the sentence. In a text {@code {load}} is the field {@code load} of
 * the subject, and {@code {Load}} the same with a capital.
 */
final class Sentences<T> {

  private static final Pattern FIELD = Pattern.compile("\\{(\\w+)}");

  private final Map<String, Function<T, String>> fields;
  private final List<Row<T>> rows = new ArrayList<>();

  private record Row<T>(String id, Predicate<T> when, String text) {}

  Sentences(Map<String, Function<T, String>> fields) {
    this.fields = fields;
  }

  Sentences<T> row(String id, Predicate<T> when, String text) {
    rows.add(new Row<>(id, when, text));
    return this;
  }

  Sentences<T> otherwise(String id, String text) {
    return row(id, subject -> true, text);
  }

  String id(T subject) {
    return rowOf(subject).id;
  }

  String of(T subject) {
    return FIELD
        .matcher(rowOf(subject).text)
        .replaceAll(match -> Matcher.quoteReplacement(value(match.group(1), subject)));
  }

  private Row<T> rowOf(T subject) {
    return rows.stream().filter(row -> row.when.test(subject)).findFirst().orElseThrow();
  }

  private String value(String name, T subject) {
    Function<T, String> field = fields.get(name);
    if (field != null) {
      return field.apply(subject);
    }
    String lower = Character.toLowerCase(name.charAt(0)) + name.substring(1);
    return NumberText.capital(Objects.requireNonNull(fields.get(lower), name).apply(subject));
  }
}
