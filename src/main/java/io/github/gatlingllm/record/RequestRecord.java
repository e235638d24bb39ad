package io.github.gatlingllm.record;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One measured LLM request: its identity, times, token counts and outcome. One line of {@code
 * llm/requests.jsonl}; {@link RecordCodec} owns that form.
 *
 * <p>{@link RecordField}, the catalogue, says what each component means. A value that is not known
 * is {@code null} (or an empty array), never 0. Immutable by convention: the arrays are not copied
 * and must not be written to.
 */
public record RequestRecord(
    Identity identity,
    Timing timing,
    Events events,
    Tokens tokens,
    Outcome outcome,
    ServerReport server,
    @Nullable Text text) {

  /** More tokens no prompt and no answer has: beyond any model's context. */
  public static final int MOST_TOKENS = 1 << 24;

  /** No server gives more answers to one request. */
  public static final int MOST_CHOICES = 1_024;

  /** The same, with our own counts of the tokens of prompt and answer. */
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

  /**
   * Whether the answer came as one body, asked for or not: its end is known and no token before it.
   */
  public boolean isOneBody() {
    return timing.latencyNanos != null && timing.ttftNanos == null;
  }

  /**
   * Whether its TPOT rests on an even share of N per event, because the server did not say how many
   * tokens the first event held.
   */
  public boolean isTpotEstimated() {
    return timing.tpotNanos != null
        && events.firstEventTokens == null
        && TokenGaps.share(events.count, tokens.streamedTokens) > 1;
  }

  /** The same, begun at another instant; all that followed came as much earlier or later. */
  public RequestRecord startedAt(long unixNanos) {
    return new RequestRecord(
        identity, timing.startedAt(unixNanos), events, tokens, outcome, server, text);
  }

  /** The same, of another phase. */
  public RequestRecord withPhase(Phase as) {
    return with(identity.stage, identity.target, identity.scenario, as);
  }

  /** The same, of another load level. */
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

  /** Which request it is, who sent it, and where to. */
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
   * When what happened, all in nanoseconds of one monotonic clock; epoch times by one anchor per
   * run. Definitions: {@code docs/metrics.md}.
   *
   * @param startUnixNanos the virtual user reached the request; epoch time
   * @param scheduledOffsetNanos planned arrival since the start of the stage's schedule; null in
   *     closed loops
   * @param startLagNanos start − scheduled, ≥ 0
   * @param gateWaitNanos admitted − start, ≥ 0; null when never admitted
   * @param connectNanos written − admitted
   * @param headersNanos response headers − admitted
   * @param firstEventNanos first data event of any kind − admitted
   * @param ttftNanos first token − admitted
   * @param ttfoNanos first token that is not reasoning − admitted
   * @param latencyNanos last token − admitted; not streamed: last byte of the body − admitted
   * @param closedNanos end of the stream − admitted; − start when never admitted
   * @param tpotNanos (last token − first token) / (N − tokens of the first event); null for fewer
   *     than 2 tokens or events
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

    private Timing startedAt(long unixNanos) {
      return new Timing(
          unixNanos,
          scheduledOffsetNanos,
          startLagNanos,
          gateWaitNanos,
          connectNanos,
          headersNanos,
          firstEventNanos,
          ttftNanos,
          ttfoNanos,
          latencyNanos,
          closedNanos,
          tpotNanos,
          pacingWaitNanos);
    }

    /** admitted − scheduled = start lag + gate wait; null when never admitted. */
    public @Nullable Long queueWaitNanos() {
      return gateWaitNanos == null ? null : startLagNanos + gateWaitNanos;
    }

    /** first token − scheduled. */
    public @Nullable Long ttftFromScheduleNanos() {
      return fromSchedule(ttftNanos);
    }

    /** first token that is not reasoning − scheduled. */
    public @Nullable Long ttfoFromScheduleNanos() {
      return fromSchedule(ttfoNanos);
    }

    /** last token − scheduled. */
    public @Nullable Long latencyFromScheduleNanos() {
      return fromSchedule(latencyNanos);
    }

    /** closed − admitted; null when never admitted. */
    public @Nullable Long stayNanos() {
      return gateWaitNanos == null ? null : closedNanos;
    }

    /** Epoch time of the planned arrival: start − start lag. */
    public long scheduledUnixNanos() {
      return startUnixNanos - startLagNanos;
    }

    /** Epoch time at which the request left the in-flight gate; null when it never did. */
    public @Nullable Long admittedUnixNanos() {
      return gateWaitNanos == null ? null : startUnixNanos + gateWaitNanos;
    }

    /** Epoch time at which the request was over; null when it was never admitted. */
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
   * The token-bearing events of a stream, in order of arrival.
   *
   * @param offsetsMicros microseconds since {@code admitted}, one per event; empty when not kept
   * @param tokens tokens in each event; empty when the server did not say
   * @param choices choice index of each event; empty when the answer has one choice
   * @param count how many there were, also when their times are not kept
   * @param coalesced how many came in the same read as the one before of their choice
   * @param late data events after the end of the stream was announced
   * @param done whether the stream said {@code [DONE]}, or its last typed event came
   * @param longestGapNanos largest gap between consecutive events of one choice; null for fewer
   *     than 2
   * @param firstEventTokens tokens in the first event of the stream where known
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
     * From the first event to the next one of its choice, in nanoseconds; null where there is none,
     * or times are not kept.
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

  /**
   * How much was asked and answered.
   *
   * @param refused counts of the server that no answer can have, by name; they are in no other
   *     component
   * @param inputs texts that were to be embedded; null where an answer is generated
   */
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

    /** Of a request of which nothing was counted. */
    public static final Tokens NONE =
        new Tokens(
            null, null, null, null, null, null, null, null, null, false, null, List.of(), null);

    /**
     * N of the metrics: output tokens that came over the wire, without reasoning that was billed
     * only; in older files of an answer that was not streamed, all output tokens.
     */
    public @Nullable Integer n() {
      return streamedTokens != null ? streamedTokens : outputTokens;
    }

    /** Reasoning that was billed and never came over the wire; 0 where nobody says so. */
    public int hidden() {
      Integer came = n();
      return outputTokens == null || came == null ? 0 : Math.max(0, outputTokens - came);
    }

    /** Tokens of the prompt: the count of the server, else that of our tokenizer. */
    public @Nullable Integer prompt() {
      return promptTokens != null ? promptTokens : promptTokensLocal;
    }
  }

  /**
   * How it ended; only {@code COMPLETE} without a failed check is {@code ok}.
   *
   * @param resent whether it was sent a second time, because the server had closed the kept-alive
   *     connection before a byte of an answer came
   */
  public record Outcome(
      @Nullable String finishReason,
      @Nullable Integer httpStatus,
      RequestStatus status,
      boolean ok,
      @Nullable String error,
      @Nullable Boolean sloOk,
      List<String> sloMissed,
      boolean resent) {

    /**
     * Whether it failed: it ended by itself, is not ok, and was not turned away by a rate limit,
     * which says nothing of how the server serves.
     */
    public boolean hasFailed() {
      return !ok && status != RequestStatus.CANCELLED && status != RequestStatus.RATE_LIMITED;
    }
  }

  /**
   * Texts of prompt and answer; kept only with the setting {@code recordText}.
   *
   * @param messages the chat messages as JSON; null for completions
   * @param prompt the prompt; null for chat
   */
  public record Text(
      @Nullable String messages,
      @Nullable String prompt,
      @Nullable String answer,
      @Nullable String reasoning) {

    /**
     * The prompt as people read it: messages with their roles, what is no text in brackets; JSON
     * that is not understood stays as it is. Null where nothing was recorded.
     */
    public @Nullable String asked() {
      return messages == null ? prompt : MessageText.of(messages);
    }
  }

  /** Where a token count comes from, best first. */
  public enum TokenSource {
    /** The server's usage. */
    USAGE,
    /** A tokenizer over the generated text. */
    TOKENIZER,
    /** One token per token-bearing event. */
    CHUNKS
  }
}
