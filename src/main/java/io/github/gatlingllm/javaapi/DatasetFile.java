package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.github.gatlingllm.workload.Dataset;
import io.github.gatlingllm.workload.Tokenizer;

/** A file of recorded dialogs and its format; see {@link LlmDsl#dataset}. */
public final class DatasetFile {

  private final Dataset.Format format;
  private final String file;
  private final Tokenizer tokenizer;

  private DatasetFile(Dataset.Format format, String file, Tokenizer tokenizer) {
    this.format = format;
    this.file = file;
    this.tokenizer = tokenizer;
  }

  static DatasetFile of(Dataset.Format format, String file) {
    return new DatasetFile(format, file, Tokenizer.cl100k());
  }

  /** The tokenizer that counts recorded answers; {@code cl100k_base} by default. */
  public DatasetFile tokenizer(Tokenizer tokenizer) {
    return new DatasetFile(format, file, tokenizer);
  }

  Dataset open() {
    return checked("dataset", format + " " + file, () -> Dataset.open(format, file, tokenizer));
  }
}
