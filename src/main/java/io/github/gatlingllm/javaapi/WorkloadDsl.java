package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.workload.Dataset;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.Tokenizer;
import io.github.gatlingllm.workload.WorkloadScenario;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/** The part of {@link LlmDsl} that says what is asked; import it from there. */
public abstract class WorkloadDsl extends LoadDsl {

  WorkloadDsl() {}

  // Tokenizers

  /**
   * One of OpenAI's encodings, for {@link LlmProtocolBuilder#tokenizer}.
   *
   * @param encoding {@code r50k_base}, {@code p50k_base}, {@code p50k_edit}, {@code cl100k_base} or
   *     {@code o200k_base}
   */
  public static Tokenizer tiktoken(String encoding) {
    return checked(() -> Tokenizer.tiktoken(encoding));
  }

  /**
   * The tokenizer of a model on Hugging Face. Needs {@code ai.djl.huggingface:tokenizers} on the
   * class path; {@link Tokenizer#huggingFace} says what that does.
   *
   * @param file path of a {@code tokenizer.json}
   */
  public static Tokenizer huggingFace(String file) {
    return checked(() -> Tokenizer.huggingFace(file));
  }

  /** One token per four characters: an estimate. */
  public static Tokenizer chars4() {
    return Tokenizer.chars4();
  }

  // Prompts

  /**
   * A feeder of prompts: {@code feed(prompts().builtIn().tokens(256).seed(42))}. Each user gets the
   * next one as {@code #{prompt}}.
   */
  public static PromptsBuilder prompts() {
    return PromptsBuilder.START;
  }

  /**
   * Prompt lengths of a normal distribution, cut off below 1.
   *
   * @param mean tokens, 1 or more
   * @param std standard deviation in tokens, 0 or more
   */
  public static LengthDistribution normalTokens(double mean, double std) {
    return checked(() -> new LengthDistribution.Normal(mean, std));
  }

  /**
   * Prompt lengths of a lognormal distribution: many short, few long.
   *
   * @param mean tokens, of the lengths themselves; 1 or more
   * @param std tokens, of the lengths themselves; 0 or more
   */
  public static LengthDistribution lognormalTokens(double mean, double std) {
    return checked(() -> new LengthDistribution.Lognormal(mean, std));
  }

  /** Prompt lengths of {@code least} to {@code most} tokens, all alike. */
  public static LengthDistribution uniformTokens(int least, int most) {
    return checked(() -> new LengthDistribution.Uniform(least, most));
  }

  /**
   * One of several prompt lengths.
   *
   * <pre>{@code
   * prompts().tokens(weightedTokens(Map.of(128, 70.0, 4_096, 30.0)))
   * }</pre>
   *
   * @param weights of each length in tokens; its share is weight ÷ their sum
   */
  public static LengthDistribution weightedTokens(Map<Integer, Double> weights) {
    return checked(
        () ->
            new LengthDistribution.Weighted(
                new TreeMap<>(weights)
                    .entrySet().stream()
                        .map(e -> new LengthDistribution.Weighted.Choice(e.getKey(), e.getValue()))
                        .toList()));
  }

  /**
   * Prompt lengths as recorded, in that order, by a trace that {@link #replay(String)} reads: the
   * k-th prompt has the length of the k-th request that has one.
   */
  public static LengthDistribution tracedTokens(String file) {
    return PromptsBuilder.recorded(file);
  }

  /** Workload A1: the same prompt of 50 tokens, every time. Cached after the first request. */
  public static WorkloadBuilder sameShort() {
    return WorkloadBuilder.of(WorkloadScenario.A1);
  }

  /** Workload A2: the same prompt of 2,500 tokens, every time. The best case of prefix caching. */
  public static WorkloadBuilder sameLong() {
    return WorkloadBuilder.of(WorkloadScenario.A2);
  }

  /** Workload B1: prompts of 50 tokens that differ. Next to nothing to cache. */
  public static WorkloadBuilder diverseShort() {
    return WorkloadBuilder.of(WorkloadScenario.B1);
  }

  /** Workload B2: prompts of 2,500 tokens that differ. The worst case: all prefill, no cache. */
  public static WorkloadBuilder diverseLong() {
    return WorkloadBuilder.of(WorkloadScenario.B2);
  }

  /**
   * Workload C: a system prompt of 2,000 tokens that all requests share, and a query of 30 tokens.
   * What agents and RAG gain from prefix caching.
   *
   * <pre>{@code
   * scenario("Agents").exec(ragAgent().maxTokens(200).seed(42))
   * }</pre>
   */
  public static WorkloadBuilder ragAgent() {
    return WorkloadBuilder.of(WorkloadScenario.C);
  }

  /**
   * Workload D: a conversation of five turns of 50 tokens, each sent with all that was said before.
   * Whether a cache keeps whole dialogs.
   */
  public static WorkloadBuilder dialog() {
    return WorkloadBuilder.of(WorkloadScenario.D);
  }

  /**
   * Several workloads in one population, drawn by weight: {@code mix().add(70, ragAgent()).add(30,
   * diverseShort()).seed(42)}.
   */
  public static MixBuilder mix() {
    return MixBuilder.START;
  }

  // Datasets

  /**
   * Recorded dialogs for users, one each, all of them once before any comes again.
   *
   * <pre>{@code
   * feed(dataset(shareGpt("sharegpt.json")).seed(42))
   *     .exec(llm("ask").chat().messages("#{dialog}").maxTokens("#{outputTokens}"))
   * }</pre>
   *
   * <p>Session attributes, null where the dialog has none: {@code dialog}, {@code prompt} (what was
   * asked last), {@code system}, {@code turns} (how many), {@code inputTokens} and {@code
   * outputTokens} (as recorded; else the recorded answer's by the tokenizer).
   *
   * @throws IllegalArgumentException in one line, with file and line, if the file is not as
   *     expected
   */
  public static DatasetFeeder dataset(DatasetFile file) {
    return DatasetFeeder.of(file.open());
  }

  /**
   * A file of dialogs in the form of ShareGPT.
   *
   * @param file a path, or a resource of the class path; may end in {@code .gz}
   */
  public static DatasetFile shareGpt(String file) {
    return DatasetFile.of(Dataset.Format.SHAREGPT, file);
  }

  /** A file of OpenAssistant's message trees, nested or flat; as {@link #shareGpt}. */
  public static DatasetFile openAssistant(String file) {
    return DatasetFile.of(Dataset.Format.OASST, file);
  }

  /** A file of LongBench v2's questions on long texts; as {@link #shareGpt}. */
  public static DatasetFile longBench(String file) {
    return DatasetFile.of(Dataset.Format.LONGBENCH, file);
  }

  /**
   * A trace of Mooncake, in its order. Its texts are made up: as long as recorded by the tokenizer,
   * and the same where the trace's hash ids are; so prefix caches share what they shared then.
   */
  public static DatasetFile mooncake(String file, Tokenizer tokenizer) {
    return DatasetFile.of(Dataset.Format.MOONCAKE, file).tokenizer(tokenizer);
  }

  /** A file of chats in OpenAI's form, or of its batch API; as {@link #shareGpt}. */
  public static DatasetFile openAiChat(String file) {
    return DatasetFile.of(Dataset.Format.OPENAI, file);
  }

  // Images

  /**
   * An image of a file, sent as a data URL; of a folder, its images in turn, one per request.
   *
   * @param file a path, or a resource of the class path: PNG, JPEG, GIF or WebP by its extension
   */
  public static Image image(String file) {
    return ImageContent.of(file);
  }

  /**
   * An image, sent as a data URL.
   *
   * @param mimeType e.g. {@code image/png}
   */
  public static Image image(byte[] bytes, String mimeType) {
    return ImageContent.of(bytes, mimeType);
  }

  /** A made-up image of that many pixels, sent as a data URL. */
  public static NoiseImage image(int width, int height) {
    return NoiseImage.of(width, height);
  }

  /** An image by its URL; a Gatling EL String. */
  public static Image imageUrl(String url) {
    return new ImageContent(Dynamic.text(url));
  }

  /** An image by its URL, computed from the session. */
  public static Image imageUrl(Function<Session, String> url) {
    return new ImageContent(Dynamic.of(url));
  }
}
