package io.github.gatlingllm.record;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A reader who reads an answer at a constant speed while it is streamed: starts with the first
 * token and waits for every token that has not arrived yet.
 *
 * <pre>
 * 5 tokens/s, tokens arrive at s   1.0  1.1  1.7  1.8
 * are wanted at                    1.0  1.2  1.4  1.9   waits 0.3 s for the third token
 * </pre>
 *
 * <p>The total wait equals the playout delay of the stream: the delay after which the reader could
 * start and never wait. It is the largest of tᵢ − t₁ − (i − 1) ÷ speed over all tokens i.
 */
public final class ReadingSpeed {

  /** Default speed, tokens per second: 225 words per minute. */
  public static final double DEFAULT = 5;

  /** Words of English text per token: 250 words per minute are 5.56 tokens per second. */
  private static final double WORDS_PER_TOKEN = 0.75;

  private static final String WORDS_PER_MINUTE = "wpm";
  private static final double MAX_TOKENS_PER_S = 1_000_000;

  private ReadingSpeed() {}

  /**
   * Parses tokens per second, or words per minute such as {@code 250wpm}.
   *
   * @return tokens per second
   * @throws IllegalArgumentException if the text is neither, or not between 0 and a million
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

  /** Returns the speed; throws if it is not between 0 and a million tokens per second. */
  public static double checked(double tokensPerS) {
    if (!(tokensPerS > 0 && tokensPerS <= MAX_TOKENS_PER_S)) {
      throw new IllegalArgumentException(
          "expected tokens per second such as 5, or words per minute such as 250wpm, above 0");
    }
    return tokensPerS;
  }

  /**
   * The total time that a reader of the answer waits for late tokens, in nanoseconds, rounded to
   * microseconds; with several choices the longest one. Tokens per event are those that the server
   * reports, otherwise N is divided evenly. Null for an answer that was not streamed, and without
   * event times.
   */
  public static @Nullable Long stallNanos(RequestRecord record, double tokensPerS) {
    int[] offsets = record.events().offsetsMicros();
    if (offsets.length == 0 || record.isOneBody()) {
      return null;
    }
    int[] reported = record.events().tokens();
    int[] choices = record.events().choices();
    double share = TokenGaps.share(offsets.length, record.tokens().streamedTokens());
    Map<Integer, Progress> readers = new HashMap<>();
    double microsPerToken = 1e6 / tokensPerS;
    double longest = 0;
    Progress reader = null;
    for (int i = 0; i < offsets.length; i++) {
      double tokens = reported.length == offsets.length ? reported[i] : share;
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

  /** When the reader of a choice wants the next token. */
  private static final class Progress {
    private double wantedMicros;

    private Progress(int first) {
      wantedMicros = first;
    }
  }
}
