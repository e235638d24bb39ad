package io.github.gatlingllm.e2e;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.ScriptedServer;
import io.github.gatlingllm.testing.SelfSigned;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whole runs where something outside breaks a rule: what it is, and what the user reads of it. Only
 * {@code mvn verify -Pnightly} runs them; {@code client.HostileServersIT} is the short table.
 */
@Tag("nightly")
@Timeout(600)
class HostileRunsIT {

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
  private record Row(String name, World world, int exitCode, List<String> texts) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static Row row(String name, World world, int exitCode, String... texts) {
    return new Row(name, world, exitCode, List.of(texts));
  }

  static Stream<Row> rows() {
    return Stream.of(
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

  /** A run with all its pages that is started by another command. */
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

  /** A run to which this happens once it has records. */
  private static World during(Event event) {
    return folder -> {
      try (EmbeddedEngine engine =
              EmbeddedEngine.builder().fixed(ofMillis(50), ofMillis(1)).start();
          GatlingRun run =
              benchmark(engine.baseUrl().replaceFirst("/v1$", ""), 60)
                  .set("llm.maxTokens", 50)
                  .start()) {
        run.awaitRecords(3);
        event.happen(run);
        return run.await();
      }
    };
  }

  @FunctionalInterface
  private interface Event {
    void happen(GatlingRun run) throws Exception;
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

  /** A run of so many requests, one after the other. */
  private static GatlingRun.Setup benchmark(String url, int requests) {
    return GatlingRun.of(Benchmark.class)
        .set("llm.endpoint", url + "/v1")
        .set("llm.warmup", 0)
        .set("llm.concurrency", 1)
        .set("llm.requests", requests);
  }

  @ParameterizedTest
  @MethodSource("rows")
  void saysWhatIsWrong(Row row) throws Exception {
    GatlingRun run = row.world().run(folder);

    assertThat(run.exitCode()).as(run.output()).isEqualTo(row.exitCode());
    assertThat(run.output().replaceAll("\\s+", " ")).contains(row.texts());
    assertThat(run.output()).doesNotContainPattern(INTERNAL);
  }
}
