package io.github.gatlingllm.client;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.CorruptedFrameException;
import io.netty.util.concurrent.FastThreadLocal;

/**
 * Reads the body of one response with chunked transfer coding and passes its bytes to a receiver
 * without Netty's decoder, which would allocate two objects and make five calls per chunk, that is
 * per token. Netty's decoder handles the headers, the last chunk and the trailers. It takes over
 * the rest of the body at the first chunk whose size line is not just a number, such as one with a
 * chunk extension.
 *
 * <p>In a flood of 64 streams this class lets a core read 3.7 million events per CPU second, and
 * Netty's decoder 1.0 million ({@code bench/run flood}, C1).
 *
 * <p>Belongs to the event loop of its connection.
 */
final class ChunkedBody {

  /** Receives the bytes of a body. */
  interface Receiver {

    /** State of the response headers, which have just been decoded. */
    Headers headers();

    /** Bytes of the body; valid during the call only. */
    void body(byte[] bytes, int from, int length);
  }

  /** Form of the body, from the response headers. */
  enum Headers {
    /** The headers are incomplete, or belong to an interim (1xx) response. */
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

  /** Scratch memory of the event loop: bytes are copied once out of the network buffer. */
  static final FastThreadLocal<byte[]> SCRATCH =
      new FastThreadLocal<>() {
        @Override
        protected byte[] initialValue() {
          return new byte[64 * 1024];
        }
      };

  private static final int END_OF_HEADERS = 0x0d0a0d0a;

  /** Netty's decoder reads longer sizes. */
  private static final int MAX_DIGITS = 7;

  private final Receiver receiver;
  private State state = State.HEADERS;

  /** The last four bytes of the headers read so far. */
  private int lastBytes;

  /** The part of the size line read so far. */
  private final byte[] line = new byte[MAX_DIGITS + 2];

  private int lineLength;

  /** Whether the CR of a line end was read. */
  private boolean lineEnds;

  /** Bytes of the chunk not yet read. */
  private int left;

  ChunkedBody(Receiver receiver) {
    this.receiver = receiver;
  }

  /**
   * Reads a network buffer and releases it.
   *
   * @return whether Netty's decoder received a part of it
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
      // The headers end with other line ends than CRLF.
      state = State.DECODER;
    }
  }

  /** Works on a copy: a network buffer checks its bounds for every byte. */
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
   * Reads a size line: a hexadecimal number above 0, then CRLF. Returns the position after the
   * bytes read, as {@link #data} and {@link #dataEnd} do.
   */
  private int length(byte[] bytes, int from, int to) {
    for (int at = from; at < to; at++) {
      byte next = bytes[at];
      line[lineLength++] = next;
      int digit = digit(next);
      if (digit >= 0 && !lineEnds && lineLength <= MAX_DIGITS) {
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
