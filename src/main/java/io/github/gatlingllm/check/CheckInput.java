package io.github.gatlingllm.check;

import io.github.gatlingllm.enginestats.EngineFigures;
import io.github.gatlingllm.metric.Distribution;
import io.github.gatlingllm.metric.Figures;
import io.github.gatlingllm.metric.Metric;
import io.github.gatlingllm.record.JvmOptions;
import io.github.gatlingllm.record.LevelInfo;
import io.github.gatlingllm.record.RecordFile.ReadReport;
import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import io.github.gatlingllm.record.RunInfo;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the checks judge a run by.
 *
 * @param file what the file of records held besides its records
 * @param areWindowsInferred whether measure windows were inferred from the records
 * @param figures all load levels pooled
 * @param levels in the order in which they were planned
 * @param sweeps the load levels of each target and scenario by themselves
 * @param arrivals null in closed loops
 * @param models what each target was asked for; an empty name stands for none
 * @param cachedShare cached prompt tokens ÷ prompt tokens, 0 to 1; null where the server does not
 *     tell
 * @param cache null likewise
 * @param isSharingMeant whether prompts have text in common because the workload is made so
 * @param failures how each target failed
 * @param isServerHere whether an endpoint is an address of the generator's own machine
 * @param engines what engines counted in the whole run; those whose metrics were read
 * @param outlier of several injectors the one that measured something else than the others; null
 *     where none did beyond chance
 */
public record CheckInput(
    RunInfo info,
    ReadReport file,
    boolean areWindowsInferred,
    Figures figures,
    List<MeasuredLevel> levels,
    List<Sweep> sweeps,
    Figures.@Nullable ArrivalFigures arrivals,
    List<Set<String>> models,
    AnswerCounts answers,
    @Nullable Double cachedShare,
    @Nullable CacheUse cache,
    boolean isSharingMeant,
    Map<String, Figures.Failures> failures,
    boolean isServerHere,
    List<EngineFigures.WholeRun> engines,
    @Nullable Outlier outlier) {

  /** Records that are known to be missing. */
  long lost() {
    return info.dropped() + file.badLines() + (file.cutTailBytes() > 0 ? 1 : 0);
  }

  /** Whether there is a load level that Gatling's own injection does not make. */
  boolean hasLoadPlan() {
    return !levels.stream().allMatch(MeasuredLevel::isInjected);
  }

  int mostLevels() {
    return sweeps.stream().mapToInt(Sweep::levels).max().orElse(0);
  }

  /** Whether any request had a planned instant. */
  boolean hasArrivals() {
    return arrivals != null;
  }

  /** The options of each JVM that made load, where they are known; one where all had the same. */
  List<List<String>> jvmOptions() {
    String joined = info.config().getOrDefault(JvmOptions.CONFIG_NAME, "");
    return Arrays.stream(joined.split(",", -1))
        .filter(options -> !options.isBlank())
        .map(options -> List.of(options.split(" ", -1)))
        .toList();
  }

  /** What load plans found on a topic. */
  Stream<RunInfo.Conclusion> conclusions(String topic) {
    return info.conclusions().stream().filter(found -> found.topic().equals(topic));
  }

  /**
   * One load level.
   *
   * @param label with its target and scenario where there are several
   * @param info what the run says of it
   * @param isPlanned false where only the records know it
   * @param sent of the requests that its plan asks for, how many started; more where users send
   *     several each
   * @param isOpen whether its users arrive by a schedule
   * @param isCutShort whether a rule ended it before its time
   * @param isPilingUp whether more and more requests waited at the server; not where they wait here
   *     to be sent
   * @param law null without a measure window, and where nothing counted what was in flight
   * @param silence null without a measure window, and where most answers were no streams
   * @param steadiness null where it is too short to look for one, or changes by plan
   * @param generators how each injector fared itself; those that said so
   * @param engine what the server's own metrics say of its window; null where not read
   */
  public record MeasuredLevel(
      String label,
      LevelInfo info,
      boolean isPlanned,
      long sent,
      boolean isOpen,
      boolean isCutShort,
      boolean isPilingUp,
      Figures figures,
      @Nullable LittlesLaw law,
      @Nullable Silence silence,
      @Nullable Steadiness steadiness,
      List<GeneratorHealth> generators,
      @Nullable EngineFigures engine) {

    /** How much of its measure window one of its longer requests takes; null where unknown. */
    @Nullable Double shareOfWindow() {
      Double e2eMs = figures.metric(Metric.E2E_MS).p90();
      LevelInfo.PhaseWindow window = info.measured().orElse(null);
      Long end = window == null ? null : window.endUnixNanos();
      return e2eMs == null || end == null || info.kind().equals(LevelInfo.BATCH)
          ? null
          : (Double) (e2eMs * 1e6 / (end - window.startUnixNanos()));
    }

    /** Whether its setting {@code duration} says how long it measures. */
    boolean hasDuration() {
      return info.kind().equals(LevelInfo.OPEN_LOOP) || (isClosedLoop() && info.planned() == null);
    }

    /** Whether its users come from Gatling's own injection, without a load plan. */
    boolean isInjected() {
      return info.kind().equals(LevelInfo.INJECTION);
    }

    boolean isClosedLoop() {
      return info.kind().equals(LevelInfo.CLOSED_LOOP);
    }

    /** How many requests fewer were sent than planned; below 0 for more. */
    long missing() {
      Long planned = info.planned();
      return planned == null ? 0 : isOpen ? planned - sent : Math.max(0, planned - sent);
    }
  }

  /**
   * An injector whose figure differs from that of the others beyond chance.
   *
   * @param level with its target and scenario where there are several
   * @param figure in words, e.g. {@code mean TTFT}
   * @param valueMs its own
   * @param othersMs that of all others together
   */
  public record Outlier(
      String injector, String level, String figure, double valueMs, double othersMs) {

    /** Whether it differs by at least that share of the others' value, and by that much. */
    public boolean differsBy(double share, double leastMs) {
      double difference = Math.abs(valueMs - othersMs);
      return difference >= share * othersMs && difference >= leastMs;
    }
  }

  /**
   * Both sides of Little's law, which within a window holds exactly: L = λW.
   *
   * @param mean requests in flight, as counted while the run was on, time-weighted over the measure
   *     window
   * @param rateTimesStay by the records: requests in the system in the window ÷ window × the mean
   *     time that they were in it
   * @param stayMs mean time in the system of the requests that ended in the window; 0 where none
   *     did
   */
  public record LittlesLaw(double mean, double rateTimesStay, double stayMs) {

    /** What reading the clock a moment later makes of a request. */
    private static final double STAMP_MS = 0.1;

    double residual() {
      double larger = Math.max(mean, rateTimesStay);
      return larger == 0 ? 0 : Math.abs(mean - rateTimesStay) / larger;
    }

    /** How far it is beyond its tolerance. */
    double excess() {
      return residual() - tolerance();
    }

    /** 5 %, more where requests take less than some milliseconds. */
    double tolerance() {
      return 0.05 + (stayMs == 0 ? 0 : STAMP_MS / stayMs);
    }
  }

  /**
   * Spans of a measure window in which no streamed request of the target got a byte although some
   * were in flight.
   *
   * @param longestS the longest that is too long, else the longest of all
   * @param fromS its start in the window
   * @param inFlight the most requests in flight in it
   * @param boundS from where on it is too long
   * @param spans how many are too long
   * @param allS of these, how long all are together
   */
  public record Silence(
      double longestS, double fromS, int inFlight, double boundS, int spans, double allS) {}

  /**
   * What was found when TTFT, E2E and output tok/s were tested for a trend over the measure window,
   * and for a transient at its start.
   *
   * @param likeliest what is least likely chance, of what matters; null where nothing was found
   */
  public record Steadiness(@Nullable Drift likeliest) {}

  /**
   * A change over a measure window, however small.
   *
   * @param what grew or fell, e.g. {@code TTFT from schedule}
   * @param change difference of the means of the first and last quarter ÷ their mean; of a
   *     transient, of the means before and after its end
   * @param from the mean of the first quarter or of the transient, with its unit
   * @param chance how likely it is by chance that a steady level shows one like it, 0 to 1
   * @param steadyFromS when the transient ends, seconds from the start of the window; null for a
   *     change all through the window
   */
  public record Drift(
      String what,
      double change,
      String from,
      String to,
      boolean up,
      double chance,
      @Nullable Double steadyFromS) {

    /** A run in steady state may be called unsteady this often. */
    public static final double SIGNIFICANT = 0.05;
  }

  /**
   * The load levels of one target and scenario.
   *
   * @param levels how many
   * @param isOneAtATime whether there is nothing but one user in a closed loop
   * @param isKneeReached whether output flattens, and a lighter level delivers less
   * @param isSaturated whether output is flat from the first level on
   * @param quoted the level that headlines quote
   */
  public record Sweep(
      int levels,
      boolean isOneAtATime,
      boolean isKneeReached,
      boolean isSaturated,
      MeasuredLevel quoted) {

    /** Requests at that level whose E2E is known. */
    long e2eValues() {
      return quoted.figures().metric(Metric.E2E_MS).count();
    }
  }

  /**
   * The server's prefix cache, over requests of which it told, of the load level with most requests
   * of both kinds: those of different levels differ in their load, too.
   *
   * @param stage that level, with its target and scenario where there are several; null where the
   *     run has one level only
   * @param warmTtftMs TTFT of ok requests with at least half of their prompt cached
   * @param coldTtftMs TTFT of the others
   */
  public record CacheUse(
      @Nullable String stage, Distribution warmTtftMs, Distribution coldTtftMs) {}

  /**
   * Counts the requests whose answers are not what figures take them for, of those scheduled in a
   * measure window. {@link AnswerChecks} judges it.
   */
  public static final class AnswerCounts {

    /** Tokens that all come within this share of E2E were held back by something in between. */
    private static final double BUFFERED = 0.02;

    private static final int LEAST_TOKENS = 8;

    private final Predicate<String> pinnedTargets;
    long ok;

    /** Answers that came as a stream. */
    long streamedOk;

    /** Answers that came as one body though a stream was asked for. */
    long notStreamed;

    long pinned;
    long notPinned;
    long estimated;

    /** Answers with a count that no answer can have. */
    long refused;

    long tokenizerCounted;
    long chunkCounted;

    /** Answers whose tokens were shared evenly over their events. */
    long shared;

    /** Answers whose token times were interpolated. */
    long interpolated;

    /** Streams whose N was not counted from their events. */
    long comparable;

    /** Of these, streams whose events have other tokens than N. */
    long disagreeing;

    final CountComparison prompts = new CountComparison();
    final CountComparison outputs = new CountComparison();
    long buffered;
    long longStreams;
    long events;
    long coalesced;
    long late;
    long withoutDone;
    long resent;
    long cancelled;
    long neverAdmitted;

    /** How the times of an answer's tokens are known. */
    public enum TokenTimes {
      /** Each event's time and tokens are known. */
      KNOWN,
      /** Each event's time is known; N is shared evenly over the events. */
      SHARED,
      /** Only the first and the last token's time is known. */
      INTERPOLATED
    }

    /**
     * Nothing counted yet.
     *
     * @param pinnedTargets whether answers of a target were to have exactly {@code max_tokens}
     *     tokens
     */
    public AnswerCounts(Predicate<String> pinnedTargets) {
      this.pinnedTargets = pinnedTargets;
    }

    /** Adds a request that was scheduled in a measure window. */
    public void add(RequestRecord record, TokenTimes times) {
      if (record.outcome().status() == RequestStatus.CANCELLED) {
        cancelled++;
        neverAdmitted += record.timing().gateWaitNanos() == null ? 1 : 0;
      }
      late += record.events().late() > 0 ? 1 : 0;
      resent += record.outcome().resent() ? 1 : 0;
      if (!record.outcome().ok()) {
        return;
      }
      if (record.tokens().inputs() != null) {
        RequestRecord.Tokens tokens = record.tokens();
        prompts.add(record.identity().target(), tokens.promptTokens(), tokens.promptTokensLocal());
        return; // vectors are no answer
      }
      ok++;
      shared += times == TokenTimes.SHARED ? 1 : 0;
      interpolated += times == TokenTimes.INTERPOLATED ? 1 : 0;
      countTokens(record);
      if (record.isOneBody()) {
        notStreamed += record.identity().streamed() ? 1 : 0;
      } else {
        streamedOk++;
        withoutDone += record.events().done() ? 0 : 1;
        events += record.events().count();
        coalesced += record.events().coalesced();
        addStream(record);
      }
    }

    private void countTokens(RequestRecord record) {
      RequestRecord.Tokens tokens = record.tokens();
      String target = record.identity().target();
      prompts.add(target, tokens.promptTokens(), tokens.promptTokensLocal());
      if (tokens.source() == RequestRecord.TokenSource.USAGE) {
        // What was billed and never came over the wire, we cannot have counted.
        outputs.add(target, tokens.streamedTokens(), tokens.outputTokensLocal());
      }
      estimated += tokens.estimated() ? 1 : 0;
      refused += tokens.refused().isEmpty() ? 0 : 1;
      tokenizerCounted += tokens.source() == RequestRecord.TokenSource.TOKENIZER ? 1 : 0;
      chunkCounted += tokens.source() == RequestRecord.TokenSource.CHUNKS ? 1 : 0;
      Integer n = tokens.streamedTokens();
      boolean isOwnCount = tokens.source() != RequestRecord.TokenSource.CHUNKS;
      if (n != null && isOwnCount && record.events().count() > 0 && !record.isOneBody()) {
        comparable++;
        disagreeing += disagrees(record.events(), n) ? 1 : 0;
      }
      if (pinnedTargets.test(target)) {
        pinned++;
        boolean stopped = "stop".equals(record.outcome().finishReason());
        notPinned += stopped || hasOtherLength(record) ? 1 : 0;
      }
    }

    /**
     * Whether an answer is not as long as its limit; of several, one of them. Each is counted by
     * itself where the server said the tokens of each event, else all together.
     */
    private static boolean hasOtherLength(RequestRecord record) {
      Integer limit = record.tokens().maxTokens();
      Integer output = record.tokens().outputTokens();
      if (limit == null || output == null) {
        return false;
      }
      int[] choices = record.events().choices();
      int[] tokens = record.events().tokens();
      if (choices.length == 0) {
        // Where no event was kept, it is not known how many answers the tokens are of.
        boolean mayBeSeveral = record.events().offsetsMicros().length == 0 && limit > 0;
        return mayBeSeveral ? output == 0 || output % limit != 0 : !output.equals(limit);
      }
      int[] ofChoice = new int[Arrays.stream(choices).max().orElse(0) + 1];
      for (int i = 0; i < tokens.length; i++) {
        ofChoice[choices[i]] += tokens[i];
      }
      // Tokens that were billed and never came are in no event.
      boolean isComplete = Arrays.stream(tokens).sum() == output;
      return output != limit * ofChoice.length
          || (isComplete && Arrays.stream(ofChoice).anyMatch(length -> length != limit));
    }

    /** Whether events say another number of tokens than N, or there are more events than tokens. */
    private static boolean disagrees(RequestRecord.Events events, int n) {
      if (events.tokens().length == 0) {
        return events.count() > n;
      }
      long sum = 0;
      for (int tokens : events.tokens()) {
        sum += tokens;
      }
      return sum != n;
    }

    private void addStream(RequestRecord record) {
      Long first = record.timing().ttftNanos();
      Long last = record.timing().latencyNanos();
      Integer n = record.tokens().n();
      if (first == null || last == null || n == null) {
        return;
      }
      if (n >= LEAST_TOKENS) {
        longStreams++;
        buffered += last - first <= BUFFERED * last ? 1 : 0;
      }
    }
  }
}
