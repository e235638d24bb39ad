package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import io.gatling.javaapi.core.*;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.Http2Server;
import io.github.gatlingllm.testing.Http2Server.Asked;
import io.github.gatlingllm.testing.SelfSigned;
import io.netty.handler.codec.http2.Http2Error;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs over HTTP/2, where a request is cancelled by resetting its stream. */
class Http2IT {
  private Http2Server server;

  @BeforeEach
  void start(@TempDir Path folder) throws Exception {
    server = new Http2Server(SelfSigned.sslContext(folder));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  /** Accepts that many requests and starts answers that never end. */
  private List<Asked> begin(int count) throws InterruptedException {
    List<Asked> asked = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      asked.add(server.next().startStream().event(ChatChunks.content("a")));
    }
    return asked;
  }

  private static void assertCancelled(List<Asked> asked) throws Exception {
    for (Asked each : asked) {
      assertThat(each.awaitReset()).isEqualTo(Http2Error.CANCEL.code());
    }
  }

  @Test
  void streamsAreResetAtTheEndOfDrain() throws Exception {
    try (GatlingRun run = GatlingRun.of(Http2Simulation.class, server.url() + "/v1").start()) {
      List<Asked> four = begin(4);
      int connections = server.connections();
      assertCancelled(four);
      assertCancelled(begin(2));
      run.await();

      assertThat(run.exitCode()).as(run.output()).isZero();
      assertThat(server.posts()).isEqualTo(6);
      assertThat(run.requests())
          .allSatisfy(
              record -> {
                assertThat(record.outcome().status()).isEqualTo(RequestStatus.CANCELLED);
                assertThat(record.outcome().error()).contains("drain time was over");
                assertThat(record.events().count()).isOne();
              })
          .extracting(RequestRecord::identity)
          .extracting(RequestRecord.Identity::stage)
          .containsExactly("c=4", "c=4", "c=4", "c=4", "c=2", "c=2");
      assertThat(server.connections()).as("streams end, connections last").isEqualTo(connections);
    }
  }

  /** Two load levels over HTTP/2. */
  public static final class Http2Simulation extends Simulation {

    {
      ScenarioBuilder chat = scenario("Chat").exec(llm("ask").chat().user("Hello").maxTokens(10));
      setUp(
              closedLoop(4, 2)
                  .fill(0)
                  .stabilize(0)
                  .disableCooldown()
                  .measure(3)
                  .drain(ofMillis(200))
                  .inject(chat))
          .protocols(
              llm.baseUrl(System.getProperty("baseUrl")).metricsUrl("none").disableJvmWarmUp(),
              http.enableHttp2());
    }
  }
}
