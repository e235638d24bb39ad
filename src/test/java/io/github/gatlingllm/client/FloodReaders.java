package io.github.gatlingllm.client;

import io.gatling.http.client.HttpClient;
import io.gatling.http.client.HttpClientConfig;
import io.gatling.http.client.HttpListener;
import io.gatling.http.client.Request;
import io.gatling.http.client.RequestBuilder;
import io.gatling.http.client.body.bytearray.ByteArrayRequestBodyBuilder;
import io.gatling.http.client.impl.DefaultHttpClient;
import io.gatling.http.client.resolver.InetAddressNameResolver;
import io.gatling.http.client.uri.Uri;
import io.gatling.netty.util.Transports;
import io.github.gatlingllm.record.Phase;
import io.github.gatlingllm.record.Recorder;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.Timeline;
import io.github.gatlingllm.stats.LiveStats;
import io.github.gatlingllm.wire.Secrets;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** The ways to receive a flood that are compared. */
final class FloodReaders {

  private FloodReaders() {}

  /** The least there is: Netty's HTTP codec as Gatling sets it up, and a count of bytes. */
  static final class Netty implements FloodClient.Reader {
    private final int port;
    private final byte[] body;
    private final Map<Integer, Channel> connections = new ConcurrentHashMap<>();

    Netty(int port, byte[] body) {
      this.port = port;
      this.body = body;
    }

    @Override
    public void read(int stream, EventLoop eventLoop, Runnable whenEnded) {
      Channel connection = connections.get(stream);
      if (connection != null) {
        connection.pipeline().get(ByteCount.class).whenEnded = whenEnded;
        send(connection);
      } else {
        connect(stream, eventLoop, whenEnded);
      }
    }

    private void connect(int stream, EventLoop eventLoop, Runnable whenEnded) {
      HttpDecoderConfig decoder =
          new HttpDecoderConfig().setMaxHeaderSize(Integer.MAX_VALUE).setValidateHeaders(false);
      var unused =
          new Bootstrap()
              .group(eventLoop)
              .channelFactory(Transports.newSocketChannelFactory(true, false))
              .handler(
                  new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                      channel
                          .pipeline()
                          .addLast(
                              new HttpClientCodec(decoder, false, false), new ByteCount(whenEnded));
                    }
                  })
              .connect(InetAddress.getLoopbackAddress(), port)
              .addListener(
                  (io.netty.channel.ChannelFuture connected) -> {
                    connections.put(stream, connected.channel());
                    send(connected.channel());
                  });
    }

    private void send(Channel connection) {
      DefaultFullHttpRequest request =
          new DefaultFullHttpRequest(
              HttpVersion.HTTP_1_1, HttpMethod.POST, "/", Unpooled.wrappedBuffer(body));
      request.headers().set(HttpHeaderNames.CONTENT_LENGTH, body.length);
      var unused = connection.writeAndFlush(request, connection.voidPromise());
    }

    @Override
    public void close() {}
  }

  private static final class ByteCount extends ChannelInboundHandlerAdapter {
    private Runnable whenEnded;
    private long bytes;

    ByteCount(Runnable whenEnded) {
      this.whenEnded = whenEnded;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      try {
        if (message instanceof HttpContent content) {
          bytes += content.content().readableBytes();
        }
      } finally {
        ReferenceCountUtil.release(message);
      }
      if (message instanceof LastHttpContent) {
        if (bytes == 0) {
          throw new IllegalStateException("a stream without a byte");
        }
        whenEnded.run();
      }
    }
  }

  /** Gatling's client, each stream a user with a connection of its own. */
  private static final class Http {
    private final HttpClient client =
        new DefaultHttpClient(new HttpClientConfig().setUseNativeTransport(true));
    private final Request request;

    Http(int port, byte[] body) {
      Uri uri = Uri.create("http://127.0.0.1:" + port + "/v1/chat/completions");
      request =
          new RequestBuilder("flood", HttpMethod.POST, uri, InetAddressNameResolver.JAVA_RESOLVER)
              .setBodyBuilder(new ByteArrayRequestBodyBuilder(body, null))
              .setRequestTimeout(60_000)
              .build();
    }

    void send(int stream, EventLoop eventLoop, HttpListener listener) {
      client.sendRequest(request, stream, eventLoop, listener, null);
    }

    void close() {
      try {
        client.close();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /** Gatling's HTTP client, and a count of bytes: what there is before any of ours. */
  static final class Gatling implements FloodClient.Reader {
    private final Http http;

    Gatling(int port, byte[] body) {
      http = new Http(port, body);
    }

    @Override
    public void read(int stream, EventLoop eventLoop, Runnable whenEnded) {
      http.send(
          stream,
          eventLoop,
          new HttpListener() {
            private long bytes;

            @Override
            public void onFinalClientRequest(Request request) {}

            @Override
            public void onHttpResponse(HttpResponseStatus status, HttpHeaders headers) {}

            @Override
            public void onHttpResponseBodyChunk(ByteBuf chunk, boolean last) {
              bytes += chunk.readableBytes();
              if (last) {
                if (bytes == 0) {
                  throw new IllegalStateException("a stream without a byte");
                }
                whenEnded.run();
              }
            }

            @Override
            public void onThrowable(Throwable e) {
              e.printStackTrace();
              System.exit(1);
            }
          });
    }

    @Override
    public void close() {
      http.close();
    }
  }

  /** The whole path of a run: decoded, parsed, timed, recorded, and seen by the live figures. */
  static final class Llm implements FloodClient.Reader {
    private static final StreamedExchange.ReadOptions SETTINGS =
        new StreamedExchange.ReadOptions(true, 60_000_000_000L, Secrets.NONE, null);
    private static final TokenCounts.Asked ASKED = new TokenCounts.Asked(16, null);

    private final Http http;
    private final int events;
    private final Path file = Files.createTempDirectory("flood").resolve("requests.jsonl");
    private final Recorder recorder = Recorder.open(file, new LiveStats(System::nanoTime));
    private final AtomicLong index = new AtomicLong();
    private final ServerConnections server = new ServerConnections("flood");

    Llm(int port, byte[] body, int events) throws IOException {
      http = new Http(port, body);
      this.events = events;
    }

    @Override
    public void read(int stream, EventLoop eventLoop, Runnable whenEnded) {
      long start = System.nanoTime();
      Timeline timeline = new Timeline(start, start);
      timeline.admitted(start);
      StreamedExchange exchange =
          new StreamedExchange(
              timeline,
              new ReceivedAnswer(timeline, 1),
              SETTINGS,
              eventLoop,
              System::nanoTime,
              ended -> {
                recorder.record(record(ended, stream, start));
                whenEnded.run();
              });
      exchange.send(new KeptAlive(stream, eventLoop));
    }

    /** Each stream stays on its connection. */
    private final class KeptAlive implements StreamedExchange.Transport {
      private final int stream;
      private final EventLoop eventLoop;

      KeptAlive(int stream, EventLoop eventLoop) {
        this.stream = stream;
        this.eventLoop = eventLoop;
      }

      @Override
      public ServerConnections server() {
        return server;
      }

      @Override
      public void send(HttpListener listener) {
        http.send(stream, eventLoop, listener);
      }

      @Override
      public void sendAlone(HttpListener listener) {
        throw new IllegalStateException("the server closed a connection");
      }

      @Override
      public void ended() {}
    }

    private RequestRecord record(StreamedExchange exchange, int stream, long start) {
      ReceivedAnswer answer = exchange.answer();
      StreamedExchange.Ending ending = exchange.ending();
      if (ending.status() != RequestStatus.COMPLETE || exchange.timeline().count() != events) {
        System.err.println(ending + ", token events: " + exchange.timeline().count());
        System.exit(1);
      }
      RequestRecord.Tokens tokens = TokenCounts.atOnce(ASKED, answer, exchange.timeline());
      long number = index.getAndIncrement();
      return new RequestRecord(
          new RequestRecord.Identity(
              "flood-" + number,
              "flood",
              "here",
              null,
              number,
              "flood",
              "flood",
              List.of(),
              stream,
              null,
              "flood",
              "http://127.0.0.1/v1/chat/completions",
              "flood",
              "chat",
              true,
              "c=64",
              Phase.MEASURE),
          exchange.timeline().timing(start, null, tokens.streamedTokens()),
          exchange.timeline().events(true),
          tokens,
          new RequestRecord.Outcome(
              answer.finishReason(),
              ending.httpStatus(),
              ending.status(),
              true,
              null,
              null,
              List.of(),
              false),
          answer.server(),
          null);
    }

    @Override
    public void close() throws IOException {
      http.close();
      boolean drained = recorder.close(Duration.ofSeconds(10));
      if (!drained || recorder.dropped() + recorder.failed() > 0) {
        throw new IllegalStateException(
            "lost records: " + recorder.dropped() + " dropped, " + recorder.failed() + " failed");
      }
      Files.delete(file);
      Files.delete(file.getParent());
    }
  }
}
