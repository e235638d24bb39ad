package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static io.github.gatlingllm.record.RequestStatus.COMPLETE;
import static io.github.gatlingllm.record.RequestStatus.CONNECTION_ERROR;
import static io.github.gatlingllm.record.RequestStatus.EMPTY;
import static io.github.gatlingllm.record.RequestStatus.HTTP_ERROR;
import static io.github.gatlingllm.record.RequestStatus.INVALID_RESPONSE;
import static io.github.gatlingllm.record.RequestStatus.IN_STREAM_ERROR;
import static io.github.gatlingllm.record.RequestStatus.RATE_LIMITED;
import static io.github.gatlingllm.record.RequestStatus.STALLED;
import static io.github.gatlingllm.record.RequestStatus.TIMEOUT;
import static io.github.gatlingllm.record.RequestStatus.TRUNCATED;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.Exchange;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.ScriptedServer;
import io.github.gatlingllm.testing.ScriptedServer.Script;
import io.github.gatlingllm.testing.SelfSigned;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Server faults of each status: each request ends once, with the right status, and the run ends by
 * itself. All endings of an exchange are in the tests of the client.
 */
class FaultsIT {
  private static final Pattern ERRORS =
      Pattern.compile("^> (\\d+) (?:× |requests failed in )", Pattern.MULTILINE);

  private static final String A = ChatChunks.content("a");
  private static final String STOP = ChatChunks.finish("stop");
  private static final String TIME_OUT = "no complete answer within 5 s (requestTimeout)";

  /** Lines that tell how each request ended, and how each should: a failure shows them all. */
  private final List<String> expected = new ArrayList<>();

  /** Name and URL of servers that send on or close, and of those that stop sending. */
  private final List<String> busy = new ArrayList<>();

  private final List<String> silent = new ArrayList<>();
  private final List<AutoCloseable> servers = new ArrayList<>();

  @AfterEach
  void closeServers() throws Exception {
    for (AutoCloseable server : servers) {
      server.close();
    }
  }

  private void fault(String name, RequestStatus status, @Nullable String error, Script script) {
    add(busy, name, started(script), status, error);
  }

  /** Has short timeouts. */
  private void silence(String name, RequestStatus status, @Nullable String error, Script script) {
    add(silent, name, started(script), status, error);
  }

  private String started(Script script) {
    return url(ScriptedServer.start(script));
  }

  private String url(ScriptedServer server) {
    servers.add(server);
    return server.baseUrl();
  }

  private void add(
      List<String> urls, String name, String url, RequestStatus status, @Nullable String error) {
    urls.add(name + "=" + url + "/v1");
    for (int i = 0; i < FaultsSimulation.USERS; i++) {
      expected.add(line(name, status, error));
    }
  }

  private static String line(String name, RequestStatus status, @Nullable String error) {
    return name + ": " + status.key() + ": " + error;
  }

  @Test
  void eachFaultHasItsStatusAndTheRunEnds(@TempDir Path trusted, @TempDir Path unknown)
      throws Exception {
    connections();
    certificates(SelfSigned.sslContext(trusted), SelfSigned.sslContext(unknown));
    contents();
    silences();

    GatlingRun run =
        GatlingRun.of(FaultsSimulation.class)
            .set("servers", String.join(";", busy))
            .set("silent", String.join(";", silent))
            .set("javax.net.ssl.trustStore", trusted.resolve("self-signed.p12"))
            .set("javax.net.ssl.trustStorePassword", "changeit")
            .succeed();

    long failed =
        run.requests().stream()
            .filter(r -> !r.outcome().ok() && r.outcome().status() != RATE_LIMITED)
            .count();
    assertThat(run.output()).doesNotContain("\tat ", "::stop", "\u001b[2J");
    assertThat(
            ERRORS.matcher(run.output()).results().mapToLong(m -> Long.parseLong(m.group(1))).sum())
        .as("five kinds of errors by name, and the others together")
        .isEqualTo(failed);
    assertThat(Files.readString(run.files().page())).contains("oops ::stop-commands:: [2J");
    assertThat(run.requests())
        .extracting(r -> line(r.identity().name(), r.outcome().status(), r.outcome().error()))
        .containsExactlyInAnyOrderElementsOf(expected);
    assertAllIsAccountedFor(run, expected.size());
    assertThat(run.check("token_counts").path("level").asText()).isEqualTo("warning");
    assertThat(run.info().seed()).as("of a simulation that sets none").isNotNull();
  }

  static void assertAllIsAccountedFor(GatlingRun run, int planned) throws IOException {
    RunInfo info = run.info();
    assertThat(info.state()).isEqualTo(RunInfo.State.COMPLETE);
    assertThat(info.outcome().planned()).isEqualTo(planned);
    assertThat(info.outcome().started()).isEqualTo(planned);
    assertThat(info.outcome().dropped()).isZero();
    assertThat(run.requests()).hasSize(planned);
    JsonNode counts = run.summary().path("counts");
    assertThat(counts.path("planned").asInt()).isEqualTo(planned);
    assertThat(counts.path("started").asInt()).isEqualTo(planned);
    assertThat(counts.path("ended").asInt()).isEqualTo(planned);
    assertThat(run.check("all_accounted").path("level").asText()).isEqualTo("ok");
  }

  private void connections() {
    fault("answered", COMPLETE, null, x -> x.answer("a"));
    String absurd = ChatChunks.usage(1, Integer.MAX_VALUE);
    fault(
        "a count that no answer can have",
        COMPLETE,
        null,
        x -> x.startStream().event(A).event(STOP).event(absurd).lastChunk());
    add(
        busy,
        "refused",
        "http://127.0.0.1:1",
        CONNECTION_ERROR,
        "connection refused: is the server running at the endpoint's port?");
    add(
        busy,
        "refused by one of two base URLs, which is named",
        "http://127.0.0.1:1/v1,http://127.0.0.1:1",
        CONNECTION_ERROR,
        "127.0.0.1:1: connection refused: is the server running at the endpoint's port?");
    fault(
        "closed in an event",
        TRUNCATED,
        "stream ended before finish_reason and without [DONE]",
        x -> x.startStream().event(A).chunk("data: {\"c").close());
  }

  /** Two users of one server, of whom one does not verify, share nothing of it. */
  private void certificates(SSLContext trusted, SSLContext unknown) {
    String url = url(ScriptedServer.startTls(trusted, x -> x.answer("a")));
    add(busy, "TLS, trusted", url, COMPLETE, null);
    url = url(ScriptedServer.startTls(unknown, x -> x.answer("a")));
    add(busy, FaultsSimulation.UNVERIFIED, url, COMPLETE, null);
    add(
        busy,
        FaultsSimulation.UNTRUSTED,
        url,
        CONNECTION_ERROR,
        "TLS failed: the server's certificate is not trusted; add its authority to the trust"
            + " store, or set verifyTls=false");
  }

  private void contents() {
    fault(
        "HTML",
        INVALID_RESPONSE,
        "expected an event stream or JSON, got text/html",
        x -> x.respond(200, "text/html", "<html></html>"));
    fault(
        "no token",
        EMPTY,
        "stream ended as expected but contained no token",
        x -> x.startStream().event(STOP).lastChunk());
    fault(
        "error that commands a terminal and a CI runner",
        HTTP_ERROR,
        "HTTP 500: oops ::stop-commands:: [2J",
        x -> x.respond(500, "text/plain", "oops ::stop-commands::\u001b[2J"));
    fault(
        "too many requests",
        RATE_LIMITED,
        "HTTP 429: slow down; retry after 20",
        x -> x.respond(429, "text/plain", "slow down", "Retry-After: 20"));
    fault(
        "error in the stream",
        IN_STREAM_ERROR,
        "broke",
        x -> x.startStream().event(A).event(ChatChunks.error("broke")).lastChunk());
  }

  private void silences() throws IOException {
    String idle = "no byte for " + FaultsSimulation.IDLE.toSeconds() + " s (idle timeout)";
    String noHeaders = idle.replace("byte", "response headers");
    silence("hangs before headers", STALLED, noHeaders, Exchange::awaitClientClose);
    ServerSocket mute = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    servers.add(mute);
    add(silent, "TLS, silent", "https://127.0.0.1:" + mute.getLocalPort(), TIMEOUT, TIME_OUT);
  }

  /**
   * Closed loops against many servers at the same time, {@code name=url;…}: one request name per
   * server, with long timeouts. The servers in {@code silent} get short timeouts.
   */
  public static final class FaultsSimulation extends Simulation {

    static final int USERS = 2;

    static final String UNVERIFIED = "TLS, not verified";

    /** Begins when a connection that was opened without verifying is free. */
    static final String UNTRUSTED = "TLS, not trusted";

    /** Longer than a busy machine takes to send a request and read the first bytes. */
    static final Duration IDLE = Duration.ofSeconds(3);

    static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final Duration LONG = Duration.ofMinutes(1);

    {
      List<PopulationBuilder> all = users("silent", IDLE, TIMEOUT);
      all.addAll(users("servers", LONG, LONG));
      setUp(all);
    }

    private static List<PopulationBuilder> users(String servers, Duration idle, Duration timeout) {
      return Arrays.stream(System.getProperty(servers).split(";"))
          .map(server -> server.split("=", 2))
          .map(server -> users(server[0], server[1], idle, timeout))
          .collect(Collectors.toList());
    }

    private static PopulationBuilder users(
        String name, String url, Duration idle, Duration timeout) {
      LlmProtocolBuilder server =
          llm.baseUrls(List.of(url.split(",")))
              .model("m")
              .target(name)
              .idleTimeout(idle)
              .requestTimeout(timeout)
              .disableJvmWarmUp();
      return closedLoop(USERS)
          .requests(USERS)
          .inject(
              scenario(name)
                  .pause(name.equals(UNTRUSTED) ? IDLE : Duration.ZERO)
                  .exec(llm(name).chat().user("hi").maxTokens(2)))
          .protocols(name.equals(UNVERIFIED) ? server.disableVerifyTls() : server.verifyTls());
    }
  }
}
