package io.github.gatlingllm.record;

import io.github.gatlingllm.record.RequestRecord.Events;
import io.github.gatlingllm.record.RequestRecord.Identity;
import io.github.gatlingllm.record.RequestRecord.Outcome;
import io.github.gatlingllm.record.RequestRecord.Text;
import io.github.gatlingllm.record.RequestRecord.Timing;
import io.github.gatlingllm.record.RequestRecord.TokenSource;
import io.github.gatlingllm.record.RequestRecord.Tokens;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One line being read: a field per key, filled in the order in which the keys come. Used once.
 *
 * <p>Seconds are read digit by digit into nanoseconds, so that they come back exact.
 */
final class RecordParser {

  private static final int[] NONE = {};

  private @Nullable String requestId;
  private @Nullable String runId;
  private @Nullable String injector;
  private @Nullable Integer trial;
  private @Nullable Long requestIndex;
  private @Nullable String scenario;
  private @Nullable String name;
  private @Nullable List<String> groups;
  private @Nullable Long userId;
  private @Nullable Integer turn;
  private @Nullable String target;
  private @Nullable String endpoint;
  private @Nullable String model;
  private @Nullable String api;
  private @Nullable String stage;
  private @Nullable Phase phase;
  private boolean streamed = true;

  private @Nullable Long start;
  private @Nullable Long scheduledOffset;
  private long startLag;
  private @Nullable Long gateWait;
  private boolean gateWaitGiven;
  private @Nullable Long queueWait;
  private @Nullable Long connect;
  private @Nullable Long headers;
  private @Nullable Long firstEvent;
  private @Nullable Long ttft;
  private @Nullable Long ttfo;
  private @Nullable Long latency;
  private @Nullable Long closed;
  private @Nullable Long tpot;

  private int[] offsets = NONE;
  private int[] eventTokens = NONE;
  private int[] choices = NONE;
  private @Nullable Integer events;
  private int coalesced;
  private int late;
  private boolean done;
  private @Nullable Long stall;
  private @Nullable Integer firstEventTokens;

  private @Nullable Integer promptChars;
  private @Nullable Integer promptTokens;
  private @Nullable Integer promptTokensLocal;
  private @Nullable Integer cachedTokens;
  private @Nullable Integer maxTokens;
  private @Nullable Integer outputTokens;
  private @Nullable Integer outputTokensLocal;
  private @Nullable Integer reasoningTokens;
  private @Nullable Integer streamedTokens;
  private boolean estimated;
  private @Nullable TokenSource tokenSource;

  private @Nullable String finishReason;
  private @Nullable Integer status;
  private @Nullable Boolean ok;
  private @Nullable RequestStatus verdict;
  private @Nullable String error;
  private @Nullable Boolean sloOk;
  private @Nullable List<String> sloMissed;
  private Map<String, Double> server = Map.of();

  private boolean hasText;
  private @Nullable String messages;
  private @Nullable String prompt;
  private @Nullable String answer;
  private @Nullable String reasoning;

  /**
   * The record in that line.
   *
   * @throws IOException if it is not valid JSON
   * @throws IllegalArgumentException if it is no record
   */
  RequestRecord parse(byte[] line, int offset, int length) throws IOException {
    try (JsonLineReader in = new JsonLineReader(line, offset, length)) {
      for (String key = in.next(); key != null; key = in.next()) {
        field(key, in);
      }
    }
    return record();
  }

  private void field(String key, JsonLineReader in) throws IOException {
    switch (key) {
      case "request_id" -> requestId = in.text();
      case "run_id" -> runId = in.text();
      case "injector" -> injector = in.text();
      case "trial" -> trial = in.integer();
      case "request_index" -> requestIndex = in.whole();
      case "scenario" -> scenario = in.text();
      case "name" -> name = in.text();
      case "groups" -> groups = in.texts();
      case "user_id" -> userId = in.whole();
      case "turn" -> turn = in.integer();
      case "target" -> target = in.text();
      case "endpoint" -> endpoint = in.text();
      case "model" -> model = in.text();
      case "api" -> api = in.text();
      case "stage" -> stage = in.text();
      case "phase" -> phase = in.constant(Phase.class);
      case "streamed" -> streamed = !Boolean.FALSE.equals(in.flag());
      case "start_unix_ns" -> start = in.whole();
      case "scheduled_offset_s" -> scheduledOffset = in.seconds();
      case "start_lag_s" -> startLag = orZero(in.seconds());
      case "gate_wait_s" -> {
        gateWait = in.seconds();
        gateWaitGiven = true;
      }
      case "queue_wait_s" -> queueWait = in.seconds();
      case "connect_s" -> connect = in.seconds();
      case "ttfb_s" -> headers = in.seconds();
      case "first_event_s" -> firstEvent = in.seconds();
      case "ttft_s" -> ttft = in.seconds();
      case "ttfo_s" -> ttfo = in.seconds();
      case "latency_s" -> latency = in.seconds();
      case "closed_s" -> closed = in.seconds();
      case "tpot_s" -> tpot = in.seconds();
      case "event_offsets_us" -> offsets = in.integers();
      case "event_tokens" -> eventTokens = in.integers();
      case "event_choices" -> choices = in.integers();
      case "events" -> events = in.integer();
      case "coalesced_events" -> coalesced = orZero(in.integer());
      case "late_events" -> late = orZero(in.integer());
      case "done" -> done = Boolean.TRUE.equals(in.flag());
      case "stall_s" -> stall = in.seconds();
      case "first_event_tokens" -> firstEventTokens = in.integer();
      case "prompt_chars" -> promptChars = in.integer();
      case "prompt_tokens" -> promptTokens = in.integer();
      case "prompt_tokens_local" -> promptTokensLocal = in.integer();
      case "cached_tokens" -> cachedTokens = in.integer();
      case "max_tokens" -> maxTokens = in.integer();
      case "output_tokens" -> outputTokens = in.integer();
      case "output_tokens_local" -> outputTokensLocal = in.integer();
      case "reasoning_tokens" -> reasoningTokens = in.integer();
      case "streamed_tokens" -> streamedTokens = in.integer();
      case "estimated" -> estimated = Boolean.TRUE.equals(in.flag());
      case "token_source" -> tokenSource = in.constant(TokenSource.class);
      case "finish_reason" -> finishReason = in.text();
      case "status" -> status = in.integer();
      case "ok" -> ok = in.flag();
      case "verdict" -> verdict = in.constant(RequestStatus.class);
      case "error" -> error = in.text();
      case "slo_ok" -> sloOk = in.flag();
      case "slo_missed" -> sloMissed = in.texts();
      case "server" -> server = in.numbers();
      case "messages" -> messages = kept(in.raw());
      case "prompt" -> prompt = kept(in.text());
      case "answer" -> answer = kept(in.text());
      case "reasoning" -> reasoning = kept(in.text());
      default -> in.skip();
    }
  }

  private RequestRecord record() {
    RequestStatus known = required("verdict", verdict);
    return new RequestRecord(
        new Identity(
            required("request_id", requestId),
            required("run_id", runId),
            required("injector", injector),
            trial,
            required("request_index", requestIndex),
            required("scenario", scenario),
            required("name", name),
            groups == null ? List.of() : groups,
            required("user_id", userId),
            turn,
            required("target", target),
            required("endpoint", endpoint),
            model,
            required("api", api),
            streamed,
            required("stage", stage),
            required("phase", phase)),
        new Timing(
            required("start_unix_ns", start),
            scheduledOffset,
            startLag,
            gateWaitGiven || queueWait == null ? gateWait : (Long) (queueWait - startLag),
            connect,
            headers,
            firstEvent,
            ttft,
            ttfo,
            latency,
            closed,
            tpot == null ? null : (Double) tpot.doubleValue()),
        new Events(
            offsets,
            eventTokens,
            choices,
            events == null ? offsets.length : events,
            coalesced,
            late,
            done,
            stall,
            firstEventTokens),
        new Tokens(
            promptChars,
            promptTokens,
            promptTokensLocal,
            cachedTokens,
            maxTokens,
            outputTokens,
            outputTokensLocal,
            reasoningTokens,
            streamedTokens,
            estimated,
            tokenSource),
        new Outcome(
            finishReason,
            status,
            known,
            ok == null ? known == RequestStatus.COMPLETE : ok,
            error,
            sloOk,
            sloMissed == null ? List.of() : sloMissed),
        server,
        hasText ? new Text(messages, prompt, answer, reasoning) : null);
  }

  private @Nullable String kept(@Nullable String value) {
    hasText = true;
    return value;
  }

  private static int orZero(@Nullable Integer value) {
    return value == null ? 0 : value;
  }

  private static long orZero(@Nullable Long value) {
    return value == null ? 0 : value;
  }

  private static <T> T required(String key, @Nullable T value) {
    if (value == null) {
      throw new IllegalArgumentException("no " + key);
    }
    return value;
  }
}
