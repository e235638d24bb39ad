package io.github.gatlingllm.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The round trip of a connection, as the kernel measured its handshake. */
class ReadTimestampsTest {

  @Test
  void kernelTellsTheRoundTripOfTheHandshake() throws Exception {
    assumeTrue(Epoll.isAvailable(), "epoll is there on Linux only");
    assertThat(roundTrip(EpollIoHandler.newFactory(), EpollSocketChannel.class))
        .isBetween(1_000L, TimeUnit.MINUTES.toNanos(1));
  }

  @Test
  void otherSocketsDoNotTell() throws Exception {
    assertThat(roundTrip(NioIoHandler.newFactory(), NioSocketChannel.class)).isNull();
  }

  private static @Nullable Long roundTrip(
      IoHandlerFactory handlers, Class<? extends Channel> socket) throws Exception {
    EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, handlers);
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Channel connection =
          new Bootstrap()
              .group(group)
              .channel(socket)
              .handler(new ChannelInboundHandlerAdapter())
              .connect(server.getLocalSocketAddress())
              .sync()
              .channel();
      ReadTimestamps first = ReadTimestamps.of(connection, System::nanoTime);
      assertThat(ReadTimestamps.of(connection, System::nanoTime)).isSameAs(first);
      return first.roundTripNanos();
    } finally {
      group.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
    }
  }
}
