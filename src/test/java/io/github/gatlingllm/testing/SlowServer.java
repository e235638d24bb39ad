package io.github.gatlingllm.testing;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ToIntFunction;

/**
 * Logs the time in which it had each request. Answers each after a random time between two bounds,
 * or as soon as a number of requests of its kind have arrived.
 */
public final class SlowServer implements AutoCloseable {

  /** One request as the server saw it, on {@link System#nanoTime()}. */
  public record Visit(String path, long fromNanos, long untilNanos) {

    /** First segment of the path. */
    public String kind() {
      return path.split("/", -1)[1];
    }

    private Occupancy.Stay stay() {
      return new Occupancy.Stay(fromNanos, untilNanos);
    }
  }

  /** A request that waits for others. */
  private record Held(ChannelHandlerContext connection, String path, long fromNanos) {}

  private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final List<Visit> visits = new ArrayList<>();
  private final Map<String, List<Held>> held = new HashMap<>();
  private final Channel channel;
  private final Consumer<Held> answering;

  private SlowServer(Function<SlowServer, Consumer<Held>> answering) {
    this.answering = answering.apply(this);
    channel =
        new ServerBootstrap()
            .group(loop)
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, 1024)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel connection) {
                    connection
                        .pipeline()
                        .addLast(new HttpServerCodec(), new HttpObjectAggregator(1024), visitor());
                  }
                })
            .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .syncUninterruptibly()
            .channel();
  }

  /** Answers after random times, so that clients are not synchronized. */
  public static SlowServer between(int fromMillis, int untilMillis) {
    Random random = new Random(1);
    return new SlowServer(
        server ->
            request ->
                server.answerLater(
                    request, fromMillis + random.nextInt(untilMillis - fromMillis + 1)));
  }

  /**
   * Answers the requests of a kind when that many have arrived: a client with fewer in flight gets
   * no answer, whatever the speed of the machine.
   */
  public static SlowServer together(ToIntFunction<String> howMany) {
    return new SlowServer(server -> request -> server.answerTogether(request, howMany));
  }

  public String url() {
    return "http://127.0.0.1:" + ((InetSocketAddress) channel.localAddress()).getPort();
  }

  private SimpleChannelInboundHandler<FullHttpRequest> visitor() {
    return new SimpleChannelInboundHandler<>() {
      @Override
      protected void channelRead0(ChannelHandlerContext connection, FullHttpRequest request) {
        answering.accept(new Held(connection, request.uri(), System.nanoTime()));
      }
    };
  }

  private void answerLater(Held request, long millis) {
    var unused = loop.schedule(() -> answer(request), millis, TimeUnit.MILLISECONDS);
  }

  private void answerTogether(Held request, ToIntFunction<String> howMany) {
    String kind = new Visit(request.path(), 0, 0).kind();
    List<Held> waiting = held.computeIfAbsent(kind, none -> new ArrayList<>());
    waiting.add(request);
    if (waiting.size() == howMany.applyAsInt(kind)) {
      waiting.forEach(this::noteVisit);
      waiting.forEach(SlowServer::respond);
      waiting.clear();
    }
  }

  private void answer(Held request) {
    noteVisit(request);
    respond(request);
  }

  private void noteVisit(Held request) {
    synchronized (visits) {
      visits.add(new Visit(request.path(), request.fromNanos(), System.nanoTime()));
    }
  }

  private static void respond(Held request) {
    DefaultFullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.EMPTY_BUFFER);
    response.headers().set(HttpHeaderNames.CONTENT_LENGTH, 0);
    var unused = request.connection().writeAndFlush(response);
  }

  public List<Visit> visits() {
    synchronized (visits) {
      return List.copyOf(visits);
    }
  }

  public List<Visit> visits(String kind) {
    return visits().stream().filter(visit -> visit.kind().equals(kind)).toList();
  }

  /** Highest number of concurrent requests of a kind. */
  public int most(String kind) {
    return Occupancy.most(visits(kind).stream().map(Visit::stay).toList());
  }

  /** Mean number of concurrent requests of a kind in a window. */
  public double mean(String kind, long fromNanos, long untilNanos) {
    return Occupancy.mean(visits(kind).stream().map(Visit::stay).toList(), fromNanos, untilNanos);
  }

  @Override
  public void close() {
    channel.close().syncUninterruptibly();
    var unused = loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }
}
