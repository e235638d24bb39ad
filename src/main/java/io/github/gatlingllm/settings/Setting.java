package io.github.gatlingllm.settings;

import static io.github.gatlingllm.settings.Setting.SettingScope.LOAD;
import static io.github.gatlingllm.settings.Setting.SettingScope.PLAN;
import static io.github.gatlingllm.settings.Setting.SettingScope.PROTOCOL;
import static io.github.gatlingllm.settings.Setting.SettingScope.RUN;
import static io.github.gatlingllm.settings.Setting.SettingScope.TARGET;
import static io.github.gatlingllm.settings.Setting.SettingScope.WORKLOAD;
import static io.github.gatlingllm.settings.Setting.SettingTrait.MERGED;
import static io.github.gatlingllm.settings.Setting.SettingTrait.OF_CLASS;
import static io.github.gatlingllm.settings.Setting.SettingTrait.OF_INJECTOR;
import static io.github.gatlingllm.settings.Setting.SettingTrait.OF_RUN;
import static io.github.gatlingllm.settings.Setting.SettingTrait.ONCE;
import static io.github.gatlingllm.settings.Setting.SettingTrait.PASSED_ON;
import static io.github.gatlingllm.settings.Setting.SettingTrait.PROBED;
import static io.github.gatlingllm.settings.Setting.SettingTrait.READ_FIRST;
import static io.github.gatlingllm.settings.Setting.SettingTrait.RECORDED;
import static io.github.gatlingllm.settings.Setting.SettingTrait.RECORDED_IF_SET;
import static io.github.gatlingllm.settings.Setting.SettingTrait.REHEARSED;
import static io.github.gatlingllm.settings.Setting.SettingTrait.SECRET;
import static io.github.gatlingllm.settings.Setting.SettingTrait.SELF_TESTED;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gatlingllm.client.Api;
import io.github.gatlingllm.figures.metric.NumberText;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Injector;
import io.github.gatlingllm.load.LoadLevel;
import io.github.gatlingllm.load.PlanText;
import io.github.gatlingllm.load.Seed;
import io.github.gatlingllm.load.StopRule;
import io.github.gatlingllm.load.StopRule.Repeats;
import io.github.gatlingllm.record.ConfigKey.Identifies;
import io.github.gatlingllm.record.InjectorRun.InjectorShare;
import io.github.gatlingllm.record.Objectives.Assertion;
import io.github.gatlingllm.record.ProcessSetting;
import io.github.gatlingllm.record.ProcessSetting.Proxy;
import io.github.gatlingllm.record.ProcessSetting.Spelling;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.record.StartCommand;
import io.github.gatlingllm.run.LevelHooks.Hook;
import io.github.gatlingllm.run.Observers;
import io.github.gatlingllm.settings.SettingValue.Abandonment;
import io.github.gatlingllm.settings.SettingValue.Length;
import io.github.gatlingllm.settings.SettingValue.Models;
import io.github.gatlingllm.settings.SettingValue.NamedUrl;
import io.github.gatlingllm.settings.SettingValue.ShownImages;
import io.github.gatlingllm.settings.SettingValue.Slos;
import io.github.gatlingllm.settings.SettingValue.StartRange;
import io.github.gatlingllm.settings.SettingValue.ThinkTime;
import io.github.gatlingllm.settings.SettingValue.Weighted;
import io.github.gatlingllm.storage.S3Location;
import io.github.gatlingllm.workload.CheckedPrompts;
import io.github.gatlingllm.workload.Dataset;
import io.github.gatlingllm.workload.Dataset.SessionFile;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.Prompts.PromptPool;
import io.github.gatlingllm.workload.Tokenizer;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A setting, and the catalogue of all: a row states once what all other places take from it. */
public final class Setting<T extends @Nullable Object> {
  private static final List<Setting<?>> ENTRIES = new ArrayList<>();

  private static final Form<Optional<Api>> API_FORM =
      Form.choice(
          Stream.concat(Stream.of("auto"), Api.ALL.stream().map(Api::key)).toList(),
          Stream.concat(Stream.of(Optional.<Api>empty()), Api.ALL.stream().map(Optional::of))
              .toList());

  private static final Form<Double> POSITIVE =
      Form.decimal("number > 0", Double.MIN_VALUE, Double.MAX_VALUE);

  public static final Setting<List<NamedUrl>> ENDPOINT =
      of(
              TARGET,
              "endpoint",
              "http://localhost:8000/v1",
              Form.list("URLs", NamedUrl::parse).map(NamedUrl::each))
          .heads("Target")
          .unset("the embedded engine", List.of())
          .traits(OF_RUN, PROBED)
          .means(
              "base URL (…/v1) of the server, or its full path; a full path such as"
                  + " …/v1/chat/completions names the API too; a list sets several targets, e.g."
                  + " vllm=http://a:8000/v1,sglang=http://b:30000/v1; http://a/v1+http://b/v1 is"
                  + " one target of several replicas");

  public static final Setting<Models> MODEL =
      of(TARGET, "model", "llama-8b", Form.texts("names").map(Models::of))
          .unset("the server's only model", Models.NONE)
          .traits(OF_CLASS, PROBED)
          .means(
              "model to request; one for all endpoints, or one per endpoint; a|b requests"
                  + " both from one endpoint, each as a separate target; base=50,lora=30 spreads"
                  + " the requests over models by weight");

  public static final Setting<List<String>> API_KEY =
      of(TARGET, "apiKey", "sk-…", Form.texts("keys"))
          .unset("none", List.of())
          .traits(SECRET, OF_RUN, PROBED)
          .means(
              "sent as Authorization: Bearer; put it into .env or the environment; one for all"
                  + " endpoints, or one per endpoint");

  public static final Setting<Optional<Api>> API =
      of(WORKLOAD, "api", "auto", "completions", API_FORM)
          .traits(PROBED)
          .means("API of the target; auto: the API in the path of the endpoint, else chat");

  public static final Setting<Boolean> INTERLEAVE =
      flag(LOAD, "interleave", false)
          .plan("order", on -> on ? "side by side" : "one after the other")
          .means("loads several targets at the same time instead of one after the other");

  public static final Setting<List<Tokenizer>> TOKENIZER =
      of(
              PROTOCOL,
              "tokenizer",
              "auto",
              "tiktoken:o200k_base",
              Form.texts("names").map(SettingValue::tokenizers))
          .withoutEndpoint("chars4")
          .inCode(List.of(Tokenizer.cl100k()))
          .recordedAs(used -> used.get(0).name())
          .traits(RECORDED, REHEARSED, SELF_TESTED, PROBED)
          .means(
              "tokenizer that counts tokens; auto: the server's, the model's"
                  + " tokenizer.json, that of an OpenAI model by its name, else"
                  + " tiktoken:cl100k_base as an estimate; other values are server, chars4,"
                  + " tiktoken:<encoding>, hf:<tokenizer.json, folder, or owner/name>; one for"
                  + " all endpoints, or one per endpoint");

  public static final Setting<String> PROMPT_TOKENS_OF =
      of(WORKLOAD, "promptTokensOf", "text", "request", Form.choice(List.of("text", "request")))
          .traits(OF_CLASS)
          .means(
              "what promptTokens counts; text: that of the user; request: all that the"
                  + " server counts, chat template included");

  public static final Setting<List<Integer>> CONCURRENCY =
      of(LOAD, "concurrency", "8", "1,2,4,8,16", Form.integers(1))
          .heads("Load")
          .withoutEndpoint("1,4,16,64")
          .excludes("the load is either a closed or an open loop", "rate")
          .traits(OF_CLASS, SELF_TESTED)
          .means(
              "closed loop: requests in flight; a completion starts the next; a list is a sweep");

  public static final Setting<List<LoadLevel.Open>> RATE =
      of(LOAD, "rate", "2,4,8", "numbers > 0, curve", LoadForms::rates)
          .unset("none: closed loop", List.of())
          .excludesWhere(
              "a curve", LoadForms::isCurve, "a curve has its own duration", "duration, requests")
          .excludesWhere("a curve", LoadForms::isCurve, "a search starts at one rate", "search")
          .excludesWhere("a curve", LoadForms::isCurve, "a curve has no load levels", "repeats")
          .traits(OF_CLASS)
          .means(
              "open loop: requests per second; a list is a sweep; <rate>:<duration>,… is a rate"
                  + " curve, steps:<rate>:<duration>,… a curve of steps");

  public static final Setting<@Nullable Arrivals> ARRIVAL =
      of(LOAD, "arrival", "gamma:1.4", "process, trace", LoadForms::arrival)
          .orNull("poisson")
          .excludesWhere(
              "a trace",
              LoadForms::isTrace,
              "a trace is the full load",
              "rate, concurrency, duration, requests")
          .needsWhere(
              "not a trace",
              arrival -> !LoadForms.isTrace(arrival),
              "only open loops have arrivals",
              "rate")
          .traits(OF_CLASS)
          .means(
              "arrival process of an open loop; one of poisson, constant, gamma:<cv>, or"
                  + " trace:<file>[@1s|@1ms][@<speed>], which replays recorded traffic");

  public static final Setting<@Nullable Double> WEIGHT =
      of(LOAD, "weight", "70", POSITIVE)
          .orNull("none")
          .needs("only classes of traffic share a load", "class.<name>.<setting>")
          .traits(OF_CLASS)
          .means("share of a class of traffic in the common rate or concurrency");

  public static final Setting<@Nullable String> CLASS =
      of(LOAD, "class.<name>.<setting>", "70", Form.text())
          .orNull("one class")
          .excludes("classes measure in the same windows", "search, trials, requests, interleave")
          .means(
              "a setting of one class of traffic, such as class.chat.weight; all classes have load"
                  + " together; own ones are those marked so, and a weight, rate or concurrency"
                  + " each");

  public static final Setting<Boolean> INTERFERENCE =
      flag(LOAD, "interference", false)
          .needs("compares classes of traffic", "class.<name>.<setting>")
          .means(
              "measures each class of traffic alone too, in random order; the report"
                  + " states what the other classes change for it");

  public static final Setting<@Nullable Integer> TRIALS =
      of(LOAD, "trials", "10", Form.integer(1))
          .excludes(
              "trials are bounded by their count",
              "rate, search, requests, duration, fill, stabilize, cooldown")
          .means(
              "batch mode; sends all requests of a level together, waits for the slowest,"
                  + " and repeats that this many times");

  public static final Setting<Repeats> REPEATS =
      of(PLAN, "repeats", "auto:3%", "number, auto:<percent>%", Repeats::parse)
          .unset("1", Repeats.ONCE)
          .excludes("trials are repeats already", "trials")
          .excludes("a search chooses its levels by their results", "search")
          .means(
              "how many times every load level is measured, in random order;"
                  + " auto:<percent>%[:<figure>] repeats until the 95 % interval of the figure,"
                  + " by default the throughput, is that narrow at every level");

  /** Of users of a closed loop; the other search is of rates. */
  public static final String MAX_USERS = "maxUsers";

  public static final Setting<@Nullable String> SEARCH =
      of(LOAD, "search", "maxGoodput", Form.choice(List.of("maxGoodput", MAX_USERS)))
          .orNull("none")
          .needs("has no SLO to hold", "slo")
          .excludesWhere(
              "maxGoodput",
              what -> !what.equals(MAX_USERS),
              "it searches rates; start it with llm.rate",
              "concurrency")
          .excludesWhere(
              MAX_USERS,
              MAX_USERS::equals,
              "it searches closed loops; start it with llm.concurrency",
              "rate")
          .excludes("it draws its arrivals", "arrival")
          .means(
              "searches for the highest load at which the SLO holds; maxGoodput: a Poisson rate;"
                  + " maxUsers: users of a closed loop");

  public static final Setting<Double> SEARCH_PRECISION =
      of(
              LOAD,
              "searchPrecision",
              "0.05",
              "0.1",
              Form.decimal("number > 0, < 1", Double.MIN_VALUE, Math.nextDown(1.0)))
          .needs("has no effect alone", "search")
          .means("largest error of the found load, as a share of the true one");

  public static final Setting<List<StopRule>> STOP_WHEN =
      of(PLAN, "stopWhen", "errorsInARow>100", "errors>10%", Form.list("rules", StopRule::parse))
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

  public static final Setting<Integer> WARMUP =
      of(PROTOCOL, "warmup", "1", "3", Form.integer(0))
          .heads("Phases and bounds of each load level")
          .traits(SELF_TESTED)
          .means(
              "real requests before measuring, per run and target; they are in no record"
                  + " and no figure but one: the last is the single-stream peak; where prompts"
                  + " have one length and the server does not say what its chat template adds, a"
                  + " short one more is sent");

  public static final Setting<@Nullable Duration> WAIT_READY =
      of(PROTOCOL, "waitReady", "5m", Form.duration(false))
          .orNull("no wait")
          .traits(OF_RUN, RECORDED_IF_SET, PROBED)
          .plan("wait", max -> "at most " + PlanText.time(max) + " for a server that still starts")
          .means(
              "longest wait for a server that still starts; waits for its pages /health"
                  + " and /models, then for the first request");

  public static final Setting<List<Hook>> BEFORE_LEVEL =
      hooks("beforeLevel", "POST:/reset_prefix_cache")
          .plan("before levels", hooks -> hooks.isEmpty() ? null : Hook.texts(hooks))
          .means(
              "requests to the server before each level; sent in order, when the level before has"
                  + " drained; with @c=8 at the end before this level only, with @running>64 once"
                  + " more than 64 requests of a level are in flight");

  public static final Setting<List<Hook>> AFTER_LEVEL =
      hooks("afterLevel", "POST:/stop_profile@c=8")
          .plan("after levels", hooks -> hooks.isEmpty() ? null : Hook.texts(hooks))
          .means(
              "requests to the server after each level; sent in order, when the level has"
                  + " drained; with @c=8 at the end after this level only, with @running>64 after"
                  + " levels that exceeded it only; after one that failed no other level starts");

  public static final Setting<Boolean> JVM_WARM_UP =
      flag(PROTOCOL, "jvmWarmUp", true)
          .traits(SELF_TESTED)
          .means(
              "requests to an engine inside this JVM before the load; they end when the"
                  + " JIT compilers have nothing left to do, after 10 s at most");

  public static final Setting<Optional<Duration>> FILL =
      of(LOAD, "fill", "auto", "5s", Form.automatic())
          .traits(OF_CLASS)
          .means("time over which the users of a level start");

  public static final Setting<Optional<Duration>> STABILIZE =
      of(LOAD, "stabilize", "auto", "20s", Form.automatic())
          .means("time for the load to settle, after all users have started");

  public static final Setting<Duration> DURATION =
      of(LOAD, "duration", "30", "2m", Form.duration(false))
          .withoutEndpoint("12")
          .traits(SELF_TESTED)
          .means("time measured at each load level");

  public static final Setting<@Nullable Integer> REQUESTS =
      of(LOAD, "requests", "1000", Form.integer(1))
          .orNull("bounded by duration")
          .means(
              "bounds a level by its requests instead of time; with duration too, what"
                  + " comes first ends the level");

  public static final Setting<Boolean> COOLDOWN =
      flag(LOAD, "cooldown", true)
          .excludesWhere("true", on -> on, "exactly that many requests are sent", "requests")
          .means("continues the load, in no figure, until all measured requests have ended");

  public static final Setting<Duration> DRAIN =
      of(LOAD, "drain", "30", "1m", Form.duration(true))
          .traits(SELF_TESTED)
          .means(
              "longest wait for requests in flight at the end of a level, which are then"
                  + " cancelled");

  public static final Setting<@Nullable String> PROMPT =
      of(WORKLOAD, "prompt", "Why is the sky blue?", Form.text())
          .heads("Prompts")
          .orNull("built-in prompts")
          .excludes("prompts are either one text or a file", "prompts")
          .traits(OF_CLASS, PROBED)
          .means("the same text in every request");

  public static final Setting<@Nullable PromptPool> PROMPTS =
      of(WORKLOAD, "prompts", "prompts.jsonl", "file", PromptPool::read)
          .traits(OF_CLASS)
          .means(
              "file of prompts: JSON array, JSONL, CSV, or a prompt per line; output_tokens of an"
                  + " object is the length of its answer");

  public static final Setting<List<Length>> PROMPT_TOKENS =
      of(WORKLOAD, "promptTokens", "256:96", "numbers, ranges", Length::each)
          .unset(
              Length.BUILT_IN_MIN
                  + "-"
                  + Length.BUILT_IN_MAX
                  + " for built-in prompts, else unchanged",
              List.of())
          .excludesWhere("a list", Setting::isList, "each pair of lengths has a sweep", "search")
          .traits(OF_CLASS)
          .means(
              "cuts or pads every prompt to exactly that many tokens; <mean>:<std>, <min>-<max>,"
                  + " lognormal:<mean>:<std> and weighted:128=70,4096=30 draw the length; a list"
                  + " makes a grid with maxTokens: each pair has the full load");

  public static final Setting<Integer> INPUTS_PER_REQUEST =
      of(WORKLOAD, "inputsPerRequest", "1", "16", Form.integer(1))
          .means("number of texts to embed, or of documents to rerank, in a request");

  public static final Setting<@Nullable Function<Tokenizer, Dataset>> DATASET =
      of(
              WORKLOAD,
              "dataset",
              "sharegpt:chats.json",
              "<sharegpt|oasst|longbench|mooncake|openai>:<file>",
              SettingValue::dataset)
          .excludes("each defines the prompts", "prompt, prompts, promptTokens")
          .traits(OF_CLASS, OF_RUN)
          .means(
              "recorded dialogs in one of these formats; <file> is also https://… or"
                  + " hf:<owner>/<name>[@<revision>]/<file>, with #sha256=<digits> if pinned");

  public static final Setting<@Nullable Function<Tokenizer, SessionFile>> SESSIONS =
      Setting.<Function<Tokenizer, SessionFile>>of(
              WORKLOAD,
              "sessions",
              "agents.jsonl",
              "file",
              file -> tokenizer -> SessionFile.open(file, tokenizer))
          .orNull("none")
          .excludes(
              "sessions have their own prompts and gaps",
              "prompt, prompts, promptTokens, dataset, mix, lengths, images, thinkTime")
          .traits(OF_CLASS)
          .means(
              "recorded sessions of agents with tool gaps and sub-agents, one per user; a file or"
                  + " folder of a request per line, Mooncake's too, of OpenTelemetry's spans"
                  + " (OTLP/JSON), of Weka's or TraceLab's traces; llm.rate is sessions per"
                  + " second");

  public static final Setting<@Nullable Duration> SESSION_GAP_CAP =
      of(PROTOCOL, "sessionGapCap", "10s", Form.duration(true))
          .orNull("gaps as recorded")
          .needs("replays recorded gaps", "sessions")
          .traits(RECORDED_IF_SET)
          .plan("gaps", cap -> "at most " + PlanText.time(cap))
          .means(
              "longest gap of replayed sessions; from the end of an answer to the next"
                  + " request; the plan states how much of the recorded time it takes away");

  public static final Setting<Double> SESSION_SPEED =
      of(PROTOCOL, "sessionSpeed", "1", "2", POSITIVE)
          .needs("replays recorded gaps", "sessions")
          .traits(RECORDED_IF_SET)
          .plan("gaps", speed -> speed == 1 ? null : "divided by " + NumberText.plain(speed))
          .means("divides the gaps of replayed sessions, after sessionGapCap");

  public static final Setting<@Nullable StartRange> SESSION_START =
      of(PROTOCOL, "sessionStart", "random", "random, <from>-<to>%", StartRange::parse)
          .orNull("at the beginning")
          .needs("replays recorded sessions", "sessions")
          .excludes("only the users of a closed loop wait for each other", "rate, arrival, trials")
          .traits(RECORDED_IF_SET)
          .plan("sessions begin", range -> "at a random instant in " + range + " of each")
          .means(
              "where in its first session each user begins; at a random instant in that"
                  + " part of it: the request before that instant is sent first, in the phase"
                  + " fill, and when all users have its answer, all go on together; later"
                  + " sessions begin at their beginning");

  public static final Setting<String> SESSION_ANSWERS =
      of(
              PROTOCOL,
              "sessionAnswers",
              "recorded",
              "server",
              Form.choice(List.of("recorded", "server")))
          .needs("replays recorded sessions", "sessions")
          .traits(RECORDED_IF_SET)
          .plan("history", who -> who.equals("server") ? "the server's own answers" : null)
          .means(
              "whose answers are in the prompts of replayed sessions; recorded: text of"
                  + " the recorded length, so that blocks of the prefix cache stay as recorded;"
                  + " server: its own, where a prompt continues the one before and no tool was"
                  + " called");

  public static final Setting<@Nullable Function<Tokenizer, Dataset>> B2_DATASET =
      of(WORKLOAD, "dataset.B2", "longbench:hf:THUDM/LongBench-v2/data.json", DATASET.form)
          .traits(OF_CLASS, OF_RUN)
          .means("texts of scenario B2, each cut to its length");

  public static final Setting<@Nullable Function<Tokenizer, Dataset>> D_DATASET =
      of(WORKLOAD, "dataset.D", "oasst:chats.jsonl.gz", DATASET.form)
          .traits(OF_CLASS, OF_RUN)
          .means("dialogs of scenario D, each to its end or <turns>");

  public static final Setting<@Nullable String> DATASET_CACHE =
      of(RUN, "datasetCache", "/data/datasets", Form.text())
          .orNull("~/.gatling-llm/datasets")
          .traits(OF_RUN, PASSED_ON)
          .means("folder of downloaded files, each downloaded once");

  public static final Setting<List<Weighted>> SCENARIO =
      of(WORKLOAD, "scenario", "B1,C", Weighted.ALONE)
          .unset("none", List.of())
          .needsWhere(AgentX.NAME, List::isEmpty, "replays recorded sessions", "sessions")
          .excludesWhere(
              "A1 to D", known -> !known.isEmpty(), "each defines the prompts", "sessions")
          .excludes("scenarios run either one after the other or mixed", "mix")
          .excludes("scenarios have their own prompts", "prompt, prompts, dataset, promptTokens")
          .traits(OF_CLASS)
          .means(
              "known workloads, one after the other, each with the full load; agentx: sessions by"
                  + " the rules of that benchmark");

  public static final Setting<List<Weighted>> MIX =
      of(
              WORKLOAD,
              "mix",
              "C:70,B1:30",
              Form.list("<scenario>:<weight > 0>", Weighted::parse).map(Weighted::each))
          .unset("none", List.of())
          .excludes("scenarios have their own prompts", "prompt, prompts, dataset, promptTokens")
          .means("known workloads mixed by weight, e.g. C:70,B1:30");

  public static final Setting<Integer> TURNS =
      of(WORKLOAD, "turns", "5", "8", Form.integer(1))
          .traits(OF_CLASS)
          .means("turns of a dialog of scenario D");

  public static final Setting<@Nullable Integer> CONTEXT_TOKENS =
      of(WORKLOAD, "contextTokens", "8192", Form.integer(1))
          .orNull("no limit")
          .plan("context", max -> max + " tokens; a dialog ends before a turn that would not fit")
          .traits(OF_CLASS)
          .means(
              "context length of the model; a dialog ends before a turn that would exceed" + " it");

  public static final Setting<Boolean> TURN_BY_TURN =
      flag(WORKLOAD, "turnByTurn", false)
          .needs("replays recorded dialogs", "dataset")
          .traits(OF_CLASS)
          .means(
              "sends the user turns of a recorded dialog in turn; each has the answers"
                  + " before it");

  public static final Setting<ThinkTime> THINK_TIME =
      of(WORKLOAD, "thinkTime", "1s-5s", "duration, range", ThinkTime::parse)
          .unset("none", ThinkTime.NONE)
          .plan(
              "think time",
              think -> think.isNone() ? null : think + " before a user's next request")
          .traits(OF_CLASS)
          .means(
              "time from an answer to the next request of its user; a range is drawn from"
                  + " uniformly");

  public static final Setting<LengthDistribution.@Nullable Pairs> LENGTHS =
      of(
              WORKLOAD,
              "lengths",
              "256|32,128|16:60;4096,512:40",
              "pairs, prefillHeavy, balanced, decodeHeavy",
              SettingValue::lengths)
          .excludes("each sets the length of prompts", "promptTokens, scenario, mix, dataset")
          .traits(OF_CLASS)
          .means(
              "lengths of prompts and answers that belong together; drawn by weight from"
                  + " <mean>|<std>,<mean>|<std>:<weight>;…; or one of prefillHeavy (8192 in, 1024"
                  + " out), balanced (1024 in, 1024 out), decodeHeavy (1024 in, 8192 out)");

  public static final Setting<Boolean> UNIQUE_PROMPTS =
      flag(PROTOCOL, "uniquePrompts", true)
          .inCode(false)
          .traits(OF_CLASS, REHEARSED)
          .means(
              "begins every prompt with a seeded nonce; so none is in a prefix cache; in"
                  + " replayed sessions all requests of a replay begin with the same one, so"
                  + " they share what was recorded as shared");

  public static final Setting<@Nullable Long> NONCE =
      of(RUN, "nonce", "run", "seed", new Form<>("run, seed, integer", Seed::nonce))
          .traits(PASSED_ON)
          .means(
              "what nonces depend on besides the seed; run: the run, so that the prompts"
                  + " of an earlier run are in no prefix cache; seed: nothing, so that equal"
                  + " seeds send equal bytes; the nonceOfRun in the run.json of a run sends its"
                  + " bytes again");

  public static final Setting<@Nullable ShownImages> IMAGES =
      of(WORKLOAD, "images", "1x512x512", "<n>x<w>x<h>, file", ShownImages::parse)
          .excludes("each defines the prompts", "dataset, scenario, mix")
          .plan("images", ShownImages::toString)
          .traits(OF_CLASS)
          .means(
              "images in every request; <n> generated ones of <w>x<h> pixels, or those of"
                  + " a file or folder");

  public static final Setting<PromptPrefix.@Nullable Shared> SHARED_PREFIX =
      of(PROTOCOL, "sharedPrefix", "8x512", "<groups>x<tokens>", SettingValue::sharedPrefix)
          .excludes("a nonce at the start leaves no prefix to share", "uniquePrompts")
          .traits(OF_CLASS, REHEARSED)
          .means("begins every prompt with one of <groups> texts; each has <tokens> tokens");

  public static final Setting<Boolean> STREAM =
      flag(PROTOCOL, "stream", true)
          .heads("Requests")
          .traits(OF_CLASS, RECORDED)
          .means("requests a stream; without it TTFT, TPOT and ITL are absent");

  public static final Setting<List<Length>> MAX_TOKENS =
      of(WORKLOAD, "maxTokens", "128:32", "numbers, ranges", Length::each)
          .byDefault("lognormal:128:64")
          .withoutEndpoint("lognormal:16:8")
          .needsWhere("a list", Setting::isList, "a grid has lengths of prompts", "promptTokens")
          .excludesWhere("a list", Setting::isList, "each pair of lengths has a sweep", "search")
          .traits(OF_CLASS, PROBED)
          .means(
              "output length in each of the forms of promptTokens; it is drawn for each"
                  + " request; a list makes a grid with promptTokens");

  public static final Setting<String> MAX_TOKENS_FIELD =
      of(
              PROTOCOL,
              "maxTokensField",
              "auto",
              "max_completion_tokens",
              Form.choice(Api.MAX_TOKENS_FIELDS))
          .traits(RECORDED_IF_SET, PROBED)
          .means(
              "field of chat completions that has maxTokens; auto: max_tokens until the"
                  + " server rejects it in the first request; none: no limit is sent");

  public static final Setting<Boolean> INCLUDE_USAGE =
      flag(PROTOCOL, "includeUsage", true)
          .inCode(null)
          .traits(RECORDED_IF_SET, PROBED)
          .means("requests the server's count of tokens: stream_options.include_usage");

  public static final Setting<String> EVENT_TOKENS =
      of(PROTOCOL, "eventTokens", "auto", "server", Form.choice(List.of("auto", "server", "none")))
          .traits(PROBED)
          .means(
              "who counts the tokens of each event of a stream; server: the server, by a"
                  + " field of the request (stream_options.continuous_usage_stats); auto: vLLM"
                  + " and SGLang are asked, as /v1/models or their metrics name them; none:"
                  + " they are estimated");

  public static final Setting<Boolean> IGNORE_EOS =
      flag(PROTOCOL, "ignoreEos", true)
          .inCode(null)
          .recordedAs(asked -> Boolean.toString(!Boolean.FALSE.equals(asked)))
          .traits(OF_CLASS, RECORDED, PROBED)
          .means(
              "sends ignore_eos and min_tokens; every output has exactly its length of"
                  + " maxTokens");

  public static final Setting<@Nullable Double> TEMPERATURE =
      of(WORKLOAD, "temperature", "0.7", Form.decimal("number ≥ 0", 0, Float.MAX_VALUE))
          .orNull("the server's")
          .traits(OF_CLASS, PROBED)
          .plan("sampling", number -> "temperature " + NumberText.plain(number))
          .means("sampling temperature");

  public static final Setting<@Nullable Double> TOP_P =
      of(WORKLOAD, "topP", "0.95", Form.decimal("number > 0, ≤ 1", Double.MIN_VALUE, 1))
          .orNull("the server's")
          .traits(OF_CLASS, PROBED)
          .plan("sampling", number -> "top_p " + NumberText.plain(number))
          .means("nucleus sampling; share of the probability that tokens are sampled from");

  public static final Setting<ObjectNode> BODY =
      of(PROTOCOL, "body", "{\"top_k\":40}", "JSON object", SettingValue::body)
          .unset("none", SettingValue.body("{}"))
          .traits(OF_CLASS, PROBED)
          .means("JSON object that is merged into every request");

  public static final Setting<@Nullable String> HEADER =
      of(PROTOCOL, "header.<Name>", "acme", Form.text())
          .traits(OF_CLASS, MERGED)
          .means("extra header of every request");

  public static final Setting<@Nullable String> CONVERSATION_HEADER =
      of(
              PROTOCOL,
              "conversationHeader",
              "x-session-id",
              "header name",
              name -> Form.require(name, Settings::isHeaderName))
          .orNull("none")
          .traits(OF_CLASS, RECORDED_IF_SET, PROBED)
          .means(
              "header with a different value for each dialog; it is the same in all its"
                  + " turns, by which a gateway finds its replica");

  public static final Setting<Duration> TIMEOUT =
      of(PROTOCOL, "timeout", "600", "2m", Form.duration(false))
          .heads("Connections and limits")
          .traits(OF_CLASS, RECORDED, REHEARSED, PROBED)
          .plan("limits", max -> PlanText.time(max) + " per request")
          .means("longest time of a complete request");

  public static final Setting<Duration> IDLE_TIMEOUT =
      of(PROTOCOL, "idleTimeout", "120", "30s", Form.duration(false))
          .traits(OF_CLASS, RECORDED, REHEARSED, PROBED)
          .plan("limits", max -> PlanText.time(max) + " between events")
          .means("longest time without a byte of a stream, before its first byte too");

  public static final Setting<@Nullable Abandonment> ABANDON =
      of(PROTOCOL, "abandon", "10%@2s-5s", "<share>%@<time>, range", SettingValue::abandonment)
          .orNull("everyone stays")
          .traits(OF_CLASS, RECORDED_IF_SET)
          .plan("limits", leaving -> "users leave: " + leaving)
          .means(
              "users who leave before their answer ends; it happens to <share>% of the"
                  + " requests, after <time>, which is drawn from a range uniformly");

  public static final Setting<@Nullable Integer> MAX_IN_FLIGHT =
      of(PROTOCOL, "maxInFlight", "64", Form.integer(1))
          .orNull("no limit")
          .traits(OF_CLASS, RECORDED_IF_SET, REHEARSED)
          .plan("limits", max -> max + " in flight")
          .means("maximum number of requests in flight per target; others wait in order");

  public static final Setting<@Nullable Integer> MAX_REQUESTS_PER_MINUTE =
      of(PROTOCOL, "maxRequestsPerMinute", "500", Form.integer(1))
          .orNull("no limit")
          .traits(RECORDED_IF_SET)
          .plan("limits", max -> max + " requests a minute")
          .means(
              "maximum number of requests in any 60 s; it holds for each target and load generator,"
                  + " and others wait in order");

  public static final Setting<@Nullable Integer> MAX_TOKENS_PER_MINUTE =
      of(PROTOCOL, "maxTokensPerMinute", "150000", Form.integer(1))
          .orNull("no limit")
          .traits(RECORDED_IF_SET)
          .plan("limits", max -> max + " tokens a minute")
          .means(
              "maximum number of tokens in any 60 s; counted are those of the prompt,"
                  + " four characters each, and maxTokens of the answer, until the server's"
                  + " usage states how many they were");

  public static final Setting<String> CONNECTIONS =
      of(PROTOCOL, "connections", "shared", "perUser", Form.choice(List.of("shared", "perUser")))
          .traits(RECORDED, REHEARSED, SELF_TESTED, PROBED)
          .plan(
              "connections",
              who -> who.equals("shared") ? "shared by all users" : "own ones per user")
          .means(
              "who can reuse a kept-alive connection; shared: any user; perUser: the user"
                  + " who opened it");

  public static final Setting<Boolean> HTTP2 =
      flag(WORKLOAD, "http2", false)
          .traits(PROBED)
          .plan("connections", on -> on ? "HTTP/2 where the server agrees" : null)
          .means("HTTP/2 if the server agrees to it (ALPN), which is possible over https only");

  public static final Setting<Boolean> VERIFY_TLS =
      flag(PROTOCOL, "verifyTls", true)
          .inCode(null)
          .traits(RECORDED_IF_SET, REHEARSED, PROBED)
          .plan("connections", on -> on ? null : "certificates NOT verified")
          .means(
              "refuses certificates that are not trusted or are of another host; TLS below"
                  + " 1.2 is refused too");

  public static final Setting<@Nullable String> PROXY =
      of(RUN, "proxy", "http://proxy:3128", "URL, env, none", Proxy::check)
          .orNull("none, or that of the http protocol")
          .traits(PASSED_ON, PROBED)
          .means(
              "HTTP proxy of all requests but those to engines in this JVM; env: that of"
                  + " HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY");

  public static final Setting<Slos> SLO =
      of(PROTOCOL, "slo", "ttft<200ms,tpot<50ms", "limits", Slos::parse)
          .heads("Objectives and build gates")
          .unset("none", Slos.NONE)
          .traits(OF_CLASS, REHEARSED, MERGED)
          .means(
              "objectives of every request, e.g. ttft<200ms,tpot<50ms,e2e<10s; several tiers judge"
                  + " the same requests: gold:ttft<200ms,tpot<30ms;silver:ttft<1s; presets are "
                  + Slo.presets());

  public static final Setting<@Nullable String> SLO_TIER =
      of(PROTOCOL, "sloTier", "silver", Form.text())
          .orNull("the first")
          .traits(MERGED)
          .means(
              "tier of slo that searches, stop rules, headlines and gates without a tier use; all"
                  + " tiers are judged");

  public static final Setting<Double> SLO_PERCENTILE =
      of(
              PROTOCOL,
              "sloPercentile",
              "99",
              "95",
              Form.decimal("percentage ≤ 100", Double.MIN_VALUE, 100))
          .needs("has no effect alone", "slo")
          .traits(OF_CLASS, MERGED)
          .means(
              "share of attempted requests, also failed ones, that must meet the SLO; a"
                  + " load level holds the SLO if that share meets it, by the rule of sloRule");

  public static final Setting<Slo.Rule> SLO_RULE =
      of(PROTOCOL, "sloRule", "percentiles", "requests", Form.choice(Slo.Rule.class))
          .needs("has no effect alone", "slo")
          .traits(OF_CLASS, MERGED)
          .means(
              "how the share of sloPercentile is taken; percentiles: each objective by itself is"
                  + " met by that share; requests: all of them together");

  public static final Setting<List<Assertion>> ASSERT =
      of(
              PROTOCOL,
              "assert",
              "ttft.p99<200ms,errors<1%",
              Form.list("assertions", AssertionForm::assertion))
          .unset("none", List.of())
          .needsWhere(
              "goodput",
              assertions -> assertions.stream().anyMatch(Assertion::needsSlo),
              "has no SLO to judge",
              "slo")
          .traits(OF_RUN, SELF_TESTED, MERGED)
          .means(
              "build gates; for example"
                  + " ttft.p99<200ms,goodput>=95%,errors<1%,c=8:tpot.mean<40ms,valid");

  public static final Setting<Boolean> FAIL_BUILD =
      flag(PROTOCOL, "failBuild", true)
          .traits(OF_RUN, RECORDED_IF_SET, SELF_TESTED)
          .means("fails the build where an assertion is missed or the run is invalid");

  public static final Setting<@Nullable Boolean> FAIL_ON_INVALID =
      of(PROTOCOL, "failOnInvalid", "false", Form.flag())
          .orNull("true; where nothing is asserted, not for the check generator alone")
          .withoutEndpoint("false")
          .traits(OF_RUN, RECORDED_IF_SET, SELF_TESTED)
          .means(
              "whether a run that a check calls invalid fails the build; the exit code is"
                  + " then 2");

  public static final Setting<@Nullable CheckedPrompts> ANSWERS =
      of(PROTOCOL, "answers", "check", "check, file", CheckedPrompts::parse)
          .orNull("none")
          .traits(OF_RUN, RECORDED_IF_SET)
          .plan("answers", SettingValue::answers)
          .means(
              "compares answers to the same prompts before, beside and after the load; they are"
                  + " sent with temperature 0, twice before the load, once beside each level and"
                  + " once after it, 1 to 4 at a time; check: 50 prompts of the load; a file (JSON,"
                  + " JSON lines, CSV) has prompt, and expected or pattern, a regular expression"
                  + " that the right answer has");

  public static final Setting<Boolean> RECORD_TEXT =
      flag(PROTOCOL, "recordText", false)
          .heads("Records and reports")
          .traits(OF_RUN)
          .means("stores prompts and answers in the records");

  public static final Setting<Boolean> RECORD_TOKENS =
      flag(PROTOCOL, "recordTokens", true)
          .traits(OF_RUN, RECORDED)
          .means("stores the time of every event; without it figures of windows are interpolated");

  public static final Setting<Boolean> CSV =
      flag(PROTOCOL, "csv", false)
          .traits(OF_RUN, RECORDED_IF_SET, SELF_TESTED)
          .means("writes requests.csv");

  public static final Setting<List<NamedUrl>> METRICS_URL =
      of(
              PROTOCOL,
              "metricsUrl",
              "auto",
              "auto,http://localhost:9400/metrics",
              Form.list("auto, none, URLs", NamedUrl::parse).map(NamedUrl::metricsPages))
          .traits(OF_RUN, PROBED, MERGED)
          .means(
              "pages of metrics; they have Prometheus text of server, GPUs and host, and"
                  + " are read once a second; auto: <host>/metrics of each target, if that is a"
                  + " page of an engine; none: no page; prefill=URL, decode=URL: of servers with"
                  + " a role");

  public static final Setting<@Nullable InetSocketAddress> LIVE =
      of(RUN, "live", "8088", "<port>, <address>:<port>", Observers::address)
          .traits(OF_RUN, PASSED_ON)
          .means("port of a page on 127.0.0.1 that shows the run while it is on; 0: any free one");

  public static final Setting<@Nullable String> OTLP =
      of(RUN, "otlp", "http://localhost:4318/v1/metrics", Form.text())
          .traits(OF_RUN, PASSED_ON)
          .means("URL that meters are sent to every 10 s; by OTLP over HTTP");

  public static final Setting<Boolean> TRACE =
      flag(PROTOCOL, "trace", false)
          .traits(OF_RUN, RECORDED_IF_SET)
          .means("sends a traceparent (W3C) with every request, and records its trace id");

  public static final Setting<Double> TRACE_SHARE =
      of(
              PROTOCOL,
              "traceShare",
              "100%",
              "1%",
              new Form<>("<percent>%", Observers.TraceContext::share))
          .traits(OF_RUN, RECORDED_IF_SET)
          .needs("has no effect alone", "trace")
          .means("share of the requests that are traced; servers record no spans of the others");

  public static final Setting<@Nullable URI> OTLP_TRACES =
      of(RUN, "otlpTraces", "http://localhost:4318/v1/traces", "URL", Observers.TraceContext::url)
          .orNull("none")
          .traits(OF_RUN, PASSED_ON)
          .needs("has no spans to send", "trace")
          .means("URL that spans are sent to every second; of traced requests, by OTLP over HTTP");

  public static final Setting<@Nullable S3Location> UPLOAD =
      of(RUN, "upload", "s3://load-tests/2026-11-22", "s3://bucket/prefix", S3Location::parse)
          .traits(OF_RUN, PASSED_ON)
          .means(
              "S3-compatible storage of the run; uploaded when it has ended or was"
                  + " interrupted, as <prefix>/<run>-<injector>/");

  public static final Setting<List<String>> EXPORT =
      of(
              PROTOCOL,
              RunFiles.EXPORT,
              "vllm,aiperf",
              Form.list(
                  String.join(", ", RunFiles.EXPORTS), Form.choice(RunFiles.EXPORTS).parser()))
          .unset("none", List.of())
          .traits(OF_RUN, RECORDED_IF_SET)
          .means("writes the results of each load level for other tools too");

  public static final Setting<@Nullable String> ENGINE_VERSION =
      of(PROTOCOL, "engineVersion", "vllm 0.11.0", Form.text())
          .traits(OF_RUN)
          .means("version of the server's engine, recorded; trend and compare show it");

  public static final Setting<@Nullable Double> GPUS =
      of(PROTOCOL, "gpus", "2", POSITIVE)
          .traits(RECORDED_IF_SET)
          .means("GPUs that serve each target: adds output tok/s per GPU, and its chart");

  public static final Setting<Double> READING_SPEED =
      of(PROTOCOL, "readingSpeed", "5", "7.5", Form.decimal("tokens/s > 0", Double.MIN_VALUE, 1e6))
          .means(
              "how fast answers are read; the report states how long readers wait for late"
                  + " tokens");

  public static final Setting<@Nullable Double> COST_PER_HOUR =
      of(PROTOCOL, "costPerHour", "3.60", POSITIVE)
          .traits(RECORDED_IF_SET)
          .means(
              "price of one GPU per hour, in any currency; adds the cost per million"
                  + " output tokens, and per million tokens within the SLO");

  public static final Setting<@Nullable Long> SEED =
      of(PROTOCOL, "seed", "42", "integer", Long::valueOf)
          .heads("Run")
          .orNull("random")
          .traits(OF_INJECTOR, PASSED_ON, REHEARSED, SELF_TESTED)
          .means("pins prompts and arrivals; always printed and recorded");

  public static final Setting<@Nullable InjectorShare> INJECTOR =
      of(RUN, "injector", "2/4", "<i>/<n>", InjectorShare::parse)
          .orNull("1/1, or JOB_COMPLETION_INDEX and INJECTORS")
          .excludes("a self-test runs in one process", "selfTest")
          .traits(OF_INJECTOR, ONCE, PASSED_ON, SELF_TESTED)
          .means(
              "this load generator is the i-th of n that share the load; the command merge"
                  + " merges their runs");

  public static final Setting<@Nullable Instant> START_AT =
      of(RUN, "startAt", "2027-03-01T09:30:00Z", "time", Injector::start)
          .orNull("as soon as it is ready")
          .traits(OF_RUN, ONCE, PASSED_ON)
          .means("time at which the load starts, after the warm-up; " + Injector.START_EXPECTED);

  public static final Setting<Boolean> SELF_TEST =
      flag(RUN, "selfTest", false)
          .traits(ONCE, SELF_TESTED)
          .means(
              "measures the timing error of this tool on this machine; takes about a"
                  + " minute, and reports of later runs quote it");

  public static final Setting<@Nullable String> SELF_TEST_FILE =
      of(RUN, "selfTestFile", "self-test.json", Form.text())
          .orNull("~/.gatling-llm/self-test.json")
          .traits(OF_RUN, PASSED_ON, SELF_TESTED)
          .means("file that selfTest writes its result to, and that later runs read");

  private static final Form<String> FILE = new Form<>("file", name -> name);

  public static final Setting<@Nullable String> CONFIG =
      of(RUN, "config", "bench.conf", FILE)
          .traits(OF_RUN, READ_FIRST, SELF_TESTED, PROBED)
          .means("file of settings in HOCON or JSON; the environment and the command line win");

  public static final Setting<@Nullable String> ENV =
      of(RUN, "env", "staging.env", FILE)
          .orNull(".env, if there is one")
          .traits(OF_RUN, READ_FIRST, SELF_TESTED, PROBED)
          .means("file of LLM_NAME=value lines");

  public static final Setting<@Nullable String> SAVE_CONFIG =
      of(RUN, "saveConfig", "bench.conf", FILE)
          .traits(OF_RUN, ONCE)
          .means("writes what is set, without keys, as a file for config");

  public static final Setting<Boolean> DRY_RUN =
      flag(RUN, "dryRun", false)
          .traits(ONCE, PASSED_ON, SELF_TESTED)
          .means("prints the plan and sends nothing");

  public static final Setting<Boolean> HELP =
      flag(RUN, "help", false)
          .traits(ONCE, SELF_TESTED, PROBED)
          .means("prints these settings and sends nothing");

  static {
    CLASS.means(
        "a setting of one class of traffic, e.g. class.chat.weight; all classes have load at the"
            + " same time, each with a weight, a rate or a concurrency; <setting> is one of "
            + ENTRIES.stream()
                .filter(row -> row.is(OF_CLASS))
                .map(row -> row.name)
                .collect(Collectors.joining(", ")));
  }

  /** Of what a setting is. */
  public enum SettingScope {
    /** A part of a target, of which a simulation may have several. */
    TARGET,
    /** Of the requests to each target, in any simulation. */
    PROTOCOL,
    /** Of any load plan, also of one in code. */
    PLAN,
    /** Of the load that {@code Benchmark} makes; a simulation in code states its own. */
    LOAD,
    /** Of the requests that {@code Benchmark} makes. */
    WORKLOAD,
    /** Of the process and the run. */
    RUN
  }

  /** What else is so of a setting. */
  public enum SettingTrait {
    /** Runs of the same thing may differ in it. */
    OF_RUN,
    /** Load generators of one run may differ in it. */
    OF_INJECTOR,
    /** Classes of traffic may differ in it. */
    OF_CLASS,
    /** The warm-up of the JVM keeps it. */
    REHEARSED,
    /** A user can set it for a self-test. */
    SELF_TESTED,
    /** A user can set it for the command {@code probe}. */
    PROBED,
    /** {@code run.json} has it of each protocol. */
    RECORDED,
    /** {@code run.json} has it of a protocol that does not have the default. */
    RECORDED_IF_SET,
    /** It is of this run only, and so in no command or file that repeats the run. */
    ONCE,
    /** Other rooms read it as a system property, wherever the user set it. */
    PASSED_ON,
    /** It names a file of settings, and so is read before that. */
    READ_FIRST,
    /**
     * It completes what code states, request by request or page by page, and does not replace it.
     */
    MERGED,
    /** The value must never be printed or recorded. */
    SECRET
  }

  private static final String HELP_FORM = "  %-20s %-19s ";
  private static final String INDENT = String.format(Locale.ROOT, HELP_FORM, "", "");

  /** The words that fit into 120 columns. */
  private static final Pattern HELP_LINE = Pattern.compile("(.{1,77})(?: |$)");

  /** What may be a setting in a sentence. */
  private static final Pattern NAME = Pattern.compile("\\b[a-z]+[A-Z]\\w*");

  /** The title of the group that begins with this setting. */
  @Nullable String heading;

  /** Without {@code llm.}, e.g. {@code maxTokens}. */
  public final String name;

  public final SettingScope scope;
  final Form<T> form;
  public final String example;
  final List<SettingRule<T>> rules = new ArrayList<>();
  private String defaultText = "none";
  private Supplier<@Nullable T> defaultValue = () -> null;
  private @Nullable Supplier<@Nullable T> inCode;
  private @Nullable String withoutEndpoint;
  private @Nullable String planLine;
  private Function<T, @Nullable String> planText = value -> null;
  private Function<@Nullable T, @Nullable String> recordedText =
      value -> value == null ? null : SettingValue.text(value);
  private final Set<SettingTrait> traits = EnumSet.noneOf(SettingTrait.class);

  String meaning = "";

  /** Settings that this one requires or excludes, for values that {@code when} names. */
  record SettingRule<T extends @Nullable Object>(
      boolean needs, String when, Predicate<T> applies, String why, List<String> others) {

    private String of(String setting) {
      return when.isEmpty() ? setting : setting + " (" + when + ")";
    }

    private String to(String other) {
      return when.isEmpty() ? other : other + " (when " + when + ")";
    }
  }

  /** A default that is parsed once: a protocol in code is asked for it by each request. */
  private final class Parsed implements Supplier<@Nullable T> {
    private final String text;
    private volatile @Nullable T value;

    Parsed(String text) {
      this.text = text;
    }

    @Override
    public @Nullable T get() {
      T known = value;
      if (known == null) {
        known = parse(text);
        value = known;
      }
      return known;
    }
  }

  private Setting(SettingScope scope, String name, Form<T> form, String example) {
    this.scope = scope;
    this.name = name;
    this.form = form;
    this.example = example;
  }

  Setting<T> heads(String title) {
    heading = title;
    return this;
  }

  /** The default, as a user would write it. */
  Setting<T> byDefault(String text) {
    defaultText = text;
    defaultValue = new Parsed(text);
    return this;
  }

  /** The default when the target is the embedded engine, as a user would write it. */
  Setting<T> withoutEndpoint(String text) {
    withoutEndpoint = text;
    return this;
  }

  /** A default that no text stands for, and its description for readers. */
  Setting<T> unset(String words, T value) {
    defaultText = words;
    defaultValue = () -> value;
    return this;
  }

  /** The default is null; the words describe for readers what that means. */
  @SuppressWarnings("unchecked") // the same object, of a type that states that it may be null
  Setting<@Nullable T> orNull(String words) {
    defaultText = words;
    return (Setting<@Nullable T>) this;
  }

  /** The default of a protocol in code, where the server or Gatling decides or code says it. */
  private Setting<T> inCode(@Nullable T value) {
    inCode = () -> value;
    return this;
  }

  /** A part of a line of the plan, for a value that is not null; null for none. */
  private Setting<T> plan(String line, Function<T, @Nullable String> text) {
    planLine = line;
    planText = text;
    return this;
  }

  /** Its text in {@code run.json}, where a value does not say all. */
  private Setting<T> recordedAs(Function<@Nullable T, @Nullable String> text) {
    recordedText = text;
    return this;
  }

  private Setting<T> traits(SettingTrait... these) {
    traits.addAll(List.of(these));
    return this;
  }

  /** Cannot be set together with the others, a comma list. */
  Setting<T> excludes(String why, String others) {
    return excludesWhere("", any -> true, why, others);
  }

  Setting<T> excludesWhere(String when, Predicate<T> applies, String why, String others) {
    rules.add(new SettingRule<>(false, when, applies, why, List.of(others.split(", "))));
    return this;
  }

  Setting<T> needs(String why, String other) {
    return needsWhere("", any -> true, why, other);
  }

  Setting<T> needsWhere(String when, Predicate<T> applies, String why, String other) {
    rules.add(new SettingRule<>(true, when, applies, why, List.of(other)));
    return this;
  }

  Setting<T> means(String line) {
    meaning = line;
    return this;
  }

  /** Whether it is read in a simulation that states its load and its requests in code. */
  public boolean isForCode() {
    return scope != LOAD && scope != WORKLOAD;
  }

  public boolean is(SettingTrait trait) {
    return traits.contains(trait);
  }

  public Identifies identifies() {
    return is(OF_INJECTOR)
        ? Identifies.INJECTOR
        : is(OF_RUN) ? Identifies.RUN : Identifies.MEASUREMENT;
  }

  /** A value of a protocol as {@code run.json} has it; null where it is not there. */
  public @Nullable String recorded(@Nullable T value) {
    boolean isRecorded =
        is(RECORDED) || (is(RECORDED_IF_SET) && value != null && !value.equals(defaultInCode()));
    return isRecorded ? recordedText.apply(value) : null;
  }

  /** Whether both cannot be set together. */
  public boolean isExcludedBy(Setting<?> other) {
    return Stream.of(this, other)
        .anyMatch(
            each ->
                each.rules.stream()
                    .anyMatch(
                        rule ->
                            !rule.needs()
                                && rule.others().contains(each == this ? other.name : name)));
  }

  /** The default of a protocol in code; null where the server or Gatling decides. */
  public @Nullable T defaultInCode() {
    return inCode == null ? defaultValue.get() : inCode.get();
  }

  /** Whether code leaves it to the server or to Gatling where it says nothing. */
  public boolean isOpenInCode() {
    return inCode != null && inCode.get() == null;
  }

  /** Its part of a line of the plan; null where it has none. */
  @Nullable String planText(String line, DryRun.Values values) {
    T value = line.equals(planLine) ? values.get(this) : null;
    return value == null ? null : planText.apply(value);
  }

  public String property() {
    return "llm." + name;
  }

  ProcessSetting ofProcess() {
    return new ProcessSetting(property());
  }

  public String variable() {
    return ofProcess().variable();
  }

  String defaultText() {
    return withoutEndpoint == null
        ? defaultText
        : defaultText + "; without endpoint " + withoutEndpoint;
  }

  T defaultValue(boolean endpoint) {
    return !endpoint && withoutEndpoint != null ? parse(withoutEndpoint) : defaultValue.get();
  }

  public T parse(String text) {
    try {
      return form.parser().apply(text);
    } catch (IllegalArgumentException e) {
      if (e.getMessage() != null && !(e instanceof NumberFormatException)) {
        throw e;
      }
      String expected =
          form.expected() == null ? form.shape() + ", e.g. " + example : form.expected();
      throw new IllegalArgumentException("expected " + expected, e);
    }
  }

  /** A name as it is typed: {@code maxTokens}; {@code max-tokens} where it is an option. */
  private static String typed(String name, boolean asOption) {
    return asOption ? StartCommand.kebab(name) : name;
  }

  private static String withOptions(String text) {
    return NAME.matcher(text)
        .replaceAll(
            word -> named(word.group()) != null ? "--" + typed(word.group(), true) : word.group());
  }

  /** Its lines of the help, with its name as a property or as an option. */
  private String line(boolean asOption) {
    String line =
        String.format(
            Locale.ROOT, HELP_FORM, (asOption ? "--" : "") + typed(name, asOption), form.shape());
    boolean isLong = line.length() > INDENT.length(); // a long form has its own line
    UnaryOperator<String> typed = other -> typed(other, asOption);
    String needs = needs().stream().map(typed).collect(Collectors.joining(", "));
    String excludes = excludes().stream().map(typed).collect(Collectors.joining(", "));
    String description =
        "%s [%s]".formatted(asOption ? withOptions(meaning) : meaning, defaultText())
            + (needs.isEmpty() ? "" : "; needs " + needs)
            + (excludes.isEmpty() ? "" : "; not with " + excludes);
    return (isLong ? line.stripTrailing() + '\n' + INDENT : line)
        + HELP_LINE.matcher(description).replaceAll("$1\n" + INDENT).strip()
        + '\n';
  }

  public List<String> needs() {
    return rules.stream()
        .filter(SettingRule::needs)
        .flatMap(rule -> rule.others().stream().map(rule::to))
        .toList();
  }

  /** The settings that this one cannot be set together with, whichever entry states the rule. */
  List<String> excludes() {
    List<String> names = new ArrayList<>();
    for (Setting<?> other : all()) {
      for (SettingRule<?> rule : other.rules) {
        if (!rule.needs() && rule.others().contains(name)) {
          names.add(rule.of(other.name));
        }
        if (!rule.needs() && other == this) {
          rule.others().forEach(excluded -> names.add(rule.to(excluded)));
        }
      }
    }
    return names;
  }

  private static Setting<List<Hook>> hooks(String name, String example) {
    return of(PROTOCOL, name, example, Form.list("<method>:<path>", Hook::parse))
        .unset("none", List.of())
        .traits(RECORDED_IF_SET);
  }

  private static Setting<Boolean> flag(SettingScope scope, String name, boolean byDefault) {
    return of(scope, name, Boolean.toString(byDefault), Boolean.toString(!byDefault), Form.flag());
  }

  /** A setting with a default, as a user would write it. */
  private static <T> Setting<T> of(
      SettingScope scope, String name, String byDefault, String example, Form<T> form) {
    return of(scope, name, example, form).byDefault(byDefault);
  }

  private static <T> Setting<T> of(
      SettingScope scope, String name, String example, String shape, Function<String, T> parser) {
    return of(scope, name, example, new Form<>(shape, parser));
  }

  private static <T> Setting<T> of(SettingScope scope, String name, String example, Form<T> form) {
    Setting<T> entry = new Setting<>(scope, name, form, example);
    ENTRIES.add(entry);
    return entry;
  }

  @Override
  public String toString() {
    return name;
  }

  /** Whether a setting has several values, which make a list of load levels or a grid. */
  public static boolean isList(List<?> values) {
    return values.size() > 1;
  }

  /** The output of {@code llm.help=true}: all settings by group, in at most 120 columns. */
  public static String help() {
    return help(false);
  }

  public static String help(boolean asOptions) {
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
    for (Setting<?> entry : ENTRIES) {
      text.append(entry.heading == null ? "" : '\n' + entry.heading + '\n')
          .append(entry.line(asOptions));
    }
    return text.toString();
  }

  public static List<Setting<?>> all() {
    return Collections.unmodifiableList(ENTRIES);
  }

  public static @Nullable Setting<?> named(String name) {
    return ENTRIES.stream().filter(s -> s.name.equals(name)).findFirst().orElse(null);
  }

  /** Whether a system property is a setting of one run only. */
  public static boolean isOnce(String property) {
    return ENTRIES.stream().anyMatch(row -> row.is(ONCE) && row.property().equals(property));
  }

  static @Nullable Setting<?> ofVariable(String variable) {
    return ENTRIES.stream().filter(s -> s.variable().equals(variable)).findFirst().orElse(null);
  }

  /** The end of a message on an unknown name: the one that is meant, else where all names are. */
  static String suggestion(
      String wrong, Predicate<Setting<?>> among, Function<Setting<?>, String> shown) {
    List<String> names = ENTRIES.stream().filter(among).map(entry -> entry.name).toList();
    String meant = Spelling.meant(wrong, names);
    return meant == null
        ? HELP.property() + " lists all settings"
        : "did you mean " + shown.apply(Objects.requireNonNull(named(meant))) + "?";
  }
}
