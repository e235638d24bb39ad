package io.github.gatlingllm.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.Http2Server;
import io.github.gatlingllm.testing.SelfSigned;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
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

  private static final String A = ChatChunks.content("a");
  private static final String STOP = ChatChunks.finish("stop");

  /** What no user should read: frames of a stack trace, class names, lines of a logger. */
  private static final Pattern INTERNAL =
      Pattern.compile(
          "(?m)^\\s+at [\\w.$/]+\\(.*|^.*\\[(?:WARN|ERROR) *].*|^.*\\b[a-z]+\\.[\\w.]*[A-Z]\\w*"
              + "(?:Exception|Error)\\b.*|^.*\\b(?:io\\.netty|i\\.n)\\..*");

  @TempDir private Path folder;

  /** Makes what is wrong, and runs in it until the run ends. */
  @FunctionalInterface
  private interface World {
    GatlingRun run(Path folder) throws Exception;
  }

  /** What breaks a rule, the exit code of the run, and parts of lines on its console. */
  private record Row(String name, World world, int exitCode, List<String> lines) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static Row row(String name, World world, int exitCode, String... lines) {
    return new Row(name, world, exitCode, List.of(lines));
  }

  static Stream<Row> rows() {
    return Stream.of(
        row(
            "HTTP/2: GOAWAY below the request",
            http2(
                3,
                server -> {
                  server.next().startStream().event(A).event(STOP).end();
                  server.next().goAwayAfterTheFirst();
                  server.next().startStream().event(A).event(STOP).end();
                }),
            0,
            "stream reset by the server"));
  }

  /** A run of so many requests, one after the other, to an HTTP/2 server that answers so. */
  private static World http2(int requests, Answers answers) {
    return folder -> {
      Http2Server server = new Http2Server(SelfSigned.sslContext(folder));
      try (server;
          GatlingRun run =
              benchmark(server.url(), requests)
                  .set("llm.http2", true)
                  .set("llm.metricsUrl", "none")
                  .set("llm.verifyTls", false)
                  .start()) {
        answers.give(server);
        return run.await();
      }
    };
  }

  @FunctionalInterface
  private interface Answers {
    void give(Http2Server server) throws Exception;
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
    assertThat(run.output()).contains(row.lines());
    assertThat(run.output()).doesNotContainPattern(INTERNAL);
  }
}
