package io.github.gatlingllm.check;

import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Counts the requests whose answers are not what figures take them for, of those scheduled in a
 * measure window. {@link AnswerChecks} judges it.
 */
public final class AnswerCounts {

  /** Tokens that all come within this share of E2E were held back by something in between. */
  private static final double BUFFERED = 0.02;

  private static final int LEAST_TOKENS = 8;

  private final Predicate<String> pinnedTargets;
  long ok;
  long streamedOk;
  long pinned;
  long notPinned;
  long estimated;
  long tokenizerCounted;
  long chunkCounted;

  /** Answers whose tokens were shared evenly over their events. */
  long shared;

  /** Answers whose token times were interpolated. */
  long interpolated;

  /** Answers whose events have other tokens than N. */
  long disagreeing;

  final CountComparison prompts = new CountComparison();
  final CountComparison outputs = new CountComparison();
  long buffered;
  long longStreams;
  long events;
  long coalesced;
  long late;
  long withoutDone;
  long cancelled;
  long neverAdmitted;
  double e2eNanos;

  /** Σ TTFT + TPOT × (N − k), k the tokens of the first event. */
  double modelledNanos;

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
   * @param pinnedTargets whether answers of a target were to have exactly {@code max_tokens} tokens
   */
  public AnswerCounts(Predicate<String> pinnedTargets) {
    this.pinnedTargets = pinnedTargets;
  }

  /** Adds a request that was scheduled in a measure window. */
  public void add(RequestRecord record, TokenTimes times) {
    if (record.outcome().status() == RequestStatus.CANCELLED) {
      cancelled++;
    }
    if (record.timing().gateWaitNanos() == null) {
      neverAdmitted++;
    }
    late += record.events().late() > 0 ? 1 : 0;
    if (!record.outcome().ok()) {
      return;
    }
    ok++;
    shared += times == TokenTimes.SHARED ? 1 : 0;
    interpolated += times == TokenTimes.INTERPOLATED ? 1 : 0;
    countTokens(record);
    if (record.identity().streamed()) {
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
    tokenizerCounted += tokens.source() == RequestRecord.TokenSource.TOKENIZER ? 1 : 0;
    chunkCounted += tokens.source() == RequestRecord.TokenSource.CHUNKS ? 1 : 0;
    Integer n = tokens.streamedTokens();
    if (n != null && disagrees(record.events(), n)) {
      disagreeing++;
    }
    Integer limit = tokens.maxTokens();
    Integer output = tokens.outputTokens();
    boolean stopped = "stop".equals(record.outcome().finishReason());
    boolean wrongLength = limit != null && output != null && !output.equals(limit);
    boolean isPinned = pinnedTargets.test(target);
    pinned += isPinned ? 1 : 0;
    notPinned += isPinned && (stopped || wrongLength) ? 1 : 0;
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
    Integer streamed = record.tokens().streamedTokens();
    Integer n = record.tokens().n();
    if (first == null || last == null || n == null) {
      return;
    }
    if (n >= LEAST_TOKENS) {
      longStreams++;
      buffered += last - first <= BUFFERED * last ? 1 : 0;
    }
    Double tpot = record.timing().tpotNanos();
    if (tpot != null && streamed != null) {
      @Nullable Integer head = record.events().firstEventTokens();
      e2eNanos += last;
      modelledNanos += first + tpot * (n - (head == null ? 1 : Math.max(1, head)));
    }
  }
}
