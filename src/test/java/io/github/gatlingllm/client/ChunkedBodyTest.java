package io.github.gatlingllm.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ChunkedBodyTest {

  private static final String HEAD = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

  /** Bytes of an answer, what of them was body, and what the decoder behind was given. */
  private static final class Answer implements ChunkedBody.Receiver {
    private final StringBuilder body = new StringBuilder();
    private final StringBuilder forDecoder = new StringBuilder();
    private final boolean isChunked;
    private final EmbeddedChannel channel;

    Answer(boolean isChunked) {
      this.isChunked = isChunked;
      ChunkedBody chunks = new ChunkedBody(this);
      channel =
          new EmbeddedChannel(
              new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext context, Object bytes) {
                  chunks.read(context, (ByteBuf) bytes);
                }
              });
    }

    Answer read(String ascii) {
      ByteBuf bytes = Unpooled.copiedBuffer(ascii, StandardCharsets.US_ASCII);
      try {
        channel.writeInbound(bytes);
      } finally {
        take();
      }
      assertThat(bytes.refCnt()).isZero();
      return this;
    }

    private void take() {
      for (ByteBuf some = channel.readInbound(); some != null; some = channel.readInbound()) {
        forDecoder.append(some.toString(StandardCharsets.US_ASCII));
        some.release();
      }
    }

    @Override
    public boolean isChunked() {
      return isChunked;
    }

    @Override
    public void body(byte[] bytes, int from, int length) {
      body.append(new String(bytes, from, length, StandardCharsets.US_ASCII));
    }
  }

  private static Answer chunked() {
    return new Answer(true);
  }

  static Stream<Arguments> reads() {
    return Stream.of(
        // chunks of one read, body, what the decoder gets of them
        arguments("5\r\nhello\r\n0\r\n\r\n", "hello", "0\r\n\r\n"),
        arguments("1\r\na\r\n00b\r\n 0\r\n\r\nworld\r\n", "a 0\r\n\r\nworld", ""),
        arguments("1\r\na\r\n5;x=y\r\nhello\r\n", "a", "5;x=y\r\nhello\r\n"),
        arguments("1\r\na\r\n5\nhello\r\n", "a", "5\nhello\r\n"),
        arguments("1\r\na\r\n\r\nmore", "a", "\r\nmore"),
        arguments("1\r\na\r\nffffffff\r\nmore", "a", "ffffffff\r\nmore"),
        arguments("1\r\na\r\nfffffff\r\nmore", "a", "fffffff\r\nmore"),
        arguments("1\r\na\r\nno length", "a", "no length"),
        arguments("1\r\na\r\n3\r\nhello\r\n", "a", "3\r\nhello\r\n"));
  }

  @ParameterizedTest
  @MethodSource("reads")
  void wholeChunks(String chunks, String body, String forDecoder) {
    for (List<String> reads : List.of(List.of(HEAD + chunks), List.of(HEAD, chunks))) {
      Answer answer = chunked();
      reads.forEach(answer::read);
      assertThat(answer.body).hasToString(body);
      assertThat(answer.forDecoder).hasToString(HEAD + forDecoder);
      answer.read("1\r\nb\r\n");
      assertThat(answer.body).hasToString(forDecoder.isEmpty() ? body + "b" : body);
    }
  }

  /** What is split over reads is decoded by Netty: nothing is lost, doubled or reordered. */
  @Test
  void splitAtEveryByte() {
    String all = HEAD + "1\r\na\r\n00b\r\n 0\r\n\r\nworld\r\n1\r\nc\r\n";
    for (int cut = 1; cut < all.length(); cut++) {
      Answer answer = chunked().read(all.substring(0, cut)).read(all.substring(cut));
      String decoded = answer.forDecoder.substring(HEAD.length());
      assertThat(all).as("cut at " + cut).endsWith(decoded);
      String direct = all.substring(HEAD.length(), all.length() - decoded.length());
      Answer whole = chunked().read(HEAD + direct);
      assertThat(answer.body).as("cut at " + cut).hasToString(whole.body.toString());
      assertThat(whole.forDecoder).hasToString(HEAD);
    }
  }

  @Test
  void otherBodiesGoToTheDecoder() {
    String all = HEAD + "5\r\nhello\r\n0\r\n\r\n";
    Answer answer = new Answer(false).read(all);
    assertThat(answer.body).isEmpty();
    assertThat(answer.forDecoder).hasToString(all);
  }
}
