package io.github.gatlingllm.bench;

import io.gatling.netty.util.Transports;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The least that measures streams in Java: Netty's HTTP codec as Gatling sets it up, and a time
 * stamp per HTTP chunk. No JSON is read and nothing is recorded while the load is on. Streams start
 * at once, each begins the next request when its answer has ended; the time to connect is part of
 * the first one's TTFT, as it is in ours.
 *
 * <p>A separate process: {@code NettyClient <port> <streams> <requests> <tokens> <file> <prompt>}.
 * As our client does, it warms itself for 10 s before; that is not in the file.
 */
final class NettyClient {

  private static final int WARM_UP_STREAMS = 32;
  private static final long WARM_UP_NANOS = 10_000_000_000L;

  private final int port;
  private final int requests;
  private final int tokens;
  private final byte[] body;
  private final EventLoopGroup eventLoops =
      Transports.newEventLoopGroup(
          true, false, Runtime.getRuntime().availableProcessors(), "client");
  private final AtomicInteger begun = new AtomicInteger();
  private final List<TimedStream> streams = Collections.synchronizedList(new ArrayList<>());
  private CountDownLatch left = new CountDownLatch(1);

  private NettyClient(int port, int requests, int tokens, String prompt) {
    this.port = port;
    this.requests = requests;
    this.tokens = tokens;
    this.body =
        ("{\"model\":\"bench\",\"messages\":[{\"role\":\"user\",\"content\":\""
                + prompt
                + "\"}],\"stream\":true,\"stream_options\":{\"include_usage\":true},"
                + "\"max_tokens\":"
                + tokens
                + "}")
            .getBytes(StandardCharsets.US_ASCII);
  }

  public static void main(String[] args) throws Exception {
    NettyClient client =
        new NettyClient(
            Integer.parseInt(args[0]),
            Integer.parseInt(args[2]),
            Integer.parseInt(args[3]),
            args[5]);
    client.run(WARM_UP_STREAMS, BenchConnection.WARM_UP, System.nanoTime() + WARM_UP_NANOS);
    client.streams.clear();
    client.begun.set(0);
    client.run(Integer.parseInt(args[1]), "netty-", Long.MAX_VALUE);
    TimedStream.write(Path.of(args[4]), client.streams);
    System.exit(0);
  }

  private void run(int connections, String idsBegin, long lastNanos) throws InterruptedException {
    left = new CountDownLatch(connections);
    HttpDecoderConfig decoder =
        new HttpDecoderConfig().setMaxHeaderSize(Integer.MAX_VALUE).setValidateHeaders(false);
    Bootstrap bootstrap =
        new Bootstrap()
            .group(eventLoops)
            .channelFactory(Transports.newSocketChannelFactory(true, false))
            .handler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    channel
                        .pipeline()
                        .addLast(
                            new HttpClientCodec(decoder, false, false),
                            new Reader(idsBegin, lastNanos));
                  }
                });
    for (int i = 0; i < connections; i++) {
      long startNanos = System.nanoTime();
      var unused =
          bootstrap
              .connect(InetAddress.getLoopbackAddress(), port)
              .addListener(
                  (ChannelFuture connected) -> {
                    if (!connected.isSuccess()) {
                      throw new IllegalStateException(connected.cause());
                    }
                    Channel channel = connected.channel();
                    channel.pipeline().get(Reader.class).next(channel, startNanos);
                  });
    }
    left.await();
  }

  /** Of one connection. */
  private final class Reader extends ChannelInboundHandlerAdapter {
    private final String idsBegin;
    private final long lastNanos;
    private final long[] instants = new long[tokens];
    private String id = "";
    private long startNanos;
    private int count;

    Reader(String idsBegin, long lastNanos) {
      this.idsBegin = idsBegin;
      this.lastNanos = lastNanos;
    }

    void next(Channel channel, long start) {
      int request = begun.getAndIncrement();
      if (request >= requests || start > lastNanos) {
        var unused = channel.close();
        left.countDown();
        return;
      }
      id = idsBegin + request;
      count = 0;
      DefaultFullHttpRequest post =
          new DefaultFullHttpRequest(
              HttpVersion.HTTP_1_1,
              HttpMethod.POST,
              "/v1/chat/completions",
              Unpooled.wrappedBuffer(body));
      post.headers()
          .set(HttpHeaderNames.HOST, "127.0.0.1")
          .set(HttpHeaderNames.CONTENT_TYPE, "application/json")
          .set(HttpHeaderNames.CONTENT_LENGTH, body.length)
          .set("x-request-id", id);
      startNanos = start;
      var unused = channel.writeAndFlush(post, channel.voidPromise());
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      long now = System.nanoTime();
      try {
        if (message instanceof HttpContent content && count < tokens) {
          ByteBuf event = content.content();
          if (event.isReadable() && event.getByte(event.writerIndex() - 1) == '\n') {
            instants[count++] = now - startNanos;
          }
        }
      } finally {
        ReferenceCountUtil.release(message);
      }
      if (message instanceof LastHttpContent) {
        streams.add(new TimedStream(id, -1, startNanos, Arrays.copyOf(instants, count)));
        next(context.channel(), System.nanoTime());
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      cause.printStackTrace();
      System.exit(1);
    }
  }
}
