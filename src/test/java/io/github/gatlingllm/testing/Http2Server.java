package io.github.gatlingllm.testing;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2GoAwayFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.IdentityCipherSuiteFilter;
import io.netty.handler.ssl.JdkSslContext;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;

/** An HTTP/2 server on 127.0.0.1 whose streams a test answers frame by frame. */
public final class Http2Server implements AutoCloseable {

  private static final long LIMIT_SECONDS = 60;

  private static final int LATE_FRAMES = 3;
  private static final int LATE_BYTES = 10_000;

  /** First stream id of Gatling's client; stream 1 is not used. */
  private static final int FIRST_STREAM = 3;

  private final EventLoopGroup group =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final BlockingQueue<ServerStream> requests = new LinkedBlockingQueue<>();
  private final AtomicInteger connections = new AtomicInteger();
  private final AtomicInteger posts = new AtomicInteger();
  private final Channel listener;

  /** Starts the server, for example with a certificate of {@link SelfSigned}. */
  public Http2Server(SSLContext certificate) {
    JdkSslContext tls =
        new JdkSslContext(
            certificate,
            false,
            null,
            IdentityCipherSuiteFilter.INSTANCE,
            new ApplicationProtocolConfig(
                Protocol.ALPN,
                SelectorFailureBehavior.NO_ADVERTISE,
                SelectedListenerFailureBehavior.ACCEPT,
                "h2"),
            ClientAuth.NONE,
            null,
            false);
    listener =
        new ServerBootstrap()
            .group(group)
            .channel(NioServerSocketChannel.class)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel connection) {
                    connections.incrementAndGet();
                    connection
                        .pipeline()
                        .addLast(
                            tls.newHandler(connection.alloc()),
                            Http2FrameCodecBuilder.forServer()
                                .encoderIgnoreMaxHeaderListSize(true)
                                .build(),
                            new Http2MultiplexHandler(
                                new ChannelInitializer<Channel>() {
                                  @Override
                                  protected void initChannel(Channel stream) {
                                    stream.pipeline().addLast(new ServerStream(stream));
                                  }
                                }));
                  }
                })
            .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .syncUninterruptibly()
            .channel();
  }

  public String url() {
    return "https://127.0.0.1:" + ((InetSocketAddress) listener.localAddress()).getPort();
  }

  public int connections() {
    return connections.get();
  }

  public int posts() {
    return posts.get();
  }

  public ServerStream next() throws InterruptedException {
    ServerStream stream = requests.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
    assertThat(stream).as("next request").isNotNull();
    return stream;
  }

  public final class ServerStream extends ChannelInboundHandlerAdapter {
    private final Channel stream;
    private final CompletableFuture<Long> reset = new CompletableFuture<>();

    private ServerStream(Channel stream) {
      this.stream = stream;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object frame) {
      if (frame instanceof Http2DataFrame data && data.isEndStream()) {
        posts.incrementAndGet();
        requests.add(this);
      }
      ReferenceCountUtil.release(frame);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
      if (event instanceof Http2ResetFrame frame) {
        reset.complete(frame.errorCode());
      }
      ReferenceCountUtil.release(event);
    }

    public ServerStream startStream() {
      return startStream("x-server", "test");
    }

    public ServerStream startStream(String header, String value) {
      return write(
          new DefaultHttp2HeadersFrame(
              new DefaultHttp2Headers()
                  .status("200")
                  .set("content-type", "text/event-stream")
                  .set(header, value)));
    }

    /** Sends bytes of the body, as far as flow control allows. */
    public void bytes(byte[] bytes, boolean last) {
      var unused =
          stream.writeAndFlush(new DefaultHttp2DataFrame(Unpooled.wrappedBuffer(bytes), last));
    }

    public ServerStream event(String json) {
      byte[] data = ("data: " + json + "\n\n").getBytes(UTF_8);
      return write(new DefaultHttp2DataFrame(Unpooled.wrappedBuffer(data)));
    }

    /** Ends the stream, unless the client has reset it. */
    public void end() {
      bytes(new byte[0], true);
    }

    public void reset() {
      write(new DefaultHttp2ResetFrame(Http2Error.INTERNAL_ERROR));
    }

    /** Announces that the connection accepts no more streams (GOAWAY). */
    public void goAway() {
      stream
          .parent()
          .writeAndFlush(new DefaultHttp2GoAwayFrame(Http2Error.NO_ERROR))
          .syncUninterruptibly();
    }

    public void endWithTrailers() {
      write(new DefaultHttp2HeadersFrame(new DefaultHttp2Headers().set("x-checksum", "1"), true));
    }

    /** Sends GOAWAY, saying that no stream after the first one of the connection was processed. */
    public void goAwayAfterTheFirst() {
      Http2FrameCodec codec = stream.parent().pipeline().get(Http2FrameCodec.class);
      ChannelHandlerContext context = stream.parent().pipeline().context(codec);
      stream
          .parent()
          .eventLoop()
          .submit(
              () -> {
                var unused =
                    codec.goAway(
                        context,
                        FIRST_STREAM,
                        Http2Error.NO_ERROR.code(),
                        Unpooled.EMPTY_BUFFER,
                        context.newPromise());
                context.flush();
              })
          .syncUninterruptibly();
    }

    /** Sends frames of a stream that the client has reset, as those that crossed its reset. */
    public void framesAfterReset() {
      Http2FrameCodec codec = stream.parent().pipeline().get(Http2FrameCodec.class);
      int id = ((Http2StreamChannel) stream).stream().id();
      ByteBuf frames = Unpooled.buffer();
      for (int i = 0; i < LATE_FRAMES; i++) {
        frame(frames, Http2FrameTypes.DATA, id, new byte[LATE_BYTES]);
      }
      frame(frames, Http2FrameTypes.WINDOW_UPDATE, id, new byte[] {0, 0, 0, 1});
      frame(frames, Http2FrameTypes.RST_STREAM, id, new byte[] {0, 0, 0, 0});
      stream.parent().pipeline().context(codec).writeAndFlush(frames).syncUninterruptibly();
    }

    private static void frame(ByteBuf to, byte type, int stream, byte[] payload) {
      to.writeMedium(payload.length).writeByte(type).writeByte(0).writeInt(stream);
      to.writeBytes(payload);
    }

    public void closeConnection() {
      stream.parent().close().syncUninterruptibly();
    }

    /** The error code with which the client reset the stream. */
    public long awaitReset() throws Exception {
      return reset.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    private ServerStream write(Object frame) {
      stream.writeAndFlush(frame).syncUninterruptibly();
      return this;
    }
  }

  @Override
  public void close() {
    listener.close().syncUninterruptibly();
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }
}
