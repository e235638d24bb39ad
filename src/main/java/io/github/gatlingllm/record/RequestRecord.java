package io.github.gatlingllm.record;

import io.github.gatlingllm.record.LevelInfo.Phase;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A measured LLM request: identity, times, token counts and outcome. It is a line of {@code
 * llm/requests.jsonl}, in the form of {@link RecordCodec}.
 *
 * <p>The catalogue {@link RecordField} has the meaning of each component. An unknown value is
 * {@code null} (or an empty array), never 0. Immutable by convention: the arrays are not copied and
 * must not be modified.
 */
public record RequestRecord(
    Identity identity,
    Timing timing,
    Events events,
    Tokens tokens,
    Outcome outcome,
    ServerReport server,
    @Nullable Text text) {

  /** Most tokens of a prompt or an answer; larger than the context of any model. */
  public static final int MAX_TOKENS = 1 << 24;

  /** Most choices of an answer. */
  public static final int MAX_CHOICES = 1_024;

  /** The same record with the token counts of our own tokenizer. */
  public RequestRecord withLocalCounts(@Nullable Integer prompt, @Nullable Integer output) {
    Tokens t = tokens;
    Tokens counted =
        new Tokens(
            t.promptChars,
            t.promptTokens,
            prompt,
            t.cachedTokens,
            t.maxTokens,
            t.outputTokens,
            output,
            t.reasoningTokens,
            t.streamedTokens,
            t.estimated,
            t.source,
            t.refused,
            t.inputs);
    return new RequestRecord(identity, timing, events, counted, outcome, server, text);
  }

  /** Whether the answer came as one body: its end has a time, and no token has one. */
  public boolean isOneBody() {
    return timing.latencyNanos != null && timing.ttftNanos == null;
  }

  /**
   * Whether TPOT assumes an even share of N per event, because the server did not report the tokens
   * of the first event.
   */
  boolean isTpotEstimated() {
    return timing.tpotNanos != null
        && events.firstEventTokens == null
        && TokenGaps.share(events.count, tokens.streamedTokens) > 1;
  }

  public RequestRecord withPhase(Phase as) {
    return with(identity.stage, identity.target, identity.scenario, as);
  }

  public RequestRecord placedAt(String stage, String target, String scenario) {
    return with(stage, target, scenario, identity.phase);
  }

  private RequestRecord with(String stage, String target, String scenario, Phase phase) {
    Identity id = identity;
    Identity moved =
        new Identity(
            id.requestId,
            id.runId,
            id.injector,
            id.trial,
            id.requestIndex,
            scenario,
            id.name,
            id.groups,
            id.userId,
            id.turn,
            target,
            id.endpoint,
            id.model,
            id.api,
            id.streamed,
            stage,
            phase);
    return new RequestRecord(moved, timing, events, tokens, outcome, server, text);
  }

  /** Which request it is, its sender and its target. */
  public record Identity(
      String requestId,
      String runId,
      String injector,
      @Nullable Integer trial,
      long requestIndex,
      String scenario,
      String name,
      List<String> groups,
      long userId,
      @Nullable Integer turn,
      String target,
      String endpoint,
      @Nullable String model,
      String api,
      boolean streamed,
      String stage,
      Phase phase) {}

  /**
   * Times in nanoseconds of one monotonic clock, which one anchor per run converts to epoch time.
   */
  public record Timing(
      long startUnixNanos,
      @Nullable Long scheduledOffsetNanos,
      long startLagNanos,
      @Nullable Long gateWaitNanos,
      @Nullable Long connectNanos,
      @Nullable Long headersNanos,
      @Nullable Long firstEventNanos,
      @Nullable Long ttftNanos,
      @Nullable Long ttfoNanos,
      @Nullable Long latencyNanos,
      @Nullable Long closedNanos,
      @Nullable Double tpotNanos,
      @Nullable Long pacingWaitNanos) {

    /** admitted − scheduled = start lag + gate wait; null when never admitted. */
    public @Nullable Long queueWaitNanos() {
      return gateWaitNanos == null ? null : startLagNanos + gateWaitNanos;
    }

    public @Nullable Long ttftFromScheduleNanos() {
      return fromSchedule(ttftNanos);
    }

    public @Nullable Long ttfoFromScheduleNanos() {
      return fromSchedule(ttfoNanos);
    }

    public @Nullable Long latencyFromScheduleNanos() {
      return fromSchedule(latencyNanos);
    }

    /** closed − admitted; null when never admitted. */
    public @Nullable Long stayNanos() {
      return gateWaitNanos == null ? null : closedNanos;
    }

    /** Epoch time of the planned arrival. */
    public long scheduledUnixNanos() {
      return startUnixNanos - startLagNanos;
    }

    public @Nullable Long admittedUnixNanos() {
      return gateWaitNanos == null ? null : startUnixNanos + gateWaitNanos;
    }

    public @Nullable Long closedUnixNanos() {
      Long admitted = admittedUnixNanos();
      return admitted == null || closedNanos == null ? null : (Long) (admitted + closedNanos);
    }

    private @Nullable Long fromSchedule(@Nullable Long sinceAdmitted) {
      Long queueWait = queueWaitNanos();
      return sinceAdmitted == null || queueWait == null ? null : (Long) (sinceAdmitted + queueWait);
    }
  }

  /**
   * The token-bearing events of a stream, in order of arrival. Arrays have an entry per event, or
   * are empty where the values are not known or not kept.
   */
  @SuppressWarnings("ArrayRecordComponent") // primitive arrays: 20 million gaps must fit
  public record Events(
      int[] offsetsMicros,
      int[] tokens,
      int[] choices,
      int count,
      int coalesced,
      int late,
      boolean done,
      @Nullable Long longestGapNanos,
      @Nullable Integer firstEventTokens) {

    /**
     * From the first event to the next one of its choice, in nanoseconds; null if there is none, or
     * times are not kept.
     */
    public @Nullable Long secondEventNanos() {
      boolean oneChoice = choices.length != offsetsMicros.length;
      for (int i = 1; i < offsetsMicros.length; i++) {
        if (oneChoice || choices[i] == choices[0]) {
          return (offsetsMicros[i] - offsetsMicros[0]) * 1_000L;
        }
      }
      return null;
    }
  }

  /** Sizes of prompt and answer, in tokens but for {@code promptChars}. */
  public record Tokens(
      @Nullable Integer promptChars,
      @Nullable Integer promptTokens,
      @Nullable Integer promptTokensLocal,
      @Nullable Integer cachedTokens,
      @Nullable Integer maxTokens,
      @Nullable Integer outputTokens,
      @Nullable Integer outputTokensLocal,
      @Nullable Integer reasoningTokens,
      @Nullable Integer streamedTokens,
      boolean estimated,
      @Nullable TokenSource source,
      List<String> refused,
      @Nullable Integer inputs) {

    public static final Tokens NONE =
        new Tokens(
            null, null, null, null, null, null, null, null, null, false, null, List.of(), null);

    /**
     * N of the metrics: output tokens that were received, without reasoning that was only billed;
     * all output tokens of an answer that was not streamed.
     */
    public @Nullable Integer n() {
      return streamedTokens != null ? streamedTokens : outputTokens;
    }

    /** Reasoning tokens that were billed and not received; 0 if not known. */
    public int hidden() {
      Integer received = n();
      return outputTokens == null || received == null ? 0 : Math.max(0, outputTokens - received);
    }

    /** Tokens of the prompt, by the server, otherwise by our tokenizer. */
    public @Nullable Integer prompt() {
      return promptTokens != null ? promptTokens : promptTokensLocal;
    }
  }

  /** How the request ended; only {@code COMPLETE} without a failed check is {@code ok}. */
  public record Outcome(
      @Nullable String finishReason,
      @Nullable Integer httpStatus,
      RequestStatus status,
      boolean ok,
      @Nullable String error,
      @Nullable Boolean sloOk,
      List<String> sloMissed,
      boolean resent) {

    /** Whether the request failed. A rate limit is no fault of the server. */
    public boolean hasFailed() {
      return !ok && status != RequestStatus.CANCELLED && status != RequestStatus.RATE_LIMITED;
    }
  }

  /**
   * Texts of prompt and answer, kept only with {@code recordText}; {@code messages}, as JSON, or
   * {@code prompt} is null.
   */
  public record Text(
      @Nullable String messages,
      @Nullable String prompt,
      @Nullable String answer,
      @Nullable String reasoning) {}

  /** The source of a token count, most reliable first. */
  public enum TokenSource {
    /** The server's usage. */
    USAGE,
    /** A tokenizer over the generated text. */
    TOKENIZER,
    /** One token per token-bearing event. */
    CHUNKS
  }
}
