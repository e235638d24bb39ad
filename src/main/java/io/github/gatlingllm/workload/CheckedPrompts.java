package io.github.gatlingllm.workload;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.load.DataFile;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The prompts of the setting {@code answers}, whose answers are compared before, in and after the
 * load.
 *
 * @param prompts those of a file; empty for prompts of the load
 */
public record CheckedPrompts(String name, List<CheckedPrompt> prompts) {

  /** The number of prompts of the load. */
  public static final int OF_LOAD = 50;

  public static final String LOAD = "check";

  private static final int MAX = 1_000;

  private static final List<String> FIELDS = List.of("prompt", "expected", "pattern");

  public CheckedPrompts {
    prompts = List.copyOf(prompts);
  }

  /**
   * A prompt, and what its right answer has.
   *
   * @param pattern regular expression that is found in it; null where nothing is expected
   */
  public record CheckedPrompt(String prompt, @Nullable String pattern) {

    private static CheckedPrompt of(Map<String, String> fields) {
      String prompt = fields.getOrDefault("prompt", "");
      String expected = fields.getOrDefault("expected", "");
      String pattern = fields.getOrDefault("pattern", "");
      if (prompt.isBlank()) {
        throw new IllegalArgumentException("has no prompt; expected prompt, expected or pattern");
      }
      if (!expected.isBlank() && !pattern.isEmpty()) {
        throw new IllegalArgumentException("has both expected and pattern; expected one of them");
      }
      return new CheckedPrompt(
          prompt,
          !pattern.isEmpty() ? valid(pattern) : expected.isBlank() ? null : words(expected));
    }

    private static String valid(String pattern) {
      try {
        return Pattern.compile(pattern).pattern();
      } catch (PatternSyntaxException e) {
        throw new IllegalArgumentException(
            "pattern '%s' is not a regular expression (%s at character %s); correct it"
                .formatted(DataFile.clipped(pattern), e.getDescription(), e.getIndex() + 1),
            e);
      }
    }

    /** An expected text: whatever its case, and the spaces between its words. */
    private static String words(String expected) {
      return Stream.of(expected.strip().split("\\s+", -1))
          .map(Pattern::quote)
          .collect(Collectors.joining("\\s+", "(?iu)", ""));
    }

    /** Whether an answer is right; null where nothing is expected. */
    public @Nullable Boolean isRight(String answer) {
      return pattern == null ? null : (Boolean) Pattern.compile(pattern).matcher(answer).find();
    }
  }

  /** Reads {@code check}, or a file of JSON, JSON lines or CSV. */
  public static CheckedPrompts parse(String text) {
    return text.equals(LOAD) ? new CheckedPrompts(LOAD, List.of()) : read(DataFile.of(text));
  }

  private static CheckedPrompts read(DataFile file) {
    List<CheckedPrompt> all = new ArrayList<>();
    if (file.name().toLowerCase(Locale.ROOT).matches(".*\\.csv(\\.gz)?")) {
      List<String> head = new ArrayList<>();
      file.held()
          .rows(
              row -> {
                if (head.isEmpty()) {
                  head.addAll(head(row));
                } else {
                  add(all, cells(head, row));
                }
              });
    } else {
      file.held().entries("answers", (entry, start, length) -> add(all, fields(entry)));
    }
    if (all.isEmpty()) {
      throw new IllegalArgumentException(
          file.name() + " has no prompt; expected the fields prompt, and expected or pattern");
    }
    return new CheckedPrompts(file.name(), all);
  }

  private static void add(List<CheckedPrompt> all, Map<String, String> fields) {
    if (all.size() == MAX) {
      throw new IllegalArgumentException("is one of more than " + MAX + " prompts; leave some out");
    }
    all.add(CheckedPrompt.of(fields));
  }

  private static List<String> head(List<String> row) {
    List<String> names = row.stream().map(name -> name.strip().toLowerCase(Locale.ROOT)).toList();
    if (!names.contains("prompt")) {
      throw new IllegalArgumentException("expected a column named prompt");
    }
    return names;
  }

  private static Map<String, String> cells(List<String> head, List<String> row) {
    if (row.size() != head.size()) {
      throw new IllegalArgumentException(
          "has " + row.size() + " columns, the first row has " + head.size());
    }
    Map<String, String> fields = new HashMap<>();
    FIELDS.stream()
        .filter(head::contains)
        .forEach(name -> fields.put(name, row.get(head.indexOf(name))));
    return fields;
  }

  private static Map<String, String> fields(JsonNode entry) {
    Map<String, String> fields = new HashMap<>();
    for (String name : FIELDS) {
      JsonNode value = entry.path(name);
      if (value.isTextual()) {
        fields.put(name, value.textValue());
      } else if (!value.isMissingNode() && !value.isNull()) {
        throw new IllegalArgumentException(
            name + " is " + DataFile.clipped(value) + "; expected a text");
      }
    }
    return fields;
  }

  @Override
  public String toString() {
    return name;
  }
}
