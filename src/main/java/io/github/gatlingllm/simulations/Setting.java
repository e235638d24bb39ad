package io.github.gatlingllm.simulations;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.clock.TimeServer;
import io.github.gatlingllm.engine.EnginePreset;
import io.github.gatlingllm.injector.Injector.StartTime;
import io.github.gatlingllm.live.LiveView;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.StopRule;
import io.github.gatlingllm.metric.Spelling;
import io.github.gatlingllm.record.Assertion;
import io.github.gatlingllm.record.InjectorShare;
import io.github.gatlingllm.record.ReadingSpeed;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.simulations.EndpointSpec.ApiChoice;
import io.github.gatlingllm.simulations.SettingEntry.Group;
import io.github.gatlingllm.store.S3Location;
import io.github.gatlingllm.telemetry.MetricsPage;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.PromptPool;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.Tokenizer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
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

  // ---- Target ----------------------------------------------------------------------------------

  static final SettingEntry<List<EndpointSpec.Named>> ENDPOINT =
      in(
              Group.TARGET,
              "endpoint",
              Form.list("URLs", EndpointSpec.Named::parse, "a comma list of URLs")
                  .map(EndpointSpec.Named::each))
          .unset("the embedded engine", List.of())
          .example("http://localhost:8000/v1")
          .means(
              "base URL (…/v1) or full path (…/v1/chat/completions, …/v1/responses); a list names"
                  + " several targets, e.g. vllm=http://a:8000/v1,sglang=http://b:30000/v1",
              "A URL holds no credentials. The name before = is what results call the target; one"
                  + " without is called by host and port, by its model where hosts are equal, by"
                  + " more where that is not enough.");

  static final SettingEntry<@Nullable EnginePreset> ENGINE_PRESET =
      in(
              Group.TARGET,
              "enginePreset",
              new Form<>("name", EnginePreset::of, "a preset: " + EnginePreset.names()))
          .orNull("none")
          .excludes("it is of the embedded engine", "endpoint")
          .example("llama-3.3-70b-2xh100")
          .means(
              "speed and memory of the embedded engine: " + EnginePreset.names(),
              "Derived from published measurements, see engine.md.");

  static final SettingEntry<List<String>> MODEL =
      in(Group.TARGET, "model", Form.texts("names"))
          .unset("the server's only one", List.of())
          .example("llama-8b")
          .means(
              "model that is asked for; one for all endpoints, or one for each; a|b: an endpoint is"
                  + " asked for both, each a target of its own",
              "Unset, and with warmup, the server is asked (GET …/models); where it has others too,"
                  + " or does not say, none is sent and it decides. Another number of names than"
                  + " endpoints is refused; without an endpoint it has no effect.");

  static final SettingEntry<List<String>> API_KEY =
      in(Group.TARGET, "apiKey", Form.texts("keys"))
          .unset("none", List.of())
          .secret()
          .example("sk-…")
          .means(
              "sent as Authorization: Bearer; belongs in .env or the environment, as ps shows -D;"
                  + " one, or one for each endpoint",
              "Never shown or recorded.");

  static final SettingEntry<ApiChoice> API =
      in(Group.TARGET, "api", Form.choice(ApiChoice.class))
          .byDefault("auto")
          .example("completions")
          .means(
              "API of the target; auto: the one in the endpoint's path, else chat",
              "responses: OpenAI's, of typed events. messages: Anthropic's. embeddings: prompts are"
                  + " embedded; nothing is streamed, and maxTokens and sampling have no effect."
                  + " Refused where the endpoint is the full path of another API.");

  static final SettingEntry<Boolean> INTERLEAVE =
      in(Group.TARGET, "interleave", Form.flag())
          .byDefault("false")
          .example("true")
          .means(
              "several targets side by side instead of one after the other",
              "Each target gets the same levels, arrivals and prompts. Cannot be set together with"
                  + " several scenarios.");

  static final SettingEntry<List<Tokenizer>> TOKENIZER =
      in(Group.TARGET, "tokenizer", Form.texts("names").map(WorkloadReader::tokenizers))
          .byDefault("auto")
          .withoutEndpoint("chars4")
          .example("tiktoken:o200k_base")
          .means(
              "what counts tokens: auto (tiktoken:cl100k_base), chars4, tiktoken:<encoding>,"
                  + " hf:<tokenizer.json>; one, or one for each endpoint",
              "Encodings: r50k_base, p50k_base, p50k_edit, cl100k_base, o200k_base. hf: needs the"
                  + " optional dependency ai.djl.huggingface:tokenizers:0.38.0. Prompts are sized"
                  + " by the first, as the plan and config.promptsSizedBy say. chars4 is how the"
                  + " embedded engine counts.");

  // ---- Load ------------------------------------------------------------------------------------

  static final SettingEntry<List<Integer>> CONCURRENCY =
      in(Group.LOAD, "concurrency", Form.wholes(1))
          .byDefault("8")
          .withoutEndpoint("1,2,4,8,16,32,64")
          .excludes("closed loop or open loop", "rate")
          .example("1,2,4,8,16")
          .means(
              "closed loop: requests in flight, each completion starts the next at once; a list is"
                  + " a sweep");

  static final SettingEntry<List<LoadLevel.Open>> RATE =
      in(Group.LOAD, "rate", new Form<>("numbers > 0, curve", ArrivalReader::rates, "rates"))
          .unset("none: closed loop", List.of())
          .excludesWhere(
              "a curve",
              ArrivalReader::isCurve,
              "a curve has its own duration",
              "duration",
              "measure",
              "requests")
          .excludesWhere("a curve", ArrivalReader::isCurve, "a search starts at one rate", "search")
          .example("2,4,8")
          .means(
              "open loop: requests per second; a list is a sweep; <rate>:<duration>,… is a curve,"
                  + " steps:<rate>:<duration>,… one of steps",
              "0:60s,10:120s,50:60s is one curve, stage curve: each segment goes linearly from its"
                  + " own rate to the next one's, the last holds. With steps: before it, each holds"
                  + " its rate.");

  static final SettingEntry<@Nullable Arrivals> ARRIVAL =
      in(
              Group.LOAD,
              "arrival",
              new Form<>("process, trace", ArrivalReader::arrival, ArrivalReader.EXPECTED))
          .orNull("poisson")
          .excludesWhere("a trace", ArrivalReader::isTrace, "a trace has its own rate", "rate")
          .excludesWhere(
              "a trace", ArrivalReader::isTrace, "closed loop or open loop", "concurrency")
          .excludesWhere(
              "a trace",
              ArrivalReader::isTrace,
              "a trace has its own duration",
              "duration",
              "measure")
          .excludesWhere(
              "a trace", ArrivalReader::isTrace, "a trace has its own number", "requests")
          .needsWhere(
              "all but a trace",
              arrival -> !ArrivalReader.isTrace(arrival),
              "only open loops have arrivals",
              "rate")
          .example("gamma:1.4")
          .means(
              "poisson, constant, gamma:<cv>, or trace:<file>[@<speed>], which replays recorded"
                  + " traffic",
              "gamma:<cv>: gaps with that coefficient of variation, > 0 and ≤ 100, also around a"
                  + " curve. A trace is the stage trace; @2.0 is twice as fast.");

  static final SettingEntry<@Nullable Integer> TRIALS =
      in(Group.LOAD, "trials", Form.whole(1))
          .orNull("none")
          .excludes(
              "trials are bounded by their count",
              "rate",
              "search",
              "requests",
              "duration",
              "measure",
              "fill",
              "stabilize",
              "cooldown")
          .example("10")
          .means(
              "batch mode: all requests of a level at once, wait for the slowest, repeat this"
                  + " often",
              "Record key trial counts from 1; the last trial may take drain.");

  static final SettingEntry<Boolean> SEARCH =
      in(Group.LOAD, "search", Form.word("maxGoodput"))
          .unset("none", false)
          .needs("has no SLO to hold", "slo")
          .excludes("it searches rates; start it with llm.rate", "concurrency")
          .excludes("its arrivals are Poisson", "arrival")
          .example("maxGoodput")
          .means(
              "looks for the highest rate of Poisson arrivals that holds the SLO",
              "It doubles the rate from rate (1) until a level fails, then bisects, and measures"
                  + " both ends again. duration is per level; a level that chance leaves undecided"
                  + " takes up to 8 times as long. Of rate it takes one at most.");

  static final SettingEntry<Double> SEARCH_PRECISION =
      in(
              Group.LOAD,
              "searchPrecision",
              Form.decimal(
                  "number > 0, < 1", "a number > 0 and < 1", Double.MIN_VALUE, Math.nextDown(1.0)))
          .byDefault("0.05")
          .needs("has no meaning alone", "search")
          .example("0.1")
          .means("how far from the truth the rate that is found may be, as a share of it");

  static final SettingEntry<List<StopRule>> STOP_WHEN =
      in(
              Group.LOAD,
              "stopWhen",
              Form.list(
                  "rules",
                  Form.silent(StopRule::parse),
                  "rules such as slo<50%,errors>10%,errors>50,errorsInARow>100,overSaturated, or"
                      + " never"))
          .byDefault("errorsInARow>100")
          .excludes("a search ends by itself", "search")
          .needsWhere(
              "slo<…",
              rules -> rules.stream().anyMatch(StopRule.SloBelow.class::isInstance),
              "has no SLO to judge",
              "slo")
          .example("errors>10%")
          .means(
              "ends a sweep after the first level that breaks one of slo<50%, errors>10%,"
                  + " errors>50, errorsInARow>100, overSaturated; never: nothing does",
              "slo<50%: share of attempted requests that met the SLO. errors>10%: share of ended"
                  + " requests that failed. errors>50: a number of failed requests of a level, all"
                  + " phases; ends that level at once: nothing new is sent, what was sent is"
                  + " drained. errorsInARow>100: the same, of requests that fail one after the"
                  + " other with none between that succeeds; it holds beside the others and in"
                  + " searches, unless never is said, and makes the run invalid. overSaturated:"
                  + " open levels, in the second half of measure under 90 % of the arrivals were"
                  + " served. Requests that a rate limit turned away (429) have not failed.");

  // ---- Phases and bounds of each load level ----------------------------------------------------

  static final SettingEntry<Integer> WARMUP =
      in(Group.LEVEL, "warmup", Form.whole(0))
          .byDefault("1")
          .example("3")
          .means(
              "real requests before measuring, per run and target, in no figure and no record",
              "Each is the workload's own first request, streamed as that is. Where one fails, a"
                  + " line says why and what to do, no load is sent, and the exit code is 1; 0"
                  + " sends none. Warming the JVM never sends anything to the user's server.");

  static final SettingEntry<Boolean> JVM_WARM_UP =
      in(Group.LEVEL, "jvmWarmUp", Form.flag())
          .byDefault("true")
          .example("false")
          .means(
              "requests to an engine inside this JVM before the load, until its compilers stand"
                  + " still: 1 to 6 s",
              "Without it the first requests are measured while classes are loaded and compiled:"
                  + " for trials of settings, not for figures.");

  static final SettingEntry<Optional<Duration>> FILL =
      in(Group.LEVEL, "fill", Form.automatic())
          .byDefault("auto")
          .example("5s")
          .means(
              "time over which the users of a level start",
              "For closed loops only. auto: twice the median E2E of the level before, at the first"
                  + " level of its first user's first answer, at most half the bound that stabilize"
                  + " names; 0 where requests bounds a level.");

  static final SettingEntry<Optional<Duration>> STABILIZE =
      in(Group.LEVEL, "stabilize", Form.automatic())
          .byDefault("auto")
          .example("20s")
          .means(
              "time to settle before measuring, once all users have started",
              "auto: until each user, in open loops one, has had an answer and twice the median E2E"
                  + " has passed; measuring starts at the latest after as long as it takes"
                  + " (duration), at least 5 s, and a line says when. 0 where requests bounds a"
                  + " level, and for curves and traces.");

  static final SettingEntry<Duration> DURATION =
      in(Group.LEVEL, "duration", Form.duration(false))
          .byDefault("30")
          .withoutEndpoint("7")
          .example("2m")
          .means("time measured at each load level");

  static final SettingEntry<@Nullable Duration> MEASURE =
      in(Group.LEVEL, "measure", Form.duration(false))
          .orNull("that of duration")
          .excludes("two names of the same setting", "duration")
          .example("60")
          .means("the same as duration");

  static final SettingEntry<@Nullable Integer> REQUESTS =
      in(Group.LEVEL, "requests", Form.whole(1))
          .orNull("bounded by duration")
          .example("1000")
          .means(
              "bounds a level by count instead of time; with duration or measure, whichever comes"
                  + " first");

  static final SettingEntry<Boolean> COOLDOWN =
      in(Group.LEVEL, "cooldown", Form.flag())
          .byDefault("true")
          .excludesWhere(
              "true", on -> on, "that number is exact, and nothing is sent beyond it", "requests")
          .example("false")
          .means(
              "the load stays on after measuring, in no figure, until what is measured has ended",
              "At most for drain. Without it the last requests find a server that empties, and look"
                  + " too good; false saves their tokens. A curve holds its last rate, a trace"
                  + " begins again; requests and trials have none.");

  static final SettingEntry<Duration> DRAIN =
      in(Group.LEVEL, "drain", Form.duration(true))
          .byDefault("30")
          .example("1m")
          .means("longest wait for pending requests; what still runs then is cancelled");

  // ---- Prompts ---------------------------------------------------------------------------------

  static final SettingEntry<@Nullable String> PROMPT =
      in(Group.PROMPTS, "prompt", Form.text())
          .orNull("built-in prompts")
          .excludes("a fixed text or a file", "prompts")
          .example("Why is the sky blue?")
          .means("the same text in every request");

  static final SettingEntry<@Nullable PromptPool> PROMPTS =
      in(
              Group.PROMPTS,
              "prompts",
              new Form<>("file", WorkloadReader::promptFile, "a path to a readable file"))
          .orNull("none")
          .example("prompts.jsonl")
          .means("file of prompts: JSON array, JSONL, CSV, or a prompt per line");

  static final SettingEntry<@Nullable LengthDistribution> PROMPT_TOKENS =
      in(
              Group.PROMPTS,
              "promptTokens",
              new Form<>("number, range", LengthDistribution::parse, "tokens"))
          .orNull(WorkloadReader.BUILT_IN_LENGTHS + " for built-in prompts, else as they are")
          .example("256:96")
          .means(
              "cuts or pads every prompt to exactly so many tokens; <mean>:<std>, <min>-<max>,"
                  + " lognormal:<mean>:<std> and weighted:128=70,4096=30 draw lengths",
              "Counted by the active tokenizer, a prefix included; mean:std is normal, cut off"
                  + " below 1, min-max uniform. As many prompts as the load needs are made before"
                  + " it starts, at most 1,000; then they come again. Those that could not be met"
                  + " get the nearest length: counted in config.promptsNotExact, named in the plan."
                  + " Refused where the prefix leaves nothing of the prompt.");

  static final SettingEntry<Integer> INPUTS_PER_REQUEST =
      in(Group.PROMPTS, "inputsPerRequest", Form.whole(1))
          .byDefault("1")
          .example("16")
          .means(
              "texts that a request for embeddings holds",
              "Each is a prompt of its own. Refused with the other APIs.");

  static final SettingEntry<WorkloadReader.@Nullable DatasetName> DATASET =
      in(
              Group.PROMPTS,
              "dataset",
              new Form<>(
                  "<format>:<file>",
                  WorkloadReader.DatasetName::parse,
                  "<format>:<file>, e.g. sharegpt:chats.json"))
          .orNull("none")
          .excludes("each says what is asked", "prompt", "prompts", "promptTokens")
          .example("sharegpt:chats.json")
          .means("recorded dialogs; formats: sharegpt, oasst, longbench, mooncake, openai");

  static final SettingEntry<List<WorkloadReader.Weighted>> SCENARIO =
      in(
              Group.PROMPTS,
              "scenario",
              Form.list(
                      "A1 A2 B1 B2 C D",
                      WorkloadReader.Weighted::alone,
                      WorkloadReader.NAMES + ", such as A1,B1,C")
                  .map(WorkloadReader.Weighted::each))
          .unset("none", List.of())
          .excludes("one after the other or mixed", "mix")
          .excludes("scenarios bring their prompts", "prompt", "prompts", "dataset")
          .excludes("scenarios bring their lengths", "promptTokens")
          .example("B1,C")
          .means(
              "known workloads, one after the other, each under the whole load",
              "D, a dialog, needs the chat API.");

  static final SettingEntry<List<WorkloadReader.Weighted>> MIX =
      in(
              Group.PROMPTS,
              "mix",
              Form.list(
                      "weights",
                      WorkloadReader.Weighted::parse,
                      "scenarios and their weights above 0, such as C:70,B1:30")
                  .map(WorkloadReader.Weighted::each))
          .unset("none", List.of())
          .excludes("scenarios bring their prompts", "prompt", "prompts", "dataset")
          .excludes("scenarios bring their lengths", "promptTokens")
          .example("C:70,B1:30")
          .means("known workloads mixed by weight, e.g. C:70,B1:30");

  static final SettingEntry<@Nullable Integer> TURNS =
      in(Group.PROMPTS, "turns", Form.whole(1))
          .orNull("5")
          .example("8")
          .means("turns of a dialog of scenario D", "The other scenarios have one.");

  static final SettingEntry<@Nullable Integer> CONTEXT_TOKENS =
      in(Group.PROMPTS, "contextTokens", Form.whole(1))
          .orNull("no limit")
          .example("8192")
          .means(
              "context of the model: a dialog ends before a turn that would not fit",
              "For scenario D and dialogs of a dataset that are asked turn by turn.");

  static final SettingEntry<Boolean> TURN_BY_TURN =
      in(Group.PROMPTS, "turnByTurn", Form.flag())
          .byDefault("false")
          .needs("replays recorded dialogs", "dataset")
          .example("true")
          .means(
              "asks the user turns of a recorded dialog one after the other, each with the answers"
                  + " that the server gave before",
              "Without it a dialog is one request: all up to its last user message. Needs the chat"
                  + " API.");

  static final SettingEntry<ThinkTime> THINK_TIME =
      in(
              Group.PROMPTS,
              "thinkTime",
              new Form<>(
                  "duration, range",
                  ThinkTime::parse,
                  "a duration such as 2s, or a range such as 1s-5s"))
          .unset("none", ThinkTime.NONE)
          .example("1s-5s")
          .means(
              "time from an answer to its user's next request; a range draws it, all alike",
              "Between the turns of dialogs, and in closed loops after each request: then fewer"
                  + " requests are in flight than concurrency says.");

  static final SettingEntry<@Nullable LengthPreset> LENGTHS =
      in(Group.PROMPTS, "lengths", Form.choice(LengthPreset.class))
          .orNull("none")
          .excludes("each says how long prompts are", "promptTokens", "scenario", "mix", "dataset")
          .example("prefillHeavy")
          .means(
              "lengths of prompts and answers as they are often quoted: "
                  + Arrays.stream(LengthPreset.values())
                      .map(LengthPreset::inWords)
                      .collect(Collectors.joining(", ")),
              "maxTokens, where set, is the length of answers instead.");

  static final SettingEntry<Boolean> UNIQUE_PROMPTS =
      in(Group.PROMPTS, "uniquePrompts", Form.flag())
          .byDefault("true")
          .example("false")
          .means(
              "a seeded nonce first in every prompt, so that no prompt is cached",
              "18 digits and an empty line. Unless set, not where the workload says what prompts"
                  + " share (sharedPrefix, scenario, mix, dataset), and not where promptTokens is"
                  + " too short for it.");

  static final SettingEntry<@Nullable ShownImages> IMAGES =
      in(
              Group.PROMPTS,
              "images",
              new Form<>(
                  "<n>x<w>x<h>, file",
                  ShownImages::parse,
                  "<images>x<width>x<height> such as 1x512x512, or a file or folder of images"))
          .orNull("none")
          .excludes("each says what is asked", "dataset", "scenario", "mix")
          .example("1x512x512")
          .means(
              "images beside every prompt: so many of that many pixels, made up from the seed, or"
                  + " those of a file or folder",
              "Sent as data URLs in the last message; needs the chat API. Of a folder (.png, .jpg,"
                  + " .gif, .webp) each request shows the next image by name. Made-up ones are"
                  + " noise, up to 32 different ones in 64 MiB, as servers keep what they made of"
                  + " an image.");

  static final SettingEntry<PromptPrefix.@Nullable Shared> SHARED_PREFIX =
      in(
              Group.PROMPTS,
              "sharedPrefix",
              new Form<>(
                  "<groups>x<tokens>",
                  Form.silent(WorkloadReader::sharedPrefix),
                  "<groups>x<tokens>, 1 or more groups of 2 or more tokens, such as 8x512"))
          .orNull("none")
          .excludes("a nonce first leaves nothing to share", "uniquePrompts")
          .example("8x512")
          .means(
              "one of so many seeded texts of so many tokens first in every prompt",
              "Built-in prompts come on top of it; lengths that are set include it.");

  // ---- Requests --------------------------------------------------------------------------------

  static final SettingEntry<Boolean> STREAM =
      in(Group.REQUESTS, "stream", Form.flag())
          .byDefault("true")
          .example("false")
          .means("asks for a stream; without it TTFT, TPOT and ITL are absent");

  static final SettingEntry<Integer> MAX_TOKENS =
      in(Group.REQUESTS, "maxTokens", Form.whole(1))
          .byDefault("128")
          .withoutEndpoint("16")
          .example("256")
          .means("output length");

  static final SettingEntry<Boolean> IGNORE_EOS =
      in(Group.REQUESTS, "ignoreEos", Form.flag())
          .byDefault("true")
          .example("false")
          .means(
              "sends ignore_eos and min_tokens, so that outputs have exactly maxTokens",
              "Unless set, a server that rejects these fields in a warm-up request is asked without"
                  + " them from then on, in one printed line and in config.ignoreEos.");

  static final SettingEntry<@Nullable Double> TEMPERATURE =
      in(
              Group.REQUESTS,
              "temperature",
              Form.decimal("number ≥ 0", "a number ≥ 0", 0, Float.MAX_VALUE))
          .orNull("the server's")
          .example("0.7")
          .means("sampling temperature");

  static final SettingEntry<@Nullable Double> TOP_P =
      in(
              Group.REQUESTS,
              "topP",
              Form.decimal("number > 0, ≤ 1", "a number > 0 and ≤ 1", Double.MIN_VALUE, 1))
          .orNull("the server's")
          .example("0.95")
          .means("nucleus sampling");

  static final SettingEntry<ObjectNode> BODY =
      in(
              Group.REQUESTS,
              "body",
              new Form<>(
                  "JSON object", BenchmarkPlan::body, "a JSON object such as {\"top_k\":40}"))
          .unset("none", BenchmarkPlan.body("{}"))
          .example("{\"top_k\":40}")
          .means(
              "extra JSON, merged into every request",
              "Without model, stream, messages, prompt and max_tokens, which have settings of their"
                  + " own.");

  static final SettingEntry<@Nullable String> HEADER =
      in(Group.REQUESTS, "header.<Name>", Form.text())
          .orNull("none")
          .example("acme")
          .means(
              "extra header of every request",
              "header.X-Tenant is LLM_HEADER_X_TENANT in the environment and in .env; the value is"
                  + " never shown or recorded.");

  // ---- Connections and limits ------------------------------------------------------------------

  static final SettingEntry<Duration> TIMEOUT =
      in(Group.CONNECTIONS, "timeout", Form.duration(false))
          .byDefault("600")
          .example("2m")
          .means("longest whole request");

  static final SettingEntry<Duration> IDLE_TIMEOUT =
      in(Group.CONNECTIONS, "idleTimeout", Form.duration(false))
          .byDefault("120")
          .example("30s")
          .means("longest silence of a stream, also before its first byte");

  static final SettingEntry<@Nullable Integer> MAX_IN_FLIGHT =
      in(Group.CONNECTIONS, "maxInFlight", Form.whole(1))
          .orNull("no limit")
          .example("64")
          .means(
              "requests in flight per target; more wait, first in first out",
              "The wait is counted as queue wait and in no latency; timeout counts from its end.");

  static final SettingEntry<@Nullable Integer> MAX_REQUESTS_PER_MINUTE =
      in(Group.CONNECTIONS, "maxRequestsPerMinute", Form.whole(1))
          .orNull("no limit")
          .example("500")
          .means(
              "requests in any 60 s per target and load generator, to stay below a provider's"
                  + " limit; more wait, first in first out",
              "The wait is counted as queue wait and in no latency; how many were held back, and"
                  + " for how long, is on the console and in the report. A burst may use up the"
                  + " whole limit: where a provider counts seconds too, set less.");

  static final SettingEntry<@Nullable Integer> MAX_TOKENS_PER_MINUTE =
      in(Group.CONNECTIONS, "maxTokensPerMinute", Form.whole(1))
          .orNull("no limit")
          .example("150000")
          .means(
              "the same for tokens: of a prompt, four characters each, and maxTokens of its answer,"
                  + " until the server's usage says how many they were",
              "A request that needs more than the limit by itself goes when no other counts.");

  static final SettingEntry<BenchmarkPlan.Connections> CONNECTIONS =
      in(Group.CONNECTIONS, "connections", Form.choice(BenchmarkPlan.Connections.class))
          .byDefault("shared")
          .example("perUser")
          .means("who may use a kept-alive connection again: any user, or only the one it is of");

  static final SettingEntry<Boolean> HTTP2 =
      in(Group.CONNECTIONS, "http2", Form.flag())
          .byDefault("false")
          .example("true")
          .means(
              "HTTP/2 where the server agrees to it (ALPN), which it can over https only",
              "Requests of all users then share one connection per event loop, or one per user.");

  static final SettingEntry<Boolean> VERIFY_TLS =
      in(Group.CONNECTIONS, "verifyTls", Form.flag())
          .byDefault("true")
          .example("false")
          .means(
              "refuses certificates that no trusted authority signed or that are made for another"
                  + " host",
              "Trusted are the authorities of Gatling's ssl.trustStore, else of the JVM's trust"
                  + " store.");

  // ---- Objectives and build gates --------------------------------------------------------------

  static final SettingEntry<NamedSlos> SLO =
      in(
              Group.GOALS,
              "slo",
              new Form<>("limits", NamedSlos::parse, "limits such as ttft<200ms,tpot<50ms,e2e<10s"))
          .unset("none", NamedSlos.NONE)
          .example("ttft<200ms,tpot<50ms")
          .means(
              "objectives of every request, e.g. ttft<200ms,tpot<50ms,e2e<10s, or a preset",
              "ttft, ttfo and e2e count from the planned arrival. C:ttft<1s is of requests of that"
                  + " name (chat, completion or the scenario's), vLLM:ttft<1s of those to that"
                  + " target; either in place of what has no name before it. Presets are the limits"
                  + " of MLPerf Inference's interactive scenarios (inference_rules.adoc of July"
                  + " 2026): "
                  + Slo.presets()
                  + ".");

  static final SettingEntry<Double> SLO_PERCENTILE =
      in(
              Group.GOALS,
              "sloPercentile",
              Form.decimal("percentage", "a percentage > 0 and ≤ 100", Double.MIN_VALUE, 100))
          .byDefault("99")
          .needs("has no meaning alone", "slo")
          .example("95")
          .means(
              "share of attempted requests, failed ones included, that a load level needs to hold"
                  + " the SLO by sloRule");

  static final SettingEntry<Slo.Rule> SLO_RULE =
      in(Group.GOALS, "sloRule", Form.choice(Slo.Rule.class))
          .byDefault("percentiles")
          .needs("has no meaning alone", "slo")
          .example("requests")
          .means(
              "percentiles: each objective by itself is met by that share; requests: that share"
                  + " meets all objectives at once",
              "Goodput counts requests that met all objectives at once, by either rule.");

  static final SettingEntry<List<Assertion>> ASSERT =
      in(Group.GOALS, "assert", Form.list("assertions", AssertionText::parse, "assertions"))
          .unset("none", List.of())
          .needsWhere(
              "goodput",
              assertions -> assertions.stream().anyMatch(Assertion::needsSlo),
              "has no SLO to judge",
              "slo")
          .example("ttft.p99<200ms,errors<1%")
          .means(
              "build gates, e.g. ttft.p99<200ms,goodput>=95%,errors<1%,c=8:tpot.mean<40ms,valid",
              "c=8: names a stage, chat: (completion: or a scenario) a request name, vLLM: a"
                  + " target, vLLM:c=8: both; valid demands a valid run; names, units and"
                  + " conditions are in commands.md. Times count from admission, those of slo from"
                  + " the planned arrival: ttft_from_schedule, ttfo_from_schedule and"
                  + " e2e_from_schedule.");

  static final SettingEntry<Boolean> FAIL_BUILD =
      in(Group.GOALS, "failBuild", Form.flag())
          .byDefault("true")
          .example("false")
          .means("whether a missed assertion fails the build, or an invalid run (failOnInvalid)");

  static final SettingEntry<Boolean> FAIL_ON_INVALID =
      in(Group.GOALS, "failOnInvalid", Form.flag())
          .byDefault("true")
          .withoutEndpoint("false")
          .example("false")
          .means(
              "whether a run that a check calls invalid fails the build, with exit code 2",
              "One line names the check and the remedy. Simulations of your own read it from the"
                  + " system property and the environment.");

  // ---- Records and reports ---------------------------------------------------------------------

  static final SettingEntry<Boolean> RECORD_TEXT =
      in(Group.OUTPUT, "recordText", Form.flag())
          .byDefault("false")
          .example("true")
          .means("keeps prompts and answers");

  static final SettingEntry<Boolean> RECORD_TOKENS =
      in(Group.OUTPUT, "recordTokens", Form.flag())
          .byDefault("true")
          .example("false")
          .means("keeps the time of every event; without them window figures are interpolated");

  static final SettingEntry<Boolean> CSV =
      in(Group.OUTPUT, "csv", Form.flag())
          .byDefault("false")
          .example("true")
          .means("writes requests.csv");

  static final SettingEntry<Boolean> INDEX_BLOCK =
      in(Group.OUTPUT, "indexBlock", Form.flag())
          .byDefault("true")
          .example("false")
          .means("our block in Gatling's own pages");

  static final SettingEntry<List<EndpointSpec.Named>> METRICS_URL =
      in(
              Group.OUTPUT,
              "metricsUrl",
              Form.list("auto, none, URLs", EndpointSpec.Named::parse, MetricsPage.FORMS)
                  .map(EndpointSpec.Named::metricsPages))
          .byDefault("auto")
          .example("auto,http://localhost:9400/metrics")
          .means(
              "pages of metrics (Prometheus text) of server, GPUs and host, read once a second;"
                  + " auto: <host>/metrics of each target, where that is a page of an engine; none",
              "A list, e.g. auto,http://gpu-host:9400/metrics. vLLM=http://a:8000/metrics is about"
                  + " the target of that name; a page without a name is about the only target, or"
                  + " about all. auto asks once, before the load, and where nothing useful answers"
                  + " not again. The API key goes only to pages with a target's scheme, host and"
                  + " port. Understood are vLLM, SGLang, TGI, llama.cpp (--metrics), TensorRT-LLM"
                  + " (/prometheus/metrics), Triton (port 8002), Dynamo, llm-d, NVIDIA's"
                  + " dcgm-exporter and node_exporter.");

  static final SettingEntry<LiveView.@Nullable Address> LIVE =
      in(
              Group.OUTPUT,
              "live",
              new Form<>(
                  "<port>, <address>:<port>", LiveView.Address::parse, LiveView.Address.FORMS))
          .orNull("none")
          .example("8088")
          .means(
              "port of a page on 127.0.0.1 that shows the run as it goes; 0 takes any that is free",
              "0.0.0.0:8088 lets other machines see it too, in a container for example; it asks for"
                  + " no password. The console says where. /metrics beside it is what Prometheus"
                  + " scrapes, where micrometer-registry-prometheus is on the class path."
                  + " Simulations of your own read it from the system property and the"
                  + " environment.");

  static final SettingEntry<@Nullable String> OTLP =
      in(Group.OUTPUT, "otlp", Form.text())
          .orNull("none")
          .example("http://localhost:4318/v1/metrics")
          .means(
              "where meters are sent every 10 s by OTLP over HTTP",
              "Needs micrometer-registry-otlp on the class path. Names are those of OpenTelemetry"
                  + " for generative AI. Simulations of your own read it from the system property"
                  + " and the environment.");

  static final SettingEntry<@Nullable S3Location> UPLOAD =
      in(
              Group.OUTPUT,
              "upload",
              new Form<>(
                  "s3://bucket/prefix", Form.silent(S3Location::parse), "s3://bucket/prefix"))
          .orNull("none")
          .example("s3://load-tests/2026-11-22")
          .means(
              "where in S3-compatible object storage the run is put when it has ended, or was"
                  + " interrupted: <prefix>/<run>-<injector>/",
              "llm/ and llm.html, run.json after all other records: where it is, they are."
                  + " Credentials, region and endpoint (AWS_ENDPOINT_URL) as the AWS SDK finds"
                  + " them; software.amazon.awssdk:s3 and url-connection-client on the class path."
                  + " A place that cannot be reached is refused before the load; an upload that"
                  + " fails leaves all here and ends with exit code 1. Simulations of your own read"
                  + " it from the system property and the environment.");

  static final SettingEntry<@Nullable Double> GPUS =
      in(
              Group.OUTPUT,
              "gpus",
              Form.decimal("number > 0", "a number > 0", Double.MIN_VALUE, Double.MAX_VALUE))
          .orNull("none")
          .example("2")
          .means(
              "GPUs that serve each target: output tok/s per GPU, and its chart against tok/s per"
                  + " user");

  static final SettingEntry<Double> READING_SPEED =
      in(
              Group.OUTPUT,
              "readingSpeed",
              new Form<>(
                  "tokens/s, <n>wpm",
                  ReadingSpeed::parse,
                  "tokens per second such as 5, or words per minute such as 250wpm, above 0"))
          .byDefault("5")
          .example("250wpm")
          .means(
              "how fast readers of the answers read: the report says how long they wait for tokens"
                  + " that are late",
              "Words per minute ÷ 45 are tokens per second, as a token is about 0.75 words of"
                  + " English: 250wpm is 5.56.");

  static final SettingEntry<@Nullable Double> COST_PER_HOUR =
      in(
              Group.OUTPUT,
              "costPerHour",
              Form.decimal("number > 0", "a number > 0", Double.MIN_VALUE, Double.MAX_VALUE))
          .orNull("none")
          .example("3.60")
          .means(
              "what one GPU costs per hour, in any currency: cost per million output tokens, and"
                  + " per million within the SLO",
              "Without gpus it is what the whole server of each target costs.");

  // ---- Run -------------------------------------------------------------------------------------

  static final SettingEntry<@Nullable Long> SEED =
      in(Group.RUN, "seed", Form.wide())
          .orNull("random")
          .example("42")
          .means(
              "pins prompts and arrivals; always printed and recorded",
              "In simulations of your own (system property, environment) it pins what has no seed"
                  + " of its own: prompts, the order of dialogs, mixes, arrivals.");

  static final SettingEntry<@Nullable InjectorShare> INJECTOR =
      in(
              Group.RUN,
              "injector",
              new Form<>("<i>/<n>", Form.silent(InjectorShare::parse), "<i>/<n> such as 2/4"))
          .orNull("alone; or of JOB_COMPLETION_INDEX and INJECTORS")
          .example("2/4")
          .means(
              "this load generator is the i-th of n that share the load; merge joins their runs",
              "All have the same settings but this one, among them startAt. In the pod of"
                  + " an Indexed Job of Kubernetes it is JOB_COMPLETION_INDEX + 1 of INJECTORS."
                  + " Also for simulations of your own (system property, environment). What is"
                  + " shared out and how is in injectors.md.");

  static final SettingEntry<Integer> INJECTORS =
      in(Group.RUN, "injectors", Form.whole(1))
          .byDefault("1")
          .excludesWhere(
              "more than 1", injectors -> injectors > 1, "the load is shared out once", "injector")
          .excludesWhere(
              "more than 1", injectors -> injectors > 1, "it is of one process", "selfTest")
          .example("4")
          .means(
              "so many processes on this machine share the load, and their runs are joined",
              "For machines with many processors. This process starts them by its own Java, options"
                  + " and settings, with the shares 1/n to n/n, lets them start together, and ends"
                  + " with the report and the exit code of the joined run; see injectors.md. Also"
                  + " for simulations of your own (system property, environment).");

  static final SettingEntry<@Nullable StartTime> START_AT =
      in(
              Group.RUN,
              "startAt",
              new Form<>("time", Form.silent(StartTime::parse), StartTime.EXPECTED))
          .orNull("as soon as it is ready")
          .example("2027-03-01T09:30:00Z")
          .means(
              "instant at which the load starts, after the warm-up: " + StartTime.EXPECTED,
              "Who is not ready by then sends nothing, says by how much it is late, and ends with"
                  + " exit code 1. Also for simulations of your own (system property,"
                  + " environment).");

  static final SettingEntry<Boolean> SELF_TEST =
      in(Group.RUN, "selfTest", Form.flag())
          .byDefault("false")
          .example("true")
          .means(
              "measures how exact this tool is on this machine, in about a minute; reports of later"
                  + " runs quote it",
              "Streams of the embedded engine, in a process of its own that notes when it wrote"
                  + " each token, at rising concurrency until the load is clearly too high. Its"
                  + " target, prompts and phases are its own: settings of these are refused as"
                  + " system properties, and not read from the environment and .env.");

  static final SettingEntry<@Nullable String> SELF_TEST_FILE =
      in(Group.RUN, "selfTestFile", Form.text())
          .orNull("~/.gatling-llm/self-test.json")
          .example("self-test.json")
          .means(
              "where selfTest keeps its result and later runs find it",
              "Simulations of your own read it from the system property and the environment. Where"
                  + " it cannot be written, a line says so.");

  static final SettingEntry<TimeServer> CLOCK =
      in(
              Group.RUN,
              "clock",
              new Form<>(
                  "auto, off, host[:port]",
                  TimeServer::of,
                  "auto, off, or host[:port] of an NTP server"))
          .byDefault("auto")
          .example("ntp.example.com")
          .means(
              "what this machine's clock is compared with, so that merge can correct the clocks of"
                  + " several injectors: an NTP server, asked before and after the load; auto: the"
                  + " Date of the target's answers, which sends nothing",
              "Each injector asks the same. In run.json it is clock. Simulations of your own read"
                  + " it from the system property and the environment.");

  static final SettingEntry<Boolean> DRY_RUN =
      in(Group.RUN, "dryRun", Form.flag())
          .byDefault("false")
          .example("true")
          .means(
              "prints the plan and sends nothing",
              "Also that of simulations of your own (system property, environment): scenarios,"
                  + " load levels, targets, requests with the lengths of prompts and answers, SLO,"
                  + " seed.");

  static final SettingEntry<Boolean> HELP =
      in(Group.RUN, "help", Form.flag())
          .byDefault("false")
          .example("true")
          .means("prints these settings and sends nothing");

  private Setting() {}

  /** Begins an entry of the catalogue. */
  private static <T> SettingEntry<T> in(Group group, String name, Form<T> form) {
    SettingEntry<T> entry = new SettingEntry<>(group, name, form);
    ENTRIES.add(entry);
    return entry;
  }

  /** All settings, in the order of the catalogue. */
  static List<SettingEntry<?>> all() {
    return Collections.unmodifiableList(ENTRIES);
  }

  /** The setting of that name, without {@code llm.}; null if there is none. */
  static @Nullable SettingEntry<?> named(String name) {
    return ENTRIES.stream().filter(s -> s.name().equals(name)).findFirst().orElse(null);
  }

  /** The setting with that environment variable; null if there is none. */
  static @Nullable SettingEntry<?> ofVariable(String variable) {
    return ENTRIES.stream().filter(s -> s.variable().equals(variable)).findFirst().orElse(null);
  }

  /** The setting whose name is spelled most like this one. */
  static SettingEntry<?> nearest(String name) {
    List<String> names = ENTRIES.stream().map(SettingEntry::name).toList();
    return ENTRIES.get(names.indexOf(Spelling.nearest(name, names, 1).get(0)));
  }
}
