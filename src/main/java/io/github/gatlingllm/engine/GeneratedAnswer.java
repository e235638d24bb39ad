package io.github.gatlingllm.engine;

import io.github.gatlingllm.load.Seed;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/**
 * The tokens of one answer. They depend on the engine's seed, the prompt and the {@code seed} of
 * the request only, as with temperature 0: the same request gets the same answer. Each of several
 * choices differs.
 *
 * <p>An answer of free text has a log-normal number of tokens (median 120, σ 0.6), unless {@code
 * max_tokens} is lower or {@code ignore_eos} is set. JSON ends where it is complete; {@code
 * ignore_eos} and {@code min_tokens} append spaces, so that it has the requested length and stays
 * valid. Reasoning tokens come first, in addition to that length.
 */
record GeneratedAnswer(
    long seed,
    int reasoning,
    int tokens,
    String finishReason,
    boolean toolCall,
    List<String> pieces) {
  private static final double MEDIAN_TOKENS = 120;
  private static final double SIGMA = 0.6;
  private static final String SPACES = " ".repeat(Prompt.CHARS_PER_TOKEN);

  static final List<String> WORDS = words(3);
  static final List<String> OPENINGS = words(4);

  private static final List<String> JSON_TOKENS =
      Arrays.asList(CompletionRequest.JSON.split("(?<=\\G.{" + Prompt.CHARS_PER_TOKEN + "})", -1));

  enum TokenType {
    REASONING,
    TEXT,
    TOOL_NAME,
    ARGUMENTS
  }

  /** The answer to a request; {@code maxOutputTokens} fit into the context behind the prompt. */
  static GeneratedAnswer to(
      CompletionRequest request, long engineSeed, int reasoning, int maxOutputTokens, int choice) {
    long requestSeed = (request.seed() == null ? 0 : request.seed()) + ((long) choice << 32);
    long seed =
        Seed.mix(
            Seed.mix(engineSeed)
                ^ request.prompt().hash()
                ^ Seed.mix(requestSeed * Seed.GOLDEN_GAMMA));
    List<String> pieces = pieces(request);
    int complete = reasoning + (pieces.isEmpty() ? length(seed) : pieces.size());
    int limit =
        request.maxTokens() == null
            ? maxOutputTokens
            : Math.min(maxOutputTokens, request.maxTokens());
    int ownLength =
        request.ignoreEos() ? Integer.MAX_VALUE : Math.max(request.minTokens(), complete);
    boolean toolCall = request.tool() != null;
    String finishReason = ownLength > limit ? "length" : toolCall ? "tool_calls" : "stop";
    return new GeneratedAnswer(
        seed, reasoning, Math.min(limit, ownLength), finishReason, toolCall, pieces);
  }

  private static List<String> pieces(CompletionRequest request) {
    List<String> pieces = new ArrayList<>();
    if (request.tool() != null) {
      pieces.add(request.tool());
    }
    if (request.isJson()) {
      pieces.addAll(JSON_TOKENS);
    }
    return pieces;
  }

  int reasoning(int tokens) {
    return Math.min(reasoning, tokens);
  }

  TokenType type(int token) {
    if (token < reasoning) {
      return TokenType.REASONING;
    }
    return !toolCall
        ? TokenType.TEXT
        : token == reasoning ? TokenType.TOOL_NAME : TokenType.ARGUMENTS;
  }

  String text(int token) {
    if (token >= reasoning && !pieces.isEmpty()) {
      int piece = token - reasoning;
      return piece < pieces.size() ? pieces.get(piece) : SPACES;
    }
    long draw = Seed.mix(seed + (token + 1) * Seed.GOLDEN_GAMMA);
    return token == 0 || token == reasoning ? drawn(OPENINGS, draw) : " " + drawn(WORDS, draw);
  }

  private static List<String> words(int letters) {
    return ApiAnswer.rows("words.txt")
        .flatMap(row -> Stream.of(row.split(" ")))
        .filter(word -> word.length() == letters)
        .toList();
  }

  private static String drawn(List<String> words, long hash) {
    return words.get((int) Long.remainderUnsigned(hash, words.size()));
  }

  private static int length(long seed) {
    double tokens = MEDIAN_TOKENS * Math.exp(SIGMA * new Random(seed).nextGaussian());
    return (int) Math.max(1, Math.round(tokens));
  }
}
