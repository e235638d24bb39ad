package io.github.gatlingllm.simulations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.withinPercentage;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.HookCall;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import io.github.gatlingllm.settings.Settings;
import io.github.gatlingllm.testing.ChatChunks;
import io.github.gatlingllm.testing.Exchange;
import io.github.gatlingllm.testing.GatlingRun;
import io.github.gatlingllm.testing.OneJvm;
import io.github.gatlingllm.testing.Request;
import io.github.gatlingllm.testing.ScriptedServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The effects of settings that only a run shows: in requests and in files. */
class SettingEffectsIT {

  private static final String ANSWER = ChatChunks.withUsage(ChatChunks.body("Hi"), 5, 1);

  private static final String VECTORS =
      "{\"data\":[{\"index\":0,\"embedding\":[1]},{\"index\":1,\"embedding\":[1]},"
          + "{\"index\":2,\"embedding\":[1]}],\"usage\":{\"prompt_tokens\":150}}";

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final AtomicInteger COUNT = new AtomicInteger();

  static final Map<String, String> SET =
      Map.ofEntries(
          Map.entry("apiKey", "sk-wire-test"),
          Map.entry("model", "llama"),
          Map.entry("prompt", "Why is the sky blue?"),
          Map.entry("images", "2x3x4"),
          Map.entry("body", "{\"top_k\":40}"),
          Map.entry("header.X-Tenant", "acme"),
          Map.entry("temperature", "0.7"),
          Map.entry("topP", "0.9"),
          Map.entry("maxTokens", "9"),
          Map.entry("stream", "false"),
          Map.entry("ignoreEos", "false"),
          Map.entry("recordText", "true"),
          Map.entry("recordTokens", "false"),
          Map.entry("csv", "true"),
          Map.entry("gpus", "2"),
          Map.entry("costPerHour", "3.6"),
          Map.entry("concurrency", "1"),
          Map.entry("requests", "2"),
          Map.entry("uniquePrompts", "false"));

  /** Some of a file of settings, the key of another environment file. */
  @Test
  void settingsReachTheWireAndTheFiles(@TempDir Path folder) throws Exception {
    try (ScriptedServer server =
        ScriptedServer.start(exchange -> exchange.respond(200, "application/json", ANSWER))) {
      GatlingRun.Setup benchmark = GatlingRun.benchmark(server.baseUrl());
      Map<String, String> inFile = new HashMap<>(SET);
      inFile
          .keySet()
          .removeAll(List.of("apiKey", "prompt", "images", "csv", "concurrency", "requests"));
      SET.forEach(
          (name, value) -> {
            if (!inFile.containsKey(name) && !name.equals("apiKey")) {
              benchmark.set("llm." + name, value);
            }
          });
      Path config = folder.resolve("bench.conf");
      Files.writeString(config, JSON.writeValueAsString(inFile));
      Path keys = Files.writeString(folder.resolve("keys"), "API_KEY=" + SET.get("apiKey"));
      Path saved = folder.resolve("saved.conf");
      benchmark.set("llm.config", config).set("llm.env", keys).set("llm.saveConfig", saved);
      GatlingRun run = benchmark.reports().succeed();
      assertThat(server.requests()).as("a warm-up request and two").hasSize(3);
      Set<String> images = new HashSet<>();
      for (Request request : server.requests()) {
        JsonNode asked = JSON.readTree(request.body());
        assertThat(request.header("Authorization")).isEqualTo("Bearer sk-wire-test");
        assertThat(request.header("X-Tenant")).isEqualTo("acme");
        assertThat(asked.path("model").asText()).isEqualTo("llama");
        JsonNode said = asked.at("/messages/0/content");
        assertThat(said).hasSize(3);
        assertThat(said.at("/0/text").asText()).isEqualTo("Why is the sky blue?");
        assertThat(imageOf(said, 1)).startsWith("data:image/png;base64,");
        assertThat(imageOf(said, 2)).isNotEqualTo(imageOf(said, 1));
        images.add(imageOf(said, 1));
        assertThat(asked.path("top_k").asInt()).isEqualTo(40);
        assertThat(asked.path("temperature").asDouble()).isEqualTo(0.7);
        assertThat(asked.path("top_p").asDouble()).isEqualTo(0.9);
        assertThat(asked.path("max_tokens").asInt()).isEqualTo(9);
        assertThat(asked.path("stream").asBoolean()).isFalse();
        assertThat(asked.has("ignore_eos")).isFalse();
      }
      assertThat(images).as("another image per request").hasSize(3);
      assertThat(run.requests())
          .allSatisfy(
              record -> {
                assertThat(record.text()).isNotNull();
                assertThat(record.events().offsetsMicros()).isEmpty();
              });
      assertThat(run.files().csv()).exists();
      Map<String, String> again =
          new Settings(Map.of("llm.config", saved.toString()), Map.of(), folder.resolve(".env"))
              .shown();
      assertThat(again).containsKeys("temperature", "csv").doesNotContainKey("apiKey");
      assertThat(run.summary().at("/throughput/output_tokens_per_s_per_gpu").asDouble())
          .isCloseTo(
              run.summary().at("/throughput/output_tokens_per_s").asDouble() / 2,
              withinPercentage(0.001));
    }
  }

  /** A run with some settings, what its server answers, and what shows that each is in force. */
  private record Row(String settings, ScriptedServer.Script script, Check check) {}

  private interface Check {
    void of(GatlingRun run, List<JsonNode> asked) throws IOException;
  }

  private static Stream<Row> rows() throws IOException {
    return Stream.of(
        new Row(
            "prompts=src/test/resources/datasets/prompts.txt tokenizer=chars4 lengths=balanced"
                + " thinkTime=300ms assert=errors>50% failBuild=false concurrency=1 requests=3",
            SettingEffectsIT::refuseAddedFields,
            (run, asked) -> {
              assertThat(asked).as("refused thrice, accepted, measured").hasSize(3 + 1 + 3);
              assertThat(asked.get(0).path("max_tokens").asInt()).isEqualTo(1_024);
              assertThat(asked.get(1).path("ignore_eos").asBoolean()).isTrue();
              assertThat(run.info().config())
                  .extracting("maxTokensField", "includeUsage", "ignoreEos")
                  .allMatch(value -> String.valueOf(value).contains("rejects"));
              for (JsonNode request : asked.subList(3, 7)) {
                assertThat(request.has("stream_options")).isFalse();
                assertThat(request.has("ignore_eos")).isFalse();
                assertThat(request.has("max_tokens")).isFalse();
                assertThat(request.path("max_completion_tokens").asInt()).isEqualTo(1_024);
                assertThat(text(request))
                    .containsAnyOf("Why is the sky blue?", "How do ships float?")
                    .hasSizeBetween(4 * 1_023, 4 * 1_024 + 3);
              }
              List<RequestRecord> records = run.requests();
              for (int k = 1; k < records.size(); k++) {
                assertThat(
                        records.get(k).timing().scheduledUnixNanos()
                            - records.get(k - 1).timing().closedUnixNanos())
                    .isGreaterThan(290_000_000L);
              }
              assertThat(run.summary().at("/assertions/0/ok").asBoolean(true)).isFalse();
            }),
        new Row(
            "promptTokens=40,60 maxTokens=3,5 tokenizer=chars4 slo=60/3:ttft<20s"
                + " assert=40/5:errors=0 concurrency=1 requests=2 warmup=0",
            exchange -> exchange.answer("Yes"),
            (run, asked) -> {
              assertThat(asked)
                  .extracting(
                      of -> Math.round(text(of).length() / 4.0),
                      of -> of.path("max_tokens").asInt())
                  .containsExactlyElementsOf(
                      Stream.of(tuple(40L, 3), tuple(40L, 5), tuple(60L, 3), tuple(60L, 5))
                          .flatMap(pair -> Stream.of(pair, pair))
                          .toList());
              assertThat(asked).extracting(of -> text(of)).doesNotHaveDuplicates();
              assertThat(run.requests().get(7).identity().name()).isEqualTo("60/5");
              assertThat(run.summary().path("grid"))
                  .extracting(
                      of -> of.path("prompt_tokens").asText(), of -> of.path("max_tokens").asInt())
                  .containsExactly(tuple("40", 3), tuple("40", 5), tuple("60", 3), tuple("60", 5));
              assertThat(run.summary().at("/assertions/0/ok").asBoolean()).isTrue();
              assertThat(run.output()).contains("> prompt/output tokens", "> 60/5 ");
              assertThat(Files.readString(run.files().page())).contains("id=\"grid\"");
            }),
        new Row(
            "slo=ttft<500ms,tpot<500ms sloPercentile=50 sloRule=requests stopWhen=slo<60%"
                + " concurrency=1,2 requests=4 ignoreEos=false",
            SettingEffectsIT::missOneOfTwoObjectives,
            (run, asked) -> {
              assertThat(asked).as("warm-up and the first level").hasSize(1 + 4);
              assertThat(run.summary().at("/stages/0/goodput/share").asDouble()).isZero();
              assertThat(run.summary().at("/slo/objectives"))
                  .allMatch(of -> of.path("ok").asBoolean());
              assertThat(run.summary().at("/curves/0/max_goodput").isNull()).isTrue();
            }),
        new Row(
            "repeats=auto:99%:requests_per_s assert=c=2:errors=0 seed=7 concurrency=1,2 requests=4"
                + " ignoreEos=false",
            exchange -> exchange.respond(200, "application/json", ANSWER),
            (run, asked) -> {
              int rounds = run.info().stages().size() / 2;
              Conclusion found = run.info().outcome().conclusions().get(0);
              assertThat(found.topic()).isEqualTo("repeats");
              assertThat(found.value()).isNotNull();
              assertThat(found.text()).contains("after " + rounds + " repeats");
              assertThat(run.info().config().get("repeats of Benchmark")).contains(" | ");
              JsonNode stages = run.summary().get("stages");
              assertThat(stages).hasSize(2);
              for (JsonNode stage : stages) {
                JsonNode rate = stage.path("between_repeats").path("requests_per_s");
                assertThat(rate.path("values")).hasSize(rounds).hasSizeGreaterThan(2);
                assertThat(stage.at("/counts/planned").asInt()).isEqualTo(4 * rounds);
              }
              assertThat(run.summary().at("/assertions/0/ok").asBoolean()).isTrue();
              assertThat(run.check("repeats").path("threshold").asDouble()).isEqualTo(99);
              assertThat(run.output()).contains("95 % by " + rounds + " repeats");
            }),
        new Row(
            "search=maxGoodput searchPrecision=0.9 rate=40 slo=ttft<20s sloPercentile=50"
                + " connections=perUser beforeLevel=POST:/level duration=1s stabilize=0"
                + " cooldown=false warmup=0",
            failLevels(2, 5),
            (run, asked) ->
                assertThat(run.info().stages())
                    .as("one bisection: 20 is less than 0.9 / 2 of 60")
                    .extracting(LevelInfo::label)
                    .containsExactly("r=40", "r=80", "r=60", "r=60 again", "r=80 again")),
        new Row(
            "search=maxUsers searchPrecision=0.9 concurrency=2 slo=dear:e2e<1us;gold:ttft<20s"
                + " sloTier=gold sloPercentile=50 assert=gold:c=2:goodput=100%"
                + " beforeLevel=POST:/level requests=4 stabilize=0 fill=0 warmup=0"
                + " afterLevel=POST:/unknown@c=1",
            failLevels(2, 5),
            (run, asked) -> {
              assertThat(run.lines())
                  .as("after the last level, so that the run goes on to its end")
                  .filteredOn(line -> line.contains("after level c=1 failed: HTTP 404"))
                  .hasSize(1);
              assertThat(run.info().stages())
                  .extracting(level -> level.hooks().stream().map(HookCall::status).toList())
                  .containsExactly(
                      List.of(204),
                      List.of(204),
                      List.of(204),
                      List.of(204),
                      List.of(204),
                      List.of(204, 404));
              assertThat(run.info().stages())
                  .as("neighbours are the end of gold; a level for dear")
                  .extracting(LevelInfo::label)
                  .containsExactly("c=2", "c=4", "c=3", "c=3 again", "c=4 again", "c=1");
              assertThat(run.info().outcome().conclusions())
                  .extracting(Conclusion::tier, Conclusion::holdsAt, Conclusion::failsAt)
                  .containsExactly(tuple("gold", 3.0, 4.0), tuple("dear", null, 1.0));
              assertThat(run.summary().at("/tiers"))
                  .extracting(tier -> tier.path("tier").asText() + " " + tier.path("outcome"))
                  .containsExactly("gold \"met\"", "dear \"missed\"");
              assertThat(run.summary().at("/assertions/0/ok").asBoolean()).isTrue();
            }),
        new Row(
            "eventTokens=server idleTimeout=300ms failBuild=false concurrency=1 requests=1"
                + " warmup=0",
            SettingEffectsIT::stallAfterFirst,
            (run, asked) -> {
              assertThat(asked.get(0).at("/stream_options/continuous_usage_stats").asBoolean())
                  .isTrue();
              assertThat(run.requests().get(0).outcome().status()).isEqualTo(RequestStatus.STALLED);
            }),
        new Row(
            "abandon=100%@200ms failBuild=false concurrency=1 requests=1 warmup=0",
            SettingEffectsIT::stallAfterFirst,
            (run, asked) ->
                assertThat(run.requests().get(0).outcome().status())
                    .isEqualTo(RequestStatus.ABANDONED)),
        new Row(
            "trials=2 concurrency=2 maxTokens=3 metricsUrl=none warmup=0"
                + " maxTokensField=max_completion_tokens includeUsage=false engineVersion=vllm-1"
                + " readingSpeed=50 export=vllm otlp=$server/meters",
            SettingEffectsIT::answerRequests,
            (run, asked) -> {
              assertThat(asked.removeIf(JsonNode::isMissingNode)).as("meters").isTrue();
              assertThat(asked).as("two trials of two").hasSize(2 * 2);
              for (JsonNode request : asked) {
                assertThat(request.path("max_completion_tokens").asInt()).isEqualTo(3);
                assertThat(request.has("max_tokens")).isFalse();
                assertThat(request.has("stream_options")).isFalse();
              }
              assertThat(run.info().config()).containsEntry("engineVersion", "vllm-1");
              assertThat(run.info().config()).containsEntry("export", "vllm");
              assertThat(run.info().report().readingSpeed()).isEqualTo(50);
            }),
        new Row(
            "api=embeddings inputsPerRequest=3 maxTokensPerMinute=300 prompt="
                + "abcd".repeat(50)
                + " uniquePrompts=false concurrency=2 duration=1 drain=0 warmup=0",
            exchange -> exchange.respond(200, "application/json", VECTORS),
            (run, asked) -> {
              assertThat(asked).as("of 150 tokens each").hasSize(2);
              assertThat(asked.get(0).path("input")).hasSize(3);
            }),
        new Row(
            "dataset=sharegpt:"
                + dialog()
                + " turnByTurn=true contextTokens=60 tokenizer=chars4 maxTokens=10 ignoreEos=false"
                + " concurrency=1 requests=2 warmup=0",
            SettingEffectsIT::countTwentyPerMessage,
            (run, asked) ->
                assertThat(asked)
                    .as("two turns of three, the second with the answer of the first")
                    .extracting(request -> request.path("messages").size())
                    .startsWith(1, 3)
                    .doesNotContain(5)),
        new Row(
            "scenario=B2,D dataset.B2=longbench:$server/a/longbench.json"
                + " dataset.D=sharegpt:$server/a/dialog.json datasetCache="
                + Files.createTempDirectory("cache")
                + " turns=2 tokenizer=chars4 ignoreEos=false concurrency=1 requests=3",
            SettingEffectsIT::serveDatasets,
            (run, asked) -> {
              asked.removeIf(JsonNode::isMissingNode); // downloads
              assertThat(asked.subList(0, 4))
                  .allSatisfy(
                      of ->
                          assertThat(text(of))
                              .startsWith("Here is a text")
                              .hasSizeBetween(9_997, 10_000));
              assertThat(asked.subList(4, 7))
                  .allSatisfy(of -> assertThat(text(of)).startsWith("word word"))
                  .extracting(of -> Collections.frequency(of.findValuesAsText("role"), "user"))
                  .containsExactly(1, 2, 1);
              assertThat(run.requests().get(3).identity().name()).isEqualTo("D");
              assertThat(run.info().config().get("dataset.B2.sha256")).hasSize(64);
              assertThat(run.output())
                  .contains("dialog.json: downloading from 127.0.0.1", "json: SHA-256 ");
              Path cache = Path.of(run.info().config().get("datasetCache"));
              try (Stream<Path> files = Files.walk(cache)) {
                assertThat(files.map(file -> file.getFileName().toString()))
                    .contains("longbench.json", "dialog.json");
              }
            }));
  }

  private record Result(Row row, GatlingRun run, List<JsonNode> asked, List<Request> chats) {
    @Override
    public String toString() {
      return row.settings;
    }
  }

  /** The runs of all rows, in one JVM. */
  static Stream<Result> results() throws Exception {
    List<Row> rows = rows().toList();
    List<ScriptedServer> servers = new ArrayList<>();
    List<GatlingRun.Setup> setups = new ArrayList<>();
    for (Row row : rows) {
      ScriptedServer server = ScriptedServer.start(row.script);
      servers.add(server);
      setups.add(
          GatlingRun.benchmark(server.baseUrl())
              .llm("model=llama " + row.settings.replace("$server", server.baseUrl())));
    }
    List<GatlingRun> runs = OneJvm.of(setups);
    List<Result> results = new ArrayList<>();
    for (Row row : rows) {
      ScriptedServer server = servers.get(results.size());
      List<JsonNode> asked = new ArrayList<>();
      for (Request request : server.requests()) {
        asked.add(body(request));
      }
      server.close();
      List<Request> chats =
          server.requests().stream()
              .filter(request -> request.path().endsWith("/chat/completions"))
              .toList();
      results.add(new Result(row, runs.get(results.size()), asked, chats));
    }
    return results.stream();
  }

  @ParameterizedTest
  @MethodSource("results")
  void settingsAreInForce(Result of) throws Exception {
    of.row.check.of(of.run, of.asked);
    if (of.chats.size() > 2) {
      long connections = of.chats.stream().map(Request::connectionNumber).distinct().count();
      boolean isPerUser = of.run.info().config().get("connections").equals("perUser");
      assertThat(connections == of.chats.size())
          .as("%s connections of %s users with a request each", connections, of.chats.size())
          .isEqualTo(isPerUser);
    }
  }

  private static void refuseAddedFields(Exchange exchange) throws IOException {
    String body = exchange.request().body();
    String error =
        body.contains("max_tokens")
            ? "{'error':'Unsupported parameter: max_tokens. Use max_completion_tokens instead.'}"
            : body.contains("stream_options")
                ? "{'detail':[{'loc':['body','stream_options'],'msg':'Extra inputs?'}]}"
                : body.contains("ignore_eos") ? "{'error':'unknown field ignore_eos'}" : "";
    if (error.isEmpty()) {
      exchange.answer("Yes");
    } else {
      exchange.respond(422, "application/json", error.replace('\'', '"'));
    }
  }

  /** Every other answer has a late first token, the others a late second one. */
  private static void missOneOfTwoObjectives(Exchange exchange)
      throws IOException, InterruptedException {
    boolean isFirstLate = COUNT.getAndIncrement() % 2 == 0;
    long late = Duration.ofMillis(700).toNanos();
    exchange.startStream();
    (isFirstLate ? exchange.at(late) : exchange).event(ChatChunks.content("a"));
    exchange
        .at(late + Duration.ofMillis(isFirstLate ? 100 : 0).toNanos())
        .event(ChatChunks.content("b"))
        .event(ChatChunks.finish("stop"))
        .event(ChatChunks.usage(5, 2))
        .done()
        .lastChunk();
  }

  /** A request before each level counts them; all requests of some levels fail. */
  private static ScriptedServer.Script failLevels(Integer... failing) {
    AtomicInteger level = new AtomicInteger();
    return exchange -> {
      if (exchange.request().path().equals("/level")) {
        level.incrementAndGet();
        exchange.respond(204, "text/plain", "");
      } else if (exchange.request().path().equals("/unknown")) {
        exchange.respond(404, "text/plain", "");
      } else if (List.of(failing).contains(level.get())) {
        exchange.respond(500, "text/plain", "no");
      } else {
        exchange.answer("Yes");
      }
    };
  }

  private static void stallAfterFirst(Exchange exchange) throws IOException, InterruptedException {
    exchange.startStream().event(ChatChunks.content("a"));
    exchange.at(Duration.ofSeconds(3).toNanos()).event(ChatChunks.finish("stop")).done();
  }

  private static void answerRequests(Exchange exchange) throws IOException {
    if (exchange.request().path().equals("/meters")) {
      exchange.respond(200, "application/x-protobuf", "");
    } else {
      exchange.answer("Yes");
    }
  }

  /** The body of a request; none where it is not JSON, as that of meters. */
  private static JsonNode body(Request request) {
    try {
      return JSON.readTree(request.path().equals("/meters") ? "" : request.body());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void serveDatasets(Exchange exchange) throws IOException {
    String path = exchange.request().path();
    if (path.endsWith("longbench.json")) {
      exchange.respond(
          200,
          "application/json",
          Files.readString(Path.of("src/test/resources/datasets/longbench.json")));
    } else if (path.endsWith("dialog.json")) {
      exchange.respond(200, "application/json", Files.readString(dialog()));
    } else {
      exchange.answer("Yes");
    }
  }

  private static void countTwentyPerMessage(Exchange exchange) throws IOException {
    int messages = JSON.readTree(exchange.request().body()).path("messages").size();
    exchange
        .startStream()
        .event(ChatChunks.content("Yes"))
        .event(ChatChunks.finish("stop"))
        .event(ChatChunks.usage(20 * messages, 1))
        .done()
        .lastChunk();
  }

  private static Path dialog() throws IOException {
    List<Map<String, String>> turns = new ArrayList<>();
    for (int turn = 0; turn < 3; turn++) {
      turns.add(Map.of("from", "human", "value", "word ".repeat(16).strip()));
      turns.add(Map.of("from", "gpt", "value", "Yes"));
    }
    Path file = Files.createTempFile("dialog", ".json");
    JSON.writeValue(file.toFile(), List.of(Map.of("conversations", turns)));
    return file;
  }

  private static String text(JsonNode request) {
    return request.at("/messages/0/content").asText();
  }

  private static String imageOf(JsonNode content, int part) {
    return content.get(part).at("/image_url/url").asText();
  }
}
