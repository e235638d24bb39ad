package io.github.gatlingllm.run;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gatlingllm.run.LiveView.LiveServer;
import io.github.gatlingllm.testing.JavaCommand;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class LiveServerTest {
  private static final InetSocketAddress ANY_PORT = Observers.address("0");

  private final CountDownLatch requested = new CountDownLatch(1);
  private final AtomicInteger events = new AtomicInteger();
  @AutoClose private final LiveServer server;
  private final HttpClient client = HttpClient.newHttpClient();

  LiveServerTest() throws IOException {
    server = new LiveServer(ANY_PORT, () -> "<p>page", this::event, null);
  }

  private String event() {
    requested.countDown();
    return String.valueOf(events.incrementAndGet());
  }

  private URI at(String path) {
    return server.address().resolve(path);
  }

  private HttpResponse<String> get(URI address) throws IOException, InterruptedException {
    return client.send(HttpRequest.newBuilder(address).build(), BodyHandlers.ofString());
  }

  @ParameterizedTest
  @CsvSource({"/, 200, <p>page", "/x, 404, There are", "/metrics, 404, Add io.micrometer"})
  void addresses(String path, int status, String text) throws IOException, InterruptedException {
    HttpResponse<String> answer = get(at(path));

    assertThat(answer.statusCode()).isEqualTo(status);
    assertThat(answer.body()).startsWith(text);
    assertThat(answer.headers().map())
        .containsEntry("cache-control", List.of("no-store"))
        .containsEntry("x-content-type-options", List.of("nosniff"));
  }

  /** In a separate JVM, as the JDK's server reads the limit when it is loaded. */
  @Test
  void visitorIsServedBesideHalfOpenConnections() throws IOException, InterruptedException {
    List<String> options = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");
    List<String> command = JavaCommand.of(options, HalfOpenConnections.class);
    assertThat(JavaCommand.run(new ProcessBuilder(command)).code()).isZero();
  }

  /** Exits with 0 once a visitor is served beside 300 requests that never end. */
  static final class HalfOpenConnections {

    private HalfOpenConnections() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
      LiveServer live = new LiveServer(ANY_PORT, () -> "page", () -> "", null);
      List<Socket> halfOpen = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), live.address().getPort());
        socket.getOutputStream().write("GET / HTTP/1.1\r\nHost: local".getBytes(UTF_8));
        halfOpen.add(socket);
      }
      HttpRequest request = HttpRequest.newBuilder(live.address()).build();
      int status = 0;
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (status != 200 && System.nanoTime() < end) {
        try {
          status = HttpClient.newHttpClient().send(request, BodyHandlers.discarding()).statusCode();
        } catch (IOException refused) {
          Thread.sleep(100);
        }
      }
      for (Socket socket : halfOpen) {
        socket.close();
      }
      Runtime.getRuntime().halt(status == 200 ? 0 : 1);
    }
  }

  @Test
  void onlyGetIsAllowed() throws IOException, InterruptedException {
    HttpRequest post =
        HttpRequest.newBuilder(at("/")).POST(HttpRequest.BodyPublishers.noBody()).build();

    assertThat(client.send(post, BodyHandlers.ofString()).statusCode()).isEqualTo(405);
  }

  /** A name that an attacker's DNS resolves to this machine gets nothing. */
  @ParameterizedTest
  @CsvSource({
    "evil.example, 403",
    "127.0.0.1.evil.example:8088, 403",
    "'', 403",
    "localhost:9999, 200",
    "a-service:8088, 200",
    "10.42.0.7:8088, 200",
    "[fd00::7]:8088, 200"
  })
  void hostsWithADomainAreRefused(String host, int status) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.address().getPort())) {
      socket
          .getOutputStream()
          .write(
              ("GET / HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
                  .getBytes(UTF_8));

      assertThat(new String(socket.getInputStream().readAllBytes(), UTF_8))
          .startsWith("HTTP/1.1 " + status)
          .contains(status == 200 ? "<p>page" : "Open " + server.address());
    }
  }

  /** As a container needs it, whose address is not known before. */
  @Test
  void listensAtTheConfiguredAddress() throws IOException, InterruptedException {
    try (LiveServer everywhere =
        new LiveServer(Observers.address("0.0.0.0:0"), () -> "<p>page", () -> "{}", null)) {
      URI page = everywhere.address();

      assertThat(page.getHost()).isEqualTo("0.0.0.0");
      assertThat(get(URI.create("http://localhost:" + page.getPort() + "/")).body())
          .isEqualTo("<p>page");
    }
  }

  @Test
  void viewersGetALastEventWhenTheRunEnds() throws Exception {
    CompletableFuture<HttpResponse<Stream<String>>> following =
        client.sendAsync(HttpRequest.newBuilder(at("/events")).build(), BodyHandlers.ofLines());
    requested.await();

    server.close();

    assertThat(following.get().headers().firstValue("content-type")).hasValue("text/event-stream");
    assertThat(following.get().body().filter(line -> !line.isEmpty()))
        .as("on a slow machine, what came meanwhile too")
        .hasSizeGreaterThan(1)
        .containsExactlyElementsOf(
            IntStream.rangeClosed(1, events.get()).mapToObj(number -> "data: " + number).toList());
  }

  /** A page that cannot be made states why, and the next one is made. */
  @Test
  void failureOfThePageIsAnswered() throws IOException, InterruptedException {
    Supplier<String> failing =
        () -> {
          throw new IllegalStateException("no figures");
        };
    try (LiveServer broken = new LiveServer(ANY_PORT, failing, () -> "{}", () -> "# meters")) {
      HttpResponse<String> answer = get(broken.address());
      assertThat(answer.statusCode()).isEqualTo(500);
      assertThat(answer.body()).contains("no figures");
      assertThat(get(broken.address().resolve("/metrics")).body()).isEqualTo("# meters");
    }
  }

  private final List<String> printed = new ArrayList<>();

  @ParameterizedTest
  @CsvSource({"8099, 127.0.0.1, 8099", "0.0.0.0:8088, 0.0.0.0, 8088", "[::]:0, [::], 0"})
  void anAddressIsAPortOrHasOne(String text, String host, int port) {
    assertThat(Observers.address(text)).isEqualTo(InetSocketAddress.createUnresolved(host, port));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"web", "-1", "65536", "99999999999", "localhost:80", "0.0.0.0:", "::1:80"})
  void anotherAddressIsRefusedInOneLine(String text) {
    assertThatThrownBy(() -> Observers.address(text))
        .hasMessageStartingWith("expected a port, ")
        .hasMessageNotContaining("\n");
  }

  @Test
  void portInUseIsPrinted() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      InetSocketAddress address = Observers.address(taken.getLocalPort() + "");
      assertThat(LiveView.server(address, () -> "", () -> "", null, printed::add)).isNull();
      assertThat(printed)
          .singleElement()
          .asString()
          .startsWith("LLM live page: 127.0.0.1:" + taken.getLocalPort() + " is not available (")
          .endsWith("so there is none; port 0 takes any free port");
    }
  }

  @Test
  void invalidCollectorUrlIsPrinted() {
    assertThat(
            GenAiMeters.open(
                "run-1", () -> 0, new Observers(null, "localhost:4318", null, null), printed::add))
        .isNull();
    assertThat(printed)
        .singleElement()
        .asString()
        .startsWith("LLM otlp: no meters are sent: localhost:4318 is not a URL");
  }
}
