package io.github.gatlingllm.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.gatling.http.client.impl.DefaultHttpClient;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpContentDecompressor;
import io.netty.handler.codec.http.HttpHeaders;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class ConnectionWatchTest {

  private static final long SOON = ServerConnections.RIGHT_AFTER_NANOS - 1;

  private final AtomicLong clock = new AtomicLong();
  private final ServerConnections server = new ServerConnections("127.0.0.1:8000");
  private final EmbeddedChannel connection = new EmbeddedChannel();
  private final ConnectionWatch watch;

  ConnectionWatchTest() {
    connection
        .pipeline()
        .addLast(DefaultHttpClient.HTTP_CLIENT_CODEC, new ChannelInboundHandlerAdapter())
        .addLast(new HttpContentDecompressor(0));
    watch = ConnectionWatch.of(connection, clock::get);
  }

  private void request(boolean used) {
    watch.writing(clock.get(), used, server, null);
  }

  private void answer() {
    answer(EmptyHttpHeaders.INSTANCE);
  }

  private void answer(HttpHeaders headers) {
    connection.writeInbound(Unpooled.wrappedBuffer(new byte[1]));
    watch.headers(headers);
    watch.answered(clock.get());
  }

  /** What a channel does when the other side closes: nothing passes through its handlers. */
  private void serverCloses() {
    connection.unsafe().close(connection.voidPromise());
    connection.runPendingTasks();
  }

  private void assertCounts(int kept, int closed) {
    assertThat(server.kept()).as("kept").isEqualTo(kept);
    assertThat(server.needsNewConnections()).as("before the next request").isFalse();
    assertThat(server.closed()).as("closed").isEqualTo(closed);
  }

  /** How long after its answer a connection closes, and what is counted then. */
  @ParameterizedTest
  @CsvSource({"right after, '', 0, 1", "right after, Close, 0, 0", "later, '', 1, 0"})
  void closedByTheServer(String when, String announced, int kept, int closed) {
    request(false);
    answer(new DefaultHttpHeaders().set("Connection", announced));
    clock.addAndGet(when.equals("later") ? ServerConnections.RIGHT_AFTER_NANOS : SOON);
    serverCloses();
    assertCounts(kept, closed);
  }

  @Test
  void closedByTheClient() {
    request(false);
    answer();
    clock.addAndGet(SOON);
    var unused = connection.close();
    assertCounts(0, 0);
  }

  @Test
  void usedAgain() {
    request(false);
    answer();
    request(true);
    answer();
    assertCounts(1, 0);
    assertThat(server.hasClosedRightAfter()).isFalse();
    serverCloses();
    assertCounts(1, 1);
    assertThat(server.hasClosedRightAfter()).isTrue();
  }

  @Test
  void closedAsTheNextRequestWasWritten() {
    request(false);
    answer();
    clock.addAndGet(SOON);
    request(true);
    clock.addAndGet(SOON);
    serverCloses();
    assertThat(connection.isActive()).isFalse();
    assertThat(watch.isClosedUnanswered(clock.get())).isTrue();
    watch.foundClosed();
    assertCounts(0, 1);
  }

  @Test
  void cutInTheMiddleOfAResponseIsNotClosedRightAfterTheOneBefore() {
    request(false);
    answer();
    clock.addAndGet(SOON);
    request(true);
    connection.writeInbound(Unpooled.wrappedBuffer(new byte[1]));
    serverCloses();
    assertCounts(1, 0);
    assertThat(server.hasClosedRightAfter()).isFalse();
  }

  @Test
  void newConnectionThatClosesIsNotClosedUnanswered() {
    request(false);
    serverCloses();
    assertThat(watch.isClosedUnanswered(clock.get())).isFalse();
    assertCounts(0, 0);
  }

  @Test
  void kernelStatesRoundTripOfTheHandshakeAndCloseBeforeItIsRead() throws Exception {
    assumeTrue(Epoll.isAvailable(), "skipped: Linux only");
    EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
    try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Channel channel = connect(group, EpollSocketChannel.class, listener);
      ReadTimestamps first = ReadTimestamps.of(channel, clock::get);
      assertThat(ReadTimestamps.of(channel, clock::get)).isSameAs(first);
      assertThat(first.roundTripNanos()).isBetween(1_000L, TimeUnit.MINUTES.toNanos(1));
      try (Socket accepted = listener.accept()) {
        assertThat(accepted.isConnected()).isTrue();
        assertThat(ConnectionWatch.isClosed(channel)).isFalse();
      }
      while (!ConnectionWatch.isClosed(channel)) {
        Thread.onSpinWait();
      }
      assertThat(channel.isActive()).isTrue();
      channel.close().sync();
    } finally {
      group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }
  }

  @Test
  void otherSocketsStateNeither() throws Exception {
    EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Channel channel = connect(group, NioSocketChannel.class, listener);
      assertThat(ReadTimestamps.of(channel, clock::get).roundTripNanos()).isNull();
      assertThat(ConnectionWatch.isClosed(channel)).isFalse();
    } finally {
      group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }
  }

  private static Channel connect(
      EventLoopGroup group, Class<? extends Channel> socket, ServerSocket to) throws Exception {
    return new Bootstrap()
        .group(group)
        .channel(socket)
        .option(ChannelOption.AUTO_READ, false)
        .handler(new ChannelInboundHandlerAdapter())
        .connect(to.getLocalSocketAddress())
        .sync()
        .channel();
  }

  @Test
  void halfOfTheLastSixteenNeedNewConnections() {
    for (int i = 0; i < 7; i++) {
      server.wasClosed();
      server.wasKept();
    }
    assertThat(server.needsNewConnections()).isFalse();
    server.wasClosed();
    assertThat(server.needsNewConnections()).isTrue();
    assertThat(server.closed()).isEqualTo(8);
    assertThat(server.kept()).isEqualTo(7);
  }

  /** As when an embedded engine is closed behind the last answer of a run. */
  @Test
  void connectionsClosedAfterTheLastRequestAreNotCounted() {
    for (int i = 0; i < 10; i++) {
      server.wasKept();
    }
    for (int i = 0; i < 16; i++) {
      server.wasClosed();
    }
    server.wasKept(); // a connection that it has not closed yet when it is looked at
    assertThat(server.closed()).isZero();
  }

  @Test
  void everyTenthClosedConnectionIsAccepted() {
    for (int i = 1; i <= 1_000; i++) {
      if (i % 10 == 0) {
        server.wasClosed();
      } else {
        server.wasKept();
      }
      assertThat(server.needsNewConnections()).isFalse();
    }
  }

  /** As after all connections were closed together because a server was started again. */
  @Test
  void keptConnectionsEndTheNeedForNewOnes() {
    for (int i = 0; i < 64; i++) {
      server.wasClosed();
    }
    assertThat(server.needsNewConnections()).isTrue();
    for (int i = 0; i < 8; i++) {
      server.wasKept();
      assertThat(server.needsNewConnections()).isTrue();
    }
    server.wasKept();
    assertThat(server.needsNewConnections()).isFalse();
  }
}
