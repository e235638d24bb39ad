package io.github.gatlingllm.stats;

import io.github.gatlingllm.record.RequestRecord;
import io.github.gatlingllm.record.RequestStatus;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Counts what makes figures doubtful, over requests scheduled in a measure window. {@link
 * AnswerChecks} judges it.
 */
final class Evidence {

  /** Tokens that all come within this share of E2E were held back by something in between. */
  private static final double BUFFERED = 0.02;

  private static final int LEAST_EVENTS = 8;

  private final boolean pinned;
  long ok;
  long streamedOk;
  long notPinned;
  long estimated;
  long tokenizerCounted;
  long chunkCounted;
  long shared;
  long interpolated;
  long disagreeing;
  final Map<String, CountComparison> prompts = new TreeMap<>();
  final Map<String, CountComparison> answers = new TreeMap<>();
  long buffered;
  long longStreams;
  long events;
  long coalesced;
  long late;
  long withoutDone;
  long cancelled;
  long neverAdmitted;
  double e2eNanos;
  double modelledNanos;

  /**
   * Empty evidence.
   *
   * @param pinned whether answers were to have exactly {@code max_tokens} tokens
   */
  Evidence(boolean pinned) {
    this.pinned = pinned;
  }

  void add(RequestRecord record, TokenArrivals.Basis basis) {
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
    counting(record, basis);
    if (record.identity().streamed()) {
      streamedOk++;
      withoutDone += record.events().done() ? 0 : 1;
      events += record.events().count();
      coalesced += record.events().coalesced();
      pace(record);
      identity(record);
    }
  }

  private void counting(RequestRecord record, TokenArrivals.Basis basis) {
    RequestRecord.Tokens tokens = record.tokens();
    String target = record.identity().target();
    prompts
        .computeIfAbsent(target, t -> new CountComparison())
        .add(tokens.promptTokens(), tokens.promptTokensLocal());
    if (tokens.source() == RequestRecord.TokenSource.USAGE) {
      // What was billed and never came over the wire, we cannot have counted.
      answers
          .computeIfAbsent(target, t -> new CountComparison())
          .add(tokens.streamedTokens(), tokens.outputTokensLocal());
    }
    estimated += tokens.estimated() ? 1 : 0;
    tokenizerCounted += tokens.source() == RequestRecord.TokenSource.TOKENIZER ? 1 : 0;
    chunkCounted += tokens.source() == RequestRecord.TokenSource.CHUNKS ? 1 : 0;
    shared += basis == TokenArrivals.Basis.SHARED ? 1 : 0;
    interpolated += basis == TokenArrivals.Basis.INTERPOLATED ? 1 : 0;
    Integer n = tokens.streamedTokens();
    if (n != null && disagrees(record.events(), n)) {
      disagreeing++;
    }
    Integer limit = tokens.maxTokens();
    Integer output = tokens.outputTokens();
    boolean stopped = "stop".equals(record.outcome().finishReason());
    boolean wrongLength = limit != null && output != null && !output.equals(limit);
    notPinned += pinned && (stopped || wrongLength) ? 1 : 0;
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

  private void pace(RequestRecord record) {
    Long first = record.timing().ttftNanos();
    Long last = record.timing().latencyNanos();
    Integer n = record.tokens().n();
    if (first == null || last == null || n == null || n < LEAST_EVENTS) {
      return;
    }
    longStreams++;
    buffered += last - first <= BUFFERED * last ? 1 : 0;
  }

  /** E2E against TTFT + TPOT × (N − k), k the tokens of the first event. */
  private void identity(RequestRecord record) {
    Long first = record.timing().ttftNanos();
    Long last = record.timing().latencyNanos();
    Double tpot = record.timing().tpotNanos();
    Integer n = record.tokens().streamedTokens();
    if (first != null && last != null && tpot != null && n != null) {
      @Nullable Integer head = record.events().firstEventTokens();
      e2eNanos += last;
      modelledNanos += first + tpot * (n - (head == null ? 1 : Math.max(1, head)));
    }
  }
}
