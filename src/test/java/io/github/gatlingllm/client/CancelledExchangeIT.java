package io.github.gatlingllm.client;

import static io.github.gatlingllm.client.LocalClient.A;
import static io.github.gatlingllm.client.LocalClient.AFTER_DONE;
import static io.github.gatlingllm.client.LocalClient.LIMIT_SECONDS;
import static io.github.gatlingllm.client.LocalClient.STOP;
import static io.github.gatlingllm.client.LocalClient.STREAM;
import static io.github.gatlingllm.client.LocalClient.WHOLE;
import static io.github.gatlingllm.record.RequestStatus.CANCELLED;
import static io.github.gatlingllm.record.RequestStatus.COMPLETE;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.client.LocalClient.Sent;
import io.github.gatlingllm.testing.ScriptedServer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(120)
final class CancelledExchangeIT {

  @RegisterExtension private final LocalClient client = new LocalClient();

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
    ScriptedServer server = client.serve(WHOLE, x -> closed.complete(x.awaitClientClose()));
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
    HeldResolver names = new HeldResolver();
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
    ScriptedServer server = client.serve(AFTER_DONE);
    Sent sent = client.post(server.baseUrl()).send();
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
