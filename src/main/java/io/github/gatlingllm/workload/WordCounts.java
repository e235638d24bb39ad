package io.github.gatlingllm.workload;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * A table of token counts by word in front of a tokenizer. Most tokenizers split texts at words
 * first, so the count of a text is the sum of those of its words, and a word is counted once. Where
 * sums differ from counts of texts by the same number, as a token begins every text, that is added.
 */
final class WordCounts implements Tokenizer {

  private static final int SAMPLES = 5;

  /** What words are counted beside, as tokenizers treat the ends of a text in another way. */
  private static final String BESIDE = "A";

  private static final String LINE = BESIDE + "\n";

  private final Tokenizer tokenizer;
  private final int perText;
  private final Map<Word, Integer> counts;

  private WordCounts(Tokenizer tokenizer, int perText, Map<Word, Integer> counts) {
    this.tokenizer = tokenizer;
    this.perText = perText;
    this.counts = counts;
  }

  /** The tokenizer behind a table, or as it is where its words do not add up to texts. */
  static Tokenizer of(Tokenizer tokenizer) {
    WordCounts table = new WordCounts(tokenizer, 0, new ConcurrentHashMap<>());
    List<String> texts = SyntheticText.samples(SAMPLES);
    tokenizer.prepare(texts);
    table.prepare(texts);
    Set<Integer> differences =
        texts.stream()
            .map(text -> tokenizer.count(text) - table.count(text))
            .collect(Collectors.toSet());
    return differences.size() == 1
        ? new WordCounts(tokenizer, differences.iterator().next(), table.counts)
        : tokenizer;
  }

  @Override
  public String name() {
    return tokenizer.name();
  }

  @Override
  public int count(String text) {
    int sum = text.isEmpty() ? 0 : perText;
    for (int from = 0; from < text.length(); ) {
      int end = end(text, from);
      sum += of(Word.of(text, from, end));
      from = end;
    }
    return sum;
  }

  @Override
  public String head(String text, int tokens) {
    int rest = tokens - perText;
    for (int from = 0; from < text.length(); ) {
      int end = end(text, from);
      int count = of(Word.of(text, from, end));
      if (count > rest) {
        String cut = rest <= 0 ? "" : tokenizer.head(text.substring(from, end), rest);
        return text.substring(0, from) + cut;
      }
      rest -= count;
      from = end;
    }
    return text;
  }

  /**
   * A word beside others, where it is so in its text.
   *
   * @param before empty at the beginning of a text
   * @param after empty but for line breaks
   */
  private record Word(String before, String word, String after) {

    static Word of(String text, int from, int end) {
      char last = text.charAt(end - 1);
      return new Word(
          from == 0 ? "" : text.charAt(from) == ' ' ? BESIDE : LINE,
          text.substring(from, end),
          last == '\n' || last == '\r' ? BESIDE : "");
    }

    String inContext() {
      return before + word + after;
    }
  }

  private int of(Word word) {
    Integer known = counts.get(word);
    if (known == null) {
      int after =
          word.after().isEmpty() ? 0 : tokenizer.count(LINE + BESIDE) - tokenizer.count(LINE);
      int before = word.before().isEmpty() ? 0 : tokenizer.count(word.before());
      known = tokenizer.count(word.inContext()) - before - after;
      counts.put(word, known);
    }
    return known;
  }

  @Override
  public void prepare(List<String> texts) {
    Set<String> words = new LinkedHashSet<>(List.of(BESIDE, LINE, LINE + BESIDE));
    for (String text : texts) {
      for (int from = 0; from < text.length(); from = end(text, from)) {
        words.add(Word.of(text, from, end(text, from)).inContext());
      }
    }
    tokenizer.prepare(List.copyOf(words));
  }

  /**
   * The end of a word: with the space before it and the line breaks after it, where tokenizers join
   * them. Of several spaces the last belongs to the next word.
   */
  static int end(String text, int from) {
    int length = text.length();
    int at = from;
    if (text.charAt(at) == ' ' && at + 1 < length && !isSpace(text.charAt(at + 1))) {
      at++;
    }
    if (!isSpace(text.charAt(at))) {
      while (at < length && !isSpace(text.charAt(at))) {
        at++;
      }
      while (at < length && (text.charAt(at) == '\n' || text.charAt(at) == '\r')) {
        at++;
      }
      return at;
    }
    while (at < length && isSpace(text.charAt(at))) {
      at++;
    }
    return at < length && at > from + 1 && text.charAt(at - 1) == ' ' ? at - 1 : at;
  }

  private static boolean isSpace(char c) {
    return Character.isWhitespace(c) || Character.isSpaceChar(c);
  }
}
