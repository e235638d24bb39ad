package io.github.gatlingllm.e2e;

import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.github.gatlingllm.javaapi.LlmDsl.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gatling.javaapi.core.ChainBuilder;
import io.gatling.javaapi.core.Simulation;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.simulations.Benchmark;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.Request;
import io.github.gatlingllm.testing.ScriptedServer;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Lengths of outputs that differ from request to request: as asked, and as they arrive. */
class DrawnLengthsIT {

  private static final String ANSWER = ChatChunks.withUsage(ChatChunks.body("Hi"), 5, 1);
  private static final ObjectMapper JSON = new ObjectMapper();

  private record Asked(String text, int tokens) {
    static Asked of(JsonNode body) {
      int tokens = body.path("max_tokens").asInt();
      assertThat(body.path("min_tokens").asInt()).isEqualTo(tokens);
      assertThat(body.path("ignore_eos").asBoolean()).isTrue();
      return new Asked(body.at("/messages/0/content").asText(), tokens);
    }

    long promptTokens() {
      return Math.round(text.length() / 4.0);
    }
  }

  private interface Runs {
    GatlingRun of(String serverUrl) throws Exception;
  }

  private static List<Asked> asked(Runs run) throws Exception {
    try (ScriptedServer server =
        ScriptedServer.start(exchange -> exchange.respond(200, "application/json", ANSWER))) {
      run.of(server.baseUrl());
      List<Asked> asked = new ArrayList<>();
      for (Request request : server.requests()) {
        asked.add(Asked.of(JSON.readTree(request.body())));
      }
      return asked;
    }
  }

  /** Many users together, whose event loops draw at the same time. */
  @Test
  void pairsArriveTogetherWithTheirSharesAndRepeatWithTheSeed() throws Exception {
    List<Asked> first = paired();
    assertThat(first)
        .hasSize(300)
        .allSatisfy(
            each -> {
              boolean isShort = each.tokens == 2;
              assertThat(each.promptTokens()).isBetween(isShort ? 40L : 60L, isShort ? 40L : 80L);
              assertThat(each.tokens).isBetween(2, 6);
            });
    assertThat(first.stream().filter(each -> each.tokens == 2).count())
        .as("60 %% within 5 standard errors")
        .isBetween(137L, 223L);
    assertThat(paired()).containsExactlyInAnyOrderElementsOf(first);
  }

  private static List<Asked> paired() throws Exception {
    return asked(
        url -> {
          GatlingRun run =
              GatlingRun.benchmark(url)
                  .llm(
                      "model=m lengths=40,2:60;60-80,3-6:40 tokenizer=chars4 concurrency=16"
                          + " requests=300 warmup=0 seed=3 nonce=seed")
                  .reports()
                  .succeed();
          assertThat(run.info().config()).containsEntry("lengths", "40,2:60;60-80,3-6:40");
          assertThat(run.output()).contains("requested 40,2:60;60-80,3-6:40");
          assertThat(run.requests())
              .as("figures of each pair are those of its name")
              .allSatisfy(
                  record ->
                      assertThat(record.identity().name())
                          .isEqualTo(record.tokens().maxTokens() == 2 ? "40/2" : "60-80/3-6"));
          List<String> names = new ArrayList<>();
          run.summary().path("requests").forEach(of -> names.add(of.path("name").asText()));
          assertThat(names).containsExactlyInAnyOrder("40/2", "60-80/3-6");
          assertThat(Files.readString(run.files().page())).contains(", requested 40,2:60;60");
          return run;
        });
  }

  /** Each target is asked for the same output after the same prompt. */
  @Test
  void sidesOfAGridAreDrawnAlikeForEachTarget() throws Exception {
    List<Asked> asked =
        asked(
            url -> {
              GatlingRun run =
                  GatlingRun.benchmark(url)
                      .set("llm.endpoint", "a=" + url + "/v1,b=" + url + "/v1")
                      .llm(
                          "model=m promptTokens=40,60 maxTokens=2-4 tokenizer=chars4 concurrency=1"
                              + " requests=30 warmup=1")
                      .succeed();
              JsonNode pair = run.summary().at("/grid/1");
              assertThat(pair.path("prompt_tokens").asText()).isEqualTo("60");
              assertThat(pair.path("output_tokens").asText()).isEqualTo("2-4");
              assertThat(pair.path("max_tokens").isNull()).isTrue();
              return run;
            });
    assertThat(asked).hasSize(2 * 61);
    assertThat(asked.subList(0, 2))
        .as("warm-up requests ask for the mean")
        .extracting(Asked::tokens)
        .containsExactly(3, 3);
    assertThat(asked.subList(2, 62))
        .extracting(Asked::tokens)
        .contains(2, 3, 4)
        .isSubsetOf(2, 3, 4);
    assertThat(withoutNonces(asked.subList(62, 122)))
        .containsExactlyElementsOf(withoutNonces(asked.subList(2, 62)));
  }

  private static List<Asked> withoutNonces(List<Asked> asked) {
    return asked.stream().map(each -> new Asked(each.text.split("\n", 2)[1], each.tokens)).toList();
  }

  /** By the embedded engine, whose answers have the lengths that were asked for. */
  @Test
  void outputsOfTheDefaultBenchmarkAreDrawnAndArrive() throws Exception {
    GatlingRun run =
        GatlingRun.of(Benchmark.class)
            .llm("concurrency=8 duration=4 stabilize=0 seed=3 warmup=1")
            .succeed();
    List<RequestRecord> ok =
        run.requests().stream().filter(record -> record.outcome().ok()).toList();
    assertThat(ok)
        .hasSizeGreaterThan(50)
        .allSatisfy(
            record ->
                assertThat(record.tokens().outputTokens()).isEqualTo(record.tokens().maxTokens()));
    IntStream asked = ok.stream().mapToInt(record -> record.tokens().maxTokens());
    assertThat(asked.average().orElseThrow()).isCloseTo(16, within(5 * 8 / Math.sqrt(ok.size())));
    assertThat(ok.stream().map(record -> record.tokens().maxTokens()).distinct().count())
        .isGreaterThan(10);
    assertThat(run.check("pinned_output").path("level").asText()).isEqualTo("ok");
    assertThat(run.info().config())
        .containsEntry("promptTokens", "64-448")
        .containsEntry("maxTokens", "lognormal:16:8");
  }

  /** A pair is drawn once for each user; a length of a request for each request. */
  @Test
  void turnsOfAConversationShareTheirPairAndRequestsDrawTheirOwn() throws Exception {
    List<Asked> first = asked(DrawnLengthsIT::fed);
    assertThat(first).hasSize(3 * Fed.USERS);
    List<Asked> turns = first.stream().filter(each -> each.tokens < 10).toList();
    assertThat(turns).hasSize(2 * Fed.USERS);
    Map<String, List<Integer>> byPrompt =
        turns.stream()
            .collect(
                Collectors.groupingBy(
                    Asked::text, Collectors.mapping(Asked::tokens, Collectors.toList())));
    assertThat(byPrompt.values())
        .hasSize(Fed.USERS)
        .allSatisfy(pair -> assertThat(pair).hasSize(2).containsAnyOf(3, 5))
        .allSatisfy(pair -> assertThat(pair.get(0)).isEqualTo(pair.get(1)));
    assertThat(first.stream().filter(each -> each.tokens >= 10).map(Asked::tokens).distinct())
        .hasSizeGreaterThan(5)
        .allMatch(tokens -> tokens >= 100 && tokens <= 200);
    assertThat(asked(DrawnLengthsIT::fed)).containsExactlyInAnyOrderElementsOf(first);
  }

  private static GatlingRun fed(String url) throws IOException, InterruptedException {
    GatlingRun run = GatlingRun.of(Fed.class, url).llm("seed=3 nonce=seed").succeed();
    assertThat(run.info().config())
        .containsEntry("lengths", "40,3:2;60,5:1")
        .containsEntry("maxTokens", "ask: 100-200; turn: #{outputTokens}");
    return run;
  }

  /** What code asks for is said where settings are: in run.json, in the report, in the plan. */
  @Test
  void lengthsOfSimulationsInCodeAreInFileReportAndPlan() throws Exception {
    asked(
        url -> {
          GatlingRun run = GatlingRun.of(Sized.class, url).llm("seed=3").reports().succeed();
          assertThat(run.info().config())
              .containsEntry("promptTokens", "40-60")
              .containsEntry("maxTokens", "lognormal:16:8")
              .containsEntry("template_tokens", "10");
          assertThat(run.output().replaceAll("\\s+", " "))
              .contains("requested 40-60", "requested lognormal:16:8");
          assertThat(Files.readString(run.files().page()))
              .contains("requested 40-60", "requested lognormal:16:8");
          return run;
        });
    asked(
        url -> {
          GatlingRun plan = GatlingRun.of(Sized.class, url).llm("dryRun=true").succeed();
          assertThat(plan.output()).contains("uniform lengths of 40 to 60", "lognormal:16:8");
          return plan;
        });
  }

  public static final class Sized extends Simulation {
    public Sized() {
      setUp(
              closedLoop(2)
                  .requests(12)
                  .inject(
                      scenario("Sized")
                          .feed(prompts().tokens(uniformTokens(40, 60), chars4()).template(10))
                          .exec(
                              llm("ask")
                                  .chat()
                                  .user("#{prompt}")
                                  .maxTokens(lognormalTokens(16, 8)))))
          .protocols(
              llm.baseUrl(System.getProperty("baseUrl") + "/v1").model("m").tokenizer(chars4()));
    }
  }

  public static final class Fed extends Simulation {

    static final int USERS = 60;

    public Fed() {
      setUp(
              closedLoop(8)
                  .requests(USERS)
                  .inject(
                      scenario("Fed")
                          .feed(
                              prompts()
                                  .tokens(lengths().pair(40, 3).weight(2).pair(60, 5), chars4())
                                  .unique()
                                  .seed(3))
                          .exec(conversation("history"))
                          .exec(turn(), turn())
                          .exec(
                              llm("ask")
                                  .chat()
                                  .user("#{prompt}")
                                  .maxTokens(uniformTokens(100, 200)))))
          .protocols(llm.baseUrl(System.getProperty("baseUrl") + "/v1").model("m").seed(3));
    }

    private static ChainBuilder turn() {
      return exec(
          llm("turn").chat().history("history").user("#{prompt}").maxTokens("#{outputTokens}"));
    }
  }
}
