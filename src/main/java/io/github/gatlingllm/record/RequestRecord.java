package io.github.gatlingllm.record;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One LLM request, measured: who asked what, when what happened, how it ended. One line of {@code
 * llm/requests.jsonl}; {@link RecordCodec} owns that form.
 *
 * <p>A value that is not known is {@code null} (or an empty array), never 0. Immutable by
 * convention: the arrays are not copied and must not be written to.
 */
public record RequestRecord(
    Identity identity,
    Timing timing,
    Events events,
    Tokens tokens,
    Outcome outcome,
    Map<String, Double> server,
    @Nullable Text text) {

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
            t.source);
    return new RequestRecord(identity, timing, events, counted, outcome, server, text);
  }

  /**
   * Who asked whom.
   *
   * @param requestId unique; sent to the server as header {@code X-Request-Id}
   * @param runId the run's id, the same in all its records
   * @param injector the load generator that sent it
   * @param trial number of the batch trial, from 1; null outside batch mode
   * @param requestIndex position among the requests of this run and injector, from 0, by start
   * @param scenario the user's name of the scenario
   * @param name the request name
   * @param groups the request's groups, outermost first
   * @param userId Gatling's id of the virtual user
   * @param turn position in a conversation, from 1; null outside conversations
   * @param target label of the server under test
   * @param endpoint the URL that was posted to, without credentials
   * @param model the model asked for
   * @param api {@code chat} or {@code completions}
   * @param streamed whether a stream was asked for
   * @param stage label of the load level, e.g. {@code c=8}
   * @param phase the phase in which it was scheduled
   */
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
   * @param tpotNanos (last token − first token) / (N − 1); null for N &lt; 2
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
      @Nullable Double tpotNanos) {

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
   * @param done whether the stream said {@code [DONE]}
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
      @Nullable Integer firstEventTokens) {}

  /**
   * How much was asked and answered.
   *
   * @param promptChars characters of all prompt texts
   * @param promptTokens the server's count
   * @param promptTokensLocal our tokenizer's count of the prompt's texts; null where there are
   *     none, or it was not ready in time
   * @param cachedTokens prompt tokens that the server took from its prefix cache
   * @param maxTokens the limit that was asked for
   * @param outputTokens generated tokens, reasoning included
   * @param outputTokensLocal our tokenizer's count of the text that came; null where it was not
   *     counted: of answers with usage, only some are
   * @param reasoningTokens the server's count of reasoning tokens
   * @param streamedTokens N of the metrics: output tokens without reasoning that was never streamed
   * @param estimated whether {@code outputTokens} is an estimate
   * @param source where {@code outputTokens} comes from
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
      @Nullable TokenSource source) {

    /**
     * N of the metrics: streamed output tokens; of an answer that was not streamed, output tokens.
     */
    public @Nullable Integer n() {
      return streamedTokens != null ? streamedTokens : outputTokens;
    }

    /** Tokens of the prompt: the count of the server, else that of our tokenizer. */
    public @Nullable Integer prompt() {
      return promptTokens != null ? promptTokens : promptTokensLocal;
    }
  }

  /**
   * How it ended.
   *
   * @param finishReason of the first choice
   * @param httpStatus null when no response came
   * @param status only {@code COMPLETE} without a failed check is a success
   * @param ok complete, and every check passed
   * @param error constant per cause, ≤ 200 characters
   * @param sloMissed the objectives that were missed; empty also when there is no SLO
   * @param sloOk null when there is no SLO
   */
  public record Outcome(
      @Nullable String finishReason,
      @Nullable Integer httpStatus,
      RequestStatus status,
      boolean ok,
      @Nullable String error,
      @Nullable Boolean sloOk,
      List<String> sloMissed) {}

  /**
   * What was said; kept only on request ({@code recordText}).
   *
   * @param messages the chat messages as JSON; null for completions
   * @param prompt the prompt; null for chat
   */
  public record Text(
      @Nullable String messages,
      @Nullable String prompt,
      @Nullable String answer,
      @Nullable String reasoning) {}

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
