package io.github.gatlingllm.javaapi;

import static io.github.gatlingllm.action.InvalidSimulation.checked;

import io.gatling.javaapi.core.ActionBuilder;
import io.gatling.javaapi.core.Session;
import io.github.gatlingllm.action.Dynamic;
import io.github.gatlingllm.action.LlmRequest;
import io.github.gatlingllm.load.Trace;
import io.github.gatlingllm.workload.Dataset;
import io.github.gatlingllm.workload.Dataset.SessionFile;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.Tokenizer;
import io.github.gatlingllm.workload.WorkloadScenario;
import java.util.Iterator;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/** The part of {@link LlmDsl} that defines prompts and workloads; import its members from there. */
public abstract class WorkloadDsl extends LoadDsl {

  WorkloadDsl() {}

  // Tokenizers

  /**
   * A tokenizer with one of OpenAI's encodings: {@code r50k_base}, {@code p50k_base}, {@code
   * p50k_edit}, {@code cl100k_base} or {@code o200k_base}.
   */
  public static Tokenizer tiktoken(String encoding) {
    return checked(() -> Tokenizer.tiktoken(encoding));
  }

  /**
   * The tokenizer of a Hugging Face model, of the path of its {@code tokenizer.json}, or {@code
   * <owner>/<name>}, whose file is downloaded once from the Hub or {@code HF_ENDPOINT}. Needs
   * {@code ai.djl.huggingface:tokenizers} on the class path; see {@link Tokenizer#huggingFace}.
   */
  public static Tokenizer huggingFace(String file) {
    return checked(() -> Tokenizer.huggingFace(file));
  }

  /** A tokenizer that counts one token per four characters: an estimate. */
  public static Tokenizer chars4() {
    return Tokenizer.chars4();
  }

  // Prompts

  /**
   * Starts a feeder of prompts: {@code feed(prompts().builtIn().tokens(256).seed(42))}. Each user
   * gets the next prompt as {@code #{prompt}}.
   */
  public static PromptsBuilder prompts() {
    return PromptsBuilder.START;
  }

  /**
   * Starts pairs of lengths, of prompts and their outputs, drawn by weight: {@code
   * prompts().tokens(lengths().pair(256, 128).weight(60).pair(4096, 512).weight(40))}.
   */
  public static LengthsBuilder lengths() {
    return LengthsBuilder.START;
  }

  /**
   * Lengths of prompts or outputs with a normal distribution, cut off below 1: mean of 1 token or
   * more, standard deviation of 0 or more.
   */
  public static LengthDistribution normalTokens(double mean, double std) {
    return checked(() -> LengthDistribution.normal(mean, std));
  }

  /**
   * Lengths of prompts or outputs with a lognormal distribution: many short, few long ones. Mean (1
   * or more) and standard deviation (0 or more) are those of the lengths in tokens, not of their
   * logarithms.
   */
  public static LengthDistribution lognormalTokens(double mean, double std) {
    return checked(() -> LengthDistribution.lognormal(mean, std));
  }

  /** Lengths of prompts or outputs of {@code min} to {@code max} tokens, all equally likely. */
  public static LengthDistribution uniformTokens(int min, int max) {
    return checked(() -> LengthDistribution.uniform(min, max));
  }

  /**
   * Lengths of prompts or outputs in tokens, drawn by weight, above 0; the share of a length is its
   * weight ÷ the sum of all weights.
   */
  public static LengthDistribution weightedTokens(Map<Integer, Double> weights) {
    return checked(() -> LengthDistribution.weighted(weights));
  }

  /**
   * The recorded prompt lengths of a trace, in order: the k-th prompt has the length of the k-th
   * request that has one. The file is as for {@link #replay(String, double)}.
   */
  public static LengthDistribution tracedTokens(String file) {
    return checked(() -> LengthDistribution.recorded(Trace.read(file, 1)));
  }

  /** Workload A1: always the same prompt of 50 tokens. It is cached after the first request. */
  public static WorkloadBuilder sameShort() {
    return WorkloadBuilder.of(WorkloadScenario.A1);
  }

  /** Workload A2: always the same prompt of 2,500 tokens. The best case for prefix caching. */
  public static WorkloadBuilder sameLong() {
    return WorkloadBuilder.of(WorkloadScenario.A2);
  }

  /** Workload B1: different prompts of 50 tokens. Almost nothing can be cached. */
  public static WorkloadBuilder diverseShort() {
    return WorkloadBuilder.of(WorkloadScenario.B1);
  }

  /** Workload B2: different prompts of 2,500 tokens. The worst case: all prefill, no caching. */
  public static WorkloadBuilder diverseLong() {
    return WorkloadBuilder.of(WorkloadScenario.B2);
  }

  /**
   * Workload C: a system prompt of 2,000 tokens that all requests share, and a query of 30 tokens.
   * Shows what agents and RAG gain from prefix caching.
   */
  public static WorkloadBuilder ragAgent() {
    return WorkloadBuilder.of(WorkloadScenario.C);
  }

  /**
   * Workload D: a conversation of five turns of 50 tokens, each sent with the complete history.
   * Shows whether a cache retains complete dialogs.
   */
  public static WorkloadBuilder dialog() {
    return WorkloadBuilder.of(WorkloadScenario.D);
  }

  /**
   * Starts a mix of workloads, drawn by weight: {@code mix().add(70, ragAgent()).add(30,
   * diverseShort()).seed(42)}.
   */
  public static MixBuilder mix() {
    return MixBuilder.START;
  }

  // Datasets

  /**
   * A feeder of recorded dialogs. Each user gets one dialog; all dialogs are used once before any
   * of them repeats. A malformed file is refused in one line that names file and line.
   *
   * <pre>{@code
   * feed(dataset(shareGpt("sharegpt.json")).seed(42))
   *     .exec(llm("ask").chat().messages("#{dialog}").maxTokens("#{outputTokens}"))
   * }</pre>
   *
   * <p>Session attributes, null if the dialog lacks them: {@code dialog}, {@code prompt} (the last
   * user message), {@code system}, {@code turns} (number of turns), {@code inputTokens} and {@code
   * outputTokens} (as recorded; otherwise the tokenizer counts the recorded answer).
   */
  public static DatasetFeeder dataset(DatasetFile file) {
    return DatasetFeeder.of(file.open());
  }

  /**
   * A file of dialogs in ShareGPT's format: path, class path resource, or address ({@code
   * https://…}, {@code hf:<owner>/<name>/<file>}); may be compressed ({@code .gz}).
   */
  public static DatasetFile shareGpt(String file) {
    return DatasetFile.of(Dataset.Format.SHAREGPT, file);
  }

  /** A file of OpenAssistant's message trees; as {@link #shareGpt}. */
  public static DatasetFile openAssistant(String file) {
    return DatasetFile.of(Dataset.Format.OASST, file);
  }

  /** A file of LongBench v2's questions about long texts; as {@link #shareGpt}. */
  public static DatasetFile longBench(String file) {
    return DatasetFile.of(Dataset.Format.LONGBENCH, file);
  }

  /**
   * A Mooncake trace, in its order. The texts are generated with the recorded lengths, by the
   * tokenizer, and are equal where the trace's hash ids are equal.
   */
  public static DatasetFile mooncake(String file, Tokenizer tokenizer) {
    return DatasetFile.of(Dataset.Format.MOONCAKE, file).tokenizer(tokenizer);
  }

  /** A file of chats in OpenAI's format or in that of its batch API; as {@link #shareGpt}. */
  public static DatasetFile openAiChat(String file) {
    return DatasetFile.of(Dataset.Format.OPENAI, file);
  }

  // Sessions

  /**
   * A feeder of recorded sessions for {@link #replaySession()}, in the order of their file: a
   * request per line, Mooncake's too, or OpenTelemetry's spans. The tokenizer sizes their texts.
   */
  public static Supplier<Iterator<Map<String, Object>>> sessions(String file, Tokenizer tokenizer) {
    return DatasetFeeder.of(checked(() -> SessionFile.open(file, tokenizer)));
  }

  /**
   * Replays the session that the user was fed, with chat requests named {@code turn}: {@code
   * feed(sessions("agents.jsonl", tiktoken("o200k_base"))).exec(replaySession())}. Sub-agents send
   * their turns at the same time. A turn that fails ends the session.
   */
  public static ActionBuilder replaySession() {
    return replaySession(
        LlmDsl.llm("turn").chat().messages("#{dialog}").maxTokens("#{outputTokens}"));
  }

  /** The same with another request, of the attributes {@code dialog} and {@code outputTokens}. */
  public static ActionBuilder replaySession(ActionBuilder request) {
    return () -> LlmRequest.replaying(request.asScala());
  }

  // Images

  /**
   * The image of a file (path or class path resource: PNG, JPEG, GIF or WebP, by its extension), or
   * the images of a folder in turn, one per request; sent as data URLs.
   */
  public static Image image(String file) {
    return Image.of(file);
  }

  /** The content of an image file and its type, e.g. {@code image/png}, sent as a data URL. */
  public static Image image(byte[] bytes, String mimeType) {
    return Image.of(bytes, mimeType);
  }

  /** A generated image of this size in pixels, at most 64 million, sent as a data URL. */
  public static NoiseImage image(int width, int height) {
    return NoiseImage.of(width, height);
  }

  /** An image that the server loads from this URL; a Gatling EL String. */
  public static Image imageUrl(String url) {
    return Image.of(Dynamic.text(url));
  }

  public static Image imageUrl(Function<Session, String> url) {
    return Image.of(Dynamic.of(url));
  }
}
