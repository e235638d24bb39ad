package io.github.gatlingllm.engine;

import io.github.gatlingllm.load.Seed;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An OpenAI-compatible server that behaves like an LLM engine without a GPU: it queues, prefills
 * and batches requests, and has a prefix cache. It listens on 127.0.0.1 unless {@link
 * EngineBuilder#host} sets another address.
 *
 * <pre>{@code
 * try (EmbeddedEngine engine =
 *     EmbeddedEngine.builder().decodeStep(ofMillis(12)).maxBatch(32).seed(1).start()) {
 *   engine.baseUrl(); // http://127.0.0.1:<port>/v1
 * }
 * }</pre>
 *
 * <p>It serves {@code POST /v1/chat/completions}, {@code /v1/completions}, {@code /v1/responses}
 * and {@code /v1/messages}, streamed or not, {@code /v1/embeddings}, {@code GET /v1/models}, {@code
 * /health}, and {@code /metrics} with the metric names of vLLM. Methods may be called from any
 * thread.
 */
public final class EmbeddedEngine implements AutoCloseable {

  private static final Set<String> RUNNING = ConcurrentHashMap.newKeySet();
  static final String LOOPBACK = "127.0.0.1";
  private static final int MAX_BODY_BYTES = 64 << 20;

  final EngineBuilder settings;
  final EngineMetrics metrics;
  final SchedulerThread scheduler;
  final AtomicLong received = new AtomicLong();
  private final EventLoopGroup eventLoops;
  private final Channel server;
  private final ChannelGroup connections;
  private final Queue<GroundTruth> groundTruth = new ConcurrentLinkedQueue<>();

  EmbeddedEngine(String host, int port, Scheduler schedule, EngineBuilder settings) {
    this.settings = settings;
    metrics = new EngineMetrics(settings.model, (double) settings.maxBatch * settings.maxContext);
    eventLoops =
        new MultiThreadIoEventLoopGroup(
            1, new DefaultThreadFactory("embedded-engine", true), NioIoHandler.newFactory());
    connections = new DefaultChannelGroup(eventLoops.next(), true);
    scheduler = new SchedulerThread(schedule, eventLoops.next());
    ChannelFuture bound =
        new ServerBootstrap()
            .group(eventLoops)
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, 1_024)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    connections.add(channel);
                    channel
                        .pipeline()
                        .addLast(
                            new HttpServerCodec(),
                            new HttpServerKeepAliveHandler(),
                            new HttpObjectAggregator(MAX_BODY_BYTES),
                            new EngineHandler(EmbeddedEngine.this));
                  }
                })
            .bind(new InetSocketAddress(host, port))
            .awaitUninterruptibly();
    if (!bound.isSuccess()) {
      eventLoops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
      throw new IllegalStateException(
          "Embedded engine cannot listen on %s:%s: the port is taken, or the address is not of this machine; choose another one, or port 0 for any free one"
              .formatted(host, port),
          bound.cause());
    }
    server = bound.channel();
    scheduler.start();
    RUNNING.add(URI.create(baseUrl()).getAuthority());
  }

  /** Whether the URL is one of an engine in this JVM. */
  public static boolean isAt(String url) {
    return RUNNING.contains(URI.create(url).getAuthority());
  }

  /** A builder with the defaults. */
  public static EngineBuilder builder() {
    return new EngineBuilder();
  }

  /** Base URL: {@code http://127.0.0.1:<port>/v1}, or with the address that it listens on. */
  public String baseUrl() {
    InetSocketAddress address = (InetSocketAddress) server.localAddress();
    String host =
        address.getAddress().isAnyLocalAddress() ? LOOPBACK : address.getAddress().getHostAddress();
    String named = host.contains(":") ? "[" + host + "]" : host;
    return "http://" + named + ":" + address.getPort() + "/v1";
  }

  /** POST requests received so far, rejected ones included. */
  public long requestsReceived() {
    return received.get();
  }

  /** Requests in the engine now, and the use of its prefix cache so far. */
  public EngineLoad load() {
    return scheduler.load();
  }

  void ended(GroundTruth truth) {
    if (settings.recordGroundTruth) {
      groundTruth.add(truth);
    }
  }

  /**
   * The truth of each request that has ended; empty without {@link
   * EngineBuilder#recordGroundTruth}.
   */
  public List<GroundTruth> groundTruth() {
    return List.copyOf(groundTruth);
  }

  /** Blocks until the engine is closed. */
  public void awaitClose() {
    server.closeFuture().awaitUninterruptibly();
  }

  /** Stops immediately: closes open connections, and their requests end as cancelled. */
  @Override
  public void close() {
    RUNNING.remove(URI.create(baseUrl()).getAuthority());
    server.close().awaitUninterruptibly();
    connections.close().awaitUninterruptibly();
    scheduler.close();
    eventLoops.shutdownGracefully(0, 2, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  /**
   * Requests in the engine, and the use of its prefix cache so far.
   *
   * @param running number of requests in the batch
   * @param waiting number of requests in the queue
   * @param prefixQueriedTokens prompt tokens looked up in the prefix cache, once per choice; 0
   *     without prefix caching
   * @param prefixHitTokens of these, tokens that were cached and needed no prefill
   * @param kvTokens tokens that the batch holds in the KV cache; 0 where times are fixed
   */
  public record EngineLoad(
      int running, int waiting, long prefixQueriedTokens, long prefixHitTokens, long kvTokens) {
    static final EngineLoad NONE = new EngineLoad(0, 0, 0, 0, 0);
  }

  /**
   * What the engine did for one request: the known answer that a measurement is compared with. All
   * times are {@code System.nanoTime()} of the engine's JVM.
   *
   * @param requestId the request's {@code X-Request-Id}; made up by the engine where it has none
   * @param receivedNanos when the complete request had been read
   * @param admittedNanos when it left the engine's queue; null if it did not
   * @param firstTokenNanos when the first token was handed to the connection; null when none was
   * @param tokenNanos the same for each token, in order
   * @param promptTokens tokens of the prompt
   * @param cachedTokens of these, tokens found in the prefix cache, for the first choice
   * @param outputTokens tokens generated and sent, of all choices
   * @param endedNanos when the last byte was handed to the connection, or the connection closed
   * @param cancelled whether the client closed the connection before the end
   */
  @SuppressWarnings("ArrayRecordComponent") // one number per token; a copy per reader is waste
  public record GroundTruth(
      String requestId,
      long receivedNanos,
      @Nullable Long admittedNanos,
      @Nullable Long firstTokenNanos,
      long[] tokenNanos,
      int promptTokens,
      int cachedTokens,
      int outputTokens,
      long endedNanos,
      boolean cancelled) {

    /** The same, in times of another clock. */
    GroundTruth at(LongUnaryOperator clock) {
      return new GroundTruth(
          requestId,
          clock.applyAsLong(receivedNanos),
          admittedNanos == null ? null : (Long) clock.applyAsLong(admittedNanos),
          firstTokenNanos == null ? null : (Long) clock.applyAsLong(firstTokenNanos),
          Arrays.stream(tokenNanos).map(clock).toArray(),
          promptTokens,
          cachedTokens,
          outputTokens,
          clock.applyAsLong(endedNanos),
          cancelled);
    }
  }

  /**
   * Settings of an {@link EmbeddedEngine}. Immutable: all methods return a new occurrence and do
   * not change the original. Each throws {@link IllegalArgumentException} for a value out of range.
   *
   * <p>With the defaults, a sweep of 1 to 64 concurrent requests with 60 prompt and 128 output
   * tokens has its knee at 32, at about 1,800 output tokens per second.
   */
  public static final class EngineBuilder implements Cloneable {
    private String host = LOOPBACK;
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

    private record Fault(int status, double share) {}

    EngineBuilder() {}

    private EngineBuilder with(Consumer<EngineBuilder> change) {
      try {
        EngineBuilder copy = (EngineBuilder) clone();
        change.accept(copy);
        return copy;
      } catch (CloneNotSupportedException impossible) {
        throw new AssertionError(impossible);
      }
    }

    /** Host name or address to listen on; 127.0.0.1 by default, 0.0.0.0 for all addresses. */
    public EngineBuilder host(String host) {
      check(!host.isBlank(), "host", "blank", "a name or an address");
      return with(copy -> copy.host = host);
    }

    /** TCP port; 0, the default, selects a free one. */
    public EngineBuilder port(int port) {
      check(port >= 0 && port <= 65_535, "port", port, "0 to 65535");
      return with(copy -> copy.port = port);
    }

    /** Name of the only model; a request for another model is rejected with 404. */
    public EngineBuilder model(String model) {
      check(!model.isBlank(), "model", "blank", "a name");
      return with(copy -> copy.model = model);
    }

    /** Seed of answers, their lengths, and the choice of faults; 0 by default. */
    public EngineBuilder seed(long seed) {
      return with(copy -> copy.seed = seed);
    }

    /** Requires {@code Authorization: Bearer <key>} on {@code /v1/…}; 401 without it. */
    public EngineBuilder apiKey(String apiKey) {
      check(!apiKey.isBlank(), "apiKey", "blank", "a key");
      return with(copy -> copy.apiKey = apiKey);
    }

    /** Maximum number of tokens of prompt and answer together; more is rejected with 400. */
    public EngineBuilder maxContext(int tokens) {
      check(tokens >= 2, "maxContext", tokens, "2 or more");
      return with(copy -> copy.maxContext = tokens);
    }

    /** Prompt tokens processed per second. */
    public EngineBuilder prefillTokensPerSecond(double tokens) {
      check(tokens > 0, "prefillTokensPerSecond", tokens, "more than 0");
      return with(copy -> copy.prefillTokensPerSecond = tokens);
    }

    /** Duration of a decode iteration of an empty engine, before {@link #decodeGrowth}. */
    public EngineBuilder decodeStep(Duration step) {
      check(positive(step), "decodeStep", step, "more than 0");
      return with(copy -> copy.decodeStepNanos = step.toNanos());
    }

    /**
     * Growth of a decode iteration with load: step = decodeStep × (1 + perSequence × batch +
     * perKvToken × KV tokens in use).
     */
    public EngineBuilder decodeGrowth(double perSequence, double perKvToken) {
      check(perSequence >= 0, "decodeGrowth per sequence", perSequence, "0 or more");
      check(perKvToken >= 0, "decodeGrowth per KV token", perKvToken, "0 or more");
      return with(
          copy -> {
            copy.perSequence = perSequence;
            copy.perKvToken = perKvToken;
          });
    }

    /**
     * Maximum number of prompt tokens in one iteration; a longer prompt takes several iterations.
     */
    public EngineBuilder maxPrefillTokens(int tokens) {
      check(tokens >= 1, "maxPrefillTokens", tokens, "1 or more");
      return with(copy -> copy.maxPrefillTokens = tokens);
    }

    /** Maximum number of requests in the batch; further requests wait in the queue. */
    public EngineBuilder maxBatch(int sequences) {
      check(sequences >= 1, "maxBatch", sequences, "1 or more");
      return with(copy -> copy.maxBatch = sequences);
    }

    /**
     * Whether a prompt shares blocks of 16 tokens with earlier prompts and answers that have the
     * same beginning; on by default, as in vLLM. Shared tokens need no prefill and are reported as
     * {@code cached_tokens}. The 40,000 tokens used last are cached.
     */
    public EngineBuilder prefixCaching(boolean on) {
      return with(copy -> copy.prefixCaching = on);
    }

    /**
     * Number of {@code reasoning_content} tokens at the beginning of each chat answer, as with
     * reasoning models; 0, the default, for none. They count as completion tokens and towards
     * {@code max_tokens}.
     */
    public EngineBuilder reasoning(int tokens) {
      check(tokens >= 0, "reasoning", tokens, "0 or more");
      return with(copy -> copy.reasoningTokens = tokens);
    }

    /**
     * Replaces the engine model by fixed times: each request gets its first token exactly {@code
     * ttft} after it was received and another token every {@code itl}, whatever the load. For tests
     * that compare measurements with known times.
     */
    public EngineBuilder fixed(Duration ttft, Duration itl) {
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
    public EngineBuilder reject(int status, double share) {
      check(status >= 400 && status <= 599, "status of a fault", status, "400 to 599");
      check(share > 0, "share of a fault", share, "more than 0");
      List<Fault> longer =
          Stream.concat(faults.stream(), Stream.of(new Fault(status, share))).toList();
      double together = longer.stream().mapToDouble(Fault::share).sum();
      check(together <= 1 + 1e-9, "faults' shares together", together, "at most 1");
      return with(copy -> copy.faults = longer);
    }

    /** Records the true times of each request, for {@link EmbeddedEngine#groundTruth}. */
    public EngineBuilder recordGroundTruth() {
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

    boolean hasPrefixCache() {
      return prefixCaching && !isFixed();
    }

    /** Status of the fault of a request, by its number from 0; null for none. */
    @Nullable Integer faultOf(long request) {
      double draw = new SplittableRandom(Seed.mix(seed) + request).nextDouble();
      for (Fault fault : faults) {
        draw -= fault.share();
        if (draw < 0) {
          return fault.status();
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
}
