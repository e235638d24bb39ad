package io.github.gatlingllm.client;

import static io.github.gatlingllm.client.LocalClient.A;
import static io.github.gatlingllm.client.LocalClient.NO_RESPONSE;
import static io.github.gatlingllm.client.LocalClient.STOP;
import static io.github.gatlingllm.client.LocalClient.UNFINISHED;
import static io.github.gatlingllm.client.LocalClient.gzip;
import static io.github.gatlingllm.record.RequestStatus.CANCELLED;
import static io.github.gatlingllm.record.RequestStatus.COMPLETE;
import static io.github.gatlingllm.record.RequestStatus.CONNECTION_ERROR;
import static io.github.gatlingllm.record.RequestStatus.INVALID_RESPONSE;
import static io.github.gatlingllm.record.RequestStatus.TIMEOUT;
import static io.github.gatlingllm.record.RequestStatus.TRUNCATED;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.client.LocalClient.Ended;
import io.github.gatlingllm.client.LocalClient.Sent;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.Http2Server;
import io.github.gatlingllm.testing.Http2Server.ServerStream;
import io.github.gatlingllm.testing.SelfSigned;
import io.netty.handler.codec.http2.Http2Error;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
final class Http2ExchangeIT {

  private static SSLContext certificate;

  @RegisterExtension private final LocalClient client = new LocalClient();
  @AutoClose private final Http2Server server = new Http2Server(certificate);

  @BeforeAll
  static void makeCertificate(@TempDir Path folder) throws Exception {
    certificate = SelfSigned.sslContext(folder);
  }

  private Sent send() {
    return client.post(server.url()).http2().send();
  }

  @Test
  void aStreamIsMeasuredAsOverHttp1() throws Exception {
    Sent sent = send();
    server
        .next()
        .startStream()
        .event(ChatChunks.role())
        .event(A)
        .event(A)
        .event(STOP)
        .endWithTrailers();
    sent.ended().assertEnded(COMPLETE, null);
    Ended ended = sent.ended();
    assertThat(ended.text()).isEqualTo("aa");
    assertThat(ended.httpStatus()).isEqualTo(200);
    assertThat(ended.events().count()).isEqualTo(2);
    assertThat(ended.timing().connectNanos()).isPositive();
    assertThat(ended.timing().headersNanos()).isGreaterThanOrEqualTo(ended.timing().connectNanos());
    assertThat(ended.timing().ttftNanos()).isGreaterThanOrEqualTo(ended.timing().headersNanos());
    assertThat(server.posts()).isEqualTo(1);
  }

  /** Opens the connection first: requests that start together would each open their own. */
  private void warm() throws Exception {
    Sent first = send();
    server.next().startStream().event(A).event(STOP).end();
    first.ended().assertEnded(COMPLETE, null);
  }

  @Test
  void manyStreamsShareOneConnection() throws Exception {
    warm();
    List<Sent> sent = new ArrayList<>();
    List<ServerStream> streams = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      sent.add(send());
      streams.add(server.next().startStream());
    }
    for (int i = 0; i < 20; i++) {
      streams.get(i).event(ChatChunks.content("answer " + i));
    }
    for (int i = 19; i >= 0; i--) {
      streams.get(i).event(STOP).end();
    }
    for (int i = 0; i < 20; i++) {
      sent.get(i).ended().assertEnded(COMPLETE, null);
      assertThat(sent.get(i).ended().text()).isEqualTo("answer " + i);
    }
    assertThat(server.connections()).isEqualTo(1);
    assertThat(server.posts()).isEqualTo(21);
  }

  @Test
  void cancelResetsItsStreamOnly() throws Exception {
    warm();
    Sent one = send();
    ServerStream streamOne = server.next().startStream().event(A);
    Sent other = send();
    ServerStream otherStream = server.next().startStream().event(A);
    one.cancel("drain over");
    one.ended().assertEnded(CANCELLED, "drain over");
    assertThat(streamOne.awaitReset()).isEqualTo(Http2Error.CANCEL.code());
    otherStream.event(STOP).end();
    other.ended().assertEnded(COMPLETE, null);
    assertThat(server.connections()).isEqualTo(1);
  }

  @Test
  void aStreamThatIsLeftOpenAfterItsLastMarkEndsAlone() throws Exception {
    warm();
    Sent other = send();
    ServerStream otherStream = server.next().startStream().event(A);
    Sent sent = send();
    ServerStream stream = server.next().startStream().event(A).event(STOP).event("[DONE]");
    sent.ended().assertEnded(COMPLETE, null);
    assertThat(sent.ended().exchange().wasLeftOpen()).isTrue();
    assertThat(stream.awaitReset()).isEqualTo(Http2Error.CANCEL.code());
    otherStream.event(STOP).end();
    other.ended().assertEnded(COMPLETE, null);
    assertThat(other.ended().exchange().wasLeftOpen()).isFalse();
    assertThat(server.connections()).isEqualTo(1);
  }

  @Test
  void cancelBeforeTheResponseResetsTheStream() throws Exception {
    Sent sent = send();
    ServerStream stream = server.next();
    sent.cancel("drain over");
    sent.ended().assertEnded(CANCELLED, "drain over");
    assertThat(stream.awaitReset()).isEqualTo(Http2Error.CANCEL.code());
    warm();
    assertThat(server.connections()).isEqualTo(1);
  }

  @Test
  void theRequestTimeoutResetsItsStream() throws Exception {
    Sent sent = client.post(server.url()).http2().requestTimeoutMillis(3_000).send();
    ServerStream stream = server.next().startStream().event(A);
    sent.ended().assertEnded(TIMEOUT, Sentence.text("too_late", "request", 3_000L));
    assertThat(stream.awaitReset()).isEqualTo(Http2Error.CANCEL.code());
  }

  @Test
  void aStreamThatTheServerResetsEndsImmediately() throws Exception {
    warm();
    Sent before = send();
    server.next().reset();
    before
        .ended()
        .assertEnded(CONNECTION_ERROR, Sentence.text("unconnected", "stream_reset", null, false));
    assertThat(before.ended().httpStatus()).isNull();

    Sent during = send();
    server.next().startStream().event(A).reset();
    during
        .ended()
        .assertEnded(CONNECTION_ERROR, Sentence.text("unconnected", "stream_reset", null, false));
    assertThat(during.ended().httpStatus()).isEqualTo(200);

    Sent finished = send();
    server.next().startStream().event(A).event(STOP).reset();
    finished.ended().assertEnded(COMPLETE, null);
    warm();
    assertThat(server.connections()).isEqualTo(1);
  }

  @Test
  void aLostConnectionEndsAllItsStreams() throws Exception {
    warm();
    Sent started = send();
    ServerStream stream = server.next().startStream().event(A);
    started.awaitText("a");
    Sent waiting = send();
    server.next();
    Sent finished = send();
    server.next().startStream().event(A).event(STOP);
    finished.awaitOver();
    stream.closeConnection();
    started.ended().assertEnded(TRUNCATED, UNFINISHED);
    waiting.ended().assertEnded(CONNECTION_ERROR, NO_RESPONSE);
    finished.ended().assertEnded(COMPLETE, null);
    client.settle();
    assertThat(server.posts()).isEqualTo(4);
    warm();
    assertThat(server.connections()).isEqualTo(2);
  }

  @Test
  void goAwayLetsStreamsEndAndOpensNoMore() throws Exception {
    warm();
    Sent sent = send();
    ServerStream stream = server.next().startStream().event(A);
    stream.goAway();
    stream.event(STOP).end();
    sent.ended().assertEnded(COMPLETE, null);
    warm();
    assertThat(server.connections()).isEqualTo(2);
    assertThat(server.posts()).isEqualTo(3);
  }

  @Test
  void unprocessedStreamIsNotSentAgain() throws Exception {
    warm();
    Sent one = send();
    server.next();
    Sent other = send();
    server.next().goAwayAfterTheFirst();
    one.ended()
        .assertEnded(CONNECTION_ERROR, Sentence.text("unconnected", "stream_reset", null, false));
    other
        .ended()
        .assertEnded(CONNECTION_ERROR, Sentence.text("unconnected", "stream_reset", null, false));
    warm();
    assertThat(server.posts()).isEqualTo(4);
  }

  @Test
  void tooLargeHeadersEndTheRequest() throws Exception {
    Sent sent = send();
    server.next().startStream("x-long", "x".repeat(300_000));
    sent.ended()
        .assertEnded(
            CONNECTION_ERROR,
            Sentence.text(
                "unconnected", "http2", "Header size exceeded max allowed size (10240)", false));
  }

  @Test
  void gzipBombIsRejectedWithoutAffectingOtherStreams() throws Exception {
    warm();
    Sent other = send();
    ServerStream otherStream = server.next().startStream().event(A);
    Sent sent = send();
    ServerStream stream = server.next().startStream("content-encoding", "gzip");
    stream.bytes(gzip(new byte[4 * SseDecoder.MAX_EVENT_BYTES], 1), false);
    sent.ended().assertEnded(INVALID_RESPONSE, Sentence.text("too_large", "event", 8));
    assertThat(stream.awaitReset()).isEqualTo(Http2Error.CANCEL.code());
    otherStream.event(STOP).end();
    other.ended().assertEnded(COMPLETE, null);
    assertThat(server.connections()).isEqualTo(1);
  }
}
