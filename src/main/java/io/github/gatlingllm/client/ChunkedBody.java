package io.github.gatlingllm.client;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.CorruptedFrameException;
import io.netty.util.concurrent.FastThreadLocal;

/**
 * The body of one answer, where it comes in chunks of HTTP/1.1: its bytes go straight from the read
 * to their receiver. Netty's decoder behind it would make two objects and five calls of every
 * chunk, thus of every token. It sees the headers, and the last chunk with what follows; it is
 * handed all the rest too as soon as a chunk does not begin in the plainest way, with a length and
 * nothing else.
 *
 * <p>Lives on the event loop of its connection.
 */
final class ChunkedBody {

  /** Who wants the bytes of a body. */
  interface Receiver {

    /** What is known of the answer, from the headers that were just decoded. */
    Headers headers();

    /** Bytes of the body, valid during the call. */
    void body(byte[] bytes, int from, int length);
  }

  /** What headers say of the body behind them. */
  enum Headers {
    /** They are not whole, or belong to an interim answer. */
    NONE_YET,
    CHUNKED,
    OTHER
  }

  private enum State {
    HEADERS,
    LENGTH,
    DATA,
    DATA_END,
    DECODER
  }

  /** Of the event loop: bytes are copied out of the network buffer once, and not kept. */
  static final FastThreadLocal<byte[]> SCRATCH =
      new FastThreadLocal<>() {
        @Override
        protected byte[] initialValue() {
          return new byte[64 * 1024];
        }
      };

  private static final int END_OF_HEADERS = 0x0d0a0d0a;

  /** Digits of a length that is read here. */
  private static final int MOST_DIGITS = 7;

  private final Receiver receiver;
  private State state = State.HEADERS;

  /** The last four bytes of the headers so far. */
  private int lastBytes;

  /** The line with the length, as far as it was read. */
  private final byte[] line = new byte[MOST_DIGITS + 2];

  private int lineLength;

  /** The CR of a line end was read. */
  private boolean lineEnds;

  /** Bytes of the chunk that are to come. */
  private int left;

  ChunkedBody(Receiver receiver) {
    this.receiver = receiver;
  }

  /**
   * Takes over the buffer.
   *
   * @return whether Netty's decoder was given any of it
   */
  boolean read(ChannelHandlerContext context, ByteBuf in) {
    if (state == State.DECODER) {
      context.fireChannelRead(in);
      return true;
    }
    boolean plain = state != State.HEADERS;
    try {
      while (in.isReadable()) {
        switch (state) {
          case HEADERS -> headers(context, in);
          case LENGTH, DATA, DATA_END -> chunks(context, in);
          case DECODER -> context.fireChannelRead(in.readRetainedSlice(in.readableBytes()));
        }
      }
    } finally {
      in.release();
    }
    return !plain || state == State.DECODER;
  }

  private void headers(ChannelHandlerContext context, ByteBuf in) {
    int from = in.readerIndex();
    int to = in.writerIndex();
    int at = from;
    int last = lastBytes;
    while (at < to && last != END_OF_HEADERS) {
      last = (last << 8) | (in.getByte(at++) & 0xFF);
    }
    lastBytes = last;
    context.fireChannelRead(in.readRetainedSlice(at - from));
    if (last == END_OF_HEADERS) {
      lastBytes = 0;
      state =
          switch (receiver.headers()) {
            case NONE_YET -> State.HEADERS;
            case CHUNKED -> State.LENGTH;
            case OTHER -> State.DECODER;
          };
    } else if (receiver.headers() != Headers.NONE_YET) {
      // Lines that end otherwise.
      state = State.DECODER;
    }
  }

  /** Copies what was read at once: a network buffer checks its bounds for every byte. */
  private void chunks(ChannelHandlerContext context, ByteBuf in) {
    byte[] bytes = SCRATCH.get();
    int from = in.readerIndex();
    int to = Math.min(in.readableBytes(), bytes.length);
    in.getBytes(from, bytes, 0, to);
    int at = 0;
    while (at < to && state != State.DECODER) {
      at =
          switch (state) {
            case DATA -> data(bytes, at, to);
            case DATA_END -> dataEnd(bytes, at);
            default -> length(bytes, at, to);
          };
    }
    in.readerIndex(from + at);
    if (state == State.DECODER) {
      context.fireChannelRead(Unpooled.copiedBuffer(line, 0, lineLength));
    }
  }

  /**
   * A line that ends with CR and LF and holds a number of bytes above 0, and nothing else. Each of
   * these methods returns how far it has come.
   */
  private int length(byte[] bytes, int from, int to) {
    for (int at = from; at < to; at++) {
      byte next = bytes[at];
      line[lineLength++] = next;
      int digit = digit(next);
      if (digit >= 0 && !lineEnds && lineLength <= MOST_DIGITS) {
        left = left * 16 + digit;
      } else if (next == '\r' && left > 0 && !lineEnds) {
        lineEnds = true;
      } else {
        boolean isWhole = next == '\n' && lineEnds;
        state = isWhole ? State.DATA : State.DECODER;
        lineLength = isWhole ? 0 : lineLength;
        lineEnds &= !isWhole;
        return at + 1;
      }
    }
    return to;
  }

  private static int digit(byte c) {
    return c >= '0' && c <= '9' ? c - '0' : Character.digit(c, 16);
  }

  private int data(byte[] bytes, int from, int to) {
    int length = Math.min(left, to - from);
    receiver.body(bytes, from, length);
    left -= length;
    if (left == 0) {
      state = State.DATA_END;
    }
    return from + length;
  }

  private int dataEnd(byte[] bytes, int at) {
    if (bytes[at] != (lineEnds ? '\n' : '\r')) {
      throw new CorruptedFrameException("a chunk is longer than it says");
    }
    lineEnds = !lineEnds;
    if (!lineEnds) {
      state = State.LENGTH;
    }
    return at + 1;
  }
}
