package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.check.EngineChecksTest.left;
import static io.github.gatlingllm.figures.check.EngineChecksTest.onGpus;
import static io.github.gatlingllm.figures.check.EngineChecksTest.readUntil;
import static io.github.gatlingllm.figures.check.GeneratorHealthTest.blockedFor;
import static io.github.gatlingllm.figures.check.GeneratorHealthTest.onFullMachine;
import static io.github.gatlingllm.figures.check.InjectorTallyTest.differing;
import static io.github.gatlingllm.figures.check.InjectorTallyTest.joined;
import static io.github.gatlingllm.figures.check.InjectorTallyTest.starting;
import static io.github.gatlingllm.figures.level.Recorded.at;
import static io.github.gatlingllm.figures.level.Recorded.check;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.docs.ReferencePage;
import io.github.gatlingllm.figures.level.Levels;
import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.RunStatistics.RecordSource;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Figures.Check;
import io.github.gatlingllm.figures.metric.Figures.Check.Level;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.LevelInfo.Phase;
import io.github.gatlingllm.record.LevelInfo.PlannedArrival;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunInfo.RunEnvironment;
import io.github.gatlingllm.record.RunOutcome;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Each check of the catalogue: once where it must warn, once where it must not. */
class ChecksTest {

  private static final double[] STEADY = {100, 120, 140, 160, 180, 200, 220, 240, 260, 280};

  private static final RunInfo RUN = Recorded.run(10, Recorded.stage(1, 0, 10_000));

  private static final RunInfo TWO_TARGETS =
      Recorded.run(10, Recorded.stage(1, 0, 10_000), Recorded.stage("b", 1, 0, 10_000));

  /**
   * A run that a check warns of, and one that it keeps quiet about.
   *
   * @param value the figure that it warns of; null where there is none, or another test has it
   */
  private record Pair(@Nullable Double value, Supplier<Summary> warns, Supplier<Summary> quiet) {}

  private static final Map<String, Pair> PAIRS =
      Map.ofEntries(
          pair("records_dropped", 3.0, () -> of(RUN.dropped(3))),
          pair("cut_tail", 77.0, () -> read(new ReadReport(10, 77, 0, List.of()))),
          pair("windows", 1.0, () -> of(RUN, record -> record.stage("c=9"))),
          pair("complete", null, () -> of(ended(RunInfo.State.INTERRUPTED))),
          pair("all_accounted", 188.0, () -> sent(600, 412), () -> sent(600, 600)),
          pair("injectors", 1.0, () -> joined(3), () -> joined(2)),
          pair("injector_settings", 1.0, () -> differing(), () -> joined(2)),
          pair("injector_starts", 1.2, () -> starting(1.2), () -> starting(0.9)),
          pair("littles_law", 0.2, () -> inFlight(1.25), () -> inFlight(1)),
          pair("steady_state", null, () -> ttftGrowsTo(5_200), () -> ttftGrowsTo(1_200)),
          pair("window_length", 0.15, () -> taking(1_500), () -> taking(950)),
          pair("generator", 0.028, () -> blockedFor(300), () -> blockedFor(0)),
          pair("arrivals", 0.313, () -> sent(600, 412), () -> sent(600, 600)),
          pair("start_lag", 60.0, () -> late(60), () -> late(2)),
          pair(
              "jvm_options",
              2.0,
              () -> onFullMachine("-XX:TieredStopAtLevel=4"),
              () -> onFullMachine("-XX:TieredStopAtLevel=1")),
          pair("silent_spans", 15.0, () -> firstTokenAfter(15_000), () -> firstTokenAfter(150)),
          pair("failing_spans", 3.0, () -> failing(1_010, 4_010), () -> failing(1_010, 1_500)),
          pair("low_n", 10.0, one(r -> {}), levels("1:1000 2:1000:110")),
          pair("knee", 1.0, levels("1:10 2:30:110 4:90:110"), levels("1:10 2:30:110 4:32:220")),
          pair(
              "stopped_early",
              0.5,
              () -> found("stopped early", false),
              () -> found("stopped early", true)),
          pair("repeats", 0.5, () -> found("repeats", false), () -> found("repeats", true)),
          pair("search", 0.5, () -> found("search", false), () -> found("search", true)),
          pair("same_model", null, () -> twoTargets("x"), () -> twoTargets("m")),
          pair("errors", 0.1, one(r -> r.failed(RequestStatus.TIMEOUT, "timeout"))),
          pair(
              "rate_limited",
              0.1,
              one(r -> r.failed(RequestStatus.RATE_LIMITED, "HTTP 429: slow down")),
              one(r -> r.limits(Map.of("requests_limit", 60.0, "requests_remaining", 3.0), null))),
          pair("paced", 1.0, one(r -> r.paced(2_500)), one(r -> r.paced(0))),
          pair("connections_closed", 0.9, () -> closing(90), () -> closing(1)),
          pair("pinned_output", 0.1, () -> of(pinned(), r -> r.max(128)), () -> of(pinned())),
          pair("finish_reasons", 0.1, one(r -> r.finish(null))),
          pair("token_counts", 0.1, one(Recorded::estimated)),
          pair("token_counts_agree", 0.1, one(r -> r.output(7))),
          pair("prompt_tokens_agree", 0.5, one(r -> r.prompt(15).ours(10)), one(r -> r.ours(10))),
          pair(
              "output_tokens_agree",
              0.5,
              one(r -> r.output(15).ourOutput(10)),
              one(r -> r.output(10).ourOutput(10))),
          pair(
              "not_streamed",
              0.1,
              one(r -> r.tokens().bodyForStream(400, 10)),
              one(r -> r.tokens().body(400, 10))),
          pair("tokens_per_event", 1.3, one(r -> r.output(40))),
          pair(
              "buffering",
              0.1,
              one(r -> r.tokens(500, 500, 501, 501, 501, 502, 502, 502, 503, 503))),
          pair("coalesced_events", 1.0, one(r -> r.coalesced(100))),
          pair("cached_share", 1.0, one(r -> r.cached(10)), one(r -> r.cached(0))),
          pair("repeated_prompts", 599 / 600.0, () -> repeats(600, 599), () -> repeats(600, 60)),
          pair("cancelled_tails", 0.1, one(r -> r.failed(RequestStatus.CANCELLED, "end"))),
          pair("metrics_covered", 0.85, () -> readUntil(8.5), EngineChecksTest::healthyRun),
          engine("engine_tokens_agree", 0.05, EngineMetric.GENERATION_TOKENS, 1_050),
          pair("abandoned_stop", 0.2, () -> left(1_175), () -> left(980)),
          engine("other_traffic", 0.05, EngineMetric.REQUESTS_FINISHED, 105),
          engine("engine_ttft", 83.0, EngineMetric.ENGINE_TTFT_S, 0.017),
          engine("engine_queue", 0.7, EngineMetric.ENGINE_QUEUE_S, 0.07),
          engine("preemptions", 10.0, EngineMetric.PREEMPTIONS, 11),
          engine("kv_cache_full", 0.99, EngineMetric.KV_CACHE_USE, 0.99),
          pair("gpu_throttling", 0.4, () -> onGpus(1_188, 87, 0.9), () -> onGpus(1_980, 87, 0.9)),
          pair(
              "gpu_imbalance",
              2 / 3.0,
              () -> onGpus(1_980, 60, 0.45),
              () -> onGpus(1_980, 60, 0.8)));

  /** A run whose engine says that of a metric, and a healthy one. */
  private static Map.Entry<String, Pair> engine(
      String id, double value, EngineMetric metric, double said) {
    return pair(
        id, value, () -> EngineChecksTest.runWith(metric, said), EngineChecksTest::healthyRun);
  }

  private static Map.Entry<String, Pair> pair(
      String id, @Nullable Double value, Supplier<Summary> warns) {
    return pair(id, value, warns, one(r -> {}));
  }

  private static Map.Entry<String, Pair> pair(
      String id, @Nullable Double value, Supplier<Summary> warns, Supplier<Summary> quiet) {
    return Map.entry(id, new Pair(value, warns, quiet));
  }

  static List<String> ids() {
    return Arrays.stream(CheckCatalogue.values()).map(CheckCatalogue::id).toList();
  }

  @Test
  void everyCheckHasARunThatFiresItAndOneThatDoesNot() {
    assertThat(PAIRS.keySet()).containsExactlyInAnyOrderElementsOf(ids());
  }

  @ParameterizedTest
  @MethodSource("ids")
  void checkFiresForOneRunAndNotForTheOther(String id) {
    Pair pair = PAIRS.get(id);
    Check check = check(pair.warns().get(), id);
    assertThat(check.level()).isNotEqualTo(Level.OK);
    assertThat(check.remedy()).isNotEmpty();
    if (pair.value() != null) {
      assertThat(check.value()).isEqualTo(pair.value(), within(0.02 * pair.value()));
    }
    assertThat(pair.quiet().get().checks())
        .filteredOn(other -> other.id().equals(id))
        .allSatisfy(
            other -> {
              assertThat(other.level()).isEqualTo(Level.OK);
              assertThat(other.remedy()).isEmpty();
            });
  }

  /**
   * A run, and what a check of it finds.
   *
   * @param level null if it does not apply; not looked at where there is a value
   * @param value null where only the level counts
   * @param said what its message names
   */
  private record Case(
      String id,
      @Nullable Level level,
      @Nullable Double value,
      String said,
      Supplier<Summary> run) {

    static Case of(String id, @Nullable Level level, Supplier<Summary> run) {
      return new Case(id, level, null, "", run);
    }

    /** A run in which the check finds that many, or that share. */
    static Case of(String id, double value, Supplier<Summary> run) {
      return new Case(id, Level.OK, value, "", run);
    }

    @Override
    public String toString() {
      return id + " " + level + " " + value;
    }
  }

  static Stream<Case> cases() {
    RunInfo shared = RUN.config(Map.of("sharedPrefix", "8x512"));
    RunInfo own = RUN.config(Map.of("tokenizer", "hf:tokenizer.json"));
    RunOutcome.PromptRepeats repeats = new RunOutcome.PromptRepeats(600, 599);
    RunInfo mixed = tokenizers("chars4", "chars4").config(Map.of("ignoreEos", "true,false"));
    int[] ones = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    Consumer<Recorded> even = r -> r.max(5).choices(0, 1, 0, 1, 0, 1, 0, 1, 0, 1);
    Consumer<Recorded> uneven = r -> r.max(5).choices(0, 0, 0, 0, 0, 0, 1, 1, 1, 1);
    List<Recorded> atBoth = List.of(at(0).tokens(STEADY), at(0).target("b").tokens(STEADY));
    List<Recorded> byChunks =
        List.of(at(0).tokens(STEADY).chunks(), at(1_000).tokens(STEADY).chunks());
    List<RequestRecord> crossing =
        List.of(
            at(0).tokens(100, 20_000).record(), at(8_000).tokens(100, 20_000).closed(900).record());
    return Stream.of(
        Case.of(
            "errors",
            Level.INVALID,
            () -> of(RUN, List.of(at(0).failed(RequestStatus.TIMEOUT, "timeout")))),
        // All tokens within 2 % of E2E, after half a second of silence.
        Case.of(
            "buffering",
            Level.INVALID,
            () -> of(RUN, List.of(at(0).tokens(500, 500, 500, 500, 500, 500, 500, 500)))),
        // A parser of tool calls holds them back as a gateway does: one such answer alone proves
        // none.
        Case.of("buffering", Level.WARNING, () -> of(RUN, List.of(atOnce().tools()))),
        Case.of("buffering", Level.INVALID, () -> of(RUN, List.of(atOnce(), atOnce().tools()))),
        // The worst target, which a mean over both would hide.
        worst("buffering", 1, atOnce(), at(0).tokens(STEADY)),
        worst("coalesced_events", 0.6, at(0).tokens(STEADY).coalesced(6), at(0).tokens(STEADY)),
        worst("tokens_per_event", 4, at(0).tokens(STEADY).output(40), at(0).tokens(STEADY)),
        worst("not_streamed", 1, at(0).bodyForStream(400, 10), at(0).tokens(STEADY)),
        worst("finish_reasons", 1, at(0).tokens(STEADY).finish(null), at(0).tokens(STEADY)),
        worst("token_counts", 1, at(0).tokens(STEADY).estimated(), at(0).tokens(STEADY)),
        worst("token_counts_agree", 1, at(0).tokens(STEADY).output(7), at(0).tokens(STEADY)),
        worst("errors", 1, at(0).failed(RequestStatus.TIMEOUT, "late"), at(0).tokens(STEADY)),
        Case.of("littles_law", Level.WARNING, () -> inFlight(1.06)),
        Case.of("littles_law", Level.WARNING, () -> inFlight(0.94)),
        Case.of("littles_law", null, one(r -> {})),
        Case.of("same_model", null, one(r -> {})),
        Case.of("prompt_tokens_agree", null, one(r -> {})),
        Case.of("output_tokens_agree", null, one(r -> {})),
        // What the server says of its cache is better than a guess: the other check is left out.
        Case.of("cached_share", null, () -> repeats(600, 599)),
        Case.of("repeated_prompts", null, () -> of(RUN.prompts(repeats), r -> r.cached(0))),
        // A property that the workload or the user intends does not put the figures in doubt.
        Case.of("cached_share", Level.NOTE, () -> of(shared, r -> r.cached(10))),
        Case.of("cached_share", Level.NOTE, one(r -> r.cached(10).turn(2))),
        Case.of("repeated_prompts", Level.NOTE, () -> of(shared.prompts(repeats))),
        // A token counted by the model's own tokenizer is a token.
        Case.of(
            "output_tokens_agree", Level.WARNING, () -> of(own, r -> r.output(15).ourOutput(10))),
        // Two protocols, one of them not pinned: ignoreEos is "true,false" for people.
        Case.of("pinned_output", 0.1, () -> of(mixed, pinnedAndFree(10))),
        Case.of("pinned_output", null, () -> of(mixed, pinnedAndFree(0))),
        // Two answers of one request, limited to 5 tokens each: 10 in all, however spread.
        Case.of("pinned_output", 0, () -> of(pinned(), even)),
        Case.of("pinned_output", 0, () -> of(pinned(), even.andThen(r -> r.perEvent(ones)))),
        Case.of("pinned_output", 0.1, () -> of(pinned(), uneven.andThen(r -> r.perEvent(ones)))),
        Case.of("pinned_output", 0.1, () -> of(pinned(), even.andThen(r -> r.output(9)))),
        // Without events nothing says how many answers there are: any whole number of limits.
        Case.of("pinned_output", 0, () -> of(pinned(), r -> r.max(5).withoutTimes())),
        Case.of("pinned_output", 0.1, () -> of(pinned(), r -> r.max(4).withoutTimes())),
        Case.of("pinned_output", 0.1, () -> of(pinned(), r -> r.max(5))),
        Case.of("same_model", Level.WARNING, () -> of(tokenizers("x", "y"), atBoth)),
        Case.of("same_model", Level.OK, () -> of(tokenizers("x", "x"), atBoth)),
        // One token per event by assumption: neither question can be answered with no.
        Case.of("token_counts_agree", null, () -> of(RUN, byChunks)),
        Case.of("tokens_per_event", null, () -> of(RUN, byChunks)),
        Case.of(
            "token_counts_agree",
            1,
            () ->
                of(
                    RUN,
                    List.of(at(0).tokens(STEADY).chunks(), at(2_000).tokens(STEADY).output(7)))),
        // The share is of tokens, not of requests.
        Case.of("cached_share", 0.4, () -> of(RUN, cachedThat(64, 16))),
        Case.of("littles_law", 0, () -> inFlight(1)),
        // Requests cross both edges of the window: 1 of 9 s, 9 of 9 s.
        Case.of("littles_law", 0, () -> inFlight(1.1, crossing)),
        Case.of("all_accounted", 12, () -> sent(400, 412)),
        Case.of("all_accounted", null, () -> Recorded.summary(open(null), sent(412))),
        Case.of("arrivals", null, () -> Recorded.summary(open(null), sent(412))),
        // The run counted so many that started, and has the records of 10.
        Case.of("all_accounted", 1, () -> of(RUN.started(11L))),
        Case.of("all_accounted", 0, () -> of(RUN.started(11L).dropped(1))),
        Case.of("all_accounted", 1, () -> of(RUN.started(9L))),
        new Case(
            "all_accounted",
            Level.OK,
            0.0,
            "10 requests started, 10 ended",
            () -> of(RUN.started(10L))),
        // 5 users send 10 requests: a plan of a closed loop counts users, who may send several.
        Case.of("all_accounted", Level.OK, () -> ofUsers(5)),
        Case.of("all_accounted", 2, () -> ofUsers(12)),
        new Case(
            "knee",
            Level.NOTE,
            null,
            "Output is flat from the first load level on",
            levels("4:30 8:31:200 16:30:400")),
        // Headlines quote two users; that one user alone asks little is no fault of the run.
        Case.of("low_n", Level.OK, levels("1:10 2:1000")),
        new Case("steady_state", Level.NOTE, null, "c=1, c=2", levels("1:60 2:39:110")),
        new Case(
            "window_length",
            Level.WARNING,
            null,
            "c=64",
            () -> Levels.of("8:400").waiting(64, 64).summary()));
  }

  @ParameterizedTest
  @MethodSource("cases")
  void levelIs(Case wanted) {
    assertThat(wanted.run().get().checks())
        .filteredOn(check -> check.id().equals(wanted.id()))
        .hasSize(wanted.level() == null ? 0 : 1)
        .allSatisfy(
            check -> {
              if (wanted.value() == null) {
                assertThat(check.level()).isEqualTo(wanted.level());
              } else {
                assertThat(check.value()).isEqualTo(wanted.value(), within(1e-9));
              }
              assertThat(check.message()).contains(wanted.said());
            });
  }

  @Test
  void steadyRunIsFine() {
    List<Check> checks = summary(r -> {}).checks();
    assertThat(checks)
        .filteredOn(c -> c.level() != Level.OK)
        .extracting(Check::id)
        .containsExactlyInAnyOrder("low_n", "steady_state");
    assertThat(checks).allSatisfy(c -> assertThat(c.message()).endsWith("."));
  }

  /** One that fails every 10 ms in a time, with ok ones before and after it. */
  private static Summary failing(double fromMs, double toMs) {
    List<RequestRecord> all = new ArrayList<>();
    all.add(at(0).tokens(STEADY).record());
    all.add(at(5_000).tokens(STEADY).record());
    for (double ms = fromMs; ms < toMs; ms += 10) {
      all.add(at(ms).failed(RequestStatus.CONNECTION_ERROR, "refused").closed(5).record());
    }
    return Recorded.summary(RUN, all);
  }

  /** Counts by the server / by us, and what is made of them. */
  @ParameterizedTest
  @CsvSource({
    "prompt_tokens_agree, 10/10 20/20, OK, 0",
    "prompt_tokens_agree, 19/10 29/20 39/30, OK, 0.45", // a template of 9 tokens
    "prompt_tokens_agree, 19/10 19/10, NOTE, 0.9", // one length proves no template
    "prompt_tokens_agree, 8/10 15/20 33/30 10/20, NOTE, 0.175", // another tokenizer
    "prompt_tokens_agree, 109/100 218/200, OK, 0.09", // up to 10 % are tolerated
    "output_tokens_agree, 10/10 20/20, OK, 0",
    "output_tokens_agree, 3/2 5/4, OK, 0.3333333333", // an end token
    "output_tokens_agree, 8/10 15/20 12/20, NOTE, 0.3",
    "output_tokens_agree, 109/100 218/200, OK, 0.09"
  })
  void countsOfTokensAgree(String id, String counts, Level level, double value) {
    boolean isPrompt = id.startsWith("prompt");
    List<Recorded> records = new ArrayList<>();
    for (String both : counts.split(" ", -1)) {
      int said = Integer.parseInt(both.split("/", -1)[0]);
      int ours = Integer.parseInt(both.split("/", -1)[1]);
      Recorded one = at(0).tokens(STEADY);
      records.add(isPrompt ? one.prompt(said).ours(ours) : one.output(said).ourOutput(ours));
    }
    records.add(at(0).tokens(STEADY).prompt(1_000).output(99));
    records.add(at(0).tokens(STEADY).prompt(null).ours(1_000).output(99).ourOutput(99).estimated());
    Check check = check(of(RUN, records), id);
    assertThat(check.value()).isEqualTo(value, within(1e-9));
    assertThat(check.level()).isEqualTo(level);
  }

  @Test
  void promptTokensAreComparedPerTarget() {
    List<Recorded> records =
        List.of(
            at(0).tokens(STEADY).prompt(30).ours(10),
            at(0).tokens(STEADY).prompt(40).ours(20),
            at(0).target("b").tokens(STEADY).prompt(10).ours(20));
    Check check = check(of(RUN, records), "prompt_tokens_agree");
    assertThat(check.level()).isEqualTo(Level.NOTE);
    assertThat(check.message()).startsWith("b counts 50.0 % fewer prompt tokens");
  }

  private static List<Recorded> cachedThat(int first, int second) {
    return List.of(
        at(0).tokens(STEADY),
        at(9_000).prompt(100).cached(first).tokens(20, 30),
        at(9_100).prompt(100).cached(second).tokens(90, 99));
  }

  /** All tokens within 2 % of E2E, after half a second of silence. */
  private static Recorded atOnce() {
    return at(0).tokens(500, 500, 500, 500, 500, 500, 500, 500);
  }

  /** A check that finds that much at target b, whose name it says, and not at target a. */
  private static Case worst(String id, double value, Recorded atB, Recorded atA) {
    return new Case(
        id,
        Level.WARNING,
        value,
        "b: ",
        () -> of(TWO_TARGETS, List.of(atA, at(1_000).tokens(STEADY), atB.target("b"))));
  }

  @ParameterizedTest
  @CsvSource({
    "output_tokens_agree, chars4, set the model's own tokenizer",
    "output_tokens_agree, hf:t.json, is set already",
    "prompt_tokens_agree, hf:t.json, is set already",
    "token_counts, hf:t.json, make the server report usage (stream_options.include_usage)."
  })
  void adviceIsNotWhatIsSetAlready(String id, String tokenizer, String remedy) {
    Recorded wrong = at(0).tokens(STEADY).prompt(15).ours(10);
    Recorded answer =
        id.equals("token_counts") ? wrong.estimated() : wrong.output(15).ourOutput(10);
    Check check = check(of(RUN.config("tokenizer", tokenizer), List.of(answer)), id);
    assertThat(check.level()).isNotEqualTo(Level.OK);
    assertThat(check.remedy()).containsIgnoringCase(remedy);
  }

  private static RunInfo pinned() {
    return RUN.targets(Map.of("a", new RunEnvironment.TargetFacts(true, "chars4", null, null)));
  }

  private static RunInfo tokenizers(String a, String b) {
    return TWO_TARGETS.targets(
        Map.of(
            "a", new RunEnvironment.TargetFacts(true, a, null, null),
            "b", new RunEnvironment.TargetFacts(false, b, null, null)));
  }

  /** One request at the target that is not pinned, and so many at the other, one of them cut. */
  private static List<Recorded> pinnedAndFree(int pinned) {
    List<Recorded> all = new ArrayList<>();
    all.add(at(0).target("b").tokens(STEADY).max(128));
    for (int i = 0; i < pinned; i++) {
      all.add(at(i * 1_000).tokens(STEADY).max(i == 0 ? 128 : 10));
    }
    return all;
  }

  /** 10 requests by so many planned users: how many each sends is not planned. */
  private static Summary ofUsers(long planned) {
    return of(Recorded.run(10, Recorded.stage(1, 0, 10_000).withPlanned(planned)).planned(planned));
  }

  private static Summary repeats(long counted, long repeated) {
    return of(RUN.prompts(new RunOutcome.PromptRepeats(counted, repeated)));
  }

  @Test
  void missingRequestsWithAReasonAreNamedAndNoWarning() {
    String cause = "ask: it would not fit into the context";
    RunInfo turns = open(600L).notSent(Map.of(cause, 188L));
    Check named = check(Recorded.summary(turns, sent(412)), "all_accounted");
    assertThat(named.level()).isEqualTo(Level.OK);
    assertThat(named.message()).contains("412 were sent (" + cause + ": 188)");
    RunInfo dropped = open(600L).dropped(100);
    assertThat(check(Recorded.summary(dropped, sent(412)), "all_accounted").value()).isEqualTo(88);
    Conclusion stopped =
        new Conclusion("stopped early", "a", null, "during r=10", false, null, null, null, null);
    RunInfo early = open(600L).conclusion(stopped);
    assertThat(check(Recorded.summary(early, sent(412)), "all_accounted").level())
        .isEqualTo(Level.OK);
    RunInfo mistaken = open(600L).notSent(Map.of("ask: " + RunInfo.NOT_BUILT, 188L));
    Check warned = check(Recorded.summary(mistaken, sent(412)), "all_accounted");
    assertThat(warned.level()).isEqualTo(Level.WARNING);
    assertThat(warned.message()).contains("(ask: it could not be built: 188)");
  }

  /** An arrival counts where it was planned, however long its user took to its request. */
  @Test
  void arrivalsThatSendTheirRequestAfterTheWindowWereSent() {
    List<RequestRecord> records = new ArrayList<>(sent(599));
    records.add(at(60_002).phase(Phase.DRAIN).stage("r=10").offset(59_999).tokens(5).record());
    Summary summary = Recorded.summary(open(600L), records);
    assertThat(summary.figures().counts().planned()).isEqualTo(600);
    assertThat(check(summary, "all_accounted").level()).isEqualTo(Level.OK);
  }

  private static RunInfo open(@Nullable Long planned) {
    LevelInfo level = Recorded.rate(10, 0, 60_000);
    return Recorded.run(60, planned == null ? level : level.withPlanned(planned)).planned(planned);
  }

  /** A plan for 60 s, and how many of its requests were sent. */
  private static Summary sent(long planned, int sent) {
    List<PlannedArrival> plan =
        LongStream.range(0, planned)
            .mapToObj(i -> Recorded.arrival("r=10", i * 60_000.0 / planned))
            .toList();
    return Recorded.figures(open(planned), plan, sent(sent)).summary();
  }

  /** Requests over 60 s, each 2 ms after its arrival was planned. */
  private static List<RequestRecord> sent(int requests) {
    return Recorded.requests(
        requests, i -> at(60_000.0 * i / requests + 2).lag(2).stage("r=10").tokens(5));
  }

  @Test
  void fewValues() {
    Check some = check(Levels.of("1:10 2:400").summary(), "low_n");
    assertThat(some.level()).isEqualTo(Level.NOTE);
    assertThat(some.message()).startsWith("c=2: ").contains("400");
    assertThat(some.remedy()).startsWith("For a p99, measure 3 s or longer (duration=3)");
    // headlines quote TTFT, which answers in one body do not have
    List<Recorded> mixed = new ArrayList<>(Collections.nCopies(60, Recorded.at(0).tokens(100)));
    mixed.addAll(Collections.nCopies(1_000, Recorded.at(0).body(400, 10)));
    assertThat(check(of(Recorded.run(1, Recorded.stage(1, 0, 1_000)), mixed), "low_n"))
        .extracting(Check::level, Check::value)
        .containsExactly(Level.WARNING, 60.0);
  }

  private static Supplier<Summary> levels(String text) {
    return () -> Levels.of(text).summary();
  }

  private static Supplier<Summary> one(Consumer<Recorded> change) {
    return () -> summary(change);
  }

  private static Summary of(RunInfo info) {
    return of(info, r -> {});
  }

  private static Summary of(RunInfo info, List<Recorded> records) {
    return Recorded.summary(info, records.stream().map(Recorded::record).toList());
  }

  private static Summary of(RunInfo info, Consumer<Recorded> change) {
    return Recorded.summary(info, records(change));
  }

  private static Summary read(ReadReport file) {
    RecordSource source =
        sink -> {
          records(r -> {}).forEach(sink);
          return file;
        };
    return Recorded.figures(RUN, source).summary();
  }

  private static Summary closing(int closedOfHundred) {
    return of(
        RUN.connections(
            Map.of(
                "a:80", new RunOutcome.Connections(1_000, 0),
                "b:80", new RunOutcome.Connections(100, closedOfHundred))),
        Recorded::resent);
  }

  private static RunInfo ended(RunInfo.State state) {
    return RUN.ended(Recorded.ORIGIN + 10_000_000_000L, state);
  }

  private static Summary found(String topic, boolean sound) {
    Conclusion found = new Conclusion(topic, "a", null, "c=1 holds", sound, 0.5, 0.99, null, null);
    return of(RUN.conclusion(found));
  }

  /** One user, requests of 300 ms back to back, while so many are said to have been in flight. */
  private static Summary inFlight(double counted) {
    return inFlight(counted, Recorded.requests(30, i -> at(i * 300).tokens(100, 300)));
  }

  private static Summary inFlight(double counted, List<RequestRecord> records) {
    LevelInfo level = Recorded.stage(1, 0, 9_000);
    LevelInfo measured =
        new LevelInfo(
            level.label(),
            level.target(),
            level.scenario(),
            level.kind(),
            level.offered(),
            level.unit(),
            level.phases(),
            level.planned(),
            level.plannedStartUnixNanos(),
            new LevelInfo.InFlight(counted, 2),
            level.hooks());
    return Recorded.summary(Recorded.run(9, measured), records);
  }

  /** One user in the window of 30 s, whose tenth request waits so long for its first token. */
  private static Summary firstTokenAfter(double ms) {
    List<RequestRecord> records = Recorded.requests(9, i -> at(i * 1_000).tokens(STEADY));
    records.add(at(9_000).tokens(ms, ms + 20).record());
    return Recorded.summary(Recorded.run(30, Recorded.stage(1, 0, 30_000)), records);
  }

  /** 400 requests over a minute, TTFT from 1.2 s. */
  private static Summary ttftGrowsTo(double lastMs) {
    return Recorded.summary(Recorded.run(60, Recorded.stage(64, 0, 60_000)), ttftGrowingTo(lastMs));
  }

  private static List<RequestRecord> ttftGrowingTo(double lastMs) {
    List<RequestRecord> records = new ArrayList<>();
    for (int i = -40; i < 400; i++) {
      double ttft = 1_200 + (lastMs - 1_200) * Math.max(0, i) / 400;
      Phase phase = i < 0 ? Phase.STABILIZE : Phase.MEASURE;
      records.add(at(i * 150).phase(phase).stage("c=64").tokens(ttft, ttft + 1_000).record());
    }
    return records;
  }

  /** A level of 60 s whose TTFT grows to so much, and one of 20 s with 24 requests. */
  @ParameterizedTest
  @CsvSource({"1200, NOTE", "1350, NOTE", "5200, WARNING"})
  void windowsTooShortToBeJudgedAreNamed(double lastMs, Level level) {
    RunInfo run =
        Recorded.run(80, Recorded.stage(64, 0, 60_000), Recorded.stage(2, 60_000, 80_000));
    List<RequestRecord> records = new ArrayList<>(ttftGrowingTo(lastMs));
    for (int i = 0; i < 24; i++) {
      records.add(at(60_000 + i * 800).stage("c=2").tokens(100, 300).record());
    }
    Check check = check(Recorded.summary(run, records), "steady_state");
    assertThat(check.level()).isEqualTo(level);
    assertThat(check.message()).endsWith(" c=2.");
  }

  /** 10 requests in 10 s, each so many milliseconds long. */
  private static Summary taking(double ms) {
    return Recorded.summary(RUN, Recorded.requests(10, i -> at(i * 100).tokens(100, ms)));
  }

  /** 10 requests per second for 10 s, each so many milliseconds late. */
  private static Summary late(double ms) {
    RunInfo open = Recorded.run(10, Recorded.rate(10, 0, 10_000));
    return Recorded.summary(
        open, Recorded.requests(100, i -> at(i * 100 + ms).lag(ms).stage("r=10").tokens(5)));
  }

  /** The second target is asked for that model, the first for {@code m}. */
  private static Summary twoTargets(String model) {
    return of(
        TWO_TARGETS, List.of(at(0).tokens(STEADY), at(0).model(model).target("b").tokens(STEADY)));
  }

  private static Summary summary(Consumer<Recorded> change) {
    return Recorded.summary(RUN, records(change));
  }

  /** Ten steady requests, one of them changed. */
  static List<RequestRecord> records(Consumer<Recorded> change) {
    List<RequestRecord> records = Recorded.requests(9, i -> at(i * 1_000).tokens(STEADY).max(10));
    Recorded last = at(9_000).tokens(STEADY).max(10);
    change.accept(last);
    records.add(last.record());
    return records;
  }

  @Test
  void pageIsGeneratedFromTheCatalogue() throws IOException {
    Set<CheckCatalogue> load =
        EnumSet.range(CheckCatalogue.RECORDS_DROPPED, CheckCatalogue.SAME_MODEL);
    Set<CheckCatalogue> answers =
        EnumSet.range(CheckCatalogue.ERRORS, CheckCatalogue.CANCELLED_TAILS);
    Set<CheckCatalogue> server =
        EnumSet.range(CheckCatalogue.METRICS_COVERED, CheckCatalogue.GPU_IMBALANCE);
    assertThat(load.size() + answers.size() + server.size())
        .isEqualTo(CheckCatalogue.values().length);
    ReferencePage.of("checks.md")
        .mustHave(
            List.of("id", "question", "figure", "level", "applies to", "remedy"),
            Stream.of(load, answers, server).map(ChecksTest::rows).toList());
  }

  private static List<List<String>> rows(Set<CheckCatalogue> checks) {
    return checks.stream()
        .map(
            check ->
                List.of(
                    "`" + check.id() + "`",
                    check.question,
                    check.figure,
                    check.threshold.words(),
                    check.appliesTo,
                    check.remedy))
        .toList();
  }

  @Test
  void entriesAreComplete() {
    assertThat(Arrays.stream(CheckCatalogue.values()))
        .allSatisfy(
            check -> {
              assertThat(check.question).endsWith("?");
              assertThat(check.remedy).endsWith(".");
              assertThat(check.id()).matches("[a-z0-9_]+");
            });
  }

  @Test
  void thresholdsMatchTheirWords() {
    Threshold shares = Threshold.of("warning above 2 %, invalid above 50 %");
    assertThat(shares.value()).isEqualTo(0.02);
    assertThat(shares.level(0.02)).isEqualTo(Check.Level.OK);
    assertThat(shares.level(0.021)).isEqualTo(Check.Level.WARNING);
    assertThat(shares.level(0.51)).isEqualTo(Check.Level.INVALID);
    Threshold counts = Threshold.of("note below 1,000, warning below 100");
    assertThat(counts.level(1_000.0)).isEqualTo(Check.Level.OK);
    assertThat(counts.level(999.0)).isEqualTo(Check.Level.NOTE);
    assertThat(counts.level(99.0)).isEqualTo(Check.Level.WARNING);
    assertThat(Threshold.of("invalid above 0").level(1.0)).isEqualTo(Check.Level.INVALID);
    assertThat(Threshold.judged("warning above 5 % + 0.1 ms").level(1.0)).isEqualTo(Check.Level.OK);
  }
}
