package io.github.gatlingllm.workload;

import io.github.gatlingllm.random.SplitMix64;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The prompts of a run, by the position of the request that asks them: the same for the same seed.
 *
 * <pre>{@code
 * Prompts prompts = Prompts.of(PromptPool.builtIn(), 42)
 *     .tokens(new LengthDistribution.Fixed(256), Tokenizer.cl100k(), 1_000);
 * String prompt = prompts.pick(requestIndex).text();
 * }</pre>
 *
 * <p>Prompts of given lengths are all made in {@link #tokens}, before the load starts, by all
 * processors: tokenizing is too slow for an event loop, and during the load it would distort the
 * measurement. There are as many distinct ones as asked for; after these they come again in the
 * same order.
 *
 * <p>Immutable; all methods may be called from any thread.
 */
public final class Prompts {

  /** Distinct prompts of given lengths that are made unless fewer are needed. */
  public static final int MOST_MADE = 1_000;

  private static final long LENGTH_SALT = 0x6c656e677468736fL; // "lengthso"
  private static final long TEXT_SALT = 0x70616464696e6773L; // "paddings"

  private final Source source;
  private final long seed;
  private final PromptPrefix.Texts prefix;
  private final List<Prompt> made;
  private final @Nullable LengthDistribution lengths;

  private Prompts(
      Source source,
      long seed,
      PromptPrefix.Texts prefix,
      @Nullable LengthDistribution lengths,
      List<Prompt> made) {
    this.source = source;
    this.seed = seed;
    this.prefix = prefix;
    this.lengths = lengths;
    this.made = made;
  }

  /**
   * One prompt.
   *
   * @param text without a prefix
   * @param tokens of prefix and text, counted as a whole; null where they were not
   * @param wanted tokens that it should have; null where no length is given
   */
  public record Prompt(String text, @Nullable Integer tokens, @Nullable Integer wanted) {

    /** Whether it has the length that it should have. */
    public boolean exact() {
      return wanted == null || wanted.equals(tokens);
    }
  }

  /** A prompt that could not be given its length, and its position. */
  public record Miss(int index, int wanted, int tokens) {
    @Override
    public String toString() {
      return "#" + index + " has " + tokens + " of " + wanted + " tokens";
    }
  }

  /** Prompts as their source has them. */
  public static Prompts of(Source source, long seed) {
    return new Prompts(source, seed, request -> "", null, List.of());
  }

  /** The same with room for that prefix: lengths include it, {@link #whole} begins with it. */
  public Prompts prefix(PromptPrefix.Texts texts) {
    if (lengths != null) {
      throw new IllegalStateException("prompts got their lengths before their prefix");
    }
    return new Prompts(source, seed, texts, null, List.of());
  }

  /**
   * The same, each cut or continued to a length of that distribution. Takes about a millisecond per
   * 1,000 tokens and prompt.
   *
   * @param count how many distinct prompts, 1 or more
   */
  public Prompts tokens(LengthDistribution lengths, Tokenizer tokenizer, int count) {
    ExactLength exact = new ExactLength(tokenizer);
    List<Prompt> prompts =
        IntStream.range(0, count)
            .parallel()
            .mapToObj(index -> make(exact, lengths, index))
            .toList();
    return new Prompts(source, seed, prefix, lengths, prompts);
  }

  private Prompt make(ExactLength exact, LengthDistribution lengths, int index) {
    int wanted = lengths.draw(SplitMix64.at(seed, LENGTH_SALT, index), index);
    // A fixed text stays the same: it is always continued in the same way.
    SplittableRandom random = SplitMix64.at(seed, TEXT_SALT, source.fixed() ? 0 : index);
    ExactLength.Fitted fitted =
        exact.of(prefix.of(index), source.pick(seed, index), "", wanted, random);
    return new Prompt(fitted.text(), fitted.tokens(), wanted);
  }

  /** Where the texts come from. */
  public Source source() {
    return source;
  }

  /** How long they are; null where they are as their source has them. */
  public @Nullable LengthDistribution lengths() {
    return lengths;
  }

  /** The prompts of given lengths, in the order of the requests; empty where no length is given. */
  public List<Prompt> made() {
    return made;
  }

  /** The prompt of one request, without prefix. */
  public Prompt pick(long index) {
    return made.isEmpty()
        ? new Prompt(source.pick(seed, index), null, null)
        : made.get((int) (index % made.size()));
  }

  /** The text of one request, its prefix first. */
  public String whole(long index) {
    return prefix.of(index) + pick(index).text();
  }

  /** The made prompts that do not have their length. */
  public List<Miss> misses() {
    List<Miss> misses = new ArrayList<>();
    for (int i = 0; i < made.size(); i++) {
      Prompt prompt = made.get(i);
      if (!prompt.exact() && prompt.wanted() != null && prompt.tokens() != null) {
        misses.add(new Miss(i, prompt.wanted(), prompt.tokens()));
      }
    }
    return misses;
  }

  /**
   * Where the texts of prompts come from. Immutable; all methods may be called from any thread.
   *
   * @see PromptPool
   */
  public interface Source {

    /** Made-up English, {@code sentences} (≥ 1) in each prompt. */
    static Source synthetic(int sentences) {
      return new SyntheticText(sentences);
    }

    /** For people: {@code built-in}, a file name. */
    String origin();

    /**
     * The text of one prompt.
     *
     * @param seed the run's seed
     * @param index position of the prompt in the run, from 0
     */
    String pick(long seed, long index);

    /** Whether every prompt is the same text. */
    default boolean fixed() {
      return false;
    }
  }
}
