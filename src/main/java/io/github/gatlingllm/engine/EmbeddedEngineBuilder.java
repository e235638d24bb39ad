package io.github.gatlingllm.engine;

import io.github.gatlingllm.load.Seed;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Settings of an {@link EmbeddedEngine}. Immutable: all methods return a new occurrence and leave
 * the original unmodified. Each throws {@link IllegalArgumentException} for a value out of range.
 *
 * <p>With the defaults, a sweep of 1 to 64 concurrent requests with 60 prompt and 128 output tokens
 * has its knee at 32, at about 1,800 output tokens per second.
 */
public final class EmbeddedEngineBuilder implements Cloneable {
  private String host = EmbeddedEngine.LOOPBACK;
  private int port;
  String model = "embedded";
  long seed;
  int maxContext = 8_192;
  @Nullable String apiKey;
  boolean recordGroundTruth;
  private List<Fault> faults = List.of();

  // The knee is at 32 concurrent requests; docs/engine.md derives it.
  double prefillTokensPerSecond = 20_000;
  long decodeStepNanos = 5_000_000;
  double perSequence = 0.05;
  double perKvToken = 0.000_1;
  int maxPrefillTokens = 2_048;
  int maxBatch = 24;
  private boolean prefixCaching = true;
  int reasoningTokens;
  private long fixedTtftNanos;
  private long fixedItlNanos; // 0 where times are not fixed

  EmbeddedEngineBuilder() {}

  private EmbeddedEngineBuilder with(Consumer<EmbeddedEngineBuilder> change) {
    try {
      EmbeddedEngineBuilder copy = (EmbeddedEngineBuilder) clone();
      change.accept(copy);
      return copy;
    } catch (CloneNotSupportedException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /**
   * Host name or address to listen on; 127.0.0.1 by default, which other machines cannot reach.
   * 0.0.0.0 listens on all addresses of the machine.
   */
  public EmbeddedEngineBuilder host(String host) {
    check(!host.isBlank(), "host", "blank", "a name or an address");
    return with(copy -> copy.host = host);
  }

  /** TCP port; 0, the default, selects a free one. */
  public EmbeddedEngineBuilder port(int port) {
    check(port >= 0 && port <= 65_535, "port", port, "0 to 65535");
    return with(copy -> copy.port = port);
  }

  /** Name of the only model; a request for another model is rejected with 404. */
  public EmbeddedEngineBuilder model(String model) {
    check(!model.isBlank(), "model", "blank", "a name");
    return with(copy -> copy.model = model);
  }

  /** Seed of answers, their lengths, and the choice of requests that get a fault; 0 by default. */
  public EmbeddedEngineBuilder seed(long seed) {
    return with(copy -> copy.seed = seed);
  }

  /** Requires {@code Authorization: Bearer <key>} on {@code /v1/…}; 401 without it. */
  public EmbeddedEngineBuilder apiKey(String apiKey) {
    check(!apiKey.isBlank(), "apiKey", "blank", "a key");
    return with(copy -> copy.apiKey = apiKey);
  }

  /** Most tokens of prompt and answer together; more is rejected with 400. */
  public EmbeddedEngineBuilder maxContext(int tokens) {
    check(tokens >= 2, "maxContext", tokens, "2 or more");
    return with(copy -> copy.maxContext = tokens);
  }

  /** Prompt tokens processed per second. */
  public EmbeddedEngineBuilder prefillTokensPerSecond(double tokens) {
    check(tokens > 0, "prefillTokensPerSecond", tokens, "more than 0");
    return with(copy -> copy.prefillTokensPerSecond = tokens);
  }

  /** Duration of a decode iteration of an empty engine, before {@link #decodeGrowth}. */
  public EmbeddedEngineBuilder decodeStep(Duration step) {
    check(positive(step), "decodeStep", step, "more than 0");
    return with(copy -> copy.decodeStepNanos = step.toNanos());
  }

  /**
   * Growth of a decode iteration with load: step = decodeStep × (1 + perSequence × batch +
   * perKvToken × KV tokens in use).
   */
  public EmbeddedEngineBuilder decodeGrowth(double perSequence, double perKvToken) {
    check(perSequence >= 0, "decodeGrowth per sequence", perSequence, "0 or more");
    check(perKvToken >= 0, "decodeGrowth per KV token", perKvToken, "0 or more");
    return with(
        copy -> {
          copy.perSequence = perSequence;
          copy.perKvToken = perKvToken;
        });
  }

  /** Most prompt tokens in one iteration; a longer prompt takes several iterations. */
  public EmbeddedEngineBuilder maxPrefillTokens(int tokens) {
    check(tokens >= 1, "maxPrefillTokens", tokens, "1 or more");
    return with(copy -> copy.maxPrefillTokens = tokens);
  }

  /** Most requests in the batch; further requests wait in the queue. */
  public EmbeddedEngineBuilder maxBatch(int sequences) {
    check(sequences >= 1, "maxBatch", sequences, "1 or more");
    return with(copy -> copy.maxBatch = sequences);
  }

  /**
   * Whether a prompt shares blocks of 16 tokens with earlier prompts and answers that have the same
   * beginning; on by default, as in vLLM. Shared tokens need no prefill and are reported as {@code
   * cached_tokens}. The 40,000 tokens used last are kept.
   */
  public EmbeddedEngineBuilder prefixCaching(boolean on) {
    return with(copy -> copy.prefixCaching = on);
  }

  /**
   * Number of {@code reasoning_content} tokens at the beginning of each chat answer, as with
   * reasoning models; 0, the default, for none. They count as completion tokens and towards {@code
   * max_tokens}.
   */
  public EmbeddedEngineBuilder reasoning(int tokens) {
    check(tokens >= 0, "reasoning", tokens, "0 or more");
    return with(copy -> copy.reasoningTokens = tokens);
  }

  /**
   * Replaces the engine model by fixed times: each request gets its first token exactly {@code
   * ttft} after it was received and another token every {@code itl}, whatever the load. For tests
   * that compare measurements with known times.
   */
  public EmbeddedEngineBuilder fixed(Duration ttft, Duration itl) {
    check(!ttft.isNegative(), "fixed TTFT", ttft, "0 or more");
    check(positive(itl), "fixed ITL", itl, "more than 0");
    return with(
        copy -> {
          copy.fixedTtftNanos = ttft.toNanos();
          copy.fixedItlNanos = itl.toNanos();
        });
  }

  /**
   * Answers a share of the requests with an error of this status, 400 to 599; 429 and 503 have
   * {@code Retry-After: 1}. Requests are drawn from the seed and their number, so that sequential
   * runs get the same faults each time; a request gets at most one fault.
   */
  public EmbeddedEngineBuilder reject(int status, double share) {
    check(status >= 400 && status <= 599, "status of a fault", status, "400 to 599");
    check(share > 0, "share of a fault", share, "more than 0");
    List<Fault> longer =
        Stream.concat(faults.stream(), Stream.of(new Fault(status, share))).toList();
    double together = longer.stream().mapToDouble(Fault::share).sum();
    check(together <= 1 + 1e-9, "faults' shares together", together, "at most 1");
    return with(copy -> copy.faults = longer);
  }

  record Fault(int status, double share) {}

  /** Records the true times of each request, for {@link EmbeddedEngine#groundTruth}. */
  public EmbeddedEngineBuilder recordGroundTruth() {
    return with(copy -> copy.recordGroundTruth = true);
  }

  /**
   * Opens the port and serves requests.
   *
   * @throws IllegalStateException if it cannot listen on the host and port
   */
  public EmbeddedEngine start() {
    Scheduler scheduler =
        isFixed() ? new FixedScheduler(fixedTtftNanos, fixedItlNanos) : new BatchScheduler(this);
    return new EmbeddedEngine(host, port, scheduler, this);
  }

  private boolean isFixed() {
    return fixedItlNanos > 0;
  }

  boolean sharesPrefixes() {
    return prefixCaching && !isFixed();
  }

  /** Fault of a request, by its number from 0; null for none. */
  @Nullable Fault faultOf(long request) {
    double draw = new SplittableRandom(Seed.mix(seed) + request).nextDouble();
    for (Fault fault : faults) {
      draw -= fault.share();
      if (draw < 0) {
        return fault;
      }
    }
    return null;
  }

  private static boolean positive(Duration duration) {
    return !duration.isNegative() && !duration.isZero();
  }

  private static void check(boolean ok, String name, Object value, String allowed) {
    if (!ok) {
      throw new IllegalArgumentException(
          "Embedded engine: " + name + " is " + value + "; expected " + allowed);
    }
  }
}
