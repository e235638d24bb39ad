package io.github.gatlingllm.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.SessionTurn;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.Exchange;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.Request;
import io.github.gatlingllm.testing.ScriptedServer;
import io.github.gatlingllm.workload.AnonymousLog;
import io.github.gatlingllm.workload.Dataset.Agent;
import io.github.gatlingllm.workload.Dataset.SessionFile;
import io.github.gatlingllm.workload.Tokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Recorded sessions in a real run: the two of {@code own.jsonl}, and the first again. */
class SessionsIT {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final double MS = 1e6;

  /** Both sub-agents of a session have asked: none is answered before. */
  private static final CountDownLatch FANNED_OUT = new CountDownLatch(2);

  @AutoClose private static ScriptedServer server;
  private static GatlingRun run;
  private static List<RequestRecord> records;

  @BeforeAll
  static void run() throws Exception {
    server = ScriptedServer.start(SessionsIT::answer);
    run =
        GatlingRun.benchmark(server.baseUrl())
            .llm(
                "model=llama tokenizer=chars4 sessions=sessions/own.jsonl"
                    + " conversationHeader=x-session-id concurrency=1 requests=3 metricsUrl=none"
                    + " uniquePrompts=false"
                    + " assert=session.max<60s,session_tools.mean>199ms")
            .succeed();
    records = run.requests();
  }

  private static void answer(Exchange exchange) throws IOException, InterruptedException {
    JsonNode asked = JSON.readTree(exchange.request().body());
    if (asked.path("max_tokens").asInt() == 2 && !text(exchange.request()).equals("Hello")) {
      FANNED_OUT.countDown();
      exchange.await(FANNED_OUT);
    }
    int prompt = (text(exchange.request()).length() + 3) / 4;
    exchange
        .startStream()
        .event(ChatChunks.content("Yes"))
        .event(ChatChunks.finish("stop"))
        .event(ChatChunks.usage(prompt, 1))
        .done()
        .lastChunk();
  }

  private static String text(Request request) throws IOException {
    return JSON.readTree(request.body()).at("/messages/0/content").asText();
  }

  private static RequestRecord turn(String session, int number) {
    return records.stream()
        .filter(r -> session.equals(Objects.requireNonNull(r.identity().session()).id()))
        .filter(r -> Objects.equals(r.identity().turn(), number))
        .findFirst()
        .orElseThrow(() -> new AssertionError(session + " turn " + number));
  }

  private static long scheduled(RequestRecord record) {
    return record.timing().scheduledUnixNanos();
  }

  /** Its start lag may be that of the agent beside it, as both are of one user. */
  private static long started(RequestRecord record) {
    return record.timing().startUnixNanos();
  }

  private static long closed(RequestRecord record) {
    return Objects.requireNonNull(record.timing().closedUnixNanos());
  }

  private static SessionTurn ofSession(RequestRecord record) {
    return Objects.requireNonNull(record.identity().session());
  }

  @Test
  void everyTurnIsSentWithItsTokens() throws Exception {
    assertThat(server.requests()).as("a warm-up and all turns").hasSize(1 + 6 + 1 + 6);
    assertThat(records).hasSize(13).allMatch(record -> record.outcome().ok());
    assertThat(records.stream().map(record -> record.tokens().maxTokens()))
        .startsWith(3, 3, 2, 2, 2, 3, 2, 3);
    assertThat(text(server.requests().get(7))).as("the second session").isEqualTo("Hello");
    assertThat(text(server.requests().get(8)))
        .as("the first one again")
        .isEqualTo(text(server.requests().get(1)))
        .hasSize(24 * 4 - 1);
    assertThat(text(server.requests().get(2)))
        .startsWith(text(server.requests().get(1)).substring(0, 64));
    assertThat(run.output()).contains("all sessions of own.jsonl have been sent and now repeat");
    assertThat(run.info().config()).containsEntry("repeatedSessions", "1 of 3");
    assertThat(run.summary().get("findings").findValuesAsText("id"))
        .contains("verdict.repeated_sessions");
  }

  @Test
  void gapsAreHeldAndTheJoinWaits() {
    RequestRecord first = turn("c1/fix", 1);
    RequestRecord second = turn("c1/fix", 2);
    RequestRecord read = turn("c1/fix/read", 2);
    RequestRecord search = turn("c1/fix/search", 1);
    RequestRecord third = turn("c1/fix", 3);

    assertThat(started(second) - closed(first)).isGreaterThanOrEqualTo(ms(200));
    assertThat(scheduled(turn("c1/fix/read", 1))).isGreaterThanOrEqualTo(closed(second));
    assertThat(scheduled(search)).as("at the same time").isLessThan(closed(turn("c1/fix/read", 1)));
    assertThat(started(read) - closed(turn("c1/fix/read", 1))).isGreaterThanOrEqualTo(ms(150));
    assertThat(started(third) - Math.max(closed(read), closed(search)))
        .isGreaterThanOrEqualTo(ms(100));
  }

  private static long ms(long millis) {
    return millis * 1_000_000;
  }

  /** Served: turns 1, 2, the sub-agents until both are answered, the second turn of one, turn 3. */
  @Test
  void timesOfTheSessionAreThoseOfItsRequests() throws Exception {
    RequestRecord last = turn("c1/fix", 3);
    long all = closed(last) - scheduled(turn("c1/fix", 1));
    RequestRecord read = turn("c1/fix/read", 1);
    RequestRecord search = turn("c1/fix/search", 1);
    long together =
        Math.max(closed(read), closed(search)) - Math.min(scheduled(read), scheduled(search));
    long served = together;
    for (RequestRecord alone :
        List.of(turn("c1/fix", 1), turn("c1/fix", 2), turn("c1/fix/read", 2), last)) {
      served += closed(alone) - scheduled(alone);
    }

    assertThat(ofSession(last).nanos()).isEqualTo(all);
    assertThat(ofSession(last).toolNanos()).isEqualTo(all - served);
    assertThat(ofSession(turn("c1/fix", 2)).nanos()).as("not the last").isNull();
    JsonNode summary = run.summary();
    assertThat(summary.at("/metrics/session_ms/count").asInt()).isEqualTo(3);
    assertThat(Math.round(summary.at("/metrics/session_ms/max").asDouble() * MS))
        .isGreaterThanOrEqualTo(all);
    assertThat(
            summary.at("/metrics/session_tools_ms/mean").asDouble()
                + summary.at("/metrics/session_server_ms/mean").asDouble())
        .isCloseTo(summary.at("/metrics/session_ms/mean").asDouble(), within(0.01));
    assertThat(summary.at("/assertions/0/ok").asBoolean()).isTrue();
    assertThat(summary.at("/workload/by_turn/2/e2e_ms/count").asInt()).isEqualTo(2);
    assertThat(Files.readString(run.files().page())).contains("Session waiting for tools");
    assertThat(run.info().config().get("sessions.sha256")).hasSize(64);
  }

  /**
   * The first turn of a session is longer than the context, that of the next one has a gap longer
   * than the level.
   */
  @Test
  void failuresAndTheEndOfALevelCutSessions(@TempDir Path folder) throws Exception {
    String turn = "{\"session_id\":%d,\"input_tokens\":5,\"output_tokens\":5,\"gap_ms\":1e9}\n";
    String lines = turn.formatted(1) + turn.formatted(1) + turn.formatted(2) + turn.formatted(2);
    Path file = Files.writeString(folder.resolve("cut.jsonl"), lines);
    try (ScriptedServer refusing =
        ScriptedServer.start(
            exchange ->
                exchange.respond(
                    400, "application/json", "{\"error\":\"maximum context length is 4\"}"),
            SessionsIT::answer)) {
      GatlingRun cut =
          GatlingRun.benchmark(refusing.baseUrl())
              .llm("model=llama tokenizer=chars4")
              .set("llm.sessions", file)
              .llm("metricsUrl=none warmup=0 concurrency=1 duration=4 stabilize=0 drain=0")
              .succeed();

      assertThat(cut.requests())
          .extracting(record -> ofSession(record).id(), record -> record.outcome().ok())
          .containsExactly(tuple("c1/1", false), tuple("c2/2", true));
      assertThat(cut.info().config())
          .containsEntry("turns not sent, sessions: a turn failed or the load level ended", "2");
      assertThat(cut.summary().at("/metrics/session_ms/count").asInt()).isZero();
      assertThat(cut.summary().at("/counts/verdicts/context_exceeded").asInt()).isEqualTo(1);
      assertThat(cut.check("context_exceeded").get("level").asText()).isEqualTo("invalid");
    }
  }

  /** A worker of another model among the requests of an agent, which waits for it; then its log. */
  @Test
  void flatTraceIsReplayedAndItsLogAnonymized(@TempDir Path folder) throws Exception {
    String request =
        "{\"t\":%s,\"type\":\"s\",\"model\":\"%s\",\"in\":%d,\"out\":4,\"hash_ids\":%s,\"api_time\":%s}";
    Path trace =
        Files.writeString(
            folder.resolve("trace.json"),
            "{\"id\":\"t\",\"block_size\":64,\"requests\":[%n%s,%n%s,%n%s]}"
                .formatted(
                    request.formatted("0.0", "opus", 192, "[1,2,3]", "1.0"),
                    request.formatted("1.05", "haiku", 192, "[1,2,50]", "0.5"),
                    request.formatted("2.0", "opus", 256, "[1,2,3,4]", "1.0")));
    GatlingRun replay =
        GatlingRun.benchmark(server.baseUrl())
            .llm("model=big=1,small=1 tokenizer=chars4 recordText=true metricsUrl=none warmup=0")
            .set("llm.sessions", trace)
            .llm("concurrency=1 requests=1")
            .succeed();
    RequestRecord first = replay.requests().get(0);
    RequestRecord worker = replay.requests().get(1);
    RequestRecord second = replay.requests().get(2);

    assertThat(replay.requests())
        .extracting(record -> record.identity().model(), record -> ofSession(record).id())
        .containsExactly(tuple("big", "c1/t"), tuple("small", "c1/t/flat-1"), tuple("big", "c1/t"));
    assertThat(started(worker) - closed(first)).isGreaterThanOrEqualTo(ms(50));
    assertThat(started(second) - closed(worker)).isGreaterThanOrEqualTo(ms(450));

    Path out = folder.resolve("sessions.jsonl");
    String said = AnonymousLog.write(replay.files().requests().toString(), out, new byte[] {1});
    SessionFile again = SessionFile.open(out.toString(), Tokenizer.chars4());

    assertThat(said).isEqualTo("3 requests of 1 session");
    Agent main = again.inOrder(0).main();
    assertThat(main.turns()).hasSize(2);
    assertThat(main.turns().get(0).children()).extracting(Agent::joinedBy).containsExactly(1);
    assertThat(main.turns().get(1).recorded().blocks().get())
        .startsWith(main.turns().get(0).recorded().blocks().get()[0]);
  }

  @Test
  void allTurnsOfASessionHaveOneHeader() {
    List<String> headers =
        server.requests().stream().map(request -> request.header("x-session-id")).toList();

    assertThat(headers.subList(1, 7)).containsOnly(headers.get(1));
    assertThat(headers.get(1)).endsWith("-c1");
    assertThat(headers.subList(8, 14)).containsOnly(headers.get(8)).doesNotContain(headers.get(1));
  }
}
