package io.github.gatlingllm.figures.check;

import io.github.gatlingllm.figures.level.AnswerCounts.Property;
import io.github.gatlingllm.record.GeneratorSecond;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * All checks of a run, one entry each: the only place with their ids, questions, thresholds and
 * remedies. Files, pages and {@code docs/checks.md} are made from it. A function without a finding
 * says that its check does not apply.
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
      Threshold.of("invalid above 0"),
      "every run",
      "These requests are in no figure. Write to a faster disk, or run less on this machine.",
      one(LoadChecks::recordsDropped)),
  CUT_TAIL(
      "Is the last line of requests.jsonl complete?",
      "length of the incomplete last line, bytes",
      Threshold.of("warning above 0"),
      "runs with such a line",
      "The process died while it wrote this line. The request is in no figure.",
      one(LoadChecks::cutTail)),
  WINDOWS(
      "Are the measure windows known?",
      "load levels that are in the records but in no plan",
      Threshold.judged("warning if there are any"),
      "every run",
      "Keep run.json beside requests.jsonl.",
      one(PlanChecks::windows)),
  ALL_ACCOUNTED(
      "Was every planned request sent, and does every sent request have a record?",
      "requests that are unaccounted for",
      Threshold.of("warning above 0"),
      "runs with a plan in run.json",
      "These requests are in no figure. Look for the cause in Gatling's log.",
      one(PlanChecks::allAccounted)),
  COMPLETE(
      "Did the run reach its planned end?",
      "none",
      Threshold.judged("warning always"),
      "runs that were interrupted",
      "Let a run finish before you compare it with others.",
      one(LoadChecks::complete)),
  INJECTORS(
      "Did all injectors of the load test take part, and did each finish?",
      "injectors that are missing, died or were interrupted",
      Threshold.of("invalid above 0"),
      "merged runs",
      "The load was lower than planned. Look in the log of the injector, and repeat the load test.",
      one(InjectorChecks::injectors)),
  INJECTOR_SETTINGS(
      "Did all injectors run with the same settings and versions?",
      "settings and versions that differ",
      Threshold.of("warning above 0"),
      "merged runs",
      "Give all injectors the same versions and settings, except their share (injector).",
      one(InjectorChecks::settings)),
  INJECTOR_STARTS(
      "Did every injector begin each load level when planned?",
      "largest difference between the start of a level and its planned start, s",
      Threshold.of("warning above 1"),
      "merged runs with planned starts",
      "Set the same startAt for all injectors, and synchronize the clocks of their hosts by NTP.",
      one(InjectorChecks::starts)),
  LITTLES_LAW(
      "Does Little's law hold: requests in flight = rate × time in the system?",
      "difference ÷ the larger of the two, at the load level where it is largest",
      Threshold.judged("warning above 5 % + 0.1 ms ÷ mean time in the system"),
      "load levels that were not cut short, with in_flight in run.json",
      "Records are missing or their times are wrong: see records_dropped and all_accounted.",
      one(LoadChecks::littlesLaw)),
  STEADY_STATE(
      "Were TTFT, E2E and output tok/s steady over the measure window?",
      "largest significant change over the window or after a transient at its start, ÷ mean",
      Threshold.of(
          "warning above 20 %, note if a window is shorter than 20 s or has fewer than 40 ok"
              + " requests, and is not judged"),
      "load levels of constant load but batches",
      "Figures average values that changed: stabilize longer, or offer less load if queues grow.",
      one(LoadChecks::steadyState)),
  WINDOW_LENGTH(
      "Is each measure window much longer than a request?",
      "E2E p90 ÷ length of the measure window, at the load level where it is largest",
      Threshold.of("note above 10 %, warning above 30 %"),
      "load levels but batches",
      "Measure at least three times as long as a request takes, better ten times.",
      one(LoadChecks::windowLength)),
  GENERATOR(
      "Did the load generator keep up: event loops on time, CPU, ports, files and memory left?",
      "share of the measure window in which an event loop lagged by more than 10 ms and 20"
          + " % of the median TTFT or ITL, or the machine was out of CPU (less than 5 % idle,"
          + " more than 10 % used by the generator), at the worst load level; where requests failed"
          + " at a limit of the generator, these ÷ ended requests",
      Threshold.judged(
          "note if a server shares a machine without idle CPU for 10 % of the window, of which the"
              + " generator used next to nothing; warning if loops lagged by that much for 1 % and 50"
              + " ms of it, or once by 100 ms, or 10 % of it were out of CPU; invalid if loops lagged by more than 2 ms and 20 %"
              + " of the median for half of it, or half of it was out of CPU, or a request failed"
              + " as no local port, open file or memory was left"),
      "runs with llm/generator.jsonl, or with such a failure",
      "Give the generator more CPU, a machine of its own, or fewer streams.",
      one(GeneratorCheck::judge)),
  ARRIVALS(
      "Did as many requests start per second as planned?",
      "difference ÷ planned rate",
      Threshold.of("warning above 2 %"),
      "open loads with a plan in run.json",
      "The generator did not keep up. Use more injectors, or run less on this machine.",
      one(LoadChecks::arrivals)),
  START_LAG(
      "Did requests start when planned?",
      "p99 of start − planned start, ms",
      Threshold.of("warning above " + GeneratorSecond.LATE_START_MS + " ms"),
      "open loads",
      "Times from schedule include the lag. Give the generator more CPU.",
      one(LoadChecks::startLag)),
  JVM_OPTIONS(
      "Does the generator's optimizing compiler leave the server its CPU?",
      "processors of the generator's machine",
      Threshold.judged(
          "warning if C2 is enabled on at most 4 processors that the server shares and that are out"
              + " of CPU"),
      "runs whose run.json has the options of the JVM",
      "Set gatling.jvmArgs to -XX:TieredStopAtLevel=1, or run the generator on another machine.",
      one(LoadChecks::jvmOptions)),
  SILENT_SPANS(
      "Did the server keep sending while requests were in flight?",
      "longest time in which no streamed request in flight received a byte, s",
      Threshold.judged("warning above 1 s and 3 × the median of the requests' longest waits"),
      "load levels whose answers are streams",
      "Look in the server's log for a stall or a long prefill. Read E2E and TTFT from schedule.",
      one(LoadChecks::silentSpans)),
  FAILING_SPANS(
      "Was the server available all the time?",
      "longest time in which requests failed and none succeeded, of the worst target, s",
      Threshold.judged(
          "warning from 1 s and 3 failed requests, if they are not due to chance (1 % level)"
              + " and others succeeded"),
      "runs in which a request failed",
      "Look for a restart in the log of the server or its proxy, and measure again.",
      one(LoadChecks::failingSpans)),
  LOW_N(
      "Are there enough values for the percentiles in the headlines?",
      "values of the latency that headlines quote, at their load level; the fewest, if there are"
          + " several",
      Threshold.of("note below 1,000, warning below 100"),
      "runs with answers",
      "A p99 needs 1,000 values, a p95 200: measure longer, or quote a lower percentile.",
      one(PlanChecks::lowN)),
  KNEE(
      "Is the knee within the loads tried?",
      "targets and scenarios whose knee was not reached",
      Threshold.of("note above 0"),
      "runs of 3 load levels or more",
      "Add higher load levels.",
      one(PlanChecks::knee)),
  STOPPED_EARLY(
      "Was every load level measured to its end?",
      "the figure of the stop rule",
      Threshold.judged("warning if a level was cut short; invalid if consecutive errors ended it"),
      "runs that a stop rule ended",
      "Look at the errors of the last level: its figures cover only the time before.",
      in -> PlanChecks.conclusions(in, "stopped early", "Stopped early: ")),
  REPEATS(
      "Did the repeats make the chosen figure certain enough?",
      "widest half 95 % interval of the mean of the repeats, in percent, and the asked one",
      Threshold.judged("warning if it is wider than asked after 20 repeats"),
      "runs with repeats=auto",
      "Measure each level longer, or ask for less.",
      in -> PlanChecks.conclusions(in, "repeats", "")),
  SEARCH(
      "Is the result of the search statistically certain?",
      "lower end of the 95 % interval (Wilson) of the share in SLO, at the highest rate that holds",
      Threshold.judged(
          "warning unless that rate holds and the next higher one fails significantly"),
      "searches",
      "Measure each level longer, or start the search closer to the capacity of the server.",
      in -> PlanChecks.conclusions(in, "search", "")),
  SAME_MODEL(
      "Is a token the same amount of text at all targets?",
      "none",
      Threshold.judged("warning if models or tokenizers differ"),
      "runs against several targets",
      "Compare requests/s, TTFT and E2E instead of tok/s.",
      one(PlanChecks::sameModel)),

  // ---- answers: do they match the assumptions of the figures?
  ERRORS(
      "Did requests succeed?",
      "failed ÷ ended requests, of the target where it is largest",
      Threshold.of("warning above 1 %, invalid if no request of that target succeeded"),
      "every run",
      "See the table of errors.",
      one(AnswerChecks::errors)),
  RATE_LIMITED(
      "Was every request within the server's rate limits?",
      "requests with status 429, or an error of that kind in their answer, ÷ ended requests",
      Threshold.of("warning above 0 %"),
      "runs with status 429, or whose server reports what is left of its limits",
      "Set maxRequestsPerMinute or maxTokensPerMinute below the limit, or have the limit raised.",
      one(AnswerChecks::rateLimited)),
  PACED(
      "Was the load sent as planned, without requests held back by a limit per minute?",
      "requests held back ÷ requests that these settings apply to",
      Threshold.of("note above 0 %"),
      "runs with maxRequestsPerMinute or maxTokensPerMinute",
      "These limits held the load back: read times from schedule, and no figure as a capacity.",
      one(LoadChecks::paced)),
  CONNECTIONS_CLOSED(
      "Does the server keep connections open unless it announces that it closes them?",
      "share of answers after which it closed unannounced, of the server where it is largest",
      Threshold.of("warning above 1 %"),
      "answers over HTTP/1.1 without Connection: close",
      "Enable keep-alive in the server or its proxy, or read connect_s beside TTFT.",
      one(AnswerChecks::connectionsClosed)),
  PINNED_OUTPUT(
      "Do answers have exactly max_tokens tokens?",
      "share of answers that stopped early or have another length, of the worst target",
      Threshold.of("warning above 1 %"),
      "runs with ignoreEos",
      "The server ignores ignore_eos and min_tokens. Compare by tok/s and TPOT, not by E2E.",
      one(
          in ->
              AnswerChecks.share(
                  in,
                  Property.NOT_PINNED,
                  Property.PINNED,
                  "of the answers stopped early or do not have their pinned length."))),
  FINISH_REASONS(
      "Does the server report why each answer ended?",
      "share of answers without a finish reason, of the worst target",
      Threshold.of("warning above 1 %"),
      "runs with answers",
      "Answers without a finish reason may be cut off. Look in the server's log.",
      one(AnswerChecks::finishReasons)),
  KNOWN_FINISH_REASONS(
      "Is it known what each finish reason means?",
      "share of answers with an unknown finish reason, of the worst target",
      Threshold.of("warning above 0 %"),
      "runs with answers",
      "The answers count as complete. If the reason means a failure, have it reported as an error.",
      one(
          in ->
              AnswerChecks.share(
                  in,
                  Property.UNKNOWN_FINISH,
                  Property.OK,
                  "of the answers have an unknown finish reason."))),
  KNOWN_FIELDS(
      "Does generated text come in the fields that its API is known to have?",
      "share of answers with text in another field, of the worst target",
      Threshold.of("warning above 0 %"),
      "runs with answers",
      "It counts as output, though it may be reasoning: the records name it (unknown_fields).",
      one(
          in ->
              AnswerChecks.share(
                  in,
                  Property.UNKNOWN_FIELD,
                  Property.OK,
                  "of the answers have text in a field that is not known."))),
  LEFT_OPEN(
      "Does the server end the body of an answer that is complete?",
      "share of answers whose body it left open, of the worst target",
      Threshold.of("warning above 0 %"),
      "runs with answers",
      "A client that waits for the end of the body hangs. Look at the server or its gateway.",
      one(
          in ->
              AnswerChecks.share(
                  in,
                  Property.LEFT_OPEN,
                  Property.OK,
                  "of the answers were left open by the server."))),
  TOKEN_COUNTS(
      "Does the server report output tokens?",
      "share of answers whose tokens are estimated, or whose reported count is impossible, of the"
          + " worst target",
      Threshold.of("warning above 1 %, also for a single impossible count"),
      "runs with answers",
      "Make the server report usage (stream_options.include_usage), or set its own tokenizer.",
      one(AnswerChecks::tokenCounts)),
  TOKEN_COUNTS_AGREE(
      "Do the tokens of an answer's events add up to its reported total?",
      "share of answers where they do not, of the worst target",
      Threshold.of("warning above 1 %"),
      "streamed answers whose total was not counted by their events",
      "Output tok/s is uncertain by that share. Ask the vendor how the server counts usage.",
      one(
          in ->
              AnswerChecks.share(
                  in,
                  Property.DISAGREEING,
                  Property.COMPARABLE,
                  "of the answers have events whose tokens do not add up to the total."))),
  PROMPT_TOKENS_AGREE(
      "Do the server and the local tokenizer count the same prompt tokens?",
      "|Σ (prompt_tokens − template) ÷ Σ prompt_tokens_local − 1|, of the target where it is"
          + " largest; the template is what the server has said, or adds to texts of any length",
      Threshold.of(
          "warning above 1 %, invalid above 10 %; where no lengths were asked for only a note, of"
              + " more than 10 %"),
      "requests that were counted by both",
      "Set the model's own tokenizer (tokenizer=server, or hf:<owner>/<name>).",
      one(TokenChecks::promptTokensAgree)),
  OUTPUT_TOKENS_AGREE(
      "Do the server and the local tokenizer count the same output tokens?",
      "|Σ (streamed_tokens − added) ÷ Σ output_tokens_local − 1|, of the target where it is"
          + " largest; added is what the server adds to answers of any length, such as an end"
          + " token",
      Threshold.of(
          "warning above 1 %, invalid above 10 %; where the tokenizer is not the model's own only a"
              + " note, of more than 10 %"),
      "answers with usage that were counted by both",
      "Set the model's own tokenizer (tokenizer=hf:<tokenizer.json>), or ask how it counts.",
      one(TokenChecks::outputTokensAgree)),
  NOT_STREAMED(
      "Do requests that ask for a stream get one?",
      "share of their answers that arrived as one body, of the worst target",
      Threshold.of("warning above 0 %"),
      "such requests",
      "Use an endpoint that streams, or set stream=false and read E2E.",
      one(AnswerChecks::notStreamed)),
  TOKENS_PER_EVENT(
      "Does each event contain one token?",
      "output tokens ÷ token events, of the worst target",
      Threshold.of("warning above 1.2 where the tokens of each event are not known"),
      "streamed answers, unless all tokens were counted by their events",
      "Ask the server for the tokens of each event (eventTokens=server), or read TPOT beside ITL.",
      one(AnswerChecks::tokensPerEvent)),
  BUFFERING(
      "Are answers streamed, not buffered until they are complete?",
      "share of streams whose tokens all arrive in the last 2 % of E2E, of the worst target",
      Threshold.of(
          "warning above 2 %, invalid above 50 % unless all of them answer requests with tools,"
              + " which the server's parser holds back"),
      "streamed answers of 8 tokens or more",
      "Switch off the buffering of the gateway or proxy: it makes TTFT equal E2E.",
      one(AnswerChecks::buffering)),
  COALESCED_EVENTS(
      "Does each event arrive in a read of its own?",
      "share of events that arrived in the same read as the previous one, of the worst target",
      Threshold.of("warning above 10 %"),
      "streamed answers",
      "Compare ITL with TPOT, and look for proxies and Nagle's algorithm (TCP_NODELAY).",
      one(
          in ->
              AnswerChecks.share(
                  in,
                  Property.COALESCED,
                  Property.EVENTS,
                  "of the events arrived in the same read as the previous one."))),
  CACHED_SHARE(
      "Are prompts new to the server?",
      "cached ÷ all prompt tokens",
      Threshold.of("warning above 10 %, " + AnswerChecks.NOTE_WHERE_MEANT),
      "servers that report cached tokens",
      "Send every prompt only once (uniquePrompts=true), or quote TTFT together with this share.",
      one(AnswerChecks::cachedShare)),
  REPEATED_PROMPTS(
      "Are prompts new to a server that does not report cached tokens?",
      "share of prompts that were sent to the same target before, word for word",
      Threshold.of("warning above 10 %, " + AnswerChecks.NOTE_WHERE_MEANT),
      "servers that report no cached tokens, where run.json has prompts",
      "Send every prompt only once (uniquePrompts=true), or quote TTFT as that of repetitions.",
      one(AnswerChecks::repeatedPrompts)),
  CANCELLED_TAILS(
      "Did all requests end without being cancelled?",
      "cancelled ÷ started requests",
      Threshold.of("note above 0 %, warning above 1 %"),
      "every run",
      "Allow more time for requests to end (drain), or offer less load.",
      one(AnswerChecks::cancelledTails)),

  // ---- server metrics: do they agree with what was measured here?
  METRICS_COVERED(
      "Do the readings of the server's metrics cover the measure windows?",
      "minimum share of a measure window that readings of a counter cover",
      Threshold.judged(
          "warning below 95 %: rates, power and tokens per joule of the load level are unknown"),
      "load levels with a counter of the server",
      "Look at the errors in llm/server.jsonl: the page failed or came late.",
      one(EngineChecks::metricsCovered)),
  ENGINE_TOKENS_AGREE(
      "Do the engine and the report count the same output tokens?",
      "|tokens of the engine ÷ output tokens of all requests − 1|, of the worst target",
      Threshold.of("warning above 2 %"),
      "as other_traffic, with 99 % of the requests ok, or where the engine counts the tokens of cut"
          + " answers, and no other traffic",
      "Set the model's own tokenizer (tokenizer=hf:<tokenizer.json>): cut answers have no usage, so"
          + " only it counts them; look at check token_counts, and at reasoning that is not"
          + " streamed.",
      one(EngineChecks::tokensAgree)),
  ABANDONED_STOP(
      "Does the engine stop generating when users leave?",
      "tokens that the engine made and nobody received ÷ tokens made, of the worst target",
      Threshold.judged("warning above 2 % and 10 tokens for each user who left"),
      "as other_traffic, with users who leave and 99 % of the other requests ok",
      "Let the server and the proxies before it cancel a request whose connection is closed.",
      one(EngineChecks::stopsForAbandoned)),
  OTHER_TRAFFIC(
      "Is this run the only user of the server?",
      "(requests that the engine finished − requests sent) ÷ requests sent, of the worst target",
      Threshold.judged("warning above 1 % and 3 requests"),
      "servers whose metrics cover the whole run without a restart",
      "Measure when nobody else uses the server: its other clients slow this load down.",
      one(EngineChecks::otherTraffic)),
  ENGINE_TTFT(
      "Is TTFT spent in the engine?",
      "mean TTFT from admission − the engine's own, ms, at the worst level that it keeps up with",
      Threshold.judged("warning above 100 ms, note above 20 ms, if it is more than half of TTFT"),
      "servers that report TTFT",
      "Measure close to the server, and give its proxy and API server more CPU or processes.",
      one(EngineChecks::ttft)),
  ENGINE_QUEUE(
      "Is TTFT spent in the engine's queue?",
      "the engine's mean queue time ÷ mean TTFT, at the level with the longest queue time",
      Threshold.judged("note above 50 % and 20 ms"),
      "servers that report queue time and TTFT",
      "The engine's batch is full. Allow a larger batch, or add KV cache or replicas.",
      one(EngineChecks::queue)),
  PREEMPTIONS(
      "Did the engine have memory for all requests in its batch?",
      "preemptions in the measure window, at the load level with the most",
      Threshold.judged("note above 0"),
      "servers that count preemptions",
      "Give the KV cache more memory, or allow fewer or shorter requests in the batch.",
      one(EngineChecks::preemptions)),
  KV_CACHE_FULL(
      "Was there space in the KV cache?",
      "largest share of the KV cache in use, of the readings in a measure window",
      Threshold.of("note above 95 %"),
      "servers that report KV cache use",
      "Give the KV cache more memory, or expect queues and preemptions from this load on.",
      one(EngineChecks::kvCacheFull)),
  GPU_THROTTLING(
      "Did each GPU keep its clock?",
      "1 − lowest clock while temperature or power were at their limit ÷ the GPU's highest clock",
      Threshold.of("note above 5 %, warning above 10 %"),
      "servers whose GPUs report clocks",
      "Cool the GPU better or raise its power limit; quote the figures with this clock.",
      one(GpuChecks::throttling)),
  GPU_IMBALANCE(
      "Did all GPUs of the server do their part?",
      "lowest ÷ median of the GPUs' mean utilisation, clock or power, at the worst load level",
      Threshold.of("warning below 80 %"),
      "load levels with two GPUs or more whose median is busy for half of the time",
      "Look at this GPU: it is slower, or its replica gets less load.",
      one(GpuChecks::imbalance));

  final String question;
  final String figure;
  final Threshold threshold;
  final String appliesTo;
  final String remedy;
  final Function<CheckInput, Stream<Finding>> judge;

  CheckCatalogue(
      String question,
      String figure,
      Threshold threshold,
      String appliesTo,
      String remedy,
      Function<CheckInput, Stream<Finding>> judge) {
    this.question = question;
    this.figure = figure;
    this.threshold = threshold;
    this.appliesTo = appliesTo;
    this.remedy = remedy;
    this.judge = judge;
  }

  private static Function<CheckInput, Stream<Finding>> one(
      Function<CheckInput, @Nullable Finding> judge) {
    return in -> Stream.ofNullable(judge.apply(in));
  }

  String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
