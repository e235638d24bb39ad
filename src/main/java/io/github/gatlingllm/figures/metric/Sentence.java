package io.github.gatlingllm.figures.metric;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Something to tell a user: an id and values. Its words are a row of {@code facts.txt}, see {@link
 * Sentences}.
 *
 * @param id the rows that it has in the file
 * @param place what the sentence is about, if it begins with that; else it begins with a capital
 * @param values by the names that the file gives them: numbers, texts, lists, and other sentences
 */
public record Sentence(
    String id,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) @Nullable String place,
    Map<String, @Nullable Object> values) {

  /**
   * A sentence of the file.
   *
   * @param values in the order of the names behind its id in the file
   */
  public static Sentence of(String id, @Nullable Object... values) {
    List<String> names = Sentences.names(id);
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
    return of(id, new Object[Sentences.names(id).size()]);
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
    String text = Sentences.text(this);
    return place == null ? text : place.isEmpty() ? NumberText.capital(text) : place + ": " + text;
  }

  /** Without words: {@code c=8: kv_cache_full.found[0.97]}. */
  @Override
  public String toString() {
    return (place == null || place.isEmpty() ? "" : place + ": ") + id + values.values();
  }
}
