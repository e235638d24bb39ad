package io.github.gatlingllm.check;

import io.github.gatlingllm.check.Check.Level;
import io.github.gatlingllm.metric.Figures.RateLimits;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.record.GeneratorField;
import io.github.gatlingllm.record.RunInfo;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * All checks of a run, a row each; the only place that knows their ids, questions, thresholds and
 * remedies. {@code summary.json}, the page, the console, Markdown and {@code docs/checks.md} take
 * them from here. {@link LoadChecks}, {@link AnswerChecks}, {@link InjectorChecks} and {@link
 * EngineChecks} hold the functions that judge.
 *
 * <p>A new check is a row here with its function, and a row in the table of its test: a run that it
 * warns of, and one that it does not.
 */
enum CheckCatalogue {
  // id, lower case in files          question
  //     figure
  //     threshold
  //     applies to, and how that is known
  //     remedy, where a finding has none of its own
  //     judged by

  // ---- of the load: was the run made as planned, and is all of it recorded?
  RECORDS_DROPPED(
      "Are all requests in the records?",
      "records that were dropped, or are damaged",
      Threshold.invalidAbove(0),
      "every run",
      in -> true,
      "Figures miss these requests: write to a faster disk, or run less on this machine.",
      LoadChecks::recordsDropped),
  CUT_TAIL(
      "Does the file of records end with a whole line?",
      "bytes of the last line, where it is cut off",
      Threshold.above(0),
      "files whose last line is cut off",
      in -> in.file().cutTailBytes() > 0,
      "The run died while writing; that request is in no figure.",
      LoadChecks::cutTail),
  WINDOWS(
      "Do measure windows come from a load plan, or from Gatling's injection steps?",
      "load levels of the records that no plan names",
      Threshold.when("where there are any, or windows were inferred from the records"),
      "every run",
      in -> true,
      "Keep run.json beside requests.jsonl.",
      LoadChecks::windows),
  ALL_ACCOUNTED(
      "Is every planned request one that was sent, and every sent one in the records, ended or"
          + " cancelled?",
      "requests that nothing accounts for",
      Threshold.above(0),
      "runs whose run.json says what was planned or started",
      in ->
          in.info().started() != null
              || in.levels().stream().anyMatch(level -> level.info().planned() != null)
              || in.info().injectors().stream().anyMatch(injector -> injector.planned() != null),
      "Figures miss these requests: look at Gatling's log, and for a generator short of CPU or"
          + " memory.",
      LoadChecks::allAccounted),
  COMPLETE(
      "Did the run come to its planned end?",
      "none",
      Threshold.when("always"),
      "runs that were interrupted",
      in -> in.info().state() != RunInfo.State.COMPLETE,
      "Run it to its end before comparing.",
      LoadChecks::complete),
  INJECTORS(
      "Are all injectors of the load test there, and did each come to its end?",
      "injectors that are missing, died or were interrupted",
      Threshold.invalidAbove(0),
      "joined runs",
      InjectorChecks::applies,
      "The load was less than planned: figures are those of what was there. Look at the log of"
          + " the injector, and run the load test again.",
      InjectorChecks::injectors),
  INJECTOR_SETTINGS(
      "Did all injectors run with the same settings and versions?",
      "settings and versions that differ",
      Threshold.above(0),
      "joined runs",
      InjectorChecks::hasSeveral,
      "Give all injectors the same settings but their share (injector), and the same versions: they"
          + " may have made different loads.",
      InjectorChecks::settings),
  INJECTOR_CLOCKS(
      "Is it known how the clocks of the injectors differ?",
      "injectors of which it is not, or not to 100 ms and 5 % of the shortest measure window",
      Threshold.above(0),
      "joined runs",
      InjectorChecks::hasClocks,
      "Latencies are right, as each injector measures its own. Windows, rates, requests in flight"
          + " and charts over time of the joined run are wrong by as much as a clock is off. Name"
          + " one NTP server for all injectors (clock=<host>).",
      InjectorChecks::clocks),
  INJECTORS_ALIKE(
      "Did all injectors measure the same?",
      "difference of TTFT or start lag ÷ that of all other injectors, of the injector that stands"
          + " out most",
      Threshold.when(
          "where one differs beyond chance (once in 100 such runs) by 10 % and 1 ms in TTFT, 5 ms"
              + " in start lag; all see the same server, in each of 48 parts of a measure window in"
              + " the same state"),
      "joined runs",
      InjectorChecks::hasSeveral,
      "Look at that injector's machine and its way to the server (network, proxy, distance); joined"
          + " percentiles mix what it saw with what the others did.",
      InjectorChecks::alike),
  LITTLES_LAW(
      "Does Little's law hold: requests in flight, counted while the run was on = rate × time in"
          + " the system of the records?",
      "difference ÷ the larger of both, of the load level where it is largest",
      Threshold.when("above 5 % + 0.1 ms ÷ mean time in the system"),
      "load levels that ended by plan, with in_flight in run.json",
      in -> in.levels().stream().anyMatch(level -> level.law() != null),
      "Records are missing or their times are wrong: see records_dropped and all_accounted.",
      LoadChecks::littlesLaw),
  STEADY_STATE(
      "Were TTFT, E2E and output tok/s steady over the measure window?",
      "difference ÷ mean, of the largest significant change: first to last quarter of the window,"
          + " or a transient at its start to the rest",
      Threshold.share(0.2),
      "load levels of constant load, at least 20 s and 40 ok requests long; no batch trials",
      in -> in.levels().stream().anyMatch(level -> level.steadiness() != null),
      "A mean of what still changes: stabilize longer, or offer less where queues still grow.",
      LoadChecks::steadyState),
  WINDOW_LENGTH(
      "Is each measure window much longer than its requests take?",
      "p90 of E2E ÷ measure window, of the load level where it is largest",
      Threshold.noteShare(0.1).warningAboveShare(0.3),
      "load levels with a measure window and an answered request; no batch trials",
      in -> in.levels().stream().anyMatch(level -> level.shareOfWindow() != null),
      "Rates rest on few rounds of requests: measure at least three times as long as a request"
          + " takes, better ten times.",
      LoadChecks::windowLength),
  GENERATOR(
      "Did the load generator itself keep up: event loops in time, CPU left on its machine?",
      "share of the measure window in which an event loop was late by more than 10 ms and 20 % of"
          + " the median TTFT or ITL, or in which the machine was out of CPU (under 5 % idle, over"
          + " 10 % of it used by the generator), of the load level where it is worst",
      Threshold.when(
          "where loops were so late for 1 % of the window and 50 ms of it, or once by 100 ms, or"
              + " the machine out of CPU for 10 % of it; invalid where loops were late by more than"
              + " 2 ms and 20 % of the median for half of it, or the machine out of CPU for half of"
              + " it"),
      "runs with llm/generator.jsonl",
      GeneratorCheck::applies,
      "Give the generator more CPU, another machine or fewer streams per injector; the charts of"
          + " the generator show what it lacked.",
      GeneratorCheck::judge),
  ARRIVALS(
      "Did as many requests start per second as planned?",
      "difference ÷ planned rate",
      Threshold.share(0.02),
      "open loads whose run.json says what was planned",
      in -> in.arrivals() != null && in.arrivals().plannedPerS() != null,
      "The generator did not keep up: more injectors, or less load on this machine.",
      LoadChecks::arrivals),
  START_LAG(
      "Did requests start when planned?",
      "p99 of start − planned start, ms",
      Threshold.aboveMs(GeneratorField.LATE_START_MS),
      "open loads",
      CheckInput::hasArrivals,
      "Figures from schedule include the lag; give the generator more CPU.",
      LoadChecks::startLag),
  JVM_OPTIONS(
      "Does the generator's JVM leave the processors to the measurement?",
      "recommended options that it lacks",
      Threshold.when("where the optimising compiler is on"),
      "runs whose run.json has the options of the JVM",
      in -> !in.jvmOptions().isEmpty(),
      "Set gatling.jvmArgs as README says (Add it to a Gatling project): compiler and collector"
          + " take time from event loops, and from a server on the same machine.",
      LoadChecks::jvmOptions),
  SILENT_SPANS(
      "Did bytes keep coming while requests were in flight?",
      "longest time without a byte for any streamed request in flight, s",
      Threshold.when("above 1 s and 3 × the longest wait of the median request"),
      "load levels whose answers are streams",
      in -> in.levels().stream().anyMatch(level -> level.silence() != null),
      "The server stalled, or one long prefill held up all: look at its log. Read E2E and TTFT from"
          + " schedule, which count what users waited.",
      LoadChecks::silentSpans),
  FAILING_SPANS(
      "Was the server there all the time?",
      "longest time in which requests failed and none that succeeds was under way, of the target"
          + " where it was away longest, s",
      Threshold.when(
          "from 1 s on in which 3 requests or more failed, more in a row than so many failures make"
              + " by chance (under once in 100 such runs), where others succeeded"),
      "runs in which a request failed",
      in -> in.failures().values().stream().anyMatch(of -> of.failed() > 0),
      "Figures cover the time of the outage: look at the log of the server, or of the proxy before"
          + " it, for a restart, and measure again.",
      LoadChecks::failingSpans),
  LOW_N(
      "Are there enough values for the percentiles that headlines quote?",
      "values of E2E at the load level that headlines quote, of several the fewest",
      Threshold.noteBelow(1_000).warningBelow(100),
      "runs with answers",
      in -> !in.sweeps().isEmpty() && in.figures().metric(Metric.E2E_MS).count() > 0,
      "A p99 needs 1,000 values, a p95 200, a p90 100: measure longer, or quote what the values"
          + " carry.",
      LoadChecks::lowN),
  LOAD_LEVELS(
      "Are there enough load levels for a curve?",
      "load levels of the target and scenario that has most",
      Threshold.noteBelow(3),
      "runs with a load plan",
      in -> in.mostLevels() > 0 && in.hasLoadPlan(),
      "For a curve and its knee name several, e.g. concurrency=1,2,4,8,16,32.",
      LoadChecks::loadLevels),
  KNEE(
      "Does the knee lie inside the loads tried?",
      "targets and scenarios whose knee was not reached",
      Threshold.noteAbove(0),
      "runs of 3 load levels or more",
      in -> in.mostLevels() >= 3,
      "Add higher load levels, or lighter ones where the first is saturated.",
      LoadChecks::knee),
  STOPPED_EARLY(
      "Was every load level measured to its end?",
      "the figure of the rule that ended it",
      Threshold.when("where a level was cut short; invalid where errors in a row did it"),
      "runs that a stop rule ended",
      in -> in.conclusions("stopped early").findAny().isPresent(),
      "The last level is cut short: its figures cover the time before. Look at its errors.",
      LoadChecks::stoppedEarly),
  SEARCH(
      "Is the search sure of what it found?",
      "low end of the 95 % interval (Wilson) of the share in SLO at the highest rate that holds",
      Threshold.when(
          "unless that rate holds and the next one tried fails beyond chance when measured again"),
      "searches",
      in -> in.conclusions("search").findAny().isPresent(),
      "Measure each level longer, or start the search nearer to what the server holds.",
      LoadChecks::search),
  SAME_MODEL(
      "Is a token the same amount of text at all targets?",
      "none",
      Threshold.when("where models or tokenizers differ"),
      "runs against several targets",
      in -> in.models().size() > 1,
      "Compare tok/s only where models share a tokenizer; else requests/s, TTFT and E2E.",
      LoadChecks::sameModel),

  // ---- of the answers: are they what the figures take them for?
  ERRORS(
      "Did requests succeed?",
      "failed ÷ ended requests",
      Threshold.share(0.01).or("invalid where no request succeeded"),
      "every run",
      in -> true,
      "See the table of errors; a server that rejects load has better latencies for the rest.",
      AnswerChecks::errors),
  RATE_LIMITED(
      "Did the server's rate limits let every request through?",
      "requests with status 429 ÷ ended requests",
      Threshold.share(0),
      "runs with status 429, or where the server says what is left of its limits",
      in -> {
        RateLimits limits = in.figures().rateLimits();
        return limits != null && (limits.requests() > 0 || !limits.quotas().isEmpty());
      },
      "Stay below the limit with maxRequestsPerMinute or maxTokensPerMinute, which hold requests"
          + " back and say so, offer less load, or have the limit raised. Nobody waits for"
          + " Retry-After.",
      AnswerChecks::rateLimited),
  PACED(
      "Did the load go out as it was meant, without being held back by maxRequestsPerMinute or"
          + " maxTokensPerMinute?",
      "requests held back ÷ requests that had to pass these settings",
      Threshold.noteShare(0),
      "runs with one of these settings",
      in -> in.figures().rateLimits() != null && in.figures().rateLimits().pacing() != null,
      "The load is what the settings let through: read times from schedule, which count the wait,"
          + " and no figure as the capacity of the server.",
      LoadChecks::paced),
  CONNECTIONS_CLOSED(
      "Does the server keep the connections that it does not say it closes?",
      "share of answers after which it closed the connection, of the server where it is largest",
      Threshold.share(0.01),
      "answers over HTTP/1.1 without Connection: close",
      in -> in.info().connections().values().stream().anyMatch(of -> of.answers() > 0),
      "Requests pay for new connections: see connect_s, and read TTFT with it; or let the server,"
          + " or a proxy before it, keep connections alive.",
      AnswerChecks::connectionsClosed),
  PINNED_OUTPUT(
      "Do answers have exactly max_tokens tokens?",
      "share of answers that stopped early or have another length",
      Threshold.share(0.01),
      "runs with ignoreEos",
      in -> in.answers().pinned > 0,
      "The server ignores ignore_eos/min_tokens: compare runs by tok/s and TPOT, not by E2E.",
      AnswerChecks::pinnedOutput),
  FINISH_REASONS(
      "Does the server say why each answer ended?",
      "share of answers without a finish reason",
      Threshold.share(0.01),
      "runs with answers",
      in -> in.answers().ok > 0,
      "Answers without a finish reason may be cut: look at the server's log.",
      AnswerChecks::finishReasons),
  TOKEN_COUNTS(
      "Does the server count output tokens?",
      "share of answers whose tokens are estimated, or of which the server named a count that none"
          + " can have",
      Threshold.share(0.01).or("also for a single count that no answer can have"),
      "runs with answers",
      in -> in.answers().ok > 0,
      "Let the server report usage (stream_options.include_usage), or set its own tokenizer.",
      AnswerChecks::tokenCounts),
  TOKEN_COUNTS_AGREE(
      "Do the events of an answer have as many tokens as its total says?",
      "share of answers where they do not",
      Threshold.share(0.01),
      "streamed answers whose total is not the number of their events",
      in -> in.answers().comparable > 0,
      "Trust output tok/s to that share only; ask the server's maker how usage is counted.",
      AnswerChecks::tokenCountsAgree),
  EVENT_TIMES(
      "Is it known when tokens came?",
      "share of answers whose token times are interpolated",
      Threshold.noteShare(0),
      "runs with answers",
      in -> in.answers().ok > 0,
      "Run with recordTokens=true for exact window edges, ITL and jitter.",
      AnswerChecks::eventTimes),
  PROMPT_TOKENS_AGREE(
      "Do the server and our tokenizer count the same prompt tokens?",
      "|Σ prompt_tokens ÷ Σ prompt_tokens_local − 1|, of the target where it is largest",
      Threshold.noteShare(0.1).or("never where prompts of all lengths differ by as many tokens"),
      "requests that both counted",
      in -> in.answers().prompts.hasCounts(),
      "Set the model's own: tokenizer=hf:<tokenizer.json>. Prompt lengths are the server's counts.",
      AnswerChecks::promptTokensAgree),
  OUTPUT_TOKENS_AGREE(
      "Do the server and our tokenizer count the same output tokens?",
      "|Σ streamed_tokens ÷ Σ output_tokens_local − 1|, of the target where it is largest",
      Threshold.noteShare(0.1)
          .or(
              "warning where the tokenizer is the model's own (hf:), never where answers of all"
                  + " lengths differ by as many tokens"),
      "answers with usage that both counted",
      in -> in.answers().outputs.hasCounts(),
      "Set the model's own: tokenizer=hf:<tokenizer.json>. Else ask how the server counts: its"
          + " counts make TPOT and tok/s.",
      AnswerChecks::outputTokensAgree),
  NOT_STREAMED(
      "Do requests that ask for a stream get one?",
      "share of their answers that came as one body",
      Threshold.share(0),
      "runs with answers to requests that asked for a stream",
      in -> in.answers().streamedOk + in.answers().notStreamed > 0,
      "The server, or a gateway before it, ignores \"stream\": use an endpoint that streams, or"
          + " ask without (stream=false) and read E2E.",
      AnswerChecks::notStreamed),
  TOKENS_PER_EVENT(
      "Does each event bring one token?",
      "output tokens ÷ token events",
      Threshold.above(1.2),
      "streamed answers, unless tokens were counted by their events",
      in ->
          in.answers().streamedOk > in.answers().chunkCounted
              && in.figures().number(Metric.BATCH_RATIO) != null,
      "Read TPOT beside ITL, and ICL for what a reader sees.",
      AnswerChecks::tokensPerEvent),
  BUFFERING(
      "Are answers streamed, not held back until they are whole?",
      "share of streams whose tokens all come in the last 2 % of E2E",
      Threshold.share(0.02).invalidAboveShare(0.5),
      "streamed answers of 8 tokens or more",
      in -> in.answers().longStreams > 0,
      "Something buffers: switch off buffering in the gateway or proxy; TTFT is then E2E.",
      AnswerChecks::buffering),
  COALESCED_EVENTS(
      "Does each event come in a read of its own?",
      "share of events that came in one read with the one before",
      Threshold.share(0.1),
      "streamed answers",
      in -> in.answers().streamedOk > 0,
      "Gaps of 0 are bursts on the wire: compare with TPOT, look at proxies and Nagle.",
      AnswerChecks::coalescedEvents),
  LATE_DATA(
      "Do streams end where they say so?",
      "share of streams with data after their announced end",
      Threshold.noteShare(0),
      "streamed answers",
      in -> in.answers().streamedOk > 0,
      "The server sends data after [DONE]; it is ignored.",
      AnswerChecks::lateData),
  MISSING_DONE(
      "Do streams end with [DONE]?",
      "share of complete streams that do not",
      Threshold.noteShare(0),
      "streamed answers",
      in -> in.answers().streamedOk > 0,
      "Harmless for figures; clients that wait for [DONE] hang on this server.",
      AnswerChecks::missingDone),
  CACHED_SHARE(
      "Are prompts new to the server?",
      "cached ÷ all prompt tokens",
      Threshold.share(0.1).or(AnswerChecks.NOTE_WHERE_MEANT),
      "servers that report cached tokens",
      in -> in.cache() != null,
      "TTFT is that of prompts which the server has partly seen: ask without repeats"
          + " (uniquePrompts=true), or quote TTFT together with this share.",
      AnswerChecks::cachedShare),
  REPEATED_PROMPTS(
      "Are prompts new to a server that does not say what it cached?",
      "share of prompts that had gone to the same target before, word for word",
      Threshold.share(0.1).or(AnswerChecks.NOTE_WHERE_MEANT),
      "servers that report no cached tokens, where run.json has prompts",
      in -> in.cache() == null && in.info().prompts() != null,
      "If the server caches prefixes, TTFT is without prefill: ask without repeats"
          + " (uniquePrompts=true), or quote TTFT as that of repeated prompts.",
      AnswerChecks::repeatedPrompts),
  CANCELLED_TAILS(
      "Did all requests end by themselves?",
      "cancelled ÷ started requests",
      Threshold.noteShare(0).warningAboveShare(0.01),
      "every run",
      in -> true,
      "Give them longer to end (drain), or offer less load.",
      AnswerChecks::cancelledTails),

  // ---- of the server's own metrics: do they tell the same story?
  ENGINE_TOKENS_AGREE(
      "Do the engine's counters and the answers have the same output tokens?",
      "|tokens that the engine generated ÷ output tokens of all requests − 1|, of the target where"
          + " it is largest",
      Threshold.share(0.02),
      "servers whose metrics cover the whole run without a restart, 99 % of the requests ok and"
          + " nobody else there (other_traffic)",
      in -> !EngineChecks.comparable(in).isEmpty(),
      "One of them is wrong, and tok/s with it: look at token_counts, at reasoning that is not"
          + " streamed, and at what the server counts.",
      EngineChecks::tokensAgree),
  OTHER_TRAFFIC(
      "Is this run the only one that uses the server?",
      "(requests that the engine finished − requests sent) ÷ requests sent, of the target where it"
          + " is largest",
      Threshold.when("above 1 % and 3 requests"),
      "servers whose metrics cover the whole run without a restart",
      in -> !EngineChecks.countedRequests(in).isEmpty(),
      "Others share the server's batch, so that latency and tok/s are not those of this load alone:"
          + " measure when nobody else is there.",
      EngineChecks::otherTraffic),
  ENGINE_TTFT(
      "Is TTFT made in the engine?",
      "mean TTFT from admission − the engine's own mean TTFT, ms, of the load level where it is"
          + " largest, among those that the server keeps up with",
      Threshold.when("above 100 ms, note above 20 ms, where it is more than half of TTFT"),
      "servers that tell their TTFT",
      EngineChecks::hasTtft,
      "The time passes before the engine takes requests up, or after it: in the network, a proxy or"
          + " gateway, or the API server (tokenizing, a single busy process). Measure next to the"
          + " server, and give its API server more CPU or processes.",
      EngineChecks::ttft),
  ENGINE_QUEUE(
      "Is TTFT time in the engine's queue?",
      "engine's mean queue time ÷ mean TTFT from admission, of the load level where it waits"
          + " longest",
      Threshold.noteWhen("above 50 % and 20 ms"),
      "servers that tell their queue time and TTFT",
      EngineChecks::hasQueue,
      "The engine's batch is full: beyond this load TTFT is waiting. A larger batch, more memory"
          + " for the KV cache or more replicas take it away.",
      EngineChecks::queue),
  PREEMPTIONS(
      "Did the engine have memory for all requests of its batch?",
      "preemptions in a measure window, of the load level with most",
      Threshold.noteWhen("above 0"),
      "servers that count preemptions",
      EngineChecks::hasPreemptions,
      "What was taken out is computed again, and its user waits: give the KV cache more memory, or"
          + " let fewer or shorter requests into the batch.",
      EngineChecks::preemptions),
  KV_CACHE_FULL(
      "Was there room in the KV cache?",
      "most of the KV cache in use at a reading in a measure window",
      Threshold.noteShare(0.95),
      "servers that tell how much of their KV cache is in use",
      EngineChecks::hasKvCache,
      "Requests wait for memory, not for computing: give the KV cache more of it, or expect queues"
          + " and preemptions from this load on.",
      EngineChecks::kvCacheFull);

  /** What a generator short of CPU does to its own figures looks as if the server did it. */
  private static final Set<CheckCatalogue> ALSO_BY_GENERATOR =
      Collections.unmodifiableSet(
          EnumSet.of(STEADY_STATE, SILENT_SPANS, BUFFERING, COALESCED_EVENTS, ENGINE_TTFT));

  private static final String MAY_BE_GENERATOR =
      "It may not be the server: the load generator itself did not keep up, see check generator.";

  final String question;
  final String figure;

  @SuppressWarnings("ImmutableEnumChecker") // it has no state
  final Threshold threshold;

  final String appliesTo;

  @SuppressWarnings("ImmutableEnumChecker") // it has no state
  private final Predicate<CheckInput> applies;

  final String remedy;

  @SuppressWarnings("ImmutableEnumChecker") // it has no state
  private final Function<CheckInput, Stream<Finding>> judge;

  /** Answers once. */
  private interface One {
    Finding in(CheckInput input);
  }

  /** Answers for each of several things. */
  private interface Several {
    Stream<Finding> in(CheckInput input);
  }

  CheckCatalogue(
      String question,
      String figure,
      Threshold threshold,
      String appliesTo,
      Predicate<CheckInput> applies,
      String remedy,
      One judge) {
    this(
        question,
        figure,
        threshold,
        appliesTo,
        applies,
        remedy,
        (Several) input -> Stream.of(judge.in(input)));
  }

  CheckCatalogue(
      String question,
      String figure,
      Threshold threshold,
      String appliesTo,
      Predicate<CheckInput> applies,
      String remedy,
      Several judge) {
    this.question = question;
    this.figure = figure;
    this.threshold = threshold;
    this.appliesTo = appliesTo;
    this.applies = applies;
    this.remedy = remedy;
    this.judge = judge::in;
  }

  /** What all of them find, the worst first. */
  static List<Check> judge(CheckInput input) {
    boolean mayBeGenerator =
        GENERATOR.applies.test(input)
            && GENERATOR.judge.apply(input).anyMatch(finding -> finding.level() != Level.OK);
    return Arrays.stream(values())
        .filter(entry -> entry.applies.test(input))
        .flatMap(entry -> entry.judge.apply(input).map(found -> entry.check(found, mayBeGenerator)))
        .sorted(Comparator.comparing(Check::level).reversed())
        .toList();
  }

  private Check check(Finding finding, boolean mayBeGenerator) {
    Level own = finding.level();
    Level level = own == null ? threshold.level(finding.value()) : own;
    Double bound = finding.threshold();
    String advice = finding.remedy() == null ? remedy : finding.remedy();
    return new Check(
        id(),
        level,
        finding.value(),
        bound == null ? threshold.value() : bound,
        mayBeGenerator && level != Level.OK && ALSO_BY_GENERATOR.contains(this)
            ? finding.message() + " " + MAY_BE_GENERATOR
            : finding.message(),
        level == Level.OK ? "" : advice);
  }

  String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
