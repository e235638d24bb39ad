package io.github.gatlingllm.workload;

import io.github.gatlingllm.load.SplitMix64;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.IntSummaryStatistics;
import java.util.List;

/**
 * A pool of prompts from which each request draws one by seed and index.
 *
 * <pre>{@code
 * PromptPool pool = PromptPool.builtIn();
 * String prompt = pool.pick(42, requestIndex); // the same for the same seed and index, always
 * }</pre>
 *
 * <p>Immutable.
 */
public record PromptPool(String origin, List<String> texts) implements Prompts.Source {

  /** Makes prompt draws independent of arrival times, which use the same seed. */
  private static final long SALT = 0x70726f6d70747331L; // "prompts1"

  public PromptPool {
    texts = List.copyOf(texts);
    if (texts.isEmpty()) {
      throw new IllegalArgumentException(origin + " holds no prompt; expected at least one");
    }
  }

  /**
   * 100 short prompts of mixed kind and language, written for this project: explanation, code,
   * creative, science, reasoning, planning, and 11 languages beside English.
   */
  public static PromptPool builtIn() {
    try (InputStream in = PromptPool.class.getResourceAsStream("prompts.txt")) {
      if (in == null) {
        throw new IllegalStateException("prompts.txt is missing from the gatling-llm jar");
      }
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return new PromptPool(
          "built-in", text.lines().filter(line -> !line.startsWith("#")).toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The prompts of a UTF-8 file: {@code .json} (array), {@code .jsonl}, {@code .csv} (a column
   * {@code prompt}), anything else a prompt per line.
   */
  public static PromptPool read(Path file) {
    return PromptFile.read(file);
  }

  public static PromptPool of(String prompt) {
    return new PromptPool("fixed text", List.of(prompt));
  }

  /** The prompt of one request: uniform over the pool, with replacement. */
  @Override
  public String pick(long seed, long index) {
    return texts.get(SplitMix64.at(seed, SALT, index).nextInt(texts.size()));
  }

  @Override
  public boolean fixed() {
    return texts.size() == 1;
  }

  /** Lengths of the prompts in characters (UTF-16 units). */
  public IntSummaryStatistics chars() {
    return texts.stream().mapToInt(String::length).summaryStatistics();
  }
}
