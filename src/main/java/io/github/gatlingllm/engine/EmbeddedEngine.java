package io.github.gatlingllm.engine;

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
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * An OpenAI-compatible server that behaves like an LLM engine without a GPU: it queues, prefills
 * and batches requests, and has a prefix cache. It listens on 127.0.0.1 unless {@link
 * EmbeddedEngineBuilder#host} sets another address.
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
  static final String LOOPBACK = "127.0.0.1";
  private static final int MAX_BODY_BYTES = 64 << 20;

  final EmbeddedEngineBuilder settings;
  final EngineMetrics metrics;
  final SchedulerThread scheduler;
  final AtomicLong received = new AtomicLong();
  private final EventLoopGroup eventLoops;
  private final Channel server;
  private final ChannelGroup connections;
  private final Queue<GroundTruth> groundTruth = new ConcurrentLinkedQueue<>();

  EmbeddedEngine(String host, int port, Scheduler schedule, EmbeddedEngineBuilder settings) {
    this.settings = settings;
    metrics = new EngineMetrics(settings.model);
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
  }

  /** A builder with the defaults. */
  public static EmbeddedEngineBuilder builder() {
    return new EmbeddedEngineBuilder();
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
  public Load load() {
    return scheduler.load();
  }

  void ended(GroundTruth truth) {
    if (settings.recordGroundTruth) {
      groundTruth.add(truth);
    }
  }

  /**
   * The ground truth of each request that has ended, in the order of their ends; empty unless
   * {@link EmbeddedEngineBuilder#recordGroundTruth} was called.
   */
  public List<GroundTruth> groundTruth() {
    return List.copyOf(groundTruth);
  }

  /** Blocks until the engine is closed. */
  public void awaitClose() {
    server.closeFuture().awaitUninterruptibly();
  }

  /** Stops at once: closes open connections, and their requests end as cancelled. */
  @Override
  public void close() {
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
   */
  public record Load(int running, int waiting, long prefixQueriedTokens, long prefixHitTokens) {
    static final Load NONE = new Load(0, 0, 0, 0);
  }

  /**
   * What the engine did for one request: the known answer that a measurement is compared with. All
   * times are {@code System.nanoTime()} of the engine's JVM.
   *
   * @param requestId the request's {@code X-Request-Id}; made up by the engine where it has none
   * @param receivedNanos when the whole request had been read
   * @param admittedNanos when it left the engine's queue; null when it never did
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
      boolean cancelled) {}
}
