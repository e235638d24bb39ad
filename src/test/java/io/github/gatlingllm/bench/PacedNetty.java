package io.github.gatlingllm.bench;

import com.sun.management.OperatingSystemMXBean;
import io.gatling.netty.util.Transports;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
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
import java.io.BufferedWriter;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The least client there is that measures tokens: Netty's HTTP codec as Gatling sets it up, the
 * clock at each read, an instant per event, no JSON. A process of its own: {@code PacedNetty <port>
 * <streams> <seconds> <tokens> <file>} keeps so many streams going, all begun at once, each with a
 * connection of its own, and begins none after so many seconds. Prints the CPU nanoseconds of the
 * process from the first request to the last answer, and writes a line per request: its id, when it
 * was begun, and when each token was read.
 */
final class PacedNetty {

  private static final byte[] BODY =
      ("{\"model\":\"embedded\",\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}],"
              + "\"stream\":true,\"stream_options\":{\"include_usage\":true},\"max_tokens\":100,"
              + "\"ignore_eos\":true,\"min_tokens\":100}")
          .getBytes(StandardCharsets.US_ASCII);
  private static final long WARM_UP_NANOS = 2_500_000_000L;

  private final int port;
  private final int tokens;
  private final AtomicLong numbers = new AtomicLong();
  private volatile long endNanos;
  private volatile String prefix = "warm-";
  private CountDownLatch left = new CountDownLatch(0);

  private PacedNetty(int port, int tokens) {
    this.port = port;
    this.tokens = tokens;
  }

  public static void main(String[] args) throws Exception {
    int streams = Integer.parseInt(args[1]);
    double seconds = Double.parseDouble(args[2]);
    int tokens = Integer.parseInt(args[3]);
    EventLoopGroup eventLoops = Transports.newEventLoopGroup(true, false, 0, "netty");
    if (args.length > 5) {
      // As our own client does: classes are loaded and compiled by other streams before.
      new PacedNetty(Integer.parseInt(args[5]), 100).run(eventLoops, 32, WARM_UP_NANOS);
    }
    PacedNetty client = new PacedNetty(Integer.parseInt(args[0]), tokens);
    client.prefix = "netty-";
    long cpu = cpuNanos();
    List<Connection> connections = client.run(eventLoops, streams, Math.round(seconds * 1e9));
    System.out.println(cpuNanos() - cpu);
    write(connections, Path.of(args[4]));
    System.exit(0);
  }

  private List<Connection> run(EventLoopGroup eventLoops, int streams, long nanos)
      throws InterruptedException {
    List<Connection> connections = new ArrayList<>();
    left = new CountDownLatch(streams);
    endNanos = System.nanoTime() + nanos;
    for (int i = 0; i < streams; i++) {
      Connection connection = new Connection(eventLoops.next());
      connections.add(connection);
      connection.eventLoop.execute(connection::begin);
    }
    left.await();
    return connections;
  }

  private static void write(List<Connection> connections, Path file) throws IOException {
    try (BufferedWriter out = Files.newBufferedWriter(file)) {
      for (Connection connection : connections) {
        for (Answer answer : connection.answers) {
          StringBuilder line = new StringBuilder(answer.id).append(' ').append(answer.begun);
          for (long read : answer.read) {
            line.append(' ').append(read);
          }
          out.append(line).append('\n');
        }
      }
    }
  }

  private static long cpuNanos() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  private static final class Answer {
    private final String id;
    private final long begun;
    private final long[] read;
    private int count;

    Answer(String id, long begun, int tokens) {
      this.id = id;
      this.begun = begun;
      this.read = new long[tokens];
    }
  }

  private final class Connection extends ChannelInboundHandlerAdapter {
    private final EventLoop eventLoop;
    private final List<Answer> answers = new ArrayList<>();
    private Answer answer = new Answer("", 0, 0);

    Connection(EventLoop eventLoop) {
      this.eventLoop = eventLoop;
    }

    void begin() {
      take();
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
                          .addLast(new HttpClientCodec(decoder, false, false), Connection.this);
                    }
                  })
              .connect(InetAddress.getLoopbackAddress(), port)
              .addListener((ChannelFuture connected) -> send(connected.channel()));
    }

    private void take() {
      answer = new Answer(prefix + numbers.getAndIncrement(), System.nanoTime(), tokens);
      answers.add(answer);
    }

    private void send(Channel connection) {
      DefaultFullHttpRequest request =
          new DefaultFullHttpRequest(
              HttpVersion.HTTP_1_1,
              HttpMethod.POST,
              "/v1/chat/completions",
              Unpooled.wrappedBuffer(BODY));
      request
          .headers()
          .set(HttpHeaderNames.HOST, "127.0.0.1:" + port)
          .set(HttpHeaderNames.CONTENT_TYPE, "application/json")
          .set(HttpHeaderNames.ACCEPT, "text/event-stream")
          .set("X-Request-Id", answer.id)
          .set(HttpHeaderNames.CONTENT_LENGTH, BODY.length);
      var unused = connection.writeAndFlush(request, connection.voidPromise());
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      long now = System.nanoTime();
      try {
        if (message instanceof HttpContent content && answer.count < tokens) {
          ByteBuf bytes = content.content();
          int end = bytes.writerIndex();
          if (bytes.readableBytes() > 1 && bytes.getShort(end - 2) == 0x0a0a) {
            answer.read[answer.count++] = now;
          }
        }
      } finally {
        ReferenceCountUtil.release(message);
      }
      if (message instanceof LastHttpContent) {
        if (answer.count != tokens) {
          throw new IllegalStateException(answer.count + " tokens instead of " + tokens);
        }
        if (now < endNanos) {
          take();
          send(context.channel());
        } else {
          var unused = context.close();
          left.countDown();
        }
      }
    }
  }
}
