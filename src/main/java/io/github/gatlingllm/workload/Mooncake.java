package io.github.gatlingllm.workload;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.client.Api.Message;
import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.workload.Conversation.Dialog;
import io.github.gatlingllm.workload.Prompts.PromptPool;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads requests of Mooncake's traces, {@code {"timestamp": 3052, "input_length": 2287,
 * "output_length": 316, "hash_ids": [0, 42, 43]}}, and generates texts of their lengths, where a
 * request does not have its prompt as {@code text_input} or {@code messages}. A hash id identifies
 * a block of 512 tokens together with all blocks before it; the same id is the same text, of common
 * words that are one token each, so that prefix caches reuse the recorded share.
 */
final class Mooncake implements DialogReader {

  /** Tokens of a block of Mooncake's traces. */
  static final int BLOCK = 512;

  /** Tokens of a prompt, of an answer or of a block: a text of this number is made in memory. */
  static final int MAX_LENGTH = LengthDistribution.MAX;

  private static final long SALT = 0x626c6f636b733131L; // "blocks11"
  private static final int FEWEST_WORDS = 16;

  private static final List<String> CANDIDATES =
      PromptPool.resource("words.txt").flatMap(row -> Stream.of(row.split(" "))).toList();

  private final Tokenizer tokenizer;
  private final List<String> words;
  private final boolean isAdditive;
  private final int sampleWords;
  private final int sampleTokens;

  Mooncake(Tokenizer tokenizer) {
    this.tokenizer = tokenizer;
    int two = tokenizer.count("the the");
    List<String> single =
        CANDIDATES.stream()
            .filter(word -> tokenizer.count("the " + word + " the") == two + 1)
            .toList();
    words = single.size() < FEWEST_WORDS ? CANDIDATES : single;
    long[] ids = {0, 1, 2, 3};
    sampleWords = ids.length * BLOCK - 7;
    sampleTokens = tokenizer.count(String.join(" ", words(ids, 0, sampleWords, BLOCK, 0)));
    isAdditive = sampleTokens == sampleWords;
  }

  @Override
  public Dialog dialog(JsonNode entry, long key) {
    Integer output = optional(entry, "output_length");
    Dialog given = DialogReader.prompt(entry, output);
    int tokens = given == null ? length(entry, "input_length") : 0;
    return given == null ? of(text(ids(entry), BLOCK, tokens, key), tokens, output) : given;
  }

  @Override
  public Dialog outline(JsonNode entry, long key) {
    long[] unused = ids(entry);
    if (entry.has("timestamp") && !entry.path("timestamp").isNumber()) {
      throw new IllegalArgumentException("expected \"timestamp\", a number");
    }
    Integer output = optional(entry, "output_length");
    if (output != null && output == 0) {
      throw new Unusable("no output tokens");
    }
    Dialog given = DialogReader.prompt(entry, output);
    int tokens = given == null ? length(entry, "input_length") : 1;
    if (tokens == 0) {
      throw new Unusable("no input tokens");
    }
    return given == null ? of("?", tokens, output) : given;
  }

  private static Dialog of(String text, int tokens, @Nullable Integer output) {
    return new Dialog(List.of(Message.user(text)), null, tokens, output);
  }

  static @Nullable Integer optional(JsonNode entry, String key) {
    return entry.hasNonNull(key) ? (Integer) length(entry, key) : null;
  }

  static int length(JsonNode entry, String key) {
    JsonNode value = entry.path(key);
    if (!value.isInt() || value.intValue() < 0 || value.intValue() > MAX_LENGTH) {
      throw new IllegalArgumentException(
          "expected \"%s\", an integer number of tokens, at most %s".formatted(key, MAX_LENGTH));
    }
    return value.intValue();
  }

  /** The hash ids of the blocks of a prompt: integers, or texts such as hexadecimal digits. */
  static long[] ids(JsonNode entry) {
    JsonNode ids = entry.path("hash_ids");
    boolean isList = ids.isMissingNode() || ids.isArray();
    long[] all = new long[ids.size()];
    for (int i = 0; i < all.length; i++) {
      JsonNode id = ids.path(i);
      isList &= id.isIntegralNumber() || id.isTextual();
      all[i] = id.isTextual() ? key(id.textValue()) : id.longValue();
    }
    if (!isList) {
      throw new IllegalArgumentException("expected \"hash_ids\", a list of integers or texts");
    }
    return all;
  }

  /** A number that stands for a text. */
  static long key(String text) {
    return text.chars().asLongStream().reduce(SALT, (key, c) -> Seed.mix(key * 31 + c));
  }

  /**
   * A text of this number of tokens; of about that many where the words of a server's tokenizer do
   * not add up and the load has begun. Equal ids in front of it are equal texts; without ids, or
   * after the last one, an equal key is.
   */
  String text(long[] ids, int block, int tokens, long key) {
    return text(ids, block, 0, tokens, key);
  }

  /** The part of that text from a number of tokens on, up to another one. */
  String text(long[] ids, int block, int from, int to, long key) {
    int wordsPerBlock = (int) (((long) block * sampleWords + sampleTokens - 1) / sampleTokens);
    int first = (int) ((long) from * wordsPerBlock / block);
    int end = (int) Math.max(first + 1, (long) to * wordsPerBlock / block);
    String[] all = words(ids, first, end, wordsPerBlock, key);
    String text = String.join(" ", all);
    if (isAdditive) {
      return text;
    }
    try {
      return new ExactLength(tokenizer)
          .of("", text, "", to - from, Seed.at(key, SALT, to - from))
          .text();
    } catch (Tokenizer.Uncounted inTheLoad) {
      return text; // a server counts before the load only: about that length, by the sample
    }
  }

  /** The ids of all blocks of such a text: of those after the last one, ids that stand for them. */
  long[] blocks(long[] ids, int block, int tokens, long key) {
    long[] all = Arrays.copyOf(ids, (tokens + block - 1) / block);
    for (int i = ids.length; i < all.length; i++) {
      all[i] = unnamed(key, i);
    }
    return all;
  }

  private static long unnamed(long key, int block) {
    return Seed.mix(key * 31 + block) ^ SALT;
  }

  private String[] words(long[] ids, int from, int to, int perBlock, long key) {
    String[] all = new String[to - from];
    for (int block = from / perBlock; block * perBlock < to; block++) {
      long id = block < ids.length ? ids[block] : unnamed(key, block);
      SplittableRandom random = new SplittableRandom(Seed.mix(id ^ SALT));
      for (int i = block * perBlock; i < Math.min((block + 1) * perBlock, to); i++) {
        String word = words.get(random.nextInt(words.size()));
        if (i >= from) {
          all[i - from] = word;
        }
      }
    }
    return all;
  }
}
