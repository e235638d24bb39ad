package io.github.gatlingllm.workload;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.load.DataFile;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
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
 * @param patterns for each prompt a regular expression that is found in its right answer; empty
 *     where nothing is expected
 */
public record CheckedPrompts(String name, List<String> prompts, List<String> patterns) {

  /** The number of prompts of the load. */
  public static final int OF_LOAD = 50;

  public static final String LOAD = "check";

  private static final int MAX = 1_000;

  /** Characters that a search may read: some milliseconds, as it is on an event loop. */
  private static final int MAX_STEPS = 1_000_000;

  private static final List<String> FIELDS = List.of("prompt", "expected", "pattern");

  public CheckedPrompts {
    prompts = List.copyOf(prompts);
    patterns = List.copyOf(patterns);
  }

  /**
   * Whether the answer to the prompt at an index is right; null where nothing is expected.
   *
   * @throws IllegalArgumentException if the search takes too long to tell
   */
  public @Nullable Boolean isRight(int index, String answer) {
    String pattern = patterns.isEmpty() ? "" : patterns.get(index);
    try {
      return pattern.isEmpty()
          ? null
          : (Boolean) Pattern.compile(pattern).matcher(new LimitedText(answer)).find();
    } catch (IndexOutOfBoundsException | StackOverflowError e) {
      throw new IllegalArgumentException(
          "%s: the pattern of prompt %s backtracks too much in an answer of %s characters; simplify it"
              .formatted(name, index + 1, answer.length()),
          e);
    }
  }

  /** A text that ends a search after {@value #MAX_STEPS} reads: some patterns need years. */
  private static final class LimitedText implements CharSequence {
    private final String text;
    private int steps;

    LimitedText(String text) {
      this.text = text;
    }

    @Override
    public char charAt(int index) {
      if (++steps > MAX_STEPS) {
        throw new IndexOutOfBoundsException("too many steps");
      }
      return text.charAt(index);
    }

    @Override
    public int length() {
      return text.length();
    }

    @Override
    public CharSequence subSequence(int start, int end) {
      return text.subSequence(start, end);
    }

    @Override
    public String toString() {
      return text;
    }
  }

  /** Reads {@code check}, or a file of JSON, JSON lines or CSV. */
  public static CheckedPrompts parse(String text) {
    return text.equals(LOAD)
        ? new CheckedPrompts(LOAD, List.of(), List.of())
        : read(DataFile.of(text));
  }

  private static CheckedPrompts read(DataFile file) {
    List<String> prompts = new ArrayList<>();
    List<String> patterns = new ArrayList<>();
    Consumer<Map<String, String>> add =
        fields -> {
          if (prompts.size() == MAX) {
            throw new IllegalArgumentException(
                "is one of more than " + MAX + " prompts; leave some out");
          }
          prompts.add(prompt(fields));
          patterns.add(pattern(fields));
        };
    if (file.isCsv()) {
      file.held().cells("prompt", false, add);
    } else {
      file.held().entries("answers", (entry, start, length) -> add.accept(fields(entry)));
    }
    if (prompts.isEmpty()) {
      throw new IllegalArgumentException(
          file.name() + " has no prompt; expected the fields prompt, and expected or pattern");
    }
    return new CheckedPrompts(file.name(), prompts, patterns);
  }

  private static String prompt(Map<String, String> fields) {
    String prompt = fields.getOrDefault("prompt", "");
    if (prompt.isBlank()) {
      throw new IllegalArgumentException("has no prompt; expected prompt, expected or pattern");
    }
    return prompt;
  }

  private static String pattern(Map<String, String> fields) {
    String expected = fields.getOrDefault("expected", "");
    String pattern = fields.getOrDefault("pattern", "");
    if (!expected.isBlank() && !pattern.isEmpty()) {
      throw new IllegalArgumentException("has both expected and pattern; expected one of them");
    }
    try {
      // An expected text: whatever its case, and the spaces between its words.
      return expected.isBlank()
          ? Pattern.compile(pattern).pattern()
          : Stream.of(expected.strip().split("\\s+", -1))
              .map(Pattern::quote)
              .collect(Collectors.joining("\\s+", "(?iu)", ""));
    } catch (PatternSyntaxException e) {
      throw new IllegalArgumentException(
          "pattern '%s' is not a regular expression (%s at character %s); correct it"
              .formatted(DataFile.clipped(pattern), e.getDescription(), e.getIndex() + 1),
          e);
    }
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
