package io.github.gatlingllm.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class BoundedReadsTest {

  private final AtomicLong clock = new AtomicLong();
  private final StringBuilder seen = new StringBuilder();
  private long nanosPerPart;

  private final EmbeddedChannel connection =
      new EmbeddedChannel(
          new BoundedReads(clock::get),
          new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object bytes) {
              ByteBuf part = (ByteBuf) bytes;
              seen.append(part.readableBytes() / 1024).append(' ');
              part.release();
              clock.addAndGet(nanosPerPart);
            }

            @Override
            public void channelReadComplete(ChannelHandlerContext context) {
              seen.append("| ");
            }

            @Override
            public void channelInactive(ChannelHandlerContext context) {
              seen.append("closed");
            }
          });

  private void read(int kib) {
    connection.writeInbound(Unpooled.wrappedBuffer(new byte[kib * 1024]));
  }

  @Test
  void quickReadsPassImmediately() {
    nanosPerPart = 1_000;
    read(3);
    read(10);
    assertThat(seen).hasToString("3 | 4 4 2 | ");
    assertThat(connection.config().isAutoRead()).isTrue();
  }

  @Test
  void slowReadsLetTheLoopRun() {
    nanosPerPart = 6_000_000;
    connection.pipeline().fireChannelRead(Unpooled.wrappedBuffer(new byte[12 * 1024]));
    connection.pipeline().fireChannelRead(Unpooled.wrappedBuffer(new byte[5 * 1024]));
    assertThat(seen).hasToString("4 4 ");
    assertThat(connection.config().isAutoRead()).isFalse();
    connection.pipeline().fireChannelInactive();
    assertThat(seen).hasToString("4 4 ");
    while (!connection.config().isAutoRead()) {
      connection.runScheduledPendingTasks();
    }
    assertThat(seen).as("turns of the loop").hasToString("4 4 4 4 | 1 | closed");
  }
}
