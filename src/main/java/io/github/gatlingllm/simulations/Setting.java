package io.github.gatlingllm.simulations;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.figures.metric.Spelling;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Injector.StartTime;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.StopRule;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.record.TokenGaps.ReadingSpeed;
import io.github.gatlingllm.run.live.LiveView;
import io.github.gatlingllm.simulations.SettingEntry.Group;
import io.github.gatlingllm.storage.S3Location;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.Prompts.PromptPool;
import io.github.gatlingllm.workload.Tokenizer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The catalogue of the benchmark's settings: the only place that defines their names, forms,
 * defaults, meanings and contradictions. {@code maxTokens} is the system property {@code
 * llm.maxTokens}, and {@code LLM_MAX_TOKENS} in the environment and in {@code .env}.
 *
 * <p>A new setting is one entry here, and the line that reads it with {@link Settings#get}. {@code
 * docs/settings.md} and the output of {@code llm.help=true} are generated from the entries.
 */
final class Setting {

  /** All entries, in the order of this file. */
  private static final List<SettingEntry<?>> ENTRIES = new ArrayList<>();

  private static final Form<Optional<Api>> API_FORM =
      Form.choice(
          Stream.concat(Stream.of("auto"), Stream.of(Api.values()).map(Api::key)).toList(),
          Stream.concat(Stream.of(Optional.<Api>empty()), Stream.of(Api.values()).map(Optional::of))
              .toList());

  private static final Form<Double> POSITIVE =
      Form.decimal("number > 0", Double.MIN_VALUE, Double.MAX_VALUE);

  // ---- Target ----------------------------------------------------------------------------------

  static final SettingEntry<List<EndpointSpec.Named>> ENDPOINT =
      in(
              Group.TARGET,
              "endpoint",
              Form.list("URLs", EndpointSpec.Named::parse).map(EndpointSpec.Named::each),
              "http://localhost:8000/v1")
          .unset("the embedded engine", List.of())
          .means(
              "base URL (…/v1) or full path (…/v1/chat/completions) of the server; a list sets"
                  + " several targets, e.g. vllm=http://a:8000/v1,sglang=http://b:30000/v1",
              "The name before = is that of the target in all results; without it, the shortest of"
                  + " host and port, model and URL that tells them apart. Credentials in the URL"
                  + " are refused.");

  static final SettingEntry<List<String>> MODEL =
      in(Group.TARGET, "model", Form.texts("names"), "llama-8b")
          .unset("the server's only model", List.of())
          .means(
              "model to request; one for all endpoints, or one per endpoint; a|b requests"
                  + " both from one endpoint, each as a target of its own",
              "If it is not set and warmup is above 0, the server's only model (GET …/models)"
                  + " is requested; of several, the server decides.");

  static final SettingEntry<List<String>> API_KEY =
      in(Group.TARGET, "apiKey", Form.texts("keys"), "sk-…")
          .unset("none", List.of())
          .secret()
          .means(
              "sent as Authorization: Bearer; put it into .env or the environment; one for all"
                  + " endpoints, or one per endpoint",
              "Never printed or recorded.");

  static final SettingEntry<Optional<Api>> API =
      in(Group.TARGET, "api", API_FORM, "completions")
          .byDefault("auto")
          .means(
              "API of the target; auto: the API in the path of the endpoint, else chat",
              "responses: OpenAI's Responses API. messages: Anthropic's Messages API."
                  + " embeddings: nothing is streamed; maxTokens and the sampling settings have no"
                  + " effect. Refused if the endpoint is the full path of another API.");

  static final SettingEntry<Boolean> INTERLEAVE =
      flag(Group.TARGET, "interleave", false)
          .means(
              "loads several targets at the same time instead of one after the other",
              "Refused with several scenarios.");

  static final SettingEntry<List<Tokenizer>> TOKENIZER =
      in(
              Group.TARGET,
              "tokenizer",
              Form.texts("names").map(WorkloadReader::tokenizers),
              "tiktoken:o200k_base")
          .byDefault("auto")
          .withoutEndpoint("chars4")
          .means(
              "tokenizer that counts tokens: auto (tiktoken:cl100k_base), chars4,"
                  + " tiktoken:<encoding>, hf:<tokenizer.json>; one for all endpoints, or one per"
                  + " endpoint",
              "Encodings: r50k_base, p50k_base, p50k_edit, cl100k_base, o200k_base. hf: needs the"
                  + " optional dependency ai.djl.huggingface:tokenizers:0.38.0. The first tokenizer"
                  + " counts the lengths of prompts. chars4: a token per four characters.");

  // ---- Load ------------------------------------------------------------------------------------

  static final SettingEntry<List<Integer>> CONCURRENCY =
      in(Group.LOAD, "concurrency", Form.wholes(1), "1,2,4,8,16")
          .byDefault("8")
          .withoutEndpoint("1,2,4,8,16,32,64")
          .excludes("the load is either a closed or an open loop", "rate")
          .means(
              "closed loop: requests in flight; a completion starts the next; a list is a sweep");

  static final SettingEntry<List<LoadLevel.Open>> RATE =
      in(Group.LOAD, "rate", new Form<>("numbers > 0, curve", Load::rates), "2,4,8")
          .unset("none: closed loop", List.of())
          .excludesWhere(
              "a curve",
              Load::isCurve,
              "a curve has its own duration",
              "duration, measure, requests")
          .excludesWhere("a curve", Load::isCurve, "a search starts at one rate", "search")
          .means(
              "open loop: requests per second; a list is a sweep; <rate>:<duration>,… is a rate"
                  + " curve, steps:<rate>:<duration>,… a curve of steps",
              "0:60s,10:120s,50:60s is one load level, named curve: in each segment the rate"
                  + " changes linearly to that of the next; the last one keeps its rate. With"
                  + " steps: in front, every segment does.");

  static final SettingEntry<@Nullable Arrivals> ARRIVAL =
      in(
              Group.LOAD,
              "arrival",
              new Form<>("process, trace", Load::arrival, Load.ARRIVALS),
              "gamma:1.4")
          .orNull("poisson")
          .excludesWhere("a trace", Load::isTrace, "a trace has its own rate", "rate")
          .excludesWhere(
              "a trace",
              Load::isTrace,
              "the load is either a closed or an open loop",
              "concurrency")
          .excludesWhere(
              "a trace", Load::isTrace, "a trace has its own duration", "duration, measure")
          .excludesWhere(
              "a trace", Load::isTrace, "a trace has its own number of requests", "requests")
          .needsWhere(
              "not a trace",
              arrival -> !Load.isTrace(arrival),
              "only open loops have arrivals",
              "rate")
          .means(
              "arrival process of an open loop: poisson, constant, gamma:<cv>, or"
                  + " trace:<file>[@<speed>], which replays recorded traffic",
              "gamma:<cv>: gaps with that coefficient of variation, > 0 and ≤ 100. A trace is"
                  + " one load level, named trace; @2.0 replays it twice as fast.");

  static final SettingEntry<@Nullable Integer> TRIALS =
      in(Group.LOAD, "trials", Form.whole(1), "10")
          .orNull("none")
          .excludes(
              "trials are bounded by their count",
              "rate, search, requests, duration, measure, fill, stabilize, cooldown")
          .means(
              "batch mode: sends all requests of a level at once, waits for the slowest, and"
                  + " repeats that this many times",
              "The record key trial counts from 1. The last trial may take as long as drain.");

  static final SettingEntry<Boolean> SEARCH =
      in(Group.LOAD, "search", Form.word("maxGoodput"), "maxGoodput")
          .unset("none", false)
          .needs("has no SLO to hold", "slo")
          .excludes("it searches rates; start it with llm.rate", "concurrency")
          .excludes("its arrivals are Poisson", "arrival")
          .means(
              "searches for the highest rate of Poisson arrivals at which the SLO holds",
              "It starts at rate (1), doubles it until a level fails, bisects, and measures"
                  + " both ends again. duration is the time per level; a level whose result could"
                  + " be chance takes up to 8 times as long.");

  static final SettingEntry<Double> SEARCH_PRECISION =
      in(
              Group.LOAD,
              "searchPrecision",
              Form.decimal("number > 0, < 1", Double.MIN_VALUE, Math.nextDown(1.0)),
              "0.1")
          .byDefault("0.05")
          .needs("has no effect alone", "search")
          .means("largest error of the rate that the search finds, as a share of the true rate");

  static final SettingEntry<List<StopRule>> STOP_WHEN =
      in(Group.LOAD, "stopWhen", Form.list("rules", Form.silent(StopRule::parse)), "errors>10%")
          .byDefault("errorsInARow>100")
          .excludes("a search ends by itself", "search")
          .needsWhere(
              "slo<…",
              rules -> rules.stream().anyMatch(StopRule::needsSlo),
              "has no SLO to judge",
              "slo")
          .means(
              "ends a sweep after the first level that breaks a rule: slo<50%, errors>10%,"
                  + " errors>50, errorsInARow>100, overSaturated; never alone turns all rules off",
              "slo<50%: share of attempted requests that met the SLO. errors>10%: share of"
                  + " ended requests that failed. errors>50: failed requests of a level, in all"
                  + " phases; ends that level at once. errorsInARow>100: the same for failures"
                  + " without a success between them; applies beside the other rules and in"
                  + " searches, and makes the run invalid. overSaturated: under 90 % of the"
                  + " arrivals were served in the second half of measure of an open level. Status"
                  + " 429 is no failure.");

  // ---- Phases and bounds of each load level ----------------------------------------------------

  static final SettingEntry<Integer> WARMUP =
      in(Group.LEVEL, "warmup", Form.whole(0), "3")
          .byDefault("1")
          .means(
              "real requests before measuring, per run and target, in no figure and no record",
              "Each is the first request of the workload. If one fails, a line names cause"
                  + " and remedy, no load is sent, and the exit code is 1. 0 sends none.");

  static final SettingEntry<Boolean> JVM_WARM_UP =
      flag(Group.LEVEL, "jvmWarmUp", true)
          .means(
              "requests to an engine inside this JVM before the load, until the JIT compilers are"
                  + " idle: 1 to 6 s",
              "Without it the first requests are measured while classes are compiled.");

  static final SettingEntry<Optional<Duration>> FILL =
      in(Group.LEVEL, "fill", Form.automatic(), "5s")
          .byDefault("auto")
          .means(
              "time over which the users of a level start",
              "For closed loops only. auto: twice the median E2E of the level before, at the"
                  + " first level of its first answer; at most half the longest time of stabilize;"
                  + " 0 where requests bounds a level.");

  static final SettingEntry<Optional<Duration>> STABILIZE =
      in(Group.LEVEL, "stabilize", Form.automatic(), "20s")
          .byDefault("auto")
          .means(
              "time for the load to settle, after all users have started and before measuring",
              "auto: until each user, in an open loop one user, has had an answer and twice"
                  + " the median E2E has passed; an automatic fill and this phase together take at"
                  + " most duration, or 5 s if that is longer. 0 where requests bounds a level, and"
                  + " for curves and traces.");

  static final SettingEntry<Duration> DURATION =
      in(Group.LEVEL, "duration", Form.duration(false), "2m")
          .byDefault("30")
          .withoutEndpoint("7")
          .means("time measured at each load level");

  static final SettingEntry<@Nullable Duration> MEASURE =
      in(Group.LEVEL, "measure", Form.duration(false), "60")
          .orNull("the value of duration")
          .excludes("two names of the same setting", "duration")
          .means("the same as duration");

  static final SettingEntry<@Nullable Integer> REQUESTS =
      in(Group.LEVEL, "requests", Form.whole(1), "1000")
          .orNull("bounded by duration")
          .means(
              "bounds a level by its requests instead of time; with duration, by what comes first");

  static final SettingEntry<Boolean> COOLDOWN =
      flag(Group.LEVEL, "cooldown", true)
          .excludesWhere("true", on -> on, "exactly that many requests are sent", "requests")
          .means(
              "keeps the load on, in no figure, until all measured requests have ended",
              "At most for drain. Without it the last measured requests run on a server that"
                  + " empties, and look too good; false saves the tokens. Levels with requests or"
                  + " trials have none.");

  static final SettingEntry<Duration> DRAIN =
      in(Group.LEVEL, "drain", Form.duration(true), "1m")
          .byDefault("30")
          .means(
              "longest wait for requests in flight at the end of a level, which are then"
                  + " cancelled");

  // ---- Prompts ---------------------------------------------------------------------------------

  static final SettingEntry<@Nullable String> PROMPT =
      in(Group.PROMPTS, "prompt", Form.text(), "Why is the sky blue?")
          .orNull("built-in prompts")
          .excludes("prompts are either one text or a file", "prompts")
          .means("the same text in every request");

  static final SettingEntry<@Nullable PromptPool> PROMPTS =
      in(Group.PROMPTS, "prompts", new Form<>("file", WorkloadReader::promptFile), "prompts.jsonl")
          .orNull("none")
          .means("file of prompts: JSON array, JSONL, CSV, or a prompt per line");

  static final SettingEntry<@Nullable LengthDistribution> PROMPT_TOKENS =
      in(
              Group.PROMPTS,
              "promptTokens",
              new Form<>("number, range", LengthDistribution::parse),
              "256:96")
          .orNull(WorkloadReader.BUILT_IN_LENGTHS + " for built-in prompts, else unchanged")
          .means(
              "cuts or pads every prompt to exactly that many tokens; <mean>:<std>, <min>-<max>,"
                  + " lognormal:<mean>:<std> and weighted:128=70,4096=30 draw the length",
              "Counted by tokenizer, a prefix included. <mean>:<std> is a normal distribution"
                  + " cut off below 1, <min>-<max> a uniform one. At most 1,000 prompts are"
                  + " generated before the load, then they repeat. A prompt that cannot get its"
                  + " length gets the nearest one; config.promptsNotExact counts these.");

  static final SettingEntry<Integer> INPUTS_PER_REQUEST =
      in(Group.PROMPTS, "inputsPerRequest", Form.whole(1), "16")
          .byDefault("1")
          .means(
              "number of texts in a request for embeddings",
              "Each is a prompt of its own. Refused with the other APIs.");

  static final SettingEntry<WorkloadReader.@Nullable DatasetName> DATASET =
      in(
              Group.PROMPTS,
              "dataset",
              new Form<>("<format>:<file>", WorkloadReader.DatasetName::parse),
              "sharegpt:chats.json")
          .orNull("none")
          .excludes("each defines the prompts", "prompt, prompts, promptTokens")
          .means("recorded dialogs; formats: sharegpt, oasst, longbench, mooncake, openai");

  static final SettingEntry<List<WorkloadReader.Weighted>> SCENARIO =
      in(
              Group.PROMPTS,
              "scenario",
              Form.list("A1, A2, B1, B2, C, D", WorkloadReader.Weighted::alone)
                  .map(WorkloadReader.Weighted::each),
              "B1,C")
          .unset("none", List.of())
          .excludes("scenarios run either one after the other or mixed", "mix")
          .excludes("scenarios have their own prompts", "prompt, prompts, dataset")
          .excludes("scenarios have their own lengths", "promptTokens")
          .means(
              "known workloads, one after the other, each with the whole load",
              "D, a dialog, needs an API that takes messages.");

  static final SettingEntry<List<WorkloadReader.Weighted>> MIX =
      in(
              Group.PROMPTS,
              "mix",
              Form.list("weights > 0", WorkloadReader.Weighted::parse)
                  .map(WorkloadReader.Weighted::each),
              "C:70,B1:30")
          .unset("none", List.of())
          .excludes("scenarios have their own prompts", "prompt, prompts, dataset")
          .excludes("scenarios have their own lengths", "promptTokens")
          .means("known workloads mixed by weight, e.g. C:70,B1:30");

  static final SettingEntry<Integer> TURNS =
      in(Group.PROMPTS, "turns", Form.whole(1), "8")
          .byDefault("5")
          .means("turns of a dialog of scenario D", "The other scenarios have one.");

  static final SettingEntry<@Nullable Integer> CONTEXT_TOKENS =
      in(Group.PROMPTS, "contextTokens", Form.whole(1), "8192")
          .orNull("no limit")
          .means(
              "context length of the model: a dialog ends before a turn that would exceed it",
              "For scenario D, and for a dataset with turnByTurn.");

  static final SettingEntry<Boolean> TURN_BY_TURN =
      flag(Group.PROMPTS, "turnByTurn", false)
          .needs("replays recorded dialogs", "dataset")
          .means(
              "sends the user turns of a recorded dialog in turn, each with the answers before it",
              "Without it a dialog is one request. Needs an API that takes messages.");

  static final SettingEntry<WorkloadReader.ThinkTime> THINK_TIME =
      in(
              Group.PROMPTS,
              "thinkTime",
              new Form<>("duration, range", WorkloadReader.ThinkTime::parse),
              "1s-5s")
          .unset("none", WorkloadReader.ThinkTime.NONE)
          .means(
              "time from an answer to the next request of its user; in a range drawn uniformly",
              "Between the turns of dialogs, and in closed loops after each request: fewer"
                  + " requests are then in flight than concurrency says.");

  static final SettingEntry<WorkloadReader.@Nullable LengthPreset> LENGTHS =
      in(Group.PROMPTS, "lengths", WorkloadReader.LengthPreset.form(), "prefillHeavy")
          .orNull("none")
          .excludes("each sets the length of prompts", "promptTokens, scenario, mix, dataset")
          .means(
              "common lengths of prompts and answers: " + WorkloadReader.LengthPreset.inWords(),
              "maxTokens, if set, replaces the length of the answers.");

  static final SettingEntry<Boolean> UNIQUE_PROMPTS =
      flag(Group.PROMPTS, "uniquePrompts", true)
          .means(
              "begins every prompt with a seeded nonce, so that none is in a prefix cache",
              "By default left out where the workload defines what prompts share"
                  + " (sharedPrefix, scenario, mix, dataset), and where promptTokens is too small"
                  + " for it.");

  static final SettingEntry<@Nullable ShownImages> IMAGES =
      in(Group.PROMPTS, "images", new Form<>("<n>x<w>x<h>, file", ShownImages::parse), "1x512x512")
          .orNull("none")
          .excludes("each defines the prompts", "dataset, scenario, mix")
          .means(
              "images in every request: <n> generated ones of <w>x<h> pixels, or those of a file or"
                  + " folder",
              "Sent as data URLs in the last message; needs an API that takes messages. Of a"
                  + " folder (.png, .jpg, .gif, .webp) each request has the next image. Up to 32"
                  + " different images are generated, because servers cache processed ones.");

  static final SettingEntry<PromptPrefix.@Nullable Shared> SHARED_PREFIX =
      in(
              Group.PROMPTS,
              "sharedPrefix",
              new Form<>("<groups>x<tokens>", Form.silent(WorkloadReader::sharedPrefix)),
              "8x512")
          .orNull("none")
          .excludes("a nonce at the start leaves no prefix to share", "uniquePrompts")
          .means(
              "begins every prompt with one of <groups> seeded texts of <tokens> tokens",
              "Built-in prompts become longer by it; lengths that are set include it.");

  // ---- Requests --------------------------------------------------------------------------------

  static final SettingEntry<Boolean> STREAM =
      flag(Group.REQUESTS, "stream", true)
          .means("asks for a stream; without it TTFT, TPOT and ITL are absent");

  static final SettingEntry<Integer> MAX_TOKENS =
      in(Group.REQUESTS, "maxTokens", Form.whole(1), "256")
          .byDefault("128")
          .withoutEndpoint("16")
          .means("output length");

  static final SettingEntry<Boolean> IGNORE_EOS =
      flag(Group.REQUESTS, "ignoreEos", true)
          .means(
              "sends ignore_eos and min_tokens: every output has exactly maxTokens tokens",
              "By default not sent to a server that rejects them in the warm-up.");

  static final SettingEntry<@Nullable Double> TEMPERATURE =
      in(Group.REQUESTS, "temperature", Form.decimal("number ≥ 0", 0, Float.MAX_VALUE), "0.7")
          .orNull("the server's")
          .means("sampling temperature");

  static final SettingEntry<@Nullable Double> TOP_P =
      in(Group.REQUESTS, "topP", Form.decimal("number > 0, ≤ 1", Double.MIN_VALUE, 1), "0.95")
          .orNull("the server's")
          .means("nucleus sampling: share of the probability that tokens are sampled from");

  static final SettingEntry<ObjectNode> BODY =
      in(Group.REQUESTS, "body", new Form<>("JSON object", BenchmarkPlan::body), "{\"top_k\":40}")
          .unset("none", BenchmarkPlan.body("{}"))
          .means(
              "JSON object that is merged into every request",
              "Not model, stream, messages, prompt and max_tokens, which have settings.");

  static final SettingEntry<@Nullable String> HEADER =
      in(Group.REQUESTS, "header.<Name>", Form.text(), "acme")
          .orNull("none")
          .means(
              "extra header of every request",
              "header.X-Tenant is LLM_HEADER_X_TENANT in the environment and in .env. Never"
                  + " printed or recorded.");

  private static final List<String> SHARING = List.of("shared", "perUser");

  // ---- Connections and limits ------------------------------------------------------------------

  static final SettingEntry<Duration> TIMEOUT =
      in(Group.CONNECTIONS, "timeout", Form.duration(false), "2m")
          .byDefault("600")
          .means("longest time of a whole request");

  static final SettingEntry<Duration> IDLE_TIMEOUT =
      in(Group.CONNECTIONS, "idleTimeout", Form.duration(false), "30s")
          .byDefault("120")
          .means("longest time without a byte of a stream, before its first byte too");

  static final SettingEntry<@Nullable Integer> MAX_IN_FLIGHT =
      in(Group.CONNECTIONS, "maxInFlight", Form.whole(1), "64")
          .orNull("no limit")
          .means(
              "most requests in flight per target; others wait in order",
              "The wait is queue wait, and only in latencies from the planned arrival.");

  static final SettingEntry<@Nullable Integer> MAX_REQUESTS_PER_MINUTE =
      in(Group.CONNECTIONS, "maxRequestsPerMinute", Form.whole(1), "500")
          .orNull("no limit")
          .means(
              "most requests in any 60 s per target and load generator; others wait in order",
              "The wait is queue wait, and only in latencies from the planned arrival;"
                  + " console and report say how many requests waited, and for how long.");

  static final SettingEntry<@Nullable Integer> MAX_TOKENS_PER_MINUTE =
      in(Group.CONNECTIONS, "maxTokensPerMinute", Form.whole(1), "150000")
          .orNull("no limit")
          .means(
              "the same for tokens: those of the prompt, four characters each, and maxTokens of the"
                  + " answer, until the server's usage says how many they were",
              "A larger request is sent when no other one is in the window.");

  static final SettingEntry<String> CONNECTIONS =
      in(Group.CONNECTIONS, "connections", Form.choice(SHARING, SHARING), "perUser")
          .byDefault("shared")
          .means("who can reuse a kept-alive connection: any user, or only the user who opened it");

  static final SettingEntry<Boolean> HTTP2 =
      flag(Group.CONNECTIONS, "http2", false)
          .means(
              "HTTP/2 if the server agrees to it (ALPN), which is possible over https only",
              "One connection per event loop; with connections=perUser one per user.");

  static final SettingEntry<Boolean> VERIFY_TLS =
      flag(Group.CONNECTIONS, "verifyTls", true)
          .means(
              "refuses certificates that are not trusted or are of another host, and TLS below 1.2",
              "Trusted authorities: Gatling's ssl.trustStore, else those of the JVM.");

  // ---- Objectives and build gates --------------------------------------------------------------

  static final SettingEntry<NamedSlos> SLO =
      in(Group.GOALS, "slo", new Form<>("limits", NamedSlos::parse), "ttft<200ms,tpot<50ms")
          .unset("none", NamedSlos.NONE)
          .means(
              "objectives of every request, e.g. ttft<200ms,tpot<50ms,e2e<10s, or a preset",
              "ttft, ttfo and e2e count from the planned arrival. C:ttft<1s applies to requests of"
                  + " that name (chat, completion or the scenario), vLLM:ttft<1s to requests to"
                  + " that target; both replace the objectives without a name. Presets are the"
                  + " limits of MLPerf Inference's interactive scenarios (inference_rules.adoc of"
                  + " July 2026): "
                  + Slo.presets()
                  + ".");

  static final SettingEntry<Double> SLO_PERCENTILE =
      in(
              Group.GOALS,
              "sloPercentile",
              Form.decimal("percentage ≤ 100", Double.MIN_VALUE, 100),
              "95")
          .byDefault("99")
          .needs("has no effect alone", "slo")
          .means(
              "share of attempted requests, failed ones included, that must meet the SLO (see"
                  + " sloRule) for a load level to hold it");

  static final SettingEntry<Slo.Rule> SLO_RULE =
      in(Group.GOALS, "sloRule", Form.choice(Slo.Rule.class), "requests")
          .byDefault("percentiles")
          .needs("has no effect alone", "slo")
          .means(
              "percentiles: each objective by itself is met by that share; requests: all at once"
                  + " are",
              "Goodput counts requests that met all objectives at once, by either rule.");

  static final SettingEntry<List<Assertion>> ASSERT =
      in(
              Group.GOALS,
              "assert",
              Form.list("assertions", AssertionText::parse),
              "ttft.p99<200ms,errors<1%")
          .unset("none", List.of())
          .needsWhere(
              "goodput",
              assertions -> assertions.stream().anyMatch(Assertion::needsSlo),
              "has no SLO to judge",
              "slo")
          .means(
              "build gates, e.g. ttft.p99<200ms,goodput>=95%,errors<1%,c=8:tpot.mean<40ms,valid",
              "c=8: selects a load level, chat: (completion: or a scenario) a request name,"
                  + " vLLM: a target, vLLM:c=8: a load level of a target. Names, units and"
                  + " conditions are in commands.md. Times count from admission;"
                  + " ttft_from_schedule, ttfo_from_schedule and e2e_from_schedule count from the"
                  + " planned arrival, as those of slo do.");

  static final SettingEntry<Boolean> FAIL_BUILD =
      flag(Group.GOALS, "failBuild", true)
          .means("whether a missed assertion, or an invalid run (failOnInvalid), fails the build");

  static final SettingEntry<Boolean> FAIL_ON_INVALID =
      flag(Group.GOALS, "failOnInvalid", true)
          .withoutEndpoint("false")
          .means(
              "whether a run that a check calls invalid fails the build, with exit code 2",
              "A line names the check and the remedy. Also for your own simulations (system"
                  + " property, environment).");

  // ---- Records and reports ---------------------------------------------------------------------

  static final SettingEntry<Boolean> RECORD_TEXT =
      flag(Group.OUTPUT, "recordText", false).means("keeps prompts and answers in the records");

  static final SettingEntry<Boolean> RECORD_TOKENS =
      flag(Group.OUTPUT, "recordTokens", true)
          .means("keeps the time of every event; without it figures of windows are interpolated");

  static final SettingEntry<Boolean> CSV =
      flag(Group.OUTPUT, "csv", false).means("writes requests.csv");

  static final SettingEntry<Boolean> INDEX_BLOCK =
      flag(Group.OUTPUT, "indexBlock", true)
          .means("adds a block with our figures to Gatling's own pages");

  static final SettingEntry<List<EndpointSpec.Named>> METRICS_URL =
      in(
              Group.OUTPUT,
              "metricsUrl",
              Form.list("auto, none, URLs", EndpointSpec.Named::parse)
                  .map(EndpointSpec.Named::metricsPages),
              "auto,http://localhost:9400/metrics")
          .byDefault("auto")
          .means(
              "metrics pages (Prometheus text) of server, GPUs and host, read once a second; auto:"
                  + " <host>/metrics of each target, if that is a page of an engine; none",
              "vLLM=http://a:8000/metrics belongs to the target of that name; a page without"
                  + " a name to the only target, or to all. auto asks once, before the load. The"
                  + " API key is sent only to pages with scheme, host and port of a target."
                  + " Supported: vLLM, SGLang, TGI, llama.cpp (--metrics), TensorRT-LLM"
                  + " (/prometheus/metrics), Triton (port 8002), Dynamo, llm-d, dcgm-exporter,"
                  + " node_exporter.");

  static final SettingEntry<LiveView.@Nullable Address> LIVE =
      in(
              Group.OUTPUT,
              "live",
              new Form<>(
                  "<port>, <address>:<port>", LiveView.Address::parse, LiveView.Address.FORMS),
              "8088")
          .orNull("none")
          .means(
              "port of a page on 127.0.0.1 that shows the run while it is on; 0: any free one",
              "0.0.0.0:8088 shows it to other machines too; it has no password. Prometheus scrapes"
                  + " /metrics of the same port, if micrometer-registry-prometheus is on the class"
                  + " path. Also for your own simulations (system property, environment).");

  static final SettingEntry<@Nullable String> OTLP =
      in(Group.OUTPUT, "otlp", Form.text(), "http://localhost:4318/v1/metrics")
          .orNull("none")
          .means(
              "URL that meters are sent to every 10 s, by OTLP over HTTP",
              "Needs micrometer-registry-otlp on the class path. Names are OpenTelemetry's"
                  + " for generative AI. Also for your own simulations (system property,"
                  + " environment).");

  static final SettingEntry<@Nullable S3Location> UPLOAD =
      in(
              Group.OUTPUT,
              "upload",
              new Form<>("s3://bucket/prefix", Form.silent(S3Location::parse)),
              "s3://load-tests/2026-11-22")
          .orNull("none")
          .means(
              "S3-compatible object storage that the run is uploaded to when it has ended or was"
                  + " interrupted, as <prefix>/<run>-<injector>/",
              "Uploads llm/ and llm.html; run.json last, so that a folder with it is"
                  + " complete. Credentials, region and endpoint (AWS_ENDPOINT_URL) as for the AWS"
                  + " SDK; needs software.amazon.awssdk:s3-transfer-manager on the class path. A"
                  + " location that cannot be reached is refused before the load. If the upload"
                  + " fails, the exit code is 1. Also for your own simulations (system property,"
                  + " environment).");

  static final SettingEntry<@Nullable Double> GPUS =
      in(Group.OUTPUT, "gpus", POSITIVE, "2")
          .orNull("none")
          .means("GPUs that serve each target: adds output tok/s per GPU, and its chart");

  static final SettingEntry<Double> READING_SPEED =
      in(
              Group.OUTPUT,
              "readingSpeed",
              new Form<>("tokens/s, <n>wpm", ReadingSpeed::parse),
              "250wpm")
          .byDefault("5")
          .means(
              "how fast answers are read: the report says how long readers wait for late tokens",
              "Words per minute ÷ 45 are tokens per second: 250wpm is 5.56.");

  static final SettingEntry<@Nullable Double> COST_PER_HOUR =
      in(Group.OUTPUT, "costPerHour", POSITIVE, "3.60")
          .orNull("none")
          .means(
              "price of one GPU per hour, in any currency: adds the cost per million output tokens,"
                  + " and per million tokens within the SLO",
              "Without gpus it is the price of the whole server of each target.");

  // ---- Run -------------------------------------------------------------------------------------

  static final SettingEntry<@Nullable Long> SEED =
      in(Group.RUN, "seed", new Form<>("whole number", Long::valueOf), "42")
          .orNull("random")
          .means(
              "pins prompts and arrivals; always printed and recorded",
              "Also for your own simulations (system property, environment): it pins"
                  + " everything that has no seed of its own.");

  static final SettingEntry<@Nullable InjectorShare> INJECTOR =
      in(Group.RUN, "injector", new Form<>("<i>/<n>", Form.silent(InjectorShare::parse)), "2/4")
          .orNull("1/1, or JOB_COMPLETION_INDEX and INJECTORS")
          .excludes("a self-test runs in one process", "selfTest")
          .means(
              "this load generator is the i-th of n that share the load; merge merges their runs",
              "All need the same settings, startAt included, except this one. In a pod of an"
                  + " Indexed Job of Kubernetes the default is JOB_COMPLETION_INDEX + 1 of"
                  + " INJECTORS. Also for your own simulations (system property, environment). See"
                  + " injectors.md.");

  static final SettingEntry<@Nullable StartTime> START_AT =
      in(
              Group.RUN,
              "startAt",
              new Form<>("time", Form.silent(StartTime::parse), StartTime.EXPECTED),
              "2027-03-01T09:30:00Z")
          .orNull("as soon as it is ready")
          .means(
              "time at which the load starts, after the warm-up: " + StartTime.EXPECTED,
              "A load generator that is not ready by then sends nothing and ends with exit"
                  + " code 1. Also for your own simulations (system property, environment).");

  static final SettingEntry<Boolean> SELF_TEST =
      flag(Group.RUN, "selfTest", false)
          .means(
              "measures the timing error of this tool on this machine, in about a minute; reports"
                  + " of later runs quote it",
              "Streams from the embedded engine, in a process of its own, at rising"
                  + " concurrency until the load is clearly too high. Settings for target, prompts"
                  + " and phases are refused as system properties, and ignored in the environment"
                  + " and in .env.");

  static final SettingEntry<@Nullable String> SELF_TEST_FILE =
      in(Group.RUN, "selfTestFile", Form.text(), "self-test.json")
          .orNull("~/.gatling-llm/self-test.json")
          .means(
              "file that selfTest writes its result to, and that later runs read",
              "Also for your own simulations (system property, environment).");

  static final SettingEntry<Boolean> DRY_RUN =
      flag(Group.RUN, "dryRun", false)
          .means(
              "prints the plan and sends nothing",
              "Also for your own simulations (system property, environment).");

  static final SettingEntry<Boolean> HELP =
      flag(Group.RUN, "help", false).means("prints these settings and sends nothing");

  private Setting() {}

  private static SettingEntry<Boolean> flag(Group group, String name, boolean byDefault) {
    return in(group, name, Form.flag(), Boolean.toString(!byDefault))
        .byDefault(Boolean.toString(byDefault));
  }

  private static <T> SettingEntry<T> in(Group group, String name, Form<T> form, String example) {
    SettingEntry<T> entry = new SettingEntry<>(group, name, form, example);
    ENTRIES.add(entry);
    return entry;
  }

  /** All settings, in the order of the catalogue. */
  static List<SettingEntry<?>> all() {
    return Collections.unmodifiableList(ENTRIES);
  }

  /** The setting of that name, without {@code llm.}; null if there is none. */
  static @Nullable SettingEntry<?> named(String name) {
    return ENTRIES.stream().filter(s -> s.name.equals(name)).findFirst().orElse(null);
  }

  /** The setting with that environment variable; null if there is none. */
  static @Nullable SettingEntry<?> ofVariable(String variable) {
    return ENTRIES.stream().filter(s -> s.variable().equals(variable)).findFirst().orElse(null);
  }

  /** The setting whose name is spelled most like this one. */
  static SettingEntry<?> nearest(String name) {
    List<String> names = ENTRIES.stream().map(entry -> entry.name).toList();
    return ENTRIES.get(names.indexOf(Spelling.nearest(name, names, 1).get(0)));
  }
}
