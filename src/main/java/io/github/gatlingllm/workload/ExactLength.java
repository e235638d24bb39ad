package io.github.gatlingllm.workload;

import io.github.gatlingllm.workload.Prompts.DrawnPrompt;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Cuts texts, or extends them by {@link SyntheticText}, to an exact number of tokens, else to the
 * nearest. They begin and end with a visible character, as chat templates trim white space.
 */
record ExactLength(Tokenizer tokenizer) {

  /** Separator between prefix and prompt. */
  static final String BREAK = "\n\n";

  private static final int CUTS = 16;
  private static final int MAX_FILLED = 8;
  private static final int LONG_TOKEN_CHARS = 7;
  private static final int CHARS_MORE = 120;

  /** Short words of most vocabularies, to fill the gap after a cut. */
  private static final List<String> FILLERS =
      List.of(" and", " then", " so", " more", ".", " it", "!", " a", "?", " now", ",", " no");

  /** The text, cut or extended so that {@code before + text + after} has that many tokens. */
  DrawnPrompt of(String before, String text, String after, int tokens, SplittableRandom random) {
    String extended = before + text.strip();
    int count = tokenizer.count(extended + after);
    if (count == tokens && !text.isBlank()) {
      return new DrawnPrompt(text.strip(), count, tokens);
    }
    String source = count < tokens ? longer(before, text.strip(), tokens, random) : extended;
    return cut(before, source, after, tokens);
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

  private DrawnPrompt cut(String before, String source, String after, int tokens) {
    int max = tokens - (after.isEmpty() ? 0 : tokenizer.count(after));
    DrawnPrompt nearest = null;
    for (int i = 0; i < CUTS && max >= 0; i++) {
      String head = tokenizer.head(source, max).stripTrailing();
      String text = head.length() <= before.length() ? "" : head.substring(before.length());
      int count = tokenizer.count(before + text + after);
      DrawnPrompt fitted =
          count < tokens && tokens - count <= MAX_FILLED
              ? filled(before, text, after, count, tokens)
              : new DrawnPrompt(text, count, tokens);
      nearest = nearest(nearest, fitted, tokens);
      if (nearest.tokens() == tokens) {
        return nearest;
      }
      // Too long: cut by the excess. Still too short after filling: try another cut.
      max = count > tokens ? max - (count - tokens) : max - 1;
      if (count < tokens - MAX_FILLED) {
        max += 1 + tokens - count;
      }
    }
    return nearest == null ? new DrawnPrompt("", tokenizer.count(before + after), tokens) : nearest;
  }

  private DrawnPrompt filled(String before, String text, String after, int count, int tokens) {
    DrawnPrompt filled = new DrawnPrompt(text, count, tokens);
    int step = 0;
    while (filled.tokens() < tokens && step < FILLERS.size()) {
      String filler = FILLERS.get(step++);
      String more = filled.text().isEmpty() ? filler.strip() : filled.text() + filler;
      int now = tokenizer.count(before + more + after);
      if (now > filled.tokens() && now <= tokens) {
        filled = new DrawnPrompt(more, now, tokens);
      }
    }
    return filled;
  }

  private static DrawnPrompt nearest(@Nullable DrawnPrompt a, DrawnPrompt b, int tokens) {
    if (a == null) {
      return b;
    }
    return Math.abs(b.tokens() - tokens) < Math.abs(a.tokens() - tokens) ? b : a;
  }
}
