package io.github.gatlingllm.workload;

import io.github.gatlingllm.load.SplitMix64;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * Generates texts of an exact number of tokens from blocks of 512, the same block for the same id,
 * so that prefix caches reuse as much as of the recorded prompts.
 *
 * <p>A block is common words of three letters: in byte pair vocabularies each is one token with the
 * blank before it, so counts add up. With other tokenizers texts are counted, and cut or padded at
 * their end. Thread-safe.
 */
final class BlockText {

  /** Tokens of a block of Mooncake's traces. */
  static final int BLOCK = 512;

  private static final long SALT = 0x626c6f636b733131L; // "blocks11"
  private static final int FEWEST_WORDS = 16;
  private static final int ROUNDS = 8;

  private static final String[] CANDIDATES =
      ("the and for are but not you all any can had her was one our out day get has him his how man"
              + " new now old see two way who boy did its let put say she too use big box car cut"
              + " end far few got hot job key law lay led leg lot low map may men met mix net off"
              + " oil own pay per red run sea set sit six son sun ten top try war why win yes yet"
              + " add age ago air arm art ask bad bar bed bit buy cup dog eat eye fit fly fun gas"
              + " gun hit ice kid lie lip mom pop raw sad sky tax tea tie toy van wet")
          .split(" ");

  private final Tokenizer tokenizer;
  private final List<String> words;
  private final boolean additive;
  private final int wordsPerBlock;

  BlockText(Tokenizer tokenizer) {
    this.tokenizer = tokenizer;
    int two = tokenizer.count("the the");
    List<String> single =
        Stream.of(CANDIDATES)
            .filter(word -> tokenizer.count("the " + word + " the") == two + 1)
            .toList();
    words = single.size() < FEWEST_WORDS ? List.of(CANDIDATES) : single;
    long[] ids = {0, 1, 2, 3};
    int sample = ids.length * BLOCK - 7;
    int tokens = tokenizer.count(joined(words(ids, sample, BLOCK, 0)));
    additive = tokens == sample;
    wordsPerBlock = (BLOCK * sample + tokens - 1) / tokens;
  }

  String of(long[] ids, int tokens, long key) {
    int count = (int) Math.max(1, (long) tokens * wordsPerBlock / BLOCK);
    String[] all = words(ids, count, wordsPerBlock, key);
    return additive ? joined(all) : fitted(all, tokens);
  }

  private String[] words(long[] ids, int count, int perBlock, long key) {
    String[] all = new String[count];
    for (int from = 0; from < count; from += perBlock) {
      int block = from / perBlock;
      long seed = block < ids.length ? ids[block] ^ SALT : SplitMix64.mix(key * 31 + block);
      SplittableRandom random = new SplittableRandom(SplitMix64.mix(seed));
      for (int i = from; i < Math.min(from + perBlock, count); i++) {
        all[i] = words.get(random.nextInt(words.size()));
      }
    }
    return all;
  }

  /** The text with the token count nearest to {@code tokens}, cut or padded at its end. */
  private String fitted(String[] all, int tokens) {
    String[] fitting = all;
    String closest = joined(all);
    String longer = null;
    int least = Integer.MAX_VALUE;
    for (int round = 0; round < ROUNDS && least > 0; round++) {
      String text = joined(fitting);
      int missing = tokens - tokenizer.count(text);
      if (Math.abs(missing) < least) {
        least = Math.abs(missing);
        closest = text;
      }
      longer = missing < 0 ? text : longer;
      int before = fitting.length;
      fitting = Arrays.copyOf(fitting, Math.max(1, before + step(missing, before, tokens)));
      for (int i = before; i < fitting.length; i++) {
        fitting[i] = words.get(0);
      }
    }
    if (least > 0 && longer != null) {
      String cut = tokenizer.head(longer, tokens);
      return Math.abs(tokenizer.count(cut) - tokens) < least ? cut : closest;
    }
    return closest;
  }

  /** Number of words to add or remove, at the text's rate of words per token, at least one. */
  private static int step(int missing, int words, int tokens) {
    int had = Math.max(1, tokens - missing);
    int step = (int) ((long) missing * words / had);
    return step == 0 ? Integer.signum(missing) : step;
  }

  private static String joined(String[] words) {
    return String.join(" ", words);
  }
}
