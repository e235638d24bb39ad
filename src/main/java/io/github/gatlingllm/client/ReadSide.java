package io.github.gatlingllm.client;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The socket's end of a connection. Reads the clock when bytes come in, before TLS and HTTP decode
 * them: all that one read brings shares one instant, and decoding its first part does not make the
 * next part late. Keeps why reading failed: Gatling's client swallows that, and reports a reset as
 * a plain close.
 *
 * <p>First handler of its connection, and stays there for later requests. Lives on its event loop.
 */
final class ReadSide extends ChannelInboundHandlerAdapter {

  private static final String NAME = "llm-read-side";

  private final LongSupplier nanoClock;
  private boolean reading;
  private long instant;
  private @Nullable Throwable failure;

  private ReadSide(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /** The one of that connection. */
  static ReadSide of(Channel connection, LongSupplier nanoClock) {
    ReadSide there = connection.pipeline().get(ReadSide.class);
    if (there != null) {
      return there;
    }
    ReadSide side = new ReadSide(nanoClock);
    connection.pipeline().addFirst(NAME, side);
    return side;
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

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    failure = cause;
    context.fireExceptionCaught(cause);
  }

  /** Why the connection failed; null where it did not, or was closed in order. */
  @Nullable Throwable failure() {
    return failure;
  }

  /** The instant of the read under way; the clock where what happens comes of no read. */
  long now() {
    return reading ? instant : nanoClock.getAsLong();
  }
}
