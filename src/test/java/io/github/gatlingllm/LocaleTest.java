package io.github.gatlingllm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Texts and files are the same in every locale of the JVM. */
class LocaleTest {

  private static final String LITERAL = "\"(?:[^\"\\\\\\n]|\\\\.)*\"";

  /**
   * {@code "%d".formatted(n)}: digits, separators and decimal points of the default locale, e.g.
   * Arabic digits in JSON.
   */
  private static final Pattern OF_DEFAULT_LOCALE =
      Pattern.compile(
          "\"(?:[^\"\\\\\\n]|\\\\.)*%[-+0,(]*\\d*(?:\\.\\d+)?[dfeg](?:[^\"\\\\\\n]|\\\\.)*\""
              + "(?:\\s*\\+\\s*"
              + LITERAL
              + ")*\\)?\\s*\\.formatted\\(");

  @Test
  void numbersAreFormattedIndependentlyOfTheLocale() throws IOException {
    List<String> found = new ArrayList<>();
    try (Stream<Path> sources = Files.walk(Path.of("src/main/java"))) {
      for (Path source : sources.filter(file -> file.toString().endsWith(".java")).toList()) {
        OF_DEFAULT_LOCALE
            .matcher(Files.readString(source))
            .results()
            .forEach(match -> found.add(source.getFileName() + ": " + match.group()));
      }
    }

    assertThat(found).as("expected %%s, or String.format(Locale.ROOT, …)").isEmpty();
  }
}
