package io.github.gatlingllm.workload;

import io.github.gatlingllm.load.Seed;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * A text before every prompt, which controls the hits of a server's prefix cache. It ends with an
 * empty line, where tokenizers split, so that token counts add up.
 */
public interface PromptPrefix {

  /** No prefix: the server may reuse its cache of earlier prompts. */
  PromptPrefix NONE =
      new PromptPrefix() {
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
      };

  /** Number of prefixes that {@link #sizes} counts. */
  int SIZED = 64;

  /** Creates the texts; too slow for an event loop. */
  Texts texts(Tokenizer tokenizer);

  PromptPrefix seed(long seed);

  /** Token counts of the prefixes of the first requests. */
  static IntSummaryStatistics sizes(Texts texts, Tokenizer tokenizer) {
    return IntStream.range(0, SIZED)
        .map(request -> tokenizer.count(texts.of(request)))
        .summaryStatistics();
  }

  /** The prefixes of requests. Thread-safe, and fast enough for event loops. */
  interface Texts {

    /** The prefix of a request; empty for none. */
    String of(long request);

    /** The prefix of a turn of a conversation, which may have to equal that of earlier turns. */
    default String inConversation(long request, long conversation) {
      return of(request);
    }

    /** The prefix of all requests of the replay of a session with that number. */
    default String inReplay(long replay, long conversation) {
      return inConversation(replay, conversation);
    }
  }

  /**
   * A nonce for every request, 18 digits and an empty line, unique within a run: a permutation of
   * 59-bit numbers by the seed and the number of the run, as a server may have the prompts of an
   * earlier run with this seed in its cache. Two seeds share one with a probability of 2^−59. Most
   * tokenizers give every nonce the same count: 7 tokens by {@code cl100k_base}, 5 by {@code
   * chars4}.
   */
  record Unique(long seed) implements PromptPrefix {
    private static final long NONCES = 1L << 59;
    private static final int DIGITS = 18;

    @Override
    public Texts texts(Tokenizer tokenizer) {
      long ofRun = seed ^ Seed.ofRun();
      return request -> {
        String digits = Long.toString(Seed.permuted(ofRun, NONCES, request));
        return "0".repeat(DIGITS - digits.length()) + digits + "\n\n";
      };
    }

    @Override
    public PromptPrefix seed(long other) {
      return new Unique(other);
    }

    @Override
    public String toString() {
      return "a nonce begins every prompt";
    }
  }

  /** Synthetic texts of one length, each shared by a group of prompts. */
  record Shared(int groups, int tokens, long seed) implements PromptPrefix {
    private static final long TEXT_SALT = 0x7072656669786573L; // "prefixes"
    private static final long GROUP_SALT = 0x67726f7570736f66L; // "groupsof"
    private static final int MIN_TOKENS = 2;
    private static final int LONG_TOKEN = 8;

    public Shared {
      if (groups < 1 || tokens < MIN_TOKENS || tokens > LengthDistribution.MAX) {
        throw new IllegalArgumentException(
            "%s shared prefixes of %s tokens; expected 1 or more, each of %s to %s tokens"
                .formatted(groups, tokens, MIN_TOKENS, LengthDistribution.MAX));
      }
    }

    @Override
    public Texts texts(Tokenizer tokenizer) {
      List<String> texts =
          IntStream.range(0, groups).mapToObj(group -> text(tokenizer, group)).toList();
      return new Texts() {
        @Override
        public String of(long request) {
          return texts.get(Seed.at(seed, GROUP_SALT, request).nextInt(groups));
        }

        @Override
        public String inConversation(long request, long conversation) {
          return of(conversation);
        }
      };
    }

    private String text(Tokenizer tokenizer, int group) {
      SplittableRandom random = Seed.at(seed, TEXT_SALT, group);
      String text = new ExactLength(tokenizer).of("", "", ExactLength.BREAK, tokens, random).text();
      // The prompt's first character must not merge with the last token of the prefix.
      for (int more = 0; more < LONG_TOKEN; more++) {
        String prefix = text + ".".repeat(more) + ExactLength.BREAK;
        if (tokenizer.count(prefix) == tokens && tokenizer.count(prefix + "A") == tokens + 1) {
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
      return "one of " + groups + " texts of " + tokens + " tokens begins every prompt";
    }
  }
}
