package io.github.gatlingllm.e2e;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.Http2Server;
import io.github.gatlingllm.testing.Http2Server.ServerStream;
import io.github.gatlingllm.testing.ScriptedServer;
import io.github.gatlingllm.testing.SelfSigned;
import io.netty.handler.codec.http2.Http2Error;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.assertj.core.api.ThrowingConsumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Complete runs where something outside breaks a rule: what it is, and what the user reads of it.
 * Only {@code mvn verify -Pnightly} runs them; {@code client.HostileServersIT} is the short table.
 */
@Tag("nightly")
@Timeout(600)
class HostileRunsIT {

  private static final String A = ChatChunks.content("a");
  private static final String STOP = ChatChunks.finish("stop");

  private static final byte[] GZIP_HEADER = {0x1f, (byte) 0x8b, 8, 0, 0, 0, 0, 0, 0, 0};

  /** What no user should read: frames of a stack trace, class names, lines of a logger. */
  private static final Pattern INTERNAL =
      Pattern.compile(
          "(?m)^\\s+at [\\w.$/]+\\(.*|^.*\\[(?:WARN|ERROR) *].*|^.*\\b[a-z]+\\.[\\w.]*[A-Z]\\w*"
              + "(?:Exception|Error)\\b.*|^.*\\b(?:io\\.netty|i\\.n)\\..*");

  /** Finds the folder of results among the arguments of Gatling. */
  private static final String RESULTS =
      "for each; do [ \"$before\" = -rf ] && folder=$each; before=$each; done; ";

  @TempDir private Path folder;

  /** Makes what is wrong, and runs in it until the run ends. */
  @FunctionalInterface
  private interface World {
    GatlingRun run(Path folder) throws Exception;
  }

  /** What breaks a rule, the exit code of the run, and texts on its console, broken into lines. */
  private static Arguments row(String name, World world, int exitCode, String... texts) {
    return Arguments.of(name, world, exitCode, texts);
  }

  static Stream<Arguments> rows() {
    return Stream.of(
        row(
            "HTTP/2: frames of streams that timed out",
            http2(
                6,
                3,
                server -> {
                  for (String encoding : List.of("identity", "gzip", "identity")) {
                    server.next().startStream().event(A).event(STOP).end();
                    ServerStream stream = server.next().startStream("content-encoding", encoding);
                    stream.bytes(GZIP_HEADER, false);
                    assertThat(stream.awaitReset()).isEqualTo(Http2Error.CANCEL.code());
                    stream.framesAfterReset();
                  }
                  assertThat(server.connections()).isEqualTo(1);
                }),
            0,
            "requests: 6 started, 3 ok, 3 failed"),
        row(
            "HTTP/2: reset within gzip data",
            http2(
                2,
                60,
                server -> {
                  ServerStream stream = server.next().startStream("content-encoding", "gzip");
                  stream.bytes(GZIP_HEADER, false);
                  stream.reset();
                  server.next().startStream().event(A).event(STOP).end();
                }),
            0,
            "stream reset by the server"),
        row(
            "TLS: a good certificate",
            tls(true, "-startdate", "-1d", "-ext", "san=ip:127.0.0.1"),
            0,
            "requests: 2 started, 2 ok"),
        row(
            "TLS: an expired certificate",
            tls(true, "-startdate", "-20d", "-validity", "10", "-ext", "san=ip:127.0.0.1"),
            0,
            "TLS failed: the server's certificate has expired; renew it, or set"
                + " verifyTls=false"),
        row(
            "TLS: the certificate of another host",
            tls(true, "-startdate", "-1d", "-ext", "san=dns:other.example"),
            0,
            "TLS failed: the server's certificate is for another host; use its name in the"
                + " endpoint, or set verifyTls=false"),
        row(
            "TLS: no intermediate certificate",
            tls(false, "-startdate", "-1d", "-ext", "san=ip:127.0.0.1"),
            0,
            "TLS failed: the server's certificate is not trusted; add its authority to the"
                + " trust store, or set verifyTls=false"),
        row(
            "TLS: a plain port that answers",
            plain("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"),
            0,
            "TLS failed: the server does not speak TLS; use http:// or another port"),
        row(
            "TLS: a plain port that waits",
            plain(""),
            0,
            "TLS failed: the server did not answer the handshake; does it speak TLS at this"
                + " port?"),
        row("disk: full before the run", disk("1m"), 1, "cannot be written: No space left"),
        row("disk: full during the run", disk("4m"), 1, "could not be written"),
        row(
            "disk: no permission",
            noPermission(),
            1,
            "cannot be written: no permission for user 0: chown the folder"),
        row(
            "disk: two runs in one folder of results",
            launched("sh", "-c", "\"$@\" & \"$@\"; code=$?; wait $! && exit $code", "sh"),
            0,
            "requests: 1,000 started, 1,000 ok"),
        row(
            "disk: the results are removed during the run",
            during(run -> remove(run.results())),
            1,
            "was deleted while the run wrote to it",
            "could not be written; there is no report"),
        row("signal: SIGTERM", during(run -> signal(run, "TERM")), 128 + 15, "Interrupted"),
        row("signal: SIGINT", during(run -> signal(run, "INT")), 128 + 2, "Interrupted"),
        row("signal: SIGHUP", during(run -> signal(run, "HUP")), 128 + 1, "Interrupted"));
  }

  /** A run with all its pages, whose results are on a disk of that size. */
  private static World disk(String size) {
    String mount = "mount -t tmpfs -o size=" + size + " none \"$folder\" && exec \"$@\"";
    return asRoot(List.of("unshare", "-m"), RESULTS + mount);
  }

  /** Without the rights by which root ignores permissions. */
  private static World noPermission() {
    return asRoot(
        List.of("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"),
        RESULTS + "mkdir -p \"$folder/.java/.userPrefs\"; chmod a-w \"$folder\" && exec \"$@\"");
  }

  private static World asRoot(List<String> launcher, String script) {
    return folder -> {
      List<String> tried = new ArrayList<>(launcher);
      tried.add("true");
      assumeTrue(
          new ProcessBuilder(tried).start().waitFor() == 0,
          () -> String.join(" ", launcher) + " needs root, and more rights than some containers");
      tried.set(tried.size() - 1, "sh");
      tried.addAll(List.of("-c", script, "sh"));
      return launched(tried.toArray(String[]::new)).run(folder);
    };
  }

  private static World launched(String... launcher) {
    String text = "x".repeat(3_000);
    return folder -> {
      try (ScriptedServer server = ScriptedServer.start(x -> x.answer(text))) {
        return benchmark(server.baseUrl(), 1_000)
            .set("llm.recordText", true)
            .launchedBy(launcher)
            .reports()
            .run();
      }
    };
  }

  private static World during(ThrowingConsumer<GatlingRun> event) {
    return folder -> {
      try (EmbeddedEngine engine =
              EmbeddedEngine.builder().fixed(ofMillis(50), ofMillis(1)).start();
          GatlingRun run =
              benchmark(engine.baseUrl().replaceFirst("/v1$", ""), 60)
                  .set("llm.maxTokens", 50)
                  .start()) {
        run.awaitRecords(3);
        event.accept(run);
        return run.await();
      }
    };
  }

  /** All but its output, which the test reads. */
  private static void remove(Path results) throws IOException {
    try (Stream<Path> all = Files.walk(results)) {
      for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
        if (!each.equals(results) && !each.endsWith("output.txt")) {
          Files.delete(each);
        }
      }
    }
  }

  private static void signal(GatlingRun run, String name) throws Exception {
    String pid = String.valueOf(run.process().pid());
    assertThat(new ProcessBuilder("kill", "-" + name, pid).start().waitFor()).isZero();
  }

  /** A run to a server with such a certificate; the client trusts its root. */
  private static World tls(boolean sendsIntermediate, String... options) {
    return folder -> {
      SSLContext certificate = SelfSigned.signed(folder, sendsIntermediate, options);
      try (ScriptedServer server = ScriptedServer.startTls(certificate, x -> x.answer("Hi"))) {
        return benchmark(server.baseUrl(), 2)
            .set("javax.net.ssl.trustStore", folder.resolve("trust.p12"))
            .set("javax.net.ssl.trustStorePassword", "changeit")
            .run();
      }
    };
  }

  /** A run over TLS to a port that sends this to every connection. */
  private static World plain(String sent) {
    return folder -> {
      List<Socket> accepted = new CopyOnWriteArrayList<>();
      try (ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
        Thread accepts =
            new Thread(
                () -> {
                  try {
                    while (true) {
                      Socket socket = listener.accept();
                      accepted.add(socket);
                      socket.getOutputStream().write(sent.getBytes(UTF_8));
                    }
                  } catch (IOException closed) {
                    return;
                  }
                });
        accepts.setDaemon(true);
        accepts.start();
        return benchmark("https://127.0.0.1:" + listener.getLocalPort(), 2).run();
      } finally {
        for (Socket socket : accepted) {
          socket.close();
        }
      }
    };
  }

  /** A run of this number of requests, one after the other, to an HTTP/2 server that answers so. */
  private static World http2(
      int requests, int timeoutSeconds, ThrowingConsumer<Http2Server> answers) {
    return folder -> {
      Http2Server server = new Http2Server(SelfSigned.sslContext(folder));
      try (server;
          GatlingRun run =
              benchmark(server.url(), requests)
                  .set("llm.http2", true)
                  .set("llm.timeout", timeoutSeconds)
                  .llm("metricsUrl=none verifyTls=false")
                  .start()) {
        answers.accept(server);
        return run.await();
      }
    };
  }

  private static GatlingRun.Setup benchmark(String url, int requests) {
    return GatlingRun.benchmark(url).llm("warmup=0 concurrency=1").set("llm.requests", requests);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("rows")
  void saysWhatIsWrong(String name, World world, int exitCode, String[] texts) throws Exception {
    GatlingRun run = world.run(folder);

    assertThat(run.exitCode()).as(run.output()).isEqualTo(exitCode);
    assertThat(run.output().replaceAll("\\s+", " ")).contains(texts);
    assertThat(run.output()).doesNotContainPattern(INTERNAL);
  }
}
