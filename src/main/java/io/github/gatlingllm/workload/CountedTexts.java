package io.github.gatlingllm.workload;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Remembers how many tokens texts have: prompts of a pool, and all but the newest messages of a
 * conversation, are tokenized once. The texts that were asked for longest ago are forgotten when
 * there are too many characters. Not thread-safe.
 */
final class CountedTexts {

  /** At most 32 MiB, where every text is written in 16-bit characters. */
  private static final int MOST_CHARS = 1 << 24;

  private final Tokenizer tokenizer;
  private final int mostChars;
  private final Map<String, Integer> counts = new LinkedHashMap<>(16, 0.75f, true);
  private long chars;

  CountedTexts(Tokenizer tokenizer) {
    this(tokenizer, MOST_CHARS);
  }

  CountedTexts(Tokenizer tokenizer, int mostChars) {
    this.tokenizer = tokenizer;
    this.mostChars = mostChars;
  }

  /** Tokens of all these texts, each counted by itself. */
  int count(List<String> texts) {
    int sum = 0;
    for (String text : texts) {
      sum += count(text);
    }
    return sum;
  }

  private int count(String text) {
    Integer known = counts.get(text);
    if (known != null) {
      return known;
    }
    int count = tokenizer.count(text);
    counts.put(text, count);
    chars += text.length();
    var oldest = counts.entrySet().iterator();
    while (chars > mostChars && oldest.hasNext()) {
      chars -= oldest.next().getKey().length();
      oldest.remove();
    }
    return count;
  }
}
