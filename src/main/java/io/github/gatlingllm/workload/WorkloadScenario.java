package io.github.gatlingllm.workload;

import io.github.gatlingllm.load.Seed;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** Six standard workloads that differ in what a server's prefix cache can reuse. */
public enum WorkloadScenario {
  A1("same short", 50, "every prompt is cached after the first: TTFT without prefill"),

  A2("same long", 2_500, "the best case of prefix caching: prefill is paid once, for the first"),

  B1("diverse short", 50, "next to nothing to cache: decoding and batching without prefill"),

  B2(
      "diverse long",
      2_500,
      "the worst case: every prompt is prefilled in full, caching cannot help"),

  /** A long system prompt for all requests, followed by different short queries. */
  C("RAG, agent", 30, "the shared prefix is cached, the query is not: what agents and RAG gain"),

  /** A conversation that sends its growing history with every turn. */
  D(
      "multi-turn dialog",
      50,
      "each turn extends the one before: a cache must store complete dialogs");

  public static final int SYSTEM_TOKENS = 2_000;

  public static final int TURNS = 5;

  /** Minimum number of tokens of a prompt after its text from the pool. */
  private static final int MIN_OF_ITS_OWN = 10;

  /** Characters of a recorded text that hold its tokens, whatever the language. */
  private static final int CHARS_PER_TOKEN = 16;

  private static final long SYSTEM_SALT = 0x73797374656d7072L; // "systempr"
  private static final long OWN_SALT = 0x7363656e6172696fL; // "scenario"
  private static final String RULES =
      "You are an assistant of a regional archive. Answer from the notes below, name the note"
          + " that you rely on, and say so when they do not tell. Notes:";

  private final String title;
  private final int tokens;
  private final String shows;

  WorkloadScenario(String title, int tokens, String shows) {
    this.title = title;
    this.tokens = tokens;
    this.shows = shows;
  }

  public String title() {
    return title;
  }

  public int tokens() {
    return tokens;
  }

  /** What its figures show of prefix caching, as part of a sentence. */
  public String shows() {
    return shows;
  }

  public boolean isDialog() {
    return this == D;
  }

  public boolean isSame() {
    return this == A1 || this == A2;
  }

  /** Prompts of the built-in pool that are short enough to differ after they get their length. */
  private Prompts.PromptSource source(long seed, Tokenizer tokenizer) {
    Prompts.PromptPool pool = Prompts.PromptPool.builtIn();
    List<String> shorter =
        pool.texts().stream()
            .filter(text -> tokenizer.count(text) + MIN_OF_ITS_OWN <= tokens)
            .toList();
    Prompts.PromptPool some =
        shorter.isEmpty() ? pool : new Prompts.PromptPool(pool.origin(), shorter);
    return isSame() ? Prompts.PromptPool.of(some.pick(seed, 0)) : some;
  }

  /** With texts of the dataset, if any; a dialog takes its turns as they are. */
  public Ready ready(Tokenizer tokenizer, long seed, int count, @Nullable Dataset dataset) {
    // A server must not have cached prompts of this scenario from another one.
    long own = Seed.at(seed, OWN_SALT, name().hashCode()).nextLong();
    Prompts.PromptSource source =
        dataset == null ? source(own, tokenizer) : dataset.texts(CHARS_PER_TOKEN * tokens);
    Prompts prompts = Prompts.of(source, own);
    if (dataset == null || !isDialog()) {
      prompts = prompts.tokens(LengthDistribution.exactly(tokens), tokenizer, isSame() ? 1 : count);
    }
    Prompts.DrawnPrompt system =
        this == C
            ? new ExactLength(tokenizer)
                .of("", RULES, "", SYSTEM_TOKENS, new SplittableRandom(seed ^ SYSTEM_SALT))
            : null;
    return new Ready(
        this,
        system == null ? null : system.text(),
        system == null ? 0 : system.tokens(),
        prompts,
        dataset);
  }

  public record Ready(
      WorkloadScenario scenario,
      @Nullable String system,
      int systemTokens,
      Prompts prompts,
      @Nullable Dataset dataset) {}
}
