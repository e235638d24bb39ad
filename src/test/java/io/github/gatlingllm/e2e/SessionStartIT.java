package io.github.gatlingllm.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.SessionTurn;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.Exchange;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.Request;
import io.github.gatlingllm.testing.ScriptedServer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Two users that begin inside their sessions, whose gaps are 1 s, 1 s after the cap, and 0.3 s
 * before a request in the background, all halved; then both sessions again, from their beginning.
 */
class SessionStartIT {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long MS = 1_000_000;

  /** The fill request of each user is answered when both have asked. */
  private static final CountDownLatch FILLING = new CountDownLatch(2);

  /** An agent in the background is answered when the main ones have asked again. */
  private static final CountDownLatch LAST = new CountDownLatch(2);

  @AutoClose private static ScriptedServer server;
  private static GatlingRun run;
  private static List<RequestRecord> records;

  @BeforeAll
  static void run() throws Exception {
    server = ScriptedServer.start(SessionStartIT::answer);
    run =
        GatlingRun.benchmark(server.baseUrl())
            .llm(
                "model=llama tokenizer=chars4 sessions=sessions/inside.jsonl sessionStart=60-60%"
                    + " sessionGapCap=1s sessionSpeed=2 concurrency=2 requests=2 fill=0"
                    + " stabilize=0 metricsUrl=none seed=7 sessionAnswers=server")
            .succeed();
    records = run.requests();
  }

  private static void answer(Exchange exchange) throws IOException, InterruptedException {
    JsonNode asked = JSON.readTree(exchange.request().body());
    int output = asked.path("max_tokens").asInt();
    if (output == 4) {
      LAST.countDown();
    } else if (output == 2) {
      exchange.await(LAST);
    } else if (text(exchange.request()).length() > 150) {
      FILLING.countDown();
      exchange.await(FILLING);
    }
    exchange
        .startStream()
        .event(ChatChunks.content("Yes"))
        .event(ChatChunks.finish("stop"))
        .event(ChatChunks.usage(10, 1))
        .done()
        .lastChunk();
  }

  private static String text(Request request) throws IOException {
    return JSON.readTree(request.body()).at("/messages/0/content").asText();
  }

  private static SessionTurn ofSession(RequestRecord record) {
    return Objects.requireNonNull(record.identity().session());
  }

  private static Stream<RequestRecord> of(String session) {
    return records.stream().filter(r -> ofSession(r).id().matches("c\\d+/" + session));
  }

  /** The records of a session and of its agents in the first or second replay of it. */
  private static List<RequestRecord> replay(String session, int number) {
    List<String> ids = of(session).map(r -> ofSession(r).id()).distinct().toList();
    return records.stream()
        .filter(r -> (ofSession(r).id() + "/").startsWith(ids.get(number) + "/"))
        .toList();
  }

  private static long closed(RequestRecord record) {
    return Objects.requireNonNull(record.timing().closedUnixNanos());
  }

  private static long scheduled(RequestRecord record) {
    return record.timing().scheduledUnixNanos();
  }

  @Test
  void theRequestBeforeTheInstantFillsTheCache() throws Exception {
    List<RequestRecord> fills =
        records.stream().filter(r -> r.identity().phase() == Phase.FILL).toList();
    long filled = fills.stream().mapToLong(SessionStartIT::closed).max().orElseThrow();

    assertThat(records).hasSize(2 * 3 + 2 * 4).allMatch(record -> record.outcome().ok());
    assertThat(fills)
        .extracting(r -> ofSession(r).id().replaceFirst(".*/", "") + " " + r.identity().turn())
        .containsExactlyInAnyOrder("m 2", "n 2");
    assertThat(records.stream().filter(r -> !fills.contains(r)))
        .as("measured after all of them")
        .allMatch(r -> r.identity().phase() == Phase.MEASURE && scheduled(r) >= filled);
    assertThat(run.summary().at("/stages/0/counts/ok").asInt()).as("not the fill").isEqualTo(12);
    assertThat(run.output()).contains("every replay unique, its requests share a nonce");
    assertThat(
            run.stage("c=2").phases().stream()
                .filter(w -> w.phase() == Phase.MEASURE)
                .findFirst()
                .orElseThrow()
                .startUnixNanos())
        .isGreaterThanOrEqualTo(filled);
  }

  /** 60 % of the 1.002 s between the first and the last request are 601.2 ms. */
  @Test
  void allGoOnAtThatInstant() throws Exception {
    for (String session : List.of("m", "n")) {
      List<RequestRecord> first = replay(session, 0);
      RequestRecord watch = first.stream().filter(r -> r.tokens().maxTokens() == 2).findAny().get();
      RequestRecord last = first.stream().filter(r -> r.tokens().maxTokens() == 4).findAny().get();

      assertThat(ofSession(watch).gapNanos()).isEqualTo(50_800_000);
      assertThat(ofSession(last).gapNanos()).isEqualTo(400_800_000);
      assertThat(last.identity().turn()).isEqualTo(3);
      assertThat(closed(watch)).as("not waited for").isGreaterThan(scheduled(last));
    }
  }

  @Test
  void repeatsBeginAtTheirBeginning() throws Exception {
    for (String session : List.of("m", "n")) {
      List<RequestRecord> first = replay(session, 0);
      List<RequestRecord> again = replay(session, 1);

      assertThat(again).extracting(r -> ofSession(r).gapNanos()).contains(0L, 500 * MS, 150 * MS);
      assertThat(again.stream().filter(r -> ofSession(r).nanos() != null)).hasSize(1);
      assertThat(first).as("not complete").allMatch(r -> ofSession(r).nanos() == null);
    }
    assertThat(run.summary().at("/metrics/session_ms/count").asInt()).isEqualTo(2);
  }

  /** 24 tokens and an answer of 3, then another prompt of 40 tokens that goes on with them. */
  @Test
  void theServersAnswersAreInTheHistory() throws Exception {
    List<JsonNode> histories = new ArrayList<>();
    for (Request request : server.requests()) {
      JsonNode messages = JSON.readTree(request.body()).path("messages");
      if (messages.size() > 1) {
        histories.add(messages);
      }
    }

    assertThat(histories).as("two turns that go on in two entire sessions").hasSize(4);
    JsonNode first = histories.get(0);
    assertThat(first.findValuesAsText("role")).containsExactly("user", "assistant", "user");
    assertThat(first.at("/1/content").asText()).isEqualTo("Yes");
    assertThat(first.at("/0/content").asText().split(" ", -1)).hasSize(24);
    assertThat(first.at("/2/content").asText().split(" ", -1)).hasSize(40 - 24 - 3);
  }

  @Test
  void aReplayHasAMarkerOfItsOwn() throws Exception {
    List<String> texts =
        server.requests().subList(1, server.requests().size()).stream()
            .map(
                request -> {
                  try {
                    return text(request);
                  } catch (IOException e) {
                    throw new IllegalStateException(e);
                  }
                })
            .toList();
    List<String> markers = texts.stream().map(t -> t.substring(0, 20)).distinct().toList();

    assertThat(markers).hasSize(2).allMatch(marker -> marker.matches("\\d{18}\n\n"));
    for (String marker : markers) {
      List<String> own = texts.stream().filter(t -> t.startsWith(marker)).toList();
      assertThat(own)
          .as("one block in common")
          .allMatch(t -> t.startsWith(own.get(0).substring(0, 80)));
    }
    assertThat(texts.stream().filter(t -> t.startsWith(markers.get(0)))).hasSize(6);
  }
}
