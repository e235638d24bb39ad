package io.github.gatlingllm.figures.level;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.Distribution.Interval;
import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.Figure.AssertionResult;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.Figures.ArrivalFigures;
import io.github.gatlingllm.figures.metric.Figures.Check;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.LevelFigures.InjectorFigures;
import io.github.gatlingllm.figures.metric.LevelFigures.ObjectiveRow;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.Components;
import io.github.gatlingllm.record.InjectorRun;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestRecord.AnswerPass;
import io.github.gatlingllm.record.RunOutcome.SingleStream;
import io.github.gatlingllm.record.SelfTest;
import io.github.gatlingllm.record.Slo;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The figures of a run: the content of {@code llm/summary.json}. Times are in seconds since {@code
 * run.loadStartUnixNs}; an absent value is null.
 *
 * @param findings the sentences of the verdict
 * @param knee of the curve that delivers most tokens at its knee; null when no level delivered
 *     tokens
 * @param operatingPoint of the only curve; null where there are several, each with its own
 * @param serverNames by key, what servers call the timings of {@code figures.server}; empty where
 *     they report none
 * @param tiers of each curve, if the SLO has tiers; all other figures are judged by the first
 * @param requestsAtPoints by request name at each curve's operating point; in no file
 * @param by requests by model and by replica, all levels pooled; empty where no level has several
 * @param byAtPoints the same at each curve's operating point; in no file
 * @param interference what classes of traffic do to each other; empty unless each was measured
 *     alone too
 * @param slowest requests by TTFT and by longest stall, the slowest first; in no file
 */
@JsonPropertyOrder({"run", "verdict"})
public record Summary(
    RunSummary run,
    List<Sentence> findings,
    Map<String, String> config,
    WorkloadSummary workload,
    @Nullable SloTable slo,
    @JsonUnwrapped Figures figures,
    @Nullable ArrivalFigures arrivals,
    @Nullable Knee knee,
    @Nullable OperatingPoint operatingPoint,
    List<Check> checks,
    @Nullable SelfTestQuote selfTest,
    List<AssertionResult> assertions,
    Map<String, Set<String>> serverNames,
    List<LevelFigures> stages,
    List<LoadCurve> curves,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<TierSummary> tiers,
    List<TargetSummary> targets,
    List<RequestGroup> requests,
    @JsonIgnore List<RequestGroup> requestsAtPoints,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<Grouping, List<RequestGroup>> by,
    @JsonIgnore Map<Grouping, List<RequestGroup>> byAtPoints,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<EngineFigures.EnginePage> serverPages,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<InjectorSummary> injectors,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<AnswerSummary> answers,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<ClassChange> interference,
    @JsonIgnore Map<Metric, List<RequestRecord>> slowest) {

  public static final String SCHEMA = "gatling-llm/summary/1";

  private static final Pattern SENTENCE = Pattern.compile("(?<=\\.) (?=\\p{Lu})");

  @JsonProperty
  public String verdict() {
    return Sentence.text(findings);
  }

  /**
   * The same with the results of the checks: the verdict begins with those that make it invalid.
   */
  public Summary checked(List<Check> checks) {
    List<String> invalid = invalid(checks).map(Check::id).toList();
    List<Sentence> all =
        invalid.isEmpty()
            ? findings
            : Stream.concat(Stream.of(invalidRun(checks)), findings.stream()).toList();
    List<AssertionResult> results =
        assertions.stream().map(result -> result.withInvalid(invalid)).toList();
    return Components.with(this, "findings", all, "checks", checks, "assertions", results);
  }

  /** The same with what classes of traffic do to each other, which the verdict ends with. */
  public Summary interfering(List<ClassChange> changes, List<Sentence> more) {
    List<Sentence> all = Stream.concat(findings.stream(), more.stream()).toList();
    return Components.with(this, "findings", all, "interference", changes);
  }

  /** E.g. {@code Invalid run by check cut_tail: The last line of the records is cut off. At …} */
  private Sentence invalidRun(List<Check> checks) {
    List<Check> invalid = invalid(checks).toList();
    String why = SENTENCE.split(invalid.get(invalid.size() - 1).message(), 2)[0];
    return Sentence.of(
        "verdict.invalid",
        invalid.stream().map(Check::id).toList(),
        invalid.size() > 1,
        verdict().contains(why) ? null : why);
  }

  private static String ids(List<Check> checks) {
    return (checks.size() == 1 ? "check " : "checks ")
        + checks.stream().map(Check::id).collect(Collectors.joining(", "));
  }

  /** Ids of the checks that make the run invalid, finding and remedy of the last; else null. */
  public @Nullable String whyInvalid() {
    List<Check> invalid = invalid(checks).toList();
    if (invalid.isEmpty()) {
      return null;
    }
    Check last = invalid.get(invalid.size() - 1);
    return ids(invalid) + ". " + last.message() + " " + last.remedy();
  }

  private static Stream<Check> invalid(List<Check> checks) {
    return checks.stream().filter(check -> check.level() == Figures.CheckLevel.INVALID);
  }

  /** Whether the name of a level includes its target. */
  public boolean hasSeveralTargets() {
    return targets.size() > 1;
  }

  /** Whether the name of a level includes its scenario: a target has levels of several. */
  public boolean hasSeveralScenarios() {
    return curves.size() > targets.size();
  }

  /** The name of a load level where it is unique: {@code c=8}, {@code c=8 of A1 at vLLM}. */
  public String place(LevelInfo level) {
    return named(level, hasSeveralTargets(), hasSeveralScenarios());
  }

  public static String named(LevelInfo level, boolean withTarget, boolean withScenario) {
    boolean isOfScenario = withScenario && level.scenario() != null;
    String name = isOfScenario ? level.label() + " of " + level.scenario() : level.label();
    return withTarget ? name + (isOfScenario ? " at " : " of ") + level.target() : name;
  }

  /** The name of a curve: its target, its scenario or both, as the curves of the run differ. */
  public String name(LoadCurve curve) {
    return named(curve.target(), curve.scenario(), targets.size(), curves.size());
  }

  static String named(String target, @Nullable String scenario, int targets, int curves) {
    return scenario == null || curves == targets
        ? target
        : targets == 1 ? scenario : scenario + " at " + target;
  }

  /** The pairs of a grid of lengths; empty for other runs. */
  @JsonProperty
  @JsonInclude(JsonInclude.Include.NON_EMPTY)
  public List<LengthPair> grid() {
    boolean isGrid =
        hasSeveralScenarios()
            && config.containsKey("promptTokens")
            && curves.stream().allMatch(LengthPair::isOf);
    return isGrid ? curves.stream().map(curve -> LengthPair.of(this, curve)).toList() : List.of();
  }

  /** {@link #stages}, which are in order of time, as tables and charts show them. */
  public List<LevelFigures> byLoad() {
    return LoadCurve.byLoad(stages);
  }

  /** Whether headlines name the level that they quote: the run has several. */
  public boolean hasSeveralLevels() {
    return stages.size() > 1;
  }

  /** The variant of a metric that headlines quote: from schedule where requests waited. */
  public Metric headlineMetric(Metric metric) {
    return isClockNamed() ? metric.fromSchedule() : metric;
  }

  public boolean isClockNamed() {
    return LoadCurve.isClockNamed(stages);
  }

  public boolean assertionsHold() {
    return assertions.stream().allMatch(AssertionResult::ok);
  }

  public Figures.CheckLevel level() {
    return checks.stream().map(Check::level).max(Enum::compareTo).orElse(Figures.CheckLevel.OK);
  }

  public record RunSummary(
      String id,
      @Nullable String simulation,
      long startUnixNs,
      long loadStartUnixNs,
      long endUnixNs,
      String state,
      @Nullable Long seed,
      List<String> injectors,
      Map<String, String> versions) {

    public boolean isComplete() {
      return state.equals("complete");
    }
  }

  /**
   * The requests scheduled in measure, whether or not they succeeded.
   *
   * @param promptTokens tokens per prompt by the server; by our tokenizer if it reports none
   * @param templateTokens tokens that the server adds to the text of each prompt; null where that
   *     differs or is not known
   * @param promptsLeftOut prompts that only our tokenizer counted, such as those of refused
   *     requests, where the server reports others
   */
  public record WorkloadSummary(
      Distribution promptTokens,
      long promptsLeftOut,
      Distribution outputTokens,
      @Nullable Integer templateTokens,
      @Nullable Double cachedShare,
      Map<Integer, Long> turns,
      List<TurnSummary> byTurn,
      Map<String, Long> scenarios,
      Map<String, Long> models,
      Map<String, Long> apis,
      Map<String, Long> endpoints,
      long streamed) {}

  /** One turn of the conversations, from 1; the 100th includes all later ones. */
  public record TurnSummary(
      int turn,
      long requests,
      @Nullable Double meanPromptTokens,
      @Nullable Double cachedShare,
      @Nullable Double idealCachedShare,
      Distribution ttftMs,
      Distribution e2eMs) {}

  /**
   * The SLO and how it was met.
   *
   * @param percentile share of attempted requests, in percent, that has to meet the SLO
   */
  public record SloTable(
      String text, double percentile, Slo.Rule rule, List<ObjectiveRow> objectives) {

    public boolean hasOnePercentile() {
      return objectives.stream().allMatch(row -> row.percentile() == percentile);
    }
  }

  /**
   * The lightest level that delivers at least 90 % of the highest output tok/s of its curve. More
   * load adds waiting time rather than tokens.
   *
   * @param reached whether the curve flattens (the last step up adds under 10 % of output tok/s)
   *     and at least one level below delivers less
   * @param saturatedFromFirst whether the curve is flat from its first level on: the knee lies
   *     below all loads tried
   */
  public record Knee(
      boolean reached,
      String stage,
      String target,
      @Nullable String scenario,
      @Nullable Double offered,
      @Nullable Double outputTokensPerS,
      @Nullable Double medianE2eMs,
      boolean saturatedFromFirst) {}

  /**
   * A curve judged by one tier of the SLO.
   *
   * @param slo its objectives, and how they were met over all load levels
   * @param maxGoodput at the largest load that meets it; null for none
   * @param outcome {@code met} if that load meets the SLO with confidence, {@code undecided} if it
   *     does so within noise or too few requests were judged, {@code missed} if no load holds
   * @param missedAt the lightest load above it that misses; null for none
   * @param finding the result in a sentence that begins with the tier
   * @param goodput of each load level by its label
   */
  public record TierSummary(
      String tier,
      String target,
      @Nullable String scenario,
      SloTable slo,
      Figures.@Nullable GoodputResult maxGoodput,
      String outcome,
      @Nullable String missedAt,
      Sentence finding,
      OperatingPoint operatingPoint,
      Map<String, Figures.Goodput> goodput) {

    /** Whether it is of that curve. */
    public boolean isOf(LoadCurve curve) {
      return target.equals(curve.target()) && Objects.equals(scenario, curve.scenario());
    }

    /** The goodput at the largest load that meets it; null for none. */
    public Figures.@Nullable Goodput goodputAtMax() {
      return maxGoodput == null ? null : goodput.get(maxGoodput.stage());
    }
  }

  /**
   * A pair of a grid of lengths at its operating point.
   *
   * @param promptTokens the length of prompts as it was set
   * @param outputTokens that of outputs
   * @param maxTokens the same as a number; null where it is drawn
   * @param knee the level of the knee; null if not reached
   * @param ttftP99Ms by the clock of headlines
   */
  public record LengthPair(
      String target,
      String promptTokens,
      String outputTokens,
      @Nullable Integer maxTokens,
      String stage,
      @Nullable String knee,
      @Nullable Double outputTokensPerS,
      @Nullable Double goodputRequestsPerS,
      @Nullable Double goodputShare,
      @Nullable Double ttftP99Ms) {

    private static boolean isOf(LoadCurve curve) {
      return curve.scenario() != null
          && curve.scenario().matches("[^/]+/(lognormal:|weighted:)?\\d[-\\d.:=,]*");
    }

    private static LengthPair of(Summary summary, LoadCurve curve) {
      Figures figures = curve.operatingLevel().figures();
      Figures.Goodput goodput = figures.goodput();
      String[] lengths = requireNonNull(curve.scenario()).split("/", 2);
      return new LengthPair(
          curve.target(),
          lengths[0],
          lengths[1],
          lengths[1].matches("\\d+") ? (Integer) Integer.parseInt(lengths[1]) : null,
          curve.operatingPoint().stage(),
          curve.knee() == null || !curve.knee().reached() ? null : curve.knee().stage(),
          figures.number(Metric.OUTPUT_TOKENS_PER_S),
          goodput == null ? null : goodput.requestsPerS(),
          goodput == null ? null : goodput.share(),
          figures.metric(summary.headlineMetric(Metric.TTFT_MS)).p99());
    }
  }

  /** The level that headlines quote: percentiles pooled over loads would describe none. */
  public record OperatingPoint(String stage, String target, @Nullable String scenario, String why) {

    public boolean isAt(LevelInfo level) {
      return level.key().equals(new LevelInfo.Key(stage, target, scenario));
    }
  }

  public record InjectorSummary(
      @JsonUnwrapped
          @JsonIgnoreProperties({
            "name",
            "start_unix_ns",
            "end_unix_ns",
            "planned",
            "measured",
            "started",
            "levels"
          })
          InjectorRun run,
      @JsonUnwrapped InjectorFigures figures) {

    @JsonProperty
    @Nullable Long missing() {
      return run.missing();
    }
  }

  /**
   * One server under test, all its load levels pooled.
   *
   * @param knee of the scenario that delivers most tokens at its knee
   * @param singleStream its last warm-up request, in no other figure; null where that was not
   *     measured
   * @param firstAnswerS seconds from the first request before the load to the first token of an
   *     answer; null where none was sent
   * @param replicas their number over time, from each second on: {@code answering}, if several
   *     answered, and {@code ready}, if its metrics tell
   */
  public record TargetSummary(
      String label,
      List<String> models,
      @Nullable Knee knee,
      Figures.@Nullable Failures failures,
      @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable EngineFigures serverMetrics,
      @Nullable SingleStream singleStream,
      @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Double firstAnswerS,
      @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, SortedMap<Double, Double>> replicas,
      @JsonUnwrapped Figures figures) {}

  /**
   * The answers of a target in one pass of the setting {@code answers}.
   *
   * @param stage the load level; null before and after the load
   * @param compared answers to prompts that had a first answer too
   * @param changed of these, answers that differ from it
   * @param changedAt median number of characters before what differs; null where nothing does
   * @param judged answers to prompts whose right answer is known
   * @param wrong of these, answers that are not right
   * @param ttftMs median, as that of E2E
   * @param laterTokenMs median time per token after the first
   * @param timed answers whose times compare with those of the first answer
   * @param faster of these, answers in less than half the time per token after the first
   * @param fasterChance of that number of faster ones if a repeated answer took as long as the
   *     first
   * @param chances of as many more answers that changed, have a fault or are wrong than without
   *     load, if load did not matter; absent where none differs in that
   */
  public record AnswerSummary(
      String target,
      AnswerPass pass,
      @Nullable String stage,
      long asked,
      long answered,
      long compared,
      long changed,
      @Nullable Double changedAt,
      long invalid,
      long refused,
      long empty,
      long judged,
      long wrong,
      @Nullable Double ttftMs,
      @Nullable Double e2eMs,
      @Nullable Double laterTokenMs,
      long timed,
      long faster,
      double fasterChance,
      @JsonIgnore Map<String, Double> chances) {

    public static final String CHANGED = "changed";
    public static final String FAULTY = "faulty";
    public static final String WRONG = "wrong";

    /** The answers with that property. */
    public long count(String property) {
      return switch (property) {
        case CHANGED -> changed;
        case FAULTY -> invalid + refused + empty;
        default -> wrong;
      };
    }

    /** The answers that can have it. */
    public long of(String property) {
      return switch (property) {
        case CHANGED -> compared;
        case FAULTY -> answered;
        default -> judged;
      };
    }

    /** The 95 % interval of the share that has it; null without such answers. */
    public Distribution.@Nullable Interval interval(String property) {
      return Distribution.Interval.ofShare(count(property), of(property));
    }
  }

  /**
   * How a figure of a class of traffic changes when the others have load too.
   *
   * @param name the scenario of the class
   * @param stage the level without the others, e.g. {@code r=2 alone}; that with them is {@code
   *     r=2}
   * @param figure as in assertions, e.g. {@code ttft.p99}
   * @param percent together ÷ alone − 1 in percent, or together − alone in points for a share; null
   *     without both
   * @param interval confidence interval of {@code percent}, simultaneous at 95 % for all figures of
   *     all classes; null with too few values
   */
  public record ClassChange(
      @Nullable String name,
      String target,
      String stage,
      String figure,
      @Nullable Double alone,
      @Nullable Double together,
      @Nullable Double percent,
      @Nullable Interval interval,
      String outcome) {

    /** Of the level without the others. */
    public LevelInfo.Key key() {
      return new LevelInfo.Key(stage, target, name);
    }
  }

  /**
   * The requests with a name, a model or a replica.
   *
   * @param curve at whose operating point they are; null for all load levels pooled
   */
  public record RequestGroup(
      String name, @JsonIgnore @Nullable LoadCurve curve, @JsonUnwrapped Figures figures) {}

  /**
   * The error of the load generator at the load of the run, by the self-test of its machine.
   *
   * @param test the self-test; without quotes unless it applies to the run
   * @param peak at the most requests in flight and the highest rate of any level; null without
   *     quotes
   */
  public record SelfTestQuote(
      @JsonUnwrapped @JsonIgnoreProperties({"schema", "machine", "versions"}) SelfTest test,
      @Nullable At operatingPoint,
      @Nullable At peak) {

    /**
     * A load of the run, and the lightest tested level with at least as many streams and events.
     *
     * @param eventsPerS token events per second, taken as one per token
     * @param tested null where the self-test measured no such load
     */
    public record At(
        @Nullable String stage,
        double streams,
        double eventsPerS,
        SelfTest.@Nullable TestedLoad tested) {}

    /** The run's own rate is in it too: rates of levels that overlap in time add up there. */
    static @Nullable SelfTestQuote of(
        @Nullable SelfTest test,
        Figures run,
        @Nullable LevelFigures quoted,
        List<LevelFigures> levels) {
      if (test == null || !test.applies()) {
        return test == null ? null : new SelfTestQuote(test, null, null);
      }
      double fastest =
          Stream.concat(Stream.of(run), levels.stream().map(LevelFigures::figures))
              .mapToDouble(SelfTestQuote::rate)
              .max()
              .orElse(0);
      return new SelfTestQuote(
          test,
          quoted == null
              ? null
              : at(test, quoted.label(), quoted.figures(), rate(quoted.figures())),
          at(test, null, run, fastest));
    }

    private static At at(
        SelfTest test, @Nullable String stage, Figures figures, double eventsPerS) {
      Double max = figures.number(Metric.PEAK_IN_FLIGHT);
      double streams = max == null ? 0 : max;
      return new At(stage, streams, eventsPerS, test.covering(streams, eventsPerS).orElse(null));
    }

    private static double rate(Figures figures) {
      Double rate = figures.number(Metric.OUTPUT_TOKENS_PER_S);
      return rate == null ? 0 : rate;
    }
  }
}
