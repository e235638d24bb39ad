package io.github.gatlingllm.workload;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.load.SplitMix64;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A file of recorded dialogs in a published format, of which each user draws one by seed and index.
 *
 * <p>Opening reads the file once and fails at the first damaged entry; entries without a question
 * are left out, see {@link #summary}. Then only positions are in memory, 16 bytes each: the file
 * must not change. Thread-safe. Reading blocks: not for an event loop.
 */
public final class Dataset {

  private final String name;
  private final Format format;
  private final DialogReader reader;
  private final JsonEntries entries;
  private final Index index;
  private final Tokenizer tokenizer;

  private Dataset(
      String name,
      Format format,
      DialogReader reader,
      JsonEntries entries,
      Index index,
      Tokenizer tokenizer) {
    this.name = name;
    this.format = format;
    this.reader = reader;
    this.entries = entries;
    this.index = index;
    this.tokenizer = tokenizer;
  }

  public static Dataset open(Format format, String location, Tokenizer tokenizer) {
    Path file = DataFile.of(location);
    String name = location.substring(location.lastIndexOf('/') + 1);
    try {
      JsonEntries entries = JsonEntries.open(name, file);
      DialogReader reader = format.reader(tokenizer);
      Index index = new Index();
      JsonEntries.visitAll(
          name, file, (entry, start, length) -> reader.visit(entry, start, length, index));
      end(name, reader, entries, index);
      if (index.size() == 0) {
        throw new IllegalArgumentException(
            name + " holds no dialog that can be asked (" + index.summary() + ")");
      }
      return new Dataset(name, format, reader, entries, index, tokenizer);
    } catch (IOException e) {
      throw new IllegalArgumentException(
          name + " cannot be read (" + e.getMessage() + "); expected a readable file", e);
    }
  }

  private static void end(String name, DialogReader reader, JsonEntries entries, Index index) {
    try {
      reader.end(entries, index);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(name + ": " + e.getMessage(), e);
    }
  }

  public String name() {
    return name;
  }

  public Format format() {
    return format;
  }

  public int size() {
    return index.size();
  }

  /** Whether the order of the file matters, as in a trace. */
  public boolean isInOrder() {
    return reader.isInOrder();
  }

  public Dialog get(int position) {
    List<JsonNode> parts = new ArrayList<>();
    for (int entry = index.first(position); entry < index.end(position); entry++) {
      parts.add(entries.read(index.start(entry), index.length(entry)));
    }
    return reader.dialog(parts, index.start(index.first(position)));
  }

  /** All dialogs once in a random order by the seed, then all again in another one. */
  public Dialog dialog(long seed, long userIndex) {
    return get(new Permutation(size(), seed).at(userIndex));
  }

  public Dialog inOrder(long userIndex) {
    return get((int) (userIndex % size()));
  }

  /** Recorded tokens of the answer to the last message, else counted; null without an answer. */
  public @Nullable Integer outputTokens(Dialog dialog) {
    if (dialog.outputTokens() != null) {
      return dialog.outputTokens();
    }
    String answer = dialog.answer();
    return answer == null ? null : (Integer) tokenizer.count(answer);
  }

  /** One line for people: number and lengths of dialogs, and what was left out and why. */
  public String summary() {
    return index.summary();
  }

  @Override
  public String toString() {
    return name + " (" + format.key() + "): " + summary();
  }

  /** Published formats: a JSON array or JSON lines, optionally compressed ({@code .gz}). */
  public enum Format {

    /**
     * Dialogs of <a
     * href="https://huggingface.co/datasets/anon8231489123/ShareGPT_Vicuna_unfiltered">ShareGPT</a>:
     * {@code {"conversations": [{"from": "human", "value": "…"}, {"from": "gpt", …}]}}.
     */
    SHAREGPT,

    /** Message trees, nested or flat: https://huggingface.co/datasets/OpenAssistant/oasst2. */
    OASST,

    /** Questions on long texts: https://huggingface.co/datasets/THUDM/LongBench-v2. */
    LONGBENCH,

    /** Traces with lengths and shared blocks: https://github.com/kvcache-ai/Mooncake. */
    MOONCAKE,

    /** Chats in OpenAI's format: objects with {@code messages}, alone or in {@code body}. */
    OPENAI;

    public String key() {
      return name().toLowerCase(Locale.ROOT);
    }

    public static Format ofKey(String key) {
      return Arrays.stream(values())
          .filter(format -> format.key().equals(key.toLowerCase(Locale.ROOT)))
          .findFirst()
          .orElseThrow(
              () ->
                  new IllegalArgumentException(
                      "'%s' is no dataset format; expected one of %s"
                          .formatted(
                              key,
                              Arrays.stream(values())
                                  .map(Format::key)
                                  .collect(Collectors.joining(", ")))));
    }

    DialogReader reader(Tokenizer tokenizer) {
      return switch (this) {
        case SHAREGPT -> DialogReader.of(DialogReader::shareGpt);
        case OASST -> new OpenAssistant();
        case LONGBENCH -> DialogReader.of(DialogReader::longBench);
        case MOONCAKE -> new Mooncake(tokenizer);
        case OPENAI -> DialogReader.of(DialogReader::openAiChat);
      };
    }
  }

  /**
   * The numbers 0 to n − 1 in a random order without memory, another one in every pass: a balanced
   * Feistel network (Luby and Rackoff, 1988) with cycle walking (Black and Rogaway, 2002).
   */
  static final class Permutation {

    private static final int ROUNDS = 8;

    /** Makes these draws independent of others with the same seed. */
    private static final long SALT = 0x6469616c6f677331L; // "dialogs1"

    private final int size;
    private final int halfBits;
    private final long seed;

    Permutation(int size, long seed) {
      this.size = size;
      this.seed = seed ^ SALT;
      int bits = Math.max(2, Integer.SIZE - Integer.numberOfLeadingZeros(size - 1));
      halfBits = (bits + 1) / 2;
    }

    int at(long index) {
      long key = SplitMix64.mix(seed + (index / size) * SplitMix64.GOLDEN_GAMMA);
      long value = index % size;
      do {
        value = encrypt(value, key);
      } while (value >= size);
      return (int) value;
    }

    private long encrypt(long value, long key) {
      long mask = (1L << halfBits) - 1;
      long left = value >>> halfBits;
      long right = value & mask;
      for (int round = 1; round <= ROUNDS; round++) {
        long next = left ^ (SplitMix64.mix(key + round * SplitMix64.GOLDEN_GAMMA + right) & mask);
        left = right;
        right = next;
      }
      return left << halfBits | right;
    }
  }

  /** Positions and statistics of dialogs, 16 bytes each and 12 for every further entry. */
  static final class Index {

    private long[] starts = new long[256];
    private int[] lengths = new int[256];
    private int[] ends = new int[256];
    private int entries;
    private int dialogs;

    private long seen;
    private final Map<String, Integer> leftOut = new LinkedHashMap<>();
    private int beginWithAnswer;
    private final LongSummaryStatistics turns = new LongSummaryStatistics();
    private final LongSummaryStatistics chars = new LongSummaryStatistics();
    private final LongSummaryStatistics inputTokens = new LongSummaryStatistics();
    private final LongSummaryStatistics outputTokens = new LongSummaryStatistics();

    /** Adds a dialog of one entry, or counts the reason why it is unusable. */
    void add(Supplier<Dialog> dialog, long start, int length) {
      add(dialog, new long[] {start}, new int[] {length});
    }

    void add(Supplier<Dialog> dialog, long[] from, int[] bytes) {
      seen++;
      try {
        survey(dialog.get());
      } catch (DialogReader.Unusable e) {
        leftOut.merge(String.valueOf(e.getMessage()), 1, Integer::sum);
        return;
      }
      for (int i = 0; i < from.length; i++) {
        if (entries == starts.length) {
          starts = Arrays.copyOf(starts, 2 * entries);
          lengths = Arrays.copyOf(lengths, 2 * entries);
        }
        starts[entries] = from[i];
        lengths[entries++] = bytes[i];
      }
      if (dialogs == ends.length) {
        ends = Arrays.copyOf(ends, 2 * dialogs);
      }
      ends[dialogs++] = entries;
    }

    private void survey(Dialog dialog) {
      List<Dialog.Turn> all = dialog.turns();
      if (all.isEmpty()) {
        throw new DialogReader.Unusable("no user message");
      }
      if (dialog.text().isBlank() && dialog.asked().stream().allMatch(m -> m.parts() == null)) {
        throw new DialogReader.Unusable("no text");
      }
      turns.accept(all.size());
      if (dialog.inputTokens() == null) {
        chars.accept(dialog.text().length());
      } else {
        inputTokens.accept(dialog.inputTokens());
      }
      if (dialog.outputTokens() != null) {
        outputTokens.accept(dialog.outputTokens());
      }
      if (dialog.beginsWithAnswer()) {
        beginWithAnswer++;
      }
    }

    int size() {
      return dialogs;
    }

    int first(int dialog) {
      return dialog == 0 ? 0 : ends[dialog - 1];
    }

    int end(int dialog) {
      return ends[dialog];
    }

    long start(int entry) {
      return starts[entry];
    }

    int length(int entry) {
      return lengths[entry];
    }

    /** One line for people: number and lengths of dialogs, and what was left out and why. */
    String summary() {
      StringBuilder line = new StringBuilder();
      line.append(dialogs).append(dialogs == 1 ? " dialog" : " dialogs");
      range(line, ", ", turns, "turn");
      range(line, "; prompts of ", chars, "character");
      range(line, "; prompts of ", inputTokens, "token");
      range(line, "; answers of ", outputTokens, "token");
      if (beginWithAnswer > 0) {
        line.append("; ")
            .append(beginWithAnswer)
            .append(" begin with an answer, which is not sent");
      }
      leftOut.forEach(
          (reason, count) -> line.append("; left out %s of %s: %s".formatted(count, seen, reason)));
      return line.toString();
    }

    private static void range(
        StringBuilder line, String before, LongSummaryStatistics lengths, String unit) {
      if (lengths.getCount() == 0) {
        return;
      }
      line.append(before).append(lengths.getMin());
      if (lengths.getMax() > lengths.getMin()) {
        line.append(" to ").append(lengths.getMax());
      }
      line.append(' ').append(unit).append(lengths.getMax() == 1 ? "" : "s");
      if (lengths.getMax() > lengths.getMin()) {
        String form = lengths.getAverage() < 10 ? " (mean %.1f)" : " (mean %.0f)";
        line.append(String.format(Locale.ROOT, form, lengths.getAverage()));
      }
    }
  }
}
