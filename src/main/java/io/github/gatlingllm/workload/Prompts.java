package io.github.gatlingllm.workload;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.client.GenerationRequest;
import io.github.gatlingllm.load.DataFile;
import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.record.PrintableText;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The prompts of a run by the index of their request; the same for the same seed. Prompts of given
 * lengths are created in {@link #tokens}, before the load: tokenizing would disturb the
 * measurement.
 *
 * @param made the created prompts in the order of requests; empty without a distribution of lengths
 */
public record Prompts(
    PromptSource source,
    long seed,
    PromptPrefix.Texts prefix,
    @Nullable LengthDistribution lengths,
    List<DrawnPrompt> made) {

  /** Default number of distinct prompts of given lengths. */
  public static final int MAX_MADE = 1_000;

  private static final long LENGTH_SALT = 0x6c656e677468736fL; // "lengthso"
  private static final long TEXT_SALT = 0x70616464696e6773L; // "paddings"

  /**
   * A prompt.
   *
   * @param tokens null where they are not counted
   * @param required tokens that it should have; null for any number
   */
  public record DrawnPrompt(String text, @Nullable Integer tokens, @Nullable Integer required) {}

  public static Prompts of(PromptSource source, long seed) {
    return new Prompts(source, seed, request -> "", null, List.of());
  }

  /** The same with a prefix: lengths include it, and {@link #complete} begins with it. */
  public Prompts prefix(PromptPrefix.Texts texts) {
    return new Prompts(source, seed, texts, null, List.of());
  }

  /** The same, each cut or extended to a length of that distribution. */
  public Prompts tokens(LengthDistribution lengths, Tokenizer tokenizer, int count) {
    return tokens(lengths, tokenizer, count, 0);
  }

  /** The same, each shorter by the tokens that a server adds with its chat template. */
  public Prompts tokens(LengthDistribution lengths, Tokenizer tokenizer, int count, int template) {
    Tokenizer words = tokenizer.byWords();
    words.prepare(
        Stream.concat(
                IntStream.range(0, count).mapToObj(i -> source.pick(seed, i)).distinct(),
                SyntheticText.vocabulary())
            .toList());
    Progress progress = new Progress(count, System::nanoTime);
    List<DrawnPrompt> prompts =
        IntStream.range(0, count)
            .parallel()
            .mapToObj(index -> progress.one(() -> make(words, lengths, template, index)))
            .toList();
    if (words != tokenizer && !areCounted(prompts, tokenizer)) {
      List<DrawnPrompt> first = prompts;
      prompts =
          IntStream.range(0, count)
              .parallel()
              .mapToObj(
                  i ->
                      isCounted(first, i, tokenizer)
                          ? first.get(i)
                          : make(tokenizer, lengths, template, i))
              .toList();
    }
    prompts.forEach(prompt -> GenerationRequest.cacheEscaped(prompt.text()));
    return new Prompts(source, seed, prefix, lengths, prompts);
  }

  /**
   * Whether words add up to texts: what extends a text has few words, so one text of each tells.
   */
  private boolean areCounted(List<DrawnPrompt> prompts, Tokenizer tokenizer) {
    Set<String> seen = new HashSet<>();
    int[] firstIndexes =
        IntStream.range(0, prompts.size()).filter(i -> seen.add(source.pick(seed, i))).toArray();
    tokenizer.prepare(IntStream.of(firstIndexes).mapToObj(i -> complete(prompts, i)).toList());
    return IntStream.of(firstIndexes).parallel().allMatch(i -> isCounted(prompts, i, tokenizer));
  }

  private boolean isCounted(List<DrawnPrompt> prompts, int index, Tokenizer tokenizer) {
    return tokenizer.count(complete(prompts, index)) == prompts.get(index).tokens();
  }

  private String complete(List<DrawnPrompt> prompts, int index) {
    return prefix.of(index) + prompts.get(index).text();
  }

  /** Prints after 3 s how far the prompts are, as a slow tokenizer needs minutes. */
  private record Progress(
      int all,
      LongSupplier nanoClock,
      long startNanos,
      AtomicInteger done,
      AtomicBoolean isPrinted) {

    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(3);

    Progress(int all, LongSupplier nanoClock) {
      this(all, nanoClock, nanoClock.getAsLong(), new AtomicInteger(), new AtomicBoolean());
    }

    <T> T one(Supplier<T> made) {
      T one = made.get();
      int have = done.incrementAndGet();
      long nanos = nanoClock.getAsLong() - startNanos;
      if (nanos >= QUIET_NANOS && have < all && isPrinted.compareAndSet(false, true)) {
        PrintableText.print(
            "LLM: making prompts: %s of %s, about %s s more"
                .formatted(
                    have, all, 1 + nanos * (all - have) / have / TimeUnit.SECONDS.toNanos(1)));
      }
      return one;
    }
  }

  private DrawnPrompt make(
      Tokenizer tokenizer, LengthDistribution lengths, int template, int index) {
    int drawn = lengths.draw(Seed.at(seed, LENGTH_SALT, index), index);
    int required = Math.max(1, drawn - template);
    // A fixed text is always extended in the same way.
    SplittableRandom random = Seed.at(seed, TEXT_SALT, source.isFixed() ? 0 : index);
    return new ExactLength(tokenizer)
        .of(prefix.of(index), source.pick(seed, index), "", required, random);
  }

  /** The prompt of a request, without prefix. */
  public DrawnPrompt pick(long index) {
    return made.isEmpty()
        ? new DrawnPrompt(source.pick(seed, index), null, null)
        : made.get((int) (index % made.size()));
  }

  /** Whether the source has lengths of answers. */
  public boolean hasOutputs() {
    return source instanceof PromptPool pool && !pool.outputs().isEmpty();
  }

  /** Length of the answer that the source has for the prompt of a request; null if it has none. */
  public @Nullable Integer outputTokens(long index) {
    return source.outputTokens(seed, made.isEmpty() ? index : index % made.size());
  }

  public String complete(long index) {
    return prefix.of(index) + pick(index).text();
  }

  /** In words those that could not get their exact length; usually none. */
  public List<String> misses() {
    return IntStream.range(0, made.size())
        .filter(i -> !Objects.equals(made.get(i).required(), made.get(i).tokens()))
        .mapToObj(
            i ->
                "#%s has %s of %s tokens"
                    .formatted(i, made.get(i).tokens(), made.get(i).required()))
        .toList();
  }

  /** A source of prompt texts. Immutable and thread-safe. */
  public interface PromptSource {

    /** Synthetic English, four sentences per prompt. */
    static PromptSource synthetic() {
      return new SyntheticText();
    }

    /** Its origin for people: {@code built-in} or a file name. */
    String origin();

    /** The text of one prompt by the run's seed and its index in the run, from 0. */
    String pick(long seed, long index);

    /** Length of the answer to {@link #pick the same prompt} in tokens; null if it has none. */
    default @Nullable Integer outputTokens(long seed, long index) {
      return null;
    }

    default boolean isFixed() {
      return false;
    }
  }

  /**
   * A pool of prompts from which each request draws one by seed and index.
   *
   * @param outputs lengths of answers by the index of their prompt
   */
  public record PromptPool(String origin, List<String> texts, Map<Integer, Integer> outputs)
      implements Prompts.PromptSource {

    /** Makes prompt draws independent of arrival times, which use the same seed. */
    private static final long SALT = 0x70726f6d70747331L; // "prompts1"

    /** Names of the length of an answer, ours and those of other tools. */
    private static final List<String> OUTPUTS =
        List.of("output_tokens", "output_length", "output_tokens_count", "max_tokens");

    private static final String WANTED = "expected a text, or an object with a \"prompt\" text";

    public PromptPool {
      texts = List.copyOf(texts);
      outputs = Map.copyOf(outputs);
      if (texts.isEmpty()) {
        throw new IllegalArgumentException(origin + " contains no prompt; expected at least one");
      }
    }

    PromptPool(String origin, List<String> texts) {
      this(origin, texts, Map.of());
    }

    /** 100 short prompts of mixed kind, in 12 languages, written for this project. */
    public static PromptPool builtIn() {
      return new PromptPool("built-in", resource("prompts.txt").toList());
    }

    /** The lines of a file of this package that are not comments. */
    static Stream<String> resource(String name) {
      try (InputStream in = PromptPool.class.getResourceAsStream(name)) {
        if (in == null) {
          throw new IllegalStateException(name + " is missing from the gatling-llm jar");
        }
        String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        return text.lines().filter(line -> !line.startsWith("#"));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /**
     * Reads a file, whose extension determines the format.
     *
     * <pre>
     * .json .jsonl .ndjson  strings, or objects with a "prompt": an array, or one value after the other
     * .csv                  RFC 4180: a column named prompt, or a single column without header
     * anything else         a prompt per line; empty lines are skipped
     * </pre>
     *
     * A field or column {@code output_tokens} is the length of the answer to its prompt.
     */
    public static PromptPool read(String location) {
      DataFile file = DataFile.of(location);
      List<String> prompts = new ArrayList<>();
      Map<Integer, Integer> outputs = new HashMap<>();
      if (file.isNamedJson()) {
        file.held()
            .entries(
                "prompts",
                (entry, start, length) -> {
                  prompts.add(requireText(text(entry)));
                  OUTPUTS.stream()
                      .map(name -> DialogReader.length(entry, name))
                      .filter(Objects::nonNull)
                      .findFirst()
                      .ifPresent(tokens -> outputs.put(prompts.size() - 1, tokens));
                });
      } else if (file.isCsv()) {
        file.held().cells("prompt", true, cells -> add(prompts, outputs, cells));
      } else {
        prompts.addAll(file.lines());
      }
      return new PromptPool(file.name(), prompts, outputs);
    }

    private static String text(JsonNode entry) {
      JsonNode prompt = entry.isObject() ? entry.path("prompt") : entry;
      if (!prompt.isTextual()) {
        throw new IllegalArgumentException(WANTED);
      }
      return prompt.textValue();
    }

    private static String requireText(String prompt) {
      if (prompt.isBlank()) {
        throw new IllegalArgumentException("the prompt is empty; " + WANTED);
      }
      return prompt;
    }

    private static void add(
        List<String> prompts, Map<Integer, Integer> outputs, Map<String, String> cells) {
      prompts.add(requireText(cells.getOrDefault("prompt", "")));
      String tokens = cells.getOrDefault(OUTPUTS.get(0), "").strip();
      if (tokens.matches("0*[1-9]\\d{0,8}")) {
        outputs.put(prompts.size() - 1, Integer.valueOf(tokens));
      } else if (!tokens.isEmpty()) {
        throw new IllegalArgumentException(
            OUTPUTS.get(0) + " is " + DataFile.clipped(tokens) + "; expected 1 or more");
      }
    }

    public static PromptPool of(String prompt) {
      return new PromptPool("fixed text", List.of(prompt));
    }

    /** The prompt of one request: uniform over the pool, with replacement. */
    @Override
    public String pick(long seed, long index) {
      return texts.get(draw(seed, index));
    }

    private int draw(long seed, long index) {
      return Seed.at(seed, SALT, index).nextInt(texts.size());
    }

    @Override
    public @Nullable Integer outputTokens(long seed, long index) {
      return outputs.isEmpty() ? null : outputs.get(draw(seed, index));
    }

    @Override
    public boolean isFixed() {
      return texts.size() == 1;
    }

    public IntSummaryStatistics chars() {
      return texts.stream().mapToInt(String::length).summaryStatistics();
    }
  }
}
