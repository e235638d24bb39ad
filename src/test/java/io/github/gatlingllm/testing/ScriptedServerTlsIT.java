package io.github.gatlingllm.testing;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslHandler;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class ScriptedServerTlsIT {

  @Test
  void endsTlsWithAndWithoutCloseNotify(@TempDir Path folder) throws Exception {
    SSLContext tls = SelfSigned.sslContext(folder);
    try (ScriptedServer server =
        ScriptedServer.startTls(
            tls,
            x -> x.send("a").close(),
            x -> x.send("b").close(),
            x -> x.send("c").closeWithoutNotify())) {
      assertThat(server.baseUrl()).startsWith("https://");
      try (Socket socket =
          tls.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), server.port())) {
        socket.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(UTF_8));
        assertThat(socket.getInputStream().readAllBytes()).isEqualTo(new byte[] {'a'});
      }
      assertThat(closeNotifySeen(tls, server)).isTrue();
      assertThat(closeNotifySeen(tls, server)).isFalse();
    }
  }

  /** The JDK's own sockets hide a missing close_notify; Netty tells. */
  private static boolean closeNotifySeen(SSLContext tls, ScriptedServer server) throws Exception {
    SSLEngine engine = tls.createSSLEngine();
    engine.setUseClientMode(true);
    SslHandler handler = new SslHandler(engine);
    EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    try {
      Channel channel =
          new Bootstrap()
              .group(group)
              .channel(NioSocketChannel.class)
              .handler(handler)
              .connect(InetAddress.getLoopbackAddress(), server.port())
              .sync()
              .channel();
      channel.writeAndFlush(Unpooled.copiedBuffer("GET / HTTP/1.1\r\n\r\n", UTF_8)).sync();
      return handler.sslCloseFuture().await().isSuccess();
    } finally {
      group.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
    }
  }
}
