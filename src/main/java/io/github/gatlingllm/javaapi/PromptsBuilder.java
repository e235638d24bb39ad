package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.github.gatlingllm.action.Dynamic.Draft;
import io.github.gatlingllm.action.InvalidSimulation;
import io.github.gatlingllm.action.LlmProtocol;
import io.github.gatlingllm.load.Arrival.DrawOrder;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.record.PrintableText;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.LengthDistribution.Draw;
import io.github.gatlingllm.workload.LengthDistribution.Pairs;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.Prompts;
import io.github.gatlingllm.workload.Prompts.PromptPool;
import io.github.gatlingllm.workload.Tokenizer;
import java.util.HashMap;
import java.util.IntSummaryStatistics;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A feeder of prompts; see {@link LlmDsl#prompts}. Each {@code feed} gives the user the next prompt
 * as the session attribute {@code prompt}, its length as {@code promptTokens} if a length is set,
 * and that of its output as {@code outputTokens} if {@link #tokens(LengthsBuilder) pairs} are set.
 *
 * <p>The same seed gives the same prompts in the same order. Prompts of given lengths are generated
 * before the load starts: {@value io.github.gatlingllm.workload.Prompts#MAX_MADE} distinct ones
 * unless {@link #distinct} is set, which then repeat. A console line states how many of them could
 * not get their exact length.
 */
public final class PromptsBuilder implements Supplier<Iterator<Map<String, Object>>> {

  static final PromptsBuilder START = new PromptsBuilder(new PromptsDraft());

  private static final AtomicBoolean ESTIMATED = new AtomicBoolean();

  private final PromptsDraft parts;

  private PromptsBuilder(PromptsDraft parts) {
    this.parts = parts;
  }

  private static final class PromptsDraft extends Draft<PromptsDraft> {
    private Prompts.PromptSource source = PromptPool.builtIn();
    private @Nullable LengthDistribution lengths;

    /** Instead of {@link #lengths}, with those of outputs. */
    private @Nullable Pairs pairs;

    private @Nullable Tokenizer tokenizer;
    private int template;
    private int distinct = Prompts.MAX_MADE;
    private @Nullable Long seed;
    private PromptPrefix prefix = PromptPrefix.NONE;
  }

  /** The 100 short prompts that gatling-llm includes: the default. */
  public PromptsBuilder builtIn() {
    return from(PromptPool.builtIn());
  }

  /** The same text every time. */
  public PromptsBuilder text(String prompt) {
    return from(PromptPool.of(prompt));
  }

  /**
   * The prompts of a UTF-8 file: {@code .json} (array), {@code .jsonl}, {@code .csv} (a column
   * {@code prompt}), any other file with a prompt per line.
   */
  public PromptsBuilder file(String path) {
    return from(checked("prompts().file", '"' + path + '"', () -> PromptPool.read(path)));
  }

  /** Generated sentences: as many as the length needs, or four if no length is set. */
  public PromptsBuilder synthetic() {
    return from(Prompts.PromptSource.synthetic());
  }

  /**
   * Gives each prompt exactly this number of tokens, 1 or more, a prefix included; {@code
   * cl100k_base} counts them, with a warning, unless another tokenizer is given.
   */
  public PromptsBuilder tokens(int tokens) {
    return tokens(checked(() -> LengthDistribution.exactly(tokens)));
  }

  public PromptsBuilder tokens(int tokens, Tokenizer tokenizer) {
    return tokens(checked(() -> LengthDistribution.exactly(tokens)), tokenizer);
  }

  /** Draws the lengths, e.g. {@link LlmDsl#normalTokens}. */
  public PromptsBuilder tokens(LengthDistribution lengths) {
    return sized(lengths, null, null);
  }

  public PromptsBuilder tokens(LengthDistribution lengths, Tokenizer tokenizer) {
    return sized(lengths, null, tokenizer);
  }

  private PromptsBuilder sized(
      @Nullable LengthDistribution lengths, @Nullable Pairs pairs, @Nullable Tokenizer tokenizer) {
    return with(
        draft -> {
          draft.lengths = lengths;
          draft.pairs = pairs;
          draft.tokenizer = tokenizer;
        });
  }

  /**
   * Draws pairs of lengths, of the prompt and of its output: {@code tokens(lengths().pair(256,
   * 128))} and {@code maxTokens("#{outputTokens}")}.
   */
  public PromptsBuilder tokens(LengthsBuilder pairs) {
    return sized(null, pairs.pairs(), null);
  }

  public PromptsBuilder tokens(LengthsBuilder pairs, Tokenizer tokenizer) {
    return sized(null, pairs.pairs(), tokenizer);
  }

  /**
   * Makes the length that of the request as the server counts it: each prompt is shorter by the
   * tokens that the server's chat template adds; 0 or more.
   */
  public PromptsBuilder template(int tokens) {
    int template = InvalidSimulation.requireMin(0, "template", tokens, "token");
    return with(draft -> draft.template = template);
  }

  /**
   * How many distinct prompts of given lengths are generated before the load starts, 1 or more;
   * 1,000 by default.
   */
  public PromptsBuilder distinct(int prompts) {
    int count = InvalidSimulation.requireMin(1, "distinct", prompts, "prompt");
    return with(draft -> draft.distinct = count);
  }

  /** Pins the prompts and their order. By default the seed is random. */
  public PromptsBuilder seed(long seed) {
    return with(
        draft -> {
          draft.seed = seed;
          draft.prefix = draft.prefix.seed(seed);
        });
  }

  /** Begins every prompt with another nonce, as {@link LlmProtocolBuilder#uniquePrompts}. */
  public PromptsBuilder unique() {
    return with(draft -> draft.prefix = new PromptPrefix.Unique(seedOrRandom()));
  }

  /**
   * Begins every prompt with one of several generated texts, as {@link
   * LlmProtocolBuilder#sharedPrefix}.
   */
  public PromptsBuilder sharedPrefix(int groups, int tokens) {
    return with(draft -> draft.prefix = Seeds.sharedPrefix(groups, tokens, seedOrRandom()));
  }

  private PromptsBuilder from(Prompts.PromptSource source) {
    return with(draft -> draft.source = source);
  }

  private PromptsBuilder with(Consumer<PromptsDraft> change) {
    return new PromptsBuilder(parts.with(change));
  }

  private long seedOrRandom() {
    return parts.seed == null ? Seeds.random() : parts.seed;
  }

  @Override
  public Iterator<Map<String, Object>> get() {
    boolean isSized = parts.lengths != null || parts.pairs != null;
    Tokenizer counts = isSized ? orEstimate(parts.tokenizer) : Tokenizer.cl100k();
    long seed = seedOrRandom();
    LengthDistribution lengths =
        parts.pairs == null ? parts.lengths : parts.pairs.inputs(seed, parts.distinct);
    LengthDistribution outputs =
        parts.pairs == null ? null : parts.pairs.outputs(seed, parts.distinct);
    Prompts unfitted = Prompts.of(parts.source, seed).prefix(parts.prefix.texts(counts));
    Prompts prompts =
        lengths == null
            ? unfitted
            : unfitted.tokens(lengths, counts, parts.distinct, parts.template);
    if (parts.pairs != null) {
      LengthDistribution.note(Setting.LENGTHS.name, parts.pairs.text());
    } else if (lengths != null) {
      LengthDistribution.note(Setting.PROMPT_TOKENS.name, lengths.text());
    }
    if (lengths != null && parts.template > 0) {
      LengthDistribution.noteTemplate(parts.template);
    }
    if (LlmProtocol.isDryRun()) {
      PrintableText.print(
          "LLM dry run: prompts "
              + about(prompts, counts)
              + (outputs == null ? "" : "; outputs " + outputs));
    }
    List<String> misses = prompts.misses();
    if (!misses.isEmpty()) {
      PrintableText.print(
          "LLM: %s of %s prompts could not be given their length by %s, e.g. %s"
              .formatted(misses.size(), prompts.made().size(), counts.name(), misses.get(0)));
    }
    IntSummaryStatistics sizes = PromptPrefix.sizes(parts.prefix.texts(counts), counts);
    if (lengths != null && sizes.getMin() < sizes.getMax()) {
      PrintableText.print(
          "LLM: by %s prefixes of prompts have %s to %s tokens, and so the totals vary"
              .formatted(counts.name(), sizes.getMin(), sizes.getMax()));
    }
    DrawOrder order = Seeds.drawOrder();
    return Stream.generate(
            () -> {
              long index = order.next();
              return row(prompts, outputs, prompts.complete(index), order, index);
            })
        .iterator();
  }

  /** The tokenizer that is set; else one that is not the model's, which a line states once. */
  static Tokenizer orEstimate(@Nullable Tokenizer set) {
    if (set == null && !ESTIMATED.getAndSet(true)) {
      PrintableText.print(
          "LLM WARNING: prompts in code are sized by tiktoken:cl100k_base, which is about right for"
              + " other models; give them the model's own: huggingFace(\"<owner>/<name>\")");
    }
    return Objects.requireNonNullElseGet(set, Tokenizer::cl100k);
  }

  private static String about(Prompts prompts, Tokenizer counts) {
    return "of "
        + prompts.source().origin()
        + (prompts.lengths() == null
            ? ", as they are"
            : ", " + prompts.lengths() + " by " + counts.name());
  }

  /**
   * For internal use only: a feeder of prompts without their prefix, which the protocol puts there.
   */
  public static Supplier<Iterator<Map<String, Object>>> feeder(Prompts prompts) {
    DrawOrder order = Seeds.drawOrder();
    return () ->
        Stream.generate(
                () -> {
                  long index = order.next();
                  return row(prompts, null, prompts.pick(index).text(), order, index);
                })
            .iterator();
  }

  private static Map<String, Object> row(
      Prompts prompts,
      @Nullable LengthDistribution outputs,
      String text,
      DrawOrder order,
      long index) {
    Map<String, Object> row = new HashMap<>();
    row.put("prompt", text);
    row.put(DrawOrder.KEY, order.fed(index));
    if (prompts.hasOutputs()) { // null too: an earlier prompt's must not stay
      row.put(Arrivals.Lengths.OUTPUT_KEY, prompts.outputTokens(index));
    }
    Integer tokens = prompts.pick(index).tokens();
    if (tokens != null) {
      row.put("promptTokens", tokens);
    }
    if (outputs != null) {
      row.put(Arrivals.Lengths.OUTPUT_KEY, new Draw(prompts.seed(), index).of(outputs));
    }
    return row;
  }
}
