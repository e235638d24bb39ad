package io.github.gatlingllm.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.record.ServerSample;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.record.ServerSample.ServerFile;
import io.github.gatlingllm.testing.ScriptedServer;
import io.github.gatlingllm.testing.SelfSigned;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Pages that hang, fail, or are none cost a line in the file. */
class ServerWatchTest {

  private static final String PAGE = "vllm:num_requests_running{engine=\"0\"} 3\n";
  private static final String TEXT = "text/plain";

  @TempDir Path dir;
  private final List<String> printed = new CopyOnWriteArrayList<>();
  private final List<AutoCloseable> open = new ArrayList<>();
  private ServerWatch watch;
  private RunView view = RunView.OPENED;

  @BeforeEach
  void startsIt() {
    watch = watch(Duration.ofMinutes(1));
  }

  private ServerWatch watch(Duration timeout) {
    return new ServerWatch(
        dir.resolve("server.jsonl"),
        nanos -> nanos,
        System::nanoTime,
        printed::add,
        new WriteFailures(dir, printed::add),
        timeout);
  }

  @AfterEach
  void endsIt() throws Exception {
    watch.stop(view);
    for (AutoCloseable each : open) {
      each.close();
    }
  }

  private ScriptedServer server(ScriptedServer.Script... scripts) {
    ScriptedServer server = ScriptedServer.start(scripts);
    open.add(server);
    return server;
  }

  private static List<MetricsPage> pages(String target, String setting, String baseUrl) {
    return MetricsPage.of(
        target,
        List.of(setting),
        List.of(baseUrl),
        Map.of("Authorization", "Bearer sk-12345"),
        true);
  }

  private void tick(RunView next) {
    view = next;
    watch.tick(view);
  }

  private void use(List<MetricsPage> pages) {
    view = view.with(next -> next.pages = pages);
    watch.start(view);
  }

  /** What is in the file after the page was read at the start, and once more. */
  private List<ServerSample> samples() throws IOException {
    tick(view.with(next -> next.beganNanos = 0L));
    watch.stop(view);
    List<ServerSample> samples = new ArrayList<>();
    assertThat(ServerFile.read(dir.resolve("server.jsonl"), samples::add)).isZero();
    return samples;
  }

  private ServerSample only(ScriptedServer.Script script) throws IOException {
    use(pages("a", server(script).baseUrl() + "/page", "http://b"));
    return samples().get(0);
  }

  @Test
  void roleIsInTheFile() throws IOException {
    String url = server(exchange -> exchange.respond(200, TEXT, PAGE)).baseUrl() + "/page";
    use(pages("a", "prefill=" + url, "http://b"));
    assertThat(samples().get(0))
        .extracting(ServerSample::role, ServerSample::url, ServerSample::source)
        .containsExactly("prefill", url, "vllm");
  }

  @Test
  void keepsTheLastReadingBeforeTheFirstRequestAndOneAfterTheLast() throws IOException {
    AtomicInteger running = new AtomicInteger(3);
    ScriptedServer server =
        server(exchange -> exchange.respond(200, TEXT, PAGE.replace("3", running.toString())));
    use(pages("a", server.baseUrl() + "/page", server.baseUrl()));
    running.set(4);
    watch.start(view);
    List<ServerSample> samples = samples();
    assertThat(samples)
        .extracting(sample -> sample.value(EngineMetric.REQUESTS_RUNNING))
        .startsWith(4.0)
        .hasSizeGreaterThan(1);
    assertThat(samples.get(0).names())
        .containsEntry(EngineMetric.REQUESTS_RUNNING, "vllm:num_requests_running");
    assertThat(printed)
        .containsExactly(
            "LLM server metrics: reading vllm from " + server.baseUrl() + "/page once a second");
    assertThat(server.requests())
        .allSatisfy(
            request -> {
              assertThat(request.header("authorization")).isEqualTo("Bearer sk-12345");
              assertThat(request.header("upgrade")).isNull();
            });
  }

  @Test
  void apiKeyIsSentToNoOtherHost() throws IOException {
    ScriptedServer server = server(exchange -> exchange.respond(200, TEXT, PAGE));
    for (String target :
        List.of(
            "http://127.0.0.1:1",
            server.baseUrl().replace("http:", "https:"),
            server.baseUrl().replace("127.0.0.1", "localhost"))) {
      use(pages("a", server.baseUrl() + "/" + target.hashCode(), target));
    }
    assertThat(server.requests())
        .hasSize(3)
        .allSatisfy(request -> assertThat(request.header("authorization")).isNull());
  }

  @Test
  void pageOfSeveralTargetsIsReadOnceForAll() throws IOException {
    ScriptedServer server = server(exchange -> exchange.respond(200, TEXT, PAGE));
    use(pages("a", server.baseUrl() + "/page", "http://b"));
    use(pages("b", server.baseUrl() + "/page", "http://c"));
    assertThat(samples()).allSatisfy(sample -> assertThat(sample.target()).isNull());
  }

  @Test
  void autoRequestsAPageWithoutEngineMetricsOnce() throws IOException {
    AtomicInteger requests = new AtomicInteger();
    ScriptedServer server =
        server(x -> {})
            .pages(
                x -> {
                  requests.incrementAndGet();
                  x.respond(404, TEXT, "");
                });
    use(pages("a", MetricsPage.AUTO, server.baseUrl() + "/v1"));
    use(pages("b", MetricsPage.AUTO, "http://127.0.0.1:1/v1"));
    watch.start(view);
    assertThat(samples()).isEmpty();
    assertThat(printed).isEmpty();
    assertThat(requests).hasValue(1);
  }

  @Test
  void autoNamesAPageWithoutValuesOnceAndReadsOn() throws IOException {
    AtomicReference<String> value = new AtomicReference<>("NaN");
    ScriptedServer server =
        server(x -> x.answer("a")).pages(x -> x.respond(200, TEXT, PAGE.replace("3", value.get())));
    use(pages("a", MetricsPage.AUTO, server.baseUrl() + "/v1"));
    tick(view.with(next -> next.beganNanos = 0L));
    tick(view.with(next -> next.seconds++));
    value.set("3");
    List<ServerSample> samples = samples();
    assertThat(samples.get(0).values()).isEmpty();
    assertThat(samples.get(0).histograms()).isEmpty();
    assertThat(samples.get(samples.size() - 1).value(EngineMetric.REQUESTS_RUNNING)).isEqualTo(3);
    assertThat(printed)
        .containsExactly(
            "LLM server metrics: cannot read "
                + server.baseUrl()
                + "/metrics: its metrics have no value, e.g. vllm:num_requests_running; the run"
                + " continues without them",
            "LLM server metrics: reading vllm from " + server.baseUrl() + "/metrics once a second");
  }

  @Test
  void autoTriesAgainAfterALateFirstResponse() throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    Semaphore requests = new Semaphore(0);
    ScriptedServer server =
        server(x -> {})
            .pages(
                x -> {
                  requests.release();
                  x.await(never);
                });
    watch = watch(Duration.ofMillis(400));
    use(pages("a", MetricsPage.AUTO, server.baseUrl() + "/v1"));
    watch.start(view);
    watch.start(view);
    assertThat(samples()).isEmpty();
    assertThat(printed).isEmpty();
    assertThat(requests.tryAcquire(2, 1, TimeUnit.MINUTES)).as("two requests").isTrue();
    assertThat(requests.availablePermits()).as("a third").isZero();
  }

  @Test
  void failuresAreInEveryLineAndPrintedOnce() throws IOException {
    use(pages("a", "http://127.0.0.1:1/m?token=secret", "http://b"));
    List<ServerSample> samples = samples();
    assertThat(samples.get(0).error()).isEqualTo("no connection");
    assertThat(samples.get(0).url()).isEqualTo("http://127.0.0.1:1/m?token=***");
    assertThat(printed)
        .containsExactly(
            "LLM server metrics: cannot read http://127.0.0.1:1/m?token=***: no connection;"
                + " the run continues without them");
  }

  static Stream<Arguments> refusedPages() {
    return Stream.of(
        page(exchange -> exchange.respond(404, TEXT, "no"), "HTTP 404"),
        page(exchange -> exchange.respond(302, TEXT, "", "Location: http://x/"), "HTTP 302"),
        page(
            exchange -> exchange.respond(200, "text/html", "<html>sk-secret</html>"),
            "not a metrics page: expected a name in line 1"),
        page(
            exchange -> exchange.respond(200, TEXT, "go_goroutines 7\n"),
            "no metric of an engine, GPU or host"),
        page(
            exchange -> exchange.respond(200, TEXT, PAGE.replace("3", "-Inf") + "go_goroutines 7"),
            "its metrics have no value, e.g. vllm:num_requests_running"),
        page(
            exchange -> exchange.startStream().chunk("vllm:n").reset(),
            "response incomplete or not HTTP"));
  }

  private static Arguments page(ScriptedServer.Script script, String error) {
    return Arguments.of(script, error);
  }

  @ParameterizedTest
  @MethodSource("refusedPages")
  void refusedPageIsALineWithItsError(ScriptedServer.Script script, String error)
      throws IOException {
    assertThat(only(script).error()).isEqualTo(error);
    assertThat(Files.readString(dir.resolve("server.jsonl"))).doesNotContain("sk-secret");
  }

  @Test
  void hangingPageTimesOut() throws IOException {
    CountDownLatch never = new CountDownLatch(1);
    watch = watch(Duration.ofMillis(50));
    assertThat(only(exchange -> exchange.sendHeaders(200).await(never)).error())
        .isEqualTo("no complete response within 50 ms");
  }

  @Test
  void hugePagesAreRefused() throws IOException {
    byte[] part = "a".repeat(1 << 20).getBytes(StandardCharsets.US_ASCII);
    assertThat(
            only(exchange -> {
                  exchange.startStream();
                  for (int i = 0; i < 50; i++) {
                    exchange.chunk(part);
                  }
                  exchange.lastChunk();
                })
                .error())
        .isEqualTo("larger than 8 MiB");
  }

  @Test
  void restartOfTheEngineIsAReset() throws IOException {
    ScriptedServer server =
        server(
            exchange -> exchange.respond(200, TEXT, "vllm:prompt_tokens_total 50\n"),
            exchange -> exchange.respond(503, TEXT, "starting"),
            exchange -> exchange.respond(200, TEXT, "vllm:prompt_tokens_total 7\n"));
    tick(view.with(next -> next.beganNanos = 0L));
    use(pages("a", server.baseUrl() + "/page", "http://b"));
    watch.start(view);
    watch.start(view);
    assertThat(samples()).extracting(ServerSample::reset).startsWith(false, false, true);
    assertThat(printed).hasSize(2);
  }

  @Test
  void failuresAfterTheLastUserLeftAreNotWritten() throws Exception {
    ScriptedServer server = ScriptedServer.start(exchange -> exchange.respond(200, TEXT, PAGE));
    tick(view.with(next -> next.beganNanos = 0L));
    use(pages("a", server.baseUrl() + "/page", "http://b"));
    tick(view.with(next -> next.isIdle = true));
    server.close();
    assertThat(samples()).allSatisfy(sample -> assertThat(sample.error()).isNull());
  }

  @Test
  void certificatesAreVerifiedIfConfigured() throws Exception {
    try (ScriptedServer tls =
        ScriptedServer.startTls(
            SelfSigned.sslContext(dir), exchange -> exchange.respond(200, TEXT, PAGE))) {
      tick(view.with(next -> next.beganNanos = 0L));
      for (boolean verify : List.of(true, false)) {
        use(
            MetricsPage.of(
                "a", List.of(tls.baseUrl() + "/" + verify), List.of(), Map.of(), verify));
      }
      assertThat(samples())
          .extracting(ServerSample::error)
          .satisfies(
              errors -> assertThat(errors.get(0)).contains("not trusted", "verifyTls=false"),
              errors -> assertThat(errors.get(1)).isNull());
    }
  }
}
