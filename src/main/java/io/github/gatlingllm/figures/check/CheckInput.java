package io.github.gatlingllm.figures.check;

import io.github.gatlingllm.figures.metric.Distribution;
import io.github.gatlingllm.figures.metric.EngineFigures;
import io.github.gatlingllm.figures.metric.Figures;
import io.github.gatlingllm.figures.metric.LevelFigures;
import io.github.gatlingllm.figures.metric.Metric;
import io.github.gatlingllm.record.JvmOptions;
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
 * The input of the checks.
 *
 * @param file what else was found in the record file, such as damaged lines
 * @param areWindowsInferred whether measure windows were inferred from the records
 * @param figures figures of all load levels pooled
 * @param levels in planned order
 * @param sweeps the load levels of each target and scenario
 * @param arrivals null in closed loops
 * @param models names of the models requested from each target; empty for requests without one
 * @param cachedShare cached prompt tokens ÷ prompt tokens, 0 to 1; null if the server does not
 *     report them
 * @param cache TTFT with and without cached prompts; null in the same case
 * @param isSharingMeant whether prompts share text by design of the workload
 * @param failures failures by target
 * @param isServerHere whether an endpoint is an address of the generator's own machine
 * @param engines counters of the whole run, of the servers whose metrics were read
 * @param outlier the injector that deviates significantly from the others; null if none does
 */
public record CheckInput(
    RunInfo info,
    ReadReport file,
    boolean areWindowsInferred,
    Figures figures,
    List<LevelFigures> levels,
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

  /** Number of records known to be missing. */
  long lost() {
    return info.dropped() + file.badLines() + (file.cutTailBytes() > 0 ? 1 : 0);
  }

  /** Whether a load level is not made by Gatling's own injection. */
  boolean hasLoadPlan() {
    return !levels.stream().allMatch(LevelFigures::isInjected);
  }

  int mostLevels() {
    return sweeps.stream().mapToInt(Sweep::levels).max().orElse(0);
  }

  /** Whether any request had a planned start. */
  boolean hasArrivals() {
    return arrivals != null;
  }

  /** The known options of each JVM that produced load; one list if all had the same. */
  List<List<String>> jvmOptions() {
    String joined = info.config().getOrDefault(JvmOptions.CONFIG_NAME, "");
    return Arrays.stream(joined.split(",", -1))
        .filter(options -> !options.isBlank())
        .map(options -> List.of(options.split(" ", -1)))
        .toList();
  }

  /** Conclusions of load plans on a topic. */
  Stream<RunInfo.Conclusion> conclusions(String topic) {
    return info.conclusions().stream().filter(found -> found.topic().equals(topic));
  }

  /**
   * An injector with a figure that differs significantly from that of the others.
   *
   * @param level label, with target and scenario if there are several
   * @param figure name of the figure, e.g. {@code mean TTFT}
   * @param valueMs value of this injector
   * @param othersMs value of all other injectors together
   */
  public record Outlier(
      String injector, String level, String figure, double valueMs, double othersMs) {

    /**
     * Whether it differs by at least that share of the others' value and by at least {@code
     * leastMs}.
     */
    public boolean differsBy(double share, double leastMs) {
      double difference = Math.abs(valueMs - othersMs);
      return difference >= share * othersMs && difference >= leastMs;
    }
  }

  /**
   * The load levels of one target and scenario.
   *
   * @param levels number of load levels
   * @param isOneAtATime whether its only load is one user in a closed loop
   * @param isKneeReached whether output flattens, and a lower level delivers less
   * @param isSaturated whether output is flat from the first level on
   * @param quoted the level that headlines quote
   */
  public record Sweep(
      int levels,
      boolean isOneAtATime,
      boolean isKneeReached,
      boolean isSaturated,
      LevelFigures quoted) {

    /** Number of requests at the quoted level with a known E2E. */
    long e2eValues() {
      return quoted.figures().metric(Metric.E2E_MS).count();
    }
  }

  /**
   * Effect of the server's prefix cache on TTFT, at the load level with the most requests of both
   * kinds (requests of different levels also differ in load). Requests without a reported count are
   * left out.
   *
   * @param stage label of that level, with target and scenario if there are several; null if the
   *     run has only one level
   * @param warmTtftMs TTFT of ok requests with at least half of their prompt cached
   * @param coldTtftMs TTFT of the other ok requests
   */
  public record CacheUse(
      @Nullable String stage, Distribution warmTtftMs, Distribution coldTtftMs) {}

  /**
   * Counts properties of answers that affect figures, of requests scheduled in a measure window.
   * Input of {@link AnswerChecks}.
   */
  public static final class AnswerCounts {

    /** A stream whose tokens all arrive within this share of E2E was buffered. */
    private static final double BUFFERED = 0.02;

    private static final int MIN_TOKENS = 8;

    private final Predicate<String> pinnedTargets;
    long ok;

    /** Answers that were streamed. */
    long streamedOk;

    /** Answers that arrived as one body although a stream was requested. */
    long notStreamed;

    long pinned;
    long notPinned;
    long estimated;

    /** Answers with an impossible token count. */
    long refused;

    long tokenizerCounted;
    long chunkCounted;

    /** Answers whose tokens were divided evenly among their events. */
    long shared;

    /** Answers whose token times were interpolated. */
    long interpolated;

    /** Streams whose N was not counted from their events. */
    long comparable;

    /** Of these, streams whose events do not add up to N. */
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

    /** How the arrival times of an answer's tokens were determined. */
    public enum TokenTimes {
      /** Each event's time and tokens are known. */
      KNOWN,
      /** Each event's time is known; N is divided evenly among the events. */
      SHARED,
      /** Only the first and the last token's time is known. */
      INTERPOLATED
    }

    /**
     * Creates empty counts.
     *
     * @param pinnedTargets whether a target's answers should have exactly {@code max_tokens} tokens
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
        return; // embeddings have no answer text
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
        // The local tokenizer counts streamed tokens only.
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
     * Whether an answer, or one of several choices, does not have the length of its limit. Choices
     * are counted one by one if the tokens of each event are known, else together.
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
        // Without events the number of choices is unknown.
        boolean mayBeSeveral = record.events().offsetsMicros().length == 0 && limit > 0;
        return mayBeSeveral ? output == 0 || output % limit != 0 : !output.equals(limit);
      }
      int[] ofChoice = new int[Arrays.stream(choices).max().orElse(0) + 1];
      for (int i = 0; i < tokens.length; i++) {
        ofChoice[choices[i]] += tokens[i];
      }
      // Billed tokens that were not streamed are in no event.
      boolean isComplete = Arrays.stream(tokens).sum() == output;
      return output != limit * ofChoice.length
          || (isComplete && Arrays.stream(ofChoice).anyMatch(length -> length != limit));
    }

    /** Whether the events' tokens do not add up to N, or there are more events than tokens. */
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
      if (n >= MIN_TOKENS) {
        longStreams++;
        buffered += last - first <= BUFFERED * last ? 1 : 0;
      }
    }
  }
}
