package io.github.gatlingllm.action;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gatling.javaapi.core.*;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.load.Arrival;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Arrivals.Gaps;
import io.github.gatlingllm.load.Trace;
import io.github.gatlingllm.load.VaryingRate;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.ScriptedServer;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Gamma gaps, a trace and a curve in one {@code injectOpen} of a real run. */
class ArrivalModelsIT {
  private static final long SECOND = 1_000_000_000L;
  private static final long SPINS = 100_000;

  @Test
  void usersStartWhereTheModelsPlanThemAndThePlanIsRecorded() throws Exception {
    List<Long> expected = new ArrayList<>();
    add(expected, Arrivals.gamma(25, 1.4, 42).offsetsBefore(2 * SECOND), 0);
    Trace replay = Trace.read("src/test/resources/traces/azure.csv", 10);
    add(expected, replay.offsetsBefore(replay.lengthNanos()), 3 * SECOND);
    Arrivals curve =
        new VaryingRate(
            nanos -> 20 - 10 * (nanos / 1_000_000) / 1000.0, 2 * SECOND, Gaps.poisson(3));
    add(expected, curve.offsetsBefore(2 * SECOND), 3 * SECOND + replay.lengthNanos());

    GatlingRun run = GatlingRun.of(ArrivalModelsSimulation.class).succeed();
    List<String> output = run.lines();

    assertThat(numbers(output, "offset")).containsExactlyElementsOf(expected);
    assertThat(output)
        .anyMatch(
            line ->
                line.startsWith("LLM arrivals of Mixed: gamma with cv 1.4 (seed 42) at 25 users/s")
                    && line.contains("Poisson (seed 3) along a rate curve"))
        .contains("LLM arrivals of Level r=20: gamma with cv 0.5 (seed 9) at 20 users/s");
    assertThat(numbers(output, "spins")).as("which never wait").containsExactly(SPINS);
    assertThat(numbers(output, "lag").get(0)).as("never early").isNotNegative();
    assertThat(numbers(output, "input")).containsExactly(374L, 396L, 879L);
    assertThat(numbers(output, "output")).containsExactly(44L, 55L, 109L);

    List<JsonNode> mixed = new ArrayList<>();
    List<JsonNode> level = new ArrayList<>();
    ObjectMapper json = new ObjectMapper();
    for (String line : Files.readAllLines(run.directory().resolve("llm/arrivals.jsonl"))) {
      JsonNode arrival = json.readTree(line);
      (arrival.get("scenario").asText().equals("Mixed") ? mixed : level).add(arrival);
    }
    assertThat(mixed)
        .extracting(arrival -> arrival.get("scheduled_offset_s").decimalValue().movePointRight(9))
        .extracting(Number::longValue)
        .containsExactlyElementsOf(expected);
    JsonNode first = mixed.get(0);
    for (int i = 0; i < mixed.size(); i++) {
      JsonNode arrival = mixed.get(i);
      assertThat(arrival.get("index").asInt()).isEqualTo(i);
      assertThat(arrival.get("stage").asText()).isEqualTo("all");
      assertThat(
              arrival.get("scheduled_unix_ns").asLong() - first.get("scheduled_unix_ns").asLong())
          .isEqualTo(expected.get(i) - expected.get(0));
    }
    assertThat(mixed)
        .filteredOn(arrival -> !arrival.get("input_tokens").isNull())
        .extracting(arrival -> arrival.get("output_tokens").asInt())
        .containsExactly(44, 109, 55);
    assertThat(level)
        .hasSize((int) Arrivals.gamma(20, 0.5, 9).countBefore(SECOND))
        .allMatch(arrival -> arrival.get("stage").asText().equals("r=20"));
  }

  /** What the simulation printed of that, ascending. */
  private static List<Long> numbers(List<String> lines, String what) {
    return lines.stream()
        .filter(line -> line.matches("> " + what + " -?\\d+"))
        .map(line -> Long.valueOf(line.substring(what.length() + 3)))
        .sorted()
        .toList();
  }

  private static void add(List<Long> to, LongStream offsets, long shiftNanos) {
    offsets.forEach(offset -> to.add(offset + shiftNanos));
  }

  /**
   * Every arrival model in one {@code injectOpen}, a level with gamma gaps after it, and after that
   * iterations that never leave the stack and must not grow it.
   */
  public static final class ArrivalModelsSimulation extends Simulation {
    private final Queue<String> lines = new ConcurrentLinkedQueue<>();
    private final AtomicLong spins = new AtomicLong();
    private final EmbeddedEngine engine = EmbeddedEngine.builder().seed(1).start();

    {
      setUp(
              scenario("Mixed")
                  .exec(llm("ask").chat().user("Hi").maxTokens(2))
                  .exec(
                      session -> {
                        Arrival arrival = session.get(Arrival.KEY);
                        lines.add("offset " + arrival.scheduledOffsetNanos());
                        lines.add("lag " + arrival.startLagNanos());
                        if (session.contains("inputTokens")) {
                          lines.add("input " + session.getInt("inputTokens"));
                          lines.add("output " + session.getInt("outputTokens"));
                        }
                        return session;
                      })
                  .injectOpen(
                      gammaUsersPerSec(25).cv(1.4).seed(42).during(2),
                      nothingFor(1),
                      replay("src/test/resources/traces/azure.csv", 10),
                      usersPerSec(t -> 20 - 10 * t.toMillis() / 1000.0).seed(3).during(2))
                  .andThen(
                      openLoop(20)
                          .gamma(0.5)
                          .seed(9)
                          .stabilize(0)
                          .measure(1)
                          .disableCooldown()
                          .inject(
                              scenario("Level").exec(llm("level").chat().user("Hi").maxTokens(2)))
                          .andThen(
                              closedLoop(2)
                                  .requests((int) SPINS)
                                  .inject(scenario("Spin").exec(this::spin)))))
          .protocols(llm.baseUrl(engine.baseUrl()).model("embedded"));
    }

    private Session spin(Session session) {
      spins.incrementAndGet();
      return session;
    }

    @Override
    public void after() {
      lines.add("spins " + spins);
      lines.forEach(line -> System.out.println("> " + line));
      engine.close();
    }
  }

  /** The server answers when all users of a level are there, so the run ends only if they come. */
  @Test
  void eachLevelHasExactlyItsUsersInFlight() throws Exception {
    int requests = 96;
    List<Integer> users = List.of(32, 8, 1);
    List<Phaser> rounds = users.stream().map(Phaser::new).toList();
    Map<Integer, Integer> max = new ConcurrentHashMap<>();
    AtomicInteger arrived = new AtomicInteger();
    AtomicInteger inFlight = new AtomicInteger();
    try (ScriptedServer server =
        ScriptedServer.start(
            exchange -> {
              int level = arrived.getAndIncrement() / requests;
              max.merge(users.get(level), inFlight.incrementAndGet(), Math::max);
              rounds.get(level).awaitAdvanceInterruptibly(rounds.get(level).arrive());
              inFlight.decrementAndGet();
              exchange.answer("a");
            })) {
      GatlingRun run =
          GatlingRun.benchmark(server.baseUrl())
              .llm("concurrency=32,8,1 fill=0 stabilize=0 requests=" + requests)
              .llm("model=m maxTokens=2 warmup=0 metricsUrl=none")
              .succeed();

      assertThat(max).isEqualTo(Map.of(32, 32, 8, 8, 1, 1));
      assertThat(run.requests())
          .extracting(record -> record.identity().stage())
          .hasSize(3 * requests)
          .containsSubsequence("c=32", "c=8", "c=1");
    }
  }
}
