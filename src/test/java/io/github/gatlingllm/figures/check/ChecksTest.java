package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.check.AnswerChecksTest.pinned;
import static io.github.gatlingllm.figures.check.AnswerChecksTest.repeats;
import static io.github.gatlingllm.figures.check.ComparedAnswersTest.cached;
import static io.github.gatlingllm.figures.check.ComparedAnswersTest.changed;
import static io.github.gatlingllm.figures.check.EngineChecksTest.left;
import static io.github.gatlingllm.figures.check.EngineChecksTest.onGpus;
import static io.github.gatlingllm.figures.check.EngineChecksTest.readUntil;
import static io.github.gatlingllm.figures.check.GeneratorHealthTest.blockedFor;
import static io.github.gatlingllm.figures.check.GeneratorHealthTest.onFullMachine;
import static io.github.gatlingllm.figures.check.InjectorTallyTest.differing;
import static io.github.gatlingllm.figures.check.InjectorTallyTest.joined;
import static io.github.gatlingllm.figures.check.InjectorTallyTest.starting;
import static io.github.gatlingllm.figures.check.LoadChecksTest.inFlight;
import static io.github.gatlingllm.figures.check.LoadChecksTest.levels;
import static io.github.gatlingllm.figures.check.LoadChecksTest.sent;
import static io.github.gatlingllm.figures.check.LoadChecksTest.ttftGrowsTo;
import static io.github.gatlingllm.figures.level.Recorded.at;
import static io.github.gatlingllm.figures.level.Runs.check;
import static io.github.gatlingllm.figures.level.Runs.summary;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gatlingllm.docs.ReferencePage;
import io.github.gatlingllm.figures.level.Recorded;
import io.github.gatlingllm.figures.level.RunStatistics.RecordSource;
import io.github.gatlingllm.figures.level.Runs;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Figures.Check;
import io.github.gatlingllm.figures.metric.Figures.CheckLevel;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.RunOutcome.Conclusion;
import io.github.gatlingllm.record.RunOutcome.Connections;
import io.github.gatlingllm.record.ServerSample.EngineMetric;
import io.github.gatlingllm.record.Slo;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each check of the catalogue: once where it must warn, once where it must not. */
public class ChecksTest {

  static final double[] STEADY = {100, 120, 140, 160, 180, 200, 220, 240, 260, 280};

  /** All tokens within 2 % of E2E, after half a second of silence. */
  static final double[] AT_ONCE = {500, 500, 501, 501, 502, 502, 503, 503};

  static final RunInfo RUN = Runs.run(10, Runs.stage(1, 0, 10_000));

  static final RunInfo TWO_TARGETS =
      Runs.run(10, Runs.stage(1, 0, 10_000), Runs.stage("b", 1, 0, 10_000));

  /**
   * A run that a check warns of, and one that it does not warn of.
   *
   * @param value the figure that it warns of; null where there is none, or another test has it
   */
  private record Pair(@Nullable Double value, Supplier<Summary> warns, Supplier<Summary> quiet) {}

  private static final Map<String, Pair> PAIRS =
      Map.ofEntries(
          pair("records_dropped", 3.0, () -> steady(RUN.dropped(3))),
          pair(
              "cut_tail",
              77.0,
              () -> read(new ReadReport(10, 77, 0, Collections.emptySortedMap()))),
          pair("windows", 1.0, () -> steady(RUN, record -> record.stage("c=9"))),
          pair("complete", null, () -> interrupted()),
          pair("all_accounted", 188.0, () -> sent(600, 412), () -> sent(600, 600)),
          pair("injectors", 1.0, () -> joined(3), () -> joined(2)),
          pair("injector_settings", 1.0, () -> differing(), () -> joined(2)),
          pair("injector_starts", 1.2, () -> starting(1.2), () -> starting(0.9)),
          pair("littles_law", 0.2, () -> inFlight(1.25), () -> inFlight(1)),
          pair("steady_state", null, () -> ttftGrowsTo(5_200), () -> ttftGrowsTo(1_200)),
          pair("window_length", 0.15, () -> taking(1_500), () -> taking(950)),
          pair("cold_start", 4.1, () -> upAfter(4_000), () -> upAfter(0)),
          pair("generator", 0.028, () -> blockedFor(300), () -> blockedFor(0)),
          pair("arrivals", 0.313, () -> sent(600, 412), () -> sent(600, 600)),
          pair("start_lag", 60.0, () -> late(60), () -> late(2)),
          pair("jvm_options", 2.0, () -> onFullMachine(true), () -> onFullMachine(false)),
          pair("silent_spans", 15.0, () -> firstTokenAfter(15_000), () -> firstTokenAfter(150)),
          pair("failing_spans", 3.0, () -> failing(1_010, 4_010), () -> failing(1_010, 1_500)),
          pair("low_n", 10.0, one(r -> {}), levels("1:1000 2:1000:110")),
          pair("early_stopping", 9.0, () -> judged(10, 0, 95), () -> judged(90, 0, 95)),
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
          pair(
              "context_exceeded",
              0.1,
              one(r -> r.failed(RequestStatus.CONTEXT_EXCEEDED, "HTTP 400: context length"))),
          pair("paced", 1.0, one(r -> r.paced(2_500)), one(r -> r.paced(0))),
          pair("connections_closed", 0.9, () -> closing(90), () -> closing(1)),
          pair("pinned_output", 0.1, () -> pinned(r -> r.max(128)), () -> pinned(r -> {})),
          pair("finish_reasons", 0.1, one(r -> r.finish(null))),
          pair("known_finish_reasons", 0.1, one(r -> r.finish("quota"))),
          pair("known_fields", 0.1, one(r -> r.unknownField("draft"))),
          pair("left_open", 0.1, one(r -> r.connection(false, true))),
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
          pair("buffering", 0.1, one(r -> r.tokens(AT_ONCE))),
          pair("coalesced_events", 30 / 121.0, one(r -> r.tokens(new double[31]))),
          pair("cached_share", 1.0, one(r -> r.cached(10)), one(r -> r.cached(0))),
          pair("repeated_prompts", 599 / 600.0, () -> repeats(600, 599), () -> repeats(600, 60)),
          pair("answers_changed", 0.2, () -> changed(0, 10), () -> changed(5, 7)),
          pair("answers_cached", 0.24, () -> cached(12, 100), () -> cached(0, 2)),
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

  /** A run whose engine states that of a metric, and a healthy one. */
  private static Map.Entry<String, Pair> engine(
      String id, double value, EngineMetric metric, double reported) {
    return pair(
        id, value, () -> EngineChecksTest.runWith(metric, reported), EngineChecksTest::healthyRun);
  }

  private static Map.Entry<String, Pair> pair(
      String id, @Nullable Double value, Supplier<Summary> warns) {
    return pair(id, value, warns, one(r -> {}));
  }

  private static Map.Entry<String, Pair> pair(
      String id, @Nullable Double value, Supplier<Summary> warns, Supplier<Summary> quiet) {
    return Map.entry(id, new Pair(value, warns, quiet));
  }

  /** Each check by a run that fires it, then by one that does not, if it applies there. */
  public static Stream<Check> found() {
    return Arrays.stream(CheckCatalogue.values())
        .flatMap(
            entry ->
                Stream.of(PAIRS.get(entry.id()).warns(), PAIRS.get(entry.id()).quiet())
                    .flatMap(run -> run.get().checks().stream())
                    .filter(check -> check.id().equals(entry.id())));
  }

  @Test
  void everyCheckHasARunThatFiresItAndOneThatDoesNot() {
    assertThat(Arrays.stream(CheckCatalogue.values()).map(CheckCatalogue::id))
        .containsExactlyInAnyOrderElementsOf(PAIRS.keySet());
  }

  @ParameterizedTest
  @EnumSource
  void checkFiresForOneRunAndNotForTheOther(CheckCatalogue entry) {
    String id = entry.id();
    Pair pair = PAIRS.get(id);
    Check check = check(pair.warns().get(), id);
    assertThat(check.level()).isNotEqualTo(CheckLevel.OK);
    assertThat(check.remedy()).isNotEmpty();
    if (pair.value() != null) {
      assertThat(check.value()).isEqualTo(pair.value(), within(0.02 * pair.value()));
    }
    assertThat(pair.quiet().get().checks())
        .filteredOn(other -> other.id().equals(id))
        .allSatisfy(
            other -> {
              assertThat(other.level()).isEqualTo(CheckLevel.OK);
              assertThat(other.remedy()).isEmpty();
            });
  }

  @Test
  void steadyRunIsFine() {
    List<Check> checks = steady(RUN).checks();
    assertThat(checks)
        .filteredOn(c -> c.level() != CheckLevel.OK)
        .extracting(Check::id)
        .containsExactlyInAnyOrder("low_n", "steady_state");
    assertThat(checks).allSatisfy(c -> assertThat(c.message()).endsWith("."));
  }

  /**
   * A run, and what a check of it finds.
   *
   * @param level null if it does not apply; not looked at where there is a value
   * @param value null where only the level counts
   * @param found part of the ids and values that it finds
   */
  record Case(
      String id,
      @Nullable CheckLevel level,
      @Nullable Double value,
      String found,
      Supplier<Summary> run) {

    static Case finds(String id, @Nullable CheckLevel level, Supplier<Summary> run) {
      return new Case(id, level, null, "", run);
    }

    /** A run in which the check finds that many, or that share. */
    static Case finds(String id, double value, Supplier<Summary> run) {
      return new Case(id, CheckLevel.OK, value, "", run);
    }

    Case with(String idAndValues) {
      return new Case(id, level, value, idAndValues, run);
    }

    void mustHold() {
      assertThat(run.get().checks())
          .filteredOn(check -> check.id().equals(id))
          .hasSize(level == null ? 0 : 1)
          .allSatisfy(
              check -> {
                if (value == null) {
                  assertThat(check.level()).isEqualTo(level);
                } else {
                  assertThat(check.value()).isEqualTo(value, within(1e-9));
                }
                assertThat(check.findings().toString()).contains(found);
              });
    }

    @Override
    public String toString() {
      return id + " " + level + " " + value;
    }
  }

  static Supplier<Summary> one(Consumer<Recorded> change) {
    return () -> steady(RUN, change);
  }

  static Summary steady(RunInfo info) {
    return steady(info, r -> {});
  }

  static Summary steady(RunInfo info, Consumer<Recorded> change) {
    return Runs.summary(info, records(change));
  }

  /** Ten steady requests, one of them changed. */
  static List<RequestRecord> records(Consumer<Recorded> change) {
    List<RequestRecord> records = Recorded.requests(9, i -> at(i * 1_000).tokens(STEADY).max(10));
    Recorded last = at(9_000).tokens(STEADY).max(10);
    change.accept(last);
    records.add(last.record());
    return records;
  }

  /** One that fails every 10 ms in a time, with ok ones before and after it. */
  private static Summary failing(double fromMs, double toMs) {
    List<RequestRecord> all = Recorded.requests(2, i -> at(i * 5_000).tokens(STEADY));
    for (double ms = fromMs; ms < toMs; ms += 10) {
      all.add(at(ms).failed(RequestStatus.CONNECTION_ERROR, "refused").closed(5).record());
    }
    return summary(RUN, all);
  }

  /** One request a second, of which those before an instant wait for it. */
  private static Summary upAfter(double ms) {
    return summary(
        RUN,
        Recorded.requests(
            10, i -> at(i * 1_000).tokens(Math.max(0, ms - i * 1_000) + 100, ms + 200)));
  }

  private static Summary read(ReadReport file) {
    RecordSource source =
        sink -> {
          records(r -> {}).forEach(sink);
          return file;
        };
    return Runs.figures(RUN, source).summary();
  }

  private static Summary closing(int closedOfHundred) {
    Connections open = new Connections(1_000, 0);
    Connections closed = new Connections(100, closedOfHundred);
    return steady(
        RUN.connections(Map.of("a:80", open, "b:80", closed)), r -> r.connection(true, false));
  }

  /** Requests of an SLO for that percentage, some of which miss it. */
  static Summary judged(int requests, int misses, double percent) {
    RunInfo info = RUN.slo(Slo.parse("ttft<50ms").judgedBy(percent, Slo.Rule.REQUESTS));
    return summary(
        info, Recorded.requests(requests, i -> at(i * 10).tokens(i < misses ? 60 : 40, 70)));
  }

  private static Summary interrupted() {
    return steady(RUN.ended(Recorded.ORIGIN + 10_000_000_000L, RunInfo.State.INTERRUPTED));
  }

  private static Summary found(String topic, boolean sound) {
    Conclusion found =
        new Conclusion(topic, "c=1 holds", sound, 0.5, 0.99, null, null).on("a", null);
    return steady(RUN.conclusion(found));
  }

  /** One user in the window of 30 s, whose tenth request waits so long for its first token. */
  private static Summary firstTokenAfter(double ms) {
    return steady(Runs.run(30, Runs.stage(1, 0, 30_000)), r -> r.tokens(ms, ms + 20));
  }

  /** 10 requests in 10 s, each this number of milliseconds long. */
  private static Summary taking(double ms) {
    return summary(RUN, Recorded.requests(10, i -> at(i * 100).tokens(100, ms)));
  }

  /** 10 requests per second for 10 s, each this number of milliseconds late. */
  private static Summary late(double ms) {
    RunInfo open = Runs.run(10, Runs.rate(10, 0, 10_000));
    return summary(
        open, Recorded.requests(100, i -> at(i * 100 + ms).lag(ms).stage("r=10").tokens(5)));
  }

  /** That model is requested from the second target, the first for {@code m}. */
  private static Summary twoTargets(String model) {
    Recorded other = at(0).model(model).target("b").tokens(STEADY);
    return summary(TWO_TARGETS, at(0).tokens(STEADY), other);
  }

  @Test
  void pageIsGeneratedFromTheCatalogue() throws IOException {
    List<Set<CheckCatalogue>> floors =
        List.of(
            EnumSet.range(CheckCatalogue.RECORDS_DROPPED, CheckCatalogue.SAME_MODEL),
            EnumSet.range(CheckCatalogue.ERRORS, CheckCatalogue.CANCELLED_TAILS),
            EnumSet.range(CheckCatalogue.METRICS_COVERED, CheckCatalogue.GPU_IMBALANCE));
    assertThat(floors.stream().flatMap(Set::stream)).containsExactly(CheckCatalogue.values());
    ReferencePage.of("checks.md")
        .mustHave(
            floors.stream()
                .map(floor -> floor.stream().map(ChecksTest::item).collect(joining()))
                .toList());
  }

  private static String item(CheckCatalogue check) {
    boolean isOften = Set.of("every run", "runs with answers").contains(check.appliesTo());
    String where = isOften ? "" : " For " + check.appliesTo() + ".";
    String worst =
        check
            .figure()
            .replaceFirst(", (of|at) the (worst )?(target|load level)( where it is largest)?$", "");
    String rule =
        worst.equals("none")
            ? check.bounds()
            : worst + ": " + check.bounds().replaceFirst("^Warn", "warn");
    return ReferencePage.item(
        "`%s` **%s** %s%s.%s *%s*"
            .formatted(
                check.id(),
                check.question(),
                rule.matches("p\\d.*") ? "The " : rule.substring(0, 1).toUpperCase(Locale.ROOT),
                rule.substring(rule.matches("p\\d.*") ? 0 : 1),
                where,
                check.remedy().replace("<", "\\<")));
  }

  @Test
  void entriesAreComplete() {
    assertThat(Arrays.stream(CheckCatalogue.values()))
        .allSatisfy(
            check -> {
              assertThat(check.question()).endsWith("?");
              assertThat(check.remedy()).endsWith(".");
              assertThat(check.id()).matches("[a-z0-9_]+");
            });
  }

  @Test
  void boundsJudgeAFigure() {
    CheckCatalogue shares = CheckCatalogue.BUFFERING;
    assertThat(shares.level(0.02)).isEqualTo(CheckLevel.OK);
    assertThat(shares.level(0.021)).isEqualTo(CheckLevel.WARNING);
    assertThat(shares.level(0.51)).isEqualTo(CheckLevel.INVALID);
    CheckCatalogue counts = CheckCatalogue.LOW_N;
    assertThat(counts.level(1_000.0)).isEqualTo(CheckLevel.OK);
    assertThat(counts.level(999.0)).isEqualTo(CheckLevel.NOTE);
    assertThat(counts.level(99.0)).isEqualTo(CheckLevel.WARNING);
    assertThat(CheckCatalogue.RECORDS_DROPPED.level(1.0)).isEqualTo(CheckLevel.INVALID);
    assertThat(CheckCatalogue.WINDOWS.level(1.0)).isEqualTo(CheckLevel.OK);
    Summary buffered = PAIRS.get("buffering").warns().get();
    assertThat(check(buffered, "buffering").threshold()).isEqualTo(0.02);
    assertThat(check(buffered, "windows").threshold()).isNull();
  }
}
