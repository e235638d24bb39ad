package io.github.gatlingllm.workload;

import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Cuts or continues texts to an exact number of tokens. Every result is counted as a whole, because
 * a cut text may be tokenized otherwise than the beginning it was cut from. Too slow for an event
 * loop; may be used by several threads.
 *
 * <p>Texts begin and end with a visible character, because chat templates trim them. A text that is
 * too short is continued by made-up sentences ({@link SyntheticText}), never by repetition. Where
 * several cuts miss the length, and no short word fills the gap, the nearest is taken.
 */
final class ExactLength {

  /** What sets a prefix apart from the prompt. */
  static final String BREAK = "\n\n";

  private static final int CUTS = 16;
  private static final int MOST_FILLED = 8;
  private static final int LONG_TOKEN_CHARS = 7;
  private static final int CHARS_MORE = 120;

  /** Short words that most vocabularies have, to fill the gap that a cut leaves. */
  private static final List<String> FILLERS =
      List.of(" and", " then", " so", " more", ".", " it", "!", " a", "?", " now", ",", " no");

  private final Tokenizer tokenizer;

  ExactLength(Tokenizer tokenizer) {
    this.tokenizer = tokenizer;
  }

  /**
   * A text of some length.
   *
   * @param text without what was put around it to count
   * @param tokens of the whole, with what was put around it
   */
  record Fitted(String text, int tokens) {}

  /**
   * The text, as long as it must be for {@code before + text + after} to have that many tokens.
   *
   * @param tokens ≥ 1
   * @param random what it is continued with is drawn from
   */
  Fitted of(String before, String text, String after, int tokens, SplittableRandom random) {
    String whole = before + text.strip();
    int count = tokenizer.count(whole + after);
    if (count == tokens && !text.isBlank()) {
      return new Fitted(text.strip(), count);
    }
    String source = count < tokens ? longer(before, text.strip(), tokens, random) : whole;
    return cut(before, source, after, tokens);
  }

  /** Tokens of a text. */
  int count(String text) {
    return tokenizer.count(text);
  }

  private String longer(String before, String text, int tokens, SplittableRandom random) {
    int chars = text.length();
    String longer = text;
    while (true) {
      chars += (tokens - Math.min(tokens, tokenizer.count(before + longer))) * LONG_TOKEN_CHARS;
      longer = SyntheticText.continued(longer, chars + CHARS_MORE, random);
      chars = longer.length();
      if (tokenizer.count(before + longer) >= tokens) {
        return before + longer;
      }
    }
  }

  private Fitted cut(String before, String source, String after, int tokens) {
    int keep = tokens - (after.isEmpty() ? 0 : tokenizer.count(after));
    Fitted nearest = null;
    for (int i = 0; i < CUTS && keep >= 0; i++) {
      String head = tokenizer.head(source, keep).stripTrailing();
      String text = head.length() <= before.length() ? "" : head.substring(before.length());
      int count = tokenizer.count(before + text + after);
      Fitted fitted =
          count < tokens && tokens - count <= MOST_FILLED
              ? filled(before, text, after, count, tokens)
              : new Fitted(text, count);
      nearest = nearest(nearest, fitted, tokens);
      if (nearest.tokens() == tokens) {
        return nearest;
      }
      // Too long: shorter by the excess. Too short though filled: another cut is filled otherwise.
      keep = count > tokens ? keep - (count - tokens) : keep - 1;
      if (count < tokens - MOST_FILLED) {
        keep += 1 + tokens - count;
      }
    }
    return nearest == null ? new Fitted("", tokenizer.count(before + after)) : nearest;
  }

  private Fitted filled(String before, String text, String after, int count, int tokens) {
    Fitted filled = new Fitted(text, count);
    int step = 0;
    while (filled.tokens() < tokens && step < FILLERS.size()) {
      String filler = FILLERS.get(step++);
      String more = filled.text().isEmpty() ? filler.strip() : filled.text() + filler;
      int now = tokenizer.count(before + more + after);
      if (now > filled.tokens() && now <= tokens) {
        filled = new Fitted(more, now);
      }
    }
    return filled;
  }

  private static Fitted nearest(@Nullable Fitted a, Fitted b, int tokens) {
    if (a == null) {
      return b;
    }
    return Math.abs(b.tokens() - tokens) < Math.abs(a.tokens() - tokens) ? b : a;
  }
}
