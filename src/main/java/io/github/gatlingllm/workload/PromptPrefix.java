package io.github.gatlingllm.workload;

import io.github.gatlingllm.random.SplitMix64;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * What is put before the very first character of every prompt, so that a server's prefix cache hits
 * exactly where it is meant to. Immutable.
 *
 * <p>Every prefix ends with an empty line, so that tokenizers that break there count it and the
 * prompt apart: their sum is the count of both in one.
 */
public sealed interface PromptPrefix {

  /** Nothing: what the server has cached of earlier prompts, it may use. */
  PromptPrefix NONE = new None();

  /** Number of prefixes that are counted to see whether all have the same size. */
  int SIZED = 64;

  /** The texts, ready to be used; too slow for an event loop. */
  Texts texts(Tokenizer tokenizer);

  /** The same, drawn from another seed. */
  PromptPrefix seed(long seed);

  /**
   * Tokens of the prefixes of the first requests. Where the least and the most differ, the
   * tokenizer does not give every prefix the same count, and the totals of prompts differ too.
   */
  static IntSummaryStatistics sizes(Texts texts, Tokenizer tokenizer) {
    return IntStream.range(0, SIZED)
        .map(request -> tokenizer.count(texts.of(request)))
        .summaryStatistics();
  }

  /** The prefixes of requests. May be used by any thread, event loops too. */
  interface Texts {

    /** The prefix of a request; empty for none. */
    String of(long request);

    /**
     * The prefix of a request that is a turn of a conversation, where it may have to be that of the
     * turns before.
     */
    default String inConversation(long request, long conversation) {
      return of(request);
    }
  }

  /** Nothing. */
  record None() implements PromptPrefix {
    @Override
    public Texts texts(Tokenizer tokenizer) {
      return request -> "";
    }

    @Override
    public PromptPrefix seed(long seed) {
      return this;
    }

    @Override
    public String toString() {
      return "none";
    }
  }

  /**
   * A nonce, another one for every request, which makes a prompt unlike any other: 18 digits and an
   * empty line.
   *
   * <pre>
   * 042198377512904418\n\n
   * </pre>
   *
   * <p>Within one seed no two requests share a nonce: it is a permutation of 59-bit numbers. Under
   * two seeds they do with a chance of one in 2^59. The first three digits, one token of most
   * vocabularies, take 577 values. Tokenizers that keep digits and line breaks apart from letters
   * count every nonce alike: 7 tokens by {@code cl100k_base}, 5 by {@code chars4}.
   */
  record Unique(long seed) implements PromptPrefix {
    private static final long MASK = (1L << 59) - 1;

    @Override
    public Texts texts(Tokenizer tokenizer) {
      long first = spread(seed);
      return request -> String.format(Locale.ROOT, "%018d\n\n", permuted((request + first) & MASK));
    }

    /** Each step can be undone within 59 bits, and so no two numbers become one. */
    private static long permuted(long number) {
      long x = number;
      x ^= x >>> 30;
      x = (x * 0xbf58476d1ce4e5b9L) & MASK;
      x ^= x >>> 27;
      x = (x * 0x94d049bb133111ebL) & MASK;
      return x ^ (x >>> 31);
    }

    /** Neighbouring seeds must not begin at neighbouring numbers. */
    private static long spread(long seed) {
      long x = seed * SplitMix64.GOLDEN_GAMMA;
      x = (x ^ (x >>> 32)) * 0xd6e8feb86659fd93L;
      return x ^ (x >>> 32);
    }

    @Override
    public PromptPrefix seed(long other) {
      return new Unique(other);
    }

    @Override
    public String toString() {
      return "a nonce of its own first in every prompt";
    }
  }

  /**
   * Made-up texts of a length, each the beginning of the prompts of its group.
   *
   * @param groups how many texts there are, 1 or more
   * @param tokens how long each is, 2 or more, its empty line included
   */
  record Shared(int groups, int tokens, long seed) implements PromptPrefix {
    private static final long TEXT_SALT = 0x7072656669786573L; // "prefixes"
    private static final long GROUP_SALT = 0x67726f7570736f66L; // "groupsof"
    private static final int LEAST_TOKENS = 2;
    private static final int LONG_TOKEN = 8;

    public Shared {
      if (groups < 1 || tokens < LEAST_TOKENS || tokens > LengthDistribution.MOST) {
        throw new IllegalArgumentException(
            "%s shared prefixes of %s tokens; expected 1 or more, each of %s to %s tokens"
                .formatted(groups, tokens, LEAST_TOKENS, LengthDistribution.MOST));
      }
    }

    @Override
    public Texts texts(Tokenizer tokenizer) {
      ExactLength exact = new ExactLength(tokenizer);
      List<String> texts =
          IntStream.range(0, groups).mapToObj(group -> text(exact, group)).toList();
      return new Texts() {
        @Override
        public String of(long request) {
          return texts.get(SplitMix64.at(seed, GROUP_SALT, request).nextInt(groups));
        }

        @Override
        public String inConversation(long request, long conversation) {
          return of(conversation);
        }
      };
    }

    private String text(ExactLength exact, int group) {
      SplittableRandom random = SplitMix64.at(seed, TEXT_SALT, group);
      String text = exact.of("", "", ExactLength.BREAK, tokens, random).text();
      // Its last token must be full, else the prompt's first character would be part of it.
      for (int more = 0; more < LONG_TOKEN; more++) {
        String prefix = text + ".".repeat(more) + ExactLength.BREAK;
        if (exact.count(prefix) == tokens && exact.count(prefix + "A") == tokens + 1) {
          return prefix;
        }
      }
      return text + ExactLength.BREAK;
    }

    @Override
    public PromptPrefix seed(long other) {
      return new Shared(groups, tokens, other);
    }

    @Override
    public String toString() {
      return "one of " + groups + " texts of " + tokens + " tokens first in every prompt";
    }
  }
}
