package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static org.assertj.core.api.Assertions.assertThat;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunOutcome;
import io.github.gatlingllm.testing.Exchange;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.ScriptedServer;
import io.github.gatlingllm.testing.ScriptedServer.Script;
import io.github.gatlingllm.testing.SelfSigned;
import io.netty.channel.epoll.Epoll;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers that close connections unannounced: no request fails, and none is answered twice. */
class ClosingServersIT {
  private static final long MAX_LATER_NANOS = TimeUnit.MILLISECONDS.toNanos(3);

  private static void closesSomeTimeLater(Exchange exchange)
      throws IOException, InterruptedException {
    exchange.answer("a");
    TimeUnit.NANOSECONDS.sleep(ThreadLocalRandom.current().nextLong(MAX_LATER_NANOS));
    exchange.close();
  }

  private static void closesEveryTenthTime(Exchange exchange) throws IOException {
    exchange.answer("a");
    if (exchange.request().indexOnConnection() == 9) {
      exchange.close();
    }
  }

  @Test
  void noRequestFailsOrIsAnsweredTwice(@TempDir Path folder) throws Exception {
    SSLContext tls = SelfSigned.sslContext(folder);
    List<Script> scripts =
        List.of(
            // like llama.cpp: after a complete answer, without Connection: close
            exchange -> exchange.answer("a").close(),
            ClosingServersIT::closesSomeTimeLater,
            ClosingServersIT::closesEveryTenthTime);
    List<ScriptedServer> servers =
        scripts.stream()
            .flatMap(
                script ->
                    Stream.of(ScriptedServer.start(script), ScriptedServer.startTls(tls, script)))
            .toList();
    try {
      GatlingRun run =
          GatlingRun.of(ClosingServersSimulation.class)
              .set(
                  "servers",
                  servers.stream().map(ScriptedServer::baseUrl).collect(Collectors.joining(",")))
              .succeed();
      for (ScriptedServer server : servers) {
        assertEachIsAnsweredOnce(server, run);
      }
      assertThat(run.info().outcome().connections()).hasSize(servers.size());
      for (ScriptedServer server : servers.subList(0, 2)) {
        RunOutcome.Connections seen =
            run.info().outcome().connections().get("127.0.0.1:" + server.port());
        assertThat(seen.closed())
            .as("closed after nearly all answers; a busy machine notices some late")
            .isGreaterThan(150);
        assertThat(run.output()).contains("LLM: 127.0.0.1:" + server.port() + " closes its");
      }
    } finally {
      for (ScriptedServer server : servers) {
        server.close();
      }
    }
  }

  private static void assertEachIsAnsweredOnce(ScriptedServer server, GatlingRun run)
      throws IOException {
    List<RequestRecord> records =
        run.requests().stream()
            .filter(record -> record.identity().endpoint().startsWith(server.baseUrl() + "/"))
            .toList();
    assertThat(records)
        .hasSize(ClosingServersSimulation.REQUESTS)
        .allSatisfy(
            record -> {
              assertThat(record.outcome().status()).isEqualTo(RequestStatus.COMPLETE);
              assertThat(record.timing().connectNanos()).isBetween(0L, record.timing().ttftNanos());
              assertThat(record.timing().roundTripNanos() != null).isEqualTo(Epoll.isAvailable());
            });
    assertThat(server.exchanges())
        .filteredOn(exchange -> !exchange.sends().isEmpty())
        .extracting(exchange -> exchange.request().header("X-Request-Id"))
        .doesNotHaveDuplicates()
        .containsExactlyInAnyOrderElementsOf(
            records.stream().map(record -> record.identity().requestId()).toList());
  }

  public static final class ClosingServersSimulation extends Simulation {

    static final int USERS = 4;
    static final int REQUESTS = 200;

    {
      setUp(
          Arrays.stream(System.getProperty("servers").split(","))
              .map(ClosingServersSimulation::users)
              .toList());
    }

    private static PopulationBuilder users(String url) {
      return closedLoop(USERS)
          .requests(REQUESTS)
          .inject(scenario(url).exec(llm("ask").chat().user("hi").maxTokens(2)))
          .protocols(llm.baseUrl(url + "/v1").model("m"));
    }
  }
}
