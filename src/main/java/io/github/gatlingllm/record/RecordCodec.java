package io.github.gatlingllm.record;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.github.gatlingllm.record.RequestRecord.Events;
import io.github.gatlingllm.record.RequestRecord.Identity;
import io.github.gatlingllm.record.RequestRecord.Outcome;
import io.github.gatlingllm.record.RequestRecord.Text;
import io.github.gatlingllm.record.RequestRecord.Timing;
import io.github.gatlingllm.record.RequestRecord.TokenSource;
import io.github.gatlingllm.record.RequestRecord.Tokens;
import java.io.IOException;
import java.util.Locale;

/**
 * A {@link RequestRecord} as one line of {@code llm/requests.jsonl}, and back.
 *
 * <p>Every key is in every line and in one order, {@code null} or {@code []} where nothing applies;
 * {@code docs/contract.md} lists them. Seconds have nine decimals, so nothing but the fraction of a
 * nanosecond of {@code tpot_s} is rounded. Times that follow from others ({@code queue_wait_s},
 * {@code ttft_from_schedule_s}, {@code latency_from_schedule_s}) are written for users of the file
 * and not read back. Stateless.
 */
public final class RecordCodec {

  private RecordCodec() {}

  /** The record as one line of UTF-8, line feed included. */
  public static byte[] write(RequestRecord record) {
    JsonLine line = new JsonLine(2_048);
    append(record, line);
    return line.toBytes();
  }

  /**
   * The record in one line. Unknown keys and any order of keys are accepted, and so are files
   * without the keys that are not in every version of the format.
   *
   * @param line holds the line as UTF-8, without its line feed
   * @throws IOException if it is no record; the message is one line and says why
   */
  public static RequestRecord read(byte[] line, int offset, int length) throws IOException {
    try {
      return new RecordParser().parse(line, offset, length);
    } catch (JsonProcessingException e) {
      throw new IOException("not valid JSON: " + oneLine(e.getOriginalMessage()), e);
    } catch (IllegalArgumentException e) {
      throw new IOException(oneLine(String.valueOf(e.getMessage())), e);
    }
  }

  static void append(RequestRecord record, JsonLine line) {
    line.open();
    fields(record, line);
    Text text = record.text();
    if (text != null) {
      text(text, line);
    }
    line.close();
    line.lineEnd();
  }

  /** Every key but those of what was said, in the order of the contract. */
  static void fields(RequestRecord record, RecordFields line) {
    identity(record.identity(), line);
    timing(record.timing(), line);
    Events events = record.events();
    line.key("event_offsets_us").integers(events.offsetsMicros());
    line.key("event_tokens").integers(events.tokens());
    tokens(record.tokens(), line);
    outcome(record.outcome(), line);
    line.key("server").numbers(record.server());
    line.key("streamed").flag(record.identity().streamed());
    line.key("start_lag_s").seconds(record.timing().startLagNanos());
    line.key("gate_wait_s").seconds(record.timing().gateWaitNanos());
    line.key("streamed_tokens").integer(record.tokens().streamedTokens());
    events(events, line);
  }

  private static void identity(Identity identity, RecordFields line) {
    line.key("request_id").text(identity.requestId());
    line.key("run_id").text(identity.runId());
    line.key("injector").text(identity.injector());
    line.key("trial").integer(identity.trial());
    line.key("request_index").integer(identity.requestIndex());
    line.key("scenario").text(identity.scenario());
    line.key("name").text(identity.name());
    line.key("groups").texts(identity.groups());
    line.key("user_id").integer(identity.userId());
    line.key("turn").integer(identity.turn());
    line.key("target").text(identity.target());
    line.key("endpoint").text(identity.endpoint());
    line.key("model").text(identity.model());
    line.key("api").text(identity.api());
    line.key("stage").text(identity.stage());
    line.key("phase").text(identity.phase().key());
  }

  private static void timing(Timing timing, RecordFields line) {
    Double tpot = timing.tpotNanos();
    line.key("start_unix_ns").integer(timing.startUnixNanos());
    line.key("scheduled_offset_s").seconds(timing.scheduledOffsetNanos());
    line.key("queue_wait_s").seconds(timing.queueWaitNanos());
    line.key("connect_s").seconds(timing.connectNanos());
    line.key("ttfb_s").seconds(timing.headersNanos());
    line.key("first_event_s").seconds(timing.firstEventNanos());
    line.key("ttft_s").seconds(timing.ttftNanos());
    line.key("ttft_from_schedule_s").seconds(timing.ttftFromScheduleNanos());
    line.key("ttfo_s").seconds(timing.ttfoNanos());
    line.key("latency_s").seconds(timing.latencyNanos());
    line.key("latency_from_schedule_s").seconds(timing.latencyFromScheduleNanos());
    line.key("closed_s").seconds(timing.closedNanos());
    line.key("tpot_s").seconds(tpot == null ? null : (Long) Math.round(tpot));
  }

  private static void tokens(Tokens tokens, RecordFields line) {
    TokenSource source = tokens.source();
    line.key("prompt_chars").integer(tokens.promptChars());
    line.key("prompt_tokens").integer(tokens.promptTokens());
    line.key("prompt_tokens_local").integer(tokens.promptTokensLocal());
    line.key("cached_tokens").integer(tokens.cachedTokens());
    line.key("max_tokens").integer(tokens.maxTokens());
    line.key("output_tokens").integer(tokens.outputTokens());
    line.key("output_tokens_local").integer(tokens.outputTokensLocal());
    line.key("reasoning_tokens").integer(tokens.reasoningTokens());
    line.key("estimated").flag(tokens.estimated());
    line.key("token_source").text(source == null ? null : source.name().toLowerCase(Locale.ROOT));
  }

  private static void outcome(Outcome outcome, RecordFields line) {
    line.key("finish_reason").text(outcome.finishReason());
    line.key("status").integer(outcome.httpStatus());
    line.key("ok").flag(outcome.ok());
    line.key("verdict").text(outcome.status().key());
    line.key("error").text(outcome.error());
    line.key("slo_ok").flag(outcome.sloOk());
    line.key("slo_missed").texts(outcome.sloMissed());
  }

  private static void events(Events events, RecordFields line) {
    line.key("event_choices").integers(events.choices());
    line.key("events").integer(events.count());
    line.key("coalesced_events").integer(events.coalesced());
    line.key("late_events").integer(events.late());
    line.key("done").flag(events.done());
    line.key("first_event_tokens").integer(events.firstEventTokens());
    line.key("stall_s").seconds(events.longestGapNanos());
  }

  private static void text(Text text, RecordFields line) {
    String messages = text.messages();
    if (messages != null) {
      line.key("messages").json(messages);
    }
    if (messages == null || text.prompt() != null) {
      line.key("prompt").text(text.prompt());
    }
    line.key("answer").text(text.answer());
    line.key("reasoning").text(text.reasoning());
  }

  private static String oneLine(String message) {
    String flat = message.replaceAll("\\s+", " ");
    return flat.length() <= 160 ? flat : flat.substring(0, 160) + "…";
  }
}
