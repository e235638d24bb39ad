package io.github.gatlingllm.workload;

import io.github.gatlingllm.load.SplitMix64;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The prompts of a run by the index of their request; the same for the same seed.
 *
 * <p>Prompts of given lengths are created in {@link #tokens}, before the load and on all
 * processors: tokenizing would disturb the measurement. They repeat in the same order. Thread-safe.
 */
public final class Prompts {

  /** Default number of distinct prompts of given lengths. */
  public static final int MAX_MADE = 1_000;

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

  public record Prompt(String text, @Nullable Integer tokens, @Nullable Integer wanted) {

    public boolean exact() {
      return wanted == null || wanted.equals(tokens);
    }
  }

  public record Miss(int index, int wanted, int tokens) {
    @Override
    public String toString() {
      return "#" + index + " has " + tokens + " of " + wanted + " tokens";
    }
  }

  public static Prompts of(Source source, long seed) {
    return new Prompts(source, seed, request -> "", null, List.of());
  }

  /** The same with a prefix: lengths include it, and {@link #whole} begins with it. */
  public Prompts prefix(PromptPrefix.Texts texts) {
    if (lengths != null) {
      throw new IllegalStateException("prompts got their lengths before their prefix");
    }
    return new Prompts(source, seed, texts, null, List.of());
  }

  /** The same, each cut or extended to a length of that distribution. */
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
    // A fixed text is always extended in the same way.
    SplittableRandom random = SplitMix64.at(seed, TEXT_SALT, source.fixed() ? 0 : index);
    ExactLength.Fitted fitted =
        exact.of(prefix.of(index), source.pick(seed, index), "", wanted, random);
    return new Prompt(fitted.text(), fitted.tokens(), wanted);
  }

  public Source source() {
    return source;
  }

  public @Nullable LengthDistribution lengths() {
    return lengths;
  }

  /** The created prompts in the order of requests; empty without a distribution of lengths. */
  public List<Prompt> made() {
    return made;
  }

  /** The prompt of a request, without prefix. */
  public Prompt pick(long index) {
    return made.isEmpty()
        ? new Prompt(source.pick(seed, index), null, null)
        : made.get((int) (index % made.size()));
  }

  public String whole(long index) {
    return prefix.of(index) + pick(index).text();
  }

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

  /** A source of prompt texts. Immutable and thread-safe. */
  public interface Source {

    /** Synthetic English, {@code sentences} (≥ 1) per prompt. */
    static Source synthetic(int sentences) {
      return new SyntheticText(sentences);
    }

    /** Its origin for people: {@code built-in} or a file name. */
    String origin();

    /** The text of one prompt by the run's seed and its index in the run, from 0. */
    String pick(long seed, long index);

    default boolean fixed() {
      return false;
    }
  }
}
