package io.github.gatlingllm.e2e;

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
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.Exchange;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.ScriptedServer;
import io.github.gatlingllm.testing.ScriptedServer.Script;
import io.github.gatlingllm.testing.SelfSigned;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Server faults of each status: each request ends once, with the right status, and the run ends by
 * itself. All endings of an exchange are in the tests of the client.
 */
class FaultsIT {

  private static final String A = ChatChunks.content("a");
  private static final String STOP = ChatChunks.finish("stop");

  private static final String CLOSED = "connection closed by the server before any response";
  private static final String RESET = "connection reset by the server";
  private static final String CUT = "stream ended before finish_reason and without [DONE]";
  private static final String TIME_OUT = "no end within the request timeout";
  private static final String NO_HTTP = "response is not valid HTTP: is this the endpoint's port?";

  /** Expected outcome of the requests of a name. */
  private record Fault(String url, RequestStatus status, @Nullable String error) {}

  private final Map<String, Fault> faults = new LinkedHashMap<>();
  private final List<String> floods = new ArrayList<>();
  private final List<String> silent = new ArrayList<>();
  private final List<AutoCloseable> servers = new ArrayList<>();

  @AfterEach
  void closeServers() throws Exception {
    for (AutoCloseable server : servers) {
      server.close();
    }
  }

  private void fault(String name, RequestStatus status, @Nullable String error, Script script) {
    ScriptedServer server = ScriptedServer.start(script);
    servers.add(server);
    faults.put(name, new Fault(server.baseUrl() + "/v1", status, error));
  }

  private void flood(String name, String error, Script script) {
    floods.add(name);
    fault(name, INVALID_RESPONSE, error, script);
  }

  /** Request names of servers that stop sending; they have short timeouts. */
  private void silence(String name, RequestStatus status, @Nullable String error, Script script) {
    silent.add(name);
    fault(name, status, error, script);
  }

  private void fault(String name, String url, String error) {
    faults.put(name, new Fault(url, CONNECTION_ERROR, error));
  }

  @Test
  void eachFaultHasItsStatusAndTheRunEnds(@TempDir Path folder) throws Exception {
    connections();
    contents();
    tls(folder);
    silences();
    sizes();
    Path hosts = Files.writeString(folder.resolve("hosts"), "127.0.0.1 localhost\n");

    GatlingRun run =
        GatlingRun.of(FaultsSimulation.class)
            .jvm(
                List.of(
                    "-XX:TieredStopAtLevel=1",
                    "-XX:+UseSerialGC",
                    "-Xmx512m",
                    "-Djdk.net.hosts.file=" + hosts))
            .set("servers", urls(name -> !floods.contains(name) && !silent.contains(name)))
            .set("silent", urls(silent::contains))
            .set("floods", urls(floods::contains))
            .noReports()
            .run();

    assertThat(run.exitCode()).as(run.output()).isZero();
    assertThat(run.output()).doesNotContain("\tat ");
    Map<String, List<RequestRecord>> records =
        run.requests().stream().collect(Collectors.groupingBy(r -> r.identity().name()));
    assertThat(ends(records)).isEqualTo(ends(faults.keySet()));
    assertAllIsAccountedFor(run, faults.size() * FaultsSimulation.USERS);
    assertThat(run.check("token_counts").path("level").asText()).isEqualTo("warning");
    RunInfo info = run.info();
    assertThat(info.identity().seed()).as("of a simulation that sets none").isNotNull();
  }

  private String urls(Predicate<String> which) {
    return faults.keySet().stream()
        .filter(which)
        .map(name -> name + "=" + faults.get(name).url())
        .collect(Collectors.joining(";"));
  }

  /** One line per request name, so that a failure shows all differences. */
  private static List<String> ends(Map<String, List<RequestRecord>> records) {
    return records.entrySet().stream()
        .flatMap(
            name ->
                name.getValue().stream()
                    .map(RequestRecord::outcome)
                    .map(end -> line(name.getKey(), end.status(), end.error())))
        .sorted()
        .toList();
  }

  private List<String> ends(Iterable<String> names) {
    List<String> lines = new ArrayList<>();
    for (String name : names) {
      Fault fault = faults.get(name);
      for (int i = 0; i < FaultsSimulation.USERS; i++) {
        lines.add(line(name, fault.status(), fault.error()));
      }
    }
    lines.sort(null);
    return lines;
  }

  private static String line(String name, RequestStatus status, @Nullable String error) {
    return name + ": " + status.key() + ": " + error;
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

  private void connections() throws IOException {
    fault("answered", COMPLETE, null, x -> x.startStream().event(A).event(STOP).lastChunk());
    String absurd = ChatChunks.usage(1, Integer.MAX_VALUE);
    fault(
        "a count that no answer can have",
        COMPLETE,
        null,
        x -> x.startStream().event(A).event(STOP).event(absurd).lastChunk());
    fault(
        "refused",
        "http://127.0.0.1:1/v1",
        "connection refused: is the server running at the endpoint's port?");
    fault("no such host", "http://llm.invalid/v1", "unknown host: check the endpoint's name");
    fault("reset after headers", CONNECTION_ERROR, RESET, x -> x.startStream().reset());
    fault("closed before headers", CONNECTION_ERROR, CLOSED, Exchange::close);
    fault(
        "closed in an event",
        TRUNCATED,
        CUT,
        x -> x.startStream().event(A).chunk("data: {\"c").close());
  }

  private void silences() {
    String idle = "no byte for " + FaultsSimulation.IDLE.toSeconds() + " s (idle timeout)";
    String noHeaders = idle.replace("byte", "response headers");
    silence("hangs before headers", STALLED, noHeaders, Exchange::awaitClientClose);
    silence(
        "hangs in an event",
        STALLED,
        idle,
        x -> x.startStream().event(A).chunk("data: {\"cho").awaitClientClose());
    silence(
        "hangs after the last event",
        COMPLETE,
        null,
        x -> x.startStream().event(A).event(STOP).done().awaitClientClose());
    silence(
        "a byte at a time, headers",
        STALLED,
        noHeaders,
        x -> drip(x.send("HTTP/1.1 200 OK\r\n"), 'x'));
    // The last one, as none takes longer: those that flood the client start when it has ended.
    silence(
        "comments without an end",
        TIMEOUT,
        TIME_OUT,
        x -> drip(x.startStream().send("ffff\r\n:"), '\n'));
  }

  /** Sends this byte ten times a second. */
  private static void drip(Exchange exchange, char single)
      throws IOException, InterruptedException {
    for (int i = 0; true; i++) {
      exchange.at(TimeUnit.MILLISECONDS.toNanos(100) * i).send(new byte[] {(byte) single});
    }
  }

  private void sizes() throws IOException {
    flood(
        "a text without an end",
        "text of an answer longer than 16 MiB",
        x -> forever(x.startStream(), "data: " + ChatChunks.content("x".repeat(10_000)) + "\n\n"));
    ByteArrayOutputStream bomb = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bomb)) {
      gzip.write(("data: {\"choices\":[\"" + "x".repeat(30_000_000)).getBytes(UTF_8));
    }
    flood(
        "a gzip bomb",
        "event longer than 8 MiB",
        x ->
            x.sendHeaders(
                    200,
                    "Content-Type: text/event-stream",
                    "Content-Encoding: gzip",
                    "Content-Length: " + bomb.size())
                .send(bomb.toByteArray()));
  }

  private static void forever(Exchange exchange, String text) throws IOException {
    byte[] bytes = text.repeat(Math.max(1, (1 << 16) / text.length())).getBytes(UTF_8);
    while (true) {
      exchange.chunk(bytes);
    }
  }

  private void contents() {
    byte[] garbage = new byte[100_000];
    new Random(1).nextBytes(garbage);
    fault(
        "garbage for HTTP", CONNECTION_ERROR, NO_HTTP, x -> x.send("?\r\n?\r\n\r\n").send(garbage));
    fault(
        "HTML",
        INVALID_RESPONSE,
        "expected an event stream or JSON, got text/html",
        x -> x.respond(200, "text/html", "<html></html>"));
    fault(
        "no token",
        EMPTY,
        "stream ended well but held no token",
        x -> x.startStream().event(STOP).lastChunk());
    fault("error", HTTP_ERROR, "HTTP 500: oops", x -> x.respond(500, "text/plain", "oops"));
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

  private void tls(Path folder) throws Exception {
    ScriptedServer untrusted =
        ScriptedServer.startTls(SelfSigned.sslContext(folder), x -> x.startStream().lastChunk());
    servers.add(untrusted);
    fault(
        "TLS, untrusted",
        untrusted.baseUrl() + "/v1",
        "TLS failed: the server's certificate is not trusted; add its authority to the trust store,"
            + " or set verifyTls=false");
    fault("TLS, asked without", "http://127.0.0.1:" + untrusted.port() + "/v1", CLOSED);
    ServerSocket mute = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    servers.add(mute);
    silent.add("TLS, silent");
    faults.put(
        "TLS, silent",
        new Fault("https://127.0.0.1:" + mute.getLocalPort() + "/v1", TIMEOUT, TIME_OUT));
  }
}
