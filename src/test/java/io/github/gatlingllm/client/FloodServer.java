package io.github.gatlingllm.client;

import io.gatling.netty.util.Transports;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ServerChannel;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpRequestDecoder;
import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * Answers every request with one event stream, encoded beforehand and handed to the kernel in one
 * piece, so that a client meets events as fast as it can read them. A process of its own: {@code
 * FloodServer <token events> <bytes per HTTP chunk, 0 for an event each> <what each chunk ends
 * with>} prints its port and ends with its standard input.
 */
final class FloodServer {

  private static final String HEAD =
      "\"id\":\"chatcmpl-8f6c2c9d2b9a4a53a1f3c7e1d5b0e6aa\",\"object\":\"chat.completion.chunk\","
          + "\"created\":1763481600,\"model\":\"meta-llama/Llama-3.1-8B-Instruct\"";

  private FloodServer() {}

  public static void main(String[] args) throws Exception {
    byte[] answer =
        answer(Integer.parseInt(args[0]), Integer.parseInt(args[1]), Extra.valueOf(args[2]));
    ByteBuf flood =
        Unpooled.unreleasableBuffer(
            Unpooled.directBuffer(answer.length).writeBytes(answer).asReadOnly());
    Class<? extends ServerChannel> transport =
        Epoll.isAvailable() ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
    Channel listener =
        new ServerBootstrap()
            .group(Transports.newEventLoopGroup(true, false, 1, "flood"))
            .channel(transport)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    channel
                        .pipeline()
                        .addLast(
                            new HttpRequestDecoder(),
                            new HttpObjectAggregator(1 << 20),
                            new Answers(flood));
                  }
                })
            .bind(InetAddress.getLoopbackAddress(), 0)
            .sync()
            .channel();
    System.out.println(((InetSocketAddress) listener.localAddress()).getPort());
    while (System.in.read() >= 0) {
      // Whoever started it says nothing more until it ends.
    }
    System.exit(0);
  }

  /** What follows the choices of each token's chunk. */
  enum Extra {
    NOTHING,
    USAGE,
    OBFUSCATION;

    private String json(int tokens) {
      return switch (this) {
        case NOTHING -> "";
        case USAGE -> usage(tokens);
        case OBFUSCATION -> ",\"obfuscation\":\"" + "x".repeat(tokens % 17) + "\"";
      };
    }
  }

  /** A whole HTTP response: role, tokens, finish reason, usage, end. */
  private static byte[] answer(int tokens, int chunkBytes, Extra extra) {
    Chunked body = new Chunked(chunkBytes);
    body.event(chunk("{\"role\":\"assistant\",\"content\":\"\"}", "null", ""));
    for (int i = 0; i < tokens; i++) {
      String delta = "{\"content\":\" tok" + i % 100 + "\"}";
      body.event(chunk(delta, "null", extra.json(i + 1)));
    }
    body.event(chunk("{\"content\":\"\"}", "\"stop\"", ""));
    body.event("{" + HEAD + ",\"choices\":[]" + usage(tokens) + "}");
    body.event("[DONE]");
    return body.end();
  }

  private static String chunk(String delta, String finishReason, String extra) {
    return String.format(
        Locale.ROOT,
        "{%s,\"choices\":[{\"index\":0,\"delta\":%s,\"logprobs\":null,\"finish_reason\":%s}]%s}",
        HEAD,
        delta,
        finishReason,
        extra);
  }

  private static String usage(int tokens) {
    return String.format(
        Locale.ROOT,
        ",\"usage\":{\"prompt_tokens\":9,\"total_tokens\":%d,\"completion_tokens\":%d}",
        tokens + 9,
        tokens);
  }

  /** A response under way. */
  private static final class Chunked {
    private final int chunkBytes;
    private final ByteArrayOutputStream response = new ByteArrayOutputStream();
    private final ByteArrayOutputStream waiting = new ByteArrayOutputStream();

    Chunked(int chunkBytes) {
      this.chunkBytes = chunkBytes;
      put("HTTP/1.1 200 OK\r\n");
      put("content-type: text/event-stream; charset=utf-8\r\n");
      put("transfer-encoding: chunked\r\n\r\n");
    }

    void event(String data) {
      waiting.writeBytes(("data: " + data + "\n\n").getBytes(StandardCharsets.UTF_8));
      byte[] bytes = waiting.toByteArray();
      int size = chunkBytes == 0 ? bytes.length : chunkBytes;
      if (bytes.length >= size) {
        waiting.reset();
        waiting.write(bytes, size, bytes.length - size);
        chunk(bytes, size);
      }
    }

    byte[] end() {
      if (waiting.size() > 0) {
        chunk(waiting.toByteArray(), waiting.size());
      }
      put("0\r\n\r\n");
      return response.toByteArray();
    }

    private void chunk(byte[] bytes, int length) {
      put(Integer.toHexString(length) + "\r\n");
      response.write(bytes, 0, length);
      put("\r\n");
    }

    private void put(String ascii) {
      response.writeBytes(ascii.getBytes(StandardCharsets.US_ASCII));
    }
  }

  @Sharable
  private static final class Answers extends SimpleChannelInboundHandler<FullHttpRequest> {
    private final ByteBuf flood;

    Answers(ByteBuf flood) {
      this.flood = flood;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
      var unused = context.writeAndFlush(flood.duplicate(), context.voidPromise());
    }
  }
}
