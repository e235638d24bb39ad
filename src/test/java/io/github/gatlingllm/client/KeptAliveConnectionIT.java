package io.github.gatlingllm.client;

import static io.github.gatlingllm.client.LocalClient.A;
import static io.github.gatlingllm.client.LocalClient.LIMIT_SECONDS;
import static io.github.gatlingllm.client.LocalClient.NO_RESPONSE;
import static io.github.gatlingllm.client.LocalClient.ONE_BODY;
import static io.github.gatlingllm.client.LocalClient.RESET;
import static io.github.gatlingllm.client.LocalClient.UNFINISHED;
import static io.github.gatlingllm.record.RequestStatus.COMPLETE;
import static io.github.gatlingllm.record.RequestStatus.CONNECTION_ERROR;
import static io.github.gatlingllm.record.RequestStatus.TRUNCATED;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.client.LocalClient.Ended;
import io.github.gatlingllm.client.LocalClient.Sent;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.ScriptedServer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
final class KeptAliveConnectionIT {

  private static final long MS = 1_000_000;
  private static final String NOT_RESENT = Sentence.text("unconnected", "not_resent", null, false);
  @RegisterExtension private final LocalClient client = new LocalClient();

  @Test
  void requestOnAClosedConnectionIsSentAgain() throws Exception {
    AtomicLong clock = new AtomicLong();
    ScriptedServer server =
        client.serve(
            ONE_BODY,
            x -> x.close(),
            x -> x.respond(200, "application/json", ChatChunks.body("b")));
    assertThat(client.post(server.baseUrl()).ended().wasResent()).isFalse();
    Ended second = client.post(server.baseUrl()).nanoClock(clock::incrementAndGet).ended();
    second.assertEnded(COMPLETE, null);
    assertThat(second.text()).isEqualTo("b");
    assertThat(second.wasResent()).isTrue();
    assertThat(second.admittedNanos()).isOne();
    assertThat(second.timing().connectNanos())
        .as("from the one admission to the second write, each a tick or more")
        .isGreaterThan(2);
    assertThat(server.posts()).isEqualTo(3);
    assertThat(server.connections()).isEqualTo(2);
  }

  /** Answers to the second request on a connection, why it is not complete, and all posts then. */
  static Stream<Arguments> notSentAgain() {
    ScriptedServer.Script closes = x -> x.close();
    ScriptedServer.Script oneByte = x -> x.send("H").close();
    return Stream.of(
        Arguments.of(closes, NO_RESPONSE, true, 3), Arguments.of(oneByte, NOT_RESENT, false, 2));
  }

  @ParameterizedTest
  @MethodSource("notSentAgain")
  void requestIsNotSentAThirdTimeNorAfterAByteOfItsAnswer(
      ScriptedServer.Script script, String error, boolean resent, int posts) throws Exception {
    ScriptedServer server = client.serve(ONE_BODY, script);
    client.complete(server);
    Ended second = client.post(server.baseUrl()).ended().assertEnded(CONNECTION_ERROR, error);
    assertThat(second.wasResent()).isEqualTo(resent);
    client.settle();
    assertThat(server.posts()).isEqualTo(posts);
  }

  @Test
  void aStreamThatBreaksOnAReusedConnectionIsNamedByItsBreak() throws Exception {
    CountDownLatch seen = new CountDownLatch(1);
    ScriptedServer server =
        client.serve(
            ONE_BODY,
            x -> x.startStream().event(A).event(A).await(seen).reset(),
            ONE_BODY,
            x -> x.startStream().event(A).close());
    client.complete(server);
    Sent reset = client.post(server.baseUrl()).send();
    reset.awaitText("aa");
    seen.countDown();
    reset.ended().assertEnded(CONNECTION_ERROR, RESET);
    assertThat(reset.ended().text()).isEqualTo("aa");
    assertThat(reset.ended().httpStatus()).isEqualTo(200);
    client.complete(server);
    client.post(server.baseUrl()).ended().assertEnded(TRUNCATED, UNFINISHED);
    assertThat(server.connections()).isEqualTo(2);
    assertThat(server.posts()).isEqualTo(4);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 408 Request Timeout\r\nContent-Length: 4\r\n\r\nslow",
        "HTTP/1.1 100 Continue\r\n\r\n"
      })
  void aResponseThatNoRequestAwaitsClosesTheConnection(String unexpected) throws Exception {
    CountDownLatch closed = new CountDownLatch(1);
    ScriptedServer server =
        client.serve(
            x -> {
              x.respond(200, "application/json", ChatChunks.body("a"));
              x.send(unexpected).awaitClientClose();
              closed.countDown();
            },
            x -> x.respond(200, "application/json", ChatChunks.body("b")));
    assertThat(client.post(server.baseUrl()).ended().text()).isEqualTo("a");
    assertThat(closed.await(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(client.post(server.baseUrl()).ended().text()).isEqualTo("b");
    assertThat(server.connections()).isEqualTo(2);
  }

  /** What is closed so late was closed because of the request, or while it was worked on. */
  @Test
  void requestIsNotSentAgainAfterASecond() throws Exception {
    AtomicLong clock = new AtomicLong();
    CountDownLatch later = new CountDownLatch(1);
    ScriptedServer server = client.serve(ONE_BODY, x -> x.await(later).close());
    client.complete(server);
    Sent second = client.post(server.baseUrl()).nanoClock(clock::get).send();
    client.awaitPosts(server, 2);
    clock.addAndGet(1_000 * MS);
    later.countDown();
    second.ended().assertEnded(CONNECTION_ERROR, NO_RESPONSE);
    client.settle();
    assertThat(server.posts()).isEqualTo(2);
  }

  @Test
  void serverThatClosesHalfOfItsConnectionsGetsNewOnes() throws Exception {
    ScriptedServer server =
        client.serve(
            x -> {
              x.respond(200, "application/json", ChatChunks.body("a"));
              x.close();
            });
    for (int i = 0; i < 40; i++) {
      Ended ended = client.post(server.baseUrl()).nanoClock(() -> 0).ended();
      ended.assertEnded(COMPLETE, null);
      assertThat(ended.wasResent() && i >= 16).as("request %d was sent again", i).isFalse();
    }
    assertThat(server.posts()).isEqualTo(40);
    assertThat(server.connections()).isEqualTo(40);
  }
}
