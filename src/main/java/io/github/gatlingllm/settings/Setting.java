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
import io.github.gatlingllm.figures.metric.Figure;
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
import io.github.gatlingllm.record.Proxy;
import io.github.gatlingllm.record.RunFiles;
import io.github.gatlingllm.record.Slo;
import io.github.gatlingllm.record.Spelling;
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
import io.github.gatlingllm.storage.S3Location;
import io.github.gatlingllm.workload.CheckedPrompts;
import io.github.gatlingllm.workload.Dataset;
import io.github.gatlingllm.workload.Dataset.SessionFile;
import io.github.gatlingllm.workload.LengthDistribution;
import io.github.gatlingllm.workload.PromptPrefix;
import io.github.gatlingllm.workload.Prompts.PromptPool;
import io.github.gatlingllm.workload.Tokenizer;
import io.github.gatlingllm.workload.WorkloadScenario;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
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
          .unset("the embedded engine", List.of())
          .traits(OF_RUN, PROBED);

  public static final Setting<Models> MODEL =
      of(TARGET, "model", "llama-8b", Form.texts("names").map(Models::of))
          .unset("the server's only model", Models.NONE)
          .traits(OF_CLASS, PROBED);

  public static final Setting<List<String>> API_KEY =
      of(TARGET, "apiKey", "sk-…", Form.texts("keys"))
          .unset("none", List.of())
          .traits(SECRET, OF_RUN, PROBED);

  public static final Setting<Optional<Api>> API =
      of(WORKLOAD, "api", "auto", "completions", API_FORM).traits(PROBED);

  public static final Setting<Boolean> INTERLEAVE =
      flag(LOAD, "interleave", false)
          .plan("order", on -> on ? "side by side" : "one after the other");

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
          .traits(RECORDED, REHEARSED, SELF_TESTED, PROBED);

  public static final Setting<String> PROMPT_TOKENS_OF =
      of(WORKLOAD, "promptTokensOf", "text", "request", Form.choice(List.of("text", "request")))
          .traits(OF_CLASS);

  public static final Setting<List<Integer>> CONCURRENCY =
      of(LOAD, "concurrency", "8", "1,2,4,8,16", Form.integers(1))
          .withoutEndpoint("1,4,16,64")
          .excludes("the load is either a closed or an open loop", "rate")
          .traits(OF_CLASS, SELF_TESTED);

  public static final Setting<List<LoadLevel.Open>> RATE =
      of(LOAD, "rate", "2,4,8", "numbers > 0, curve", LoadForms::rates)
          .unset("none: closed loop", List.of())
          .excludesWhere(
              "a curve", LoadForms::isCurve, "a curve has its own duration", "duration, requests")
          .excludesWhere("a curve", LoadForms::isCurve, "a search starts at one rate", "search")
          .excludesWhere("a curve", LoadForms::isCurve, "a curve has no load levels", "repeats")
          .traits(OF_CLASS);

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
          .traits(OF_CLASS);

  public static final Setting<@Nullable Double> WEIGHT =
      of(LOAD, "weight", "70", POSITIVE)
          .orNull("none")
          .needs("only classes of traffic share a load", "class.<name>.<setting>")
          .traits(OF_CLASS);

  public static final Setting<@Nullable String> CLASS =
      of(LOAD, "class.<name>.<setting>", "70", Form.text())
          .orNull("one class")
          .excludes("classes measure in the same windows", "search, trials, requests, interleave");

  public static final Setting<Boolean> INTERFERENCE =
      flag(LOAD, "interference", false)
          .needs("compares classes of traffic", "class.<name>.<setting>");

  public static final Setting<@Nullable Integer> TRIALS =
      of(LOAD, "trials", "10", Form.integer(1))
          .excludes(
              "trials are bounded by their count",
              "rate, search, requests, duration, fill, stabilize, cooldown");

  public static final Setting<Repeats> REPEATS =
      of(PLAN, "repeats", "auto:3%", "number, auto:<percent>%", Repeats::parse)
          .unset("1", Repeats.ONCE)
          .excludes("trials are repeats already", "trials")
          .excludes("a search chooses its levels by their results", "search");

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
          .excludes("it draws its arrivals", "arrival");

  public static final Setting<Double> SEARCH_PRECISION =
      of(
              LOAD,
              "searchPrecision",
              "0.05",
              "0.1",
              Form.decimal("number > 0, < 1", Double.MIN_VALUE, Math.nextDown(1.0)))
          .needs("has no effect alone", "search");

  public static final Setting<List<StopRule>> STOP_WHEN =
      of(PLAN, "stopWhen", "errorsInARow>100", "errors>10%", Form.list("rules", StopRule::parse))
          .excludes("a search ends by itself", "search")
          .needsWhere(
              "slo<…",
              rules -> rules.stream().anyMatch(StopRule::needsSlo),
              "has no SLO to judge",
              "slo");

  public static final Setting<Integer> WARMUP =
      of(PROTOCOL, "warmup", "1", "3", Form.integer(0)).traits(SELF_TESTED);

  public static final Setting<@Nullable Duration> WAIT_READY =
      of(PROTOCOL, "waitReady", "5m", Form.duration(false))
          .orNull("no wait")
          .traits(OF_RUN, RECORDED_IF_SET, PROBED)
          .plan("wait", max -> "at most " + PlanText.time(max) + " for a server that still starts");

  public static final Setting<List<Hook>> BEFORE_LEVEL =
      hooks("beforeLevel", "POST:/reset_prefix_cache")
          .plan("before levels", hooks -> hooks.isEmpty() ? null : Hook.texts(hooks));

  public static final Setting<List<Hook>> AFTER_LEVEL =
      hooks("afterLevel", "POST:/stop_profile@c=8")
          .plan("after levels", hooks -> hooks.isEmpty() ? null : Hook.texts(hooks));

  public static final Setting<Boolean> JVM_WARM_UP =
      flag(PROTOCOL, "jvmWarmUp", true).traits(SELF_TESTED);

  public static final Setting<Optional<Duration>> FILL =
      of(LOAD, "fill", "auto", "5s", Form.automatic()).traits(OF_CLASS);

  public static final Setting<Optional<Duration>> STABILIZE =
      of(LOAD, "stabilize", "auto", "20s", Form.automatic());

  public static final Setting<Duration> DURATION =
      of(LOAD, "duration", "30", "2m", Form.duration(false))
          .withoutEndpoint("12")
          .traits(SELF_TESTED);

  public static final Setting<@Nullable Integer> REQUESTS =
      of(LOAD, "requests", "1000", Form.integer(1)).orNull("bounded by duration");

  public static final Setting<Boolean> COOLDOWN =
      flag(LOAD, "cooldown", true)
          .excludesWhere("true", on -> on, "exactly that many requests are sent", "requests");

  public static final Setting<Duration> DRAIN =
      of(LOAD, "drain", "30", "1m", Form.duration(true)).traits(SELF_TESTED);

  public static final Setting<@Nullable String> PROMPT =
      of(WORKLOAD, "prompt", "Why is the sky blue?", Form.text())
          .orNull("built-in prompts")
          .excludes("prompts are either one text or a file", "prompts")
          .traits(OF_CLASS, PROBED);

  public static final Setting<@Nullable PromptPool> PROMPTS =
      of(WORKLOAD, "prompts", "prompts.jsonl", "file", PromptPool::read).traits(OF_CLASS);

  public static final Setting<List<Length>> PROMPT_TOKENS =
      of(WORKLOAD, "promptTokens", "256:96", "numbers, ranges", Length::each)
          .unset(
              Length.BUILT_IN_MIN
                  + "-"
                  + Length.BUILT_IN_MAX
                  + " for built-in prompts, else unchanged",
              List.of())
          .excludesWhere("a list", Setting::isList, "each pair of lengths has a sweep", "search")
          .traits(OF_CLASS);

  public static final Setting<Integer> INPUTS_PER_REQUEST =
      of(WORKLOAD, "inputsPerRequest", "1", "16", Form.integer(1));

  public static final Setting<@Nullable Function<Tokenizer, Dataset>> DATASET =
      of(
              WORKLOAD,
              "dataset",
              "sharegpt:chats.json",
              "<sharegpt|oasst|longbench|mooncake|openai>:<file>",
              SettingValue::dataset)
          .excludes("each defines the prompts", "prompt, prompts, promptTokens")
          .traits(OF_CLASS, OF_RUN);

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
          .traits(OF_CLASS);

  public static final Setting<@Nullable Duration> SESSION_GAP_CAP =
      of(PROTOCOL, "sessionGapCap", "10s", Form.duration(true))
          .orNull("gaps as recorded")
          .needs("replays recorded gaps", "sessions")
          .traits(RECORDED_IF_SET)
          .plan("gaps", cap -> "at most " + PlanText.time(cap));

  public static final Setting<Double> SESSION_SPEED =
      of(PROTOCOL, "sessionSpeed", "1", "2", POSITIVE)
          .needs("replays recorded gaps", "sessions")
          .traits(RECORDED_IF_SET)
          .plan("gaps", speed -> speed == 1 ? null : "divided by " + NumberText.plain(speed));

  public static final Setting<@Nullable StartRange> SESSION_START =
      of(PROTOCOL, "sessionStart", "random", "random, <from>-<to>%", StartRange::parse)
          .orNull("at the beginning")
          .needs("replays recorded sessions", "sessions")
          .excludes("only the users of a closed loop wait for each other", "rate, arrival, trials")
          .traits(RECORDED_IF_SET)
          .plan("sessions begin", range -> "at a random instant in " + range + " of each");

  public static final Setting<String> SESSION_ANSWERS =
      of(
              PROTOCOL,
              "sessionAnswers",
              "recorded",
              "server",
              Form.choice(List.of("recorded", "server")))
          .needs("replays recorded sessions", "sessions")
          .traits(RECORDED_IF_SET)
          .plan("history", who -> who.equals("server") ? "the server's own answers" : null);

  public static final Setting<@Nullable Function<Tokenizer, Dataset>> B2_DATASET =
      of(WORKLOAD, "dataset.B2", "longbench:hf:THUDM/LongBench-v2/data.json", DATASET.form)
          .traits(OF_CLASS, OF_RUN);

  public static final Setting<@Nullable Function<Tokenizer, Dataset>> D_DATASET =
      of(WORKLOAD, "dataset.D", "oasst:chats.jsonl.gz", DATASET.form).traits(OF_CLASS, OF_RUN);

  public static final Setting<@Nullable String> DATASET_CACHE =
      of(RUN, "datasetCache", "/data/datasets", Form.text())
          .orNull("~/.gatling-llm/datasets")
          .traits(OF_RUN, PASSED_ON);

  public static final Setting<Map<WorkloadScenario, Double>> SCENARIO =
      of(WORKLOAD, "scenario", "B1,C", SettingValue.SCENARIOS)
          .unset("none", Map.of())
          .needsWhere(AgentX.NAME, Map::isEmpty, "replays recorded sessions", "sessions")
          .excludesWhere(
              "A1 to D", known -> !known.isEmpty(), "each defines the prompts", "sessions")
          .excludes("scenarios run either one after the other or mixed", "mix")
          .excludes("scenarios have their own prompts", "prompt, prompts, dataset, promptTokens")
          .traits(OF_CLASS);

  public static final Setting<Map<WorkloadScenario, Double>> MIX =
      of(WORKLOAD, "mix", "C:70,B1:30", SettingValue.MIX)
          .unset("none", Map.of())
          .excludes("scenarios have their own prompts", "prompt, prompts, dataset, promptTokens");

  public static final Setting<Integer> TURNS =
      of(WORKLOAD, "turns", "5", "8", Form.integer(1)).traits(OF_CLASS);

  public static final Setting<@Nullable Integer> CONTEXT_TOKENS =
      of(WORKLOAD, "contextTokens", "8192", Form.integer(1))
          .orNull("no limit")
          .plan("context", max -> max + " tokens; a dialog ends before a turn that would not fit")
          .traits(OF_CLASS);

  public static final Setting<Boolean> TURN_BY_TURN =
      flag(WORKLOAD, "turnByTurn", false)
          .needs("replays recorded dialogs", "dataset")
          .traits(OF_CLASS);

  public static final Setting<ThinkTime> THINK_TIME =
      of(WORKLOAD, "thinkTime", "1s-5s", "duration, range", ThinkTime::parse)
          .unset("none", ThinkTime.NONE)
          .plan(
              "think time",
              think -> think.isNone() ? null : think + " before a user's next request")
          .traits(OF_CLASS);

  public static final Setting<LengthDistribution.@Nullable Pairs> LENGTHS =
      of(
              WORKLOAD,
              "lengths",
              "256|32,128|16:60;4096,512:40",
              "pairs, prefillHeavy, balanced, decodeHeavy",
              SettingValue::lengths)
          .excludes("each sets the length of prompts", "promptTokens, scenario, mix, dataset")
          .traits(OF_CLASS);

  public static final Setting<Boolean> UNIQUE_PROMPTS =
      flag(PROTOCOL, "uniquePrompts", true).inCode(false).traits(OF_CLASS, REHEARSED);

  public static final Setting<@Nullable Long> NONCE =
      of(RUN, "nonce", "run", "seed", new Form<>("run, seed, integer", Seed::nonce))
          .traits(PASSED_ON);

  public static final Setting<@Nullable ShownImages> IMAGES =
      of(WORKLOAD, "images", "1x512x512", "<n>x<w>x<h>, file", ShownImages::parse)
          .excludes("each defines the prompts", "dataset, scenario, mix")
          .plan("images", ShownImages::toString)
          .traits(OF_CLASS);

  public static final Setting<PromptPrefix.@Nullable Shared> SHARED_PREFIX =
      of(PROTOCOL, "sharedPrefix", "8x512", "<groups>x<tokens>", SettingValue::sharedPrefix)
          .excludes("a nonce at the start leaves no prefix to share", "uniquePrompts")
          .traits(OF_CLASS, REHEARSED);

  public static final Setting<Boolean> STREAM =
      flag(PROTOCOL, "stream", true).traits(OF_CLASS, RECORDED);

  public static final Setting<List<Length>> MAX_TOKENS =
      of(WORKLOAD, "maxTokens", "128:32", "numbers, ranges", Length::each)
          .byDefault("lognormal:128:64")
          .withoutEndpoint("lognormal:16:8")
          .needsWhere("a list", Setting::isList, "a grid has lengths of prompts", "promptTokens")
          .excludesWhere("a list", Setting::isList, "each pair of lengths has a sweep", "search")
          .traits(OF_CLASS, PROBED);

  public static final Setting<String> MAX_TOKENS_FIELD =
      of(
              PROTOCOL,
              "maxTokensField",
              "auto",
              "max_completion_tokens",
              Form.choice(Api.MAX_TOKENS_FIELDS))
          .traits(RECORDED_IF_SET, PROBED);

  public static final Setting<Boolean> INCLUDE_USAGE =
      flag(PROTOCOL, "includeUsage", true).inCode(null).traits(RECORDED_IF_SET, PROBED);

  public static final Setting<String> EVENT_TOKENS =
      of(PROTOCOL, "eventTokens", "auto", "server", Form.choice(List.of("auto", "server", "none")))
          .traits(PROBED);

  public static final Setting<Boolean> IGNORE_EOS =
      flag(PROTOCOL, "ignoreEos", true)
          .inCode(null)
          .recordedAs(value -> Boolean.toString(!Boolean.FALSE.equals(value)))
          .traits(OF_CLASS, RECORDED, PROBED);

  public static final Setting<@Nullable Double> TEMPERATURE =
      of(WORKLOAD, "temperature", "0.7", Form.decimal("number ≥ 0", 0, Float.MAX_VALUE))
          .orNull("the server's")
          .traits(OF_CLASS, PROBED)
          .plan("sampling", number -> "temperature " + NumberText.plain(number));

  public static final Setting<@Nullable Double> TOP_P =
      of(WORKLOAD, "topP", "0.95", Form.decimal("number > 0, ≤ 1", Double.MIN_VALUE, 1))
          .orNull("the server's")
          .traits(OF_CLASS, PROBED)
          .plan("sampling", number -> "top_p " + NumberText.plain(number));

  public static final Setting<ObjectNode> BODY =
      of(PROTOCOL, "body", "{\"top_k\":40}", "JSON object", SettingValue::body)
          .unset("none", SettingValue.body("{}"))
          .traits(OF_CLASS, PROBED);

  public static final Setting<@Nullable String> HEADER =
      of(PROTOCOL, "header.<Name>", "acme", Form.text()).traits(OF_CLASS, MERGED);

  public static final Setting<@Nullable String> CONVERSATION_HEADER =
      of(
              PROTOCOL,
              "conversationHeader",
              "x-session-id",
              "header name",
              name -> Form.require(name, Settings::isHeaderName))
          .orNull("none")
          .traits(OF_CLASS, RECORDED_IF_SET, PROBED);

  public static final Setting<Duration> TIMEOUT =
      of(PROTOCOL, "timeout", "600", "2m", Form.duration(false))
          .traits(OF_CLASS, RECORDED, REHEARSED, PROBED)
          .plan("limits", max -> PlanText.time(max) + " per request");

  public static final Setting<Duration> IDLE_TIMEOUT =
      of(PROTOCOL, "idleTimeout", "120", "30s", Form.duration(false))
          .traits(OF_CLASS, RECORDED, REHEARSED, PROBED)
          .plan("limits", max -> PlanText.time(max) + " between events");

  public static final Setting<@Nullable Abandonment> ABANDON =
      of(PROTOCOL, "abandon", "10%@2s-5s", "<share>%@<time>, range", SettingValue::abandonment)
          .orNull("everyone stays")
          .traits(OF_CLASS, RECORDED_IF_SET)
          .plan("limits", leaving -> "users leave: " + leaving);

  public static final Setting<@Nullable Integer> MAX_IN_FLIGHT =
      of(PROTOCOL, "maxInFlight", "64", Form.integer(1))
          .orNull("no limit")
          .traits(OF_CLASS, RECORDED_IF_SET, REHEARSED)
          .plan("limits", max -> max + " in flight");

  public static final Setting<@Nullable Integer> MAX_REQUESTS_PER_MINUTE =
      of(PROTOCOL, "maxRequestsPerMinute", "500", Form.integer(1))
          .orNull("no limit")
          .traits(RECORDED_IF_SET)
          .plan("limits", max -> max + " requests a minute");

  public static final Setting<@Nullable Integer> MAX_TOKENS_PER_MINUTE =
      of(PROTOCOL, "maxTokensPerMinute", "150000", Form.integer(1))
          .orNull("no limit")
          .traits(RECORDED_IF_SET)
          .plan("limits", max -> max + " tokens a minute");

  public static final Setting<String> CONNECTIONS =
      of(PROTOCOL, "connections", "shared", "perUser", Form.choice(List.of("shared", "perUser")))
          .traits(RECORDED, REHEARSED, SELF_TESTED, PROBED)
          .plan(
              "connections",
              who -> who.equals("shared") ? "shared by all users" : "own ones per user");

  public static final Setting<Boolean> HTTP2 =
      flag(WORKLOAD, "http2", false)
          .traits(PROBED)
          .plan("connections", on -> on ? "HTTP/2 where the server agrees" : null);

  public static final Setting<Boolean> VERIFY_TLS =
      flag(PROTOCOL, "verifyTls", true)
          .inCode(null)
          .traits(RECORDED_IF_SET, REHEARSED, PROBED)
          .plan("connections", on -> on ? null : "certificates NOT verified");

  public static final Setting<@Nullable String> PROXY =
      of(RUN, "proxy", "http://proxy:3128", "URL, env, none", Proxy::check)
          .orNull("none, or that of the http protocol")
          .traits(PASSED_ON, PROBED);

  public static final Setting<Slos> SLO =
      of(PROTOCOL, "slo", "ttft<200ms,tpot<50ms", "limits", Slos::parse)
          .unset("none", Slos.NONE)
          .traits(OF_CLASS, REHEARSED, MERGED);

  public static final Setting<@Nullable String> SLO_TIER =
      of(PROTOCOL, "sloTier", "silver", Form.text()).orNull("the first").traits(MERGED);

  public static final Setting<Double> SLO_PERCENTILE =
      of(
              PROTOCOL,
              "sloPercentile",
              "99",
              "95",
              Form.decimal("percentage ≤ 100", Double.MIN_VALUE, 100))
          .needs("has no effect alone", "slo")
          .traits(OF_CLASS, MERGED);

  public static final Setting<Slo.Rule> SLO_RULE =
      of(PROTOCOL, "sloRule", "percentiles", "requests", Form.choice(Slo.Rule.class))
          .needs("has no effect alone", "slo")
          .traits(OF_CLASS, MERGED);

  public static final Setting<List<Assertion>> ASSERT =
      of(PROTOCOL, "assert", "ttft.p99<200ms,errors<1%", Form.list("assertions", Figure::assertion))
          .unset("none", List.of())
          .needsWhere(
              "goodput",
              assertions -> assertions.stream().anyMatch(Assertion::needsSlo),
              "has no SLO to judge",
              "slo")
          .traits(OF_RUN, SELF_TESTED, MERGED);

  public static final Setting<Boolean> FAIL_BUILD =
      flag(PROTOCOL, "failBuild", true).traits(OF_RUN, RECORDED_IF_SET, SELF_TESTED);

  public static final Setting<@Nullable Boolean> FAIL_ON_INVALID =
      of(PROTOCOL, "failOnInvalid", "false", Form.flag())
          .orNull("true; where nothing is asserted, not for the check generator alone")
          .withoutEndpoint("false")
          .traits(OF_RUN, RECORDED_IF_SET, SELF_TESTED);

  public static final Setting<@Nullable CheckedPrompts> ANSWERS =
      of(PROTOCOL, "answers", "check", "check, file", CheckedPrompts::parse)
          .orNull("none")
          .traits(OF_RUN, RECORDED_IF_SET)
          .plan("answers", SettingValue::answers);

  public static final Setting<Boolean> RECORD_TEXT =
      flag(PROTOCOL, "recordText", false).traits(OF_RUN);

  public static final Setting<Boolean> RECORD_TOKENS =
      flag(PROTOCOL, "recordTokens", true).traits(OF_RUN, RECORDED);

  public static final Setting<Boolean> CSV =
      flag(PROTOCOL, "csv", false).traits(OF_RUN, RECORDED_IF_SET, SELF_TESTED);

  public static final Setting<List<NamedUrl>> METRICS_URL =
      of(
              PROTOCOL,
              "metricsUrl",
              "auto",
              "auto,http://localhost:9400/metrics",
              Form.list("auto, none, URLs", NamedUrl::parse).map(NamedUrl::metricsPages))
          .traits(OF_RUN, PROBED, MERGED);

  public static final Setting<@Nullable InetSocketAddress> LIVE =
      of(RUN, "live", "8088", "<port>, <address>:<port>", Observers::address)
          .traits(OF_RUN, PASSED_ON);

  public static final Setting<@Nullable String> OTLP =
      of(RUN, "otlp", "http://localhost:4318/v1/metrics", Form.text()).traits(OF_RUN, PASSED_ON);

  public static final Setting<Boolean> TRACE =
      flag(PROTOCOL, "trace", false).traits(OF_RUN, RECORDED_IF_SET);

  public static final Setting<Double> TRACE_SHARE =
      of(
              PROTOCOL,
              "traceShare",
              "100%",
              "1%",
              new Form<>("<percent>%", Observers.TraceContext::share))
          .traits(OF_RUN, RECORDED_IF_SET)
          .needs("has no effect alone", "trace");

  public static final Setting<@Nullable URI> OTLP_TRACES =
      of(RUN, "otlpTraces", "http://localhost:4318/v1/traces", "URL", Observers.TraceContext::url)
          .orNull("none")
          .traits(OF_RUN, PASSED_ON)
          .needs("has no spans to send", "trace");

  public static final Setting<@Nullable S3Location> UPLOAD =
      of(RUN, "upload", "s3://load-tests/2026-11-22", "s3://bucket/prefix", S3Location::parse)
          .traits(OF_RUN, PASSED_ON);

  public static final Setting<List<String>> EXPORT =
      of(
              PROTOCOL,
              RunFiles.EXPORT,
              "vllm,aiperf",
              Form.list(
                  String.join(", ", RunFiles.EXPORTS), Form.choice(RunFiles.EXPORTS).parser()))
          .unset("none", List.of())
          .traits(OF_RUN, RECORDED_IF_SET);

  public static final Setting<@Nullable String> ENGINE_VERSION =
      of(PROTOCOL, "engineVersion", "vllm 0.11.0", Form.text()).traits(OF_RUN);

  public static final Setting<@Nullable Double> GPUS =
      of(PROTOCOL, "gpus", "2", POSITIVE).traits(RECORDED_IF_SET);

  public static final Setting<Double> READING_SPEED =
      of(PROTOCOL, "readingSpeed", "5", "7.5", Form.decimal("tokens/s > 0", Double.MIN_VALUE, 1e6));

  public static final Setting<@Nullable Double> COST_PER_HOUR =
      of(PROTOCOL, "costPerHour", "3.60", POSITIVE).traits(RECORDED_IF_SET);

  public static final Setting<@Nullable Long> SEED =
      of(PROTOCOL, "seed", "42", "integer", Long::valueOf)
          .orNull("random")
          .traits(OF_INJECTOR, PASSED_ON, REHEARSED, SELF_TESTED);

  public static final Setting<@Nullable InjectorShare> INJECTOR =
      of(RUN, "injector", "2/4", "<i>/<n>", InjectorShare::parse)
          .orNull("1/1, or JOB_COMPLETION_INDEX and INJECTORS")
          .excludes("a self-test runs in one process", "selfTest")
          .traits(OF_INJECTOR, ONCE, PASSED_ON, SELF_TESTED);

  public static final Setting<@Nullable Instant> START_AT =
      of(RUN, "startAt", "2027-03-01T09:30:00Z", "time", Injector::start)
          .orNull("as soon as it is ready")
          .traits(OF_RUN, ONCE, PASSED_ON);

  public static final Setting<Boolean> SELF_TEST =
      flag(RUN, "selfTest", false).traits(ONCE, SELF_TESTED);

  public static final Setting<@Nullable String> SELF_TEST_FILE =
      of(RUN, "selfTestFile", "self-test.json", Form.text())
          .orNull("~/.gatling-llm/self-test.json")
          .traits(OF_RUN, PASSED_ON, SELF_TESTED);

  private static final Form<String> FILE = new Form<>("file", name -> name);

  public static final Setting<@Nullable String> CONFIG =
      of(RUN, "config", "bench.conf", FILE).traits(OF_RUN, READ_FIRST, SELF_TESTED, PROBED);

  public static final Setting<@Nullable String> ENV =
      of(RUN, "env", "staging.env", FILE)
          .orNull(".env, if there is one")
          .traits(OF_RUN, READ_FIRST, SELF_TESTED, PROBED);

  public static final Setting<@Nullable String> SAVE_CONFIG =
      of(RUN, "saveConfig", "bench.conf", FILE).traits(OF_RUN, ONCE);

  public static final Setting<Boolean> DRY_RUN =
      flag(RUN, "dryRun", false).traits(ONCE, PASSED_ON, SELF_TESTED);

  public static final Setting<Boolean> HELP =
      flag(RUN, "help", false).traits(ONCE, SELF_TESTED, PROBED);

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
    /** The warm-up of the JVM has it too. */
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

  /** Without {@code llm.}, e.g. {@code maxTokens}. */
  public final String name;

  public final SettingScope scope;
  final Form<T> form;
  public final String example;
  private final List<SettingRule<T>> rules = new ArrayList<>();
  private String defaultText = "none";
  private Supplier<@Nullable T> defaultValue = () -> null;
  private @Nullable Supplier<@Nullable T> inCode;
  private @Nullable String withoutEndpoint;
  private @Nullable String planLine;
  private Function<T, @Nullable String> planText = value -> null;
  private Function<@Nullable T, @Nullable String> recordedText =
      value -> value == null ? null : SettingValue.text(value);
  private final Set<SettingTrait> traits = EnumSet.noneOf(SettingTrait.class);

  /** Settings that this one requires or excludes, for values that {@code when} names. */
  private record SettingRule<T extends @Nullable Object>(
      boolean needs, String when, Predicate<T> applies, String why, List<String> others) {

    private String to(String other) {
      return when.isEmpty() ? other : other + " (when " + when + ")";
    }
  }

  /** A default that is parsed once: each request reads it from its protocol. */
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

  /** The default of a protocol in code, where the server, Gatling or code decides. */
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

  /** Whether code leaves it to the server or to Gatling where it states nothing. */
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

  /** The value that this process has, whatever it runs; null where it is not set. */
  public @Nullable T processValue() {
    return ofProcess().read(System.getProperties(), System.getenv(), form.parser());
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
  private String line(String meaning, boolean asOption) {
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

  /** Passes on what the rules require of a value: another setting that it needs or excludes. */
  void eachRule(
      Supplier<T> value,
      BiConsumer<Setting<?>, String> needed,
      BiConsumer<Setting<?>, String> excluded) {
    for (SettingRule<T> rule : rules) {
      if (rule.applies.test(value.get())) {
        for (String other : rule.others) {
          (rule.needs ? needed : excluded).accept(Objects.requireNonNull(named(other)), rule.why);
        }
      }
    }
  }

  public List<String> needs() {
    return others(true);
  }

  /** Those that this one cannot be set together with, where the rule is not one of the others. */
  List<String> excludes() {
    return others(false);
  }

  private List<String> others(boolean needed) {
    return rules.stream()
        .filter(rule -> rule.needs == needed)
        .flatMap(rule -> rule.others.stream().map(rule::to))
        .toList();
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
    String ofClasses =
        ENTRIES.stream()
            .filter(row -> row.is(OF_CLASS))
            .map(row -> row.name)
            .collect(Collectors.joining(", "));
    words()
        .forEach(
            (title, rows) -> {
              text.append('\n').append(title).append('\n');
              rows.forEach(
                  (setting, words) ->
                      text.append(
                          setting.line(words.get(0).replace("{settings}", ofClasses), asOptions)));
            });
    return text.toString();
  }

  /** The rows of {@code settings.txt} by the title of their group: meaning, and details if any. */
  static Map<String, Map<Setting<?>, List<String>>> words() {
    Map<String, Map<Setting<?>, List<String>>> all = new LinkedHashMap<>();
    Map<Setting<?>, List<String>> group = Map.of();
    String file =
        RunFiles.resource(Setting.class, "settings.txt")
            .replace("{presets}", Slo.presets())
            .replace("{time}", Injector.START_EXPECTED);
    for (String line : file.lines().toList()) {
      String[] row = line.split(" \\|(?: |$)", 3);
      if (line.startsWith("# ---- ")) {
        group = new LinkedHashMap<>();
        all.put(line.substring("# ---- ".length()), group);
      } else if (row.length == 3 && !line.startsWith("#")) {
        group.put(Objects.requireNonNull(named(row[0]), row[0]), List.of(row).subList(1, 3));
      }
    }
    return all;
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

  /** The end of a message on an unknown name: the nearest name, else where all names are. */
  static String suggestion(
      String wrong, Predicate<Setting<?>> among, Function<Setting<?>, String> shown) {
    List<String> names = ENTRIES.stream().filter(among).map(entry -> entry.name).toList();
    String nearest = Spelling.meant(wrong, names);
    return nearest == null
        ? HELP.property() + " lists all settings"
        : "did you mean " + shown.apply(Objects.requireNonNull(named(nearest))) + "?";
  }
}
