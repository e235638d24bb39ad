package io.github.gatlingllm.figures.check;

import static io.github.gatlingllm.figures.metric.Figures.CheckLevel.INVALID;
import static io.github.gatlingllm.figures.metric.Figures.CheckLevel.NOTE;
import static io.github.gatlingllm.figures.metric.Figures.CheckLevel.WARNING;

import io.github.gatlingllm.figures.level.AnswerCounts.Property;
import io.github.gatlingllm.figures.level.RunStatistics.RunFigures;
import io.github.gatlingllm.figures.level.Summary;
import io.github.gatlingllm.figures.metric.Figures.Check;
import io.github.gatlingllm.figures.metric.Figures.CheckLevel;
import io.github.gatlingllm.figures.metric.Sentence;
import io.github.gatlingllm.record.GeneratorSecond;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * All checks of a run, one entry each: the only place with their ids and thresholds. Their words
 * are rows of {@code facts.txt}. Files, pages and {@code docs/checks.md} are made from both. A
 * function without a finding states that its check does not apply.
 *
 * <p>A new check is an entry here with its function and its words, and a row in the table of its
 * test: a run that triggers it, and one that does not.
 */
@SuppressWarnings("ImmutableEnumChecker") // thresholds and functions have no state
public enum CheckCatalogue {

  // ---- load: did the run go as planned, and is all of it recorded?
  RECORDS_DROPPED(above(INVALID, 0), LoadChecks::recordsDropped),
  CUT_TAIL(above(WARNING, 0), LoadChecks::cutTail),
  WINDOWS(PlanChecks::windows),
  ALL_ACCOUNTED(above(WARNING, 0), PlanChecks::allAccounted),
  COMPLETE(LoadChecks::complete),
  INJECTORS(above(INVALID, 0), InjectorChecks::injectors),
  INJECTOR_SETTINGS(above(WARNING, 0), InjectorChecks::settings),
  INJECTOR_STARTS(above(WARNING, 1), InjectorChecks::starts),
  LITTLES_LAW(LoadChecks::littlesLaw),
  STEADY_STATE(above(WARNING, 0.2), LoadChecks::steadyState),
  WINDOW_LENGTH(above(NOTE, 0.1).and(WARNING, 0.3), LoadChecks::windowLength),
  COLD_START(LoadChecks::coldStart),
  GENERATOR(GeneratorCheck::judge),
  ARRIVALS(above(WARNING, 0.02), LoadChecks::arrivals),
  START_LAG(above(WARNING, GeneratorSecond.LATE_START_MS), LoadChecks::startLag),
  JVM_OPTIONS(LoadChecks::jvmOptions),
  SILENT_SPANS(LoadChecks::silentSpans),
  FAILING_SPANS(LoadChecks::failingSpans),
  LOW_N(below(NOTE, 1_000).and(WARNING, 100), PlanChecks::lowN),
  EARLY_STOPPING(above(NOTE, 1).and(WARNING, 4), PlanChecks::earlyStopping),
  KNEE(above(NOTE, 0), PlanChecks::knee),
  STOPPED_EARLY("stopped early"),
  REPEATS("repeats"),
  SEARCH("search"),
  SAME_MODEL(PlanChecks::sameModel),

  // ---- answers: do they match the assumptions of the figures?
  ERRORS(above(WARNING, 0.01), AnswerChecks::errors),
  RATE_LIMITED(above(WARNING, 0), AnswerChecks::rateLimited),
  CONTEXT_EXCEEDED(above(NOTE, 0).and(INVALID, 0.01), AnswerChecks::contextExceeded),
  PACED(above(NOTE, 0), LoadChecks::paced),
  CONNECTIONS_CLOSED(above(WARNING, 0.01), AnswerChecks::connectionsClosed),
  PINNED_OUTPUT(above(WARNING, 0.01), Property.NOT_PINNED, Property.PINNED),
  FINISH_REASONS(above(WARNING, 0.01), AnswerChecks::finishReasons),
  KNOWN_FINISH_REASONS(above(WARNING, 0), Property.UNKNOWN_FINISH, Property.OK),
  KNOWN_FIELDS(above(WARNING, 0), Property.UNKNOWN_FIELD, Property.OK),
  LEFT_OPEN(above(WARNING, 0), Property.LEFT_OPEN, Property.OK),
  TOKEN_COUNTS(above(WARNING, 0.01), AnswerChecks::tokenCounts),
  TOKEN_COUNTS_AGREE(above(WARNING, 0.01), Property.DISAGREEING, Property.COMPARABLE),
  PROMPT_TOKENS_AGREE(above(WARNING, 0.01).and(INVALID, 0.1), AnswerChecks::promptTokensAgree),
  OUTPUT_TOKENS_AGREE(above(WARNING, 0.01).and(INVALID, 0.1), AnswerChecks::outputTokensAgree),
  NOT_STREAMED(above(WARNING, 0), AnswerChecks::notStreamed),
  TOKENS_PER_EVENT(above(WARNING, 1.2), AnswerChecks::tokensPerEvent),
  BUFFERING(above(WARNING, 0.02).and(INVALID, 0.5), AnswerChecks::buffering),
  COALESCED_EVENTS(above(WARNING, 0.1), Property.COALESCED, Property.EVENTS),
  CACHED_SHARE(above(WARNING, 0.1), AnswerChecks::cachedShare),
  REPEATED_PROMPTS(above(WARNING, 0.1), AnswerChecks::repeatedPrompts),
  ANSWERS_CHANGED(AnswerChecks::answersChanged),
  ANSWERS_CACHED(AnswerChecks::answersCached),
  CANCELLED_TAILS(above(NOTE, 0).and(WARNING, 0.01), AnswerChecks::cancelledTails),

  // ---- server metrics: do they agree with what was measured here?
  METRICS_COVERED(EngineChecks::metricsCovered),
  ENGINE_TOKENS_AGREE(above(WARNING, 0.02), EngineChecks::tokensAgree),
  ABANDONED_STOP(EngineChecks::stopsForAbandoned),
  OTHER_TRAFFIC(EngineChecks::otherTraffic),
  ENGINE_TTFT(EngineChecks::ttft),
  ENGINE_QUEUE(EngineChecks::queue),
  PREEMPTIONS(EngineChecks::preemptions),
  KV_CACHE_FULL(above(NOTE, 0.95), EngineChecks::kvCacheFull),
  GPU_THROTTLING(above(NOTE, 0.05).and(WARNING, 0.1), EngineChecks::throttling),
  GPU_IMBALANCE(below(WARNING, 0.8), EngineChecks::imbalance);

  /** Checks that a generator short of CPU triggers too, as if the server were the cause. */
  private static final Set<CheckCatalogue> ALSO_BY_GENERATOR =
      Collections.unmodifiableSet(
          EnumSet.of(STEADY_STATE, SILENT_SPANS, BUFFERING, COALESCED_EVENTS, ENGINE_TTFT));

  /**
   * The bounds beyond which the figure of a check is a note, a warning, or makes the run invalid; a
   * share is 0 to 1.
   *
   * @param isBelow whether a figure below a bound is beyond it
   * @param bounds the weakest first; none if findings decide by themselves
   */
  private record Threshold(boolean isBelow, Map<CheckLevel, Double> bounds) {

    Threshold and(CheckLevel level, double bound) {
      Map<CheckLevel, Double> all = new EnumMap<>(bounds);
      all.put(level, bound);
      return new Threshold(isBelow, Collections.unmodifiableMap(all));
    }
  }

  private final Threshold threshold;
  private final Function<CheckInput, Stream<Finding>> judge;

  CheckCatalogue(Threshold threshold, Function<CheckInput, @Nullable Finding> judge) {
    this.threshold = threshold;
    this.judge = in -> Stream.ofNullable(judge.apply(in));
  }

  /** A check whose findings decide by themselves. */
  CheckCatalogue(Function<CheckInput, @Nullable Finding> judge) {
    this(new Threshold(false, Map.of()), judge);
  }

  /** The share of answers or events with one of two properties, at the worst target. */
  CheckCatalogue(Threshold threshold, Property part, Property all) {
    this.threshold = threshold;
    judge = in -> Stream.ofNullable(AnswerChecks.share(in, id() + ".found", part, all));
  }

  /** What a plan concluded on that topic, each conclusion by itself. */
  CheckCatalogue(String topic) {
    threshold = new Threshold(false, Map.of());
    judge = in -> PlanChecks.conclusions(in, topic, id() + ".found");
  }

  private static Threshold above(CheckLevel level, double bound) {
    return new Threshold(false, Map.of(level, bound));
  }

  private static Threshold below(CheckLevel level, double bound) {
    return new Threshold(true, Map.of(level, bound));
  }

  String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  String question() {
    return Sentence.text(id());
  }

  String figure() {
    return Sentence.text(id() + ".figure");
  }

  String bounds() {
    return Sentence.text(id() + ".bounds", threshold.bounds.values().toArray());
  }

  String appliesTo() {
    return Sentence.text(id() + ".applies");
  }

  /** What to do where the finding does not bring one. */
  String remedy() {
    return Sentence.withoutValues(id() + ".remedy").text();
  }

  /** Whether no check calls the run invalid but that of the load generator. */
  public static boolean isOnlyGeneratorInvalid(Summary summary) {
    return summary.checks().stream()
        .filter(check -> check.level() == CheckLevel.INVALID)
        .allMatch(check -> check.id().equals(GENERATOR.id()));
  }

  /** The figures of a run with the results of all checks. */
  public static RunFigures judged(RunFigures figures) {
    Summary summary = figures.summary();
    return figures.summary(summary.checked(judge(new CheckInput(figures))));
  }

  private static List<Check> judge(CheckInput in) {
    boolean mayBeGenerator = GENERATOR.judge.apply(in).anyMatch(GeneratorCheck::isDoubtful);
    return Arrays.stream(values())
        .flatMap(entry -> entry.judge.apply(in).map(found -> entry.check(found, mayBeGenerator)))
        .sorted(Comparator.comparing(Check::level).reversed())
        .toList();
  }

  /** The level of a figure by the thresholds alone. */
  CheckLevel level(@Nullable Double figure) {
    return threshold.bounds.entrySet().stream()
        .filter(
            bound ->
                figure != null
                    && (threshold.isBelow ? figure < bound.getValue() : figure > bound.getValue()))
        .map(Map.Entry::getKey)
        .max(Comparator.naturalOrder())
        .orElse(CheckLevel.OK);
  }

  private Check check(Finding finding, boolean mayBeGenerator) {
    CheckLevel own = finding.level();
    CheckLevel level = own == null ? level(finding.value()) : own;
    Double weakest = threshold.bounds.values().stream().findFirst().orElse(null);
    boolean isMeasured = level != CheckLevel.OK && finding.value() != null;
    boolean isDoubted = mayBeGenerator && isMeasured && ALSO_BY_GENERATOR.contains(this);
    List<Sentence> found =
        isDoubted ? finding.adding("generator.doubt").sentences() : finding.sentences();
    String remedy = finding.remedy() == null ? remedy() : finding.remedy().text();
    return new Check(
        id(),
        level,
        finding.value(),
        finding.threshold() == null ? weakest : finding.threshold(),
        found,
        level == CheckLevel.OK ? "" : remedy);
  }
}
