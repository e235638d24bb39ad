package io.github.gatlingllm.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * What the engine will say to one request: fixed by the engine's seed, the prompt and the request's
 * own {@code seed}, as with temperature 0. The same question gets the same answer.
 *
 * <p>Where no {@code max_tokens} ends it first, an answer ends by itself after a log-normal number
 * of tokens (median 120, σ 0.6), unless {@code ignore_eos} forbids that.
 */
final class Answer {
  private static final double MEDIAN_TOKENS = 120;
  private static final double SIGMA = 0.6;
  private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;

  private final long seed;
  private final int tokens;
  private final String finishReason;
  private final List<String> stopped;

  private Answer(long seed, int tokens, String finishReason, List<String> stopped) {
    this.seed = seed;
    this.tokens = tokens;
    this.finishReason = finishReason;
    this.stopped = stopped;
  }

  /**
   * The answer to a request.
   *
   * @param room most tokens that fit into the context behind the prompt; ≥ 1
   */
  static Answer to(CompletionRequest request, long engineSeed, int room) {
    long requestSeed = request.seed() == null ? 0 : request.seed();
    long seed = mix(mix(engineSeed) ^ request.prompt().hash() ^ mix(requestSeed * GOLDEN_GAMMA));
    int limit = request.maxTokens() == null ? room : Math.min(room, request.maxTokens());
    int own = request.ignoreEos() ? Integer.MAX_VALUE : Math.max(request.minTokens(), length(seed));
    Answer answer =
        new Answer(seed, Math.min(limit, own), own <= limit ? "stop" : "length", List.of());
    return request.stop().isEmpty() ? answer : answer.until(request.stop(), request.minTokens());
  }

  /** Cut before the first stop string that is complete after {@code minTokens} tokens. */
  private Answer until(List<String> stops, int minTokens) {
    StringBuilder text = new StringBuilder();
    List<Integer> ends = new ArrayList<>();
    for (int token = 0; token < tokens; token++) {
      int start = text.length();
      ends.add(text.append(text(token)).length());
      int cut = token < minTokens ? -1 : firstOf(stops, text, start);
      if (cut >= 0) {
        List<String> pieces = new ArrayList<>();
        int from = 0;
        for (int end : ends) {
          pieces.add(text.substring(Math.min(from, cut), Math.min(end, cut)));
          from = end;
        }
        return new Answer(seed, pieces.size(), "stop", pieces);
      }
    }
    return this;
  }

  /** Where the first stop string begins that ends behind {@code start}; -1 where none does. */
  private static int firstOf(List<String> stops, StringBuilder text, int start) {
    return stops.stream()
        .mapToInt(stop -> text.indexOf(stop, Math.max(0, start - stop.length() + 1)))
        .filter(found -> found >= 0)
        .min()
        .orElse(-1);
  }

  /** How many tokens; ≥ 1. */
  int tokens() {
    return tokens;
  }

  /** {@code length} or {@code stop}. */
  String finishReason() {
    return finishReason;
  }

  /**
   * Text of one token: a word, with a space before it unless it is the first; ASCII. Empty where a
   * stop string took it.
   */
  String text(int token) {
    if (!stopped.isEmpty()) {
      return stopped.get(token);
    }
    String word = Vocabulary.word(mix(seed + (token + 1) * GOLDEN_GAMMA));
    return token == 0 ? word : " " + word;
  }

  private static int length(long seed) {
    double tokens = MEDIAN_TOKENS * Math.exp(SIGMA * new Random(seed).nextGaussian());
    return (int) Math.max(1, Math.round(tokens));
  }

  /** SplitMix64's finalizer: neighbouring seeds share nothing. */
  static long mix(long value) {
    long z = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
