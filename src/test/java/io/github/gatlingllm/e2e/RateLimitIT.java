package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.e2e.RateLimitIT.RateLimitSimulation.LIMIT;
import static io.github.gatlingllm.e2e.RateLimitIT.RateLimitSimulation.REQUESTS;
import static io.github.gatlingllm.e2e.RateLimitIT.RateLimitSimulation.USERS;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.gatling.javaapi.core.*;
import io.github.gatlingllm.javaapi.LlmProtocolBuilder;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.Exchange;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.ScriptedServer;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Servers that allow {@value RateLimitSimulation#LIMIT} requests a minute, in a run of Gatling. */
class RateLimitIT {
  private final AtomicInteger asked = new AtomicInteger();
  private final AtomicInteger askedPaced = new AtomicInteger();

  private static void answer(Exchange exchange, int number) throws IOException {
    List<String> headers =
        new ArrayList<>(
            List.of(
                "x-ratelimit-limit-requests: " + LIMIT,
                "x-ratelimit-remaining-requests: " + Math.max(0, LIMIT - number),
                "x-ratelimit-reset-requests: 1m0s"));
    if (number > LIMIT) {
      headers.add("Retry-After: 7");
      String[] all = headers.toArray(String[]::new);
      String error = "{\"error\":{\"code\":429,\"message\":\"Rate limit reached\"}}";
      if (number % 2 == 0) {
        exchange.respond(429, "application/json", error, all);
      } else {
        // Gateways that have begun to answer say so in a stream.
        exchange.respond(200, "text/event-stream", "data: " + error + "\n\n", all);
      }
    } else {
      headers.add("Server-Timing: queue;dur=0.001, gpu;dur=0.002");
      String stream =
          String.join(
              "\n\ndata: ",
              "data: " + ChatChunks.content("Hi"),
              ChatChunks.finish("stop"),
              ChatChunks.usage(1, 1),
              "[DONE]\n\n");
      exchange.respond(200, "text/event-stream", stream, headers.toArray(String[]::new));
    }
  }

  @Test
  void rateLimitsAreCountedSeparatelyAndClientLimitsAvoidThem() throws Exception {
    try (ScriptedServer free =
            ScriptedServer.start(exchange -> answer(exchange, asked.incrementAndGet()));
        ScriptedServer paced =
            ScriptedServer.start(exchange -> answer(exchange, askedPaced.incrementAndGet()));
        GatlingRun run =
            GatlingRun.of(RateLimitSimulation.class)
                .set("free", free.baseUrl() + "/v1")
                .set("paced", paced.baseUrl() + "/v1")
                .succeed()) {
      turnedAway(run);
      heldBack(run);
      assertThat(run.output())
          .contains("104 started, 40 ok, 0 failed, 40 rate limited, 24 cancelled")
          .contains("warning rate_limited: ", "note paced: maxRequestsPerMinute=20 delayed 24 of");
    }
  }

  private static void turnedAway(GatlingRun run) throws IOException {
    JsonNode free = run.row("targets", "label", "free");
    assertThat(free.at("/counts/verdicts").toString())
        .isEqualTo("{\"complete\":20,\"rate_limited\":40}");
    assertThat(free.at("/rate_limits/requests").asInt()).isEqualTo(REQUESTS - LIMIT);
    assertThat(free.at("/rate_limits/retry_after_s/max").asDouble()).isEqualTo(7);
    assertThat(free.at("/rate_limits/quotas/requests").toString())
        .isEqualTo("{\"limit\":20,\"lowest_remaining\":0,\"lowest_share\":0}");
    assertThat(free.at("/server/gpu_s/count").asInt()).isEqualTo(LIMIT);
    assertThat(free.at("/server/queue_s/p99").asDouble()).isEqualTo(1e-6);
    assertThat(Files.readString(run.directory().resolve("llm.html")))
        .contains("server-timing.queue", "Rate limits of the server");
  }

  private void heldBack(GatlingRun run) throws IOException {
    List<RequestRecord> records =
        run.requests().stream().filter(r -> r.identity().target().equals("paced")).toList();
    assertThat(askedPaced).hasValue(LIMIT);
    assertThat(records)
        .filteredOn(r -> r.timing().gateWaitNanos() != null)
        .hasSize(LIMIT)
        .allMatch(r -> r.outcome().ok() && r.timing().pacingWaitNanos() == 0);
    assertThat(records)
        .filteredOn(r -> r.timing().gateWaitNanos() == null)
        .hasSize(USERS)
        .allMatch(r -> r.outcome().status() == RequestStatus.CANCELLED)
        .allMatch(r -> r.timing().pacingWaitNanos() > 0);
    JsonNode pacing = run.row("targets", "label", "paced").at("/rate_limits/pacing");
    assertThat(List.of(pacing.get("requests"), pacing.get("held_back"), pacing.get("never_sent")))
        .extracting(JsonNode::asInt)
        .containsExactly(LIMIT + USERS, USERS, USERS);
    assertThat(run.info().config()).containsAllEntriesOf(Map.of("maxRequestsPerMinute", "20"));
  }

  public static final class RateLimitSimulation extends Simulation {

    static final int LIMIT = 20;
    static final int REQUESTS = 60;

    /** More than the limit of a minute, so that some are held back. */
    static final int USERS = 24;

    {
      ChainBuilder ask = exec(llm("ask").chat().user("hi").maxTokens(2));
      setUp(
          closedLoop(4)
              .fill(0)
              .stabilize(0)
              .requests(REQUESTS)
              .inject(scenario("Free").exec(ask))
              .protocols(server("free")),
          closedLoop(USERS)
              .fill(0)
              .stabilize(0)
              .measure(4)
              .disableCooldown()
              .drain(Duration.ofSeconds(1))
              .inject(scenario("Paced").exec(ask))
              .protocols(
                  server("paced")
                      .maxRequestsPerMinute(LIMIT)
                      .assertions(llmGlobal().failedRequests().count().is(0L))));
    }

    private static LlmProtocolBuilder server(String name) {
      return llm.baseUrl(System.getProperty(name)).target(name).model("m");
    }
  }
}
