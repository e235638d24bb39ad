package io.github.gatlingllm.simulations;

import static io.github.gatlingllm.javaapi.LlmDsl.llm;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gatlingllm.action.LlmProtocol;
import io.github.gatlingllm.record.StartCommand;
import io.github.gatlingllm.settings.Setting;
import io.github.gatlingllm.workload.Tokenizer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The effect of each setting: on the printed plan, or on the protocol that requests and files are
 * made with. A test of runs sets each of them too.
 */
class SettingEffectsTest {

  /** Settings whose effect only a run shows; of those without a comment in SettingEffectsIT. */
  private static final Set<String> SEEN_IN_RUNS =
      Stream.concat(
              SettingEffectsIT.SET.keySet().stream()
                  .map(name -> name.startsWith("header.") ? Setting.HEADER.name : name),
              Stream.of(
                  "weight", // ClassesIT
                  "config",
                  "env",
                  "nonce",
                  "saveConfig",
                  "waitReady", // WarmUpIT
                  "beforeLevel", // LevelsIT
                  "afterLevel", // LevelsIT
                  "datasetCache",
                  "proxy", // ConnectionsIT
                  "dryRun", // UserProjectIT
                  "live", // LivePageIT
                  "otlp", // GenAiMetersTest
                  "upload", // OutputsIT
                  "selfTestFile", // SelfTestIT
                  "injector", // InjectorsIT
                  "startAt", // InjectorsIT
                  "trace", // OutputsIT
                  "traceShare", // OutputsIT
                  "otlpTraces", // OutputsIT
                  "help")) // MistakesIT
          .collect(Collectors.toSet());

  private static List<String> runs = List.of();

  private static final String ENDPOINT = "endpoint=http://a:1/v1";
  private static final String TRACE = "arrival=trace:src/test/resources/traces/azure.csv";
  private static final String DATASET =
      "dataset=sharegpt:src/test/resources/datasets/sharegpt.json";

  /**
   * A setting, and what others it needs, and the line of the plan that it makes; {@code -} before
   * what is gone.
   */
  static Stream<String> plans() {
    return Stream.of(
        ENDPOINT + " | target         http://a:1/v1/chat/completions",
        "model=base=3,lora:8b=1 " + ENDPOINT + " | model          base 75 %, lora:8b 25 %",
        "endpoint=http://a:1/v1+http://b:1/v1 model=a=1,b=1 | warm-up        4 requests",
        "api=completions " + ENDPOINT + " | target         http://a:1/v1/completions",
        "api=messages " + ENDPOINT + " | target         http://a:1/v1/messages",
        "api=messages "
            + ENDPOINT
            + " | output         at most lognormal lengths of mean 128"
            + " and std 64 tokens (exactly that if",
        "api=embeddings | API            embeddings, 1 input per request",
        "inputsPerRequest=16 api=embeddings | API            embeddings, 16 inputs per request",
        "inputsPerRequest=16 api=rerank | API            rerank, 16 inputs per request",
        "interleave=true endpoint=http://a:1/v1,http://b:1/v1 | order          side by side",
        "tokenizer=tiktoken:r50k_base " + ENDPOINT + " | tokenizer      tiktoken:r50k_base",
        ENDPOINT + " | tokenizer      tiktoken:cl100k_base: WARNING, no tokenizer",
        "dryRun=true " + ENDPOINT + " | tokenizer      tiktoken:cl100k_base, as a dry run does not",
        "dryRun=true warmup=0 " + ENDPOINT + " | tokenizer      tiktoken:cl100k_base: WARNING, no",
        "concurrency=3 | c=3      12 s",
        "rate=2.5 | r=2.5    12 s, about",
        "rate=steps:1:2s,10:3s | curve    5 s, about 32 requests",
        "rate=0:60s,10:120s,50:60s | curve    4 min, about 6,900 requests",
        "arrival=gamma:1.4 rate=2 | open loop, gamma arrivals of cv 1.4, 1 level",
        TRACE + "@2.0 | open loop, arrivals of azure.csv, 2 times as fast, 0.3 per second, 1 level",
        TRACE + " | load           open loop, arrivals of azure.csv",
        TRACE + " maxTokens=5 | prompt size    the ",
        TRACE + " | output         as recorded, else lognormal lengths",
        "trials=3 concurrency=2 | batch, 3 trials of each level",
        "repeats=3 concurrency=1 | repeats        3 of each level, in random order: c=1 | c=1 |"
            + " c=1",
        "repeats=3 concurrency=1 duration=2 | time           6 s of measuring, at most",
        "repeats=auto:2% | repeats        3 to 20 of each level, until each is within ±2 % of",
        "search=maxGoodput slo=ttft<1s | search         the highest rate that holds the SLO, to 5"
            + " %",
        "search=maxUsers concurrency=6 slo=ttft<1s | c=6      12 s",
        "search=maxUsers slo=ttft<1s | search         the highest number of users that holds",
        "class.a.weight=70 class.b.weight=30 rate=10 | r=7      12 s, about",
        "class.a.rate=1 class.b.concurrency=4 class.b.slo=ttft<1s | SLO            ttft<1s; a"
            + " level",
        "class.a.body={\"priority\":1} class.a.rate=1 class.b.rate=2 | extra fields   priority",
        "interference=true class.a.rate=1 class.b.rate=2 repeats=2 duration=5 | classes        2"
            + " repeats, in random order: b alone, a alone, a + b | a alone, a + b, b alone",
        "interference=true class.a.rate=1 class.b.rate=2 repeats=2 duration=5 | time           30"
            + " s",
        "searchPrecision=0.1 search=maxGoodput slo=ttft<1s | holds the SLO, to 10 %",
        "search=maxGoodput slo=ttft<1s duration=60 | time           about 30 min to 40 min: 15 to"
            + " 20 levels of 60 s, each up to 8 times as long",
        "search=maxGoodput slo=ttft<1s requests=60 | time           depends on the server: 15 to"
            + " 20",
        "stopWhen=errors>7 | stops after    more than 7 failures, more than 100 failures in a row",
        "stopWhen=never | -stops after",
        "answers=check | answers        50 requests more: twice before the load, beside each level",
        "warmup=3 | warm-up        3 requests",
        "fill=2 | fill           2 s per level",
        "stabilize=4 | stabilize      4 s per level",
        "duration=2m | c=1      2 min",
        "requests=9 | c=1      9 requests",
        "requests=90 duration=3 | c=1      90 requests, at most 3 s",
        "cooldown=false | cooldown       none",
        "drain=5 | drain          at most 5 s per level",
        "prompts=src/test/resources/datasets/prompts.txt | prompts        2 prompts",
        "promptTokens=40 | prompt size    exactly 40 tokens",
        "promptTokensOf=text promptTokens=40 | prompt size    exactly 40 tokens by chars4",
        "promptTokens=256:32 | normal lengths of mean 256 and std 32 tokens",
        "prompt=Hi | prompts        1 prompt (fixed text), 2 characters",
        "promptTokens=lognormal:40:20 | prompt size    lognormal lengths of mean 40 and std 20",
        "promptTokens=weighted:10=70,90=30 | prompt size    exactly 10 tokens (70 %), exactly 90"
            + " tokens",
        "promptTokens=40,weighted:10=7,90=3 maxTokens=5,6 | grid           4 pairs of prompt",
        "maxTokens=64-512 | output         uniform lengths of 64 to 512 tokens",
        "maxTokens=128:16 ignoreEos=false | at most normal lengths of mean 128 and std 16",
        "maxTokens=weighted:5=3,9=1 | exactly 5 tokens (75 %), exactly 9 tokens (25 %)",
        "maxTokens=128 | output         exactly 128 tokens (ignore_eos, min_tokens)",
        "lengths=40|9,5|2:3;90,9:1 | prompt size    normal lengths of mean 40 and std 9 tokens (75"
            + " %), exactly 90 tokens (25 %) by chars4",
        "lengths=40|9,5|2:3;90,9:1 | output         normal lengths of mean 5 and"
            + " std 2 tokens (75 %), exactly 9 tokens (25 %) (ignore",
        TRACE + " lengths=40,5 | prompt size    exactly 40 tokens",
        "maxTokens=5,6 promptTokens=40 | output         exactly 5 tokens, exactly 6 tokens",
        DATASET + " | dataset        sharegpt.json (sharegpt)",
        DATASET + " maxTokens=9 | exactly 9 tokens",
        "turnByTurn=true " + DATASET + " | (sharegpt, turn by turn)",
        "sessions=sessions/own.jsonl | sessions       own.jsonl",
        "sessionGapCap=160ms sessions=sessions/own.jsonl | gaps           at most 0.16 s",
        "sessionGapCap=160ms sessions=sessions/own.jsonl | takes away 0.04 s, 8.9 % of all gaps",
        "sessionSpeed=2 sessions=sessions/own.jsonl | gaps           divided by 2",
        "sessionStart=25-75% sessions=sessions/own.jsonl | sessions begin at a random instant in"
            + " 25-75% of each",
        "sessions=sessions/own.jsonl | every prompt: 5 tokens, the same in all requests of a"
            + " replay",
        "uniquePrompts=false sessions=sessions/own.jsonl | -prefix         ",
        "sessionAnswers=server sessions=sessions/own.jsonl | history        the server's own"
            + " answers",
        "scenario=agentx sessions=sessions/own.jsonl | scenario       agentx, by its rules",
        "scenario=agentx sessions=sessions/own.jsonl | gaps           at most 10 s",
        "scenario=agentx sessions=sessions/own.jsonl | c=1      15 min",
        "scenario=agentx sessions=sessions/own.jsonl maxTokens=9 sessionGapCap=5 duration=60 |"
            + " scenario       NOT AgentX: sessionGapCap=5s, duration=60s, maxTokens=9",
        "scenario=B1 | scenarios      B1",
        "dataset.B2=longbench:datasets/longbench.json scenario=B2 | of longbench.json (longbench)",
        "dataset.D=oasst:datasets/oasst.trees.jsonl scenario=D | dialog: at most 5 turns",
        "mix=B1:3,D:1 | B1 75 %, D 25 %",
        "turns=3 scenario=D | 3 turns of 50 tokens",
        "contextTokens=900 scenario=D | context        900 tokens; a dialog ends before",
        "thinkTime=1s-2.5s scenario=D | think time     1 s to 2.5 s before a user's next request",
        "lengths=balanced requests=1 concurrency=1 | output         exactly 1024 tokens",
        "uniquePrompts=false | -prefix         ",
        "sharedPrefix=2x16 | one of 2 texts of 16 tokens begins every prompt: 16 tokens",
        "sharedPrefix=8x512 | uniform lengths of 576 to 960 tokens",
        "timeout=9 | limits         9 s per request",
        "idleTimeout=3 | 3 s between events",
        "maxInFlight=5 | , 5 in flight",
        "abandon=10%@2s-5s | , users leave: 10%@2s-5s",
        "maxRequestsPerMinute=50 | , 50 requests a minute",
        "maxTokensPerMinute=900 | , 900 tokens a minute",
        "connections=perUser | connections    own ones per user",
        "http2=true | HTTP/2 where the server agrees",
        "verifyTls=false | certificates NOT verified",
        "slo=ttft<70ms | SLO            ttft<70ms; a level holds when 99 % of its requests",
        "slo=ttft<7ms | to prove that, a level needs 381 requests: set",
        "slo=ttft<7ms sloPercentile=90 | a level needs 35 requests: set",
        "slo=ttft<7ms rate=2.5,50 | a level needs 381 requests (r=2.5: 30): set",
        "slo=ttft<7ms requests=380 concurrency=1 | needs 381 requests (c=1: 380): set",
        "slo=gold:ttft<90ms,tpot<30ms;silver:ttft<1s | SLO            gold: ttft<90ms,tpot<30ms; a",
        "slo=gold:ttft<90ms,tpot<30ms;silver:ttft<1s | SLO            silver: ttft<1s; a level",
        "sloTier=silver slo=gold:ttft<90ms;silver:ttft<7s | SLO            silver: ttft<7s; a level"
            + " holds when 99 % of its requests meet each objective",
        "sloPercentile=90 slo=ttft<70ms | when 90 % of its requests meet each objective",
        "sloRule=requests slo=ttft<70ms | meet all objectives together",
        "assert=errors=0 | build gates    errors=0",
        "failBuild=false assert=errors=0 | (a miss does not fail the build)",
        "seed=42 | seed           42",
        "selfTest=true | embedded engine in a separate process");
  }

  @ParameterizedTest
  @MethodSource("plans")
  void isInThePlan(String row) {
    String[] parts = row.split(" \\| ", 2);
    String expected = parts[1];
    String plan = plan(parts[0]);
    if (expected.startsWith("-")) {
      assertThat(plan).doesNotContain(expected.substring(1));
      assertThat(plan("")).contains(expected.substring(1));
    } else {
      assertThat(plan).contains(expected);
      assertThat(plan("")).doesNotContain(expected);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "slo=ttft<7ms requests=381",
        "slo=ttft<7ms requests=127 repeats=3",
        "slo=ttft<7ms search=maxGoodput"
      })
  void requestsThatProveAnSloAreNotAskedFor(String settings) {
    assertThat(plan(settings)).contains("SLO            ttft<7ms").doesNotContain("to prove");
  }

  /** What reaches neither plan nor wire but the protocol that makes requests and files. */
  private static final Map<String, Function<LlmProtocol, Object>> PROTOCOL =
      Map.of(
          "jvmWarmUp=false",
          protocol -> protocol.get(Setting.JVM_WARM_UP),
          "failOnInvalid=true",
          protocol -> protocol.report().failOnInvalid(),
          "engineVersion=0.11.0",
          protocol -> protocol.notes(),
          "export=vllm",
          protocol -> protocol.notes(),
          "readingSpeed=7.5",
          protocol -> protocol.report().readingSpeed(),
          "metricsUrl=none",
          protocol -> protocol.metricsUrls(),
          "eventTokens=server",
          protocol -> String.valueOf(protocol.eventTokens()),
          "includeUsage=false",
          protocol -> String.valueOf(protocol.get(Setting.INCLUDE_USAGE)),
          "conversationHeader=x-session-id",
          protocol -> String.valueOf(protocol.get(Setting.CONVERSATION_HEADER)),
          "maxTokensField=max_completion_tokens",
          protocol -> String.valueOf(protocol.maxTokensField()));

  @Test
  void reachesTheProtocol() {
    PROTOCOL.forEach(
        (setting, seen) ->
            assertThat(seen.apply(protocol(setting)))
                .as(setting)
                .isNotEqualTo(seen.apply(protocol(""))));
  }

  private static LlmProtocol protocol(String settings) {
    return Benchmark.protocol(
            CheckedSettings.plan(settings),
            "",
            ModelTokenizers.set(Tokenizer.parse("chars4")),
            llm.baseUrl("http://localhost/v1"))
        .protocol();
  }

  /** Each has a row here, or a run that asserts its effect. */
  @Test
  void everySettingHasARow() {
    Set<String> rows = new LinkedHashSet<>(SEEN_IN_RUNS);
    Stream.concat(plans(), PROTOCOL.keySet().stream())
        .map(row -> row.substring(0, row.indexOf('=')))
        .forEach(name -> rows.add(name.startsWith("class.") ? Setting.CLASS.name : name));
    Set<String> names = Setting.all().stream().map(entry -> entry.name).collect(Collectors.toSet());
    assertThat(rows).containsExactlyInAnyOrderElementsOf(names);
  }

  @BeforeAll
  static void readRuns() throws IOException {
    try (Stream<Path> tests = Files.walk(Path.of("src/test/java"))) {
      runs =
          tests
              .filter(test -> test.toString().endsWith("IT.java"))
              .map(SettingEffectsTest::text)
              .toList();
    }
  }

  static Stream<Setting<?>> settings() {
    return Setting.all().stream();
  }

  /** As a property, in a line of several, as an option, or in a table of them. */
  @ParameterizedTest
  @MethodSource("settings")
  void isInForceInARun(Setting<?> setting) {
    String name = Pattern.quote(setting.name.replaceFirst("<.*", ""));
    Pattern set =
        Pattern.compile(
            "\"llm\\.%1$s|[\" .]%1$s=|--%2$s\\b|Map\\.entry\\(\"%1$s"
                .formatted(name, StartCommand.kebab(setting.name)));
    assertThat(runs).anyMatch(test -> set.matcher(test).find());
  }

  private static String text(Path test) {
    try {
      return Files.readString(test);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void showsTheDefaultPlan() {
    assertThat(plan(""))
        .isEqualTo(
            """
            target         embedded engine (no llm.endpoint is set)
            API            chat, streamed
            load           closed loop, 4 levels
                           c=1      12 s
                           c=4      12 s
                           c=16     12 s
                           c=64     12 s
            requests       the number that the server answers in the time of each level
            stops after    more than 100 failures in a row
            fill           auto: users start one after the other, over twice the median E2E
            stabilize      auto: until each user has received an answer and twice the median E2E has passed, at most 12 s per level
            cooldown       the load stays on until the measured requests have ended
            drain          at most 30 s per level
            warm-up        1 request
            prompts        1,000 texts made of 100 prompts (built-in); after these they repeat
            prompt size    uniform lengths of 64 to 448 tokens by chars4
            prefix         a nonce begins every prompt: 5 tokens
            tokenizer      chars4
            output         lognormal lengths of mean 16 and std 8 tokens (ignore_eos, min_tokens)
            sampling       the server's defaults
            SLO            none
            limits         10 min per request, 2 min between events
            connections    shared by all users
            seed           4711
            time           48 s of measuring, at most 5 min 36 s in all
            """);
  }

  /** The lines of all other settings are above. */
  @Test
  void showsWhatAnEndpointIsSent() {
    assertThat(
            plan(
                "endpoint=http://localhost:8000/v1 rate=0.5,4,16 duration=90 temperature=0.7"
                    + " topP=0.95 ignoreEos=false body={\"top_k\":40,\"user\":\"x\"}"
                    + " header.X-Tenant=hidden apiKey=sk-very-secret"))
        .contains("API key        set\n", "extra headers  X-Tenant\n", "about 1,845 requests\n")
        .contains(
            "output         at most lognormal lengths of mean 128 and std 64 tokens\n",
            "sampling       temperature 0.7, top_p 0.95\n")
        .contains(
            "extra fields   top_k, user\n", "4 min 30 s of measuring, at most 12 min in all\n")
        .doesNotContain("hidden", "sk-very");
  }

  @Test
  void showsLevelsBoundedByCount() {
    assertThat(plan("requests=100 concurrency=1,8"))
        .contains(
            """
            load           closed loop, 2 levels
                           c=1      100 requests
                           c=8      100 requests
            requests       200 requests
            """)
        .contains("time           depends on the server: 200 requests\n");
    assertThat(plan("requests=90 rate=2 arrival=constant"))
        .contains(
            """
            load           open loop, constant arrivals, 1 level
                           r=2      90 requests, about 45 s
            requests       90 requests
            """)
        .contains("time           45 s of measuring, at most 75 s in all\n");
  }

  @Test
  void showsSeveralTargets() {
    String two = "endpoint=http://a:8000/v1,http://b:8000/v1";
    assertThat(plan(two + " requests=100"))
        .startsWith("target         a:8000: http://a:8000/v1/chat/completions\nmodel ")
        .contains("target         b:8000: ", "order          one after the other\n")
        .contains("requests       100 requests, per target\n");
    assertThat(plan(two + " interleave=true"))
        .contains("time           30 s of measuring, at most 2 min in all\n");
    assertThat(plan(two)).contains("time           60 s of measuring, at most 4 min in all\n");
  }

  private static String plan(String settings) {
    return BenchmarkText.of(CheckedSettings.plan(settings));
  }
}
