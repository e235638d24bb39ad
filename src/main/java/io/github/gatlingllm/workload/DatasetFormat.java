package io.github.gatlingllm.workload;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Published forms of datasets. All of them may be a JSON array or JSON lines, and be packed with
 * gzip ({@code .gz}).
 */
public enum DatasetFormat {

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
   * Traces of <a href="https://github.com/kvcache-ai/Mooncake">Mooncake</a>: lengths, arrivals, and
   * which blocks of 512 tokens prompts have in common. Their texts are made up.
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
  public static DatasetFormat ofKey(String key) {
    return Arrays.stream(values())
        .filter(format -> format.key().equals(key.toLowerCase(Locale.ROOT)))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "'"
                        + key
                        + "' is no dataset format; expected one of "
                        + Arrays.stream(values())
                            .map(DatasetFormat::key)
                            .collect(Collectors.joining(", "))));
  }

  DialogReader reader(Tokenizer tokenizer) {
    return switch (this) {
      case SHAREGPT -> new ShareGpt();
      case OASST -> new OpenAssistant();
      case LONGBENCH -> new LongBench();
      case MOONCAKE -> new Mooncake(tokenizer);
      case OPENAI -> new OpenAiChat();
    };
  }
}
