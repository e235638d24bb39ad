package io.github.gatlingllm.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.client.LocalClient.Ended;
import io.github.gatlingllm.client.LocalClient.HeldTime;
import io.github.gatlingllm.client.LocalClient.Sent;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.ScriptedServer;
import io.github.gatlingllm.testing.SelfSigned;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** How an exchange ends when the connection does not end well, or not at all. */
@Timeout(120)
final class ExchangeEndingsIT {

  private static final long MS = 1_000_000;
  private static final long LIMIT_SECONDS = 60;

  private static final String A = ChatChunks.content("a");
  private static final String STOP = ChatChunks.finish("stop");
  private static final String TRUNCATED = "stream ended before finish_reason and without [DONE]";
  private static final String NOT_RESENT =
      "kept-alive connection closed by the server; not re-sent";
  private static final String RESET = "connection reset by the server";
  private static final String NO_RESPONSE = "connection closed by the server before any response";

  private static final ScriptedServer.Script WHOLE =
      x -> x.respond(200, "application/json", whole("a"));

  private static final ScriptedServer.Script STREAM =
      x -> x.startStream().event(A).event(STOP).lastChunk();

  /** Milliseconds after which a silence is looked at once more. */
  private static final long SEEN_TWICE = 5;

  /** Of requests, in milliseconds of real time. */
  private static final long TIMEOUT = 3_000;

  private static final ScriptedServer.Script AFTER_DONE =
      x -> x.startStream().event(A).event(STOP).done().awaitClientClose();

  private static final ScriptedServer.Script AFTER_AN_ERROR =
      x -> x.startStream().event(ChatChunks.error("broke")).awaitClientClose();

  @RegisterExtension private final LocalClient client = new LocalClient();

  private static void assertEnded(Ended ended, RequestStatus status, @Nullable String error) {
    assertThat(ended.status()).isEqualTo(status);
    assertThat(ended.error()).isEqualTo(error);
  }

  /** Connections that end early; single words of a stream before are kept. */
  static Stream<Arguments> breaks() {
    byte[] event = ("data: " + ChatChunks.content("é")).getBytes(UTF_8);
    byte[] inACharacter = Arrays.copyOf(event, new String(event, ISO_8859_1).indexOf(0xC3) + 1);
    String cutEvent = "data: {\"choi";
    String noHttp = "response is not valid HTTP: is this the endpoint's port?";
    return Stream.of(
        ending("CONNECTION_ERROR", RESET, "", x -> x.reset()),
        ending("CONNECTION_ERROR", RESET, "", x -> x.startStream().reset()),
        ending("CONNECTION_ERROR", RESET, "", x -> x.startStream().chunk(inACharacter).reset()),
        ending("CONNECTION_ERROR", NO_RESPONSE, "", x -> x.close()),
        ending("CONNECTION_ERROR", NO_RESPONSE, "", x -> x.send("HTTP/1.1 200 OK\r\nCont").close()),
        ending("CONNECTION_ERROR", noHttp, "", x -> x.send("SSH-2.0-OpenSSH_9.6\r\n")),
        ending("CONNECTION_ERROR", noHttp, "", x -> x.startStream().send("what\r\n")),
        ending(
            "TRUNCATED", "stream ended without a single event", "", x -> x.startStream().close()),
        ending("TRUNCATED", TRUNCATED, "aa", x -> x.startStream().event(A).event(A).close()),
        ending("TRUNCATED", TRUNCATED, "a", x -> x.startStream().event(A).chunk(cutEvent).close()),
        ending(
            "TRUNCATED", TRUNCATED, "a", x -> x.startStream().event(A).chunk(inACharacter).close()),
        ending("COMPLETE", null, "a", x -> x.startStream().event(A).event(STOP).close()));
  }

  private static Arguments ending(
      String status, @Nullable String error, String text, ScriptedServer.Script script) {
    return Arguments.of(status, error, text, script);
  }

  @ParameterizedTest
  @MethodSource("breaks")
  void connectionThatEndsEarly(
      RequestStatus status, @Nullable String error, String text, ScriptedServer.Script script)
      throws Exception {
    Ended ended = client.answeredBy(script);
    assertEnded(ended, status, error);
    assertThat(ended.text()).isEqualTo(text);
    assertThat(ended.events().count()).isEqualTo(text.length());
    if (!text.isEmpty()) {
      assertThat(ended.timing().ttftNanos()).isPositive();
      assertThat(ended.timing().closedNanos())
          .isGreaterThanOrEqualTo(ended.timing().latencyNanos());
    }
  }

  private void complete(ScriptedServer server) throws Exception {
    assertEnded(client.post(server.baseUrl()).ended(), RequestStatus.COMPLETE, null);
  }

  @Test
  void aResetAfterFinishReasonIsComplete() throws Exception {
    CountDownLatch seen = new CountDownLatch(1);
    try (ScriptedServer server =
        ScriptedServer.start(x -> x.startStream().event(A).event(STOP).await(seen).reset())) {
      Sent sent = client.post(server.baseUrl()).send();
      sent.awaitOver();
      seen.countDown();
      assertEnded(sent.ended(), RequestStatus.COMPLETE, null);
    }
  }

  @Test
  void tlsThatEndsWithoutCloseNotifyIsTruncatedUnlessFinished(@TempDir Path folder)
      throws Exception {
    try (ScriptedServer server =
        ScriptedServer.startTls(
            SelfSigned.sslContext(folder),
            x -> x.startStream().event(A).closeWithoutNotify(),
            x -> x.startStream().event(A).event(STOP).closeWithoutNotify(),
            STREAM)) {
      Ended cut = client.post(server.baseUrl()).ended();
      assertEnded(cut, RequestStatus.TRUNCATED, TRUNCATED);
      assertThat(cut.text()).isEqualTo("a");
      complete(server);
      complete(server);
    }
  }

  @Test
  void idleStallEndsAndKeepsReceivedText() throws Exception {
    CompletableFuture<Long> closed = new CompletableFuture<>();
    Ended ended =
        afterSilence(
            x -> closed.complete(x.startStream().event(A).awaitClientClose()),
            under -> under.answer().text().equals("a"));
    assertEnded(ended, RequestStatus.STALLED, "no byte for 500 ms (idle timeout)");
    assertThat(ended.text()).isEqualTo("a");
    assertThat(ended.timing().closedNanos() - ended.timing().latencyNanos())
        .isEqualTo((500 + SEEN_TWICE) * MS);
    closed.get(LIMIT_SECONDS, TimeUnit.SECONDS);
  }

  @Test
  void theIdleTimeoutCoversWaitingForTheHeadersOfAStream() throws Exception {
    CompletableFuture<Long> closed = new CompletableFuture<>();
    HeldTime time = client.heldTime();
    try (ScriptedServer server =
        ScriptedServer.start(
            x -> closed.complete(x.awaitClientClose()), x -> x.awaitClientClose())) {
      Sent sent = client.post(server.baseUrl()).held(time).idleTimeoutMillis(300).send();
      awaitPosts(server, 1);
      time.pass(300 + SEEN_TWICE);
      Ended ended = sent.ended();
      assertEnded(ended, RequestStatus.STALLED, "no response headers for 300 ms (idle timeout)");
      assertThat(ended.httpStatus()).isNull();
      closed.get(LIMIT_SECONDS, TimeUnit.SECONDS);

      Ended whole =
          client
              .post(server.baseUrl())
              .whole()
              .idleTimeoutMillis(100)
              .requestTimeoutMillis(500)
              .ended();
      assertEnded(whole, RequestStatus.TIMEOUT, "no end within the request timeout");
    }
  }

  @Test
  void heartbeatsRestartTheIdleTimeout() throws Exception {
    BlockingQueue<String> said = new LinkedBlockingQueue<>();
    HeldTime time = client.heldTime();
    try (ScriptedServer server =
        ScriptedServer.start(
            x -> {
              said.take();
              x.startStream();
              for (String next = said.take(); !next.isEmpty(); next = said.take()) {
                x.chunk(next);
              }
              x.event(A).event(STOP).lastChunk();
            })) {
      Sent sent = client.post(server.baseUrl()).held(time).idleTimeoutMillis(1_500).send();
      awaitPosts(server, 1);
      time.awaitAsked(() -> said.add("headers"));
      for (int i = 0; i < 8; i++) {
        time.awaitAsked(() -> said.add(": ping\n\n"));
        time.pass(1_000);
      }
      said.add("");
      Ended ended = sent.ended();
      assertEnded(ended, RequestStatus.COMPLETE, null);
      assertThat(ended.timing().ttftNanos()).isEqualTo(8_000 * MS);
      assertThat(ended.timing().firstEventNanos()).isEqualTo(8_000 * MS);
    }
  }

  /** How it ends when all has come that comes, and then the idle timeout passes. */
  private Ended afterSilence(ScriptedServer.Script script, Predicate<StreamedExchange> came)
      throws Exception {
    HeldTime time = client.heldTime();
    try (ScriptedServer server = ScriptedServer.start(script)) {
      Sent sent = client.post(server.baseUrl()).held(time).idleTimeoutMillis(500).send();
      sent.await(came);
      time.pass(500);
      sent.await(exchange -> !exchange.isOver());
      time.pass(SEEN_TWICE);
      return sent.ended();
    }
  }

  @Test
  void connectionLeftOpenAfterTheEndKeepsTheStatus() throws Exception {
    assertEnded(
        afterSilence(AFTER_DONE, under -> under.answer().isOver()), RequestStatus.COMPLETE, null);
    assertEnded(
        afterSilence(AFTER_AN_ERROR, under -> under.answer().error() != null),
        RequestStatus.IN_STREAM_ERROR,
        "broke");
  }

  @Test
  void anErrorBodyThatNeverEndsKeepsItsStatus() throws Exception {
    HeldTime time = client.heldTime();
    BlockingQueue<String> said = new LinkedBlockingQueue<>();
    try (ScriptedServer server =
        ScriptedServer.start(x -> x.send(said.take()).awaitClientClose())) {
      Sent sent = client.post(server.baseUrl()).held(time).idleTimeoutMillis(500).send();
      awaitPosts(server, 1);
      time.awaitAsked(() -> said.add("HTTP/1.1 500 No\r\nContent-Length: 99\r\n\r\noops"));
      time.pass(500 + SEEN_TWICE);
      Ended ended = sent.ended();
      assertEnded(ended, RequestStatus.HTTP_ERROR, "HTTP 500: oops");
      assertThat(ended.httpStatus()).isEqualTo(500);
    }
  }

  /** All at once, as Gatling's client counts real time, and enough of it. */
  @Test
  void requestTimeoutEndsOpenRequestsOnly() throws Exception {
    CompletableFuture<Long> closed = new CompletableFuture<>();
    try (ScriptedServer goesOn =
            ScriptedServer.start(
                x -> closed.complete(x.startStream().event(A).awaitClientClose()));
        ScriptedServer silent = ScriptedServer.start(x -> x.awaitClientClose());
        ScriptedServer done = ScriptedServer.start(AFTER_DONE);
        ScriptedServer failed = ScriptedServer.start(AFTER_AN_ERROR)) {
      List<Sent> sent =
          Stream.of(goesOn, silent, done, failed)
              .map(server -> client.post(server.baseUrl()).requestTimeoutMillis(TIMEOUT).send())
              .toList();

      Ended cut = sent.get(0).ended();
      assertEnded(cut, RequestStatus.TIMEOUT, "no end within the request timeout");
      assertThat(cut.text()).isEqualTo("a");
      assertThat(cut.timing().closedNanos()).isGreaterThanOrEqualTo((TIMEOUT - 10) * MS);
      closed.get(LIMIT_SECONDS, TimeUnit.SECONDS);

      Ended unanswered = sent.get(1).ended();
      assertEnded(unanswered, RequestStatus.TIMEOUT, "no end within the request timeout");
      assertThat(unanswered.httpStatus()).isNull();
      assertThat(unanswered.timing().connectNanos()).isPositive();
      assertThat(unanswered.timing().headersNanos()).isNull();

      assertEnded(sent.get(2).ended(), RequestStatus.COMPLETE, null);
      assertEnded(sent.get(3).ended(), RequestStatus.IN_STREAM_ERROR, "broke");
    }
  }

  @Test
  void cancelClosesTheSocketSoThatTheServerStops() throws Exception {
    CompletableFuture<Long> closed = new CompletableFuture<>();
    try (ScriptedServer server =
        ScriptedServer.start(x -> closed.complete(x.startStream().event(A).awaitClientClose()))) {
      Sent sent = client.post(server.baseUrl()).send();
      awaitText(sent, "a");
      long before = System.nanoTime();
      sent.cancel("drain over");
      assertEnded(sent.ended(), RequestStatus.CANCELLED, "drain over");
      assertThat(closed.get(LIMIT_SECONDS, TimeUnit.SECONDS)).isGreaterThanOrEqualTo(before);
      assertThat(sent.ended().text()).isEqualTo("a");
      assertThat(server.connections()).isEqualTo(1);
    }
  }

  @Test
  void cancelBeforeTheResponseSendsNothingAgain() throws Exception {
    CompletableFuture<Long> closed = new CompletableFuture<>();
    try (ScriptedServer server =
        ScriptedServer.start(WHOLE, x -> closed.complete(x.awaitClientClose()))) {
      complete(server);
      Sent sent = client.post(server.baseUrl()).send();
      awaitPosts(server, 2);
      sent.cancel("drain over");
      assertEnded(sent.ended(), RequestStatus.CANCELLED, "drain over");
      closed.get(LIMIT_SECONDS, TimeUnit.SECONDS);
      client.settle();
      assertThat(server.posts()).isEqualTo(2);
      assertThat(server.connections()).isEqualTo(1);
    }
  }

  @Test
  void cancelWhileConnectingSendsNothing() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Sent sent = client.post("https://127.0.0.1:" + silent.getLocalPort()).send();
      sent.cancel("drain over");
      assertEnded(sent.ended(), RequestStatus.CANCELLED, "drain over");
      assertThat(sent.ended().timing().connectNanos()).isNull();
    }
  }

  @Test
  void cancelWhileTheNameIsLookedUpSendsNothing() throws Exception {
    HeldResolver names = new HeldResolver();
    try (ScriptedServer server = ScriptedServer.start(STREAM)) {
      Sent sent = client.post(server.baseUrl()).resolver(names).send();
      sent.cancel("drain over");
      assertEnded(sent.ended(), RequestStatus.CANCELLED, "drain over");
      names.found(InetAddress.getLoopbackAddress());
      complete(server);
      assertThat(server.posts()).isEqualTo(1);
    }
  }

  @Test
  void lookingUpTheNameIsConnectionWait() throws Exception {
    HeldResolver names = new HeldResolver();
    try (ScriptedServer server = ScriptedServer.start(STREAM)) {
      Sent sent = client.post(server.baseUrl()).resolver(names).send();
      long asked = names.awaitAsked();
      names.found(InetAddress.getLoopbackAddress());
      long found = System.nanoTime();
      Ended ended = sent.ended();
      assertEnded(ended, RequestStatus.COMPLETE, null);
      assertThat(ended.admittedNanos() + ended.timing().connectNanos()).isGreaterThan(asked);
      assertThat(ended.timing().ttftNanos()).isGreaterThan(ended.timing().connectNanos());
      assertThat(found).isGreaterThan(asked);
    }
  }

  @Test
  void cancelOfAnAnswerWithItsFinishReasonLeavesItComplete() throws Exception {
    try (ScriptedServer server = ScriptedServer.start(AFTER_DONE)) {
      Sent sent = client.post(server.baseUrl()).send();
      sent.awaitOver();
      sent.cancel("drain over");
      assertEnded(sent.ended(), RequestStatus.COMPLETE, null);
    }
  }

  @Test
  void cancelAfterTheEndLeavesTheConnectionToItsNextUser() throws Exception {
    CountDownLatch cancelled = new CountDownLatch(1);
    try (ScriptedServer server =
        ScriptedServer.start(
            STREAM, x -> x.startStream().event(A).await(cancelled).event(STOP).lastChunk())) {
      Sent first = client.post(server.baseUrl()).send();
      assertEnded(first.ended(), RequestStatus.COMPLETE, null);
      Sent second = client.post(server.baseUrl()).send();
      awaitText(second, "a");
      first.cancel("too late");
      cancelled.countDown();
      assertEnded(second.ended(), RequestStatus.COMPLETE, null);
      assertEnded(first.ended(), RequestStatus.COMPLETE, null);
      assertThat(server.connections()).isEqualTo(1);
    }
  }

  @Test
  void requestOnAClosedConnectionIsSentAgain() throws Exception {
    AtomicLong clock = new AtomicLong();
    try (ScriptedServer server =
        ScriptedServer.start(
            WHOLE, x -> x.close(), x -> x.respond(200, "application/json", whole("b")))) {
      assertThat(client.post(server.baseUrl()).ended().wasResent()).isFalse();
      Ended second = client.post(server.baseUrl()).nanoClock(clock::incrementAndGet).ended();
      assertEnded(second, RequestStatus.COMPLETE, null);
      assertThat(second.text()).isEqualTo("b");
      assertThat(second.wasResent()).isTrue();
      assertThat(second.admittedNanos()).isOne();
      assertThat(second.timing().connectNanos())
          .as("from the one admission to the second write, each a tick or more")
          .isGreaterThan(2);
      assertThat(server.posts()).isEqualTo(3);
      assertThat(server.connections()).isEqualTo(2);
    }
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
    try (ScriptedServer server = ScriptedServer.start(WHOLE, script)) {
      complete(server);
      Ended second = client.post(server.baseUrl()).ended();
      assertEnded(second, RequestStatus.CONNECTION_ERROR, error);
      assertThat(second.wasResent()).isEqualTo(resent);
      client.settle();
      assertThat(server.posts()).isEqualTo(posts);
    }
  }

  @Test
  void aStreamThatBreaksOnAReusedConnectionIsNamedByItsBreak() throws Exception {
    CountDownLatch seen = new CountDownLatch(1);
    try (ScriptedServer server =
        ScriptedServer.start(
            WHOLE,
            x -> x.startStream().event(A).event(A).await(seen).reset(),
            WHOLE,
            x -> x.startStream().event(A).close())) {
      complete(server);
      Sent reset = client.post(server.baseUrl()).send();
      awaitText(reset, "aa");
      seen.countDown();
      assertEnded(reset.ended(), RequestStatus.CONNECTION_ERROR, RESET);
      assertThat(reset.ended().text()).isEqualTo("aa");
      assertThat(reset.ended().httpStatus()).isEqualTo(200);
      complete(server);
      assertEnded(client.post(server.baseUrl()).ended(), RequestStatus.TRUNCATED, TRUNCATED);
      assertThat(server.connections()).isEqualTo(2);
      assertThat(server.posts()).isEqualTo(4);
    }
  }

  @Test
  void interimResponsesAreNotTheAnswer() throws Exception {
    String interim =
        Stream.of("100 Continue", "102 Processing", "103 Early Hints\r\nLink: </x>")
            .map(status -> "HTTP/1.1 " + status + "\r\n\r\n")
            .collect(joining());
    try (ScriptedServer server =
        ScriptedServer.start(
            x -> x.send(interim).startStream().event(A).event(STOP).done().lastChunk())) {
      for (int i = 0; i < 2; i++) {
        Ended ended = client.post(server.baseUrl()).ended();
        assertEnded(ended, RequestStatus.COMPLETE, null);
        assertThat(ended.text()).isEqualTo("a");
        assertThat(ended.httpStatus()).isEqualTo(200);
      }
      assertThat(server.connections()).isEqualTo(1);
    }
  }

  @Test
  void aResponseThatNoRequestAwaitsClosesTheConnection() throws Exception {
    String unasked = "HTTP/1.1 408 Request Timeout\r\nContent-Length: 4\r\n\r\nslow";
    CountDownLatch closed = new CountDownLatch(1);
    try (ScriptedServer server =
        ScriptedServer.start(
            x -> {
              x.respond(200, "application/json", whole("a"));
              x.send(unasked).awaitClientClose();
              closed.countDown();
            },
            x -> x.respond(200, "application/json", whole("b")))) {
      assertThat(client.post(server.baseUrl()).ended().text()).isEqualTo("a");
      assertThat(closed.await(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
      assertThat(client.post(server.baseUrl()).ended().text()).isEqualTo("b");
      assertThat(server.connections()).isEqualTo(2);
    }
  }

  /** What is closed so late was closed because of the request, or while it was worked on. */
  @Test
  void requestIsNotSentAgainAfterASecond() throws Exception {
    AtomicLong clock = new AtomicLong();
    CountDownLatch later = new CountDownLatch(1);
    try (ScriptedServer server = ScriptedServer.start(WHOLE, x -> x.await(later).close())) {
      complete(server);
      Sent second = client.post(server.baseUrl()).nanoClock(clock::get).send();
      awaitPosts(server, 2);
      clock.addAndGet(1_000 * MS);
      later.countDown();
      assertEnded(second.ended(), RequestStatus.CONNECTION_ERROR, NO_RESPONSE);
      client.settle();
      assertThat(server.posts()).isEqualTo(2);
    }
  }

  @Test
  void serverThatClosesHalfOfItsConnectionsGetsNewOnes() throws Exception {
    try (ScriptedServer server =
        ScriptedServer.start(
            x -> {
              x.respond(200, "application/json", whole("a"));
              x.close();
            })) {
      for (int i = 0; i < 40; i++) {
        Ended ended = client.post(server.baseUrl()).nanoClock(() -> 0).ended();
        assertEnded(ended, RequestStatus.COMPLETE, null);
        assertThat(ended.wasResent() && i >= 16).as("request %d was sent again", i).isFalse();
      }
      assertThat(server.posts()).isEqualTo(40);
      assertThat(server.connections()).isEqualTo(40);
    }
  }

  @Test
  void endedExchangeIsNotReferenced() throws Exception {
    try (ScriptedServer server = ScriptedServer.start(STREAM)) {
      WeakReference<StreamedExchange> over =
          new WeakReference<>(client.post(server.baseUrl()).ended().exchange());
      client.settle();
      for (int i = 0; i < 50 && over.get() != null; i++) {
        System.gc();
      }
      assertThat(over.get()).isNull();
      assertThat(client.post(server.baseUrl()).ended().text()).isEqualTo("a");
      assertThat(server.connections()).isEqualTo(1);
    }
  }

  private static String whole(String text) {
    return "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"%s\"},\"finish_reason\":\"stop\"}]}"
        .formatted(text);
  }

  private static void awaitText(Sent sent, String text) {
    sent.await(exchange -> exchange.answer().text().equals(text));
  }

  private static void awaitPosts(ScriptedServer server, int posts) {
    long deadline = System.nanoTime() + LIMIT_SECONDS * 1_000 * MS;
    while (server.posts() < posts && System.nanoTime() < deadline) {
      Thread.onSpinWait();
    }
    assertThat(server.posts()).isEqualTo(posts);
  }
}
