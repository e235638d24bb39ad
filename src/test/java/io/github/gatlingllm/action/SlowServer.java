package io.github.gatlingllm.action;

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
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** Answers each request after a time drawn between two bounds, and notes when it had which. */
final class SlowServer implements AutoCloseable {

  /** One request as the server saw it, on the epoch's nanoseconds. */
  record Visit(String path, long fromNanos, long untilNanos) {}

  private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final List<Visit> visits = new ArrayList<>();
  private final Random random = new Random(1);
  private final Channel channel;
  private final int fromMillis;
  private final int untilMillis;

  SlowServer(int fromMillis, int untilMillis) {
    this.fromMillis = fromMillis;
    this.untilMillis = untilMillis;
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

  String url() {
    return "http://127.0.0.1:" + ((InetSocketAddress) channel.localAddress()).getPort();
  }

  private SimpleChannelInboundHandler<FullHttpRequest> visitor() {
    return new SimpleChannelInboundHandler<>() {
      @Override
      protected void channelRead0(ChannelHandlerContext connection, FullHttpRequest request) {
        long from = EpochNanos.now();
        String path = request.uri();
        int millis = fromMillis + random.nextInt(untilMillis - fromMillis + 1);
        var unused =
            connection
                .executor()
                .schedule(() -> answer(connection, path, from), millis, TimeUnit.MILLISECONDS);
      }
    };
  }

  private void answer(ChannelHandlerContext connection, String path, long from) {
    synchronized (visits) {
      visits.add(new Visit(path, from, EpochNanos.now()));
    }
    DefaultFullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.EMPTY_BUFFER);
    response.headers().set(HttpHeaderNames.CONTENT_LENGTH, 0);
    var unused = connection.writeAndFlush(response);
  }

  List<Visit> visits() {
    synchronized (visits) {
      return List.copyOf(visits);
    }
  }

  @Override
  public void close() {
    channel.close().syncUninterruptibly();
    var unused = loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }
}
