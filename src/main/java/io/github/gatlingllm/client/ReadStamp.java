package io.github.gatlingllm.client;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.function.LongSupplier;

/**
 * Reads the clock when bytes come out of the socket, before TLS and HTTP decode them: all that one
 * read brings shares one instant, and decoding its first part does not make the next part late.
 * First handler of its connection, and stays there for later requests. Lives on its event loop.
 */
final class ReadStamp extends ChannelInboundHandlerAdapter {

  private static final String NAME = "llm-read-stamp";

  private final LongSupplier nanoClock;
  private boolean reading;
  private long instant;

  private ReadStamp(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /** The one of that connection. */
  static ReadStamp of(Channel connection, LongSupplier nanoClock) {
    ReadStamp there = connection.pipeline().get(ReadStamp.class);
    if (there != null) {
      return there;
    }
    ReadStamp stamp = new ReadStamp(nanoClock);
    connection.pipeline().addFirst(NAME, stamp);
    return stamp;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object bytes) {
    instant = nanoClock.getAsLong();
    reading = true;
    try {
      context.fireChannelRead(bytes);
    } finally {
      reading = false;
    }
  }

  /** The instant of the read under way; the clock where what happens comes of no read. */
  long now() {
    return reading ? instant : nanoClock.getAsLong();
  }
}
