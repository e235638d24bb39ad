package io.github.gatlingllm.workload;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Recorded dialogs in a file of a published form, and the seeded draw of one per user.
 *
 * <pre>{@code
 * Dataset dataset = Dataset.open(Dataset.Format.SHAREGPT, "sharegpt.json", Tokenizer.cl100k());
 * Dialog dialog = dataset.dialog(42, userIndex); // the same for the same seed and index, always
 * }</pre>
 *
 * <p>Opening it reads the whole file once, and refuses it at the first entry that is damaged or of
 * another form: nothing is left out because it cannot be read. Entries that are well-formed, and
 * with which nothing can be asked, are left out, counted, and named in {@link #summary}. After that
 * only the places of the entries are in memory, 16 bytes each; a dialog is read from the file when
 * it is drawn. The file must not change meanwhile.
 *
 * <p>Safe for use by several threads. Reading blocks: not for an event loop.
 */
public final class Dataset {

  private final String name;
  private final Format format;
  private final DialogReader reader;
  private final JsonEntries entries;
  private final DialogIndex index;
  private final Tokenizer tokenizer;

  private Dataset(
      String name,
      Format format,
      DialogReader reader,
      JsonEntries entries,
      DialogIndex index,
      Tokenizer tokenizer) {
    this.name = name;
    this.format = format;
    this.reader = reader;
    this.entries = entries;
    this.index = index;
    this.tokenizer = tokenizer;
  }

  /**
   * Opens a file.
   *
   * @param location a path, or a resource of the class path; unpacked where it ends in {@code .gz}
   * @param tokenizer counts recorded answers, and makes up texts of recorded lengths
   * @throws IllegalArgumentException in one line, with file and line, if it cannot be read, holds
   *     something else, or no dialog
   */
  public static Dataset open(Format format, String location, Tokenizer tokenizer) {
    Path file = DataFile.of(location);
    String name = location.substring(location.lastIndexOf('/') + 1);
    try {
      JsonEntries entries = JsonEntries.open(name, file);
      DialogReader reader = format.reader(tokenizer);
      DialogIndex index = new DialogIndex();
      entries.visitAll(file, (entry, start, length) -> reader.visit(entry, start, length, index));
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

  private static void end(
      String name, DialogReader reader, JsonEntries entries, DialogIndex index) {
    try {
      reader.end(entries, index);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(name + ": " + e.getMessage(), e);
    }
  }

  /** The file's name. */
  public String name() {
    return name;
  }

  public Format format() {
    return format;
  }

  /** How many dialogs there are, ≥ 1. */
  public int size() {
    return index.size();
  }

  /** Whether the file's order means something, as a trace's does. */
  public boolean isInOrder() {
    return reader.isInOrder();
  }

  /**
   * The dialog at that place of the file.
   *
   * @param position 0 to {@link #size} − 1
   */
  public Dialog get(int position) {
    List<JsonNode> parts = new ArrayList<>();
    for (int entry = index.first(position); entry < index.end(position); entry++) {
      parts.add(entries.read(index.start(entry), index.length(entry)));
    }
    return reader.dialog(parts, index.start(index.first(position)));
  }

  /**
   * The dialog of one user: all dialogs in a seeded order, each once; then all again in another
   * one.
   *
   * @param seed the run's seed
   * @param userIndex from 0
   */
  public Dialog dialog(long seed, long userIndex) {
    return get(new Permutation(size(), seed).at(userIndex));
  }

  /** The dialog of one user in the order of the file, from its beginning again after its end. */
  public Dialog inOrder(long userIndex) {
    return get((int) (userIndex % size()));
  }

  /**
   * Tokens that were generated when a dialog's last message was asked: as recorded, else the
   * recorded answer's by the tokenizer; null where there is neither.
   */
  public @Nullable Integer outputTokens(Dialog dialog) {
    if (dialog.outputTokens() != null) {
      return dialog.outputTokens();
    }
    String answer = dialog.answer();
    return answer == null ? null : (Integer) tokenizer.count(answer);
  }

  /** One line for people: how many dialogs, how long, what was left out and why. */
  public String summary() {
    return index.summary();
  }

  @Override
  public String toString() {
    return name + " (" + format.key() + "): " + summary();
  }

  /**
   * Published forms of datasets. All of them may be a JSON array or JSON lines, and be packed with
   * gzip ({@code .gz}).
   */
  public enum Format {

    /**
     * Dialogs as <a
     * href="https://huggingface.co/datasets/anon8231489123/ShareGPT_Vicuna_unfiltered">ShareGPT</a>
     * has them: {@code {"conversations": [{"from": "human", "value": "…"}, {"from": "gpt", …}]}}.
     */
    SHAREGPT,

    /**
     * Message trees of <a href="https://huggingface.co/datasets/OpenAssistant/oasst2">OpenAssistant
     * </a>, nested ({@code .trees.jsonl.gz}) or flat ({@code .messages.jsonl.gz}). Each tree gives
     * one dialog: from the first prompt on always the reply that people ranked best, to a leaf.
     */
    OASST,

    /**
     * Multiple-choice questions on long texts, as <a
     * href="https://huggingface.co/datasets/THUDM/LongBench-v2">LongBench v2</a> has them.
     */
    LONGBENCH,

    /**
     * Traces of <a href="https://github.com/kvcache-ai/Mooncake">Mooncake</a>: lengths, arrivals,
     * and which blocks of 512 tokens prompts have in common. Their texts are made up.
     */
    MOONCAKE,

    /**
     * Chats in OpenAI's form: lines with {@code messages}, or of its batch API with these in {@code
     * body}.
     */
    OPENAI;

    /** As it is named in settings, e.g. {@code sharegpt}. */
    public String key() {
      return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The format of that name.
     *
     * @throws IllegalArgumentException in one line, if there is none
     */
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
        case SHAREGPT -> DialogReader.of(DialogFormats::shareGpt);
        case OASST -> new OpenAssistant();
        case LONGBENCH -> DialogReader.of(DialogFormats::longBench);
        case MOONCAKE -> new Mooncake(tokenizer);
        case OPENAI -> DialogReader.of(DialogFormats::openAiChat);
      };
    }
  }
}
