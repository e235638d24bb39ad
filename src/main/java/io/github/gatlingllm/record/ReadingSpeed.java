package io.github.gatlingllm.record;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Somebody who reads an answer while it comes, at an even speed: begins with the first token, and
 * waits wherever the next one is not there yet.
 *
 * <pre>
 * at 5 tokens/s, tokens at s   1.0  1.1  1.7  1.8
 * wanted at                    1.0  1.2  1.4  1.9   waits 0.3 for the third; in time from 1.3 on
 * </pre>
 *
 * <p>What such a reader waits in all is also the delay with which to begin so as to wait nowhere,
 * the playout delay of a stream: the largest of tᵢ − t₁ − (i − 1) ÷ speed over all tokens i.
 */
public final class ReadingSpeed {

  /** Tokens per second where nobody says another speed: 225 words per minute. */
  public static final double DEFAULT = 5;

  /** Words of English text per token: 250 words per minute are 5.56 tokens per second. */
  public static final double WORDS_PER_TOKEN = 0.75;

  private static final String WORDS_PER_MINUTE = "wpm";
  private static final double FASTEST = 1_000_000;

  private ReadingSpeed() {}

  /**
   * Tokens per second: a number, or words per minute such as {@code 250wpm}.
   *
   * @throws IllegalArgumentException if it is neither, or not between 0 and a million
   */
  public static double parse(String text) {
    String plain = text.strip().toLowerCase(Locale.ROOT);
    return plain.endsWith(WORDS_PER_MINUTE)
        ? checked(
            Double.parseDouble(plain.substring(0, plain.length() - WORDS_PER_MINUTE.length()))
                / 60
                / WORDS_PER_TOKEN)
        : checked(Double.parseDouble(plain));
  }

  /**
   * That speed.
   *
   * @throws IllegalArgumentException if it is not between 0 and a million tokens per second
   */
  public static double checked(double tokensPerS) {
    if (!(tokensPerS > 0 && tokensPerS <= FASTEST)) {
      throw new IllegalArgumentException(
          "expected tokens per second such as 5, or words per minute such as 250wpm, above 0");
    }
    return tokensPerS;
  }

  /**
   * How long a reader of the answer waits in all for tokens that are late, whole microseconds in
   * nanoseconds; of several choices the one that waits longest. Tokens per event are the server's
   * where it said them, else N is shared evenly. Null for an answer in one body, and where event
   * times were not kept.
   */
  public static @Nullable Long stallNanos(RequestRecord record, double tokensPerS) {
    int[] offsets = record.events().offsetsMicros();
    if (offsets.length == 0 || record.isOneBody()) {
      return null;
    }
    int[] said = record.events().tokens();
    int[] choices = record.events().choices();
    double share = TokenGaps.share(offsets.length, record.tokens().streamedTokens());
    Map<Integer, Progress> readers = new HashMap<>();
    double microsPerToken = 1e6 / tokensPerS;
    double longest = 0;
    Progress reader = null;
    for (int i = 0; i < offsets.length; i++) {
      double tokens = said.length == offsets.length ? said[i] : share;
      if (tokens > 0) {
        if (choices.length == offsets.length || reader == null) {
          int at = offsets[i];
          int choice = choices.length == offsets.length ? choices[i] : 0;
          reader = readers.computeIfAbsent(choice, c -> new Progress(at));
        }
        longest = Math.max(longest, offsets[i] - reader.wantedMicros);
        reader.wantedMicros += tokens * microsPerToken;
      }
    }
    return Math.round(longest) * 1_000;
  }

  /** When a reader who began with the first token wants the next one. */
  private static final class Progress {
    private double wantedMicros;

    private Progress(int first) {
      wantedMicros = first;
    }
  }
}
