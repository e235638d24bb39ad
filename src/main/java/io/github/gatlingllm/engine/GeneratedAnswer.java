package io.github.gatlingllm.engine;

import io.github.gatlingllm.engine.CompletionRequest.AnswerShape;
import io.github.gatlingllm.load.Seed;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

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

  /**
   * Common English words. With the space before it, each is four characters and one token of
   * cl100k_base, so tokenizers and the rule "chars4" count what the engine reports, and an answer
   * has the same number of tokens in the prompt of the next turn.
   */
  static final List<String> WORDS =
      words(
          """
          the and for was not his her had you one all can has out who now him how did its our two way
          may any new old see get got own say she too use day man men boy let put end why try ask big
          few far run set add act age ago air arm art bag bar bed bet bit bow box bus buy car cat cow
          cry cup cut dog dry due ear eat egg eye fit fix fly fun gas hat hit hot ice job joy key kid
          law lay led leg lie log lot low map mix net nor off oil pay pen per pet pop raw red rid row
          sad sat sea sit six sky son sum sun tax tea ten tie tip top toy van via war web win won
          yes yet bay bid cap dad dam dig dot era fan fee gap hip hub inn ion jam jet lab mom odd pan
          pin pit pot ray rib rod rub rug ski tag tap tin ton zip aim aid bee cab fig fin fog fox hay
          hen hop ink jar lap lid mat met nap owl peg pie ram ran sub tan vet fed hid ate but are
          """);

  static final List<String> OPENINGS =
      words(
          """
          This That They Then When What With Here Some Most From Each Just Only Once Well Many Also
          Over Both
          """);

  private static final List<String> JSON_TOKENS =
      Arrays.asList(AnswerShape.JSON.split("(?<=\\G.{" + Prompt.CHARS_PER_TOKEN + "})", -1));

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
    List<String> pieces = pieces(request.shape());
    int complete = reasoning + (pieces.isEmpty() ? length(seed) : pieces.size());
    int limit =
        request.maxTokens() == null
            ? maxOutputTokens
            : Math.min(maxOutputTokens, request.maxTokens());
    int ownLength =
        request.ignoreEos() ? Integer.MAX_VALUE : Math.max(request.minTokens(), complete);
    boolean toolCall = request.shape().tool() != null;
    String finishReason = ownLength > limit ? "length" : toolCall ? "tool_calls" : "stop";
    return new GeneratedAnswer(
        seed, reasoning, Math.min(limit, ownLength), finishReason, toolCall, pieces);
  }

  /** The answer to a text to embed: one token without text, for one prefill. */
  static GeneratedAnswer ofEmbedding() {
    return new GeneratedAnswer(0, 0, 1, "stop", false, List.of(""));
  }

  private static List<String> pieces(AnswerShape shape) {
    List<String> pieces = new ArrayList<>();
    if (shape.tool() != null) {
      pieces.add(shape.tool());
    }
    if (shape.isJson()) {
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

  private static List<String> words(String text) {
    return List.of(text.strip().split("\\s+"));
  }

  private static String drawn(List<String> words, long hash) {
    return words.get((int) Long.remainderUnsigned(hash, words.size()));
  }

  private static int length(long seed) {
    double tokens = MEDIAN_TOKENS * Math.exp(SIGMA * new Random(seed).nextGaussian());
    return (int) Math.max(1, Math.round(tokens));
  }
}
