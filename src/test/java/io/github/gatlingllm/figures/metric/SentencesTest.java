package io.github.gatlingllm.figures.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.record.RunFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The file of words: its form, and that each of its sentences is used. */
class SentencesTest {

  private static final Path SOURCES = Path.of("src/main/java/io/github/gatlingllm");

  private static final Map<String, Object> VALUES =
      Map.of(
          "one",
          1L,
          "none",
          0L,
          "many",
          1_234L,
          "share",
          0.0213,
          "empty",
          "",
          "yes",
          true,
          "names",
          List.of("a", "b", "c", "d"),
          "clause",
          Sentence.of("queue.reason", false, 41L));

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "{many} of {one request(s)}, {many request(s)}|1,234 of 1 request, 1,234 requests",
        "{share} is {share percent}|0.021 is 2.1 %",
        "{names}; {names and}; {names some}|a, b, c, d; a and b and c and d; a and 3 others",
        "{Clause}.|The queue grew to 41.",
        "a{absent}|a–",
        "a[, {none} b][, {many} c][ ({empty})][ {absent}]|a, 1,234 c",
        "[yes?is\u00a6are] [one=1?one\u00a6more] [share>0.02?much\u00a6little]|is one much",
        "[!yes?no\u00a6yes] [yes, one?both][yes, none?x] [yes?[none?x\u00a6inner]\u00a6x]|yes both"
            + " inner"
      })
  void textIsFilled(String text, String filled) {
    assertThat(Sentence.filled(text.replace('\u00a6', '|'), withAbsent())).isEqualTo(filled);
  }

  private static Map<String, Object> withAbsent() {
    Map<String, Object> all = new HashMap<>(VALUES);
    all.put("absent", null);
    return all;
  }

  @Test
  void firstRowWhoseConditionHoldsMakesTheText() {
    assertThat(Sentence.text("verdict.adds", null, null)).contains("unknown");
    assertThat(Sentence.text("verdict.adds", 2.5, 150L)).contains("2.5 ×");
    assertThat(Sentence.text("verdict.adds", 1.001, 0L)).contains("no");
    assertThat(Sentence.text("verdict.adds", 1.2, 20L)).contains("20 %");
    assertThat(Sentence.text("verdict.adds", 0.8, -20L)).contains("20 %").doesNotContain("-");
  }

  @Test
  void placeComesFirst() {
    Sentence sentence = Sentence.of("kv_cache_full.found", 0.97);
    assertThat(sentence.at("c=8").text()).startsWith("c=8: the KV cache");
    assertThat(sentence.at("").text()).startsWith("The KV cache");
    assertThat(sentence.at("c=8")).hasToString("c=8: kv_cache_full.found[0.97]");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a || {x}", // not a value of it
        "a(x) || words", // no row uses it
        "a(x) || [y?{x}]",
        "a(x) | y | {x}",
        "a | words",
        "a || one\na || two",
        "a(x) || {x miles}",
        "a(x) || [{x}",
        "a b || words"
      })
  void otherFilesAreRefused(String text) {
    assertThatThrownBy(() -> Sentence.checked(text)).hasMessageContaining("facts.txt");
  }

  @Test
  void fileIsComplete() {
    assertThat(Sentence.checked(RunFiles.resource(Sentence.class, "facts.txt")).keySet())
        .isEqualTo(Sentence.ids());
  }

  @Test
  void otherSentencesAreRefused() {
    assertThatThrownBy(() -> Sentence.of("nothing")).hasMessageContaining("nothing");
    assertThatThrownBy(() -> Sentence.of("queue", true))
        .hasMessageContaining("[held, load, reason]");
  }

  /** A row that the code does not name has no reader. */
  @Test
  void eachSentenceIsUsed() throws IOException {
    Set<String> texts;
    try (Stream<Path> sources = Files.walk(SOURCES)) {
      texts =
          sources
              .filter(source -> source.toString().endsWith(".java"))
              .flatMap(source -> texts(source))
              .collect(Collectors.toSet());
    }
    assertThat(Sentence.ids()).allMatch(id -> isNamed(id, texts));
    assertThat(isNamed("verdict.forgotten", texts)).isFalse();
  }

  private static boolean isNamed(String id, Set<String> texts) {
    int dot = id.lastIndexOf('.');
    boolean isParted =
        dot > 0 && texts.contains(id.substring(0, dot)) && texts.contains(id.substring(dot));
    return texts.contains(id) || isParted;
  }

  /** The texts in quotes, and the names of the catalogue's checks with the parts that each has. */
  private static Stream<String> texts(Path source) {
    try {
      String code = Files.readString(source);
      Stream<String> quoted =
          Pattern.compile("\"([a-z0-9_.]+)\"").matcher(code).results().map(m -> m.group(1));
      return source.endsWith("CheckCatalogue.java")
          ? Stream.concat(
              quoted,
              Pattern.compile("(?m)^  ([A-Z_]+)\\(")
                  .matcher(code)
                  .results()
                  .map(match -> match.group(1).toLowerCase(Locale.ROOT)))
          : quoted;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
