package io.github.gatlingllm.client;

import static io.github.gatlingllm.client.LocalClient.A;
import static io.github.gatlingllm.client.LocalClient.AFTER_DONE;
import static io.github.gatlingllm.client.LocalClient.LIMIT_SECONDS;
import static io.github.gatlingllm.client.LocalClient.NO_RESPONSE;
import static io.github.gatlingllm.client.LocalClient.ONE_BODY;
import static io.github.gatlingllm.client.LocalClient.RESET;
import static io.github.gatlingllm.client.LocalClient.STOP;
import static io.github.gatlingllm.client.LocalClient.STREAM;
import static io.github.gatlingllm.client.LocalClient.UNFINISHED;
import static io.github.gatlingllm.record.RequestStatus.CANCELLED;
import static io.github.gatlingllm.record.RequestStatus.COMPLETE;
import static io.github.gatlingllm.record.RequestStatus.HTTP_ERROR;
import static io.github.gatlingllm.record.RequestStatus.IN_STREAM_ERROR;
import static io.github.gatlingllm.record.RequestStatus.STALLED;
import static io.github.gatlingllm.record.RequestStatus.TIMEOUT;
import static io.github.gatlingllm.record.RequestStatus.TRUNCATED;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.client.LocalClient.Ended;
import io.github.gatlingllm.client.LocalClient.Sent;
import io.github.gatlingllm.figures.metric.Sentence;
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

@Timeout(120)
final class ExchangeEndingsIT {

  private static final long MS = 1_000_000;

  /** Milliseconds after which a silence is checked once more. */
  private static final long SEEN_TWICE = 5;

  private static final long TIMEOUT_MILLIS = 3_000;

  private static final ScriptedServer.Script AFTER_AN_ERROR =
      x -> x.startStream().event(ChatChunks.error("broke")).awaitClientClose();

  @RegisterExtension private final LocalClient client = new LocalClient();

  /** Connections that end early; single words of a stream before are kept. */
  static Stream<Arguments> breaks() {
    byte[] event = ("data: " + ChatChunks.content("é")).getBytes(UTF_8);
    byte[] inACharacter = Arrays.copyOf(event, new String(event, ISO_8859_1).indexOf(0xC3) + 1);
    String cutEvent = "data: {\"choi";
    String noHttp = Sentence.text("unconnected", "no_http", null, false);
    return Stream.of(
        ending("CONNECTION_ERROR", RESET, "", x -> x.reset()),
        ending("CONNECTION_ERROR", RESET, "", x -> x.startStream().reset()),
        ending("CONNECTION_ERROR", RESET, "", x -> x.startStream().chunk(inACharacter).reset()),
        ending("CONNECTION_ERROR", NO_RESPONSE, "", x -> x.close()),
        ending("CONNECTION_ERROR", NO_RESPONSE, "", x -> x.send("HTTP/1.1 200 OK\r\nCont").close()),
        ending("CONNECTION_ERROR", noHttp, "", x -> x.send("SSH-2.0-OpenSSH_9.6\r\n")),
        ending("CONNECTION_ERROR", noHttp, "", x -> x.startStream().send("what\r\n")),
        ending(
            "TRUNCATED",
            Sentence.text("truncated", "no_event", null),
            "",
            x -> x.startStream().close()),
        ending("TRUNCATED", UNFINISHED, "aa", x -> x.startStream().event(A).event(A).close()),
        ending("TRUNCATED", UNFINISHED, "a", x -> x.startStream().event(A).chunk(cutEvent).close()),
        ending(
            "TRUNCATED",
            UNFINISHED,
            "a",
            x -> x.startStream().event(A).chunk(inACharacter).close()),
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
    Ended ended = client.answeredBy(script).assertEnded(status, error);
    assertThat(ended.text()).isEqualTo(text);
    assertThat(ended.events().count()).isEqualTo(text.length());
    if (!text.isEmpty()) {
      assertThat(ended.timing().ttftNanos()).isPositive();
      assertThat(ended.timing().closedNanos())
          .isGreaterThanOrEqualTo(ended.timing().latencyNanos());
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
      Ended cut = client.post(server.baseUrl()).ended().assertEnded(TRUNCATED, UNFINISHED);
      assertThat(cut.text()).isEqualTo("a");
      client.complete(server);
      client.complete(server);
    }
  }

  @Test
  void idleStallEndsAndKeepsReceivedText() throws Exception {
    CompletableFuture<Long> closed = new CompletableFuture<>();
    Ended ended =
        afterSilence(
                x -> closed.complete(x.startStream().event(A).awaitClientClose()),
                under -> under.answer().text().equals("a"))
            .assertEnded(STALLED, Sentence.text("too_late", "byte", 500L));
    assertThat(ended.text()).isEqualTo("a");
    assertThat(ended.timing().closedNanos() - ended.timing().latencyNanos())
        .isEqualTo((500 + SEEN_TWICE) * MS);
    closed.get(LIMIT_SECONDS, TimeUnit.SECONDS);
  }

  @Test
  void theIdleTimeoutCoversWaitingForTheHeadersOfAStream() throws Exception {
    CompletableFuture<Long> closed = new CompletableFuture<>();
    ManualTime time = new ManualTime(client);
    ScriptedServer server =
        client.serve(x -> closed.complete(x.awaitClientClose()), x -> x.awaitClientClose());
    Sent sent = client.post(server.baseUrl()).manualTime(time).idleTimeoutMillis(300).send();
    client.awaitPosts(server, 1);
    time.pass(300 + SEEN_TWICE);
    Ended ended = sent.ended().assertEnded(STALLED, Sentence.text("too_late", "headers", 300L));
    assertThat(ended.httpStatus()).isNull();
    closed.get(LIMIT_SECONDS, TimeUnit.SECONDS);

    var unused =
        client
            .post(server.baseUrl())
            .notStreamed()
            .idleTimeoutMillis(100)
            .requestTimeoutMillis(500)
            .ended()
            .assertEnded(TIMEOUT, Sentence.text("too_late", "request", 500L));
  }

  @Test
  void heartbeatsRestartTheIdleTimeout() throws Exception {
    BlockingQueue<String> writes = new LinkedBlockingQueue<>();
    ManualTime time = new ManualTime(client);
    ScriptedServer server =
        client.serve(
            x -> {
              writes.take();
              x.startStream();
              for (String next = writes.take(); !next.isEmpty(); next = writes.take()) {
                x.chunk(next);
              }
              x.event(A).event(STOP).lastChunk();
            });
    Sent sent = client.post(server.baseUrl()).manualTime(time).idleTimeoutMillis(1_500).send();
    client.awaitPosts(server, 1);
    time.awaitReading(() -> writes.add("headers"));
    for (int i = 0; i < 8; i++) {
      time.awaitReading(() -> writes.add(": ping\n\n"));
      time.pass(1_000);
    }
    writes.add("");
    Ended ended = sent.ended().assertEnded(COMPLETE, null);
    assertThat(ended.timing().ttftNanos()).isEqualTo(8_000 * MS);
    assertThat(ended.timing().firstEventNanos()).isEqualTo(8_000 * MS);
  }

  /** How it ends when all has come that comes, and then the idle timeout passes. */
  private Ended afterSilence(ScriptedServer.Script script, Predicate<StreamedExchange> came)
      throws Exception {
    ManualTime time = new ManualTime(client);
    ScriptedServer server = client.serve(script);
    Sent sent = client.post(server.baseUrl()).manualTime(time).idleTimeoutMillis(500).send();
    sent.await(came);
    time.pass(500);
    sent.await(exchange -> !exchange.isOver());
    time.pass(SEEN_TWICE);
    return sent.ended();
  }

  @Test
  void anErrorBodyThatNeverEndsKeepsItsStatus() throws Exception {
    ManualTime time = new ManualTime(client);
    BlockingQueue<String> writes = new LinkedBlockingQueue<>();
    ScriptedServer server = client.serve(x -> x.send(writes.take()).awaitClientClose());
    Sent sent = client.post(server.baseUrl()).manualTime(time).idleTimeoutMillis(500).send();
    client.awaitPosts(server, 1);
    time.awaitReading(() -> writes.add("HTTP/1.1 500 No\r\nContent-Length: 99\r\n\r\noops"));
    time.pass(500 + SEEN_TWICE);
    Ended ended = sent.ended().assertEnded(HTTP_ERROR, "HTTP 500: oops");
    assertThat(ended.httpStatus()).isEqualTo(500);
  }

  /** All together, as Gatling's client counts real time, and enough of it. */
  @Test
  void requestTimeoutEndsOpenRequestsOnly() throws Exception {
    CompletableFuture<Long> closed = new CompletableFuture<>();
    List<Sent> sent =
        Stream.<ScriptedServer.Script>of(
                x -> closed.complete(x.startStream().event(A).awaitClientClose()),
                x -> x.awaitClientClose(),
                AFTER_DONE,
                AFTER_AN_ERROR)
            .map(script -> client.post(client.serve(script).baseUrl()))
            .map(call -> call.requestTimeoutMillis(TIMEOUT_MILLIS).send())
            .toList();

    Ended cut =
        sent.get(0).ended().assertEnded(TIMEOUT, Sentence.text("too_late", "request", 3_000L));
    assertThat(cut.text()).isEqualTo("a");
    assertThat(cut.timing().closedNanos()).isGreaterThanOrEqualTo((TIMEOUT_MILLIS - 10) * MS);
    closed.get(LIMIT_SECONDS, TimeUnit.SECONDS);

    Ended unanswered =
        sent.get(1).ended().assertEnded(TIMEOUT, Sentence.text("too_late", "request", 3_000L));
    assertThat(unanswered.httpStatus()).isNull();
    assertThat(unanswered.timing().connectNanos()).isPositive();
    assertThat(unanswered.timing().headersNanos()).isNull();

    sent.get(2).ended().assertEnded(COMPLETE, null);
    sent.get(3).ended().assertEnded(IN_STREAM_ERROR, "broke");
  }

  @Test
  void lookingUpTheNameIsConnectionWait() throws Exception {
    ManualResolver names = new ManualResolver();
    Sent sent = client.post(client.serve(STREAM).baseUrl()).resolver(names).send();
    long question = names.awaitQuestion();
    names.found(InetAddress.getLoopbackAddress());
    Ended ended = sent.ended().assertEnded(COMPLETE, null);
    assertThat(ended.admittedNanos() + ended.timing().connectNanos()).isGreaterThan(question);
    assertThat(ended.timing().ttftNanos()).isGreaterThan(ended.timing().connectNanos());
  }

  @Test
  void interimResponsesAreNotTheAnswer() throws Exception {
    String interim =
        Stream.of("100 Continue", "102 Processing", "103 Early Hints\r\nLink: </x>")
            .map(status -> "HTTP/1.1 " + status + "\r\n\r\n")
            .collect(joining());
    ScriptedServer server =
        client.serve(x -> x.send(interim).startStream().event(A).event(STOP).done().lastChunk());
    for (int i = 0; i < 2; i++) {
      Ended ended = client.post(server.baseUrl()).ended().assertEnded(COMPLETE, null);
      assertThat(ended.text()).isEqualTo("a");
      assertThat(ended.httpStatus()).isEqualTo(200);
    }
    assertThat(server.connections()).isEqualTo(1);
  }

  @Test
  void endedExchangeIsNotReferenced() throws Exception {
    ScriptedServer server = client.serve(STREAM);
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

  @Test
  void cancelClosesTheSocketSoThatTheServerStops() throws Exception {
    CompletableFuture<Long> closed = new CompletableFuture<>();
    ScriptedServer server =
        client.serve(x -> closed.complete(x.startStream().event(A).awaitClientClose()));
    Sent sent = client.post(server.baseUrl()).send();
    sent.awaitText("a");
    long before = System.nanoTime();
    sent.cancel("drain over");
    sent.ended().assertEnded(CANCELLED, "drain over");
    assertThat(closed.get(LIMIT_SECONDS, TimeUnit.SECONDS)).isGreaterThanOrEqualTo(before);
    assertThat(sent.ended().text()).isEqualTo("a");
    assertThat(server.connections()).isEqualTo(1);
  }

  @Test
  void cancelBeforeTheResponseSendsNothingAgain() throws Exception {
    CompletableFuture<Long> closed = new CompletableFuture<>();
    ScriptedServer server = client.serve(ONE_BODY, x -> closed.complete(x.awaitClientClose()));
    client.complete(server);
    Sent sent = client.post(server.baseUrl()).send();
    client.awaitPosts(server, 2);
    sent.cancel("drain over");
    sent.ended().assertEnded(CANCELLED, "drain over");
    closed.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    client.settle();
    assertThat(server.posts()).isEqualTo(2);
    assertThat(server.connections()).isEqualTo(1);
  }

  @Test
  void cancelWhileConnectingSendsNothing() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Sent sent = client.post("https://127.0.0.1:" + silent.getLocalPort()).send();
      sent.cancel("drain over");
      sent.ended().assertEnded(CANCELLED, "drain over");
      assertThat(sent.ended().timing().connectNanos()).isNull();
    }
  }

  @Test
  void cancelWhileTheNameIsLookedUpSendsNothing() throws Exception {
    ManualResolver names = new ManualResolver();
    ScriptedServer server = client.serve(STREAM);
    Sent sent = client.post(server.baseUrl()).resolver(names).send();
    sent.cancel("drain over");
    sent.ended().assertEnded(CANCELLED, "drain over");
    names.found(InetAddress.getLoopbackAddress());
    client.complete(server);
    assertThat(server.posts()).isEqualTo(1);
  }

  @Test
  void cancelOfAnAnswerWithItsFinishReasonLeavesItComplete() throws Exception {
    Sent sent = client.post(client.serve(AFTER_DONE).baseUrl()).send();
    sent.awaitOver();
    sent.cancel("drain over");
    sent.ended().assertEnded(COMPLETE, null);
  }

  @Test
  void cancelAfterTheEndLeavesTheConnectionToItsNextUser() throws Exception {
    CountDownLatch cancelled = new CountDownLatch(1);
    ScriptedServer server =
        client.serve(
            STREAM, x -> x.startStream().event(A).await(cancelled).event(STOP).lastChunk());
    Sent first = client.post(server.baseUrl()).send();
    first.ended().assertEnded(COMPLETE, null);
    Sent second = client.post(server.baseUrl()).send();
    second.awaitText("a");
    first.cancel("too late");
    cancelled.countDown();
    second.ended().assertEnded(COMPLETE, null);
    first.ended().assertEnded(COMPLETE, null);
    assertThat(server.connections()).isEqualTo(1);
  }
}
