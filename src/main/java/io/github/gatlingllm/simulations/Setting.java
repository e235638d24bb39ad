package io.github.gatlingllm.simulations;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.action.Dynamic.Draft;
import io.github.gatlingllm.action.LlmRequest.Abandonment;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Injector.StartTime;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.load.StopRule;
import io.github.gatlingllm.load.StopRule.Repeats;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.ProcessSetting.Proxy;
import io.github.gatlingllm.record.ProcessSetting.Spelling;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.run.Observers;
import io.github.gatlingllm.run.Observers.LevelHooks.Hook;
import io.github.gatlingllm.storage.S3Location;
import io.github.gatlingllm.workload.Dataset;
import io.github.gatlingllm.workload.Dataset.SessionFile;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.Prompts.PromptPool;
import io.github.gatlingllm.workload.Tokenizer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The catalogue of the benchmark's settings, of which the help text and {@code docs/settings.md},
 * except its details, are generated. A new setting is one entry here, and the line that reads it
 * with {@link Settings#get}.
 */
final class Setting {

  private static final List<String> EVENT_TOKEN_COUNTS = List.of("auto", "server", "none");

  private static final List<SettingEntry<?>> ENTRIES = new ArrayList<>();

  private static final Form<Optional<Api>> API_FORM =
      Form.choice(
          Stream.concat(Stream.of("auto"), Api.ALL.stream().map(Api::key)).toList(),
          Stream.concat(Stream.of(Optional.<Api>empty()), Api.ALL.stream().map(Optional::of))
              .toList());

  private static final Form<Double> POSITIVE =
      Form.decimal("number > 0", Double.MIN_VALUE, Double.MAX_VALUE);

  static final SettingEntry<List<Target.NamedUrl>> ENDPOINT =
      of(
              "endpoint",
              "http://localhost:8000/v1",
              Form.list("URLs", Target.NamedUrl::parse).map(Target.NamedUrl::each))
          .heads("Target")
          .unset("the embedded engine", List.of())
          .means(
              "base URL (…/v1) of the server, or its full path; a full path such as"
                  + " …/v1/chat/completions names the API too; a list sets several targets, e.g."
                  + " vllm=http://a:8000/v1,sglang=http://b:30000/v1; http://a/v1+http://b/v1 is"
                  + " one target of several replicas");

  static final SettingEntry<Target.Models> MODEL =
      of("model", "llama-8b", Form.texts("names").map(Target.Models::of))
          .unset("the server's only model", Target.Models.NONE)
          .means(
              "model to request; one for all endpoints, or one per endpoint; a|b requests"
                  + " both from one endpoint, each as a separate target; base=50,lora=30 spreads"
                  + " the requests over models by weight");

  static final SettingEntry<List<String>> API_KEY =
      of("apiKey", "sk-…", Form.texts("keys"))
          .unset("none", List.of())
          .secret()
          .means(
              "sent as Authorization: Bearer; put it into .env or the environment; one for all"
                  + " endpoints, or one per endpoint");

  static final SettingEntry<Optional<Api>> API =
      of("api", "auto", "completions", API_FORM)
          .means("API of the target; auto: the API in the path of the endpoint, else chat");

  static final SettingEntry<Boolean> INTERLEAVE =
      flag("interleave", false)
          .means("loads several targets at the same time instead of one after the other");

  static final SettingEntry<List<Tokenizer>> TOKENIZER =
      of(
              "tokenizer",
              "auto",
              "tiktoken:o200k_base",
              Form.texts("names").map(WorkloadReader::tokenizers))
          .withoutEndpoint("chars4")
          .means(
              "tokenizer that counts tokens; auto: the server's, the model's"
                  + " tokenizer.json, that of an OpenAI model by its name, else"
                  + " tiktoken:cl100k_base as an estimate; other values are server, chars4,"
                  + " tiktoken:<encoding>, hf:<tokenizer.json, folder, or owner/name>; one for"
                  + " all endpoints, or one per endpoint");

  static final SettingEntry<String> PROMPT_TOKENS_OF =
      of(
              "promptTokensOf",
              "text",
              "request",
              Form.choice(List.of("text", "request"), List.of("text", "request")))
          .means(
              "what promptTokens counts; text: that of the user; request: all that the"
                  + " server counts, chat template included");

  static final SettingEntry<List<Integer>> CONCURRENCY =
      of("concurrency", "8", "1,2,4,8,16", Form.wholes(1))
          .heads("Load")
          .withoutEndpoint("1,4,16,64")
          .excludes("the load is either a closed or an open loop", "rate")
          .means(
              "closed loop: requests in flight; a completion starts the next; a list is a sweep");

  static final SettingEntry<List<LoadLevel.Open>> RATE =
      of("rate", "2,4,8", "numbers > 0, curve", Load::rates)
          .unset("none: closed loop", List.of())
          .excludesWhere(
              "a curve", Load::isCurve, "a curve has its own duration", "duration, requests")
          .excludesWhere("a curve", Load::isCurve, "a search starts at one rate", "search")
          .excludesWhere("a curve", Load::isCurve, "a curve has no load levels", "repeats")
          .means(
              "open loop: requests per second; a list is a sweep; <rate>:<duration>,… is a rate"
                  + " curve, steps:<rate>:<duration>,… a curve of steps");

  static final SettingEntry<@Nullable Arrivals> ARRIVAL =
      of("arrival", "gamma:1.4", "process, trace", Load::arrival)
          .orNull("poisson")
          .excludesWhere(
              "a trace",
              Load::isTrace,
              "a trace is the whole load",
              "rate, concurrency, duration, requests")
          .needsWhere(
              "not a trace",
              arrival -> !Load.isTrace(arrival),
              "only open loops have arrivals",
              "rate")
          .means(
              "arrival process of an open loop; one of poisson, constant, gamma:<cv>, or"
                  + " trace:<file>[@1s|@1ms][@<speed>], which replays recorded traffic");

  static final SettingEntry<@Nullable Integer> TRIALS =
      of("trials", "10", Form.whole(1))
          .excludes(
              "trials are bounded by their count",
              "rate, search, requests, duration, fill, stabilize, cooldown")
          .means(
              "batch mode; sends all requests of a level together, waits for the slowest,"
                  + " and repeats that this many times");

  static final SettingEntry<Repeats> REPEATS =
      of("repeats", "auto:3%", "number, auto:<percent>%", Repeats::parse)
          .unset("1", Repeats.ONCE)
          .excludes("trials are repeats already", "trials")
          .excludes("a search chooses its levels by their results", "search")
          .means(
              "measures every load level so often, in random order;"
                  + " auto:<percent>%[:<figure>] repeats until the 95 % interval of the figure,"
                  + " by default the throughput, is that narrow at every level");

  static final SettingEntry<Boolean> SEARCH =
      of("search", "maxGoodput", Form.choice(List.of("maxGoodput"), List.of(true)))
          .unset("none", false)
          .needs("has no SLO to hold", "slo")
          .excludes("it searches rates; start it with llm.rate", "concurrency")
          .excludes("its arrivals are Poisson", "arrival")
          .means("searches for the highest Poisson rate at which the SLO holds");

  static final SettingEntry<Double> SEARCH_PRECISION =
      of(
              "searchPrecision",
              "0.05",
              "0.1",
              Form.decimal("number > 0, < 1", Double.MIN_VALUE, Math.nextDown(1.0)))
          .needs("has no effect alone", "search")
          .means("largest error of the found rate, as a share of the true rate");

  static final SettingEntry<List<StopRule>> STOP_WHEN =
      of("stopWhen", "errorsInARow>100", "errors>10%", Form.list("rules", StopRule::parse))
          .excludes("a search ends by itself", "search")
          .needsWhere(
              "slo<…",
              rules -> rules.stream().anyMatch(StopRule::needsSlo),
              "has no SLO to judge",
              "slo")
          .means(
              "ends a sweep after the first level that breaks a rule; one of slo<50%,"
                  + " errors>10%, errors>50, errorsInARow>100, overSaturated; never alone turns"
                  + " all rules off");

  static final SettingEntry<Integer> WARMUP =
      of("warmup", "1", "3", Form.whole(0))
          .heads("Phases and bounds of each load level")
          .means(
              "real requests before measuring, per run and target; they are in no record"
                  + " and no figure but one: the last is the single-stream peak; where prompts"
                  + " have one length and the server does not say what its chat template adds, a"
                  + " short one more is sent");

  static final SettingEntry<@Nullable Duration> WAIT_READY =
      of("waitReady", "5m", Form.duration(false))
          .orNull("no wait")
          .means(
              "longest wait for a server that still starts; waits for its pages /health"
                  + " and /models, then for the first request");

  static final SettingEntry<List<Hook>> BEFORE_LEVEL =
      of("beforeLevel", "POST:/reset_prefix_cache", Form.list("<method>:<path>", Hook::parse))
          .unset("none", List.of())
          .means(
              "requests to the server before each level; sent in order, when the level"
                  + " before has drained");

  static final SettingEntry<Boolean> JVM_WARM_UP =
      flag("jvmWarmUp", true)
          .means(
              "requests to an engine inside this JVM before the load; they end when the"
                  + " JIT compilers have nothing left to do, after 10 s at most");

  static final SettingEntry<Optional<Duration>> FILL =
      of("fill", "auto", "5s", Form.automatic())
          .means("time over which the users of a level start");

  static final SettingEntry<Optional<Duration>> STABILIZE =
      of("stabilize", "auto", "20s", Form.automatic())
          .means("time for the load to settle, after all users have started");

  static final SettingEntry<Duration> DURATION =
      of("duration", "30", "2m", Form.duration(false))
          .withoutEndpoint("12")
          .means("time measured at each load level");

  static final SettingEntry<@Nullable Integer> REQUESTS =
      of("requests", "1000", Form.whole(1))
          .orNull("bounded by duration")
          .means(
              "bounds a level by its requests instead of time; with duration too, what"
                  + " comes first ends the level");

  static final SettingEntry<Boolean> COOLDOWN =
      flag("cooldown", true)
          .excludesWhere("true", on -> on, "exactly that many requests are sent", "requests")
          .means("keeps the load on, in no figure, until all measured requests have ended");

  static final SettingEntry<Duration> DRAIN =
      of("drain", "30", "1m", Form.duration(true))
          .means(
              "longest wait for requests in flight at the end of a level, which are then"
                  + " cancelled");

  static final SettingEntry<@Nullable String> PROMPT =
      of("prompt", "Why is the sky blue?", Form.text())
          .heads("Prompts")
          .orNull("built-in prompts")
          .excludes("prompts are either one text or a file", "prompts")
          .means("the same text in every request");

  static final SettingEntry<@Nullable PromptPool> PROMPTS =
      of("prompts", "prompts.jsonl", "file", PromptPool::read)
          .means(
              "file of prompts: JSON array, JSONL, CSV, or a prompt per line; output_tokens of an"
                  + " object is the length of its answer");

  static final SettingEntry<List<Grid.Length>> PROMPT_TOKENS =
      of("promptTokens", "256:96", "numbers, ranges", Grid.Length::each)
          .unset(
              WorkloadReader.BUILT_IN_LENGTHS + " for built-in prompts, else unchanged", List.of())
          .excludesWhere("a list", Grid::isSide, "each pair of lengths has a sweep", "search")
          .means(
              "cuts or pads every prompt to exactly that many tokens; <mean>:<std>, <min>-<max>,"
                  + " lognormal:<mean>:<std> and weighted:128=70,4096=30 draw the length; a list"
                  + " makes a grid with maxTokens: each pair has the whole load");

  static final SettingEntry<Integer> INPUTS_PER_REQUEST =
      of("inputsPerRequest", "1", "16", Form.whole(1))
          .means("number of texts to embed, or of documents to rerank, in a request");

  static final SettingEntry<@Nullable Function<Tokenizer, Dataset>> DATASET =
      of(
              "dataset",
              "sharegpt:chats.json",
              "<sharegpt|oasst|longbench|mooncake|openai>:<file>",
              WorkloadReader::dataset)
          .excludes("each defines the prompts", "prompt, prompts, promptTokens")
          .means(
              "recorded dialogs in one of these formats; <file> is also https://… or"
                  + " hf:<owner>/<name>[@<revision>]/<file>, with #sha256=<digits> if pinned");

  static final SettingEntry<@Nullable Function<Tokenizer, SessionFile>> SESSIONS =
      Setting.<Function<Tokenizer, SessionFile>>of(
              "sessions",
              "agents.jsonl",
              "file",
              file -> tokenizer -> SessionFile.open(file, tokenizer))
          .orNull("none")
          .excludes(
              "sessions have their own prompts and gaps",
              "prompt, prompts, promptTokens, dataset, scenario, mix, lengths, images, thinkTime")
          .means(
              "recorded sessions of agents with tool gaps and sub-agents, one per user;"
                  + " the file has a request per line, Mooncake's too, or OpenTelemetry's spans"
                  + " (OTLP/JSON); llm.rate is sessions per second");

  static final SettingEntry<@Nullable Function<Tokenizer, Dataset>> B2_DATASET =
      of("dataset.B2", "longbench:hf:THUDM/LongBench-v2/data.json", DATASET.form)
          .means("texts of scenario B2, each cut to its length");

  static final SettingEntry<@Nullable Function<Tokenizer, Dataset>> D_DATASET =
      of("dataset.D", "oasst:chats.jsonl.gz", DATASET.form)
          .means("dialogs of scenario D, each to its end or <turns>");

  static final SettingEntry<@Nullable String> DATASET_CACHE =
      of("datasetCache", "/data/datasets", Form.text())
          .orNull("~/.gatling-llm/datasets")
          .means("folder of downloaded files, each downloaded once");

  static final SettingEntry<List<WorkloadReader.Weighted>> SCENARIO =
      of(
              "scenario",
              "B1,C",
              Form.list("A1, A2, B1, B2, C, D", WorkloadReader.Weighted::alone)
                  .map(WorkloadReader.Weighted::each))
          .unset("none", List.of())
          .excludes("scenarios run either one after the other or mixed", "mix")
          .excludes("scenarios have their own prompts", "prompt, prompts, dataset, promptTokens")
          .means("known workloads, one after the other, each with the whole load");

  static final SettingEntry<List<WorkloadReader.Weighted>> MIX =
      of(
              "mix",
              "C:70,B1:30",
              Form.list("<scenario>:<weight > 0>", WorkloadReader.Weighted::parse)
                  .map(WorkloadReader.Weighted::each))
          .unset("none", List.of())
          .excludes("scenarios have their own prompts", "prompt, prompts, dataset, promptTokens")
          .means("known workloads mixed by weight, e.g. C:70,B1:30");

  static final SettingEntry<Integer> TURNS =
      of("turns", "5", "8", Form.whole(1)).means("turns of a dialog of scenario D");

  static final SettingEntry<@Nullable Integer> CONTEXT_TOKENS =
      of("contextTokens", "8192", Form.whole(1))
          .orNull("no limit")
          .means(
              "context length of the model; a dialog ends before a turn that would exceed" + " it");

  static final SettingEntry<Boolean> TURN_BY_TURN =
      flag("turnByTurn", false)
          .needs("replays recorded dialogs", "dataset")
          .means(
              "sends the user turns of a recorded dialog in turn; each has the answers"
                  + " before it");

  static final SettingEntry<WorkloadReader.ThinkTime> THINK_TIME =
      of("thinkTime", "1s-5s", "duration, range", WorkloadReader.ThinkTime::parse)
          .unset("none", WorkloadReader.ThinkTime.NONE)
          .means(
              "time from an answer to the next request of its user; a range is drawn from"
                  + " uniformly");

  static final SettingEntry<LengthDistribution.@Nullable Pairs> LENGTHS =
      of(
              "lengths",
              "256|32,128|16:60;4096,512:40",
              "pairs, prefillHeavy, balanced, decodeHeavy",
              WorkloadReader::lengths)
          .excludes("each sets the length of prompts", "promptTokens, scenario, mix, dataset")
          .means(
              "lengths of prompts and answers that belong together; drawn by weight from"
                  + " <mean>|<std>,<mean>|<std>:<weight>;…; or one of prefillHeavy (8192 in, 1024"
                  + " out), balanced (1024 in, 1024 out), decodeHeavy (1024 in, 8192 out)");

  static final SettingEntry<Boolean> UNIQUE_PROMPTS =
      flag("uniquePrompts", true)
          .means("begins every prompt with a seeded nonce; so none is in a prefix cache");

  static final SettingEntry<@Nullable Long> NONCE =
      of("nonce", "run", "seed", new Form<>("run, seed, whole number", Seed::nonce))
          .means(
              "what nonces depend on besides the seed; run: the run, so that the prompts"
                  + " of an earlier run are in no prefix cache; seed: nothing, so that equal"
                  + " seeds send equal bytes; the nonceOfRun in the run.json of a run sends its"
                  + " bytes again");

  static final SettingEntry<@Nullable ShownImages> IMAGES =
      of("images", "1x512x512", "<n>x<w>x<h>, file", ShownImages::parse)
          .excludes("each defines the prompts", "dataset, scenario, mix")
          .means(
              "images in every request; <n> generated ones of <w>x<h> pixels, or those of"
                  + " a file or folder");

  static final SettingEntry<PromptPrefix.@Nullable Shared> SHARED_PREFIX =
      of("sharedPrefix", "8x512", "<groups>x<tokens>", WorkloadReader::sharedPrefix)
          .excludes("a nonce at the start leaves no prefix to share", "uniquePrompts")
          .means("begins every prompt with one of <groups> texts; each has <tokens> tokens");

  static final SettingEntry<Boolean> STREAM =
      flag("stream", true)
          .heads("Requests")
          .means("asks for a stream; without it TTFT, TPOT and ITL are absent");

  static final SettingEntry<List<Grid.Length>> MAX_TOKENS =
      of("maxTokens", "128:32", "numbers, ranges", Grid.Length::each)
          .byDefault("lognormal:128:64")
          .withoutEndpoint("lognormal:16:8")
          .needsWhere("a list", Grid::isSide, "a grid has lengths of prompts", "promptTokens")
          .excludesWhere("a list", Grid::isSide, "each pair of lengths has a sweep", "search")
          .means(
              "output length in each of the forms of promptTokens; it is drawn for each"
                  + " request; a list makes a grid with promptTokens");

  static final SettingEntry<String> MAX_TOKENS_FIELD =
      of(
              "maxTokensField",
              "auto",
              "max_completion_tokens",
              Form.choice(Api.MAX_TOKENS_FIELDS, Api.MAX_TOKENS_FIELDS))
          .means(
              "field of chat completions that has maxTokens; auto: max_tokens until the"
                  + " server rejects it in the first request; none: no limit is sent");

  static final SettingEntry<Boolean> INCLUDE_USAGE =
      flag("includeUsage", true)
          .means("asks for the server's count of tokens: stream_options.include_usage");

  static final SettingEntry<String> EVENT_TOKENS =
      of("eventTokens", "auto", "server", Form.choice(EVENT_TOKEN_COUNTS, EVENT_TOKEN_COUNTS))
          .means(
              "who counts the tokens of each event of a stream; server: it is asked to"
                  + " (stream_options.continuous_usage_stats); auto: vLLM and SGLang are asked,"
                  + " as /v1/models or their metrics name them; none: they are estimated");

  static final SettingEntry<Boolean> IGNORE_EOS =
      flag("ignoreEos", true)
          .means(
              "sends ignore_eos and min_tokens; every output has exactly its length of"
                  + " maxTokens");

  static final SettingEntry<@Nullable Double> TEMPERATURE =
      of("temperature", "0.7", Form.decimal("number ≥ 0", 0, Float.MAX_VALUE))
          .orNull("the server's")
          .means("sampling temperature");

  static final SettingEntry<@Nullable Double> TOP_P =
      of("topP", "0.95", Form.decimal("number > 0, ≤ 1", Double.MIN_VALUE, 1))
          .orNull("the server's")
          .means("nucleus sampling; share of the probability that tokens are sampled from");

  static final SettingEntry<ObjectNode> BODY =
      of("body", "{\"top_k\":40}", "JSON object", WorkloadReader::body)
          .unset("none", WorkloadReader.body("{}"))
          .means("JSON object that is merged into every request");

  static final SettingEntry<@Nullable String> HEADER =
      of("header.<Name>", "acme", Form.text()).means("extra header of every request");

  static final SettingEntry<@Nullable String> CONVERSATION_HEADER =
      of(
              "conversationHeader",
              "x-session-id",
              "header name",
              name -> Form.require(name, Draft::isHeaderName))
          .orNull("none")
          .means(
              "header with a different value for each dialog; it is the same in all its"
                  + " turns, by which a gateway finds its replica");

  private static final List<String> SHARING = List.of("shared", "perUser");

  static final SettingEntry<Duration> TIMEOUT =
      of("timeout", "600", "2m", Form.duration(false))
          .heads("Connections and limits")
          .means("longest time of a whole request");

  static final SettingEntry<Duration> IDLE_TIMEOUT =
      of("idleTimeout", "120", "30s", Form.duration(false))
          .means("longest time without a byte of a stream, before its first byte too");

  static final SettingEntry<@Nullable Abandonment> ABANDON =
      of("abandon", "10%@2s-5s", "<share>%@<time>, range", WorkloadReader::abandonment)
          .orNull("everyone stays")
          .means(
              "users who leave before their answer ends; it happens to <share>% of the"
                  + " requests, after <time>, which is drawn from a range uniformly");

  static final SettingEntry<@Nullable Integer> MAX_IN_FLIGHT =
      of("maxInFlight", "64", Form.whole(1))
          .orNull("no limit")
          .means("maximum number of requests in flight per target; others wait in order");

  static final SettingEntry<@Nullable Integer> MAX_REQUESTS_PER_MINUTE =
      of("maxRequestsPerMinute", "500", Form.whole(1))
          .orNull("no limit")
          .means(
              "maximum number of requests in any 60 s; it holds for each target and load generator, and"
                  + " others wait in order");

  static final SettingEntry<@Nullable Integer> MAX_TOKENS_PER_MINUTE =
      of("maxTokensPerMinute", "150000", Form.whole(1))
          .orNull("no limit")
          .means(
              "the same for tokens; counted are those of the prompt, four characters each,"
                  + " and maxTokens of the answer, until the server's usage says how many they"
                  + " were");

  static final SettingEntry<String> CONNECTIONS =
      of("connections", "shared", "perUser", Form.choice(SHARING, SHARING))
          .means(
              "who can reuse a kept-alive connection; shared: any user; perUser: the user"
                  + " who opened it");

  static final SettingEntry<Boolean> HTTP2 =
      flag("http2", false)
          .means("HTTP/2 if the server agrees to it (ALPN), which is possible over https only");

  static final SettingEntry<Boolean> VERIFY_TLS =
      flag("verifyTls", true)
          .means(
              "refuses certificates that are not trusted or are of another host; TLS below"
                  + " 1.2 is refused too");

  static final SettingEntry<@Nullable String> PROXY =
      of("proxy", "http://proxy:3128", "URL, env, none", Proxy::check)
          .orNull("none, or that of the http protocol")
          .means(
              "HTTP proxy of all requests but those to engines in this JVM; env: that of"
                  + " HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY");

  static final SettingEntry<Goals.Slos> SLO =
      of("slo", "ttft<200ms,tpot<50ms", "limits", Goals.Slos::parse)
          .heads("Objectives and build gates")
          .unset("none", Goals.Slos.NONE)
          .means(
              "objectives of every request, e.g. ttft<200ms,tpot<50ms,e2e<10s; presets are "
                  + Slo.presets());

  static final SettingEntry<Double> SLO_PERCENTILE =
      of("sloPercentile", "99", "95", Form.decimal("percentage ≤ 100", Double.MIN_VALUE, 100))
          .needs("has no effect alone", "slo")
          .means(
              "share of attempted requests, also failed ones, that must meet the SLO; a"
                  + " load level holds the SLO if that share meets it, by the rule of sloRule");

  static final SettingEntry<Slo.Rule> SLO_RULE =
      of("sloRule", "percentiles", "requests", Form.choice(Slo.Rule.class))
          .needs("has no effect alone", "slo")
          .means(
              "how the share of sloPercentile is taken; percentiles: each objective by itself is met"
                  + " by that share; requests: all of them together");

  static final SettingEntry<List<Assertion>> ASSERT =
      of("assert", "ttft.p99<200ms,errors<1%", Form.list("assertions", Goals::assertion))
          .unset("none", List.of())
          .needsWhere(
              "goodput",
              assertions -> assertions.stream().anyMatch(Assertion::needsSlo),
              "has no SLO to judge",
              "slo")
          .means(
              "build gates; for example"
                  + " ttft.p99<200ms,goodput>=95%,errors<1%,c=8:tpot.mean<40ms,valid");

  static final SettingEntry<Boolean> FAIL_BUILD =
      flag("failBuild", true)
          .means("fails the build where an assertion is missed or the run is invalid");

  static final SettingEntry<@Nullable Boolean> FAIL_ON_INVALID =
      of("failOnInvalid", "false", Form.flag())
          .orNull("true; where nothing is asserted, not for the check generator alone")
          .withoutEndpoint("false")
          .means(
              "whether a run that a check calls invalid fails the build; the exit code is"
                  + " then 2");

  static final SettingEntry<Boolean> RECORD_TEXT =
      flag("recordText", false)
          .heads("Records and reports")
          .means("keeps prompts and answers in the records");

  static final SettingEntry<Boolean> RECORD_TOKENS =
      flag("recordTokens", true)
          .means("keeps the time of every event; without it figures of windows are interpolated");

  static final SettingEntry<Boolean> CSV = flag("csv", false).means("writes requests.csv");

  static final SettingEntry<List<Target.NamedUrl>> METRICS_URL =
      of(
              "metricsUrl",
              "auto",
              "auto,http://localhost:9400/metrics",
              Form.list("auto, none, URLs", Target.NamedUrl::parse)
                  .map(Target.NamedUrl::metricsPages))
          .means(
              "pages of metrics; they have Prometheus text of server, GPUs and host, and"
                  + " are read once a second; auto: <host>/metrics of each target, if that is a"
                  + " page of an engine; none: no page");

  static final SettingEntry<Observers.@Nullable Address> LIVE =
      of("live", "8088", "<port>, <address>:<port>", Observers.Address::parse)
          .means("port of a page on 127.0.0.1 that shows the run while it is on; 0: any free one");

  static final SettingEntry<@Nullable String> OTLP =
      of("otlp", "http://localhost:4318/v1/metrics", Form.text())
          .means("URL that meters are sent to every 10 s; by OTLP over HTTP");

  static final SettingEntry<@Nullable S3Location> UPLOAD =
      of("upload", "s3://load-tests/2026-11-22", "s3://bucket/prefix", S3Location::parse)
          .means(
              "S3-compatible storage of the run; uploaded when it has ended or was"
                  + " interrupted, as <prefix>/<run>-<injector>/");

  static final SettingEntry<@Nullable String> ENGINE_VERSION =
      of("engineVersion", "vllm 0.11.0", Form.text())
          .means("version of the server's engine, recorded; trend and compare show it");

  static final SettingEntry<@Nullable Double> GPUS =
      of("gpus", "2", POSITIVE)
          .means("GPUs that serve each target: adds output tok/s per GPU, and its chart");

  static final SettingEntry<Double> READING_SPEED =
      of("readingSpeed", "5", "7.5", Form.decimal("tokens/s > 0", Double.MIN_VALUE, 1e6))
          .means(
              "how fast answers are read; the report says how long readers wait for late"
                  + " tokens");

  static final SettingEntry<@Nullable Double> COST_PER_HOUR =
      of("costPerHour", "3.60", POSITIVE)
          .means(
              "price of one GPU per hour, in any currency; adds the cost per million"
                  + " output tokens, and per million tokens within the SLO");

  static final SettingEntry<@Nullable Long> SEED =
      of("seed", "42", "whole number", Long::valueOf)
          .heads("Run")
          .orNull("random")
          .means("pins prompts and arrivals; always printed and recorded");

  static final SettingEntry<@Nullable InjectorShare> INJECTOR =
      of("injector", "2/4", "<i>/<n>", InjectorShare::parse)
          .orNull("1/1, or JOB_COMPLETION_INDEX and INJECTORS")
          .excludes("a self-test runs in one process", "selfTest")
          .means(
              "this load generator is the i-th of n that share the load; the command merge"
                  + " merges their runs");

  static final SettingEntry<@Nullable StartTime> START_AT =
      of("startAt", "2027-03-01T09:30:00Z", "time", StartTime::parse)
          .orNull("as soon as it is ready")
          .means("time at which the load starts, after the warm-up; " + StartTime.EXPECTED);

  static final SettingEntry<Boolean> SELF_TEST =
      flag("selfTest", false)
          .means(
              "measures the timing error of this tool on this machine; takes about a"
                  + " minute, and reports of later runs quote it");

  static final SettingEntry<@Nullable String> SELF_TEST_FILE =
      of("selfTestFile", "self-test.json", Form.text())
          .orNull("~/.gatling-llm/self-test.json")
          .means("file that selfTest writes its result to, and that later runs read");

  private static final Form<String> FILE = new Form<>("file", name -> name);

  static final SettingEntry<@Nullable String> CONFIG =
      of("config", "bench.conf", FILE)
          .means("file of settings in HOCON or JSON; the environment and the command line win");

  static final SettingEntry<@Nullable String> ENV =
      of("env", "staging.env", FILE)
          .orNull(".env, if there is one")
          .means("file of LLM_NAME=value lines");

  static final SettingEntry<@Nullable String> SAVE_CONFIG =
      of("saveConfig", "bench.conf", FILE)
          .means("writes what is set, without keys, as a file for config");

  static final SettingEntry<Boolean> DRY_RUN =
      flag("dryRun", false).means("prints the plan and sends nothing");

  static final SettingEntry<Boolean> HELP =
      flag("help", false).means("prints these settings and sends nothing");

  private Setting() {}

  private static SettingEntry<Boolean> flag(String name, boolean byDefault) {
    return of(name, Boolean.toString(byDefault), Boolean.toString(!byDefault), Form.flag());
  }

  /** A setting with a default, as a user would write it. */
  private static <T> SettingEntry<T> of(
      String name, String byDefault, String example, Form<T> form) {
    return of(name, example, form).byDefault(byDefault);
  }

  private static <T> SettingEntry<T> of(
      String name, String example, String shape, Function<String, T> parser) {
    return of(name, example, new Form<>(shape, parser));
  }

  private static <T> SettingEntry<T> of(String name, String example, Form<T> form) {
    SettingEntry<T> entry = new SettingEntry<>(name, form, example);
    ENTRIES.add(entry);
    return entry;
  }

  /** The output of {@code llm.help=true}: all settings by group, in at most 120 columns. */
  static String help() {
    return help(false);
  }

  static String help(boolean asOptions) {
    StringBuilder text =
        new StringBuilder(
            """
            Settings of the benchmark. Each is %s, else a variable of the environment,
            LLM_MAX_TOKENS=256, else in the file llm.config, else a line of the file .env, else its default, in [brackets] here.
            A duration is in seconds (30, 0.5) or has a unit (500ms, 30s, 2m, 1h). Lists are separated by commas.
            More: docs/settings.md
            """
                .formatted(
                    asOptions
                        ? "an option, --max-tokens 256"
                        : "a system property, -Dllm.maxTokens=256"));
    for (SettingEntry<?> entry : ENTRIES) {
      text.append(entry.heading == null ? "" : '\n' + entry.heading + '\n')
          .append(entry.help(asOptions));
    }
    return text.toString();
  }

  static List<SettingEntry<?>> all() {
    return Collections.unmodifiableList(ENTRIES);
  }

  static @Nullable SettingEntry<?> named(String name) {
    return ENTRIES.stream().filter(s -> s.name.equals(name)).findFirst().orElse(null);
  }

  static @Nullable SettingEntry<?> ofVariable(String variable) {
    return ENTRIES.stream().filter(s -> s.variable().equals(variable)).findFirst().orElse(null);
  }

  static SettingEntry<?> nearest(String name) {
    List<String> names = ENTRIES.stream().map(entry -> entry.name).toList();
    return ENTRIES.get(names.indexOf(Spelling.nearest(name, names, 1).get(0)));
  }
}
