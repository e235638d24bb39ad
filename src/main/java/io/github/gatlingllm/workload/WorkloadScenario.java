package io.github.gatlingllm.workload;

import io.github.gatlingllm.random.SplitMix64;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Six standard workloads that differ in how much of a prompt a server's prefix cache can reuse.
 * Sizes are tokens of the text, by the tokenizer; a chat template adds its own.
 */
public enum WorkloadScenario {
  /** The same short prompt, every time. */
  A1("same short", 50, "every prompt is cached after the first: TTFT without prefill"),

  /** The same long prompt, every time. */
  A2("same long", 2_500, "the best case of prefix caching: prefill is paid once, for the first"),

  /** Short prompts that differ. */
  B1("diverse short", 50, "next to nothing to cache: decoding and batching without prefill"),

  /** Long prompts that differ. */
  B2(
      "diverse long",
      2_500,
      "the worst case: every prompt is prefilled in full, caching cannot help"),

  /** A long system prompt shared by all, and a short query of its own. */
  C("RAG, agent", 30, "the shared prefix is cached, the query is not: what agents and RAG gain"),

  /** A conversation that sends its growing history with every turn. */
  D("multi-turn dialog", 50, "each turn extends the one before: a cache must keep whole dialogs");

  /** Tokens of the system prompt that all requests of {@link #C} share. */
  public static final int SYSTEM_TOKENS = 2_000;

  /** Turns of a dialog of {@link #D} unless another number is asked for. */
  public static final int TURNS = 5;

  /** Least number of tokens that a prompt has for itself after the shared beginning. */
  private static final int LEAST_OF_ITS_OWN = 10;

  private static final long SYSTEM_SALT = 0x73797374656d7072L; // "systempr"
  private static final long OWN_SALT = 0x7363656e6172696fL; // "scenario"
  private static final String RULES =
      "You are an assistant of a regional archive. Answer from the notes below, name the note that"
          + " you rely on, and say so when they do not tell. Notes:";

  private final String title;
  private final int tokens;
  private final String shows;

  WorkloadScenario(String title, int tokens, String shows) {
    this.title = title;
    this.tokens = tokens;
    this.shows = shows;
  }

  /** The scenario of that name; null when there is none. */
  public static @Nullable WorkloadScenario of(String name) {
    return Arrays.stream(values())
        .filter(scenario -> scenario.name().equalsIgnoreCase(name.strip()))
        .findFirst()
        .orElse(null);
  }

  /** What it is, in a few words. */
  public String title() {
    return title;
  }

  /** Tokens of what the user asks, of each turn in a dialog. */
  public int tokens() {
    return tokens;
  }

  /** What its figures tell of prefix caching, half a sentence. */
  public String shows() {
    return shows;
  }

  /** Whether each request sends what was said before. */
  public boolean dialog() {
    return this == D;
  }

  /** Whether all requests are one. */
  public boolean same() {
    return this == A1 || this == A2;
  }

  /**
   * Where its texts come from: tasks of the built-in pool, continued to their length. Those that
   * are not short enough to be continued are left out, for cut ones are the same whenever they
   * come.
   */
  private Prompts.Source source(long seed, Tokenizer tokenizer) {
    PromptPool pool = PromptPool.builtIn();
    List<String> shorter =
        pool.texts().stream()
            .filter(text -> tokenizer.count(text) + LEAST_OF_ITS_OWN <= tokens)
            .toList();
    PromptPool some = shorter.isEmpty() ? pool : new PromptPool(pool.origin(), shorter);
    return same() ? PromptPool.of(some.pick(seed, 0)) : some;
  }

  /**
   * Its prompts, made now.
   *
   * @param count how many distinct ones, 1 or more; those that are all the same are made once
   */
  public Ready ready(Tokenizer tokenizer, long seed, int count) {
    // Prompts of one scenario must not be cached because another scenario sent them before.
    long own = SplitMix64.at(seed, OWN_SALT, name().hashCode()).nextLong();
    Prompts prompts =
        Prompts.of(source(own, tokenizer), own)
            .tokens(new LengthDistribution.Fixed(tokens), tokenizer, same() ? 1 : count);
    ExactLength.Fitted system =
        this == C
            ? new ExactLength(tokenizer)
                .of("", RULES, "", SYSTEM_TOKENS, new SplittableRandom(seed ^ SYSTEM_SALT))
            : null;
    return new Ready(
        this, system == null ? null : system.text(), system == null ? 0 : system.tokens(), prompts);
  }

  /**
   * A scenario whose prompts are made.
   *
   * @param system the system prompt; null for none
   * @param systemTokens its length, 0 where there is none
   * @param prompts what users ask, one per request
   */
  public record Ready(
      WorkloadScenario scenario, @Nullable String system, int systemTokens, Prompts prompts) {

    /** Lengths that could not be met, for people; empty in the ordinary case. */
    public List<Prompts.Miss> misses() {
      return prompts.misses();
    }
  }
}
