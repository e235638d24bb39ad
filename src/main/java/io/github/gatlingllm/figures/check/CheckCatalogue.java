package io.github.gatlingllm.figures.check;

import static java.util.Objects.requireNonNull;

import io.github.gatlingllm.figures.level.AnswerCounts.Property;
import io.github.gatlingllm.figures.metric.Figures.RateLimits;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.GeneratorSecond;
import io.github.gatlingllm.record.RunInfo;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * All checks of a run, one entry each: the only place with their ids, questions, thresholds and
 * remedies. Files, pages and {@code docs/checks.md} are made from it.
 *
 * <p>A new check is an entry here with its function, and a row in the table of its test: a run that
 * triggers it, and one that does not.
 */
@SuppressWarnings("ImmutableEnumChecker") // thresholds and functions have no state
enum CheckCatalogue {
  // ---- load: did the run go as planned, and is all of it recorded?
  RECORDS_DROPPED(
      "Were all requests recorded?",
      "dropped and damaged records",
      Threshold.invalidAbove(0),
      "every run",
      in -> true,
      "Write to a faster disk, or run less on this machine: these requests are in no figure.",
      one(LoadChecks::recordsDropped)),
  CUT_TAIL(
      "Is the last line of requests.jsonl complete?",
      "length of the incomplete last line, bytes",
      Threshold.above(0),
      "runs whose requests.jsonl ends with an incomplete line",
      in -> in.facts().file().cutTailBytes() > 0,
      "The process died while it wrote this line. The request is in no figure.",
      one(LoadChecks::cutTail)),
  WINDOWS(
      "Are the measure windows known?",
      "load levels that are in the records but in no plan",
      Threshold.when("if there are any, or if windows were inferred from the records"),
      "every run",
      in -> true,
      "Keep run.json beside requests.jsonl.",
      one(PlanChecks::windows)),
  ALL_ACCOUNTED(
      "Was every planned request sent, and does every sent request have a record?",
      "requests that are unaccounted for",
      Threshold.above(0),
      "runs whose run.json says what was planned or started",
      in ->
          in.info().outcome().started() != null
              || in.levels().stream().anyMatch(level -> level.info().planned() != null)
              || in.info().injectors().stream().anyMatch(injector -> injector.planned() != null),
      "Look in Gatling's log: these requests are in no figure.",
      one(LoadChecks::allAccounted)),
  COMPLETE(
      "Did the run reach its planned end?",
      "none",
      Threshold.when("always"),
      "runs that were interrupted",
      in -> in.info().state() != RunInfo.State.COMPLETE,
      "Let a run finish before you compare it with others.",
      one(LoadChecks::complete)),
  INJECTORS(
      "Did all injectors of the load test take part, and did each finish?",
      "injectors that are missing, died or were interrupted",
      Threshold.invalidAbove(0),
      "merged runs",
      InjectorChecks::applies,
      "The load was lower than planned. Look in the log of the injector, and repeat the load test.",
      one(InjectorChecks::injectors)),
  INJECTOR_SETTINGS(
      "Did all injectors run with the same settings and versions?",
      "settings and versions that differ",
      Threshold.above(0),
      "merged runs",
      InjectorChecks::hasSeveral,
      "Give all injectors the same versions and settings, except their share (injector).",
      one(InjectorChecks::settings)),
  INJECTOR_STARTS(
      "Did every injector begin each load level when planned?",
      "largest difference between the start of a level and its planned start, s",
      Threshold.above(1),
      "merged runs with planned starts",
      InjectorChecks::hasPlannedStarts,
      "Set the same startAt for all injectors, and synchronize the clocks of their hosts by NTP.",
      one(InjectorChecks::starts)),
  INJECTORS_ALIKE(
      "Did all injectors measure the same latencies?",
      "TTFT or start lag ÷ that of all other injectors − 1, of the one that deviates most",
      Threshold.when(
          "if one deviates significantly (1 % level), by 10 % and by 1 ms in TTFT or 5 ms"
              + " in start lag, compared within 48 slices of each measure window"),
      "merged runs",
      InjectorChecks::hasSeveral,
      "Look at that injector's machine and its route to the server (network, proxy, distance).",
      one(InjectorChecks::alike)),
  LITTLES_LAW(
      "Does Little's law hold: requests in flight = rate × time in the system?",
      "difference ÷ the larger of the two, at the load level where it is largest",
      Threshold.when("above 5 % + 0.1 ms ÷ mean time in the system"),
      "load levels that were not cut short, with in_flight in run.json",
      in -> in.levels().stream().anyMatch(level -> level.law() != null),
      "Records are missing or their times are wrong: see records_dropped and all_accounted.",
      one(LoadChecks::littlesLaw)),
  STEADY_STATE(
      "Were TTFT, E2E and output tok/s steady over the measure window?",
      "largest significant change over the window or after a transient at its start, ÷ mean",
      Threshold.share(0.2),
      "load levels of constant load, 20 s and 40 ok requests or more; not batches",
      in -> in.levels().stream().anyMatch(level -> level.steadiness() != null),
      "Stabilize longer, or offer less load if queues grow: figures average values that changed.",
      one(LoadChecks::steadyState)),
  WINDOW_LENGTH(
      "Is each measure window much longer than a request?",
      "E2E p90 ÷ length of the measure window, at the load level where it is largest",
      Threshold.noteShare(0.1).warningAboveShare(0.3),
      "load levels with a measure window and an answered request; not batches",
      in -> in.levels().stream().anyMatch(level -> level.shareOfWindow() != null),
      "Measure at least three times as long as a request takes, better ten times.",
      one(LoadChecks::windowLength)),
  GENERATOR(
      "Did the load generator keep up: event loops on time, CPU left?",
      "share of the measure window in which an event loop lagged by more than 10 ms and 20"
          + " % of the median TTFT or ITL, or the machine was out of CPU (less than 5 % idle,"
          + " more than 10 % used by the generator), at the worst load level",
      Threshold.when(
          "if loops lagged by that much for 1 % and 50 ms of the window, or once by 100 ms,"
              + " or 10 % of it were out of CPU; invalid if loops lagged by more than 2 ms and 20"
              + " % of the median for half of it, or half of it was out of CPU"),
      "runs with llm/generator.jsonl",
      GeneratorCheck::applies,
      "Give the generator more CPU, a machine of its own or fewer streams per injector.",
      one(GeneratorCheck::judge)),
  ARRIVALS(
      "Did as many requests start per second as planned?",
      "difference ÷ planned rate",
      Threshold.share(0.02),
      "open loads whose run.json says what was planned",
      in -> in.summary().arrivals() != null && in.summary().arrivals().plannedPerS() != null,
      "The generator did not keep up. Use more injectors, or run less on this machine.",
      one(LoadChecks::arrivals)),
  START_LAG(
      "Did requests start when planned?",
      "p99 of start − planned start, ms",
      Threshold.aboveMs(GeneratorSecond.LATE_START_MS),
      "open loads",
      in -> in.summary().arrivals() != null,
      "Times from schedule include the lag. Give the generator more CPU.",
      one(LoadChecks::startLag)),
  JVM_OPTIONS(
      "Does the generator's JVM have the options that disturb a measurement least?",
      "recommended options that are missing",
      Threshold.when("if the optimizing compiler (C2) is enabled"),
      "runs whose run.json has the options of the JVM",
      in -> !in.jvmOptions().isEmpty(),
      "Set gatling.jvmArgs as in the README: JIT compiler and garbage collector delay event loops.",
      one(LoadChecks::jvmOptions)),
  SILENT_SPANS(
      "Did the server keep sending while requests were in flight?",
      "longest time in which no streamed request in flight received a byte, s",
      Threshold.when("above 1 s and 3 × the median of the requests' longest waits"),
      "load levels whose answers are streams",
      in -> in.levels().stream().anyMatch(level -> level.silence() != null),
      "Look in the server's log for a stall or a long prefill. Read E2E and TTFT from schedule.",
      one(LoadChecks::silentSpans)),
  FAILING_SPANS(
      "Was the server available all the time?",
      "longest time in which requests failed and none succeeded, of the worst target, s",
      Threshold.when(
          "from 1 s and 3 failed requests, if they are not due to chance (1 % level) and"
              + " others succeeded"),
      "runs in which a request failed",
      in -> in.targets().stream().anyMatch(of -> requireNonNull(of.failures()).failed() > 0),
      "Look for a restart in the log of the server or its proxy, and measure again.",
      one(LoadChecks::failingSpans)),
  LOW_N(
      "Are there enough values for the percentiles in the headlines?",
      "values of E2E at the load level that headlines quote; the fewest, if there are several",
      Threshold.noteBelow(1_000).warningBelow(100),
      "runs with answers",
      in -> !in.summary().curves().isEmpty() && in.figures().metric(Metric.E2E_MS).count() > 0,
      "Measure longer, or quote a lower percentile: a p99 needs 1,000 values, a p95 200.",
      one(PlanChecks::lowN)),
  KNEE(
      "Is the knee within the loads tried?",
      "targets and scenarios whose knee was not reached",
      Threshold.noteAbove(0),
      "runs of 3 load levels or more",
      in -> in.maxLevels() >= 3,
      "Add higher load levels, or lower ones if the first is already saturated.",
      one(PlanChecks::knee)),
  STOPPED_EARLY(
      "Was every load level measured to its end?",
      "the figure of the stop rule",
      Threshold.when("if a level was cut short; invalid if consecutive errors ended it"),
      "runs that a stop rule ended",
      in -> in.conclusions("stopped early").findAny().isPresent(),
      "Look at the errors of the last level: its figures cover only the time before.",
      PlanChecks::stoppedEarly),
  SEARCH(
      "Is the result of the search statistically certain?",
      "lower end of the 95 % interval (Wilson) of the share in SLO, at the highest rate that holds",
      Threshold.when("unless that rate holds and the next higher one fails significantly"),
      "searches",
      in -> in.conclusions("search").findAny().isPresent(),
      "Measure each level longer, or start the search closer to the capacity of the server.",
      PlanChecks::search),
  SAME_MODEL(
      "Is a token the same amount of text at all targets?",
      "none",
      Threshold.when("if models or tokenizers differ"),
      "runs against several targets",
      in -> in.facts().models().size() > 1,
      "Compare requests/s, TTFT and E2E instead of tok/s.",
      one(PlanChecks::sameModel)),

  // ---- answers: do they match the assumptions of the figures?
  ERRORS(
      "Did requests succeed?",
      "failed ÷ ended requests",
      Threshold.share(0.01).or("invalid if no request succeeded"),
      "every run",
      in -> true,
      "See the table of errors. A server that rejects requests serves the others faster.",
      one(AnswerChecks::errors)),
  RATE_LIMITED(
      "Was every request within the server's rate limits?",
      "requests with status 429 ÷ ended requests",
      Threshold.share(0),
      "runs with status 429, or whose server reports what is left of its limits",
      in -> {
        RateLimits limits = in.figures().rateLimits();
        return limits != null && (limits.requests() > 0 || !limits.quotas().isEmpty());
      },
      "Set maxRequestsPerMinute or maxTokensPerMinute below the limit, or have the limit raised.",
      one(AnswerChecks::rateLimited)),
  PACED(
      "Was the load sent as planned, without requests held back by a limit per minute?",
      "requests held back ÷ requests that these settings apply to",
      Threshold.noteShare(0),
      "runs with maxRequestsPerMinute or maxTokensPerMinute",
      in -> in.figures().rateLimits() != null && in.figures().rateLimits().pacing() != null,
      "The settings limited the load: read times from schedule, and no figure as a capacity.",
      one(LoadChecks::paced)),
  CONNECTIONS_CLOSED(
      "Does the server keep connections open unless it announces that it closes them?",
      "share of answers after which it closed unannounced, of the server where it is largest",
      Threshold.share(0.01),
      "answers over HTTP/1.1 without Connection: close",
      in -> in.info().outcome().connections().values().stream().anyMatch(of -> of.answers() > 0),
      "Enable keep-alive in the server or its proxy, or read connect_s beside TTFT.",
      one(AnswerChecks::connectionsClosed)),
  PINNED_OUTPUT(
      "Do answers have exactly max_tokens tokens?",
      "share of answers that stopped early or have another length",
      Threshold.share(0.01),
      "runs with ignoreEos",
      in -> in.answers().of(Property.PINNED) > 0,
      "The server ignores ignore_eos and min_tokens. Compare by tok/s and TPOT, not by E2E.",
      one(AnswerChecks::pinnedOutput)),
  FINISH_REASONS(
      "Does the server report why each answer ended?",
      "share of answers without a finish reason",
      Threshold.share(0.01),
      "runs with answers",
      in -> in.answers().of(Property.OK) > 0,
      "Answers without a finish reason may be cut off. Look in the server's log.",
      one(AnswerChecks::finishReasons)),
  TOKEN_COUNTS(
      "Does the server report output tokens?",
      "share of answers whose tokens are estimated, or whose reported count is impossible",
      Threshold.share(0.01).or("also for a single impossible count"),
      "runs with answers",
      in -> in.answers().of(Property.OK) > 0,
      "Make the server report usage (stream_options.include_usage), or set its own tokenizer.",
      one(AnswerChecks::tokenCounts)),
  TOKEN_COUNTS_AGREE(
      "Do the tokens of an answer's events add up to its reported total?",
      "share of answers where they do not",
      Threshold.share(0.01),
      "streamed answers whose total was not counted by their events",
      in -> in.answers().of(Property.COMPARABLE) > 0,
      "Output tok/s is uncertain by that share. Ask the vendor how the server counts usage.",
      one(AnswerChecks::tokenCountsAgree)),
  PROMPT_TOKENS_AGREE(
      "Do the server and the local tokenizer count the same prompt tokens?",
      "|Σ prompt_tokens ÷ Σ prompt_tokens_local − 1|, of the target where it is largest",
      Threshold.noteShare(0.1).or("never if the difference is the same for prompts of all lengths"),
      "requests that were counted by both",
      in -> in.answers().prompts().worst() != null,
      "Set the model's own tokenizer (tokenizer=hf:<tokenizer.json>).",
      one(AnswerChecks::promptTokensAgree)),
  OUTPUT_TOKENS_AGREE(
      "Do the server and the local tokenizer count the same output tokens?",
      "|Σ streamed_tokens ÷ Σ output_tokens_local − 1|, of the target where it is largest",
      Threshold.noteShare(0.1)
          .or(
              "warning if the tokenizer is the model's own (hf:), never if the difference is the"
                  + " same for answers of all lengths"),
      "answers with usage that were counted by both",
      in -> in.answers().outputs().worst() != null,
      "Set the model's own tokenizer (tokenizer=hf:<tokenizer.json>), or ask how it counts.",
      one(AnswerChecks::outputTokensAgree)),
  NOT_STREAMED(
      "Do requests that ask for a stream get one?",
      "share of their answers that arrived as one body",
      Threshold.share(0),
      "runs with answers to requests that asked for a stream",
      in -> in.answers().of(Property.STREAMED) + in.answers().of(Property.NOT_STREAMED) > 0,
      "Use an endpoint that streams, or set stream=false and read E2E.",
      one(AnswerChecks::notStreamed)),
  TOKENS_PER_EVENT(
      "Does each event contain one token?",
      "output tokens ÷ token events",
      Threshold.above(1.2),
      "streamed answers, unless all tokens were counted by their events",
      in ->
          in.answers().of(Property.STREAMED) > in.answers().of(Property.COUNTED_BY_CHUNKS)
              && in.figures().number(Metric.BATCH_RATIO) != null,
      "Read TPOT beside ITL. ICL has the gaps that a reader sees.",
      one(AnswerChecks::tokensPerEvent)),
  BUFFERING(
      "Are answers streamed, not buffered until they are complete?",
      "share of streams whose tokens all arrive in the last 2 % of E2E",
      Threshold.share(0.02).invalidAboveShare(0.5),
      "streamed answers of 8 tokens or more",
      in -> in.answers().of(Property.LONG_STREAMS) > 0,
      "Switch off the buffering of the gateway or proxy: it makes TTFT equal E2E.",
      one(AnswerChecks::buffering)),
  COALESCED_EVENTS(
      "Does each event arrive in a read of its own?",
      "share of events that arrived in the same read as the previous one",
      Threshold.share(0.1),
      "streamed answers",
      in -> in.answers().of(Property.STREAMED) > 0,
      "Compare ITL with TPOT, and look for proxies and Nagle's algorithm (TCP_NODELAY).",
      one(AnswerChecks::coalescedEvents)),
  CACHED_SHARE(
      "Are prompts new to the server?",
      "cached ÷ all prompt tokens",
      Threshold.share(0.1).or(AnswerChecks.NOTE_WHERE_MEANT),
      "servers that report cached tokens",
      in -> in.summary().workload().cache() != null,
      "Send every prompt only once (uniquePrompts=true), or quote TTFT together with this share.",
      one(AnswerChecks::cachedShare)),
  REPEATED_PROMPTS(
      "Are prompts new to a server that does not report cached tokens?",
      "share of prompts that were sent to the same target before, word for word",
      Threshold.share(0.1).or(AnswerChecks.NOTE_WHERE_MEANT),
      "servers that report no cached tokens, where run.json has prompts",
      in -> in.summary().workload().cache() == null && in.info().outcome().prompts() != null,
      "Send every prompt only once (uniquePrompts=true), or quote TTFT as that of repetitions.",
      one(AnswerChecks::repeatedPrompts)),
  CANCELLED_TAILS(
      "Did all requests end without being cancelled?",
      "cancelled ÷ started requests",
      Threshold.noteShare(0).warningAboveShare(0.01),
      "every run",
      in -> true,
      "Allow more time for requests to end (drain), or offer less load.",
      one(AnswerChecks::cancelledTails)),

  // ---- server metrics: do they agree with what was measured here?
  ENGINE_TOKENS_AGREE(
      "Do the engine and the report count the same output tokens?",
      "|tokens of the engine ÷ output tokens of all requests − 1|, of the worst target",
      Threshold.share(0.02),
      "as other_traffic, with 99 % of the requests ok and no other traffic",
      in -> !EngineChecks.comparable(in).isEmpty(),
      "Look at check token_counts, and at reasoning that is not streamed: one count is wrong.",
      one(EngineChecks::tokensAgree)),
  OTHER_TRAFFIC(
      "Is this run the only user of the server?",
      "(requests that the engine finished − requests sent) ÷ requests sent, of the worst target",
      Threshold.when("above 1 % and 3 requests"),
      "servers whose metrics cover the whole run without a restart",
      in -> !EngineChecks.countedRequests(in).isEmpty(),
      "Measure when nobody else uses the server: its other clients slow this load down.",
      one(EngineChecks::otherTraffic)),
  ENGINE_TTFT(
      "Is TTFT spent in the engine?",
      "mean TTFT from admission − the engine's own, ms, at the worst level that it keeps up with",
      Threshold.when("above 100 ms, note above 20 ms, if it is more than half of TTFT"),
      "servers that report TTFT",
      EngineChecks::hasTtft,
      "Measure close to the server, and give its proxy and API server more CPU or processes.",
      one(EngineChecks::ttft)),
  ENGINE_QUEUE(
      "Is TTFT spent in the engine's queue?",
      "the engine's mean queue time ÷ mean TTFT, at the level with the longest queue time",
      Threshold.noteWhen("above 50 % and 20 ms"),
      "servers that report queue time and TTFT",
      EngineChecks::hasQueue,
      "The engine's batch is full. Allow a larger batch, or add KV cache or replicas.",
      one(EngineChecks::queue)),
  PREEMPTIONS(
      "Did the engine have memory for all requests in its batch?",
      "preemptions in the measure window, at the load level with the most",
      Threshold.noteWhen("above 0"),
      "servers that count preemptions",
      EngineChecks::hasPreemptions,
      "Give the KV cache more memory, or allow fewer or shorter requests in the batch.",
      one(EngineChecks::preemptions)),
  KV_CACHE_FULL(
      "Was there space in the KV cache?",
      "largest share of the KV cache in use, of the readings in a measure window",
      Threshold.noteShare(0.95),
      "servers that report KV cache use",
      EngineChecks::hasKvCache,
      "Give the KV cache more memory, or expect queues and preemptions from this load on.",
      one(EngineChecks::kvCacheFull));

  final String question;
  final String figure;
  final Threshold threshold;
  final String appliesTo;
  final Predicate<CheckInput> applies;
  final String remedy;
  final Function<CheckInput, Stream<Finding>> judge;

  CheckCatalogue(
      String question,
      String figure,
      Threshold threshold,
      String appliesTo,
      Predicate<CheckInput> applies,
      String remedy,
      Function<CheckInput, Stream<Finding>> judge) {
    this.question = question;
    this.figure = figure;
    this.threshold = threshold;
    this.appliesTo = appliesTo;
    this.applies = applies;
    this.remedy = remedy;
    this.judge = judge;
  }

  private static Function<CheckInput, Stream<Finding>> one(Function<CheckInput, Finding> judge) {
    return in -> Stream.of(judge.apply(in));
  }

  String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
