package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static java.time.Duration.ofMillis;
import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.UnixOperatingSystemMXBean;
import io.gatling.javaapi.core.*;
import io.github.gatlingllm.engine.EmbeddedEngine;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.ScriptedServer;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A load generator that exhausts a resource of its machine: files, disk, memory. */
class LimitsIT {
  private static final int RECORDS_LOST = 1;

  /** Command prefix that runs under a shell limit, e.g. {@code -n 64}. */
  private static String[] limited(String limit) {
    return new String[] {"sh", "-c", "ulimit " + limit + " && exec \"$@\"", "sh"};
  }

  @Test
  void outOfOpenFiles() throws Exception {
    int openFiles = 400; // The JVM alone may have all jars of the class path open.
    int users = 500;
    try (EmbeddedEngine engine =
        EmbeddedEngine.builder().fixed(ofMillis(300), ofMillis(5)).start()) {
      GatlingRun run =
          GatlingRun.of(CrowdSimulation.class, engine.baseUrl())
              .launchedBy(limited("-n " + openFiles))
              .set("users", users)
              .set("idleSeconds", 60)
              .succeed();
      FaultsIT.assertAllIsAccountedFor(run, CrowdSimulation.FIRST + users);
      List<RequestRecord> failed =
          run.requests("Crowd").stream().filter(record -> !record.outcome().ok()).toList();
      assertThat(failed)
          .hasSizeBetween(1, users - 1)
          .allSatisfy(
              record -> {
                assertThat(record.outcome().status()).isEqualTo(RequestStatus.CONNECTION_ERROR);
                assertThat(record.outcome().error())
                    .isEqualTo(
                        "too many open files: raise the limit (ulimit -n) of the load generator");
              });
    }
  }

  @Test
  void closedLoopOfMoreUsersThanOpenFilesIsRefused() throws Exception {
    try (ScriptedServer server = ScriptedServer.start(x -> x.answer("a"))) {
      GatlingRun run =
          GatlingRun.benchmark(server.baseUrl())
              .set("llm.concurrency", "2,1000")
              .launchedBy(limited("-n 900"))
              .run();

      assertThat(run.exitCode()).as(run.output()).isEqualTo(1);
      assertThat(run.lines())
          .last()
          .asString()
          .matches("1,000 concurrent users need .* only \\d{3} more files; raise its limit .*");
      assertThat(server.posts()).isZero();
    }
  }

  /** A limit on file size acts like a full disk: the records are the largest file. */
  @Test
  void fullDisk() throws Exception {
    int requests = 60;
    String text = "x".repeat(100_000);
    try (ScriptedServer server = ScriptedServer.start(x -> x.answer(text))) {
      GatlingRun run =
          GatlingRun.of(PatientSimulation.class, server.baseUrl() + "/v1")
              .launchedBy(limited("-f 8000"))
              .set("requests", requests)
              .run();

      RunInfo info = run.info();
      assertThat(run.exitCode()).as(run.output()).isEqualTo(RECORDS_LOST);
      assertThat(run.lines())
          .filteredOn(line -> line.contains(" cannot be written"))
          .singleElement()
          .asString()
          .contains("File too large");
      assertThat(info.outcome().started()).isEqualTo(requests);
      assertThat(info.outcome().dropped()).isBetween(5L, requests - 5L);
      assertThat(run.output())
          .contains(
              "LLM records: %s of %s could not be written"
                  .formatted(info.outcome().dropped(), requests));
      assertThat(run.summary().at("/counts/ended").asLong() + info.outcome().dropped())
          .isEqualTo(requests);
      assertThat(run.check("records_dropped").path("level").asText()).isEqualTo("invalid");
    }
  }

  /** Each response is below its limit; together they exceed the heap. */
  @Test
  void responsesLargerThanTheHeap() throws Exception {
    int users = 48;
    String line = "data: {\"choices\":[\"" + "x".repeat(7_000_000);
    try (ScriptedServer server =
        ScriptedServer.start(x -> x.startStream().chunk(line).awaitClientClose())) {
      GatlingRun run =
          GatlingRun.of(CrowdSimulation.class, server.baseUrl() + "/v1")
              .jvm(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m"))
              .set("users", users)
              .succeed();
      FaultsIT.assertAllIsAccountedFor(run, CrowdSimulation.FIRST + users);
      Map<String, Long> errors =
          run.requests("Crowd").stream()
              .collect(
                  groupingBy(
                      r ->
                          String.valueOf(r.outcome().error())
                              .replaceAll("\\d+ MiB", "… MiB")
                              .replace("no response headers", "no byte"),
                      counting()));
      assertThat(errors)
          .containsOnlyKeys(
              "no byte for 2 s (idle timeout)",
              "answers under way larger than … MiB together, a quarter of the heap: raise -Xmx");
    }
  }

  /** With {@code -Dlimits.connections=10000} as many as a large load test opens. */
  @Test
  @Tag("nightly")
  void thousandsOfConcurrentConnections() throws Exception {
    int users = Integer.getInteger("limits.connections", 1_000);
    var system = (UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    assumeTrue(
        system.getMaxFileDescriptorCount() > 1.1 * users,
        "needs an open file per connection, and a tenth more (ulimit -n)");
    try (EmbeddedEngine engine =
        EmbeddedEngine.builder().fixed(ofMillis(10), ofMillis(1)).start()) {
      GatlingRun run =
          GatlingRun.of(CrowdSimulation.class, engine.baseUrl())
              .set("users", users)
              .set("gatling.http.connectTimeout", 60_000)
              .set("idleSeconds", 60)
              .succeed();
      FaultsIT.assertAllIsAccountedFor(run, CrowdSimulation.FIRST + users);
      assertThat(run.requests("Crowd").stream().map(record -> record.outcome().error()).distinct())
          .as("a queue of connections that is full may cost some of them")
          .contains((String) null)
          .isSubsetOf(null, "connection reset by the server");
    }
  }

  /**
   * One successful and one failed request, so that all classes are loaded while files can still be
   * opened; then many users together, with one request each.
   */
  public static final class CrowdSimulation extends Simulation {

    static final int FIRST = 2;

    {
      int users = Integer.getInteger("users");
      String server = System.getProperty("baseUrl");
      setUp(
          ask("Failing", 1, "http://127.0.0.1:1/v1"),
          ask("One", 1, server).andThen(ask("Crowd", users, server)));
    }

    private static PopulationBuilder ask(String name, int users, String url) {
      return scenario(name)
          .exec(llm(name).chat().user("hi").maxTokens(2))
          .injectOpen(atOnceUsers(users))
          .protocols(
              llm.baseUrl(url)
                  .model("embedded")
                  .idleTimeout(Duration.ofSeconds(Integer.getInteger("idleSeconds", 2))));
    }
  }

  /** Closed loops whose users wait after a failure, so that none of them uses up all requests. */
  public static final class PatientSimulation extends Simulation {

    static final int USERS = 4;

    {
      ScenarioBuilder chat =
          scenario("Chat")
              .exec(llm("ask").chat().user("hi").maxTokens(2))
              .doIf(Session::isFailed)
              .then(pause(Duration.ofMillis(500)));
      setUp(closedLoop(USERS).requests(Integer.getInteger("requests")).inject(chat))
          .protocols(llm.baseUrl(System.getProperty("baseUrl")).model("embedded").recordText());
    }
  }
}
