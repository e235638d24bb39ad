package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gatling.javaapi.core.*;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.testing.GatlingRun;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Two processes that share a load, and one that has all of it, against the same engine. */
class InjectorsIT {
  private static final int INJECTORS = 2;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final List<GatlingRun> injectors = new ArrayList<>();
  private GatlingRun alone;
  private Instant start;

  @AfterEach
  void close() {
    injectors.forEach(GatlingRun::close);
    alone.close();
  }

  private static GatlingRun.Setup setup(EmbeddedEngine engine, Instant startAt) {
    return GatlingRun.of(InjectorsSimulation.class, engine.baseUrl())
        .set("llm.seed", 7)
        .set("llm.startAt", startAt);
  }

  /** Whether all injectors were ready in time on this machine. */
  private boolean isRunInTime(EmbeddedEngine engine, Duration lead) throws Exception {
    start = Instant.now().plus(lead);
    injectors.clear();
    for (int i = 1; i <= INJECTORS; i++) {
      injectors.add(setup(engine, start).set("llm.injector", i + "/" + INJECTORS).start());
    }
    alone = setup(engine, start).start();
    for (GatlingRun run : Stream.concat(injectors.stream(), Stream.of(alone)).toList()) {
      if (run.await().exitCode() == 1) {
        assertThat(run.output())
            .contains("llm.startAt=" + start + " has passed", "after it and sends nothing");
        return false;
      }
      assertThat(run.exitCode())
          .as(run.output())
          .isEqualTo(run == alone && !isEnough() ? GatlingRun.ASSERTIONS_FAILED : 0);
    }
    return true;
  }

  /** Whether the assertion holds; it is judged only by the process that has the full load. */
  private boolean isEnough() throws IOException {
    return alone.requests().stream()
            .filter(r -> r.outcome().status() == RequestStatus.COMPLETE)
            .count()
        > InjectorsSimulation.ENOUGH;
  }

  @Test
  void injectorsTogetherSendTheLoadOfOne() throws Exception {
    try (EmbeddedEngine engine = EmbeddedEngine.builder().fixed(ofMillis(2), ofMillis(1)).start()) {
      Duration lead = Duration.ofSeconds(8);
      while (!isRunInTime(engine, lead)) {
        close();
        lead = lead.multipliedBy(2);
      }
    }

    List<String> arrivals = new ArrayList<>();
    Map<String, String> asked = new TreeMap<>();
    int requests = 0;
    for (GatlingRun run : injectors) {
      arrivals.addAll(arrivals(run));
      asked.putAll(asked(run));
      requests += run.requests().size();
    }
    assertThat(arrivals).containsExactlyInAnyOrderElementsOf(arrivals(alone));
    assertThat(asked).as("nothing is asked twice").hasSize(requests);
    Map<String, String> askedAlone = asked(alone);
    // On a busy machine the end of the level cuts arrivals that are late, and the end of the drain
    // time second turns.
    asked.keySet().retainAll(askedAlone.keySet());
    askedAlone.keySet().retainAll(asked.keySet());
    assertThat(first(asked)).hasSizeGreaterThan(arrivals.size() / 4);
    assertThat(asked).isEqualTo(askedAlone);
    assertThat(alone.requests())
        .filteredOn(r -> Integer.valueOf(2).equals(r.identity().turn()))
        .as("only the first request of a user has a plan")
        .allMatch(r -> r.timing().scheduledOffsetNanos() == null);
    checkInfo();
    assertThat(injectors.get(1).output())
        .contains("LLM assertions: judged when the runs of all 2 injectors are merged")
        .contains("LLM: injector 2/2 is ready; the load starts at " + start);
  }

  private void checkInfo() throws IOException {
    long planned = 0;
    for (int i = 0; i < INJECTORS; i++) {
      RunInfo info = injectors.get(i).info();
      assertThat(info.share()).hasToString(i + 1 + "/2");
      assertThat(info.injector()).endsWith("-" + (i + 1));
      assertThat(info.config()).containsEntry("startAt", start.toString());
      assertThat(info.stages()).extracting(LevelInfo::label).containsExactly("r=60", "c=5");
      // 1 s of load and 1 s of drain, 0.1 s for what was cancelled
      assertThat(info.stages())
          .extracting(level -> Objects.requireNonNull(level.plannedStartUnixNanos()) - nanos(start))
          .containsExactly(0L, 2_100_000_000L);
      planned += Objects.requireNonNull(info.outcome().planned());
    }
    assertThat(planned).isEqualTo(alone.info().outcome().planned());
    assertThat(alone.info().share()).isNull();
    assertThat(alone.info().stages().get(0).plannedStartUnixNanos()).isEqualTo(nanos(start));
  }

  private static long nanos(Instant instant) {
    return Math.addExact(
        Math.multiplyExact(instant.getEpochSecond(), 1_000_000_000L), instant.getNano());
  }

  private static List<String> arrivals(GatlingRun run) throws IOException {
    List<String> all = new ArrayList<>();
    for (String line : Files.readAllLines(run.files().arrivals())) {
      JsonNode arrival = JSON.readTree(line);
      all.add(
          arrival.path("stage").asText()
              + " "
              + arrival.path("index")
              + " "
              + arrival.path("scheduled_offset_s").asText());
    }
    return all;
  }

  private static Map<String, String> first(Map<String, String> asked) {
    Map<String, String> first = new TreeMap<>(asked);
    first.keySet().removeIf(request -> request.startsWith("D 2 "));
    return first;
  }

  /**
   * The user messages of each request, by its planned arrival; of a later turn by its first
   * question; of a closed loop, whose requests have no arrival, by its prompt.
   */
  private static Map<String, String> asked(GatlingRun run) throws IOException {
    Map<String, String> all = new TreeMap<>();
    for (RequestRecord record : run.requests()) {
      RequestRecord.Identity id = record.identity();
      List<String> said = new ArrayList<>();
      for (JsonNode message : JSON.readTree(record.text().messages())) {
        if (!message.path("role").asText().equals("assistant")) {
          said.add(message.path("content").asText());
        }
      }
      String withoutNonce = said.get(0).replaceFirst("^\\d{18}\n\n", "");
      Long offset = record.timing().scheduledOffsetNanos();
      all.put(
          id.name() + " " + id.turn() + " " + (offset == null ? withoutNonce : offset),
          id.scenario().equals("Fed") ? withoutNonce : String.join("|", said));
    }
    return all;
  }

  /** A load that several injectors share: rates, then users, determined by a seed. */
  public static final class InjectorsSimulation extends Simulation {

    static final int ENOUGH = 35;

    public InjectorsSimulation() {
      ScenarioBuilder mixed =
          scenario("Mixed")
              .exec(
                  mix()
                      .add(2, diverseShort().distinct(100).maxTokens(2).tokenizer(chars4()))
                      .add(1, dialog().turns(2).distinct(100).maxTokens(2).tokenizer(chars4())));
      ScenarioBuilder fed =
          scenario("Fed")
              .feed(prompts().synthetic())
              .exec(llm("fed").chat().user("#{prompt}").maxTokens(2));
      setUp(
              oneAfterTheOther(
                  openLoop(60)
                      .poisson()
                      .stabilize(0)
                      .measure(1)
                      .disableCooldown()
                      .drain(1)
                      .inject(mixed),
                  closedLoop(5).requests(10).inject(fed)))
          .protocols(
              llm.baseUrl(System.getProperty("baseUrl"))
                  .tokenizer(chars4())
                  .uniquePrompts()
                  .maxInFlight(400)
                  .assertions(llmGlobal().status(RequestStatus.COMPLETE).count().gt(ENOUGH))
                  .recordText());
    }
  }
}
