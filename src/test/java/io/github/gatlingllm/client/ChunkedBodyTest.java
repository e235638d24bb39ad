package io.github.gatlingllm.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.CorruptedFrameException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChunkedBodyTest {

  private static final String HEAD = "HTTP/1.1 200 OK\\r\\ntransfer-encoding: chunked\\r\\n\\r\\n";

  /** Bytes of an answer, what of them was body, and what the decoder behind was given. */
  private static final class Answer implements ChunkedBody.Receiver {
    private final StringBuilder body = new StringBuilder();
    private final StringBuilder forDecoder = new StringBuilder();
    private final String head;
    private final EmbeddedChannel channel;

    Answer(String head, ChunkedBody.Headers kind) {
      this.head = head;
      this.kind = kind;
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

    private final ChunkedBody.Headers kind;

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
    public ChunkedBody.Headers headers() {
      take();
      return forDecoder.toString().startsWith(head) ? kind : ChunkedBody.Headers.NONE_YET;
    }

    @Override
    public void body(byte[] bytes, int from, int length) {
      body.append(new String(bytes, from, length, StandardCharsets.US_ASCII));
    }
  }

  private static Answer chunked() {
    return new Answer(real(HEAD), ChunkedBody.Headers.CHUNKED);
  }

  /** With line ends for their escapes. */
  private static String real(String escaped) {
    return escaped.replace("\\r", "\r").replace("\\n", "\n");
  }

  @ParameterizedTest
  @CsvSource({
    // chunks                                      body           what the decoder gets of them
    "5\\r\\nhello\\r\\n0\\r\\n\\r\\n,              hello,         0\\r\\n\\r\\n",
    "5\\r"
        + "\\n"
        + "hello\\r"
        + "\\n"
        + "00b\\r"
        + "\\n"
        + " 0\\r"
        + "\\n"
        + "\\r"
        + "\\n"
        + "world\\r"
        + "\\n"
        + "0\\r"
        + "\\n"
        + "x: y\\r"
        + "\\n"
        + "\\r"
        + "\\n"
        + ", hello 0\\r"
        + "\\n"
        + "\\r"
        + "\\n"
        + "world, 0\\r"
        + "\\n"
        + "x: y\\r"
        + "\\n"
        + "\\r"
        + "\\n",
    "1\\r"
        + "\\n"
        + "a\\r"
        + "\\n"
        + "5;x=y\\r"
        + "\\n"
        + "hello\\r"
        + "\\n"
        + "0\\r"
        + "\\n"
        + "\\r"
        + "\\n"
        + ", a,         5;x=y\\r"
        + "\\n"
        + "hello\\r"
        + "\\n"
        + "0\\r"
        + "\\n"
        + "\\r"
        + "\\n",
    "1\\r\\na\\r\\n5\\nhello\\r\\n,                a,             5\\nhello\\r\\n",
    "1\\r\\na\\r\\n\\r\\nmore,                     a,             \\r\\nmore",
    "1\\r\\na\\r\\nffffffff\\r\\nmore,             a,             ffffffff\\r\\nmore",
    "1\\r\\na\\r\\nno length,                      a,             no length",
  })
  void splitAtEveryByte(String chunks, String body, String forDecoder) {
    String all = real(HEAD + chunks);
    for (int cut = 1; cut < all.length(); cut++) {
      Answer answer = chunked().read(all.substring(0, cut)).read(all.substring(cut));
      assertThat(answer.body).as("cut at " + cut).hasToString(real(body));
      assertThat(answer.forDecoder).as("cut at " + cut).hasToString(real(HEAD + forDecoder));
    }
    Answer bytewise = chunked();
    all.chars().forEach(each -> bytewise.read(String.valueOf((char) each)));
    assertThat(bytewise.body).hasToString(real(body));
    assertThat(bytewise.forDecoder).hasToString(real(HEAD + forDecoder));
  }

  @Test
  void interimAnswerBefore() {
    String early = real("HTTP/1.1 103 Early Hints\\r\\n\\r\\n");
    Answer answer = new Answer(early + real(HEAD), ChunkedBody.Headers.CHUNKED);
    answer.read(early + real(HEAD + "2\\r\\nok\\r\\n0\\r\\n\\r\\n"));
    assertThat(answer.body).hasToString("ok");
    assertThat(answer.forDecoder).hasToString(early + real(HEAD + "0\\r\\n\\r\\n"));
  }

  @Test
  void otherBodiesGoToTheDecoder() {
    String all = real(HEAD + "5\\r\\nhello\\r\\n0\\r\\n\\r\\n");
    Answer answer = new Answer(real(HEAD), ChunkedBody.Headers.OTHER).read(all);
    assertThat(answer.body).isEmpty();
    assertThat(answer.forDecoder).hasToString(all);
  }

  @Test
  void chunkLongerThanItsSize() {
    Answer answer = chunked().read(real(HEAD));
    assertThatThrownBy(() -> answer.read(real("3\\r\\nhello\\r\\n")))
        .isInstanceOf(CorruptedFrameException.class);
    assertThat(answer.body).hasToString("hel");
  }
}
