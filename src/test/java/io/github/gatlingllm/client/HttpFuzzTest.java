package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import io.gatling.http.client.impl.DefaultHttpClient;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpContentDecompressor;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.Arrays;
import java.util.List;

/** Bytes of an HTTP/1.1 server: interim responses, status line, headers, body, trailers. */
class HttpFuzzTest {

  private static final String SECRET = "Qz7Tenant-9";

  /** An input stands for the secret with this character, and for line ends with {@code \n}. */
  private static final String MARK = "§";

  /** However it is cut into reads, it is one answer at most, and its names hold no secret. */
  @FuzzTest
  void answer(FuzzedDataProvider data) {
    int cut = data.consumeInt(0, 1 << 12);
    byte[] sent =
        new String(data.consumeRemainingAsBytes(), ISO_8859_1)
            .replace(MARK, SECRET)
            .replace("\r", "")
            .replace("\n", "\r\n")
            .getBytes(ISO_8859_1);
    int at = Math.min(cut, sent.length);
    assertThat(seen(Arrays.copyOf(sent, at), Arrays.copyOfRange(sent, at, sent.length)))
        .isEqualTo(seen(sent));
  }

  private static String seen(byte[]... reads) {
    Listener listener = new Listener();
    EmbeddedChannel connection = new EmbeddedChannel();
    connection
        .pipeline()
        .addLast(DefaultHttpClient.HTTP_CLIENT_CODEC, new HttpClientCodec())
        .addLast(new HttpContentDecompressor(0));
    BoundedHttp.install(connection.pipeline(), () -> 0);
    connection.pipeline().addLast(listener);
    connection.writeOutbound(
        new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/v1/chat/completions"));
    for (byte[] read : reads) {
      if (connection.isOpen()) {
        connection.writeInbound(Unpooled.wrappedBuffer(read));
      }
    }
    connection.finishAndReleaseAll();
    // How much is decoded before broken data depends on the reads; the exchange does not use it.
    return listener.seen.toString().replaceFirst("(?s)\n.*(?=: decompression failure)", "");
  }

  /** Notes what reaches Gatling's client up to the first failure, with the body in one piece. */
  private static final class Listener extends ChannelInboundHandlerAdapter {
    private final StringBuilder seen = new StringBuilder();
    private int answers;
    private boolean hasFailed;

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (message instanceof HttpObject part && part.decoderResult().isFailure()) {
        failed(part.decoderResult().cause());
      } else if (message instanceof HttpResponse response) {
        assertThat(++answers).isOne();
        ReportedTimings timings = new ReportedTimings();
        timings.headers(response.headers(), Secrets.of(List.of(SECRET)));
        String report = timings.report().toString().replaceAll("retryAfterNanos=\\d+", "");
        assertThat(report).doesNotContainIgnoringCase(SECRET).doesNotContain("NaN", "Infinity");
        seen.append(response.status().code()).append(' ').append(report).append('\n');
      }
      if (message instanceof HttpContent body && !hasFailed) {
        seen.append(body.content().toString(ISO_8859_1));
        seen.append(body instanceof LastHttpContent ? "\nend" : "");
      }
      ReferenceCountUtil.release(message);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      failed(cause);
    }

    private void failed(Throwable cause) {
      if (!hasFailed) {
        hasFailed = true;
        seen.append("\nfailed: ").append(ConnectionFailure.reason(cause));
      }
    }
  }
}
