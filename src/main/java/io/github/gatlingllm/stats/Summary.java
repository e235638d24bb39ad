package io.github.gatlingllm.stats;

import io.github.gatlingllm.check.Check;
import io.github.gatlingllm.check.CheckInput.CacheUse;
import io.github.gatlingllm.enginestats.EngineFigures;
import io.github.gatlingllm.metric.Backlog.Queue;
import io.github.gatlingllm.metric.Distribution;
import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.Figures.ArrivalFigures;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.metric.Metric.Unit;
import io.github.gatlingllm.record.Assertion;
import io.github.gatlingllm.record.InjectorShare;
import io.github.gatlingllm.record.RunInfo;
import io.github.gatlingllm.record.SelfTest;
import io.github.gatlingllm.record.Slo;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Everything {@code llm/summary.json} says about a run. Times since {@code run.startUnixNs} are in
 * seconds; an absent value is null.
 *
 * @param verdict the outcome in one sentence made from the numbers
 * @param config the settings of the run as text
 * @param slo null when there is no SLO
 * @param figures all stages pooled
 * @param arrivals planned against realised arrivals, all open-loop stages; null in closed loops
 * @param knee of the curve that delivers most at its own; null when no stage delivered tokens
 * @param operatingPoint of the only curve; null where there are several, each with its own
 * @param selfTest how exact the load generator was on the run's machine; null where that was never
 *     measured
 * @param assertions what the build demands, and what came out; empty when it demands nothing
 * @param serverNames what servers call the timings of {@code figures.server}, by key; empty where
 *     they say nothing
 * @param stages in the order in which they were planned
 * @param curves the load levels of each target and scenario by themselves
 * @param targets by label
 * @param requests by request name
 * @param requestsAtPoints by request name at each curve's operating point; in no file
 * @param serverPages the servers' pages of metrics that were read; empty where there are none
 * @param injectors of a joined run, in the order in which they were joined; else empty
 */
public record Summary(
    Run run,
    String verdict,
    Map<String, String> config,
    Workload workload,
    @Nullable SloTable slo,
    Figures figures,
    @Nullable ArrivalFigures arrivals,
    @Nullable Knee knee,
    @Nullable OperatingPoint operatingPoint,
    List<Check> checks,
    @Nullable SelfTestQuote selfTest,
    List<AssertionResult> assertions,
    Map<String, Set<String>> serverNames,
    List<Stage> stages,
    List<Curve> curves,
    List<Target> targets,
    List<RequestGroup> requests,
    List<RequestAtPoint> requestsAtPoints,
    List<EngineFigures.Page> serverPages,
    List<Injector> injectors) {

  /** Name and version of the form. */
  public static final String SCHEMA = "gatling-llm/summary/1";

  public Summary {
    checks = List.copyOf(checks);
    assertions = List.copyOf(assertions);
    stages = List.copyOf(stages);
    curves = List.copyOf(curves);
    targets = List.copyOf(targets);
    requests = List.copyOf(requests);
    requestsAtPoints = List.copyOf(requestsAtPoints);
    serverPages = List.copyOf(serverPages);
    injectors = List.copyOf(injectors);
  }

  /**
   * The checks that make the run invalid, what the last of them found (of the answers, where one is
   * of them) and what to do; null where none does.
   */
  public @Nullable String whyInvalid() {
    List<Check> invalid =
        checks.stream().filter(check -> check.level() == Check.Level.INVALID).toList();
    if (invalid.isEmpty()) {
      return null;
    }
    Check last = invalid.get(invalid.size() - 1);
    return (invalid.size() == 1 ? "check " : "checks ")
        + String.join(", ", invalid.stream().map(Check::id).toList())
        + ". "
        + last.message()
        + " "
        + last.remedy();
  }

  /** Whether a stage is named by its target too. */
  public boolean hasSeveralTargets() {
    return targets.size() > 1;
  }

  /** Whether a stage is named by its scenario too: one target has the stages of several. */
  public boolean hasSeveralScenarios() {
    return curves.size() > targets.size();
  }

  /**
   * A load level, and of which target and scenario where the run has several: {@code c=8}, {@code
   * c=8 of vLLM}, {@code c=8 of A1 at vLLM}.
   */
  public String place(String stage, String target, @Nullable String scenario) {
    return named(
        stage, hasSeveralTargets() ? target : null, hasSeveralScenarios() ? scenario : null);
  }

  /** The name of a stage; what is null needs no naming. */
  public static String named(String stage, @Nullable String target, @Nullable String scenario) {
    String ofScenario = scenario == null ? stage : stage + " of " + scenario;
    return target == null ? ofScenario : ofScenario + (scenario == null ? " of " : " at ") + target;
  }

  /** What tells a curve from the others; its target where there is only one. */
  public String name(Curve curve) {
    String scenario = curve.scenario();
    if (scenario == null || !hasSeveralScenarios()) {
      return curve.target();
    }
    return hasSeveralTargets() ? scenario + " at " + curve.target() : scenario;
  }

  /** The level that headlines about a curve quote. */
  public Stage operatingLevel(Curve curve) {
    OperatingPoint at = curve.operatingPoint();
    return stages.stream()
        .filter(
            s ->
                s.label().equals(at.stage())
                    && s.target().equals(at.target())
                    && Objects.equals(s.scenario(), at.scenario()))
        .findFirst()
        .orElseThrow();
  }

  /** Whether headlines quote one level of several, and so have to name it. */
  public boolean hasSeveralLevels() {
    return stages.size() > 1;
  }

  /** What headlines about the run count from. */
  HeadlineClock clock() {
    return HeadlineClock.of(stages);
  }

  /** The time that headlines quote: from schedule where that can differ from admission. */
  public Metric headlineMetric(Metric metric) {
    return clock().metric(metric);
  }

  /** Whether headlines say that times count from the schedule. */
  public boolean isClockNamed() {
    return clock().isNamed();
  }

  /** Whether no assertion was missed. */
  public boolean assertionsHold() {
    return assertions.stream().allMatch(AssertionResult::ok);
  }

  /** The most serious level of all checks. */
  public Check.Level level() {
    return checks.stream().map(Check::level).max(Enum::compareTo).orElse(Check.Level.OK);
  }

  /**
   * What the self-test of a run's machine says about that run: the load generator's own error at
   * the run's load.
   *
   * @param test nothing is quoted unless it applies
   * @param operatingPoint at the level that headlines quote; null where there are several or none
   * @param peak at the most in flight and the highest rate of any level of the run; null where
   *     nothing is quoted
   */
  public record SelfTestQuote(SelfTest test, @Nullable At operatingPoint, @Nullable At peak) {

    /**
     * A load of the run, and the lightest tested level with at least as many streams and events.
     *
     * @param stage label of the load level; null for the peak of all
     * @param streams most requests in flight
     * @param eventsPerS token events per second, taken as one per token
     * @param tested null where the self-test measured no such load
     */
    public record At(
        @Nullable String stage,
        double streams,
        double eventsPerS,
        SelfTest.@Nullable Level tested) {}
  }

  /**
   * Which run.
   *
   * @param state {@code complete} or {@code interrupted}
   * @param seed pins prompts and arrivals; null when not known
   * @param injectors the load generators that took part
   * @param versions by component, e.g. {@code gatling}, {@code java}
   */
  public record Run(
      String id,
      @Nullable String simulation,
      long startUnixNs,
      long endUnixNs,
      String state,
      @Nullable Long seed,
      List<String> injectors,
      Map<String, String> versions) {

    /** Whether the run came to its planned end. */
    public boolean isComplete() {
      return state.equals("complete");
    }
  }

  /**
   * What was asked: lengths over requests scheduled in measure, whether or not they succeeded.
   *
   * @param promptTokens tokens per prompt: the server's count, else our tokenizer's
   * @param outputTokens tokens per answer, of ok requests
   * @param cachedShare cached prompt tokens ÷ prompt tokens, where the server tells; 0 to 1
   * @param cache what the cache did to TTFT; null where the server does not tell
   * @param turns requests by turn of a conversation; empty outside conversations
   * @param byTurn the same with their figures, in order
   * @param scenarios requests by scenario
   * @param models requests by model
   * @param apis requests by API
   * @param endpoints requests by endpoint
   * @param streamed requests that asked for a stream
   */
  public record Workload(
      Distribution promptTokens,
      Distribution outputTokens,
      @Nullable Double cachedShare,
      @Nullable CacheUse cache,
      Map<Integer, Long> turns,
      List<Turn> byTurn,
      Map<String, Long> scenarios,
      Map<String, Long> models,
      Map<String, Long> apis,
      Map<String, Long> endpoints,
      long streamed) {}

  /**
   * One turn of the conversations.
   *
   * @param turn from 1; the 100th stands for all later ones too
   * @param meanPromptTokens null where no prompt tokens are known
   * @param cachedShare cached ÷ all prompt tokens, 0 to 1; null where the server does not tell
   * @param ttftMs of ok requests
   */
  public record Turn(
      int turn,
      long requests,
      @Nullable Double meanPromptTokens,
      @Nullable Double cachedShare,
      Distribution ttftMs) {}

  /**
   * The SLO and how it was met.
   *
   * @param text as in settings, e.g. {@code ttft<200ms,tpot<50ms}
   * @param percentile share of attempted requests, in percent, that {@code rule} asks for
   * @param rule when a level holds
   */
  public record SloTable(
      String text, double percentile, Slo.Rule rule, List<ObjectiveRow> objectives) {

    /** Whether all objectives hold at the same share. */
    public boolean hasOnePercentile() {
      return objectives.stream().allMatch(row -> row.percentile() == percentile);
    }
  }

  /**
   * One objective, of one stage or of all pooled.
   *
   * @param measure e.g. {@code ttft}; behind its target where targets differ, and its request name
   *     where that has its own
   * @param limitMs the measure must be below it
   * @param actualMs the measure at the SLO's percentile, by nearest rank, over attempted requests;
   *     failed ones, and those in which it should have come and did not, rank above all values;
   *     requests to which it does not apply (TPOT of one token) are left out; null where the rank
   *     is among the former, or the share is undefined
   * @param noValue why there is no actual value; else null
   * @param marginMs limit − actual; negative when missed; null without an actual value
   * @param metShare attempted requests that met it ÷ attempted, 0 to 1; null where nothing was
   *     attempted, and where more than 1 % were cancelled before it could be told
   * @param ok whether at least {@code percentile} % met it; null where that cannot be told
   * @param percentile share of attempted requests, in percent, that must meet it
   */
  public record ObjectiveRow(
      String measure,
      double limitMs,
      @Nullable Double actualMs,
      @Nullable String noValue,
      @Nullable Double marginMs,
      @Nullable Double metShare,
      @Nullable Boolean ok,
      double percentile) {}

  /**
   * The lightest level that delivers at least 90 % of the highest output tok/s of its curve: beyond
   * it, more load buys waiting rather than tokens.
   *
   * @param reached whether the curve flattens (the last step up adds under 10 % of output tok/s)
   *     and at least one level below delivers less
   * @param stage its label
   * @param target its target
   * @param scenario its scenario; null where scenarios are not told apart
   * @param offered its offered load, in the stage's unit
   * @param outputTokensPerS null where texts are embedded
   * @param medianE2eMs from schedule; null where no request of it succeeded
   * @param power its output tok/s ÷ median E2E from schedule in seconds
   * @param saturatedFromFirst whether the curve is flat from its first level on, so that the knee
   *     lies below all loads tried
   * @param bestPower null where no level has a power
   */
  public record Knee(
      boolean reached,
      String stage,
      String target,
      @Nullable String scenario,
      @Nullable Double offered,
      @Nullable Double outputTokensPerS,
      @Nullable Double medianE2eMs,
      @Nullable Double power,
      boolean saturatedFromFirst,
      @Nullable BestPower bestPower) {}

  /**
   * The level of a curve with the highest power = output tok/s ÷ median E2E in seconds (Kleinrock):
   * on a curve that flattens smoothly it delivers about half of the maximum.
   *
   * @param stage its label
   * @param offered its offered load, in the stage's unit
   */
  public record BestPower(String stage, @Nullable Double offered, double power) {}

  /**
   * The load levels of one target and scenario.
   *
   * @param scenario null where scenarios are not told apart
   * @param stages their labels in order of load
   * @param knee null when no level delivered tokens
   * @param maxGoodput the highest of them that holds the target's SLO; null where none does
   * @param operatingPoint the level that headlines quote
   */
  public record Curve(
      String target,
      @Nullable String scenario,
      List<String> stages,
      @Nullable Knee knee,
      Figures.@Nullable MaxGoodput maxGoodput,
      OperatingPoint operatingPoint) {

    /** The level that headlines quote, and of several why that, e.g. {@code c=16, the knee}. */
    public String quoted() {
      String stage = operatingPoint.stage();
      return stages.size() == 1 ? stage : stage + ", " + operatingPoint.why();
    }
  }

  /**
   * The load level whose figures stand for a curve in headlines, since percentiles pooled over
   * different loads are those of no load.
   *
   * @param stage its label
   * @param target its target
   * @param scenario its scenario; null where scenarios are not told apart
   * @param why by what it was chosen, e.g. {@code the knee}
   */
  public record OperatingPoint(
      String stage, String target, @Nullable String scenario, String why) {}

  /**
   * One load level of one scenario at one target.
   *
   * @param label e.g. {@code c=8}
   * @param scenario null where scenarios are not told apart
   * @param kind e.g. {@code closed loop}, {@code rate curve}; {@code unknown} when it was inferred
   * @param offered the load asked for, in {@code unit}; null where it has no single number
   * @param unit e.g. {@code concurrent}, {@code requests/s}
   * @param startS start of the measure window since the start of the run
   * @param durationS length of the measure window
   * @param phases all its phases in order
   * @param meanInFlight time-weighted mean of requests in flight over the measure window
   * @param arrivedPerS requests whose scheduled instant lies in the measure window ÷ window; in
   *     closed loops that is when they started
   * @param completedPerS ok requests that ended in the window ÷ window, as {@code
   *     throughput.requests_per_s}
   * @param queue null in closed loops
   * @param objectives of the SLO; empty without
   * @param arrivals null in closed loops
   * @param serverMetrics what the server's own metrics say; null where not read
   * @param injectors each injector of a joined run by itself; else empty
   */
  public record Stage(
      String label,
      String target,
      @Nullable String scenario,
      String kind,
      @Nullable Double offered,
      @Nullable String unit,
      @Nullable Double startS,
      @Nullable Double durationS,
      List<PhaseSpan> phases,
      @Nullable Double meanInFlight,
      @Nullable Double arrivedPerS,
      @Nullable Double completedPerS,
      @Nullable Queue queue,
      List<ObjectiveRow> objectives,
      @Nullable ArrivalFigures arrivals,
      @Nullable EngineFigures serverMetrics,
      List<InjectorFigures> injectors,
      Figures figures) {

    public Stage {
      injectors = List.copyOf(injectors);
    }

    /**
     * Whether what is offered is not kept up with, by the server or by the load generator; not
     * known of closed loops.
     */
    public boolean fallsBehind() {
      return queue != null && queue.grows();
    }
  }

  /**
   * One injector of a joined run.
   *
   * @param run id of its own run
   * @param share its part of the load; null where its run does not say
   * @param state {@code complete}, {@code interrupted}, or {@code running} where it died
   * @param records that its file has
   * @param dropped records known to be lost
   * @param missing planned requests without a record; null where the plan does not say
   * @param settings of those that are not the same at all injectors, its own
   * @param figures of all stages pooled
   */
  public record Injector(
      String run,
      @Nullable InjectorShare share,
      RunInfo.State state,
      long records,
      long dropped,
      @Nullable Long missing,
      Map<String, String> settings,
      InjectorFigures figures) {

    /** Whether its run has no end. */
    public boolean isDead() {
      return state == RunInfo.State.RUNNING;
    }
  }

  /**
   * What one injector of several measured, at one load level or at all pooled, and how it fared.
   *
   * @param name the {@code injector} of its records
   * @param planned requests that its plan asks for in the measure windows; null where it does not
   *     say
   * @param started its requests scheduled in a measure window
   * @param ended of those, how many ended by themselves
   * @param ok of those, how many succeeded
   * @param failed of those, how many failed
   * @param requestsPerS its ok requests that ended in the window ÷ window; null without a window
   * @param outputTokensPerS its tokens that arrived in the window ÷ window; null without a window
   * @param ttftMs of its ok requests
   * @param startLagMs start − planned start; empty in closed loops
   * @param loopLagMaxMs how late its event loops were at most; null where not known
   * @param ownCpu share of its machine's processors that its process used; null where not known
   * @param idleCpu share of them that was idle; null where not known
   * @param generator what the check {@code generator} says of it alone; null where not known
   */
  public record InjectorFigures(
      String name,
      @Nullable Long planned,
      long started,
      long ended,
      long ok,
      long failed,
      @Nullable Double requestsPerS,
      @Nullable Double outputTokensPerS,
      Distribution ttftMs,
      Distribution startLagMs,
      @Nullable Double loopLagMaxMs,
      @Nullable Double ownCpu,
      @Nullable Double idleCpu,
      Check.@Nullable Level generator) {}

  /** A phase of a stage: its name, and when, in seconds since the start of the run. */
  public record PhaseSpan(String phase, double startS, double durationS) {}

  /**
   * One server under test, all its stages pooled.
   *
   * @param models that its requests asked for, most frequent first
   * @param knee over its own stages; of the scenario that delivers most at its own
   * @param failures how it failed, in all phases; null without a request
   * @param serverMetrics what its own metrics say; null where not read
   */
  public record Target(
      String label,
      List<String> models,
      @Nullable Knee knee,
      Figures.@Nullable Failures failures,
      @Nullable EngineFigures serverMetrics,
      Figures figures) {}

  /** One request name at the operating point of a curve. */
  public record RequestAtPoint(String name, Curve curve, Figures figures) {}

  /** One request name, all stages pooled. */
  public record RequestGroup(String name, Figures figures) {}

  /**
   * A gate for the build and its outcome, in Gatling's words.
   *
   * @param subject whose figure, e.g. {@code Global: 99th percentile of TTFT}
   * @param assertion what is demanded
   * @param unit of its values
   * @param value what the figure is; null where there is none, which is a miss
   * @param note what to know beside the value, or why there is none; null for nothing
   */
  public record AssertionResult(
      String subject,
      Assertion assertion,
      Unit unit,
      @Nullable Double value,
      @Nullable String note) {

    private static final int DIGITS = 4;
    private static final int MOST_DIGITS = 15;

    /** Whether it holds. */
    public boolean ok() {
      return value != null && assertion.holds(value);
    }

    /** The whole sentence, e.g. {@code Global: 99th percentile of TTFT is less than 200.0}. */
    public String text() {
      return subject + " " + assertion.conditionText();
    }

    /** The demand with its unit, e.g. {@code < 200 ms}. */
    public String expected() {
      List<Double> values = assertion.values();
      return assertion.condition().sign()
          + " "
          + switch (assertion.condition()) {
            case BETWEEN, BETWEEN_EXCLUSIVE -> with(values.get(0)) + " to " + with(values.get(1));
            case IN -> values.stream().map(this::with).collect(Collectors.joining(", "));
            default -> with(values.get(0));
          };
    }

    /** The value with its unit, e.g. {@code 169.4 ms}; null where there is none. */
    public @Nullable String actual() {
      Double shown = shown();
      return shown == null ? null : with(shown);
    }

    /** As Gatling prints it on the console, with what there is to note. */
    public String line() {
      Double shown = shown();
      String given =
          shown == null
              ? note == null ? "no value" : note
              : "actual : " + shown + (note == null ? "" : ", " + note);
      return text() + " : " + ok() + " (" + given + ")";
    }

    /** Rounded, but never so that it contradicts the outcome: 199.96 is not 200 below 200. */
    private @Nullable Double shown() {
      if (value == null || value == Math.rint(value)) {
        return value;
      }
      for (int digits = DIGITS; digits < MOST_DIGITS; digits++) {
        double rounded = new BigDecimal(value).round(new MathContext(digits)).doubleValue();
        if (assertion.holds(rounded) == ok()) {
          return rounded;
        }
      }
      return value;
    }

    private String with(double number) {
      BigDecimal digits = BigDecimal.valueOf(number).stripTrailingZeros();
      String plain = String.format(Locale.ROOT, "%,." + Math.max(0, digits.scale()) + "f", digits);
      return unit.sign().isEmpty() ? plain : plain + " " + unit.sign();
    }
  }
}
